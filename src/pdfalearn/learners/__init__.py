"""Learners: start, refine, hypothesis."""

from typing import TYPE_CHECKING

from pdfalearn.doors import open_door

if TYPE_CHECKING:
    from pdfalearn.learners.lpstar import LPStar as LPStar
    from pdfalearn.learners.protocol import Learner as Learner
    from pdfalearn.learners.quant import QuaNT as QuaNT
    from pdfalearn.learners.quant_paper import PaperQuaNT as PaperQuaNT
    from pdfalearn.learners.relearning import RelearningQuaNT as RelearningQuaNT
    from pdfalearn.learners.wlstar import WLStar as WLStar
    from pdfalearn.observations import ObservationTree as ObservationTree

if TYPE_CHECKING:  # for other rooms of the package
    from pdfalearn.learners.protocol import PlainLearner as PlainLearner
    from pdfalearn.learners.protocol import ThreeVerbs as ThreeVerbs
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
