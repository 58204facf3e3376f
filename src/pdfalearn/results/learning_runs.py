"""What comes out of learning, and how far it has come."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import WordTree
from pdfalearn.equivalence import Relation
from pdfalearn.errors import InputError
from pdfalearn.extras import COLOUR, MARK, finish, given_or_new_axes
from pdfalearn.frozen import ArrayValue
from pdfalearn.pdfa import PDFA
from pdfalearn.results.certificates import Certificate, NotebookValue, TableValue
from pdfalearn.results.signs import BoundaryDistances
from pdfalearn.results.trees import KeptTree, TreeNode, Word
from pdfalearn.text import LABELS, count_text


@dataclass(frozen=True)
class Progress:
    """How far learning has come.

    Examples
    --------
    >>> from pdfalearn import learn
    >>> from pdfalearn.datasets import figure_3
    >>> seen = []
    >>> _ = learn(figure_3(), progress=seen.append)
    >>> seen[-1].states, seen[-1].words > 0
    (4, True)
    """

    states: int
    """States discovered so far."""
    words: int
    """Membership queries: words that the model was asked for."""
    distributions: int
    """Distributions read: with a word's own may come those of its prefixes."""
    symbols: int
    """Symbols that the model was led through."""
    cost: float
    """What all that has cost by the model's `QueryCost`, audits included."""
    equivalence_queries: int
    learning_seconds: float
    equivalence_seconds: float


@dataclass(frozen=True, repr=False)
class Statistics(Progress, TableValue):
    """What learning has cost, and the shape of what the learner keeps.

    Examples
    --------
    >>> from pdfalearn import learn
    >>> from pdfalearn.datasets import figure_3
    >>> found = learn(figure_3()).statistics
    >>> found.states, found.distributions == sum(found.batches), found.stored_words
    (4, True, 0)
    """

    batches: tuple[int, ...]
    """How many distributions were read at once, each time."""
    stored_words: int
    """Words that were not asked, as a store had their answers."""
    audited_words: int
    """Words that the audit asked for a second time."""
    largest_difference: float
    """By how much a probability differed at most the second time."""
    learning_process_seconds: float
    """Of the processor's time, in all threads of this process; other seconds are a clock's."""
    equivalence_process_seconds: float
    tree_depth: int
    """How many suffixes lie on the longest path of the tree; 0 for a learner with a table."""
    inner_nodes: int
    """How many distinguishing suffixes the tree holds; 0 for a learner with a table."""
    structure_size: int
    """Suffixes and states of the classification tree, or the cells of the table."""
    counterexamples: tuple[int, ...]
    """How many counterexamples each equivalence query found."""
    longest_counterexamples: tuple[int, ...]
    """The symbols of the longest counterexample of each query; 0 where there was none."""

    def tables(self) -> list[list[tuple[str, ...]]]:
        """Return one table of what learning has cost."""
        return [[("what it cost", ""), ("states", f"{self.states:,}"), *cost_texts(self).items()]]

    def __repr__(self) -> str:
        values = vars(self) | {  # there may be millions of batches
            "batches": f"({len(self.batches)}, of at most {max(self.batches, default=0)})",
            "counterexamples": sum(self.counterexamples),
            "longest_counterexamples": max(self.longest_counterexamples, default=0),
        }
        texts = (
            f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value}"
            for name, value in values.items()
        )
        return f"Statistics({', '.join(texts)})"


class History(tuple[Progress, ...]):
    """How far learning had come before each equivalence query."""

    __slots__ = ()

    def __repr__(self) -> str:
        states = f", the last of {self[-1].states} states" if self else ""
        return f"History({len(self)} hypotheses{states})"


