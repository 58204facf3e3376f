"""Active learning of probabilistic deterministic finite automata (PDFA)."""

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from pdfalearn.alphabet import Alphabet as Alphabet
    from pdfalearn.analysis.bounds import length_bounds as length_bounds
    from pdfalearn.analysis.bounds import probability_bounds as probability_bounds
    from pdfalearn.analysis.conditions import condition as condition
    from pdfalearn.analysis.distances import Distances as Distances
    from pdfalearn.analysis.distances import distances as distances
    from pdfalearn.analysis.entropies import Entropy as Entropy
    from pdfalearn.analysis.entropies import Visits as Visits
    from pdfalearn.analysis.entropies import entropy as entropy
    from pdfalearn.analysis.entropies import expected_count as expected_count
    from pdfalearn.analysis.entropies import expected_visits as expected_visits
    from pdfalearn.analysis.interval_files import save_intervals as save_intervals
    from pdfalearn.analysis.lengths import Length as Length
    from pdfalearn.analysis.lengths import length as length
    from pdfalearn.analysis.likeliest import LikelyWord as LikelyWord
    from pdfalearn.analysis.likeliest import most_likely as most_likely
    from pdfalearn.analysis.likeliest import most_likely_prefixes as most_likely_prefixes
    from pdfalearn.analysis.monitoring import Monitor as Monitor
    from pdfalearn.analysis.parting import Differences as Differences
    from pdfalearn.analysis.parting import PrefixDifference as PrefixDifference
    from pdfalearn.analysis.parting import WordDifference as WordDifference
    from pdfalearn.analysis.parting import differences as differences
    from pdfalearn.analysis.probabilities import probability as probability
    from pdfalearn.analysis.scoring import ImpossibleWord as ImpossibleWord
    from pdfalearn.analysis.scoring import Score as Score
    from pdfalearn.analysis.scoring import score as score
    from pdfalearn.analysis.scoring import surprises as surprises
    from pdfalearn.budgets import Budget as Budget
    from pdfalearn.distilling.fitting import fit as fit
    from pdfalearn.distilling.models import distill as distill
    from pdfalearn.distilling.simplifying import simplify as simplify
    from pdfalearn.equivalence.differences import distinguish as distinguish
    from pdfalearn.equivalence.equivalences import Equivalence as Equivalence
    from pdfalearn.equivalence.equivalences import Exact as Exact
    from pdfalearn.equivalence.equivalences import Quantization as Quantization
    from pdfalearn.equivalence.equivalences import Rounded as Rounded
    from pdfalearn.equivalence.functions import same_function as same_function
    from pdfalearn.equivalence.quotients import is_weakly_minimal as is_weakly_minimal
    from pdfalearn.equivalence.quotients import quotient as quotient
    from pdfalearn.equivalence.tolerance import Tolerance as Tolerance
    from pdfalearn.errors import DamagedStoreError as DamagedStoreError
    from pdfalearn.errors import FileFormatError as FileFormatError
    from pdfalearn.errors import InputError as InputError
    from pdfalearn.errors import LearningError as LearningError
    from pdfalearn.errors import MissingExtraError as MissingExtraError
    from pdfalearn.errors import ModelError as ModelError
    from pdfalearn.errors import OracleError as OracleError
    from pdfalearn.errors import StoreError as StoreError
    from pdfalearn.experiments.report import Report as Report
    from pdfalearn.experiments.report import write_report as write_report
    from pdfalearn.experiments.running import Outcome as Outcome
    from pdfalearn.experiments.running import run_experiments as run_experiments
    from pdfalearn.formats.arpa import Ngram as Ngram
    from pdfalearn.formats.arpa import read_arpa as read_arpa
    from pdfalearn.formats.saving import check_can_save as check_can_save
    from pdfalearn.formats.saving import load as load
    from pdfalearn.formats.saving import load_pdfa as load_pdfa
    from pdfalearn.formats.saving import save as save
    from pdfalearn.formats.tree_files import save_tree as save_tree
    from pdfalearn.generate.examples import chain as chain
    from pdfalearn.generate.examples import combination_lock as combination_lock
    from pdfalearn.generate.examples import figure_1 as figure_1
    from pdfalearn.generate.examples import figure_2 as figure_2
    from pdfalearn.generate.examples import figure_3 as figure_3
    from pdfalearn.generate.examples import reber as reber
    from pdfalearn.generate.examples import tomita as tomita
    from pdfalearn.generate.targets import random_pdfa as random_pdfa
    from pdfalearn.languages.dfa import DFA as DFA
    from pdfalearn.languages.kinds import BeginsWith as BeginsWith
    from pdfalearn.languages.kinds import Contains as Contains
    from pdfalearn.languages.kinds import EndsWith as EndsWith
    from pdfalearn.languages.kinds import HasLength as HasLength
    from pdfalearn.languages.kinds import Language as Language
    from pdfalearn.languages.kinds import Not as Not
    from pdfalearn.learners.lpstar import LPStar as LPStar
    from pdfalearn.learners.protocol import Learner as Learner
    from pdfalearn.learners.wlstar import WLStar as WLStar
    from pdfalearn.learning.loop import learn as learn
    from pdfalearn.learning.stability import Stability as Stability
    from pdfalearn.learning.stability import stability as stability
    from pdfalearn.metrics.distributions import distribution_differences as distribution_differences
    from pdfalearn.metrics.distributions import kl_divergences as kl_divergences
    from pdfalearn.metrics.distributions import l1_distances as l1_distances
    from pdfalearn.metrics.distributions import ndcg_scores as ndcg_scores
    from pdfalearn.metrics.distributions import word_errors as word_errors
    from pdfalearn.metrics.divergences import divergence as divergence
    from pdfalearn.metrics.evaluation import evaluate as evaluate
    from pdfalearn.metrics.evaluation import evaluate_exactly as evaluate_exactly
    from pdfalearn.models.automaton import AutomatonModel as AutomatonModel
    from pdfalearn.models.batch import Batch as Batch
    from pdfalearn.models.constrained.guided import Guided as Guided
    from pdfalearn.models.constrained.temperature import Temperature as Temperature
    from pdfalearn.models.constrained.top import TopK as TopK
    from pdfalearn.models.constrained.top import TopP as TopP
    from pdfalearn.models.cost import QueryCost as QueryCost
    from pdfalearn.models.function import FunctionModel as FunctionModel
    from pdfalearn.models.parallel import Replicas as Replicas
    from pdfalearn.models.program.model import ProgramModel as ProgramModel
    from pdfalearn.models.protocol import LanguageModel as LanguageModel
    from pdfalearn.models.recurrent import RecurrentModel as RecurrentModel
    from pdfalearn.models.recurrent import StepNetwork as StepNetwork
    from pdfalearn.models.served.model import LikeliestTokensWarning as LikeliestTokensWarning
    from pdfalearn.models.served.model import ServedModel as ServedModel
    from pdfalearn.models.spelling import Spelling as Spelling
    from pdfalearn.models.transformer import TransformerModel as TransformerModel
    from pdfalearn.observations.tree import ObservationTree as ObservationTree
    from pdfalearn.oracles.all_words import AllWordsOracle as AllWordsOracle
    from pdfalearn.oracles.chain import ChainOracle as ChainOracle
    from pdfalearn.oracles.exact import ExactOracle as ExactOracle
    from pdfalearn.oracles.pac import PACOracle as PACOracle
    from pdfalearn.oracles.pac import UnreachableSymbolWarning as UnreachableSymbolWarning
    from pdfalearn.oracles.protocol import EquivalenceOracle as EquivalenceOracle
    from pdfalearn.oracles.state_prefix import StatePrefixOracle as StatePrefixOracle
    from pdfalearn.oracles.stored_answers import StoredAnswersOracle as StoredAnswersOracle
    from pdfalearn.oracles.weiss import WeissOracle as WeissOracle
    from pdfalearn.pdfa import PDFA as PDFA
    from pdfalearn.pdfa import Sample as Sample
    from pdfalearn.reachability import reachable as reachable
    from pdfalearn.reachability import reachable_part as reachable_part
    from pdfalearn.results.certificates import Bounds as Bounds
    from pdfalearn.results.certificates import Certificate as Certificate
    from pdfalearn.results.evaluations import Comparison as Comparison
    from pdfalearn.results.evaluations import DirectedDivergence as DirectedDivergence
    from pdfalearn.results.evaluations import Divergence as Divergence
    from pdfalearn.results.evaluations import Evaluation as Evaluation
    from pdfalearn.results.frontiers import DistillingInterrupted as DistillingInterrupted
    from pdfalearn.results.frontiers import DistillingProgress as DistillingProgress
    from pdfalearn.results.frontiers import Frontier as Frontier
    from pdfalearn.results.frontiers import Point as Point
    from pdfalearn.results.frontiers import Simplified as Simplified
    from pdfalearn.results.learning_runs import LearningInterrupted as LearningInterrupted
    from pdfalearn.results.learning_runs import Progress as Progress
    from pdfalearn.results.learning_runs import Result as Result
    from pdfalearn.results.learning_runs import Statistics as Statistics
    from pdfalearn.results.sweeps import Sweep as Sweep
    from pdfalearn.results.sweeps import SweepInterrupted as SweepInterrupted
    from pdfalearn.results.sweeps import SweepProgress as SweepProgress
    from pdfalearn.results.sweeps import SweepRow as SweepRow
    from pdfalearn.results.trees import TreeNode as TreeNode
    from pdfalearn.rows import Rows as Rows
    from pdfalearn.samplers.corpus import Corpus as Corpus
    from pdfalearn.samplers.drawing import HypothesisWords as HypothesisWords
    from pdfalearn.samplers.drawing import ModelWords as ModelWords
    from pdfalearn.samplers.drawing import Sampler as Sampler
    from pdfalearn.samplers.drawing import UniformWords as UniformWords
    from pdfalearn.samplers.mixture import Mixture as Mixture
    from pdfalearn.stores.answer_store import AnswerStore as AnswerStore
    from pdfalearn.stores.answer_store import StoredModel as StoredModel
    from pdfalearn.sweeping.running import sweep as sweep
    from pdfalearn.viewing.drawing import draw as draw
    from pdfalearn.viewing.page import Page as Page
    from pdfalearn.viewing.pictures import Picture as Picture
    from pdfalearn.viewing.view import view as view
    from pdfalearn.words import Words as Words

