"""Recurrent networks for tests: some that compute a given PDFA, some with random weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pdfalearn import PDFA, RecurrentModel
from tests.support import need_module

Form = Callable[[Any], Any]


def needed_torch() -> Any:
    """Return torch set to one thread, which is fastest for networks this small."""
    torch = need_module("torch")
    torch.set_num_threads(1)
    return torch


class OneHotNetwork:
    """Computes a PDFA without undefined words: its state is one-hot, a step is a product.

    Parameters
    ----------
    pdfa : PDFA
        The automaton.
    wrap, unwrap : callable
        Give the state, an array of a row for each word, another form, and its own form again.
    """

    def __init__(self, pdfa: PDFA, wrap: Form = lambda x: x, unwrap: Form = lambda x: x) -> None:
        torch = needed_torch()
        size, symbols = pdfa.transitions.shape
        self._matrices = torch.zeros(symbols, size, size, dtype=torch.float64)
        for state, successors in enumerate(pdfa.transitions.tolist()):
            for symbol, successor in enumerate(successors):
                self._matrices[symbol, state, successor] = 1.0
        self._logits = torch.log(torch.tensor(pdfa.probabilities.copy()))
        self._first = torch.nn.functional.one_hot(torch.tensor(pdfa.initial), size).double()
        self._wrap, self._unwrap = wrap, unwrap
        self.sizes: list[int] = []
        """How many words took each step."""

    def start(self, count: int) -> tuple[Any, Any]:
        hot = self._first.repeat(count, 1)
        return self._logits[hot.argmax(dim=1)], self._wrap(hot)

    def step(self, symbols: Any, state: Any) -> tuple[Any, Any]:
        self.sizes.append(len(symbols))
        hot = (self._unwrap(state).unsqueeze(1) @ self._matrices[symbols]).squeeze(1)
        return self._logits[hot.argmax(dim=1)], self._wrap(hot)


FORMS: dict[str, tuple[Form, Form]] = {
    "a tensor": (lambda x: x, lambda x: x),
    "words last": (lambda x: x.T, lambda x: x.T),
    "layers and memory": (
        lambda x: (x.repeat(3, 1, 1), x.double()[None]),
        lambda state: (state[0][2] + state[1][0]) / 2,
    ),
    "nested": (
        lambda x: {"a": [x.float(), (x.argmax(dim=1), x[:, None, :, None])]},
        lambda state: state["a"][1][1][:, 0, :, 0] * (state["a"][0] > 0),
    ),
}
"""Forms of states, and back."""


def memory_for(words: int, bytes_of_a_state: int) -> int:
    """Return how many bytes a cache of the states of a number of words needs."""
    return -(-words * 3 * (bytes_of_a_state + 16) // 2)


def layers(kind: str, symbols: int, seed: int = 3, **options: Any) -> tuple[Any, Any, Any]:
    """Make an embedding, a recurrent network and a head with random weights in float64."""
    torch = needed_torch()
    torch.manual_seed(seed)
    nn, hidden = torch.nn, 6
    embedding = nn.Embedding(symbols + 1, 5, dtype=torch.float64)
    recurrent = getattr(nn, kind)(5, hidden, dtype=torch.float64, **options)
    head = nn.Linear(options.get("proj_size") or hidden, symbols + 1, dtype=torch.float64)
    with torch.no_grad():
        embedding.weight *= 2
        head.weight *= 8
    return embedding, recurrent, head


def gru(symbols: str = "abc", seed: int = 3, memory: int = 2**20) -> RecurrentModel:
    """Make a model of a GRU with random weights."""
    return RecurrentModel.of_layers(*layers("GRU", len(symbols), seed), symbols, memory=memory)
