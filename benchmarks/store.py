"""A store of answers: microseconds of the processor and bytes for an answer.

Run with ``python -m benchmarks.store``. Random words of three lengths over alphabets of three
sizes, every distribution a new one, in batches of 1,024 and of 256; then twenty symbols, where a
hundredth of the distributions are different. Words are added to a new store; a store that is
opened anew reads its words, finds all of them in the order in which they were added and in a random
order, and looks for words that it does not hold.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.support import print_header, print_row
from pdfalearn import Alphabet
from pdfalearn.rows import Rows
from pdfalearn.stores import AnswerStore, ModelAnswers
from pdfalearn.words import Words

RUNS = 3
ANSWERS = 100_000
BYTES = 10_000_000
"""Fewer answers are stored if their rows have more bytes than this."""
KINDS = [(symbols, length) for symbols in (2, 10, 100) for length in (5, 20, 100)]
BATCHES = (1024, 256)
SHARED = (20, 20)
"""Symbols and length of words where a hundredth of the distributions are different."""

TITLES = ["symbols", "length", "batch", "answers", "different rows", "add, µs", "goal"]
TITLES += ["read words, µs", "find, µs", "in any order, µs", "goal", "miss, µs", "bytes"]


class Given(NamedTuple):
    """What is stored: codes of words of one length, and a row for each."""

    words: NDArray[np.int32]
    rows: NDArray[np.float64]
    symbols: int
    batch: int

    def batches(self, order: NDArray[np.int64] | None = None) -> Iterator[tuple[Words, Rows]]:
        """Yield batches in their order, or in another one."""
        places = np.arange(len(self.words)) if order is None else order
        for begin in range(0, len(places), self.batch):
            here = places[begin : begin + self.batch]
            yield spell(self.words[here]), Rows.dense(self.rows[here])


def spell(codes: NDArray[np.int32]) -> Words:
    """Return words of one length, given as the rows of a table."""
    return Words(codes.ravel(), np.arange(len(codes) + 1) * codes.shape[1])


def make(symbols: int, length: int, batch: int, different: float = 1.0) -> Given:
    """Make random words, all of them different, and distributions."""
    random = np.random.default_rng(1)
    count = min(ANSWERS, BYTES // (8 * symbols + 8))
    words = np.unique(random.integers(0, symbols, (count, length), dtype=np.int32), axis=0)
    words = random.permutation(words)
    table = random.random((max(1, int(different * len(words))), symbols + 1))
    table /= table.sum(axis=1, keepdims=True)
    return Given(words, np.resize(table, (len(words), symbols + 1)), symbols, batch)


def timed(job: Callable[[], object]) -> float:
    """Return the processor time of a job."""
    begin = time.process_time()
    job()
    return time.process_time() - begin


def add_all(answers: ModelAnswers, given: Given) -> None:
    """Add all answers."""
    for words, rows in given.batches():
        answers.add(words, rows)


def find_all(answers: ModelAnswers, batches: list[Words]) -> None:
    """Find all words."""
    for words in batches:
        if len(answers.find(words)[0]) != len(words):
            raise RuntimeError("a word was lost")


def measure(given: Given, path: Path) -> list[float]:
    """Return the seconds to add, to read words, to find, in any order, and to find nothing."""
    path.unlink(missing_ok=True)
    alphabet = Alphabet(range(given.symbols))
    order = np.random.default_rng(2).permutation(len(given.words))
    in_order = [words for words, _ in given.batches()]
    mixed = [words for words, _ in given.batches(order)]
    with AnswerStore(path) as store:
        adding = timed(lambda: add_all(store.answers("model", alphabet), given))
    with AnswerStore(path) as store:
        answers = store.answers("model", alphabet)
        other = spell(np.repeat(given.words[: given.batch], 2, axis=1))
        return [
            adding,
            timed(lambda: len(answers)),
            timed(lambda: find_all(answers, in_order)),
            timed(lambda: find_all(answers, mixed)),
            timed(lambda: [answers.find(other) for _ in in_order]),
        ]


def report(given: Given, path: Path) -> None:
    """Print the row of one kind of answers."""
    count = len(given.words)
    runs = [measure(given, path) for _ in range(RUNS)]
    add, read, find, mixed, miss = (
        1e6 * median(taken) / count for taken in zip(*runs, strict=True)
    )
    cells: list[object] = [given.symbols, given.words.shape[1], given.batch, count]
    cells += [len(np.unique(given.rows, axis=0)), add, "below 10", read, find, mixed, "below 10"]
    print_row([*cells, miss, path.stat().st_size / count])


def main() -> None:
    """Print the table."""
    print_header(TITLES)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "answers.db")
        for symbols, length in KINDS:
            for batch in BATCHES:
                report(make(symbols, length, batch), path)
        for batch in BATCHES:
            report(make(*SHARED, batch, different=0.01), path)


if __name__ == "__main__":
    main()
