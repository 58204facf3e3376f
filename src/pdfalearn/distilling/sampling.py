"""Draw words from a model within a budget, some to learn from and some to be held out."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from pdfalearn.alphabet import shorten
from pdfalearn.budgets import Budget, BudgetReached
from pdfalearn.distilling.evidence import Evidence, Table, make_dense
from pdfalearn.errors import InputError, ModelError
from pdfalearn.models import QueryCost
from pdfalearn.observations import Nodes, ObservationTree
from pdfalearn.pdfa import PDFA
from pdfalearn.rows import Rows
from pdfalearn.samplers import ModelWords, Sampler, SamplerLike, as_sampler
from pdfalearn.typing import Floats, Integers
from pdfalearn.words import Words

# How many words are drawn at first.
_FIRST = 2
# At most this many words are drawn, even if the budget allows more.
_MOST_WORDS = 2**20
# The share of a bound on seconds in which the model is asked.
_SECONDS_FOR_ASKING = 0.5
_LEAST_SYMBOLS = 50
# The default length of words allows at least about this many words in the budget.
_WORDS_AT_LEAST = 50
# By default words are cut at a length in this range.
_LENGTHS = (20, 1000)
# Where words are cut if only seconds are bounded.
_LENGTH = 100
# Bounds of learning that do not bound what is drawn, and what to say instead.
_FOR_LEARNING = {
    "max_states": "say how many states automata may have by sizes=[…]",
    "max_word_length": "say how long words may be by sampler=ModelWords(max_length=…)",
}
# One word in this many is held out until there are enough, where fewer are in the end.
_EARLY, _ENOUGH = 4, 100
# Answers are kept sparse where at most this share of all probabilities is listed.
_SPARSE = 0.25


class Positions(NamedTuple):
    """The prefixes of words at which a model's answer counts."""

    # The node of every position, word after word.
    nodes: Nodes = np.empty(0, dtype=np.int64)
    # The word that every position is of.
    words: Integers = np.empty(0, dtype=np.int64)
    word_count: int = 0

    def count_passes(self, observations: ObservationTree) -> Floats:
        """Return how many of the words pass every node of the observations."""
        return np.bincount(self.nodes, minlength=observations.nodes.size).astype(np.float64)


class Sampling:
    """Draws words until a share of the budget is spent, and keeps what the model answered.

    All words come from one stream of random numbers, so that the same seed gives the same words.
    One word in ``held_out`` is held out, one in four until there are enough; 0 for none.
    """

    def __init__(
        self, observations: ObservationTree, sampler: Sampler, seed: int, held_out: int
    ) -> None:
        self.observations = observations
        self.sampler = sampler
        self._one_in = held_out
        self.seed = seed
        self._random = np.random.default_rng(seed)
        self._started = time.monotonic()
        width = len(observations.alphabet)
        self._uniform = PDFA(
            alphabet=observations.alphabet,
            transitions=np.zeros((1, width), dtype=np.int32),
            probabilities=np.full((1, width + 1), 1 / (width + 1)),
        )
        # The positions to learn from.
        self.training = Positions()
        # The positions that are held out.
        self.held_out = Positions()
        # The weights of nodes that were asked because automata were blind there.
        self.probes: Floats = np.zeros(0)
        # How many words were drawn.
        self.words = 0
        # How many of them were cut at the sampler's maximal length.
        self.cut_words = 0

    @property
    def answer_count(self) -> int:
        """How many words have an answer."""
        nodes = self.observations.nodes
        return int(np.count_nonzero(nodes.rows[: nodes.size] >= 0))

    @property
    def share(self) -> float:
        """The share of the budget that is spent: 1 if a bound is reached.

        Stored answers count as if they had been asked.
        """
        budget = self.observations.budget
        answered = self.answer_count
        shares = [0.0]
        if budget.max_symbols is not None:
            shares.append((answered - 1) / max(1, budget.max_symbols))
        if budget.max_words is not None:
            shares.append(answered / budget.max_words)
        if budget.max_cost is not None:
            cost = self.observations.meter.planned_cost
            shares.append(cost / max(budget.max_cost, 1e-300))
        if budget.max_seconds is not None:
            seconds = time.monotonic() - self._started
            shares.append(seconds / max(1e-9, _SECONDS_FOR_ASKING * budget.max_seconds))
        return max(shares)

    def draw_until(self, share: float) -> None:
        """Draw words until a share of the budget is spent, or there are enough of them."""
        budget = self.observations.budget
        most_words = min([*_answer_bounds(budget, self.observations.query_cost), _MOST_WORDS])
        count, per_word = _FIRST, 0.0
        try:
            while (left := share - self.share) > 0 and self.words < most_words:
                if per_word:
                    count = min(2 * count, int(left / per_word), most_words - self.words)
                    if not count:
                        return
                before = self.share
                self._draw(count)
                per_word = max((self.share - before) / count, 1e-12)
        except BudgetReached:
            return

    def _draw(self, count: int) -> None:
        """Draw words; if that goes beyond the budget, with stored answers counted, drop them."""
        observations = self.observations
        words = self.sampler.draw(count, self._uniform, observations, self._random)
        cut = self.sampler.max_length if isinstance(self.sampler, ModelWords) else None
        if cut is None:
            observations.ask_path(words)
        if self.share > 1:
            raise BudgetReached("the share for words", 1)
        held_out = count_held_out(self.words + np.arange(count + 1), self._one_in)
        is_held = np.diff(held_out) > 0
        learnt, held = words.take((~is_held).nonzero()[0]), words.take(is_held.nonzero()[0])
        self.training = add_words(self.training, learnt, observations, cut)
        self.held_out = add_words(self.held_out, held, observations, cut)
        self.words += count
        self.cut_words += 0 if cut is None else int((words.lengths == cut).sum())

    def make_evidence(
        self,
        most: int,
        *,
        codes: Integers | None = None,
        with_held_out: bool = False,
        more: Integers | None = None,
    ) -> tuple[Evidence, Nodes]:
        """Return what is known from at most about this many answers, and its nodes' nodes here.

        Symbols are ``codes``, or those that are listed, also in answers of which ``more`` has the
        numbers.
        """
        weights = self.weigh_nodes(take_first_words(self.training, most))
        if with_held_out:
            weights += self.held_out.count_passes(self.observations)
        if codes is None:
            codes = find_listed(self.observations, weights, more)
        return make_evidence(self.observations, weights, codes=codes)

    def weigh_nodes(self, training: Positions) -> Floats:
        """Return how many words pass every node, or are expected to where automata were blind."""
        weights = training.count_passes(self.observations)
        weights[: len(self.probes)] = np.maximum(weights[: len(self.probes)], self.probes)
        return weights


