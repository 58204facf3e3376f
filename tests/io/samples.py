"""PDFA that are hard on files, and bytes that are not quite files."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st

from pdfalearn import PDFA, load, save
from pdfalearn.errors import FileFormatError

ENDINGS = [".json", ".json.gz", ".npz"]

SMALL = PDFA(
    alphabet=["a", 'b"', 7],
    transitions=[[1, 0, -1], [1, 1, 0]],
    probabilities=[[0.1, 0.2, 0.7, 0], [0.25, 0.25, 0.25, 0.25]],
    initial=1,
)


def bytes_of(pdfa: PDFA, ending: str, folder: Path) -> bytes:
    """What ``save`` writes."""
    path = folder / f"bytes_of{ending}"
    save(pdfa, path)
    return path.read_bytes()


def load_bytes(data: bytes, ending: str, folder: Path) -> PDFA:
    """Load a file that holds these bytes."""
    path = folder / f"load_bytes{ending}"
    path.write_bytes(data)
    pdfa = load(path)
    assert isinstance(pdfa, PDFA)
    return pdfa


def complaint_about(data: bytes, ending: str, folder: Path) -> str:
    """What the one-line error says of a file with these bytes, its name left out."""
    with pytest.raises(FileFormatError) as caught:
        load_bytes(data, ending, folder)
    message = str(caught.value)
    name = f"{folder / 'load_bytes'}{ending}: "
    assert message.startswith(name)
    assert message.isprintable()
    assert len(message) < len(name) + 700
    return message.removeprefix(name)


def members_of(pdfa: PDFA, folder: Path) -> dict[str, bytes]:
    """The members of the archive that ``save`` writes."""
    with zipfile.ZipFile(io.BytesIO(bytes_of(pdfa, ".npz", folder))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(members: Iterable[tuple[str, bytes]], method: int = zipfile.ZIP_STORED) -> bytes:
    """An archive of these members."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return stream.getvalue()


def symbols() -> st.SearchStrategy[str | int]:
    """Strings of all that Unicode has, lone surrogates too, and integers of 64 bits."""
    characters = st.characters(exclude_categories=())
    odd = st.sampled_from(["", '"', "\\", "\n", "\0", "\ud800", "\udc00x", "😀", "</", "\u2028"])
    strings = st.text(characters, max_size=3).filter(is_in_json)
    return st.one_of(odd, strings, st.integers(-(2**63), 2**63 - 1))


def is_in_json(text: str) -> bool:
    """Whether no two surrogates of a string are the one character that UTF-16 takes them for."""
    units = text.encode("utf-16-le", "surrogatepass")
    return units.decode("utf-16-le", "surrogatepass") == text


@st.composite
def odd_pdfas(draw: st.DrawFn) -> PDFA:
    """A small PDFA of odd symbols and of probabilities that use every bit of a float."""
    *alphabet, terminal = draw(st.lists(symbols(), min_size=2, max_size=4, unique=True))
    states = draw(st.integers(1, 4))
    weights = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 5e-324, 1e-300, 0.1, 1.0]))
    size = states * (len(alphabet) + 1)
    table = np.array(draw(st.lists(weights, min_size=size, max_size=size))).reshape(states, -1)
    table[:, 0] += table.sum(axis=1) == 0
    rows = table / table.max(axis=1, keepdims=True)
    rows /= rows.sum(axis=1, keepdims=True)
    size = states * len(alphabet)
    successors = st.integers(0, states - 1)
    cells = draw(st.lists(successors, min_size=size, max_size=size))
    transitions = np.array(cells).reshape(states, -1)
    if draw(st.booleans()):
        transitions[rows[:, 1:] == 0] = -1
    return PDFA(
        alphabet=alphabet,
        transitions=transitions,
        probabilities=rows,
        initial=draw(successors),
        terminal=terminal,
    )
