"""Files of frontiers: what `distill` returns, in a zip archive of a JSON text and arrays."""

from __future__ import annotations

import os
import reprlib
from typing import BinaryIO

from pdfalearn.distilling._frontier_parts import (
    NAME,
    arrays_of,
    dtypes_of,
    frontier_of,
    text_in,
    text_of,
)
from pdfalearn.distilling.frontier import Frontier
from pdfalearn.errors import InputError
from pdfalearn.files import named
from pdfalearn.files.archives import text_and_arrays, write_archive
from pdfalearn.pdfa import PDFA

ENDING = ".zip"


def save_frontier(frontier: Frontier, path: str | os.PathLike[str]) -> None:
    """Write a frontier to a file in .zip: `save` for frontiers."""
    if not isinstance(frontier, Frontier):
        raise InputError(f"{reprlib.repr(frontier)} is not a Frontier, such as distill(…) returns")
    _check_ending(path)
    named.write(frontier, path, {ENDING: write})


def check_can_save(path: str | os.PathLike[str]) -> None:
    """Raise now what `save_frontier` would raise later: `check_can_save` for frontiers."""
    _check_ending(path)
    named.check_can_write(path, {ENDING: write})


def write(frontier: Frontier, stream: BinaryIO) -> None:
    """Write a frontier as a zip archive; each automaton has the arrays of an .npz file."""
    write_archive(stream, {NAME: text_of(frontier), **arrays_of(frontier)})


def read(stream: BinaryIO) -> Frontier:
    """Read a frontier from a zip archive; nothing in it is ever unpickled."""
    return frontier_of(*text_and_arrays(stream, NAME, text_in, dtypes_of))


def pdfa_of(frontier: Frontier) -> PDFA:
    """Return the best automaton of a frontier: `load_pdfa` for frontiers."""
    return frontier.best


def _check_ending(path: str | os.PathLike[str]) -> None:
    name = named.checked_name(path)
    if not name.lower().endswith(ENDING):
        raise InputError(
            f"{named.shown(name)}: a whole frontier goes into a file in {ENDING}; one automaton "
            "alone: save(frontier.best, …) or save(frontier.at_most(30), …)"
        )
