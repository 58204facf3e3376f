"""Batches that are answered by recurrent networks."""

from __future__ import annotations

from itertools import product
from typing import Any
from weakref import ref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import RecurrentModel
from pdfalearn.datasets import random_pdfa
from pdfalearn.models import Batch, _networks
from pdfalearn.models.batch import number_words
from pdfalearn.models.opened import ask_words
from pdfalearn.models.protocol import EVERY_STEP, LanguageModel, QueryCost
from pdfalearn.words import Words
from tests.models.networks import (
    FORMS,
    OneHotNetwork,
    gru,
    layers,
    memory_for,
    needed_torch,
)

MEMORY = 2**24
"""Bytes for more words than any test here has."""


@pytest.fixture
def torch() -> Any:
    return needed_torch()


def whole_words(parts: tuple[Any, Any, Any], words: list[list[int]], torch: Any) -> Any:
    """Run words through layers one by one, in one call each; return the rows after them."""
    embedding, recurrent, head = parts
    rows = []
    for word in words:
        tokens = torch.tensor([0, *(symbol + 1 for symbol in word)])
        outputs = recurrent(embedding(tokens))[0]  # without an axis for a batch
        rows.append(torch.softmax(head(outputs[-1]), dim=0).tolist())
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
    model = RecurrentModel.of_layers(*parts, "abc", memory=MEMORY)
    words = [[], [0], [0, 1, 2, 0, 1, 2], [2, 2], [0, 1, 2, 0], [1], []]
    expected = whole_words(parts, words, torch)
    assert np.allclose(ask_words(model, Words.of(words)).to_dense(), expected, atol=1e-13)
    first = model.answer(Batch.of([()])).to_dense()
    assert np.allclose(first, expected[:1], atol=1e-13)


@st.composite
def batches_of_a_run(draw: st.DrawFn) -> list[Batch]:
    """Draw batches of words of one forest: ids come again, ancestors are there or not."""
    lists = st.lists(st.lists(st.integers(0, 2), max_size=7), min_size=1, max_size=12)
    whole = Batch.of(draw(lists))
    size = len(whole.lineage.parents)
    batches = []
    for _ in range(draw(st.integers(1, 5))):
        ids = np.array(sorted(draw(st.sets(st.integers(0, size - 1), max_size=15))), dtype=np.int64)
        wanted = np.array([draw(st.booleans()) for _ in ids], dtype=bool)
        is_narrow = draw(st.booleans())
        batch = Batch.of_ids(ids, wanted, whole.lineage, is_narrow=is_narrow)
        is_whole = draw(st.booleans())
        batches.append(batch.reaching(lambda ids: ids == 0) if is_whole and len(ids) else batch)
    return batches


@pytest.mark.parametrize("capacity", [3, 4, 8, 1000])
@given(batches=batches_of_a_run())
def test_every_batch_is_answered_as_by_a_plain_pass(capacity: int, batches: list[Batch]) -> None:
    torch = needed_torch()
    parts = layers("GRU", 3)
    opened = RecurrentModel.of_layers(*parts, "abc", memory=memory_for(capacity, 48)).open()
    for batch in batches:
        rows = opened.answer(batch)
        words = list(batch.words)
        assert len(rows) == batch.count
        assert not words or np.allclose(
            rows.to_dense(), whole_words(parts, words, torch), atol=1e-13
        )
        opened_for_it = RecurrentModel.of_layers(*parts, "abc").open()
        assert np.allclose(rows.to_dense(), opened_for_it.answer(batch).to_dense(), atol=1e-13)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("capacity", [3, 5, None])
@pytest.mark.usefixtures("torch")
def test_states_of_every_form_in_a_small_cache(form: str, capacity: int | None) -> None:
    target = random_pdfa(40, 3, distributions=3, seed=1)
    network = OneHotNetwork(target, *FORMS[form])
    model = RecurrentModel(network, target.alphabet, memory=MEMORY)
    if capacity is not None:
        row = int(MEMORY / 1.5 / model.open().capacity)
        memory = int(1.5 * capacity * row) + capacity
        model = RecurrentModel(network, target.alphabet, memory=memory)
        assert model.open().capacity == capacity
    words = Words.of([[0, 1, 2, 0, 1], [], [2], [1, 1, 0, 2, 2, 1]])
    spelt = target.alphabet.decode_words(words)
    rows = ask_words(model, words).to_dense()
    assert np.allclose(rows, target.next_distributions(spelt), atol=1e-14)


