"""Answers for tests: batches of words and distributions, and stores that hold them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import numpy as np

from pdfalearn import Alphabet
from pdfalearn.rows import Rows
from pdfalearn.stores import AnswerStore
from pdfalearn.words import Words

ALPHABET = Alphabet("ab")

Batch = Mapping[tuple[int, ...], Sequence[float] | None]
"""Words, and their distributions; None if they are undefined."""

_MEMORY = Path("/dev", "shm")


@contextmanager
def new_path() -> Iterator[Path]:
    """Name a file that is not there yet, in memory where that is possible: disks are slow."""
    memory = _MEMORY if os.access(_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder, "answers.db")


def arrays_of(batch: Batch, symbols: int = 2) -> tuple[Words, Rows]:
    """Return the arguments of `ModelAnswers.add`."""
    nothing = [np.nan] * (symbols + 1)
    table = [nothing if row is None else row for row in batch.values()]
    undefined = np.array([row is None for row in batch.values()], dtype=bool)
    values = np.array(table, dtype=np.float64).reshape(len(batch), symbols + 1)
    rows = Rows.dense(values, undefined=undefined if undefined.any() else None)
    return Words.of(batch), rows


def spelled(batch: Mapping[str, Sequence[float] | None]) -> Batch:
    """Return a batch of words that are given as texts over a and b."""
    return {tuple("ab".index(letter) for letter in word): row for word, row in batch.items()}


def endless_batches(seed: int) -> Iterator[Batch]:
    """Yield small batches without end; those of different seeds have no word in common."""
    random = np.random.default_rng(seed)
    words = [tuple(int(bit) for bit in f"{seed:08b}")]
    while True:
        word = words.pop(0)
        new = [(*word, symbol) for symbol in (0, 1)]
        words += new
        weights = random.random((2, 3))
        one, other = (weights / weights.sum(axis=1, keepdims=True)).tolist()
        yield dict(zip(new, (one, None if random.random() < 0.2 else other), strict=True))


def some(seed: int, count: int = 4) -> list[Batch]:
    """Return the first of the endless batches."""
    return list(islice(endless_batches(seed), count))


def stored(path: Path, *runs: Sequence[Batch], key: str = "model") -> Path:
    """Store the batches of several runs, one run after the other."""
    for batches in runs:
        with AnswerStore(path) as store:
            answers = store.answers(key, ALPHABET)
            for batch in batches:
                answers.add(*arrays_of(batch))
    return path


def listed(*batches: Batch) -> list[tuple[str, str | None]]:
    """Return words and distributions as texts that show every bit."""
    return [
        (
            "".join("ab"[symbol] for symbol in word),
            None if row is None else repr([*map(float, row)]),
        )
        for batch in batches
        for word, row in batch.items()
    ]


def read(path: Path, key: str = "model") -> list[tuple[str, str | None]]:
    """Read all answers of a model as `listed` lists them."""
    with AnswerStore(path, read_only=True) as store:
        return [
            ("".join(map(str, word)), None if row is None else repr(row.tolist()))
            for word, row in store.answers(key)
        ]
