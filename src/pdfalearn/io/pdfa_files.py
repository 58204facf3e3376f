"""Files of PDFA: JSON texts, plain or gzipped, and NumPy archives, with one header."""

from __future__ import annotations

import json
import reprlib
import zlib
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet, Symbol
from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.files import (
    check_kind,
    check_sizes,
    open_archive,
    parse_json,
    read_all,
    read_array,
    write_archive,
)
from pdfalearn.pdfa import PDFA

if TYPE_CHECKING:
    from pdfalearn.languages import DFA


def check_symbols(symbols: Iterable[Symbol]) -> None:
    """Name the symbol that files cannot hold."""
    for symbol in symbols:
        if not can_be_in_file(symbol):
            raise InputError(
                f"symbol {symbol_shown(symbol)} cannot be in a file: only strings of Unicode and "
                "integers of 64 bits can; make the PDFA with such symbols first"
            )


def can_be_in_file(symbol: Symbol) -> bool:
    """Return whether a file gives the symbol back as it is."""
    if isinstance(symbol, str):
        # JSON cannot tell a character from the two surrogates that UTF-16 writes it with.
        return symbol.isascii() or json.loads(json.dumps(symbol)) == symbol
    return isinstance(symbol, int) and not isinstance(symbol, bool) and -(2**63) <= symbol < 2**63


def symbol_shown(symbol: Symbol) -> str:
    """Return a symbol as an error shows it, however large it is."""
    if isinstance(symbol, int) and symbol.bit_length() > 64:
        return f"(an integer of {symbol.bit_length()} bits)"
    return reprlib.repr(symbol)


def header_text(kind: str, alphabet: Alphabet, **others: Any) -> bytes:
    """Write the header of an automaton as a JSON object."""
    check_symbols((*alphabet, alphabet.terminal))
    header = {
        "format": kind,
        "version": 1,
        "alphabet": alphabet.symbols,
        "terminal": alphabet.terminal,
        **others,
    }
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":"))
    # Lone surrogates, which UTF-8 does not have, become \udxxx, and that is their form in JSON.
    return text.encode("utf-8", "backslashreplace")


def parse_document(data: bytes) -> dict[str, Any]:
    """Read a JSON object."""
    if not data:
        raise FileFormatError("empty, not a PDFA; save or fetch it again")
    return parse_json(data, "it")


def parse_header(
    document: dict[str, Any], other_keys: Iterable[str] = (), kind: str = "pdfa"
) -> tuple[Alphabet, int]:
    """Check an object that has a header and ``other_keys``, and no more; return the header."""
    check_kind(document, kind)
    expected = {"format", "version", "alphabet", "terminal", "initial", *other_keys}
    for key in sorted(expected - document.keys()):
        raise FileFormatError(f"key {key!r} is missing; a {kind.upper()} needs {sorted(expected)}")
    for key in document.keys() - expected - ({WATCHING} if kind == "pdfa" else set()):
        raise FileFormatError(
            f"unknown key {reprlib.repr(key)}; a {kind.upper()} has {sorted(expected)}"
        )
    if type(initial := document["initial"]) is not int:
        raise FileFormatError(f"initial state {reprlib.repr(initial)} is not an integer")
    return read_alphabet(document), initial


def read_alphabet(document: dict[str, Any]) -> Alphabet:
    """Make the alphabet of a header."""
    symbols, terminal = document["alphabet"], document["terminal"]
    if not isinstance(symbols, list):
        raise FileFormatError(f"alphabet {reprlib.repr(symbols)} is not a list of symbols")
    for symbol in (*symbols, terminal):
        if not can_be_in_file(symbol):
            raise FileFormatError(
                f"symbol {symbol_shown(symbol)} is neither a string nor an integer of 64 bits"
            )
    return Alphabet(symbols, terminal)


TEXT_LIMIT = 128 * 2**20
"""The most bytes of JSON text, before compression, that are written or read."""

PARTS_LIMIT = 5_000_000
"""The most lists, objects and strings in a JSON text: Python needs many times the memory that their
brackets and quotes take. What looks so in symbols counts, too."""

# Tables are written in parts of this many numbers, as Python's numbers take more memory.
_NUMBERS_AT_ONCE = 2**20

WATCHING = "watching"
"""The key of what is saved with a PDFA to watch with it; whoever only needs the PDFA ignores it."""


def text_writers(
    make_text: Callable[[Any], bytes],
) -> dict[str, Callable[[Any, BinaryIO], None]]:
    """Make what writes the JSON text of a thing, plain and gzipped, by the endings of files.

    The same thing gives the same bytes, whenever it is written.
    """

    def write(thing: Any, stream: BinaryIO) -> None:
        stream.write(make_text(thing))

    def write_gzipped(thing: Any, stream: BinaryIO) -> None:
        stream.write(zlib.compress(make_text(thing), wbits=31))  # 31: gzip, without name or time

    return {".json": write, ".json.gz": write_gzipped}


def read_json(stream: BinaryIO) -> PDFA:
    """Read a PDFA from JSON."""
    return pdfa_of_document(read_document(stream))


def read_document(stream: BinaryIO) -> dict[str, Any]:
    """Read the object of a JSON file, if it is not too large."""
    text = read_all(stream, TEXT_LIMIT, "JSON text; large PDFA go into .npz files")
    if _count_parts(text) > PARTS_LIMIT:
        raise FileFormatError(
            f"more than {PARTS_LIMIT:,} lists, objects and strings; another kind of file under "
            "this ending? Large PDFA go into .npz files"
        )
    return parse_document(text)


