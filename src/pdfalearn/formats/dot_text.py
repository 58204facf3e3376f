"""Drawings that can be loaded again: the whole PDFA stands in comments below the drawing.

A drawing rounds probabilities and leaves out symbols, so nothing is read from it. It is only
checked that the PDFA in the comments is the one that is drawn: a file that was edited is refused.
"""

from __future__ import annotations

import io
from typing import BinaryIO

from pdfalearn.errors import FileFormatError
from pdfalearn.formats import json_file
from pdfalearn.formats._lines import read_bytes
from pdfalearn.formats.dot import to_dot
from pdfalearn.formats.file_symbols import can_be_in_file
from pdfalearn.pdfa import PDFA

_COMMENT = b"//| "


def write(pdfa: PDFA, stream: BinaryIO) -> None:
    """Write a drawing in the DOT language, and the PDFA below it if files can hold its symbols."""
    stream.write(to_dot(pdfa).encode())
    if all(map(can_be_in_file, (*pdfa.alphabet, pdfa.terminal))):
        stream.write(_comments(pdfa))


def read(stream: BinaryIO) -> PDFA:
    """Read the PDFA below a drawing, equal to the last bit to the one that was saved."""
    data = read_bytes(stream).replace(b"\r\n", b"\n")
    lines = [line for line in data.split(b"\n") if line.startswith(_COMMENT)]
    if not lines:
        raise FileFormatError(
            "a drawing without the automaton below it: of another program or an older pdfalearn, "
            "for another program, or of odd symbols; keep a .json beside it"
        )
    text = b"\n".join(line.removeprefix(_COMMENT) for line in lines)
    pdfa = json_file.read(io.BytesIO(text))
    if to_dot(pdfa).encode() + _comments(pdfa) != data:
        raise FileFormatError(
            "the drawing and the automaton below it are not the same: the file was edited; "
            "save the automaton again, or edit a .json"
        )
    return pdfa


def _comments(pdfa: PDFA) -> bytes:
    text = io.BytesIO()
    json_file.write(pdfa, text)
    lines = text.getvalue().splitlines()
    return b"".join(_COMMENT + line + b"\n" for line in lines)
