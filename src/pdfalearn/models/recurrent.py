"""A recurrent network of torch as a language model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from pdfalearn._checks import checked_integer
from pdfalearn.alphabet import Alphabet, Symbol
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
        self._network = network
        self._module = module_of(network)
        if self._module is not None:
            check_not_training(self._module)
        with torch.inference_mode():
            logits, state = network.start(2)
            self._device = self._checked(logits, 2).device
            memory = checked_integer(memory, "memory", 1, 2**62)
            self._states = StateRows(state, network.start(3)[1], len(alphabet) + 1, memory)

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
        return cls(Layers(embedding, recurrent, head), alphabet, terminal, memory=memory)

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
        import torch

        with torch.inference_mode(), self._taken(1) as rows:
            logits, state = self._network.start(1)
            self._states.put(self._tensor(rows), state)
            self._states.distributions[rows] = self._softmax([self._checked(logits, 1)])
        return int(rows[0])

    def extend(self, handles: Handles, words: Words) -> Handles:
        """Step through the words, those of a batch together."""
        import torch

        lengths = words.lengths
        if len(words.symbols) == len(lengths) and lengths.all():  # a symbol each
            batches = _parts(np.arange(len(lengths)))
            order = [(handles[batch], batch, [len(batch)]) for batch in batches]
        else:
            batches = _parts(np.argsort(-lengths, kind="stable"))
            order = [_in_steps(handles, words.offsets, lengths, batch) for batch in batches]
        with torch.inference_mode(), self._taken(len(words.symbols)) as rows:
            for starts, places, running in order:
                self._walk(starts, words.symbols[places], rows[places], running)
        return rows

    @contextmanager
    def _taken(self, count: int) -> Iterator[Handles]:
        """Take rows, and give them back if they cannot be filled."""
        rows = self._states.take(count)
        try:
            yield rows
        except BaseException:
            self._states.give_back(rows)
            raise

    def _walk(
        self, handles: Handles, symbols: NDArray[np.int32], rows: Handles, running: list[int]
    ) -> None:
        """Take steps from handles, a number of words in each, and fill the rows they lead to.

        Symbols and rows are those of the first step, then those of the second, and so on.
        """
        inputs, targets = self._tensor(symbols.astype(np.int64)), self._tensor(rows)
        state = self._states.states(self._tensor(handles))
        logits, begin = [], 0
        for step, count in enumerate(running):
            if step and count < running[step - 1]:
                state = self._states.first(state, count)
            row_logits, state = self._network.step(inputs[begin : begin + count], state)
            self._states.put(targets[begin : begin + count], state)
            logits.append(self._checked(row_logits, count))
            begin += count
        self._states.distributions[rows] = self._softmax(logits)

    def distributions(self, handles: Handles) -> NDArray[np.float64]:
        """Give the distributions, which were computed along with the states."""
        return self._states.distributions[handles]

    def release(self, handles: Handles) -> None:
        """Forget the states of words."""
        self._states.give_back(handles)

    def _tensor(self, values: NDArray[np.int64]) -> Tensor:
        import torch

        return torch.from_numpy(values).to(self._device)

    def _checked(self, logits: Tensor, count: int) -> Tensor:
        expected = (count, len(self.alphabet) + 1)
        if logits.shape != expected:
            raise ModelError(
                f"the network gives logits of shape {tuple(logits.shape)} for {count} words, not "
                f"{expected}: a row for each word, in it the terminal first, then every symbol"
            )
        return logits

    def _softmax(self, logits: list[Tensor]) -> NDArray[np.float64]:
        import torch

        if not logits:
            return np.empty((0, len(self.alphabet) + 1))
        joined = logits[0] if len(logits) == 1 else torch.cat(logits)
        return np.asarray(torch.softmax(joined, dim=1, dtype=torch.float64).cpu().numpy())


def _parts(places: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    return [places[i : i + _MOST_AT_ONCE] for i in range(0, len(places), _MOST_AT_ONCE)]


def _in_steps(
    handles: Handles,
    offsets: NDArray[np.int64],
    lengths: NDArray[np.int64],
    batch: NDArray[np.intp],
) -> tuple[Handles, NDArray[np.int64], list[int]]:
    """Order the symbols of words, the longest first, by the steps that they are taken in.

    Returns
    -------
    handles, places, running
        The handles of the words that are not empty; the places of all first symbols, then of all
        second ones, and so on; how many there are in each step.
    """
    begins, ordered = offsets[batch], lengths[batch]
    running = np.searchsorted(-ordered, -np.arange(ordered[0])).tolist()
    places = [begins[:count] + step for step, count in enumerate(running)]
    starts = handles[batch[: running[0] if running else 0]]
    return starts, np.concatenate([begins[:0], *places]), running


def _check_torch() -> None:
    if find_spec("torch") is None:
        raise MissingExtraError("torch is missing: pip install 'pdfalearn[torch]'")
