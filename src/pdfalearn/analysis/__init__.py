"""Questions to an automaton: exact answers over all of its words at once."""

from typing import TYPE_CHECKING

from pdfalearn.doors import open_door

if TYPE_CHECKING:
    from pdfalearn.analysis.bounds import length_bounds as length_bounds
    from pdfalearn.analysis.bounds import probability_bounds as probability_bounds
    from pdfalearn.analysis.bounds import save_intervals as save_intervals
    from pdfalearn.analysis.causal_states import Complexity as Complexity
    from pdfalearn.analysis.causal_states import complexity as complexity
    from pdfalearn.analysis.differing_pairs import PrefixDifference as PrefixDifference
    from pdfalearn.analysis.expectations import Length as Length
    from pdfalearn.analysis.expectations import Visits as Visits
    from pdfalearn.analysis.expectations import expected_count as expected_count
    from pdfalearn.analysis.expectations import expected_visits as expected_visits
    from pdfalearn.analysis.expectations import length as length
    from pdfalearn.analysis.network_estimates import Estimate as Estimate
    from pdfalearn.analysis.network_estimates import estimate_probability as estimate_probability
    from pdfalearn.analysis.probabilities import LikelyWord as LikelyWord
    from pdfalearn.analysis.probabilities import condition as condition
    from pdfalearn.analysis.probabilities import most_likely_prefixes as most_likely_prefixes
    from pdfalearn.analysis.scoring import Entropy as Entropy
    from pdfalearn.analysis.scoring import ImpossibleWord as ImpossibleWord
    from pdfalearn.analysis.scoring import Score as Score
    from pdfalearn.analysis.scoring import entropy as entropy
    from pdfalearn.analysis.scoring import score as score
    from pdfalearn.analysis.scoring import surprisals as surprisals
    from pdfalearn.analysis.word_differences import Differences as Differences
    from pdfalearn.analysis.word_differences import WordDifference as WordDifference
    from pdfalearn.analysis.word_differences import differences as differences
    from pdfalearn.analysis.word_distances import Distances as Distances
    from pdfalearn.analysis.word_distances import distances as distances
    from pdfalearn.reachability import reachable as reachable
    from pdfalearn.reachability import reachable_part as reachable_part

if TYPE_CHECKING:  # for other rooms of the package
    from pdfalearn.analysis.change_tests import FALSE_ALARMS as FALSE_ALARMS
    from pdfalearn.analysis.change_tests import Tally as Tally
    from pdfalearn.analysis.change_tests import count_taken as count_taken
    from pdfalearn.analysis.change_tests import find_changes as find_changes
    from pdfalearn.analysis.change_tests import judge_changes as judge_changes
    from pdfalearn.analysis.probabilities import most_likely as most_likely
    from pdfalearn.analysis.probabilities import probability as probability
    from pdfalearn.analysis.scoring import OTHER as OTHER
    from pdfalearn.analysis.scoring import surprisals_of as surprisals_of
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
