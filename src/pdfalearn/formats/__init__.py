"""Files of PDFA: JSON, NumPy archives, Graphviz drawings, and the formats of other programs."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import BinaryIO

from pdfalearn.errors import InputError
from pdfalearn.files import named
from pdfalearn.formats import arpa, dot, json_file, npz_file, pautomac, pythautomata
from pdfalearn.formats._graphviz import check_can_draw, picture_writers
from pdfalearn.pdfa import PDFA, checked_pdfa
from pdfalearn.tree_nodes import TreeNode

__all__ = ["check_can_save", "load", "save"]

_READERS: dict[str, Callable[[BinaryIO], PDFA]] = {
    ".json": json_file.read,
    ".json.gz": json_file.read_gzipped,
    ".npz": npz_file.read,
    ".arpa": lambda stream: arpa.read(stream).pdfa,
    ".arpa.gz": lambda stream: arpa.read_gzipped(stream).pdfa,
    ".pautomac": pautomac.read,
    ".pautomac_model.txt": pautomac.read,
    ".pythautomata": pythautomata.read,
    ".pickle": pythautomata.read,
    ".pkl": pythautomata.read,
    ".joblib": pythautomata.read,
}

_WRITERS: dict[str, Callable[[PDFA, BinaryIO], None]] = {
    ".json": json_file.write,
    ".json.gz": json_file.write_gzipped,
    ".npz": npz_file.write,
    ".dot": dot.write,
    **picture_writers(dot.render),
}


def save(pdfa: PDFA, path: str | os.PathLike[str]) -> None:
    """Write a PDFA to a file, in the format that the ending of its name says.

    A crash leaves the old file or the new one, never half of one.

    Parameters
    ----------
    pdfa : PDFA
        The automaton. In files to be loaded again its symbols are strings or integers.
    path : str or os.PathLike
        ``.json`` and ``.json.gz`` (to read, to share), ``.npz`` (for large automata), or a
        drawing: ``.dot``, and with Graphviz ``.svg``, ``.png`` and ``.pdf``.

    Raises
    ------
    InputError
        If the ending is unknown, or the automaton does not fit the format.
    MissingExtraError
        If a drawing needs Graphviz and it is not installed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> pdfa = PDFA(alphabet="a", transitions=[[0]], probabilities=[[0.5, 0.5]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(pdfa, pathlib.Path(folder, "small.json"))
    ...     print(pathlib.Path(folder, "small.json").read_text(), end="")
    {"format":"pdfa","version":1,"alphabet":["a"],"terminal":"$","initial":0,
    "transitions":[
    [0]],
    "probabilities":[
    [0.5,0.5]]}
    """
    if isinstance(pdfa, TreeNode):
        raise InputError(f"pdfa is {pdfa!r}, not a PDFA; save_tree(tree, path) writes trees")
    named.write(checked_pdfa(pdfa, "pdfa"), path, _WRITERS)


def check_can_save(path: str | os.PathLike[str]) -> None:
    """Raise now what `save` would raise later, before a long computation rather than after it.

    Parameters
    ----------
    path : str or os.PathLike
        Where a PDFA is to be saved. What is there is left as it is.

    Raises
    ------
    InputError
        If the ending is unknown.
    MissingExtraError
        If a drawing needs Graphviz and it is not installed.
    OSError
        If there is no such folder, or nothing can be written there.

    Examples
    --------
    >>> check_can_save("nowhere/learnt.json")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'nowhere/learnt.json'
    """
    named.check_can_write(path, _WRITERS)
    check_can_draw(path)


def load(path: str | os.PathLike[str]) -> PDFA:
    """Read a PDFA from a file, in the format that the ending of its name says.

    What was saved and is loaded again is equal, to the last bit of every probability.

    Parameters
    ----------
    path : str or os.PathLike
        A file that `save` has written: ``.json``, ``.json.gz`` or ``.npz``. Or one of another
        program: an n-gram model (``.arpa``, ``.arpa.gz``; `read_arpa` says more of it), a
        deterministic model of PAutomaC (``.pautomac_model.txt``, ``.pautomac``) or a PDFA of
        pythautomata (``.pickle``, ``.pkl``, ``.joblib``, or the text inside as
        ``.pythautomata``; nothing is unpickled).

    Raises
    ------
    InputError
        If the ending is not one of these.
    FileFormatError
        If the file does not hold a PDFA; the message names the file and the culprit.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> pdfa = PDFA(alphabet="a", transitions=[[0]], probabilities=[[0.1, 0.9]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(pdfa, pathlib.Path(folder, "small.npz"))
    ...     load(pathlib.Path(folder, "small.npz")) == pdfa
    True
    """
    return named.read(path, _READERS)
