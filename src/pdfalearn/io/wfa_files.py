"""Files of automata of every kind: what reads them, and what writes WFA, PFA and DFA."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.files import check_keys, check_kind, write_archive
from pdfalearn.io.pdfa_files import (
    DTYPES,
    automaton_text,
    header_text,
    parse_document,
    parse_header,
    parse_table,
    pdfa_of,
    pdfa_of_document,
    read_alphabet,
    read_arrays,
    read_document,
    text_writers,
)

if TYPE_CHECKING:
    from pdfalearn.languages import DFA
    from pdfalearn.models import WFA
    from pdfalearn.pdfa import PDFA

_HEADER = {"format", "version", "alphabet", "terminal"}
_ARRAYS = ("initial", "matrices", "ends")
_MEMBERS = {"header.npy": ("|u1",), **{f"{name}.npy": ("<f8",) for name in _ARRAYS}}
# JSON texts have at most this many numbers, which is below the limit of bytes for any numbers.
_MOST_NUMBERS = 2**22


def read_json(stream: BinaryIO) -> PDFA | WFA | DFA:
    """Read a PDFA, a PFA, a WFA or a DFA from JSON, whichever the text says."""
    document = read_document(stream)
    if document.get("format") == "dfa":
        return _dfa_of_document(document)
    if document.get("format") not in ("pfa", "wfa"):
        return pdfa_of_document(document)
    check_keys(document, {*_HEADER, *_ARRAYS}, "it")
    return _make_wfa(document, {name: document[name] for name in _ARRAYS})


def read_npz(stream: BinaryIO) -> PDFA | WFA:
    """Read a PDFA, a PFA or a WFA from a NumPy archive, whichever its arrays are of."""
    arrays = read_arrays(stream, DTYPES, _MEMBERS)
    if "matrices.npy" not in arrays:
        return pdfa_of(arrays)
    document = check_keys(parse_document(arrays["header.npy"].tobytes()), _HEADER, "its header")
    given = {name: arrays[f"{name}.npy"] for name in _ARRAYS}
    # In the file the matrices are one below the other.
    states = len(given["initial"])
    if states and given["matrices"].shape[1:] == (states,) and not len(given["matrices"]) % states:
        given["matrices"] = given["matrices"].reshape(-1, states, states)
    return _make_wfa(document, given)


def _make_wfa(document: dict[str, Any], arrays: dict[str, Any]) -> WFA:
    from pdfalearn.models import PFA, WFA

    kind = PFA if document["format"] == "pfa" else WFA
    check_kind(document, "pfa" if kind is PFA else "wfa")
    return kind(read_alphabet(document), **arrays)


def _write_npz(wfa: WFA, stream: BinaryIO) -> None:
    header = np.frombuffer(_header(wfa), np.uint8)
    arrays = {name: getattr(wfa, name).astype("<f8", copy=False) for name in _ARRAYS}
    arrays["matrices"] = arrays["matrices"].reshape(-1, len(wfa))
    members = {f"{name}.npy": array for name, array in arrays.items()}
    write_archive(stream, {"header.npy": header, **members})


def _text(wfa: WFA) -> bytes:
    if wfa.matrices.size > _MOST_NUMBERS:
        raise InputError(f"{wfa.matrices.size:,} numbers are too many for JSON; save as .npz")
    written = _header(wfa).removesuffix(b"}")
    for name in _ARRAYS:
        numbers = json.dumps(getattr(wfa, name).tolist(), separators=(",", ":"))
        # One row of numbers a line.
        written += f',\n"{name}":{numbers}'.replace("],[", "],\n[").encode()
    return written + b"}\n"


def _header(wfa: WFA) -> bytes:
    from pdfalearn.models import PFA

    return header_text("pfa" if isinstance(wfa, PFA) else "wfa", wfa.alphabet)


# What writes a WFA or a PFA, by the endings of files.
WFA_WRITERS: dict[str, Callable[[Any, BinaryIO], None]] = {
    **text_writers(_text),
    ".npz": _write_npz,
}


def _dfa_of_document(document: dict[str, Any]) -> DFA:
    """Make a DFA of the object of a JSON file."""
    from pdfalearn.languages import DFA

    alphabet, initial = parse_header(document, ("transitions", "accepting"), "dfa")
    accepting = document["accepting"]
    if not isinstance(accepting, list) or not all(type(one) is bool for one in accepting):
        raise FileFormatError("accepting is not a list of true and false, one for each state")
    transitions = parse_table(document, "transitions", len(alphabet), np.int64)
    return DFA(alphabet=alphabet, transitions=transitions, accepting=accepting, initial=initial)


def _dfa_text(dfa: DFA) -> bytes:
    more = {"accepting": dfa.accepting.tolist()}
    return automaton_text("dfa", dfa, ("transitions",), more, remedy="")


# What writes a DFA, by the endings of files.
DFA_WRITERS = text_writers(_dfa_text)
