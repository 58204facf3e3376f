"""Modules of torch: put together from layers, checked, and hashed."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from pdfalearn.alphabet import Alphabet
from pdfalearn.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor, nn

    from pdfalearn.models._hidden_states import State


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
