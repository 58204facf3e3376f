"""Files of automata, deterministic or not: what reads both kinds, and what writes PFA."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from pdfalearn.errors import InputError
from pdfalearn.files import check_keys, check_kind, write_archive
from pdfalearn.io.pdfa_files import (
    DTYPES,
    header_text,
    parse_document,
    pdfa_of,
    pdfa_of_document,
    read_alphabet,
    read_arrays,
    read_document,
    text_writers,
)

if TYPE_CHECKING:
    from pdfalearn.models import PFA
    from pdfalearn.pdfa import PDFA

_HEADER = {"format", "version", "alphabet", "terminal"}
_ARRAYS = ("initial", "matrices", "ends")
_MEMBERS = {"header.npy": ("|u1",), **{f"{name}.npy": ("<f8",) for name in _ARRAYS}}
# JSON texts have at most this many numbers, which is below the limit of bytes for any numbers.
_MOST_NUMBERS = 2**22


def read_json(stream: BinaryIO) -> PDFA | PFA:
    """Read a PDFA or a PFA from JSON, whichever the text says."""
    document = read_document(stream)
    if document.get("format") != "pfa":
        return pdfa_of_document(document)
    check_keys(document, {*_HEADER, *_ARRAYS}, "it")
    return _make_pfa(document, {name: document[name] for name in _ARRAYS})


def read_npz(stream: BinaryIO) -> PDFA | PFA:
    """Read a PDFA or a PFA from a NumPy archive, whichever its arrays are of."""
    arrays = read_arrays(stream, DTYPES, _MEMBERS)
    if "matrices.npy" not in arrays:
        return pdfa_of(arrays)
    document = check_keys(parse_document(arrays["header.npy"].tobytes()), _HEADER, "its header")
    given = {name: arrays[f"{name}.npy"] for name in _ARRAYS}
    # In the file the matrices are one below the other.
    states = len(given["initial"])
    if states and given["matrices"].shape[1:] == (states,) and not len(given["matrices"]) % states:
        given["matrices"] = given["matrices"].reshape(-1, states, states)
    return _make_pfa(document, given)


def _make_pfa(document: dict[str, Any], arrays: dict[str, Any]) -> PFA:
    from pdfalearn.models import PFA

    check_kind(document, "pfa")
    return PFA(read_alphabet(document), **arrays)


def _write_npz(pfa: PFA, stream: BinaryIO) -> None:
    header = np.frombuffer(header_text("pfa", pfa.alphabet), np.uint8)
    arrays = {name: getattr(pfa, name).astype("<f8", copy=False) for name in _ARRAYS}
    arrays["matrices"] = arrays["matrices"].reshape(-1, len(pfa))
    members = {f"{name}.npy": array for name, array in arrays.items()}
    write_archive(stream, {"header.npy": header, **members})


def _text(pfa: PFA) -> bytes:
    if pfa.matrices.size > _MOST_NUMBERS:
        raise InputError(f"{pfa.matrices.size:,} numbers are too many for JSON; save as .npz")
    written = header_text("pfa", pfa.alphabet).removesuffix(b"}")
    for name in _ARRAYS:
        numbers = json.dumps(getattr(pfa, name).tolist(), separators=(",", ":"))
        # One row of numbers a line.
        written += f',\n"{name}":{numbers}'.replace("],[", "],\n[").encode()
    return written + b"}\n"


# What writes a PFA, by the endings of files.
PFA_WRITERS: dict[str, Callable[[Any, BinaryIO], None]] = {
    **text_writers(_text),
    ".npz": _write_npz,
}