def pdfa_of_document(document: dict[str, Any]) -> PDFA:
    """Make a PDFA of the object of a JSON file."""
    alphabet, initial = parse_header(document, ("transitions", "probabilities"))
    columns = len(alphabet)
    return PDFA(
        alphabet=alphabet,
        transitions=parse_table(document, "transitions", columns, np.int64),
        probabilities=parse_table(document, "probabilities", columns + 1, np.float64),
        initial=initial,
    )


def pdfa_text(pdfa: PDFA, **more: Any) -> bytes:
    """Write a PDFA as JSON, with more in its header."""
    return automaton_text("pdfa", pdfa, ("transitions", "probabilities"), more)


def automaton_text(
    kind: str,
    automaton: PDFA | DFA,
    tables: Iterable[str],
    more: Mapping[str, Any],
    remedy: str = "; save as .npz",
) -> bytes:
    """Write an automaton as JSON: its header with more in it, then tables, one row a line."""
    size = f"{len(automaton)} states and {len(automaton.alphabet)} symbols"
    too_large = InputError(f"{size} are too much for JSON text{remedy}")
    if 2 * len(automaton) > PARTS_LIMIT:
        raise too_large
    header = header_text(kind, automaton.alphabet, initial=automaton.initial, **more)
    written = bytearray(header.removesuffix(b"}"))
    for name in tables:
        table: NDArray[Any] = getattr(automaton, name)
        written += f',\n"{name}":['.encode()
        rows = max(1, _NUMBERS_AT_ONCE // table.shape[1])
        for begin in range(0, len(table), rows):
            part = json.dumps(table[begin : begin + rows].tolist(), separators=(",", ":"))
            written += (",\n" if begin else "\n").encode()
            written += part[1:-1].replace("],[", "],\n[").encode()
            if len(written) + 3 > TEXT_LIMIT:  # the end has three more bytes
                raise too_large
        written += b"]"
    written += b"}\n"
    if _count_parts(written) > PARTS_LIMIT:
        raise too_large
    return bytes(written)


def _count_parts(text: bytes | bytearray) -> int:
    return text.count(b"[") + text.count(b"{") + text.count(b'"') // 2


def parse_table(
    document: dict[str, Any], name: str, columns: int, dtype: type[np.number[Any]]
) -> NDArray[Any]:
    """Read a table with a row of numbers for each state."""
    rows = document[name]
    if not isinstance(rows, list):
        raise FileFormatError(f"{name} {reprlib.repr(rows)} are not a list of rows")
    for state, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != columns:
            raise FileFormatError(
                f"{name} of state {state}: {reprlib.repr(row)} is not a list of {columns} numbers"
            )
    # All at once if all is well, which it nearly always is; else the first culprit is named.
    kinds: set[type] = {int} if dtype is np.int64 else {int, float}
    with suppress(OverflowError):
        if kinds.issuperset(map(type, chain.from_iterable(rows))):
            flat = np.fromiter(chain.from_iterable(rows), dtype, len(rows) * columns)
            return flat.reshape(len(rows), columns)
    state, column, value = next(
        (state, column, value)
        for state, row in enumerate(rows)
        for column, value in enumerate(row)
        if type(value) not in kinds or not -(2**63) <= value < 2**63
    )
    what = "a probability" if float in kinds else "a state's number"
    raise FileFormatError(
        f"{name} of state {state}, entry {column}: {reprlib.repr(value)} is not {what}"
    )


DTYPES = {"header.npy": ("|u1",), "transitions.npy": ("<i4",), "probabilities.npy": ("<f8",)}
"""The arrays that a PDFA is made of, and their types in a file."""


def write_npz(pdfa: PDFA, stream: BinaryIO) -> None:
    """Write a PDFA as a NumPy archive."""
    write_archive(stream, arrays_of_pdfa(pdfa))


def read_arrays(stream: BinaryIO, *kinds: Mapping[str, Collection[str]]) -> dict[str, NDArray[Any]]:
    """Read the arrays of a NumPy archive that is of one of these kinds; nothing is unpickled."""
    with open_archive(stream) as archive:
        names = archive.namelist()
        kind = next((kind for kind in kinds if sorted(names) == sorted(kind)), None)
        if kind is None:
            raise FileFormatError(f"holds {names[:8]}, not the arrays {[*kinds[0]]} of a PDFA")
        check_sizes(archive, stream)
        return {name: read_array(archive, name, kind[name]) for name in kind}


def arrays_of_pdfa(pdfa: PDFA) -> dict[str, NDArray[Any]]:
    """Return the arrays that a PDFA is made of, by the names of files."""
    return {
        "header.npy": np.frombuffer(
            header_text("pdfa", pdfa.alphabet, initial=pdfa.initial), np.uint8
        ),
        "transitions.npy": pdfa.transitions.astype("<i4", copy=False),
        "probabilities.npy": pdfa.probabilities.astype("<f8", copy=False),
    }


def pdfa_of(arrays: Mapping[str, NDArray[Any]]) -> PDFA:
    """Make a PDFA of its arrays, or say what is wrong with them."""
    alphabet, initial = parse_header(parse_document(arrays["header.npy"].tobytes()))
    return PDFA(
        alphabet=alphabet,
        transitions=arrays["transitions.npy"],
        probabilities=arrays["probabilities.npy"],
        initial=initial,
    )
