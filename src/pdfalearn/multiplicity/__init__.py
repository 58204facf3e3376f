"""Weighted automata: learnt from probabilities of words, compared, made smaller, converted."""

from typing import TYPE_CHECKING

from pdfalearn.doors import open_door

if TYPE_CHECKING:
    from pdfalearn.multiplicity.hankel import LearntWFA as LearntWFA
    from pdfalearn.multiplicity.hankel import spectral_wfa as spectral_wfa
    from pdfalearn.multiplicity.weighted import ConvertedPDFA as ConvertedPDFA
    from pdfalearn.multiplicity.weighted import RankError as RankError
    from pdfalearn.multiplicity.weighted import l2_distance as l2_distance
    from pdfalearn.multiplicity.weighted import minimise_wfa as minimise_wfa
    from pdfalearn.multiplicity.weighted import shortest_difference as shortest_difference
    from pdfalearn.multiplicity.weighted import wfa_to_pdfa as wfa_to_pdfa
    from pdfalearn.multiplicity.wfa_learners import learn_wfa as learn_wfa
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
