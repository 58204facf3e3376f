"""Files of whole runs: what `learn` returns, in a zip archive of a JSON text and arrays."""

from __future__ import annotations

import os
import reprlib
from typing import BinaryIO

from pdfalearn.errors import InputError
from pdfalearn.files import named
from pdfalearn.files.archives import text_and_arrays, write_archive
from pdfalearn.learning._run_arrays import arrays_of, dtypes_of
from pdfalearn.learning._run_texts import NAME, text_in, text_of
from pdfalearn.learning._run_values import result_of
from pdfalearn.learning.results import Result
from pdfalearn.pdfa import PDFA

ENDING = ".zip"


def save_run(result: Result, path: str | os.PathLike[str]) -> None:
    """Write a run to a file in .zip: `save` for results."""
    if not isinstance(result, Result):
        raise InputError(f"{reprlib.repr(result)} is not a Result, such as learn(…) returns")
    _check_ending(path)
    named.write(result, path, {ENDING: write})


def check_can_save_run(path: str | os.PathLike[str]) -> None:
    """Raise now what `save_run` would raise later: `check_can_save` for results."""
    _check_ending(path)
    named.check_can_write(path, {ENDING: write})


def write(result: Result, stream: BinaryIO) -> None:
    """Write a run as a zip archive; the arrays of its automaton are those of an .npz file."""
    write_archive(stream, {NAME: text_of(result), **arrays_of(result)})


def read(stream: BinaryIO) -> Result:
    """Read a run from a zip archive; nothing in it is ever unpickled."""
    return result_of(*text_and_arrays(stream, NAME, text_in, dtypes_of))


def pdfa_of(result: Result) -> PDFA:
    """Return the automaton of a run: `load_pdfa` for results."""
    return result.pdfa


def _check_ending(path: str | os.PathLike[str]) -> None:
    name = named.checked_name(path)
    if not name.lower().endswith(ENDING):
        raise InputError(
            f"{named.shown(name)}: a whole run goes into a file in {ENDING}; the automaton alone: "
            "save(result.pdfa, …), the tree alone: save(result.tree, …)"
        )
