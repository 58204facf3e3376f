"""A recurrent network of torch as a language model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet, Symbol
from pdfalearn.checks import checked_integer
from pdfalearn.errors import InputError, MissingExtraError, ModelError
from pdfalearn.models._modules import Layers, check_not_training, module_hash, module_of
from pdfalearn.models._state_rows import StateRows
from pdfalearn.models.protocol import Handles
from pdfalearn.words import Words

if TYPE_CHECKING:
    from torch import Tensor, nn

    from pdfalearn.models._nests import Nest

_MEMORY = 2**30
_MOST_AT_ONCE = 1024
"""So many words go through the network at once; more are not faster, and take more memory."""


class StepNetwork(Protocol):
    """A recurrent network that takes one step at a time, for a batch of words.

    The logits of a word are a row: the terminal's first, then every symbol's in the order of the
    alphabet. A state is a tensor, or tuples, lists or dictionaries of tensors; each of them has an
    axis for the words of the batch.
    """

    def start(self, count: int) -> tuple[Tensor, Nest]:
        """Give the logits and the state after the empty word, for as many words as asked."""
        ...

    def step(self, symbols: Tensor, state: Nest) -> tuple[Tensor, Nest]:
        """Give the logits and the state after one symbol more.

        ``symbols`` are integers, one for each word: positions in the alphabet.
        """
        ...


class RecurrentModel:
    """A recurrent network as a language model: the handle of a word is a row of hidden state.

    Extending a word costs one step for each symbol; the words of a batch take their steps together.

    Parameters
    ----------
    network : StepNetwork
        Anything with the two methods `start` and `step`, mostly a ``torch.nn.Module``. It stays on
        its device and in its precision; softmax is in float64.
    alphabet : iterable of hashable, or Alphabet
        The symbols.
    terminal : hashable
        The terminal symbol, unless the alphabet has one already.
    memory : int
        The most bytes that the rows of state may take; 1 GiB if not given. Words beyond that are
        forgotten, and computed again when they are needed.

    Notes
    -----
    The number of torch's threads is left alone. For small networks, and on a busy machine,
    ``torch.set_num_threads(1)`` is mostly faster.
    """

    prefixes_free = True

    def __init__(
        self,
        network: StepNetwork,
        alphabet: Iterable[Symbol] | Alphabet,
        terminal: Symbol = "$",
        *,
        memory: int = _MEMORY,
    ) -> None:
        _check_torch()
        import torch

        if not (hasattr(network, "start") and hasattr(network, "step")):
            raise InputError(f"{type(network).__name__} lacks the methods start and step")
        if not isinstance(alphabet, Alphabet):
            alphabet = Alphabet(alphabet, terminal)
        self.alphabet = alphabet
        self._width = len(alphabet) + 1
        self._network = network
        self._module = module_of(network)
        if self._module is not None:
            check_not_training(self._module)
        with torch.inference_mode():
            logits, state = network.start(2)
            self._device = self._checked(logits, 2).device
            memory = checked_integer(memory, "memory", 1, 2**62)
            self._states = StateRows(state, network.start(3)[1], self._width, memory)

    @classmethod
    def of_layers(
        cls,
        embedding: nn.Module,
        recurrent: nn.RNNBase,
        head: nn.Module,
        alphabet: Iterable[Symbol] | Alphabet,
        terminal: Symbol = "$",
        *,
        memory: int = _MEMORY,
    ) -> RecurrentModel:
        """Make a model of an embedding, a torch.nn.RNN, GRU or LSTM, and a head.

        The network's tokens are 0, which begins every word on the way in and stands for the
        terminal on the way out, and 1, 2, … for the symbols in the order of the alphabet.

        Parameters
        ----------
        embedding : torch.nn.Module
            Maps tokens to vectors.
        recurrent : torch.nn.RNN, GRU or LSTM
            In one direction; of any number of layers, the batch on either axis.
        head : torch.nn.Module
            Maps outputs to the logits of the tokens.
        alphabet, terminal, memory
            As for the class.
        """
        _check_torch()
        layers = Layers(embedding, recurrent, head)
        model = cls(layers, alphabet, terminal, memory=memory)
        layers.check_tokens(len(model.alphabet))
        return model

    @property
    def capacity(self) -> int:
        """How many words fit into the memory."""
        return self._states.capacity

    @property
    def fingerprint(self) -> str | None:
        """A hash of the network's parameters, layers and alphabet; None if it has no parameters."""
        return None if self._module is None else module_hash(self._module, self.alphabet)

    def start(self) -> int:
        """Give a row with the state after the empty word."""

        def fill(rows: Handles) -> None:
            logits, state = self._network.start(1)
            row = self._tensor(rows)
            self._states.put(row, state)
            self._put_softmax(row, self._checked(logits, 1))

        return int(self._filled(1, fill)[0])

    def extend(self, handles: Handles, words: Words) -> Handles:
        """Step through the words, those of a batch together."""

        def fill(rows: Handles) -> None:
            for batch, places, running in _batches(words):
                symbols = words.symbols.take(places).astype(np.int64)
                self._walk(handles.take(batch), symbols, rows.take(places), running)

        return self._filled(len(words.symbols), fill)

    def _filled(self, count: int, fill: Callable[[Handles], None]) -> Handles:
        """Take rows and have them filled; give them back if they cannot be."""
        import torch

        rows = self._states.take(count)
        try:
            with torch.inference_mode():
                fill(rows)
        except BaseException:
            self._states.give_back(rows)
            raise
        return rows

    def _walk(
        self, handles: Handles, symbols: NDArray[np.int64], rows: Handles, running: list[int]
    ) -> None:
        """Take steps from handles, a number of words in each, and fill the rows they lead to.

        Symbols and rows are those of the first step, then those of the second, and so on.
        """
        import torch

        inputs, targets = self._tensor(symbols), self._tensor(rows)
        state = self._states.states(self._tensor(handles))
        logits, before = [], running[0]
        parts = inputs.split_with_sizes(running), targets.split_with_sizes(running)
        for count, step_inputs, step_targets in zip(running, *parts, strict=True):
            if count < before:
                state = self._states.first(state, count)
            step_logits, state = self._network.step(step_inputs, state)
            self._states.put(step_targets, state)
            logits.append(self._checked(step_logits, count))
            before = count
        self._put_softmax(targets, logits[0] if len(logits) == 1 else torch.cat(logits))

    def distributions(self, handles: Handles) -> NDArray[np.float64]:
        """Give the distributions, which were computed along with the states."""
        return self._states.distributions.take(handles, axis=0)

    def release(self, handles: Handles) -> None:
        """Forget the states of words."""
        self._states.give_back(handles)

    def _tensor(self, values: NDArray[np.int64]) -> Tensor:
        import torch

        return torch.from_numpy(values).to(self._device)

    def _checked(self, logits: Tensor, count: int) -> Tensor:
        expected = (count, self._width)
        if logits.shape != expected:
            raise ModelError(
                f"the network gives logits of shape {tuple(logits.shape)} for {count} words, not "
                f"{expected}: a row for each word, in it the terminal first, then every symbol"
            )
        return logits

    def _put_softmax(self, rows: Tensor, logits: Tensor) -> None:
        import torch

        self._states.put_distributions(rows, torch.softmax(logits, dim=1, dtype=torch.float64))


def _batches(words: Words) -> Iterator[tuple[list[int], list[int], list[int]]]:
    """Order words, the longest first, and their symbols by the steps that they are taken in.

    Yields
    ------
    batch, places, running : list of int
        Words that are not empty; the places of all their first symbols, then of all second ones,
        and so on; how many words take each step.
    """
    offsets = words.offsets.tolist()
    lengths = [end - begin for begin, end in pairwise(offsets)]
    not_empty = [word for word, length in enumerate(lengths) if length]
    longest_first = sorted(not_empty, key=lengths.__getitem__, reverse=True)
    for begin in range(0, len(longest_first), _MOST_AT_ONCE):
        batch = going = longest_first[begin : begin + _MOST_AT_ONCE]
        places: list[int] = []
        running: list[int] = []
        while going:
            step = len(running)
            places += [offsets[word] + step for word in going]
            running.append(len(going))
            going = [word for word in going if lengths[word] > step + 1]
        yield batch, places, running


def _check_torch() -> None:
    if find_spec("torch") is None:
        raise MissingExtraError("torch is missing: pip install 'pdfalearn[torch]'")
