"""The character network of textgenrnn, against Keras' formulas written out for single numbers."""

from __future__ import annotations

from math import exp, tanh
from pathlib import Path

import numpy as np
import pytest

from benchmarks.distilling.characters import LSTM, CharacterModel, CharacterNetwork, Singles
from benchmarks.distilling.textgenrnn import read_network, textgenrnn
from pdfalearn.models.opened import ask_words
from pdfalearn.samplers import Words
from pdfalearn.testing import check_model
from tests.support import need_module

TOKENS, DIMENSIONS, UNITS, WINDOW = 5, 2, 3, 40
VOCABULARY = {"b": 2, "<s>": 4, "a": 1, "c": 3}

Numbers = list[float]


class Weights:
    """Small random weights in the shapes of the network's."""

    def __init__(self, seed: int) -> None:
        random = np.random.default_rng(seed)

        def drawn(*shape: int) -> Singles:
            return random.normal(size=shape).astype(np.float32)

        self.embedding = drawn(TOKENS, DIMENSIONS)
        self.first = LSTM(drawn(DIMENSIONS, 4 * UNITS), drawn(UNITS, 4 * UNITS), drawn(4 * UNITS))
        self.second = LSTM(drawn(UNITS, 4 * UNITS), drawn(UNITS, 4 * UNITS), drawn(4 * UNITS))
        self.attention = drawn(DIMENSIONS + 2 * UNITS)
        self.kernel, self.bias = drawn(DIMENSIONS + 2 * UNITS, TOKENS), drawn(TOKENS)

    def network(self) -> CharacterNetwork:
        return CharacterNetwork(
            self.embedding, self.first, self.second, self.attention, self.kernel, self.bias
        )


def sigmoid(value: float) -> float:
    return 1 / (1 + exp(-value))


def lstm(layer: LSTM, inputs: list[Numbers]) -> list[Numbers]:
    """Run a layer as Keras documents it: i, f, o are sigmoids, c̃ and the output a tanh."""
    output, cell = [0.0] * UNITS, [0.0] * UNITS
    outputs = []
    for given in inputs:
        gates = [
            sum(value * float(layer.kernel[k, column]) for k, value in enumerate(given))
            + sum(value * float(layer.recurrent[k, column]) for k, value in enumerate(output))
            + float(layer.bias[column])
            for column in range(4 * UNITS)
        ]
        let_in, kept, proposed, let_out = (gates[k * UNITS : (k + 1) * UNITS] for k in range(4))
        cell = [
            sigmoid(f) * c + sigmoid(i) * tanh(g)
            for i, f, g, c in zip(let_in, kept, proposed, cell, strict=True)
        ]
        output = [sigmoid(o) * tanh(c) for o, c in zip(let_out, cell, strict=True)]
        outputs.append(output)
    return outputs


def expected(weights: Weights, tokens: list[int]) -> Numbers:
    """Compute the distribution after a window."""
    embedded = [weights.embedding[token].tolist() for token in tokens]
    first = lstm(weights.first, embedded)
    second = lstm(weights.second, first)
    channels = [e + f + s for e, f, s in zip(embedded, first, second, strict=True)]
    attention = weights.attention.tolist()
    logits = [sum(c * w for c, w in zip(each, attention, strict=True)) for each in channels]
    powers = [exp(logit - max(logits)) for logit in logits]
    shares = [power / (sum(powers) + 1e-7) for power in powers]
    average = [
        sum(share * each[d] for share, each in zip(shares, channels, strict=True))
        for d in range(len(attention))
    ]
    scores = [
        exp(sum(a * float(weights.kernel[d, t]) for d, a in enumerate(average)) + float(bias))
        for t, bias in enumerate(weights.bias)
    ]
    return [score / sum(scores) for score in scores]


@pytest.mark.parametrize("seed", range(3))
def test_answers_are_those_of_the_formulas(seed: int) -> None:
    weights = Weights(seed)
    model = CharacterModel(weights.network(), VOCABULARY)
    assert model.alphabet.symbols == ("a", "b", "c")
    random = np.random.default_rng(seed)
    words = [random.integers(3, size=length).tolist() for length in (0, 1, 7, 38, 39, 40, 55, 3)]
    rows = ask_words(model, Words.of(words)).to_dense()
    for word, row in zip(words, rows, strict=True):
        tokens = [4, *(symbol + 1 for symbol in word)][-WINDOW:]
        padded = [0] * (WINDOW - len(tokens)) + tokens
        without_padding = np.array(expected(weights, padded))[[4, 1, 2, 3]]
        assert row == pytest.approx(without_padding / without_padding.sum(), abs=1e-5)


def test_it_is_a_good_model() -> None:
    check_model(CharacterModel(Weights(1).network(), VOCABULARY))


def test_cudnn_weights_are_turned_into_those_of_a_layer() -> None:
    """A kernel of 2 inputs and 3 units lies in memory unit by unit, in the shape of the layer's."""
    kernel = np.tile(np.array([[0, 3, 1], [4, 2, 5]], dtype=np.float32), 4)
    recurrent = np.tile(np.arange(9, dtype=np.float32).reshape(3, 3), 4)
    bias = np.arange(24, dtype=np.float32)
    layer = LSTM.of_cudnn(kernel, recurrent, bias)
    assert layer.kernel[:, 3:6].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert layer.recurrent[:, 9:].tolist() == [[0, 3, 6], [1, 4, 7], [2, 5, 8]]
    assert layer.bias.tolist() == [12 + 2 * place for place in range(12)]


def test_weights_are_read_from_a_file(tmp_path: Path) -> None:
    h5py = need_module("h5py")
    weights = Weights(2)
    with h5py.File(tmp_path / "weights.hdf5", "w") as file:
        for layer, name, values in (
            ("embedding", "embeddings", weights.embedding),
            ("rnn_1", "kernel", as_cudnn(weights.first.kernel)),
            ("rnn_1", "recurrent_kernel", transposed(weights.first.recurrent)),
            ("rnn_1", "bias", np.tile(weights.first.bias / 2, 2)),
            ("rnn_2", "kernel", as_cudnn(weights.second.kernel)),
            ("rnn_2", "recurrent_kernel", transposed(weights.second.recurrent)),
            ("rnn_2", "bias", np.tile(weights.second.bias / 2, 2)),
            ("attention", "attention_W", weights.attention[:, None]),
            ("output", "kernel", weights.kernel),
            ("output", "bias", weights.bias),
        ):
            file[f"{layer}/{layer}/{name}:0"] = values
    windows = np.random.default_rng(1).integers(1, TOKENS, (4, WINDOW))
    read = read_network(tmp_path / "weights.hdf5").probabilities(windows)
    assert read == pytest.approx(weights.network().probabilities(windows), abs=1e-6)


def transposed(kernel: Singles) -> Singles:
    return np.hstack([gate.T for gate in np.split(kernel, 4, axis=1)])


def as_cudnn(kernel: Singles) -> Singles:
    """Write every gate's kernel column by column into the rows of one of the same shape."""
    gates = np.split(kernel, 4, axis=1)
    return np.hstack([gate.T.reshape(gate.shape) for gate in gates])


@pytest.mark.slow
def test_it_is_said_that_the_weights_cannot_be_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_module("pip")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PDFALEARN_CACHE", str(tmp_path))
    with pytest.raises(RuntimeError, match=r"pip could not download textgenrnn.* go online"):
        textgenrnn()