def one_hot(symbols: int = 2, memory: int = MEMORY) -> tuple[OneHotNetwork, RecurrentModel]:
    target = random_pdfa(10, symbols, exact_size=True, seed=1)
    network = OneHotNetwork(target)
    return network, RecurrentModel(network, target.alphabet, memory=memory)


@pytest.mark.usefixtures("torch")
def test_words_of_a_level_take_their_steps_together() -> None:
    network, model = one_hot()
    opened = model.open()
    opened.answer(Batch.of([(0, 1), (), (1,), (0, 0, 0, 0), (1,)]))
    assert network.sizes == [2, 2, 1, 1]
    network.sizes.clear()
    assert len(model.open().answer(Batch.of([()]))) == 1
    assert len(opened.answer(Batch.of([]))) == 0
    assert network.sizes == []
    rows = model.open().answer(Batch.of(product((0, 1), repeat=12)))
    assert len(rows) == 4096
    assert network.sizes == [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024] + [1024] * (2 + 4)


@pytest.mark.usefixtures("torch")
def test_only_new_words_take_steps() -> None:
    network, model = one_hot()
    opened = model.open()
    whole = Batch.of(product((0, 1), repeat=6))
    for begin, end in ((0, 14), (14, 50), (50, 126)):
        ids, before = whole.ids[begin:end], sum(network.sizes)
        opened.answer(Batch.of_ids(ids, np.ones(len(ids), dtype=bool), whole.lineage))
        assert sum(network.sizes) - before == len(ids)
    assert opened._states.assigned_again == 0
    # A known word that is only on the way is not computed again; one that is wanted is.
    opened.answer(Batch.of_ids(np.arange(1, 4), np.array([False, True, False]), whole.lineage))
    assert (sum(network.sizes), opened._states.assigned_again) == (127, 1)


@pytest.mark.usefixtures("torch")
def test_ancestors_that_were_never_seen_are_computed_but_not_again() -> None:
    network, model = one_hot()
    opened = model.open()
    opened.answer(Batch.of([(0, 1, 1, 0, 1)]).select(np.array([0])))
    assert (network.sizes, opened._states.assigned_again) == ([1] * 5, 0)


SHAPES: dict[str, Any] = {
    "wide": lambda random: random.integers(0, 30, (3000, 2)),
    "bushy": lambda random: product((0, 1, 2), repeat=7),
    "deep": lambda random: [random.integers(0, 3, size).tolist() for size in range(1, 80)],
    "one long word": lambda random: [random.integers(0, 3, 3000).tolist()],
}


