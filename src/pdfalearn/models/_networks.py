"""Modules of torch: put together from layers, checked, hashed, and what is kept of their states."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakKeyDictionary

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
# While tensors are copied to tables of twice the size, this many times the new size is in use.
_GROWTH = 1.5
# When memory is used up, one slot in this many is freed at once.
_FORGOTTEN_SHARE = 8
# Stand where a number has no slot: it never had one, or does not have it any more.
_NEVER, _FORGOTTEN = -1, -2
# Of every tensor about this many numbers are compared to see whether weights have changed.
_GLANCED = 64
# The hashes of modules' weights, each with what told that these have not changed.
_HASHES: WeakKeyDictionary[nn.Module, tuple[object, bytes]] = WeakKeyDictionary()


class SlotCache:
    """A network's tensors by the numbers of words or tokens, a slot of each table for each.

    Parameters
    ----------
    samples : list of tensor
        What is kept of one number: these show shapes, types and the device.
    axes : list of int
        The axis of each tensor on which the slots are.
    memory : int
        The most bytes, copies while the tables grow included.
    """

    def __init__(self, samples: list[Tensor], axes: list[int], memory: int) -> None:
        self._axes = axes
        self.row_bytes: int = sum(sample.nbytes for sample in samples) + 16  # _owners and _used
        """What a slot takes."""
        self.capacity: int = int(memory / _GROWTH) // self.row_bytes
        """The most slots."""
        pairs = zip(samples, axes, strict=True)
        self._tables = [sample.narrow(axis, 0, 0).clone() for sample, axis in pairs]
        # The number that each slot belongs to; -1 if it is free.
        self._owners: Integers = np.empty(0, dtype=np.int64)
        # When each slot was used last; 0 if it is free.
        self._used: Integers = np.empty(0, dtype=np.int64)
        self._free: Integers = np.empty(0, dtype=np.int64)
        # The slot of each number; the last entry stands for all numbers beyond.
        self._slots: NDArray[np.int32] = np.full(1, _NEVER, dtype=np.int32)
        self._now = 0
        self.assigned_again = 0
        """How many numbers were assigned slots that they had before, or had lost."""

    def know(self, numbers: Integers) -> Flags:
        """Return which numbers have slots."""
        return np.asarray(self._slots.take(numbers, mode="clip") >= 0)

    def find(self, numbers: Integers) -> Integers:
        """Return the slots of numbers that have them; these count as used now."""
        slots = self._slots[numbers].astype(np.int64)
        self._now += 1
        self._used[slots] = self._now
        return slots

    def assign(self, numbers: Integers, needed: Integers) -> Integers:
        """Return slots for numbers; below 0 where there is no memory left for one.

        Those that have slots keep them. The slots of other numbers, the needed ones, are not freed
        for them.
        """
        self.find(needed)
        self._slots = grown(self._slots, int(numbers.max(initial=0)) + 2)
        slots = self._slots[numbers].astype(np.int64)
        self.assigned_again += int(np.count_nonzero(slots != _NEVER))
        self._used[slots[slots >= 0]] = self._now
        new = (slots < 0).nonzero()[0]
        # Tables grow as long as they may; only then is anything forgotten.
        if len(new) > len(self._free) and len(self._owners) < self.capacity:
            self._grow(len(new) - len(self._free))
        if len(new) > len(self._free):
            self._forget(len(new))
        new = new[: len(self._free)]
        here, self._free = self._free[: len(new)], self._free[len(new) :]
        slots[new] = self._slots[numbers[new]] = here
        self._owners[here] = numbers[new]
        self._used[here] = self._now
        return slots

    def _forget(self, needed: int) -> None:
        """Free the slots that were not used for longest; those that are free are among them."""
        most = int(np.count_nonzero(self._used < self._now))
        count = min(max(needed, self.capacity // _FORGOTTEN_SHARE), most)
        if count:
            self._free = np.argpartition(self._used, count - 1)[:count]
            owners = self._owners[self._free]
            self._slots[owners[owners >= 0]] = _FORGOTTEN
            self._owners[self._free] = -1
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
        self._owners = np.concatenate((self._owners, np.full_like(new, -1)))
        self._used = np.concatenate((self._used, np.zeros_like(new)))

    def read(self, slots: Tensor) -> list[Tensor]:
        """Return what is in slots, as one batch."""
        tables = zip(self._tables, self._axes, strict=True)
        return [table.index_select(axis, slots) for table, axis in tables]

    def write(self, slots: Tensor, tensors: list[Tensor]) -> None:
        """Put a batch into slots."""
        if len(tensors) != len(self._tables):
            raise ModelError(
                f"the network's state has {len(self._tables)} tensors before a step and "
                f"{len(tensors)} after it"
            )
        for table, tensor, axis in zip(self._tables, tensors, self._axes, strict=True):
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


def find_word_axes(two: list[Tensor], three: list[Tensor]) -> list[int]:
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
    tensors = module.state_dict()
    if not tensors:
        return None
    parts = [repr((*alphabet.symbols, alphabet.terminal))]
    for name, part in module.named_modules():
        settings = f"{part.extra_repr()} {getattr(part, 'mode', '')}"
        parts.append(f"{name} {type(part).__qualname__}({settings})")
    parts += [f"{name} {each.dtype} {tuple(each.shape)}" for name, each in tensors.items()]
    return sha256("\n".join(parts).encode() + _hash_weights(module, tensors)).hexdigest()


def _hash_weights(module: nn.Module, tensors: dict[str, Tensor]) -> bytes:
    """Return a hash of weights, which is computed anew only if they may have changed."""
    key: list[object] = []
    for tensor in tensors.values():
        # Weights made in inference mode have no versions, and what is written to a parameter's data
        # changes none: so some of the numbers are compared, too.
        version = None if tensor.is_inference() else tensor._version
        glance = _bytes_of(tensor.flatten()[:: max(1, tensor.numel() // _GLANCED)])
        key.append((tensor.data_ptr(), version, glance))
    known, found = _HASHES.get(module, (None, b""))
    if known != key:
        weights = sha256()
        for tensor in tensors.values():
            weights.update(_bytes_of(tensor))
        found = weights.digest()
        _HASHES[module] = key, found
    return found


def _bytes_of(tensor: Tensor) -> bytes:
    import torch

    return bytes(tensor.cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
