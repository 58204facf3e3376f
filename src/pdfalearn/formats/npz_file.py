"""PDFA as NumPy archives: zip files of arrays, for large automata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pdfalearn.errors import FileFormatError
from pdfalearn.files.archives import array_in, check_sizes, open_archive, write_archive
from pdfalearn.formats._header import checked_header, header_text, parsed
from pdfalearn.pdfa import PDFA

DTYPES = {"header.npy": "|u1", "transitions.npy": "<i4", "probabilities.npy": "<f8"}
"""The arrays that a PDFA is made of, and their types in a file."""


def write(pdfa: PDFA, stream: BinaryIO) -> None:
    """Write a PDFA as a NumPy archive."""
    write_archive(stream, arrays_of(pdfa))


def read(stream: BinaryIO) -> PDFA:
    """Read a PDFA from a NumPy archive; nothing in it is ever unpickled."""
    with open_archive(stream) as archive:
        names = archive.namelist()
        if sorted(names) != sorted(DTYPES):
            raise FileFormatError(f"holds {names[:8]}, not the arrays {[*DTYPES]} of a PDFA")
        remedy = "load the arrays with NumPy and write them again with numpy.savez"
        check_sizes(archive, stream, remedy=remedy)
        arrays = {name: array_in(archive.read(name), name, [DTYPES[name]]) for name in DTYPES}
    return pdfa_of(arrays)


def arrays_of(pdfa: PDFA) -> dict[str, NDArray[Any]]:
    """Return the arrays that a PDFA is made of, by the names of files."""
    arrays: dict[str, NDArray[Any]] = {
        "header.npy": np.frombuffer(header_text(pdfa), dtype=np.uint8),
        "transitions.npy": pdfa.transitions,
        "probabilities.npy": pdfa.probabilities,
    }
    return {name: array.astype(DTYPES[name], copy=False) for name, array in arrays.items()}


def pdfa_of(arrays: Mapping[str, NDArray[Any]]) -> PDFA:
    """Make a PDFA of its arrays, or say what is wrong with them."""
    alphabet, initial = checked_header(parsed(arrays["header.npy"].tobytes()))
    return PDFA(
        alphabet=alphabet,
        transitions=arrays["transitions.npy"],
        probabilities=arrays["probabilities.npy"],
        initial=initial,
    )
