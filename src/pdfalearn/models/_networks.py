"""Modules of torch: put together from layers, checked, hashed, and their hidden states kept."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet
from pdfalearn.arrays import grown
from pdfalearn.errors import InputError, ModelError
from pdfalearn.typing import Flags, Integers

if TYPE_CHECKING:
    from torch import Tensor, nn

    State: TypeAlias = "Tensor | tuple[State, ...] | list[State] | dict[str, State]"


_FIRST_SIZE = 256
_LEAST_CAPACITY = 3
"""The empty word's state, that of a word and that of the word one symbol longer."""
_GROWTH = 1.5
"""While states are copied to tables of twice the size, this many times the new size is held."""
_NEVER, _FORGOTTEN = -1, -2
"""Stand where a word has no slot: its state was never computed, or it is not kept any more."""
_ALWAYS = 2**62
"""Stands where a slot is always in use."""


class HiddenStates:
    """Hidden states by the ids of words, a slot for each; the least recently used go first.

    The empty word has slot 0 for ever.

    Parameters
    ----------
    two, three : tensor, or tuples, lists or dictionaries of tensors
        States of two and of three empty words: these show which axis is that of the words.
    memory : int
        The most bytes that the states may take, copies while the tables grow included.
    """

    def __init__(self, two: State, three: State, memory: int) -> None:
        self._form = two
        tensors: list[Tensor] = []
        more_tensors: list[Tensor] = []
        map_tensors(tensors.append, two)
        map_tensors(more_tensors.append, three)
        self._axes = _find_word_axes(tensors, more_tensors)
        row_bytes = sum(tensor.nbytes // 2 for tensor in tensors) + 16  # and _words, _used
        self.capacity: int = int(memory / _GROWTH) // row_bytes
        """The most states."""
        if self.capacity < _LEAST_CAPACITY:
            raise InputError(
                f"memory of {memory:,} bytes is too little: a word takes {row_bytes:,}, and "
                f"{_LEAST_CAPACITY} must fit in even while they are moved"
            )
        axes = zip(tensors, self._axes, strict=True)
        self._tables = [tensor.narrow(axis, 0, 1).clone() for tensor, axis in axes]
        self._words: Integers = np.zeros(1, dtype=np.int64)
        """The word of each slot; -1 if it has none."""
        self._used: NDArray[np.int64] = np.full(1, _ALWAYS)
        """When each slot was used last; 0 if it is free."""
        self._free: Integers = np.empty(0, dtype=np.int64)
        self._slots: NDArray[np.int32] = grown(np.zeros(1, dtype=np.int32), 2)
        """The slot of each word; the last entry stands for all ids beyond."""
        self._now = 0
        self.assigned_again = 0
        """How many words were assigned slots that they had before, or had lost."""

    def clear(self) -> None:
        """Free the memory of all states."""
        self._tables.clear()
        self._words = self._used = self._free = self._words[:0]
        self._slots = self._slots[:0]

    def know(self, ids: Integers) -> Flags:
        """Return which words have a state here."""
        return np.asarray(self._slots.take(ids, mode="clip") >= 0)

    def assign(self, ids: Integers, parents: Integers, known: int) -> tuple[Integers, Integers]:
        """Return slots for words, and those of their parents, which are not forgotten for them.

        Parameters
        ----------
        ids, parents : array of int
            Words, parents first, and their parents.
        known : int
            How many words have parents from earlier, the first ones. These, the words and the empty
            one have to fit into the capacity together.
        """
        self._now += 1
        self._used[self._slots[parents[:known]]] = self._now
        self._slots = grown(self._slots, int(ids.max()) + 2)
        slots = self._slots[ids].astype(np.int64)
        self.assigned_again += int(np.count_nonzero(slots != _NEVER))
        new = (slots < 0).nonzero()[0]
        if len(new) < len(slots):
            self._used[slots[slots >= 0]] = self._now
        if len(new) > len(self._free) and len(self._used) < self.capacity:
            self._grow(len(new) - len(self._free))
        if len(new) > len(self._free):
            self._forget(max(len(new), self.capacity // 8))
        slots[new], self._free = self._free[: len(new)], self._free[len(new) :]
        self._slots[ids] = slots
        self._words[slots] = ids
        self._used[slots] = self._now
        self._used[0] = _ALWAYS
        return slots, self._slots[parents].astype(np.int64)

    def _forget(self, count: int) -> None:
        """Free the slots that were not used for longest; those that are free are among them."""
        count = min(count, int(np.count_nonzero(self._used < self._now)))
        self._free = np.argpartition(self._used, count - 1)[:count]
        words = self._words[self._free]
        self._slots[words[words >= 0]] = _FORGOTTEN
        self._words[self._free] = -1
        self._used[self._free] = 0

    def _grow(self, more: int) -> None:
        old = len(self._used)
        size = min(self.capacity, max(_FIRST_SIZE, 2 * (old + more)))
        for number, axis in enumerate(self._axes):
            table = self._tables[number]
            larger = table.new_empty((*table.shape[:axis], size, *table.shape[axis + 1 :]))
            larger.narrow(axis, 0, old).copy_(table)
            self._tables[number] = larger
        new = np.arange(old, size)
        self._free = np.concatenate((self._free, new))
        self._words = np.concatenate((self._words, np.full_like(new, -1)))
        self._used = np.concatenate((self._used, np.zeros_like(new)))

    def read(self, slots: Tensor) -> State:
        """Return the states in slots as one batch."""
        tables = zip(self._tables, self._axes, strict=True)
        chosen = iter([table.index_select(axis, slots) for table, axis in tables])
        state: State = map_tensors(lambda _: next(chosen), self._form)
        return state

    def write(self, slots: Tensor, state: State) -> None:
        """Keep a batch of states in slots."""
        given: list[Tensor] = []
        map_tensors(given.append, state)
        if len(given) != len(self._tables):
            raise ModelError(
                f"the network's state has {len(self._tables)} tensors before a step and "
                f"{len(given)} after it"
            )
        for table, tensor, axis in zip(self._tables, given, self._axes, strict=True):
            try:
                table.index_copy_(axis, slots, tensor)
            except (RuntimeError, IndexError) as error:
                shape = (*table.shape[:axis], len(slots), *table.shape[axis + 1 :])
                raise ModelError(
                    f"after a step of {len(slots)} words the network gives a state of shape "
                    f"{tuple(tensor.shape)} in {tensor.dtype}, not {shape} in {table.dtype} as "
                    "before"
                ) from error


def map_tensors(function: Callable[[Tensor], Any], state: State) -> Any:
    """Return a state of the same form with what a function makes of its tensors, in order.

    The tensors of a dictionary are in the order of their names.
    """
    import torch

    if isinstance(state, torch.Tensor):
        return function(state)
    if isinstance(state, tuple | list):
        parts = [map_tensors(function, part) for part in state]
        if isinstance(state, list):
            return parts
        return state._make(parts) if hasattr(state, "_make") else tuple(parts)  # if it is named
    if isinstance(state, dict):
        return {name: map_tensors(function, state[name]) for name in sorted(state)}
    raise InputError(
        f"the state of a network is a tensor, or tuples, lists or dictionaries of tensors; "
        f"there is a {type(state).__name__} in it"
    )


def _find_word_axes(two: list[Tensor], three: list[Tensor]) -> list[int]:
    """Find the axis of the words in every tensor of a state."""
    if len(two) != len(three):
        raise InputError("the network's start gives states of different forms for 2 and 3 words")
    axes = []
    for short, long in zip(two, three, strict=True):
        fitting = [
            axis
            for axis in range(short.ndim)
            if short.shape[axis] == 2
            and long.shape == (*short.shape[:axis], 3, *short.shape[axis + 1 :])
        ]
        if len(fitting) != 1:
            raise InputError(
                f"the network's start gives a state of shape {tuple(short.shape)} for 2 words and "
                f"{tuple(long.shape)} for 3; one axis has to be the number of words"
            )
        axes += fitting
    return axes


class Layers:
    """An embedding, a recurrent network of torch and a head, as a network that takes steps.

    Tokens are 0, which begins a word, and 1, 2, … for the symbols.
    """

    def __init__(self, embedding: nn.Module, recurrent: nn.RNNBase, head: nn.Module) -> None:
        from torch import nn

        if not isinstance(recurrent, nn.RNNBase):
            raise InputError(
                f"{type(recurrent).__name__} is not a torch.nn.RNN, GRU or LSTM; a network of your "
                "own needs the methods start and step"
            )
        if recurrent.bidirectional:
            raise InputError("a bidirectional network reads ahead, and cannot say what comes next")
        self.module = nn.ModuleList([embedding, recurrent, head])
        self._embedding, self._recurrent, self._head = embedding, recurrent, head
        self._time = 1 if recurrent.batch_first else 0

    def check_tokens(self, symbols: int) -> None:
        """Refuse an embedding that does not know the tokens of this many symbols."""
        import torch
        from torch import nn

        needed = f"an alphabet of {symbols} symbols needs {symbols + 1} tokens: 0 begins a word"
        embedding = self._embedding
        if isinstance(embedding, nn.Embedding) and embedding.num_embeddings <= symbols:
            raise InputError(
                f"the embedding has {embedding.num_embeddings} tokens, but {needed}; make it "
                f"torch.nn.Embedding({symbols + 1}, {embedding.embedding_dim})"
            )
        try:
            with torch.inference_mode():
                embedding(self._tokens(2, fill=symbols))
        except (IndexError, KeyError, RuntimeError, ValueError) as error:
            raise InputError(
                f"the embedding fails at token {symbols}, but {needed}; make it larger ({error})"
            ) from error

    def start(self, count: int) -> tuple[Tensor, State]:
        """Return logits and state after the token that begins a word."""
        return self._after(self._tokens(count, fill=0), None)

    def _tokens(self, count: int, fill: int) -> Tensor:
        import torch

        device = next(self._recurrent.parameters()).device
        return torch.full((count,), fill, dtype=torch.long, device=device)

    def step(self, symbols: Tensor, state: State) -> tuple[Tensor, State]:
        """Return logits and state after one symbol more."""
        return self._after(symbols + 1, state)

    def _after(self, tokens: Tensor, state: State | None) -> tuple[Tensor, State]:
        vectors = self._embedding(tokens).unsqueeze(self._time)
        outputs, state = self._recurrent(vectors, state)
        return self._head(outputs.squeeze(self._time)), state


def module_of(network: object) -> nn.Module | None:
    """Return the module that holds a network's parameters, if there is one."""
    from torch import nn

    module = network if isinstance(network, nn.Module) else getattr(network, "module", None)
    return module if isinstance(module, nn.Module) else None


def check_not_training(module: nn.Module) -> None:
    """Refuse a network whose answers are random because it is being trained."""
    from torch import nn

    for part in module.modules():
        is_random = isinstance(part, nn.modules.batchnorm._BatchNorm)
        is_random |= isinstance(part, nn.modules.dropout._DropoutNd) and part.p > 0
        is_random |= isinstance(part, nn.RNNBase) and part.dropout > 0
        if part.training and is_random:
            raise InputError(
                f"the network's {type(part).__name__} is in training mode, where a word's answer "
                "is another every time; call .eval() on the network first"
            )


def module_hash(module: nn.Module, alphabet: Alphabet) -> str | None:
    """Return a hash of a module's layers, parameters and alphabet; None without parameters.

    Layers count by their types and settings: what else their code does cannot be hashed.
    """
    import torch

    tensors = module.state_dict()
    if not tensors:
        return None
    parts = sha256(repr((*alphabet.symbols, alphabet.terminal)).encode())
    for name, part in module.named_modules():
        settings = f"{part.extra_repr()} {getattr(part, 'mode', '')}"
        parts.update(f"{name} {type(part).__qualname__}({settings})\n".encode())
    for name, tensor in tensors.items():
        parts.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        parts.update(tensor.cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return parts.hexdigest()
