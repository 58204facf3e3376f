"""Modules of torch: put together from layers, checked and hashed, and the form of their states."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakKeyDictionary

from pdfalearn.alphabet import Alphabet
from pdfalearn.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor, nn

    State: TypeAlias = "Tensor | tuple[State, ...] | list[State] | dict[str, State]"


_GLANCED = 64
"""Of every tensor about this many numbers are compared to see whether weights have changed."""
_HASHES: WeakKeyDictionary[nn.Module, tuple[object, bytes]] = WeakKeyDictionary()
"""The hashes of modules' weights, each with what told that these have not changed."""


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
    try:
        versions = [(each.data_ptr(), each._version) for each in tensors.values()]
    except RuntimeError:  # weights made in inference mode have no versions
        versions = []
    # What is written to a parameter's data changes no version: so some of it is compared, too.
    glances = (each.flatten()[:: max(1, each.numel() // _GLANCED)] for each in tensors.values())
    key = versions, b"".join(map(_bytes_of, glances))
    known, found = _HASHES.get(module, (None, b""))
    if not versions or known != key:
        weights = sha256()
        for tensor in tensors.values():
            weights.update(_bytes_of(tensor))
        found = weights.digest()
        _HASHES[module] = key, found
    return found


def _bytes_of(tensor: Tensor) -> bytes:
    import torch

    return tensor.cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes()
