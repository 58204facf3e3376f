"""The memory of every answer of a model."""

from typing import TYPE_CHECKING

from pdfalearn.doors import open_door

if TYPE_CHECKING:
    from pdfalearn.observations.audits import UnsteadyModelError as UnsteadyModelError
    from pdfalearn.observations.nodes import EMPTY as EMPTY
    from pdfalearn.observations.nodes import UNDEFINED as UNDEFINED
    from pdfalearn.observations.nodes import UNKNOWN as UNKNOWN
    from pdfalearn.observations.nodes import Nodes as Nodes
    from pdfalearn.observations.nodes import Suffixes as Suffixes
    from pdfalearn.observations.tree import UNBOUNDED as UNBOUNDED
    from pdfalearn.observations.tree import ObservationTree as ObservationTree
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