def explain_few_words(sampling: Sampling) -> str:
    """Return why nothing can be measured on the words that a budget allows."""
    sampler, count = sampling.sampler, sampling.held_out.word_count
    if count >= 2:
        return "words without symbols show nothing; give a sampler of longer words"
    if sampling.words:
        length = len(sampling.training.nodes) / sampling.words
    else:  # the first has not ended: the most it can be
        longest = sampler.max_length if isinstance(sampler, ModelWords) else 0
        length = max(longest, sampling.answer_count)
    return (
        f"the budget holds out {count} words, and needs at least two: with {length:.0f} "
        f"symbols a word it takes about {20 * (length + 1):.0f} symbols; a larger budget, or "
        "ModelWords of a smaller max_length"
    )


def count_held_out(words: Integers, one_in: int) -> Integers:
    """Return how many of the first words are held out, for several numbers of words.

    Examples
    --------
    >>> count_held_out(np.array([3, 4, 40, 400, 900, 2000]), 10).tolist()
    [0, 1, 10, 100, 100, 200]
    """
    if not one_in:
        return np.zeros_like(words)
    return np.maximum(words // one_in, np.minimum(words // _EARLY, _ENOUGH))


def add_words(
    before: Positions, words: Words, observations: ObservationTree, cut_length: int | None = None
) -> Positions:
    """Add the positions of words that were asked; undefined prefixes do not count.

    Words of ``cut_length`` did not end there: how they would have gone on does not count.
    """
    path = observations.path(words)
    numbers = np.repeat(np.arange(len(words)), words.lengths + 1) + before.word_count
    counts = observations.nodes.rows[path] >= 0
    if cut_length is not None:
        counts[words.ends[words.lengths == cut_length]] = False
    return Positions(
        np.concatenate((before.nodes, path[counts])),
        np.concatenate((before.words, numbers[counts])),
        before.word_count + len(words),
    )


def take_first_words(positions: Positions, most: int) -> Positions:
    """Return the positions of the first words that together have about this many nodes."""
    if len(positions.nodes) <= most:
        return positions
    firsts = np.sort(np.unique(positions.nodes, return_index=True)[1])
    if len(firsts) <= most:
        return positions
    return take_words(positions, int(positions.words[firsts[most]]))


def take_words(positions: Positions, count: int) -> Positions:
    """Return the positions of the first words."""
    end = int(np.searchsorted(positions.words, count))
    return Positions(positions.nodes[:end], positions.words[:end], count)


def make_evidence(
    observations: ObservationTree,
    weights: Floats,
    *,
    codes: Integers | None = None,
) -> tuple[Evidence, Nodes]:
    """Return the evidence of the nodes that have a weight, and these nodes in its order.

    ``codes`` are the symbols that it is over, all if None.
    """
    nodes = weights.nonzero()[0]
    numbers = np.zeros(len(weights), dtype=np.int64)
    numbers[nodes] = np.arange(len(nodes))
    parents = numbers[observations.nodes.parents[nodes]]
    table, codes = make_table(observations, nodes, observations.nodes.rows[nodes], codes)
    symbols = observations.nodes.last_symbols[nodes].astype(np.int64)
    if codes is not None:
        symbols = np.searchsorted(codes, symbols)
        symbols[0] = 0
    evidence = Evidence(parents, symbols, weights[nodes], table, codes)
    return evidence, nodes[evidence.order]


def make_table(
    observations: ObservationTree,
    nodes: Nodes,
    numbers: NDArray[np.integer],
    codes: Integers | None = None,
) -> tuple[Table, Integers | None]:
    """Return answers, of some numbers, to nodes as a table over ``codes``, and these if not all."""
    rows = observations.answers.rows(numbers.astype(np.int64))
    if rows.rest is not None and rows.rest.any():
        word = shorten(observations.word(int(nodes[(rows.rest > 0).argmax()])))
        raise ModelError(
            f"the model's answer to the word {word} does not list all that may follow, so it "
            "cannot be distilled; wrap the model in TopK"
        )
    if not rows.is_sparse:
        return rows.values / rows.values.sum(axis=1, keepdims=True), None
    sparse = _make_sparse(rows)
    if codes is not None:
        columns = np.concatenate(([0], codes + 1))
        listed = sparse.data, np.searchsorted(columns, sparse.indices), sparse.indptr
        sparse = csr_array(listed, shape=(len(rows), len(columns)))
    return _choose_format(sparse), codes


def find_listed(
    observations: ObservationTree, weights: Floats, more: Integers | None = None
) -> Integers | None:
    """Return the symbols that are listed or taken at nodes that have a weight.

    ``more`` are numbers of other answers that count. None stands for all symbols: where answers are
    not sparse, or list most.
    """
    nodes = weights.nonzero()[0]
    numbers = observations.nodes.rows[nodes].astype(np.int64)
    rows = observations.answers.rows(numbers if more is None else np.append(numbers, more))
    if not rows.is_sparse:
        return None
    sparse = _make_sparse(rows)
    if sparse.nnz > _SPARSE * sparse.shape[0] * sparse.shape[1]:
        return None
    taken = observations.nodes.last_symbols[nodes[1:]].astype(np.int64)
    return np.union1d(sparse.indices[sparse.indices > 0] - 1, taken)


def _make_sparse(rows: Rows) -> csr_array[np.float64]:
    """Return sparse rows as a table, each summing up to 1."""
    if rows.columns is None or rows.offsets is None:
        raise TypeError("dense rows list everything")
    entries = rows.values.copy(), rows.columns, rows.offsets
    sparse: csr_array[np.float64] = csr_array(entries, shape=(len(rows), rows.width))
    sparse.data /= np.repeat(np.asarray(sparse.sum(axis=1)), np.diff(sparse.indptr))
    return sparse


def _choose_format(table: csr_array[np.float64]) -> Table:
    """Return a table as it is where most of it is 0, else as a plain array."""
    is_dense = table.nnz > _SPARSE * table.shape[0] * table.shape[1]
    return make_dense(table) if is_dense else table


def check_budget(budget: object, cost: QueryCost, purpose: str = "hold out any words") -> Budget:
    """Return a budget; refuse one that does not bound what is asked, or is too small for it."""
    if not isinstance(budget, Budget):
        raise InputError(f"budget {budget!r} is not a Budget, such as Budget(max_symbols=20_000)")
    if not budget.bounds_questions:
        raise InputError(
            "the budget does not bound what is asked, and asking would never end; give "
            "max_symbols, max_words, max_cost or max_seconds"
        )
    if cost.is_free and not replace(budget, max_cost=None).bounds_questions:
        raise InputError(
            "max_cost bounds nothing, as the model has no cost; give max_symbols, max_words or "
            "max_seconds"
        )
    for name, remedy in _FOR_LEARNING.items():
        if getattr(budget, name) is not None:
            raise InputError(f"{name} is a bound for learning; {remedy}")
    for name in ("max_symbols", "max_words"):
        bound = getattr(budget, name)
        if bound is not None and bound < _LEAST_SYMBOLS:
            raise InputError(
                f"{name}={bound} is too small to {purpose}; give at least "
                f"{_LEAST_SYMBOLS}, better some thousands"
            )
    return budget


def check_sampler(sampler: SamplerLike | None, budget: Budget, cost: QueryCost) -> Sampler:
    """Return what draws words: by default the model, with words so short that enough fit in."""
    if sampler is None:
        bounds, (low, high) = _answer_bounds(budget, cost), _LENGTHS
        length = max(low, min(high, min(bounds) // _WORDS_AT_LEAST)) if bounds else _LENGTH
        return ModelWords(length)
    return as_sampler(sampler)


def _answer_bounds(budget: Budget, cost: QueryCost) -> list[int]:
    """Return about how many answers each bound allows, where that is known."""
    bounds = [bound for bound in (budget.max_symbols, budget.max_words) if bound is not None]
    an_answer = cost.word + cost.symbol
    if budget.max_cost is not None and an_answer:
        bounds.append(int(budget.max_cost / an_answer))
    return bounds
