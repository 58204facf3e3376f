"""Recurrent networks as language models."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import (
    PDFA,
    Budget,
    ExactOracle,
    ModelError,
    PACOracle,
    Quantization,
    RecurrentModel,
    Result,
    UniformWords,
    evaluate,
    learn,
    random_pdfa,
)
from pdfalearn.words import Words
from tests.learners.checks import assert_is_quotient
from tests.models.networks import (
    FORMS,
    OneHotNetwork,
    gru,
    layers,
    memory_for,
    needed_torch,
)
from tests.models.watched import WatchedModel
from tests.strategies import KAPPAS, pdfas
from tests.support import examples

ROOM = 2**24
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
    memory = memory_for(capacity, 8 * len(target), len(target.alphabet)) if capacity else ROOM
    model = RecurrentModel(OneHotNetwork(target), target.alphabet, memory=memory)
    assert capacity is None or model.capacity == capacity
    by = Quantization(kappa)
    watched = WatchedModel(model, capacity=model.capacity)
    assert_is_quotient(learn(watched, by=by, oracle=ExactOracle(target, by=by)).pdfa, target, by)
    assert watched.live == 0


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("capacity", [3, None])
@pytest.mark.usefixtures("torch")
def test_states_of_every_form(form: str, capacity: int | None) -> None:
    target, by = random_pdfa(40, 3, distributions=3, seed=1), Quantization(10)
    model = RecurrentModel(OneHotNetwork(target, *FORMS[form]), target.alphabet, memory=ROOM)
    watched = WatchedModel(model, capacity=capacity)
    assert_is_quotient(learn(watched, by=by, oracle=ExactOracle(target, by=by)).pdfa, target, by)


def whole_words(parts: tuple[Any, Any, Any], words: list[str], torch: Any) -> Any:
    """Run words through layers one by one, in one call each; give the rows of all prefixes."""
    embedding, recurrent, head = parts
    rows = []
    for word in words:
        tokens = torch.tensor([0, *("abc".index(symbol) + 1 for symbol in word)])
        outputs = recurrent(embedding(tokens))[0]  # without an axis for a batch
        rows += torch.softmax(head(outputs), dim=1).tolist()
    return np.array(rows)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("RNN", {}),
        ("RNN", {"nonlinearity": "relu", "batch_first": True}),
        ("GRU", {"num_layers": 3}),
        ("GRU", {"num_layers": 2, "batch_first": True, "bias": False}),
        ("LSTM", {}),
        ("LSTM", {"num_layers": 2, "proj_size": 4}),
        ("LSTM", {"num_layers": 2, "batch_first": True}),
    ],
)
def test_layers(kind: str, options: dict[str, Any], torch: Any) -> None:
    parts = layers(kind, 3, **options)
    model = RecurrentModel.of_layers(*parts, "abc", memory=ROOM)
    words = ["", "a", "abcabc", "cc", "abca", "b", ""]
    batch = model.alphabet.encode_words(words)
    handles = model.extend(np.array([model.start() for _ in words]), batch)
    expected = whole_words(parts, words, torch)
    is_empty = np.zeros(len(expected), dtype=bool)
    is_empty[batch.offsets[:-1] + np.arange(len(words))] = True
    assert np.allclose(model.distributions(handles), expected[~is_empty], atol=1e-13)
    assert np.allclose(model.distributions(np.array([model.start()])), expected[:1], atol=1e-13)


@pytest.mark.usefixtures("torch")
@given(st.lists(st.tuples(st.integers(0, 9), st.text("abc", max_size=4)), max_size=12))
def test_words_go_on_from_any_handle(extensions: list[tuple[int, str]]) -> None:
    model, whole = gru(), gru()
    known: list[tuple[str, int]] = [("", model.start())]
    for choice in range(0, len(extensions), 3):
        part = [(known[at % len(known)], word) for at, word in extensions[choice : choice + 3]]
        batch = model.alphabet.encode_words([word for _, word in part])
        handles = model.extend(np.array([handle for (_, handle), _ in part]), batch).tolist()
        for (base, _), word in part:
            known += [(base + word[: end + 1], handles.pop(0)) for end in range(len(word))]
    words = [word for word, _ in known]
    expected = [
        whole.distributions(
            whole.extend(np.array([whole.start()]), whole.alphabet.encode_words([w]))
        )[-1]
        if w
        else whole.distributions(np.array([whole.start()]))[0]
        for w in words
    ]
    found = model.distributions(np.array([handle for _, handle in known]))
    assert np.allclose(found, expected, atol=1e-13)


def test_words_of_a_batch_take_their_steps_together(torch: Any) -> None:
    target = random_pdfa(10, 2, seed=1)
    network = OneHotNetwork(target)
    model = RecurrentModel(network, target.alphabet, memory=ROOM)
    words = Words.of([[0, 1], [], [1], [0, 0, 0, 0], [1]])
    rows = model.distributions(model.extend(np.full(5, model.start()), words))
    assert network.sizes == [4, 2, 1, 1]
    spelt = ["0", "01", "1", "0", "00", "000", "0000", "1"]
    assert np.allclose(rows, target.next_distributions(spelt), atol=1e-14)
    network.sizes.clear()
    model.extend(np.full(3000, model.start()), Words.of([[1]] * 3000))
    assert sum(network.sizes) == 3000
    assert max(network.sizes) == 1024
    network.sizes.clear()
    model.extend(np.full(1100, model.start()), Words.of([[1], [], [0, 1]] * 366 + [[], [1]]))
    assert network.sizes == [733, 366]
    network.sizes.clear()
    model.extend(np.full(1100, model.start()), Words.of([[1]] * 500 + [[0, 1]] * 600))
    assert network.sizes == [1024, 600, 76]
    assert len(model.extend(np.array([model.start()] * 2), Words.of([[], []]))) == 0
    assert len(model.extend(np.empty(0, dtype=np.int64), Words.of([]))) == 0


def test_rows_that_are_given_back_are_used_again(torch: Any) -> None:
    model = gru(memory=memory_for(400, 48, 3))
    assert model.capacity == 400
    start = model.start()
    before = model.distributions(np.array([start]))
    for _ in range(50):
        handles = model.extend(np.full(100, start), Words.of([[0, 1, 2]] * 100))
        assert len(set(handles.tolist()) | {start}) == 301
        model.release(handles)
    assert np.array_equal(model.distributions(np.array([start])), before)


def learnt(capacity: int | None) -> tuple[Result, WatchedModel]:
    sampler = UniformWords(max_length=6)
    oracle = PACOracle(epsilon=0.1, delta=0.1, sampler=sampler, seed=1)
    memory = memory_for(capacity, 48, 3) if capacity else ROOM
    model = WatchedModel(gru(memory=memory), capacity=capacity)
    return learn(model, by=Quantization(2), oracle=oracle), model


@pytest.mark.slow
@pytest.mark.usefixtures("torch")
def test_few_hidden_states_give_the_same_automaton() -> None:
    all_at_once, unlimited = learnt(None)
    assert len(all_at_once.pdfa) > 20
    for capacity in (3, 16, 64):
        result, model = learnt(capacity)
        assert model.most_live == capacity < unlimited.most_live
        assert result.access_words == all_at_once.access_words
        assert result.pdfa.transitions.tolist() == all_at_once.pdfa.transitions.tolist()
        assert np.allclose(result.pdfa.probabilities, all_at_once.pdfa.probabilities)
        assert result.statistics.distributions == all_at_once.statistics.distributions
        assert result.certificate.kind == "pac"


@pytest.mark.parametrize("precision", ["float32", "float64", "bfloat16"])
def test_precision(precision: str, torch: Any) -> None:
    parts = [part.to(getattr(torch, precision)) for part in layers("GRU", 3)]
    model = RecurrentModel.of_layers(parts[0], parts[1], parts[2], "abc", memory=ROOM)
    handles = model.extend(np.array([model.start()]), model.alphabet.encode_words(["abcabc"]))
    rows = model.distributions(handles)
    assert rows.dtype == np.float64
    assert np.allclose(rows.sum(axis=1), 1, atol=1e-15)
    exact = whole_words(layers("GRU", 3), ["abcabc"], torch)[1:]
    close = {"float32": 1e-5, "float64": 1e-14, "bfloat16": 0.1}[precision]
    assert np.allclose(rows, exact, atol=close)


def test_fingerprints(torch: Any) -> None:
    fingerprint = gru().fingerprint
    assert fingerprint is not None
    assert gru(memory=ROOM).fingerprint == fingerprint
    parts = layers("GRU", 3)
    single = [part.float() for part in layers("GRU", 3)]
    others = [
        gru(seed=4),
        gru("acb"),
        RecurrentModel.of_layers(*parts, "abc", terminal="#"),
        RecurrentModel.of_layers(single[0], single[1], single[2], "abc"),
        RecurrentModel.of_layers(torch.nn.Sequential(parts[0]), *parts[1:], "abc"),
    ]
    assert len({fingerprint, *(other.fingerprint for other in others)}) == 6
    with torch.no_grad():
        parts[2].bias[0] += 1e-12
    assert RecurrentModel.of_layers(*parts, "abc").fingerprint != fingerprint
    target = random_pdfa(3, 2, seed=1)
    assert RecurrentModel(OneHotNetwork(target), target.alphabet).fingerprint is None


@pytest.mark.slow
def test_a_store_knows_the_network_again(torch: Any, tmp_path: Path) -> None:
    path = tmp_path / "answers.db"

    def run() -> Result:
        oracle = PACOracle(epsilon=0.05, delta=0.05, sampler=UniformWords(8), seed=1)
        return learn(gru(), by=Quantization(2), oracle=oracle, store=path)

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
    model = RecurrentModel(network, "abc", memory=ROOM)
    assert model.fingerprint is not None
    oracle = PACOracle(epsilon=0.05, delta=0.05, sampler=UniformWords(8), seed=1)
    result = learn(model, by=Quantization(40), oracle=oracle)
    words = [word for word, _ in zip(result.access_words, range(50), strict=False)]
    assert len(words) > 3
    assert evaluate(model, result.pdfa, words, by=Quantization(40)).over_words.difference == 0


class Pair(NamedTuple):
    """A state with names."""

    zero: Any
    one: Any


@pytest.mark.parametrize("form", ["dictionary", "named"])
def test_states_are_matched_by_name(form: str, torch: Any) -> None:
    class Swapping:
        """Gives its state back in another order; what is zero stays zero."""

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
    result = learn(RecurrentModel(Swapping(), "ab"), by=Quantization(20), oracle=oracle)
    assert len(result.pdfa) == 1


def test_settings_of_layers_count_in_the_fingerprint(torch: Any) -> None:
    embedding, head = torch.nn.Embedding(3, 4), torch.nn.Linear(4, 3)
    smooth = torch.nn.RNN(4, 4, nonlinearity="tanh")
    edged = torch.nn.RNN(4, 4, nonlinearity="relu")
    edged.load_state_dict(smooth.state_dict())
    models = [RecurrentModel.of_layers(embedding, rnn, head, "ab") for rnn in (smooth, edged)]
    assert models[0].fingerprint != models[1].fingerprint


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
    with pytest.raises(ModelError, match=r"\.eval\(\)"):
        learn(RecurrentModel(network, "ab"), by=Quantization(50), oracle=oracle, budget=bound)
    learn(RecurrentModel(network.eval(), "ab"), by=Quantization(50), oracle=oracle, budget=bound)
