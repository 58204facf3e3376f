"""Conversations with recurrent networks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import RecurrentModel, random_pdfa
from pdfalearn.models.asking import asked_rows
from pdfalearn.models.cost import EVERY_STEP, QueryCost
from pdfalearn.models.protocol import LanguageModel
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


def whole_words(parts: tuple[Any, Any, Any], words: list[str], torch: Any) -> Any:
    """Run words through layers one by one, in one call each; return the rows of all prefixes."""
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
    session = RecurrentModel.of_layers(*parts, "abc", memory=MEMORY).open()
    words = ["", "a", "abcabc", "cc", "abca", "b", ""]
    batch = gru().alphabet.encode_words(words)
    handles = session.extend(np.array([session.start() for _ in words]), batch)
    expected = whole_words(parts, words, torch)
    is_empty = np.zeros(len(expected), dtype=bool)
    is_empty[batch.offsets[:-1] + np.arange(len(words))] = True
    assert np.allclose(session.read(handles).to_dense(), expected[~is_empty], atol=1e-13)
    first = session.read(np.array([session.start()]))
    assert np.allclose(first.to_dense(), expected[:1], atol=1e-13)


@pytest.mark.usefixtures("torch")
@given(st.lists(st.tuples(st.integers(0, 9), st.text("abc", max_size=4)), max_size=12))
def test_words_go_on_from_any_handle(extensions: list[tuple[int, str]]) -> None:
    model = gru()
    session = model.open()
    known: list[tuple[str, int]] = [("", session.start())]
    for choice in range(0, len(extensions), 3):
        part = [(known[at % len(known)], word) for at, word in extensions[choice : choice + 3]]
        batch = model.alphabet.encode_words([word for _, word in part])
        handles = session.extend(np.array([handle for (_, handle), _ in part]), batch).tolist()
        for (base, _), word in part:
            known += [(base + word[: end + 1], handles.pop(0)) for end in range(len(word))]
    expected, _ = asked_rows(model, model.alphabet.encode_words([word for word, _ in known]))
    found = session.read(np.array([handle for _, handle in known]))
    assert np.allclose(found.to_dense(), expected.to_dense(), atol=1e-13)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("room", [3, 5, None])
@pytest.mark.usefixtures("torch")
def test_states_of_every_form_in_little_room(form: str, room: int | None) -> None:
    target = random_pdfa(40, 3, distributions=3, seed=1)
    network = OneHotNetwork(target, *FORMS[form])
    model = RecurrentModel(network, target.alphabet, memory=MEMORY)
    if room is not None:
        row = int(MEMORY / 1.5 / (model.open().room or 1))
        model = RecurrentModel(network, target.alphabet, memory=int(1.5 * room * row) + room)
        assert model.open().room == room
    words = Words.of([[0, 1, 2, 0, 1], [], [2], [1, 1, 0, 2, 2, 1]])
    rows, symbols = asked_rows(model, words)
    assert symbols == 12
    spelt = target.alphabet.decode_words(words)
    assert np.allclose(rows.to_dense(), target.next_distributions(spelt), atol=1e-14)


@pytest.mark.usefixtures("torch")
def test_words_of_a_batch_take_their_steps_together() -> None:
    target = random_pdfa(10, 2, seed=1)
    network = OneHotNetwork(target)
    session = RecurrentModel(network, target.alphabet, memory=MEMORY).open()
    words = Words.of([[0, 1], [], [1], [0, 0, 0, 0], [1]])
    rows = session.read(session.extend(np.full(5, session.start()), words)).to_dense()
    assert network.sizes == [4, 2, 1, 1]
    spelt = ["0", "01", "1", "0", "00", "000", "0000", "1"]
    assert np.allclose(rows, target.next_distributions(spelt), atol=1e-14)
    network.sizes.clear()
    session.extend(np.full(3000, session.start()), Words.of([[1]] * 3000))
    assert sum(network.sizes) == 3000
    assert max(network.sizes) == 1024
    network.sizes.clear()
    session.extend(np.full(1100, session.start()), Words.of([[1], [], [0, 1]] * 366 + [[], [1]]))
    assert network.sizes == [733, 366]
    network.sizes.clear()
    session.extend(np.full(1100, session.start()), Words.of([[1]] * 500 + [[0, 1]] * 600))
    assert network.sizes == [1024, 600, 76]
    assert len(session.extend(np.array([session.start()] * 2), Words.of([[], []]))) == 0
    assert len(session.extend(np.empty(0, dtype=np.int64), Words.of([]))) == 0


@pytest.mark.usefixtures("torch")
def test_rows_that_are_given_back_are_used_again() -> None:
    session = gru(memory=memory_for(400, 48, 3)).open()
    assert (session.room, session.shared) == (400, False)
    start = session.start()
    before = session.read(np.array([start])).to_dense()
    for _ in range(50):
        handles = session.extend(np.full(100, start), Words.of([[0, 1, 2]] * 100))
        assert len(set(handles.tolist()) | {start}) == 301
        session.release(handles)
    assert np.array_equal(session.read(np.array([start])).to_dense(), before)


@pytest.mark.usefixtures("torch")
def test_each_session_has_the_whole_room() -> None:
    model = gru(memory=memory_for(10, 48, 3))
    sessions = [model.open() for _ in range(3)]
    handles = {}
    for number, session in enumerate(sessions):
        start = session.start()
        handles[number] = session.extend(np.array([start]), Words.of([[number] * 9]))
        assert {start, *handles[number].tolist()} == set(range(10))
    expected, _ = asked_rows(model, Words.of([[number] * 9 for number in range(3)]))
    for number, session in enumerate(sessions):
        last = session.read(handles[number][-1:]).to_dense()
        assert np.allclose(last, expected.to_dense()[number], atol=1e-13)
        session.close()


@pytest.mark.usefixtures("torch")
def test_closing_frees_the_tables() -> None:
    session = gru(memory=MEMORY).open()
    session.extend(np.full(1000, session.start()), Words.of([[0, 1, 2]] * 1000))
    states = session._states
    assert states.distributions.nbytes >= 3001 * 32
    session.close()
    assert states.distributions.nbytes == 0
    assert all(table.numel() == 0 for table in states._tables)
    session.close()


@pytest.mark.usefixtures("torch")
def test_rows_stay_whole_if_there_is_no_memory_for_more(monkeypatch: pytest.MonkeyPatch) -> None:
    session = gru(memory=MEMORY).open()
    start = np.array([session.start()])
    before = session.read(start).to_dense()
    empty = np.empty

    def refused(shape: Any, *rest: Any, **named: Any) -> Any:
        if shape == (600, 4):
            raise MemoryError
        return empty(shape, *rest, **named)

    with monkeypatch.context() as patched:
        patched.setattr("pdfalearn.models._state_rows.np.empty", refused)
        with pytest.raises(MemoryError):
            session.extend(start, Words.of([[0] * 299]))
    assert len(session.extend(start, Words.of([[0] * 2000]))) == 2000
    assert np.array_equal(session.read(start).to_dense(), before)


@pytest.mark.parametrize("precision", ["float32", "float64", "bfloat16"])
def test_precision(precision: str, torch: Any) -> None:
    parts = [part.to(getattr(torch, precision)) for part in layers("GRU", 3)]
    model = RecurrentModel.of_layers(parts[0], parts[1], parts[2], "abc", memory=MEMORY)
    session = model.open()
    handles = session.extend(np.array([session.start()]), model.alphabet.encode_words(["abcabc"]))
    rows = session.read(handles).to_dense()
    assert rows.dtype == np.float64
    assert np.allclose(rows.sum(axis=1), 1, atol=1e-15)
    exact = whole_words(layers("GRU", 3), ["abcabc"], torch)[1:]
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
