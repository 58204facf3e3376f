"""A recurrent network of torch as a language model."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol

from pdfalearn.alphabet import Alphabet, Symbol
from pdfalearn.checks import checked_integer
from pdfalearn.errors import InputError, MissingExtraError
from pdfalearn.models._modules import Layers, check_not_training, module_hash, module_of
from pdfalearn.models._recurrent_session import RecurrentSession, checked_logits
from pdfalearn.models._state_rows import StateRows
from pdfalearn.models.cost import EVERY_STEP, QueryCost
from pdfalearn.models.protocol import LanguageModel

if TYPE_CHECKING:
    from torch import Tensor, nn

    from pdfalearn.models._nests import Nest

_MEMORY = 2**30


class StepNetwork(Protocol):
    """A recurrent network that takes one step at a time, for a batch of words.

    The logits of a word are a row: the terminal's first, then every symbol's in the order of the
    alphabet. A state is a tensor, or tuples, lists or dictionaries of tensors; each of them has an
    axis for the words of the batch.

    Examples
    --------
    >>> import torch
    >>> from pdfalearn import evaluate
    >>> class Fading:
    ...     def start(self, count):
    ...         return self.answer(torch.zeros(count, 1))
    ...
    ...     def step(self, symbols, state):
    ...         return self.answer(0.5 * state + symbols[:, None])
    ...
    ...     def answer(self, state):
    ...         none = torch.zeros_like(state)
    ...         return torch.cat([none, none, state], dim=1), state
    >>> model = RecurrentModel(Fading(), "ab")
    >>> evaluate(model, model, ["", "ab"]).over_words.l1
    0.0
    """

    def start(self, count: int) -> tuple[Tensor, Nest]:
        """Return the logits and the state after the empty word, for a batch of this size."""
        ...

    def step(self, symbols: Tensor, state: Nest) -> tuple[Tensor, Nest]:
        """Return the logits and the state after one symbol more.

        ``symbols`` are integers, one for each word: positions in the alphabet.
        """
        ...


class RecurrentModel(LanguageModel):
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
        The most bytes that the rows of state of one run may take; 1 GiB if not given. Words beyond
        that are forgotten, and computed again when they are needed.
    cost : QueryCost
        What asking costs; if not given, every symbol costs the same.

    Notes
    -----
    The number of torch's threads is left alone. For small networks, and on a busy machine,
    ``torch.set_num_threads(1)`` is mostly faster.

    Examples
    --------
    >>> import numpy as np
    >>> import torch
    >>> layers = torch.nn.Embedding(3, 4), torch.nn.GRU(4, 8), torch.nn.Linear(8, 3)
    >>> session = RecurrentModel.of_layers(*layers, "ab").open()
    >>> session.read(np.array([session.start()])).to_dense().shape
    (1, 3)
    """

    def __init__(
        self,
        network: StepNetwork,
        alphabet: Iterable[Symbol] | Alphabet,
        terminal: Symbol = "$",
        *,
        memory: int = _MEMORY,
        cost: QueryCost = EVERY_STEP,
    ) -> None:
        _check_torch()
        if not (hasattr(network, "start") and hasattr(network, "step")):
            raise InputError(f"{type(network).__name__} lacks the methods start and step")
        if not isinstance(alphabet, Alphabet):
            alphabet = Alphabet(alphabet, terminal)
        self.alphabet = alphabet
        self.cost = cost
        self._network = network
        self._module = module_of(network)
        self._memory = checked_integer(memory, "memory", 1, 2**62)
        self.open()  # refuses a network that cannot be asked

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
        cost: QueryCost = EVERY_STEP,
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
        alphabet, terminal, memory, cost
            As for the class.
        """
        _check_torch()
        layers = Layers(embedding, recurrent, head)
        model = cls(layers, alphabet, terminal, memory=memory, cost=cost)
        layers.check_tokens(len(model.alphabet))
        return model

    @property
    def fingerprint(self) -> str | None:  # type: ignore[override]
        """A hash of the network's parameters, layers and alphabet; None if it has no parameters."""
        return None if self._module is None else module_hash(self._module, self.alphabet)

    def open(self) -> RecurrentSession:
        """Begin a conversation, which has the whole memory for itself."""
        import torch

        if self._module is not None:
            check_not_training(self._module)
        width = len(self.alphabet) + 1
        with torch.inference_mode():
            logits, two = self._network.start(2)
            device = checked_logits(logits, 2, width).device
            states = StateRows(two, self._network.start(3)[1], width, self._memory)
        return RecurrentSession(self._network, states, device)


def _check_torch() -> None:
    if find_spec("torch") is None:
        raise MissingExtraError("torch is missing: pip install 'pdfalearn[torch]'")