@dataclass(frozen=True, eq=False, repr=False)
class Result(ArrayValue, NotebookValue):
    """What has been learnt, what it cost, and what is known about it.

    It is a value: it can be compared, copied, pickled, and saved to a file (`save`). Neither the
    model nor the answers are part of it.

    Examples
    --------
    >>> from pdfalearn import Quantization, learn
    >>> from pdfalearn.datasets import figure_3
    >>> result = learn(figure_3(), equivalence=Quantization(10))
    >>> len(result.pdfa), result.certificate.kind, result.equivalence, result.notes
    (4, 'exact', Quantization(kappa=10), ())
    >>> result.access_words
    [(), ('0',), ('1',), ('0', '1')]
    """

    pdfa: PDFA
    """The automaton; its states are numbered as they were discovered."""
    statistics: Statistics
    history: History
    """How far learning had come before each equivalence query."""
    certificate: Certificate
    """What is known about the automaton."""
    equivalence: Relation | None
    """When two distributions were the same; None if a file could not keep it, as it is none of
    this library's."""
    kept_words: WordTree
    """The access words as integers, also of states that only the tree knows."""
    kept_tree: KeptTree | None
    """What `tree` is made of."""
    kept_distances: BoundaryDistances | None
    """What `near_boundary` looks up."""
    unresolved: NDArray[np.int64]
    """Where a bound was reached, the transitions that lead to the best match so far: state and
    number of the symbol, shape (count, 2)."""
    notes: tuple[str, ...] = ()
    """What else has to be known: that κ is too coarse, or what went wrong after the end."""

    def __repr__(self) -> str:
        return (
            f"Result({len(self.pdfa)} states, {len(self.pdfa.alphabet)} symbols, "
            f"{self.certificate.kind}, {self.statistics.words} words asked)"
        )

    def __hash__(self) -> int:
        return hash(self.pdfa)

    @cached_property
    def access_words(self) -> list[Word]:
        """A word for each state that leads to it.

        Where a bound stopped learning and states were added to agree with answers, a word may lead
        to the copy of its state among them.
        """
        return self._all_words[: len(self.pdfa)]

    @cached_property
    def _all_words(self) -> list[Word]:
        return self.kept_words.decoded(self.pdfa.alphabet)

    def near_boundary(self, distance: float) -> int:
        """Count the observed probabilities within a distance of a boundary between intervals.

        Where a model answers a little differently from one batch to the next, these may fall into
        another class. Each different distribution that was observed counts once.

        Parameters
        ----------
        distance : float
            How near, as a difference of probabilities: a power of ten from 1e-15 to 1, for instance
            1e-6 for float32.

        Raises
        ------
        InputError
            If the distance is another one, or learning was not by quantization, as there are no
            boundaries then.
        """
        if self.kept_distances is None:
            raise InputError("learning was not by quantization, so there are no boundaries")
        return self.kept_distances.within(distance)

    @property
    def has_boundaries(self) -> bool:
        """Whether learning was by quantization, so that there are boundaries to be near to."""
        return self.kept_distances is not None

    @cached_property
    def tree(self) -> TreeNode:
        """The classification tree, from its root; an `InputError` if the learner has none."""
        if self.kept_tree is None:
            raise InputError(
                "the learner keeps an observation table, and no classification tree; "
                'learner="quant" has one'
            )
        return self.kept_tree.to_nodes(self.pdfa.alphabet, self._all_words, self.pdfa.probabilities)

    def plot(self, axes: Any = None) -> Any:
        """Draw the run: words asked against states, with all equivalence queries.

        It needs the extra ``report``.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw; new ones of pyplot if not given, which a notebook shows.

        Returns
        -------
        Axes
            What was drawn on.
        """
        axes = given_or_new_axes(axes)
        words = [step.words for step in (*self.history, self.statistics)]
        states = [step.states for step in (*self.history, self.statistics)]
        axes.plot([0, *words], [0, *states], color=COLOUR, label="states discovered")
        label = f"equivalence queries: {len(self.history):,}"
        axes.plot(words[:-1], states[:-1], "o", markersize=4, color=COLOUR, label=label)
        label = f"{self.certificate.kind}: {count_text(len(self.pdfa), 'states')}"
        end = words[-1:], states[-1:]
        axes.plot(*end, "o", fillstyle="none", markersize=11, color=MARK, label=label)
        axes.yaxis.get_major_locator().set_params(integer=True)
        return finish(axes, xlabel="words asked", ylabel="states")


class LearningInterrupted(KeyboardInterrupt):
    """Learning was interrupted; ``result`` is what was learnt until then, if there was anything.

    Examples
    --------
    >>> from pdfalearn import learn
    >>> from pdfalearn.datasets import random_pdfa
    >>> def stop(progress):
    ...     if progress.states > 5:
    ...         raise KeyboardInterrupt
    >>> try:
    ...     learn(random_pdfa(50, seed=1), progress=stop)
    ... except LearningInterrupted as interrupted:
    ...     print(interrupted.result.certificate.kind)
    interrupted
    """

    def __init__(self, result: Any) -> None:
        super().__init__("learning was interrupted")
        self.result = result
        """A `Result`, or a `LearntWFA` of `learn_wfa`; None if there was nothing yet."""


# How figures are written that are not counts.
_FORMS = {
    "largest_difference": ".3g",
    "cost": ",.10g",
    "learning_seconds": ",.3f",
    "equivalence_seconds": ",.3f",
}


def cost_texts(statistics: Statistics) -> dict[str, str]:
    """Return figures by their labels, in the order of these; a cost only where asking costs."""
    left_out = {"states"} if statistics.cost else {"states", "cost"}
    return {
        label: f"{vars(statistics)[name]:{_FORMS.get(name, ',')}}"
        for name, label in LABELS.items()
        if name in vars(statistics) and name not in left_out
    }
