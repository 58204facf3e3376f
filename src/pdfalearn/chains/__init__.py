"""Markov chains: walks through them, and what is solved for on them."""

from typing import TYPE_CHECKING

from pdfalearn.doors import open_door

if TYPE_CHECKING:
    from pdfalearn.chains.extremes import greatest_reach as greatest_reach
    from pdfalearn.chains.extremes import greatest_steps as greatest_steps
    from pdfalearn.chains.extremes import least_reach as least_reach
    from pdfalearn.chains.extremes import least_steps as least_steps
    from pdfalearn.chains.flows import Flow as Flow
    from pdfalearn.chains.flows import Reached as Reached
    from pdfalearn.chains.flows import ending_probabilities as ending_probabilities
    from pdfalearn.chains.flows import sums_by as sums_by
    from pdfalearn.chains.flows import visits_and_weights as visits_and_weights
    from pdfalearn.chains.intervals import IntervalChain as IntervalChain
    from pdfalearn.chains.intervals import end_components as end_components
    from pdfalearn.chains.systems import ELIMINATION_ERROR as ELIMINATION_ERROR
    from pdfalearn.chains.systems import MOST_ELIMINATED as MOST_ELIMINATED
    from pdfalearn.chains.walks import MOST_PAIRS as MOST_PAIRS
    from pdfalearn.chains.walks import Pairs as Pairs
    from pdfalearn.chains.walks import PairWalk as PairWalk
    from pdfalearn.chains.walks import Side as Side
    from pdfalearn.chains.walks import normalise_rows as normalise_rows
    from pdfalearn.chains.walks import walk_pairs as walk_pairs
    from pdfalearn.chains.ways import WordGraph as WordGraph
    from pdfalearn.chains.ways import heaviest_words as heaviest_words
    from pdfalearn.chains.ways import least_costs as least_costs
    from pdfalearn.chains.ways import minus_logs as minus_logs
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
