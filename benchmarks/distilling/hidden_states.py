"""Two rivals over all answers: variable-length contexts, and clusters of hidden states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2

from benchmarks.distilling.answers import Answers, Floats
from pdfalearn import PDFA, RecurrentModel
from pdfalearn.distilling.contexts import Contexts
from pdfalearn.distilling.evidence import Evidence
from pdfalearn.distilling.machines import Machine, shrink_rows
from pdfalearn.models._networks import map_tensors

_ROUNDS = 20
_MOST_CLUSTERS = 500


def evidence_of(answers: Answers) -> Evidence:
    """Return answers as the evidence that automata are searched on."""
    parents, symbols = np.maximum(answers.parents, 0), np.maximum(answers.symbols, 0)
    return Evidence(parents, symbols, answers.weights, answers.rows)


def suffix_trees(answers: Answers, sizes: tuple[int, ...], strength: float) -> Iterator[PDFA]:
    """Yield prediction suffix trees: the contexts that gain most, each drawn to one shorter."""
    evidence = evidence_of(answers)
    contexts = Contexts(evidence, max(sizes))
    for size in sizes:
        yield _make_pdfa(contexts.machine(size, strength), evidence, answers, 1.0)


def hidden_vectors(model: RecurrentModel, answers: Answers) -> Floats:
    """Return the hidden state after each prefix as a vector."""
    network = model._network
    with torch.inference_mode():
        states: list[Floats] = []
        first = network.start(1)[1]
        rows: list[Floats | None] = [None] * len(answers)
        rows[0] = _flatten(first, 1)[0]
        kept = {0: first}
        here = np.array([0])
        for level in answers.levels:
            # All prefixes of a level take their step together.
            order = np.searchsorted(np.sort(here), answers.parents[level])
            parents = np.argsort(here)[order]
            chosen = torch.from_numpy(parents)
            state = _take(kept[0], chosen, len(here))
            symbols = torch.from_numpy(answers.symbols[level].astype(np.int64))
            kept[0] = network.step(symbols, state)[1]
            for node, vector in zip(level.tolist(), _flatten(kept[0], len(level)), strict=True):
                rows[node] = vector
            here = level
        states = [row for row in rows if row is not None]
    return np.array(states)


def _word_axis(tensor: torch.Tensor, count: int) -> int:
    return max(axis for axis, size in enumerate(tensor.shape[:-1]) if size == count)


def _flatten(state: Any, count: int) -> Floats:
    parts: list[Floats] = []

    def add(tensor: torch.Tensor) -> torch.Tensor:
        moved = tensor.movedim(_word_axis(tensor, count), 0)
        parts.append(moved.reshape(count, -1).double().numpy())
        return tensor

    map_tensors(add, state)
    return np.concatenate(parts, axis=1)


def _take(state: Any, chosen: torch.Tensor, count: int) -> Any:
    return map_tensors(lambda tensor: tensor.index_select(_word_axis(tensor, count), chosen), state)


def clusters(model: RecurrentModel, answers: Answers, sizes: tuple[int, ...]) -> Iterator[PDFA]:
    """Yield automata of clusters: transitions by majority, rows as means of all answers."""
    vectors, evidence = hidden_vectors(model, answers), evidence_of(answers)
    for size in sizes:
        if size <= _MOST_CLUSTERS:
            labels = kmeans2(vectors, size, _ROUNDS, minit="points", seed=1)[1]
            yield _make_pdfa(_majority(labels, size, answers), evidence, answers, 1.0)


def _majority(labels: NDArray[np.int32], size: int, answers: Answers) -> Machine:
    """Return the automaton whose transitions are those of most words, the first cluster first."""
    swapped = np.arange(size)
    swapped[[0, labels[0]]] = swapped[[labels[0], 0]]
    labels = swapped[labels].astype(np.int32)
    width = len(answers.alphabet)
    edges = labels[answers.parents[1:]].astype(np.int64) * width + answers.symbols[1:]
    votes = np.zeros((size * width, size), dtype=np.float32)
    np.add.at(votes, (edges, labels[1:]), answers.weights[1:])
    by_symbol = votes.reshape(size, width, size).sum(axis=0).argmax(axis=1)
    transitions = np.where(votes.any(axis=1), votes.argmax(axis=1), np.tile(by_symbol, size))
    mean = answers.weights @ answers.rows / answers.weights.sum()
    rows = np.tile(mean, (size, 1))
    return Machine(transitions.reshape(size, width).astype(np.int32), rows, rows)


def _make_pdfa(machine: Machine, evidence: Evidence, answers: Answers, weight: float) -> PDFA:
    sums, weights = evidence.sums(evidence.states(machine.transitions, 0), len(machine.rows))
    rows = shrink_rows(sums, weights, machine.priors, weight, within=False)
    return PDFA(alphabet=answers.alphabet, transitions=machine.transitions, probabilities=rows)
