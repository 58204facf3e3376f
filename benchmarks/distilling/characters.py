"""The character LSTM of the package textgenrnn, computed by NumPy.

Two LSTM layers over an embedding, whose outputs are averaged by attention over the last 40
characters, padded with zeros on the left. The padding goes through the layers as any character
does, so that a prefix of another length has other states from the first character on: nothing
can be carried from a word to a longer one, and every word is computed as a window of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pdfalearn import Alphabet, LanguageModel
from pdfalearn.models.batch import Batch
from pdfalearn.rows import Rows
from pdfalearn.samplers import Words

Singles = NDArray[np.float32]
Tokens = NDArray[np.int64]

META = "<s>"
"""The token before every text, and behind it."""
WINDOW = 40
HALF = np.float32(0.5)
BATCH = 256
"""At most this many windows are computed at once: their states stay in the processor's cache."""
TINY = np.float32(1e-7)
"""Keras' epsilon, which its authors add to the sum of attention."""


@dataclass(frozen=True)
class LSTM:
    """A layer: a kernel for inputs and one for its own output, gates in the order i, f, c, o."""

    kernel: Singles
    recurrent: Singles
    bias: Singles

    @classmethod
    def of_cudnn(cls, kernel: Singles, recurrent: Singles, bias: Singles) -> LSTM:
        """Turn weights of a CuDNNLSTM of Keras into those of an LSTM.

        Both kernels are kept transposed there, gate by gate; a half of the biases is for the input
        and a half for the own output.
        """
        gates = np.split(kernel, 4, axis=1)
        transposed = [gate.reshape(gate.shape[1], gate.shape[0]).T for gate in gates]
        recurrent = np.hstack([gate.T for gate in np.split(recurrent, 4, axis=1)])
        return cls(np.hstack(transposed), recurrent, bias.reshape(2, -1).sum(axis=0))

    def halved(self) -> LSTM:
        """Halve what goes into the sigmoids, so that each is (1 + tanh) / 2."""
        units = len(self.recurrent)
        factors = np.repeat(np.array([0.5, 0.5, 1, 0.5], dtype=np.float32), units)
        return LSTM(self.kernel * factors, self.recurrent * factors, self.bias * factors)


def _go_on(gates: Singles, cell: Singles, output: Singles) -> None:
    """Take a step of a layer in place, from its halved gates."""
    units = cell.shape[1]
    np.tanh(gates, out=gates)
    let_in, kept, proposed, let_out = (gates[:, k * units : (k + 1) * units] for k in range(4))
    for gate in (let_in, kept, let_out):
        gate += 1
    proposed *= let_in
    cell *= kept
    cell += proposed
    cell *= HALF
    np.tanh(cell, out=output)
    output *= let_out
    output *= HALF


