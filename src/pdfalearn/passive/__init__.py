"""Learners that are given words and cannot ask: the field's own."""

from typing import TYPE_CHECKING

from pdfalearn.doors import open_door

if TYPE_CHECKING:
    from pdfalearn.passive.clark_thollard import clark_thollard as clark_thollard
    from pdfalearn.passive.expectation import fit_pfa as fit_pfa
    from pdfalearn.passive.state_merging import alergia as alergia
    from pdfalearn.passive.state_merging import likelihood_ratio as likelihood_ratio
    from pdfalearn.passive.state_merging import mdi as mdi
    from pdfalearn.passive.state_merging import smooth_rows as smooth_rows

if TYPE_CHECKING:  # for other rooms of the package
    from pdfalearn.passive.expectation import make_pfa as make_pfa
    from pdfalearn.passive.expectation import predict_rows as predict_rows
    from pdfalearn.passive.expectation import predict_words as predict_words
    from pdfalearn.passive.expectation import train_teacher as train_teacher
    from pdfalearn.passive.first_weights import Weights as Weights
    from pdfalearn.passive.state_merging import merge_variously as merge_variously
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
