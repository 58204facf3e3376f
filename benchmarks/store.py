"""A store of answers: seconds and bytes to write and read a million of them.

Run with ``python -m benchmarks.store``. Twenty symbols, batches of 1,024 answers, two new nodes an
answer; once every answer is a new distribution, once nearly all repeat old ones. Beside it what
was decided against: that every commit waits for the disk, and compression by zlib at level 1.
"""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.support import in_turns, print_header, print_row
from pdfalearn import Alphabet, AnswerStore
from pdfalearn.stores import _file

ANSWERS = 1_000_000
BATCH = 1024
SYMBOLS = 20
RUNS = 5
NEW_ROWS = {"every answer new": BATCH, "8 new a batch": 8}

ALPHABET = Alphabet(range(SYMBOLS))
TITLES = ["distributions", "answers", "write, s", "goal", "read, s", "goal", "MB"]
TITLES += ["write if every commit waits, s", "zlib alone, s", "MB with zlib"]


class Part(NamedTuple):
    """The arguments of `Writer.append`."""

    parents: NDArray[np.int64]
    symbols: NDArray[np.int64]
    nodes: NDArray[np.int64]
    numbers: NDArray[np.int64]
    rows: NDArray[np.float64]


def parts(answers: int, new_rows: int) -> Iterator[Part]:
    """Make batches: the tree grows breadth first, and every other word has an answer."""
    random = np.random.default_rng(1)
    for batch in range(answers // BATCH + 1):
        new = np.arange(2 * BATCH * batch, 2 * BATCH * (batch + 1))
        nodes = np.sort(random.choice(new + 1, BATCH, replace=False))
        known = new_rows * (batch + 1)
        numbers = random.integers(0, known, BATCH)
        if new_rows == BATCH:
            numbers = np.arange(known - BATCH, known)
        rows = random.random((new_rows, SYMBOLS + 1))
        rows /= rows.sum(axis=1, keepdims=True)
        yield Part(new // SYMBOLS, new % SYMBOLS, nodes, numbers, rows)


def write(path: Path, given: list[Part], sync_seconds: float) -> None:
    """Write a new store; commits wait for the disk no more often than this."""
    path.unlink(missing_ok=True)
    before, _file.SYNC_SECONDS = _file.SYNC_SECONDS, sync_seconds
    try:
        with AnswerStore(path) as store:
            writer = store.writer("model", ALPHABET)
            for part in given:
                writer.append(*part)
    finally:
        _file.SYNC_SECONDS = before


def read(path: Path) -> int:
    """Read all answers; return how many."""
    with AnswerStore(path, read_only=True) as store:
        return sum(len(segment.nodes) for segment in store.segments("model"))


def compressed(given: list[Part]) -> int:
    """Compress all arrays as they would be in the file; return the bytes that are left."""
    arrays = (
        array.astype(np.float64 if array.dtype.kind == "f" else np.int32)
        for part in given
        for array in part
    )
    return sum(len(zlib.compress(array.tobytes(), 1)) for array in arrays)


def measure(name: str, new_rows: int, folder: Path) -> None:
    """Print the row of one kind of answers."""
    given = list(parts(ANSWERS, new_rows))
    path, other = folder / "answers.db", folder / "other.db"
    writing, waiting = in_turns(
        [
            partial(write, path, given, _file.SYNC_SECONDS),
            partial(write, other, given, 0.0),
        ],
        runs=RUNS,
    )
    [(reading, answers)] = in_turns([partial(read, path)], runs=RUNS)
    [(packing, packed)] = in_turns([partial(compressed, given)], runs=1)
    cells = [name, answers, writing[0], "below 1", reading, "below 1", path.stat().st_size / 1e6]
    print_row([*cells, waiting[0], packing, packed / 1e6])


def main() -> None:
    """Print the table."""
    print_header(TITLES)
    with tempfile.TemporaryDirectory() as folder:
        for name, new_rows in NEW_ROWS.items():
            measure(name, new_rows, Path(folder))


if __name__ == "__main__":
    main()