class CharacterNetwork:
    """The network of textgenrnn: windows of tokens in, probabilities of tokens out.

    Parameters
    ----------
    embedding : array of float32, shape (tokens, dimensions)
        A vector for each token.
    first, second : LSTM
        The layers.
    attention : array of float32, shape (dimensions + units + units,)
        Weighs the positions of a window.
    kernel, bias : arrays of float32
        The softmax layer.
    window : int
        The length of windows; 0 at the left of one is padding.
    """

    def __init__(
        self,
        embedding: Singles,
        first: LSTM,
        second: LSTM,
        attention: Singles,
        kernel: Singles,
        bias: Singles,
        window: int = WINDOW,
    ) -> None:
        self._units = len(first.recurrent)
        first, second = first.halved(), second.halved()
        self._embedding, self._driven = embedding, embedding @ first.kernel + first.bias
        self._recurrent = first.recurrent
        self._above, self._above_bias = np.vstack((second.kernel, second.recurrent)), second.bias
        self._attention, self._kernel, self._bias = attention, kernel, bias
        self._padding = self._after_padding(window)

    def probabilities(self, windows: Tokens) -> NDArray[np.float64]:
        """Return a distribution over all tokens for each window, in float64."""
        padding = (np.cumsum(windows != 0, axis=1) == 0).sum(axis=1)
        order = np.argsort(padding, kind="stable")
        averages = np.empty((len(windows), len(self._attention)), dtype=np.float32)
        averages[order] = self._averaged(self._channels(windows[order], padding[order]))
        logits = (averages @ self._kernel + self._bias).astype(np.float64)
        powers: NDArray[np.float64] = np.exp(logits - logits.max(axis=1, keepdims=True))
        powers /= powers.sum(axis=1, keepdims=True)
        return powers

    def _averaged(self, channels: Singles) -> Singles:
        """Return the average over the positions, axis 0, weighed by attention."""
        logits = channels @ self._attention
        weights = np.exp(logits - logits.max(axis=0))
        weights /= weights.sum(axis=0) + TINY
        averages: Singles = np.einsum("pc,pcd->cd", weights, channels)
        return averages

    def _channels(self, windows: Tokens, padding: Tokens) -> Singles:
        """Return embedding and both outputs at each position; the least padded windows come first.

        What comes of padding is the same in all windows and known.
        """
        units, length = self._units, windows.shape[1]
        states = np.zeros((len(windows), 4 * units), dtype=np.float32)
        channels = np.empty((length, len(windows), len(self._attention)), dtype=np.float32)
        channels[:, :, : -2 * units] = self._embedding[windows.T]
        begun = 0
        for position, ended in enumerate(np.searchsorted(padding, np.arange(length), "right")):
            states[begun:ended] = self._padding[position]
            begun = ended
            self._step(windows[:begun, position], states[:begun])
            channels[position, :begun, -2 * units :] = states[:begun, : 2 * units]
            channels[position, begun:, -2 * units :] = self._padding[position + 1, : 2 * units]
        return channels

    def _step(self, tokens: Tokens, states: Singles) -> None:
        """Take a step in place; states are the outputs of both layers and then their cells."""
        units = self._units
        output, above, cell, cell_above = (states[:, k * units : (k + 1) * units] for k in range(4))
        gates = output @ self._recurrent
        gates += self._driven[tokens]
        _go_on(gates, cell, output)
        gates = states[:, : 2 * units] @ self._above
        gates += self._above_bias
        _go_on(gates, cell_above, above)

    def _after_padding(self, window: int) -> Singles:
        """Return the states after 0, 1, …, ``window`` zeros."""
        states = np.zeros((window + 1, 4 * self._units), dtype=np.float32)
        for position in range(window):
            states[position + 1] = states[position]
            self._step(np.zeros(1, dtype=np.int64), states[position + 1 : position + 2])
        return states


class CharacterModel(LanguageModel):
    """A character network as a language model over all characters of its vocabulary.

    Token 0, the padding, is not a character: its probability goes to the others in proportion.

    Parameters
    ----------
    network : CharacterNetwork
        The network.
    vocabulary : dict
        The token, from 1 on, of each character and of ``<s>``, which begins and ends texts.
    fingerprint : str, optional
        All that decides the answers.
    """

    def __init__(
        self,
        network: CharacterNetwork,
        vocabulary: dict[str, int],
        fingerprint: str | None = None,
    ) -> None:
        characters = sorted(vocabulary.keys() - {META}, key=vocabulary.__getitem__)
        self.alphabet = Alphabet(characters, META)
        self.fingerprint = fingerprint
        self._network = network
        self._tokens = np.array([vocabulary[name] for name in (META, *characters)])

    def answer(self, batch: Batch) -> Rows:
        """Compute the window of every word."""
        windows = self.windows(batch.words)
        begins = range(0, len(windows), BATCH)
        parts = [self._network.probabilities(windows[at : at + BATCH]) for at in begins]
        rows = np.concatenate([part[:, self._tokens] for part in parts])
        return Rows.dense(rows / rows.sum(axis=1, keepdims=True))

    def windows(self, words: Words) -> Tokens:
        """Return the last 40 tokens of each word with ``<s>`` before it, zeros on their left."""
        back = np.arange(WINDOW - 1, -1, -1)
        within = words.lengths[:, None] - back  # 0 is the place of <s>
        places = np.maximum(words.offsets[:-1, None] + within - 1, 0)
        symbols = np.append(words.symbols, 0)[np.minimum(places, len(words.symbols))]
        tokens = np.where(within > 0, self._tokens[symbols + 1], self._tokens[0])
        return np.where(within < 0, 0, tokens)
