"""Learners: start, refine, hypothesis."""

from typing import TYPE_CHECKING

from pdfalearn.doors import open_door

if TYPE_CHECKING:
    from pdfalearn.learners.lpstar import LPStar as LPStar
    from pdfalearn.learners.protocol import Learner as Learner
    from pdfalearn.learners.quant import Quant as Quant
    from pdfalearn.learners.quant_paper import PaperQuant as PaperQuant
    from pdfalearn.learners.wlstar import WLStar as WLStar
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
