"""Files of DFA: JSON texts like those of PDFA, with what is accepted instead of probabilities."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from pdfalearn.errors import FileFormatError
from pdfalearn.io.pdfa_files import automaton_text, parse_header, read_table

if TYPE_CHECKING:
    from pdfalearn.languages import DFA


def dfa_of_document(document: dict[str, Any]) -> DFA:
    """Make a DFA of the object of a JSON file."""
    from pdfalearn.languages import DFA

    alphabet, initial = parse_header(document, ("transitions", "accepting"), "dfa")
    accepting = document["accepting"]
    if not isinstance(accepting, list) or not all(type(one) is bool for one in accepting):
        raise FileFormatError("accepting is not a list of true and false, one for each state")
    transitions = read_table(document, "transitions", len(alphabet), np.int64)
    return DFA(alphabet=alphabet, transitions=transitions, accepting=accepting, initial=initial)


def _write_json(dfa: DFA, stream: BinaryIO) -> None:
    more = {"accepting": dfa.accepting.tolist()}
    stream.write(automaton_text("dfa", dfa, ("transitions",), more, remedy=""))


def _write_gzipped_json(dfa: DFA, stream: BinaryIO) -> None:
    text = io.BytesIO()
    _write_json(dfa, text)
    stream.write(zlib.compress(text.getvalue(), wbits=31))  # 31: gzip, without name or time


# What writes a DFA, by the endings of files.
DFA_WRITERS: dict[str, Callable[[Any, BinaryIO], None]] = {
    ".json": _write_json,
    ".json.gz": _write_gzipped_json,
}
