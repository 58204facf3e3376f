"""The models whose copies are timed: each function makes one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pdfalearn import FunctionModel
from pdfalearn.datasets import random_pdfa

if TYPE_CHECKING:
    from pdfalearn import RecurrentModel

SYMBOLS = "abcd"
HIDDEN = 512
TARGET = random_pdfa(200, 4, distributions=20, seed=1)


def sleeping() -> FunctionModel:
    """Make a model that sleeps for a millisecond a word."""

    def slow(words: Sequence[tuple[object, ...]]) -> Any:
        time.sleep(1e-3 * len(words))
        return TARGET.next_distributions(words)

    return FunctionModel(slow, TARGET.alphabet)


def burning() -> FunctionModel:
    """Make a model that keeps a processor busy for about a millisecond a word."""

    def slow(words: Sequence[tuple[object, ...]]) -> Any:
        for _ in range(len(words) * 20_000):
            pass
        return TARGET.next_distributions(words)

    return FunctionModel(slow, TARGET.alphabet)


def instant() -> FunctionModel:
    """Make a model that takes hardly any time."""
    return FunctionModel(lambda words: [[0.2] * 5] * len(words), SYMBOLS)


def network() -> RecurrentModel:
    """Make a GRU of two layers of 512 with random weights, sharpened, and one thread."""
    return _network(1)


def network_of_two_threads() -> RecurrentModel:
    """Make the same, with two threads."""
    return _network(2)


def _network(threads: int) -> RecurrentModel:
    import torch  # not for copies that only sleep
    from torch import nn

    from pdfalearn import RecurrentModel

    torch.set_num_threads(threads)
    torch.manual_seed(1)
    embedding, recurrent = nn.Embedding(len(SYMBOLS) + 1, HIDDEN), nn.GRU(HIDDEN, HIDDEN, 2)
    head = nn.Linear(HIDDEN, len(SYMBOLS) + 1)
    with torch.no_grad():
        head.weight *= 4
    return RecurrentModel.of_layers(embedding.eval(), recurrent.eval(), head.eval(), SYMBOLS)
