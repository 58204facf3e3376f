"""What comes out of long work, as values: they import nothing of what makes them."""

from typing import TYPE_CHECKING

from pdfalearn.doors import open_door

if TYPE_CHECKING:
    from pdfalearn.pdfa import Sample as Sample
    from pdfalearn.results.certificates import Bounds as Bounds
    from pdfalearn.results.certificates import Certificate as Certificate
    from pdfalearn.results.changes import Changes as Changes
    from pdfalearn.results.changes import EventChange as EventChange
    from pdfalearn.results.changes import PairChange as PairChange
    from pdfalearn.results.changes import TransitionChange as TransitionChange
    from pdfalearn.results.evaluations import Agreement as Agreement
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
    from pdfalearn.results.references import ReferenceChanges as ReferenceChanges
    from pdfalearn.results.sweeps import Sweep as Sweep
    from pdfalearn.results.sweeps import SweepInterrupted as SweepInterrupted
    from pdfalearn.results.sweeps import SweepProgress as SweepProgress
    from pdfalearn.results.sweeps import SweepRow as SweepRow
    from pdfalearn.results.trees import TreeNode as TreeNode

if TYPE_CHECKING:  # for other rooms of the package
    from pdfalearn.results.certificates import Kind as Kind
    from pdfalearn.results.certificates import TableValue as TableValue
    from pdfalearn.results.certificates import certificate_document as certificate_document
    from pdfalearn.results.certificates import certify_interrupt as certify_interrupt
    from pdfalearn.results.certificates import certify_stop as certify_stop
    from pdfalearn.results.evaluations import EVALUATION_HEADER as EVALUATION_HEADER
    from pdfalearn.results.evaluations import FACTS as FACTS
    from pdfalearn.results.evaluations import comparison_cells as comparison_cells
    from pdfalearn.results.evaluations import figure as figure
    from pdfalearn.results.frontiers import EVERY as EVERY
    from pdfalearn.results.frontiers import KeptWords as KeptWords
    from pdfalearn.results.frontiers import Phase as Phase
    from pdfalearn.results.frontiers import frontier_cells as frontier_cells
    from pdfalearn.results.frontiers import frontier_header as frontier_header
    from pdfalearn.results.frontiers import scope_text as scope_text
    from pdfalearn.results.learning_runs import History as History
    from pdfalearn.results.learning_runs import cost_texts as cost_texts
    from pdfalearn.results.recommendations import IMPOSSIBLE as IMPOSSIBLE
    from pdfalearn.results.recommendations import NOTHING as NOTHING
    from pdfalearn.results.recommendations import comparable as comparable
    from pdfalearn.results.recommendations import find_supported as find_supported
    from pdfalearn.results.recommendations import is_worse as is_worse
    from pdfalearn.results.recommendations import not_worse as not_worse
    from pdfalearn.results.recommendations import standard_error as standard_error
    from pdfalearn.results.signs import POWERS_OF_TEN as POWERS_OF_TEN
    from pdfalearn.results.signs import WARN_STATES as WARN_STATES
    from pdfalearn.results.signs import BoundaryDistances as BoundaryDistances
    from pdfalearn.results.signs import StateGrowth as StateGrowth
    from pdfalearn.results.signs import coarseness_note as coarseness_note
    from pdfalearn.results.signs import warn_of_growth as warn_of_growth
    from pdfalearn.results.sweeps import SWEEP_HEADER as SWEEP_HEADER
    from pdfalearn.results.sweeps import questions_text as questions_text
    from pdfalearn.results.sweeps import sweep_cells as sweep_cells
    from pdfalearn.results.sweeps import sweep_records as sweep_records
    from pdfalearn.results.trees import NONE as NONE
    from pdfalearn.results.trees import ArcLabel as ArcLabel
    from pdfalearn.results.trees import KeptTree as KeptTree
    from pdfalearn.results.trees import NumberedNode as NumberedNode
    from pdfalearn.results.trees import Word as Word
    from pdfalearn.results.trees import numbered_nodes as numbered_nodes
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
