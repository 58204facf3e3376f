"""Averaged k-grams: a state for each context of the last k symbols."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from benchmarks.distilling.answers import Answers, Floats, Integers
from pdfalearn import PDFA
from pdfalearn.analysis import reachable_part


class Order(NamedTuple):
    """The contexts of one length."""

    of_prefixes: Integers
    """The context of each prefix."""
    shorter: Integers
    """The context without its first symbol, one of the order below."""
    edges: Integers
    """For all but the first context, the beginning: one of the order below, and a symbol."""


@dataclass(frozen=True, eq=False)
class KGrams:
    """Contexts of up to this many symbols of the same words, with the shorter ones to fall back on.

    The beginning of a word is a symbol of its own: a word that is shorter than a context is one.

    Examples
    --------
    >>> from benchmarks.distilling.answers import asked
    >>> from benchmarks.distilling.black_boxes import BlackBox
    >>> from pdfalearn.datasets import figure_3
    >>> kgrams = KGrams.of(asked(BlackBox(figure_3()), 1000, seed=1), 2)
    >>> [len(kgrams.automaton(order)) for order in (0, 1, 2)]
    [1, 3, 7]
    """

    answers: Answers
    orders: list[Order]

    @classmethod
    def of(cls, answers: Answers, most: int) -> KGrams:
        """Find the contexts of all orders up to one."""
        nothing = np.zeros((0, 2), dtype=np.int64)
        orders = [Order(np.zeros(len(answers), dtype=np.int64), np.zeros(1, np.int64), nothing)]
        for _ in range(most):
            orders.append(_next_order(answers, orders[-1]))
        return cls(answers, orders)

    def contexts(self, order: int) -> int:
        """Return how many contexts there are up to an order."""
        return sum(len(each.shorter) for each in self.orders[: order + 1])

    def automaton(self, order: int, shrink: float = 0.0) -> PDFA:
        """Return the automaton of an order.

        Parameters
        ----------
        order : int
            The length of contexts. One that was never seen falls back to its longest suffix.
        shrink : float
            The row of a context is drawn to that of the next shorter one, as if this had been seen
            this many times more.
        """
        used = self.orders[: order + 1]
        sizes = [len(each.shorter) for each in used]
        begins = np.cumsum(sizes) - sizes
        tables, rows = [np.zeros((1, len(self.answers.alphabet)), dtype=np.int32)], []
        rows.append(self._means(used[0], np.zeros((1, 1)), 0.0))
        for number, each in enumerate(used[1:], 1):
            context, symbol = each.edges.T
            tables[-1][context, symbol] = begins[number] + np.arange(1, len(context) + 1)
            tables.append(tables[-1][each.shorter])
            rows.append(self._means(each, rows[-1], shrink))
        initial = int(begins[order] + used[order].of_prefixes[0])
        pdfa = PDFA(
            alphabet=self.answers.alphabet,
            transitions=np.concatenate(tables),
            probabilities=np.concatenate(rows),
            initial=initial,
        )
        return reachable_part(pdfa)

    def _means(self, order: Order, above: Floats, shrink: float) -> Floats:
        """Return the mean of the answers in each context, drawn to the rows of shorter ones."""
        answers, contexts = self.answers, order.of_prefixes
        places = (contexts, np.arange(len(contexts)))
        sums = csr_array((answers.weights, places), (len(order.shorter), len(contexts)))
        rows = sums @ answers.rows + shrink * above[order.shorter]
        return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def _next_order(answers: Answers, below: Order) -> Order:
    """Return contexts that are one symbol longer: the parent's context and the last symbol."""
    width = len(answers.alphabet)
    pairs = below.of_prefixes[answers.parents] * width + answers.symbols
    pairs[0] = -1  # the beginning
    found, firsts, contexts = np.unique(pairs, return_index=True, return_inverse=True)
    edges = np.stack(np.divmod(found[1:], width), axis=1)
    return Order(contexts, below.of_prefixes[firsts], edges)