_NAMES_BY_MODULE = {
    "alphabet": ["Alphabet"],
    "analysis.bounds": ["length_bounds", "probability_bounds"],
    "analysis.conditions": ["condition"],
    "analysis.distances": ["Distances", "distances"],
    "analysis.entropies": ["Entropy", "Visits", "entropy", "expected_count", "expected_visits"],
    "analysis.interval_files": ["save_intervals"],
    "analysis.lengths": ["Length", "length"],
    "analysis.likeliest": ["LikelyWord", "most_likely", "most_likely_prefixes"],
    "analysis.monitoring": ["Monitor"],
    "analysis.parting": ["Differences", "PrefixDifference", "WordDifference", "differences"],
    "analysis.probabilities": ["probability"],
    "analysis.scoring": ["ImpossibleWord", "Score", "score", "surprises"],
    "budgets": ["Budget"],
    "distilling.fitting": ["fit"],
    "distilling.models": ["distill"],
    "distilling.simplifying": ["simplify"],
    "equivalence.differences": ["distinguish"],
    "equivalence.equivalences": ["Equivalence", "Exact", "Quantization", "Rounded"],
    "equivalence.functions": ["same_function"],
    "equivalence.quotients": ["is_weakly_minimal", "quotient"],
    "equivalence.tolerance": ["Tolerance"],
    "errors": [
        "DamagedStoreError",
        "FileFormatError",
        "InputError",
        "LearningError",
        "MissingExtraError",
        "ModelError",
        "OracleError",
        "StoreError",
    ],
    "experiments.report": ["Report", "write_report"],
    "experiments.running": ["Outcome", "run_experiments"],
    "formats.arpa": ["Ngram", "read_arpa"],
    "formats.saving": ["check_can_save", "load", "load_pdfa", "save"],
    "formats.tree_files": ["save_tree"],
    "generate.examples": [
        "chain",
        "combination_lock",
        "figure_1",
        "figure_2",
        "figure_3",
        "reber",
        "tomita",
    ],
    "generate.targets": ["random_pdfa"],
    "languages.dfa": ["DFA"],
    "languages.kinds": ["BeginsWith", "Contains", "EndsWith", "HasLength", "Language", "Not"],
    "learners.lpstar": ["LPStar"],
    "learners.protocol": ["Learner"],
    "learners.wlstar": ["WLStar"],
    "learning.loop": ["learn"],
    "learning.stability": ["Stability", "stability"],
    "metrics.distributions": [
        "distribution_differences",
        "kl_divergences",
        "l1_distances",
        "ndcg_scores",
        "word_errors",
    ],
    "metrics.divergences": ["divergence"],
    "metrics.evaluation": ["evaluate", "evaluate_exactly"],
    "models.automaton": ["AutomatonModel"],
    "models.constrained.guided": ["Guided"],
    "models.constrained.temperature": ["Temperature"],
    "models.constrained.top": ["TopK", "TopP"],
    "models.function": ["FunctionModel"],
    "models.batch": ["Batch"],
    "models.cost": ["QueryCost"],
    "models.program.model": ["ProgramModel"],
    "models.protocol": ["LanguageModel"],
    "models.recurrent": ["RecurrentModel", "StepNetwork"],
    "models.parallel": ["Replicas"],
    "models.served.model": ["LikeliestTokensWarning", "ServedModel"],
    "models.spelling": ["Spelling"],
    "models.transformer": ["TransformerModel"],
    "observations.tree": ["ObservationTree"],
    "oracles.all_words": ["AllWordsOracle"],
    "oracles.chain": ["ChainOracle"],
    "oracles.exact": ["ExactOracle"],
    "oracles.pac": ["PACOracle", "UnreachableSymbolWarning"],
    "oracles.protocol": ["EquivalenceOracle"],
    "oracles.state_prefix": ["StatePrefixOracle"],
    "oracles.stored_answers": ["StoredAnswersOracle"],
    "oracles.weiss": ["WeissOracle"],
    "pdfa": ["PDFA", "Sample"],
    "reachability": ["reachable", "reachable_part"],
    "results.certificates": ["Bounds", "Certificate"],
    "results.evaluations": ["Comparison", "DirectedDivergence", "Divergence", "Evaluation"],
    "results.frontiers": [
        "DistillingInterrupted",
        "DistillingProgress",
        "Frontier",
        "Point",
        "Simplified",
    ],
    "results.learning_runs": ["LearningInterrupted", "Progress", "Result", "Statistics"],
    "results.sweeps": ["Sweep", "SweepInterrupted", "SweepProgress", "SweepRow"],
    "results.trees": ["TreeNode"],
    "rows": ["Rows"],
    "samplers.corpus": ["Corpus"],
    "samplers.drawing": ["HypothesisWords", "ModelWords", "Sampler", "UniformWords"],
    "samplers.mixture": ["Mixture"],
    "stores.answer_store": ["AnswerStore", "StoredModel"],
    "sweeping.running": ["sweep"],
    "viewing.drawing": ["draw"],
    "viewing.page": ["Page"],
    "viewing.pictures": ["Picture"],
    "viewing.view": ["view"],
    "words": ["Words"],
}
_MODULES = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names}

__all__ = list(_MODULES)


def __getattr__(name: str) -> object:
    # Imported at first use: the command line's --help must not wait for NumPy.
    if name not in _MODULES:
        raise AttributeError(f"module 'pdfalearn' has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f"pdfalearn.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*_MODULES, "__version__"])
