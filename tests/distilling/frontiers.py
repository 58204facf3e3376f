"""Frontiers of all kinds, by name, and bytes that are not quite their files."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from pdfalearn import PDFA, Budget, Corpus, Frontier, distill, load, save
from pdfalearn.datasets import chain, figure_3, random_pdfa
from pdfalearn.errors import FileFormatError
from pdfalearn.results import DistillingInterrupted, DistillingProgress

BUDGET = Budget(max_symbols=600)
SPARSE = random_pdfa(40, 4, zero_probability=0.5, seed=3)
INTEGERS = PDFA(
    alphabet=[7, -(2**63), "b"],
    terminal=0,
    transitions=[[0, 1, 1], [1, 0, 0]],
    probabilities=[[0.1, 0.2, 0.3, 0.4], [0.4, 0.3, 0.1, 0.2]],
)


def _small() -> Frontier:
    return distill(figure_3(), budget=BUDGET, sizes=[1, 2, 4], seed=1)


def _noted() -> Frontier:
    return replace(_small(), notes=("no store", "grün\n"))


def _infinite() -> Frontier:
    """As if automata forbade the first symbol of every held-out word."""
    found = _small()
    share = len(found.kept_lengths) / float(found.kept_lengths.sum())
    points = tuple(replace(point, infinite_share=share) for point in found)
    return replace(found, points=points, kept_infinite=np.ones_like(found.kept_losses))


def _interrupted(phase: str) -> Frontier:
    def interrupt(progress: DistillingProgress) -> None:
        if progress.phase == phase and progress.words >= 50:
            raise KeyboardInterrupt

    with pytest.raises(DistillingInterrupted) as caught:
        distill(SPARSE, budget=BUDGET, progress=interrupt)
    assert caught.value.frontier is not None
    return caught.value.frontier


FRONTIERS: dict[str, Callable[[], Frontier]] = {
    "figure 3": _small,
    "random": lambda: distill(random_pdfa(4, seed=1), budget=BUDGET),
    "integers": lambda: distill(INTEGERS, budget=BUDGET),
    "corpus": lambda: distill(SPARSE, budget=BUDGET, sampler=Corpus(SPARSE.sample(400, 1).words)),
    "infinite": _infinite,
    "one size": lambda: distill(SPARSE, budget=BUDGET, sizes=[5]),
    "one word": lambda: distill(chain(3), budget=BUDGET, sizes=[2, 9]),
    "interrupted while words are drawn": lambda: _interrupted("words"),
    "interrupted while automata are searched": lambda: _interrupted("automata"),
    "noted": _noted,
}


@cache
def frontier_of(name: str) -> Frontier:
    return FRONTIERS[name]()


def bytes_of(frontier: Frontier, folder: Path) -> bytes:
    """What ``save`` writes."""
    save(frontier, folder / "bytes_of.zip")
    return (folder / "bytes_of.zip").read_bytes()


def load_bytes(data: bytes, folder: Path) -> Frontier:
    """Load a file that holds these bytes."""
    path = folder / "load_bytes.zip"
    path.write_bytes(data)
    frontier = load(path)
    assert isinstance(frontier, Frontier)
    return frontier


def complaint_about(data: bytes, folder: Path) -> str:
    """What the one-line error says of a file with these bytes, its name left out."""
    with pytest.raises(FileFormatError) as caught:
        load_bytes(data, folder)
    name, message = f"{folder / 'load_bytes.zip'}: ", str(caught.value)
    assert message.startswith(name)
    assert message.isprintable()
    assert len(message) < len(name) + 700
    return message.removeprefix(name)


def members_of(frontier: Frontier, folder: Path) -> dict[str, bytes]:
    """The members of the archive that ``save`` writes."""
    with zipfile.ZipFile(io.BytesIO(bytes_of(frontier, folder))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}
