"""A recurrent network as a language model, with room for fewer hidden states than needed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pdfalearn import PDFA, Alphabet, Quantization, Result, learn
from pdfalearn.certificates import Certificate
from pdfalearn.equivalence.relations import Equivalence
from pdfalearn.models.protocol import Handles
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.words import Words
from tests.models.watched import WatchedModel
from tests.support import need_module

ALPHABET = Alphabet("abc")
HIDDEN = 6
ENOUGH = 10_000
"""More hidden states than any run here needs."""


class Network:
    """A GRU with random weights: the handle of a word is the row of its hidden state."""

    alphabet = ALPHABET
    fingerprint = None
    prefixes_free = True

    def __init__(self, torch: Any, capacity: int) -> None:
        torch.manual_seed(3)
        self.capacity = capacity
        self._torch = torch
        self._cell = torch.nn.GRUCell(len(ALPHABET), HIDDEN, dtype=torch.float64)
        self._out = torch.nn.Linear(HIDDEN, len(ALPHABET) + 1, dtype=torch.float64)
        self._symbols = 4 * torch.eye(len(ALPHABET), dtype=torch.float64)
        self._hidden = torch.zeros(capacity, HIDDEN, dtype=torch.float64)
        self._free = list(range(capacity))[::-1]

    def start(self) -> int:
        row = self._free.pop()
        self._hidden[row] = 0.0
        return row

    def extend(self, handles: Handles, words: Words) -> Handles:
        rows = np.array([self._free.pop() for _ in words.symbols])
        for step in range(int(words.lengths.max())):
            active = words.lengths > step
            places = words.offsets[:-1][active] + step
            before = rows[places - 1] if step else handles[active]
            with self._torch.no_grad():
                symbols = self._symbols[words.symbols[places]]
                self._hidden[rows[places]] = self._cell(symbols, self._hidden[before])
        return rows

    def distributions(self, handles: Handles) -> NDArray[np.float64]:
        with self._torch.no_grad():
            rows = self._torch.softmax(3 * self._out(self._hidden[handles]), dim=1)
        return np.asarray(rows.numpy())

    def release(self, handles: Handles) -> None:
        self._free += handles.tolist()


class SamplingOracle:
    """Compares network and hypothesis after all prefixes of random words."""

    certificate = Certificate("tested", "sampled words agree")

    def __init__(self, network: Network, by: Equivalence) -> None:
        random = np.random.default_rng(1)
        codes = [random.integers(0, 3, length).tolist() for length in random.integers(1, 13, 150)]
        words = Words.of(codes)
        handles = network.extend(np.full(len(words), network.start()), words)
        self._by = by
        self._keys = by.keys(network.distributions(handles))
        prefixes = [word[: stop + 1] for word in codes for stop in range(len(word))]
        self._prefixes = ALPHABET.decode_words(Words.of(prefixes))

    def counterexamples(self, hypothesis: PDFA, observations: ObservationTree) -> Words:
        said = self._by.keys(hypothesis.next_distributions(self._prefixes))
        wrong = (said != self._keys).any(axis=1).nonzero()[0]
        return ALPHABET.encode_words([self._prefixes[place] for place in wrong[:30]])


@pytest.fixture
def torch() -> Any:
    module = need_module("torch")
    module.set_num_threads(1)
    return module


def learnt(torch: Any, capacity: int | None) -> tuple[Result, WatchedModel]:
    by = Quantization(4)
    oracle = SamplingOracle(Network(torch, ENOUGH), by)
    model = WatchedModel(Network(torch, capacity or ENOUGH), capacity=capacity)
    return learn(model, by=by, oracle=oracle), model


@pytest.mark.parametrize("capacity", [3, 16, 64])
def test_few_hidden_states_give_the_same_automaton(torch: Any, capacity: int) -> None:
    all_at_once, unlimited = learnt(torch, None)
    result, model = learnt(torch, capacity)
    assert model.most_live == capacity < unlimited.most_live
    assert result.access_words == all_at_once.access_words
    assert result.pdfa.transitions.tolist() == all_at_once.pdfa.transitions.tolist()
    assert np.allclose(result.pdfa.probabilities, all_at_once.pdfa.probabilities)
    assert result.statistics.words == all_at_once.statistics.words
    assert result.statistics.equivalence_queries == all_at_once.statistics.equivalence_queries
    assert result.certificate.kind == "tested"
    assert len(result.pdfa) > 20
