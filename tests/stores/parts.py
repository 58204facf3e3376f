"""Parts of segments for tests: what a writer appends, step by step."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from pdfalearn import Alphabet, AnswerStore
from pdfalearn.rows import Rows
from pdfalearn.stores.segments import Segment
from tests.strategies import distributions

ALPHABET = Alphabet("ab")
TINY = [0.0, -0.0, 5e-324, 2.2e-308]
"""What a zero of a distribution may be without anyone's noticing in its sum."""


_MEMORY = Path("/dev", "shm")


@contextmanager
def new_path() -> Iterator[Path]:
    """Name a file that is not there yet, in memory where that is possible: disks are slow."""
    memory = _MEMORY if os.access(_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        yield Path(folder, "answers.db")


class Part(NamedTuple):
    """The arguments of `Writer.append`."""

    parents: list[int]
    symbols: list[int]
    nodes: list[int]
    numbers: list[int]
    rows: list[list[float]]


@st.composite
def parts(draw: st.DrawFn) -> list[Part]:
    """What one writer appends: random words, repeated and unasked ones among them."""
    made = []
    nodes, rows = 1, 0
    for _ in range(draw(st.integers(1, 4))):
        new = draw(st.integers(0, 5))
        parents = [draw(st.integers(0, node - 1)) for node in range(nodes, nodes + new)]
        symbols = draw(st.lists(st.integers(0, 1), min_size=new, max_size=new))
        table = draw(st.lists(distributions(3), max_size=3))
        table = [[p or draw(st.sampled_from(TINY)) for p in row] for row in table]
        nodes, rows = nodes + new, rows + len(table)
        pairs = st.tuples(st.integers(0, nodes - 1), st.integers(-1, rows - 1))
        answers = draw(st.lists(pairs, max_size=6))
        answered, numbers = [node for node, _ in answers], [number for _, number in answers]
        made.append(Part(parents, symbols, answered, numbers, table))
    return made


def endless_parts(seed: int) -> Iterator[Part]:
    """Small parts without end, all of one seed; every word is asked once, some are undefined."""
    random = np.random.default_rng(seed)
    node, row = 0, 0
    while True:
        new = [node + 1, node + 2]
        weights = random.random((2, 3))
        table = weights / weights.sum(axis=1, keepdims=True)
        numbers = [row, -1 if random.random() < 0.2 else row + 1]
        yield Part([node // 2] * 2, [0, 1], new, numbers, table.tolist())
        node, row = node + 2, row + 2


def part_of(answers: Mapping[str, tuple[float, ...] | None]) -> Part:
    """Make a part of words over a and b with their answers, nodes in the order they are needed."""
    part = Part([], [], [], [], [])
    node_of, number_of = {"": 0}, dict[tuple[float, ...], int]()
    for word, answer in answers.items():
        for length in range(1, len(word) + 1):
            if word[:length] not in node_of:
                node_of[word[:length]] = len(node_of)
                part.parents.append(node_of[word[: length - 1]])
                part.symbols.append("ab".index(word[length - 1]))
        if answer is not None and answer not in number_of:
            number_of[answer] = len(number_of)
            part.rows.append(list(answer))
        part.nodes.append(node_of[word])
        part.numbers.append(-1 if answer is None else number_of[answer])
    return part


def joined(given: list[Part]) -> Segment:
    """Put parts together, as one segment."""
    parents, symbols, nodes, numbers = (
        np.array([entry for part in given for entry in part[column]], dtype=np.int32)
        for column in range(4)
    )
    rows = np.array([row for part in given for row in part.rows], dtype=np.float64)
    table = Rows.dense(rows.reshape(len(rows), 3))
    return Segment(parents, symbols, nodes, numbers, table)


def assert_same(segment: Segment, given: list[Part]) -> None:
    """Compare to the last bit."""
    for array, expected in zip(segment.arrays(), joined(given).arrays(), strict=True):
        assert len(array) == len(expected)
        assert array.tobytes() == expected.tobytes()


def stored(path: Path, *writers: list[Part], key: str = "model") -> Path:
    """Store what several writers append, one writer after the other."""
    for given in writers:
        with AnswerStore(path) as store:
            writer = store.writer(key, ALPHABET)
            for part in given:
                writer.append(*part)
    return path


def read(path: Path, key: str = "model") -> list[Segment]:
    """Read everything of a model."""
    with AnswerStore(path, read_only=True) as store:
        return list(store.segments(key))


def some(seed: int, count: int = 4) -> list[Part]:
    """Return the first of the endless parts."""
    return list(islice(endless_parts(seed), count))
