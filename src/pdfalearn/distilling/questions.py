"""Ask a model where automata are blind: along transitions that hardly any word has taken."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from pdfalearn.budgets import BudgetReached
from pdfalearn.distilling.evidence import Evidence, find_runs, make_dense
from pdfalearn.distilling.machines import Fit
from pdfalearn.distilling.sampling import Sampling
from pdfalearn.observations import Nodes, ObservationTree
from pdfalearn.typing import Floats, Integers

# After a transition words go on by at most this many symbols, the likeliest each time, and only
# where these are at least this likely: where a model is sure, a wrong state costs most.
_FURTHER, _LIKELY = 5, 0.5
# A transition that words of at least this weight have taken is not asked about.
_SEEN = 1.5


def ask_blind_spots(
    fits: Sequence[Fit], evidence: Evidence, nodes: Nodes, sampling: Sampling, share: float
) -> None:
    """Ask for the likeliest words through transitions that hardly any word has taken.

    The probes of the sampling get the weights of the new answers: how many words are expected.
    """
    observations, found = sampling.observations, list[tuple[Nodes, Floats]]()
    try:
        for place, fit in enumerate(fits):
            until = sampling.share + (share - sampling.share) / (len(fits) - place)
            starts, symbols, flows = blind_edges(fit, evidence, _count_affordable(sampling, until))
            words = observations.nodes.step(nodes[starts], evidence.codes[symbols])
            # How far words go on is known only when they are asked: so some are asked at a time.
            while len(words) and (count := _count_affordable(sampling, until) // (1 + _FURTHER)):
                _follow(words[:count], flows[:count], observations, found)
                words, flows = words[count:], flows[count:]
    except BudgetReached:
        pass
    probes = np.zeros(observations.nodes.size)
    probes[: len(sampling.probes)] = sampling.probes
    for words, flows in found:
        np.maximum.at(probes, words, flows)
    sampling.probes = probes


def _count_affordable(sampling: Sampling, share: float) -> int:
    """Return about how many answers there may be until a share of the budget is spent."""
    answers = sampling.answer_count / max(sampling.share, 1e-12)
    return max(0, int((share - sampling.share) * answers))


def _follow(
    words: Nodes,
    flows: Floats,
    observations: ObservationTree,
    found: list[tuple[Nodes, Floats]],
) -> None:
    """Ask for words and the likeliest ones after them, and note how many words are expected."""
    for step in range(1 + _FURTHER):
        observations.ask(words)
        answered = observations.nodes.rows[words] >= 0
        words, flows = words[answered], flows[answered]
        found.append((words, flows))
        if step < _FURTHER and len(words):
            rows = observations.answers.dense(observations.nodes.rows[words])
            likeliest = rows[:, 1:].argmax(axis=1)
            shares = rows[np.arange(len(words)), likeliest + 1]
            goes_on = shares >= _LIKELY
            flows = (flows * shares)[goes_on]
            words = observations.nodes.step(words[goes_on], likeliest[goes_on])


def blind_edges(fit: Fit, evidence: Evidence, count: int) -> tuple[Integers, Integers, Floats]:
    """Return where words should go on to see transitions that hardly any word has taken.

    These are the node of the likeliest word into each, its symbol, and how many words are expected
    to take it.
    """
    width = evidence.width
    flows = evidence.sums(fit.states, len(fit.machine.rows))[0][:, 1:].reshape(-1)
    taken = fit.states[evidence.parents].astype(np.int64) * width + evidence.symbols
    seen = np.bincount(taken[1:], evidence.weights[1:], len(flows))
    flows[seen >= np.minimum(_SEEN, 0.5 * flows)] = 0.0
    best = np.argsort(-flows, kind="stable")[:count]
    best = best[flows[best] > 0]
    states, symbols = np.divmod(best, width)
    # Of the nodes in each state, the one after which the symbol is likeliest, its weight included.
    order = np.argsort(fit.states, kind="stable")
    begins = np.searchsorted(fit.states[order], np.arange(len(fit.machine.rows) + 1))
    nodes = np.empty(len(states), dtype=np.int64)
    weighted = evidence.weighted[0]
    by_column = weighted.tocsc() if isinstance(weighted, csr_array) else weighted
    by_symbol = np.argsort(symbols, kind="stable")
    for begin, end, symbol in find_runs(symbols[by_symbol]):
        flow = make_dense(by_column[:, [symbol + 1]]).reshape(-1)
        for place in by_symbol[begin:end].tolist():
            state = int(states[place])
            here = order[begins[state] : begins[state + 1]]
            nodes[place] = here[flow[here].argmax()]
    return nodes, symbols, flows[best]


def rare_loss(fit: Fit, evidence: Evidence, drawn: Floats) -> float:
    """Return by how much words that are too rare to be drawn may raise the loss.

    ``drawn`` says how many of the drawn words pass every node: none those that were asked because
    automata were blind there.
    """
    is_rare = (drawn == 0) & (fit.states >= 0)
    sums = evidence.sum_answers(np.where(is_rare, fit.states, -1), len(fit.logs))
    crossed = (sums.multiply(fit.logs) if isinstance(sums, csr_array) else sums * fit.logs).sum()
    weights = evidence.weights[is_rare]
    more = weights @ evidence.negative_entropies[is_rare] - crossed - weights.sum() * fit.loss
    return max(0.0, float(more) / max(1.0, float(drawn.sum())))
