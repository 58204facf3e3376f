"""For people who write models of their own: does a model keep what it promises?"""

from typing import TYPE_CHECKING

from pdfalearn.doors import open_door

if TYPE_CHECKING:
    from pdfalearn.testing.model_checks import check_model as check_model
    from pdfalearn.testing.repeated_answers import Stability as Stability
    from pdfalearn.testing.repeated_answers import stability as stability
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
