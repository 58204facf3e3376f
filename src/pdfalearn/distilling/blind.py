"""Find the transitions that automata take and no word has taken, likeliest first."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array

from pdfalearn.distilling.evidence import Evidence, Floats, Numbers, Singles
from pdfalearn.distilling.machines import Fit

_SEEN = 1.5
"""A transition that words of at least this weight have taken is not asked about."""


def blind_edges(fit: Fit, evidence: Evidence, count: int) -> tuple[Numbers, Numbers, Floats]:
    """Return where words should go on to see transitions that hardly any word has taken.

    Parameters
    ----------
    fit : Fit
        The automaton.
    evidence : Evidence
        What is known.
    count : int
        How many transitions, at most.

    Returns
    -------
    nodes, symbols : array of int
        The likeliest word into each transition, and its symbol.
    flows : array of float
        How many words are expected to take the transition.
    """
    width = evidence.width
    flows = _flows(fit, evidence)
    taken = fit.states[evidence.parents].astype(np.int64) * width + evidence.symbols
    seen = np.bincount(taken[1:], evidence.weights[1:], len(fit.machine) * width)
    flows[seen >= np.minimum(_SEEN, 0.5 * flows)] = 0.0
    best = np.argsort(-flows, kind="stable")[:count]
    best = best[flows[best] > 0]
    states, symbols = np.divmod(best, width)
    return _likeliest(fit, evidence, states, symbols), symbols, flows[best]


def _flows(fit: Fit, evidence: Evidence) -> Floats:
    sums, _ = evidence.sums(fit.states, len(fit.machine))
    return sums[:, 1:].reshape(-1)


def _likeliest(fit: Fit, evidence: Evidence, states: Numbers, symbols: Numbers) -> Numbers:
    """Return the node in each state after which a symbol is likeliest, its weight included."""
    order = np.argsort(fit.states, kind="stable")
    begins = np.searchsorted(fit.states[order], np.arange(len(fit.machine) + 1))
    nodes = np.empty(len(states), dtype=np.int64)
    columns = _columns(evidence)
    by_symbol = np.argsort(symbols, kind="stable")
    borders = np.flatnonzero(np.diff(symbols[by_symbol], prepend=-1)).tolist()
    for begin, end in zip(borders, [*borders[1:], len(symbols)], strict=False):
        flow = columns(int(symbols[by_symbol[begin]]) + 1)
        for place in by_symbol[begin:end].tolist():
            state = int(states[place])
            here = order[begins[state] : begins[state + 1]]
            nodes[place] = here[flow[here].argmax()]
    return nodes


def _columns(evidence: Evidence) -> Callable[[int], Singles]:
    """Return a function for the weighted probabilities of one symbol in all answers."""
    weighted = evidence.weighted
    if isinstance(weighted, csr_array):
        by_column = weighted.tocsc()
        return lambda column: by_column[:, [column]].toarray().reshape(-1)
    return lambda column: weighted[:, column]
