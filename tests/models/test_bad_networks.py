"""What is refused of networks, and how it is said."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import pytest

from pdfalearn import PDFA, RecurrentModel, Result, learn
from pdfalearn.datasets import random_pdfa
from pdfalearn.errors import InputError, MissingExtraError, ModelError
from pdfalearn.models.batch import Batch
from pdfalearn.models.opened import ask_words
from pdfalearn.models.protocol import attached_answers
from pdfalearn.oracles import PACOracle
from pdfalearn.samplers import UniformWords
from pdfalearn.words import Words
from tests.models.networks import OneHotNetwork, gru, layers, memory_for, needed_torch

TARGET = random_pdfa(5, 2, exact_size=True, seed=1)


@pytest.fixture
def torch() -> Any:
    return needed_torch()


class Changed(OneHotNetwork):
    """A network whose answers to a step are changed."""

    def __init__(self, pdfa: PDFA, change: Any) -> None:
        super().__init__(pdfa)
        self._change = change

    def step(self, symbols: Any, state: Any) -> tuple[Any, Any]:
        answer: tuple[Any, Any] = self._change(*super().step(symbols, state))
        return answer


def learn_changed(change: Any) -> Result:
    model = RecurrentModel(Changed(TARGET, change), TARGET.alphabet)
    oracle = PACOracle(epsilon=0.1, delta=0.1, sampler=UniformWords(5))
    return learn(model, oracle=oracle)


@pytest.mark.usefixtures("torch")
def test_nan_logits_name_the_word() -> None:
    with pytest.raises(ModelError, match=r"the word \('0',\).*NaN"):
        learn_changed(lambda logits, state: (logits * math.nan, state))
    with pytest.raises(ModelError, match="NaN"):
        learn_changed(lambda logits, state: (logits + math.inf, state))


@pytest.mark.usefixtures("torch")
@pytest.mark.parametrize(
    ("change", "culprit"),
    [
        (lambda logits, state: (logits[:, 1:], state), r"logits of shape \(\d+, 2\).*terminal"),
        (lambda logits, state: (logits[0], state), r"logits of shape \(3,\)"),
        (
            lambda logits, state: (logits, state[:, 1:]),
            r"a state of shape \(2, 4\) in torch\.float64, not \(2, 5\)",
        ),
        (
            lambda logits, state: (logits, state.float()),
            r"in torch\.float32, not .* in torch\.float64",
        ),
        (lambda logits, state: (logits, (state, state)), "1 tensors before a step and 2 after"),
        (lambda logits, state: (logits, {"x": 1}), "there is a int in it"),
    ],
)
def test_answers_of_the_wrong_form(change: Any, culprit: str) -> None:
    model = RecurrentModel(Changed(TARGET, change), TARGET.alphabet)
    with pytest.raises(InputError, match=culprit):
        ask_words(model, Words.of([[0], [1]]))


@pytest.mark.parametrize(
    ("wrap", "culprit"),
    [
        (lambda x: x[0], r"shape \(5,\) for 2 words and \(5,\) for 3"),
        (lambda x: x[:1], r"shape \(1, 5\) for 2 words"),
        (lambda x: [x] * len(x), "states of different forms"),
        (lambda x: {"x": None}, "there is a NoneType in it"),
    ],
)
@pytest.mark.usefixtures("torch")
def test_states_without_an_axis_for_words(wrap: Any, culprit: str) -> None:
    with pytest.raises(InputError, match=culprit):
        RecurrentModel(OneHotNetwork(TARGET, wrap), TARGET.alphabet)


def test_random_answers_of_a_network_in_training(torch: Any) -> None:
    embedding, recurrent, head = layers("GRU", 3, num_layers=2, dropout=0.5)
    with pytest.raises(InputError, match=r"GRU is in training mode.*call \.eval\(\)"):
        RecurrentModel.of_layers(embedding, recurrent, head, "abc")
    RecurrentModel.of_layers(embedding, recurrent.eval(), head, "abc")
    dropping = torch.nn.Sequential(torch.nn.Dropout(0.1), head)
    with pytest.raises(InputError, match="Dropout is in training mode"):
        RecurrentModel.of_layers(embedding, recurrent, dropping, "abc")
    RecurrentModel.of_layers(embedding, recurrent, dropping.eval(), "abc")
    RecurrentModel.of_layers(
        embedding, recurrent, torch.nn.Sequential(torch.nn.Dropout(0.0), head), "abc"
    )


def test_a_network_that_is_trained_on_is_not_opened(torch: Any) -> None:
    embedding, recurrent, head = layers("GRU", 3, num_layers=2, dropout=0.5)
    model = RecurrentModel.of_layers(embedding, recurrent.eval(), head, "abc")
    recurrent.train()
    with pytest.raises(InputError, match=r"GRU is in training mode.*call \.eval\(\)"):
        model.open()
    recurrent.eval()
    model.open()


@pytest.mark.usefixtures("torch")
def test_dropout_of_ones_own_is_noticed_by_the_audit() -> None:
    answers = iter(range(10**9))

    def restless(logits: Any, state: Any) -> tuple[Any, Any]:
        return logits * (1 + 0.01 * (next(answers) % 7)), state

    certificate = learn_changed(restless).certificate
    assert certificate.kind == "unsteady"
    assert "is anything in it random" in certificate.statement


def test_layers_that_do_not_fit(torch: Any) -> None:
    embedding, recurrent, head = layers("GRU", 3)
    with pytest.raises(InputError, match="bidirectional"):
        RecurrentModel.of_layers(embedding, layers("GRU", 3, bidirectional=True)[1], head, "abc")
    with pytest.raises(InputError, match="Linear is not a torch"):
        RecurrentModel.of_layers(embedding, head, head, "abc")
    with pytest.raises(ModelError, match=r"logits of shape \(2, 4\) for 2 words, not \(2, 6\)"):
        RecurrentModel.of_layers(embedding, recurrent, head, "abcde")
    with pytest.raises(InputError, match=r"GRU lacks the methods start and step; .*of_layers"):
        RecurrentModel(recurrent, "abc")
    assert repr(RecurrentModel.of_layers(embedding, recurrent, head, "abc")).startswith(
        "RecurrentModel(Layers, Alphabet("
    )


def test_an_embedding_that_is_too_small(torch: Any) -> None:
    _, recurrent, head = layers("GRU", 3)
    size = recurrent.input_size
    for count in (1, 3):
        embedding = torch.nn.Embedding(count, size).double()
        message = (
            rf"embedding has {count} tokens, but an alphabet of 3 symbols needs 4.*\(4, {size}\)"
        )
        with pytest.raises(InputError, match=message):
            RecurrentModel.of_layers(embedding, recurrent, head, iter("abc"))
    RecurrentModel.of_layers(torch.nn.Embedding(4, size).double(), recurrent, head, "abc")
    RecurrentModel.of_layers(torch.nn.Embedding(9, size).double(), recurrent, head, "abc")


def test_an_embedding_of_ones_own_that_is_too_small(torch: Any) -> None:
    _, recurrent, head = layers("GRU", 3)
    for count in (1, 3):
        embedding = torch.nn.Sequential(torch.nn.Embedding(count, recurrent.input_size)).double()
        with pytest.raises(InputError, match=r"fails at token 3, but an alphabet of 3 .* needs 4"):
            RecurrentModel.of_layers(embedding, recurrent, head, "abc")
    large = torch.nn.Sequential(torch.nn.Embedding(4, recurrent.input_size)).double()
    RecurrentModel.of_layers(large, recurrent, head, "abc")


@pytest.mark.usefixtures("torch")
def test_memory() -> None:
    with pytest.raises(InputError, match="memory of 100 bytes is too little: a word takes 64"):
        gru(memory=100)
    with pytest.raises(InputError, match="memory 'much' is not an integer"):
        gru(memory="much")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="and 3 must fit in"):
        gru(memory=memory_for(3, 48) - 2)
    assert gru(memory=memory_for(3, 48)).open().capacity == 3


@pytest.mark.usefixtures("torch")
@pytest.mark.parametrize("kind", [KeyboardInterrupt, MemoryError, RuntimeError])
@pytest.mark.parametrize("capacity", [3, 7, 100])
def test_answers_before_a_step_that_fails_are_attached(
    kind: type[BaseException], capacity: int
) -> None:
    steps = iter(range(100))

    def fail_late(logits: Any, state: Any) -> tuple[Any, Any]:
        if next(steps) == 3:
            raise kind("no more")
        return logits, state

    memory = memory_for(capacity, 8 * len(TARGET))
    model = RecurrentModel(Changed(TARGET, fail_late), TARGET.alphabet, memory=memory)
    way = (0, 1, 0, 1, 1)
    batch = Batch.of([(1,), *(way[:end] for end in range(6)), (0, 0), (0, 0, 1)])
    with pytest.raises(kind, match="no more") as raised:
        model.open().answer(batch)
    partial = attached_answers(raised.value)
    assert partial is not None
    assert 4 <= len(partial.ids) < batch.count  # three steps, and the empty word
    words = [TARGET.alphabet.decode(batch.spell(word)) for word in partial.ids.tolist()]
    assert np.allclose(partial.rows.to_dense(), TARGET.next_distributions(words), atol=1e-14)


def test_torch_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    nothing: Any = None
    with pytest.raises(MissingExtraError, match=r"pip install torch$"):
        RecurrentModel(nothing, "abc")
    with pytest.raises(MissingExtraError, match=r"pip install torch$"):
        RecurrentModel.of_layers(nothing, nothing, nothing, "abc")
