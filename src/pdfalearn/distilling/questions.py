"""Ask a model where automata are blind: along transitions that hardly any word has taken."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pdfalearn.budgets import BudgetReached
from pdfalearn.distilling.blind import blind_edges
from pdfalearn.distilling.evidence import Evidence, Floats
from pdfalearn.distilling.machines import Fit
from pdfalearn.distilling.sampling import Spending
from pdfalearn.observations.tree import Nodes, ObservationTree

_FURTHER = 2
"""After a transition words go on by this many symbols, the likeliest each time."""
_SMALL = 64
"""In automata of more states than this words do not go on, as states differ by their rows."""


def ask_blind_spots(
    fits: Sequence[Fit],
    evidence: Evidence,
    nodes: Nodes,
    weights: Floats,
    observations: ObservationTree,
    spending: Spending,
    share: float,
) -> Floats:
    """Ask for the likeliest words through transitions that hardly any word has taken.

    Parameters
    ----------
    fits : sequence of Fit
        Automata; each has an equal part of the questions.
    evidence : Evidence
        What is known.
    nodes : array of int
        Which node of the observations each node of the evidence is.
    weights : array of float
        How much weight each node of the observations has.
    observations : ObservationTree
        The observation tree to ask.
    spending : Spending
        How much has been spent.
    share : float
        How much of the budget may be spent.

    Returns
    -------
    array of float
        The weights of all nodes, with those of the new answers: how many words are expected there.
    """
    found: dict[int, float] = {}
    try:
        for place, fit in enumerate(fits):
            left = (share - spending.share) / (len(fits) - place)
            further = _FURTHER if len(fit.machine) <= _SMALL else 0
            count = _affordable(left, spending) // (1 + further)
            if count > 0:
                starts, symbols, flows = blind_edges(fit, evidence, count)
                words = observations.nodes.step(nodes[starts], evidence.codes[symbols])
                _follow(words, flows, further, observations, found)
    except BudgetReached:
        pass
    enlarged = np.zeros(observations.nodes.size)
    enlarged[: len(weights)] = weights
    for node, flow in found.items():
        enlarged[node] = max(enlarged[node], flow)
    return enlarged


def _affordable(left: float, spending: Spending) -> int:
    """Return how many words can be asked with a share of the budget."""
    return int(left * spending.answered / max(spending.share, 1e-12))


def _follow(
    words: Nodes,
    flows: Floats,
    further: int,
    observations: ObservationTree,
    found: dict[int, float],
) -> None:
    """Ask for words and the likeliest ones after them, and note how many words are expected."""
    for step in range(1 + further):
        observations.ask(words)
        answered = observations.nodes.rows[words] >= 0
        words, flows = words[answered], flows[answered]
        for node, flow in zip(words.tolist(), flows.tolist(), strict=True):
            found[node] = max(found.get(node, 0.0), flow)
        if step < further and len(words):
            rows = observations.rows(words)
            likeliest = rows[:, 1:].argmax(axis=1)
            shares = rows[np.arange(len(words)), likeliest + 1]
            goes_on = shares > 0
            flows = (flows * shares)[goes_on]
            words = observations.nodes.step(words[goes_on], likeliest[goes_on])
