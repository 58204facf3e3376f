"""Recurrent networks as language models."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, Budget, Quantization, RecurrentModel, Result, evaluate, learn
from pdfalearn.datasets import random_pdfa
from pdfalearn.oracles import ExactOracle, PACOracle
from pdfalearn.samplers import UniformWords
from tests.learners.checks import assert_is_quotient
from tests.models.networks import (
    FORMS,
    OneHotNetwork,
    gru,
    memory_for,
    needed_torch,
)
from tests.models.watched import WatchedModel
from tests.strategies import KAPPAS, pdfas
from tests.support import examples

MEMORY = 2**24
"""Bytes for more words than any run here has."""


@pytest.fixture
def torch() -> Any:
    return needed_torch()


@pytest.mark.parametrize("capacity", [3, 16, None])
@pytest.mark.usefixtures("torch")
@examples(40)
@given(target=pdfas(allow_undefined=False), kappa=st.sampled_from(KAPPAS))
def test_a_network_that_computes_a_pdfa_gives_its_quotient(
    capacity: int | None, target: PDFA, kappa: int
) -> None:
    memory = memory_for(capacity, 8 * len(target)) if capacity else MEMORY
    model = RecurrentModel(OneHotNetwork(target), target.alphabet, memory=memory)
    assert capacity is None or model.open().capacity == capacity
    equivalence = Quantization(kappa)
    watched = WatchedModel(model, capacity=capacity)
    assert_is_quotient(
        learn(
            watched, equivalence=equivalence, oracle=ExactOracle(target, equivalence=equivalence)
        ).pdfa,
        target,
        equivalence,
    )
    assert watched.open_count == 0


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("share", [0.01, 1.0])
@pytest.mark.usefixtures("torch")
def test_states_of_every_form(form: str, share: float) -> None:
    target, equivalence = random_pdfa(40, 3, distributions=3, seed=1), Quantization(10)
    memory = int(share * MEMORY / 10)
    model = RecurrentModel(OneHotNetwork(target, *FORMS[form]), target.alphabet, memory=memory)
    oracle = ExactOracle(target, equivalence=equivalence)
    assert_is_quotient(
        learn(model, equivalence=equivalence, oracle=oracle).pdfa, target, equivalence
    )


def learnt(capacity: int | None) -> Result:
    sampler = UniformWords(max_length=6)
    oracle = PACOracle(epsilon=0.1, delta=0.1, sampler=sampler, seed=1)
    memory = memory_for(capacity, 48) if capacity else MEMORY
    return learn(gru(memory=memory), equivalence=Quantization(2), oracle=oracle)


@pytest.mark.slow
@pytest.mark.usefixtures("torch")
def test_few_hidden_states_give_the_same_automaton() -> None:
    all_at_once = learnt(None)
    assert len(all_at_once.pdfa) > 20
    for capacity in (3, 16, 64):
        result = learnt(capacity)
        assert result.access_words == all_at_once.access_words
        assert result.pdfa.transitions.tolist() == all_at_once.pdfa.transitions.tolist()
        assert np.allclose(result.pdfa.probabilities, all_at_once.pdfa.probabilities)
        # What is computed again is not asked again: budgets are the same on every machine.
        assert result.statistics.distributions == all_at_once.statistics.distributions
        assert result.statistics.words == all_at_once.statistics.words
        assert result.statistics.symbols == all_at_once.statistics.symbols
        assert result.certificate.kind == "pac"


@pytest.mark.slow
def test_a_store_knows_the_network_again(torch: Any, tmp_path: Path) -> None:
    path = tmp_path / "answers.db"

    def run() -> Result:
        oracle = PACOracle(epsilon=0.05, delta=0.05, sampler=UniformWords(8), seed=1)
        return learn(gru(), equivalence=Quantization(2), oracle=oracle, store=path)

    first, again = run(), run()
    assert first.statistics.words > again.statistics.words == 0
    assert again.pdfa == first.pdfa


def test_a_module_of_ones_own(torch: Any) -> None:
    def build(self: Any) -> None:
        torch.nn.Module.__init__(self)
        torch.manual_seed(5)
        self.cell = torch.nn.LSTMCell(3, 7)
        self.head = torch.nn.Linear(7, 4)

    def start(self: Any, count: int) -> tuple[Any, Any]:
        state = (torch.zeros(count, 7), torch.zeros(count, 7))
        return self.head(state[0]), state

    def step(self: Any, symbols: Any, state: Any) -> tuple[Any, Any]:
        state = self.cell(torch.nn.functional.one_hot(symbols, 3).float(), state)
        return self.head(state[0]), state

    methods = {"__init__": build, "start": start, "step": step}
    network = type("Own", (torch.nn.Module,), methods)()
    model = RecurrentModel(network, "abc", memory=MEMORY)
    assert model.fingerprint is not None
    oracle = PACOracle(epsilon=0.05, delta=0.05, sampler=UniformWords(8), seed=1)
    result = learn(model, equivalence=Quantization(40), oracle=oracle)
    words = [word for word, _ in zip(result.access_words, range(50), strict=False)]
    assert len(words) > 3
    assert (
        evaluate(model, result.pdfa, words, equivalence=Quantization(40)).over_words.difference == 0
    )


class Pair(NamedTuple):
    """A state with names."""

    zero: Any
    one: Any


@pytest.mark.parametrize("form", ["dictionary", "named"])
def test_states_are_matched_by_name(form: str, torch: Any) -> None:
    class Swapping:
        """Returns its state in another order; what is zero stays zero."""

        def start(self, count: int) -> tuple[Any, Any]:
            zero, one = torch.zeros(count), torch.ones(count)
            state = {"zero": zero, "one": one} if form == "dictionary" else Pair(zero, one)
            return torch.zeros(count, 3), state

        def step(self, symbols: Any, state: Any) -> tuple[Any, Any]:
            logits = torch.zeros(len(symbols), 3)
            if form == "named":
                logits[:, 0] = state.zero
                return logits, Pair(one=state.one, zero=state.zero)
            logits[:, 0] = state["zero"]
            return logits, {"one": state["one"], "zero": state["zero"]}

    oracle = PACOracle(epsilon=0.1, delta=0.1, sampler=UniformWords(5), seed=1)
    result = learn(RecurrentModel(Swapping(), "ab"), equivalence=Quantization(20), oracle=oracle)
    assert len(result.pdfa) == 1


def test_dropout_of_ones_own_is_found_even_if_a_bound_stops_the_run(torch: Any) -> None:
    class Dropping(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(1)
            self.cell, self.head = torch.nn.GRUCell(2, 8), torch.nn.Linear(8, 3)

        def start(self, count: int) -> tuple[Any, Any]:
            state = torch.zeros(count, 8)
            return self.head(state), state

        def step(self, symbols: Any, state: Any) -> tuple[Any, Any]:
            state = self.cell(torch.nn.functional.one_hot(symbols, 2).float(), state)
            return self.head(torch.nn.functional.dropout(state, 0.5, self.training)), state

    network = Dropping()
    oracle = PACOracle(epsilon=0.1, delta=0.1, sampler=UniformWords(5), seed=1)
    bound = Budget(max_states=20)
    for is_training in (True, False):
        model = RecurrentModel(network.train(is_training), "ab")
        result = learn(model, equivalence=Quantization(50), oracle=oracle, budget=bound)
        assert (result.certificate.kind == "unsteady") == is_training
        assert (".eval()" in result.certificate.statement) == is_training