@pytest.mark.usefixtures("torch")
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("share", [2, 10, 100])
def test_a_forest_beyond_the_cache(shape: str, share: int) -> None:
    """A batch far larger than the cache costs little more than one step for each of its words."""
    batch = Batch.of([tuple(map(int, w)) for w in SHAPES[shape](np.random.default_rng(1))])
    count = len(batch.ids) - (batch.ids[0] == 0)
    capacity = max(3, count // share)
    network, model = one_hot(30, memory_for(capacity, 80))
    opened = model.open()
    assert opened.capacity == capacity
    rows = opened.answer(batch).to_dense()
    assert sum(network.sizes) == count + opened._states.assigned_again
    assert sum(network.sizes) <= (2 if share < 100 or shape != "deep" else 6) * count
    states = opened._states
    assert max(len(states._used), states._tables[0].shape[0]) <= capacity
    unbounded = one_hot(30)[1].answer(batch).to_dense()
    assert np.allclose(rows, unbounded, atol=1e-14)


@pytest.mark.usefixtures("torch")
def test_access_words_are_not_forgotten() -> None:
    """They are parents again and again, while ten times as many words pass by."""
    access = [(0,) * length for length in range(40)]
    suffixes = [(symbol, 1, 2, 0) for symbol in range(1, 30)]
    whole, rows = number_words([word + suffix for suffix in suffixes for word in access])
    network, model = one_hot(30, memory_for(len(whole.ids) // 10, 80))
    opened = model.open()
    for part in np.array_split(rows, len(suffixes)):
        opened.answer(whole.select(np.sort(part)))
    assert (sum(network.sizes), opened._states.assigned_again) == (len(whole.ids), 0)


@pytest.mark.usefixtures("torch")
def test_each_run_has_a_cache_of_its_own() -> None:
    model = gru(memory=memory_for(10, 48))
    opened = [model.open() for _ in range(3)]
    rows = []
    for number, one in enumerate(opened):  # id 9 is another word in each
        rows.append(one.answer(Batch.of([(number,) * 9])).to_dense())
    for number, one in enumerate(opened):
        longer = Batch.of([(number,) * 10])
        last = Batch.of_ids(np.array([10]), np.array([True]), longer.lineage)
        expected = model.answer(longer).to_dense()
        assert np.allclose(one.answer(last).to_dense(), expected, atol=1e-13)
        one.close()
    assert not np.allclose(rows[0], rows[1])


@pytest.mark.usefixtures("torch")
def test_closing_frees_the_states() -> None:
    opened = gru(memory=MEMORY).open()
    opened.answer(Batch.of(product((0, 1, 2), repeat=7)))
    assert sum(table.nbytes for table in opened._states._tables) >= 3279 * 48
    freed: list[Any] = [ref(opened._states), ref(opened._states._tables[0])]
    opened.close()
    assert [each() for each in freed] == [None, None]
    opened.close()


@pytest.mark.parametrize("precision", ["float32", "float64", "bfloat16"])
def test_precision(precision: str, torch: Any) -> None:
    parts = [part.to(getattr(torch, precision)) for part in layers("GRU", 3)]
    model = RecurrentModel.of_layers(parts[0], parts[1], parts[2], "abc", memory=MEMORY)
    words = [[0, 1, 2, 0, 1, 2][:end] for end in range(7)]
    rows = model.answer(Batch.of(words)).to_dense()
    assert rows.dtype == np.float64
    assert np.allclose(rows.sum(axis=1), 1, atol=1e-15)
    exact = whole_words(layers("GRU", 3), words, torch)
    close = {"float32": 1e-5, "float64": 1e-14, "bfloat16": 0.1}[precision]
    assert np.allclose(rows, exact, atol=close)


@pytest.mark.usefixtures("torch")
def test_the_price_is_of_symbols_unless_given() -> None:
    assert isinstance(gru(), LanguageModel)
    assert gru().cost == EVERY_STEP
    own = QueryCost(call=3, symbol=1)
    parts = layers("GRU", 3)
    assert RecurrentModel.of_layers(*parts, "abc", cost=own).cost is own


def test_identities(torch: Any) -> None:
    fingerprint = gru().fingerprint
    assert fingerprint is not None
    assert gru(memory=MEMORY).fingerprint == fingerprint
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


@pytest.mark.usefixtures("torch")
def test_all_of_a_long_alphabet_counts_in_the_fingerprint() -> None:
    parts = layers("GRU", 40)
    symbols = [f"word {number}" for number in range(40)]
    swapped = [*symbols[:20], symbols[21], symbols[20], *symbols[22:]]
    models = [RecurrentModel.of_layers(*parts, given) for given in (symbols, swapped)]
    assert models[0].fingerprint != models[1].fingerprint


def test_settings_of_layers_count_in_the_fingerprint(torch: Any) -> None:
    embedding, head = torch.nn.Embedding(3, 4), torch.nn.Linear(4, 3)
    smooth = torch.nn.RNN(4, 4, nonlinearity="tanh")
    edged = torch.nn.RNN(4, 4, nonlinearity="relu")
    edged.load_state_dict(smooth.state_dict())
    models = [RecurrentModel.of_layers(embedding, rnn, head, "ab") for rnn in (smooth, edged)]
    assert models[0].fingerprint != models[1].fingerprint


def test_weights_are_hashed_again_only_if_they_change(monkeypatch: pytest.MonkeyPatch) -> None:
    model = gru()
    module = model._module
    assert module is not None
    read: list[int] = []
    real = _networks._bytes_of

    def count(tensor: Any) -> bytes:
        read.append(tensor.numel())
        return real(tensor)

    monkeypatch.setattr(_networks, "_bytes_of", count)
    first, whole = model.fingerprint, len(read)
    assert (model.fingerprint, len(read)) == (first, whole + whole // 2)  # only looked at
    next(module.parameters()).data.add_(1.0)  # changes no version
    assert model.fingerprint != first
