"""Distil automata of every size from a model, and make automata smaller."""

from typing import TYPE_CHECKING

from pdfalearn.doors import open_door

if TYPE_CHECKING:
    from pdfalearn.distilling.estimates import HeldOut as HeldOut
    from pdfalearn.distilling.fitting import refit as refit
    from pdfalearn.distilling.sampling import Sampling as Sampling
    from pdfalearn.distilling.sampling import check_sampler as check_sampler
    from pdfalearn.distilling.settings import SearchSettings as SearchSettings
    from pdfalearn.distilling.simplifying import simplify as simplify
    from pdfalearn.distilling.starting import distill as distill
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
