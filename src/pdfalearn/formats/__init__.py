"""Files of PDFA: JSON, NumPy archives, Graphviz drawings, and the formats of other programs."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, BinaryIO

from pdfalearn.errors import InputError
from pdfalearn.files import named
from pdfalearn.formats import (
    arpa,
    dot_text,
    drn,
    json_file,
    markov_chain,
    npz_file,
    openfst,
    pautomac,
    pautomac_writing,
    prism,
    pythautomata,
    zip_file,
)
from pdfalearn.formats.graphviz import check_can_draw, picture_writers
from pdfalearn.pdfa import PDFA, pdfa_remedy
from pdfalearn.registry import kinds, offered_for, shown
from pdfalearn.text import described

__all__ = ["check_can_save", "load", "load_pdfa", "save"]

_READERS: dict[str, Callable[[BinaryIO], Any]] = {
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
    ".dot": dot_text.read,
    zip_file.ENDING: zip_file.read,
}

_PAGES: dict[str, Callable[[Any, BinaryIO], None]] = {
    ".html": lambda thing, stream: shown("page", thing).write(stream)
}

_WRITERS: dict[str, Callable[[PDFA, BinaryIO], None]] = {
    ".json": json_file.write,
    ".json.gz": json_file.write_gzipped,
    ".npz": npz_file.write,
    ".mc.dot": markov_chain.write,
    ".dot": dot_text.write,
    ".pm": prism.write,
    ".drn": drn.write,
    ".att": openfst.write,
    ".syms": openfst.write_symbols,
    ".pautomac": pautomac_writing.write,
    ".pautomac_model.txt": pautomac_writing.write,
    **picture_writers(lambda pdfa, kind: shown("picture", pdfa).rendered(kind)),
    **_PAGES,
}


def save(thing: object, path: str | os.PathLike[str]) -> None:
    """Write a PDFA, a whole run, a frontier or a classification tree to a file.

    The ending of its name says the format. A crash leaves the old file or the new one, never half
    of one.

    Parameters
    ----------
    thing : PDFA, Result, Frontier or TreeNode
        What to write. In files to be loaded again symbols are strings or integers.
    path : str or os.PathLike
        For a PDFA ``.json`` and ``.json.gz`` (to read, to share), ``.npz`` (for large automata), or
        a drawing: ``.dot``, and with Graphviz ``.svg``, ``.png`` and ``.pdf`` as `draw` makes them
        by default, or an interactive page: ``.html`` (see `view`). For other programs
        ``.pm`` (PRISM), ``.drn`` (Storm), ``.att`` and ``.syms`` (OpenFst), ``.mc.dot`` (AALpy),
        ``.pautomac`` and ``.pautomac_model.txt``. For a `Result` or a `Frontier` ``.zip``. For a
        tree what `save_tree` writes.

    Raises
    ------
    InputError
        If the ending is unknown, or what is to be saved does not fit the format.
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
    if isinstance(thing, PDFA):
        _check_is_no_archive(path)
        named.write(thing, path, _WRITERS)
        return
    if _is_page(path, type(thing)):
        named.write(thing, path, _PAGES)
        return
    save_other = offered_for("save", type(thing))
    if save_other is None:
        kinds_saved = ", ".join(["PDFA", *kinds("save")])
        raise InputError(
            f"{described(thing)} cannot be saved; what can: {kinds_saved}; {pdfa_remedy(thing)}"
        )
    save_other(thing, path)


def check_can_save(path: str | os.PathLike[str], kind: type = PDFA) -> None:
    """Raise now what `save` would raise later, before a long computation rather than after it.

    Parameters
    ----------
    path : str or os.PathLike
        Where something is to be saved. What is there is left as it is.
    kind : type
        What is to be saved: `PDFA`, `Result`, `Frontier` or `TreeNode`.

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
    check_other = offered_for("check_can_save", kind)
    if check_other is not None and not _is_page(path, kind):
        check_other(path)
        return
    _check_is_no_archive(path)
    named.check_can_write(path, _WRITERS)
    check_can_draw(path)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a PDFA, a run or a frontier from a file, in the format that its name's ending says.

    What was saved and is loaded again is equal, to the last bit of every probability; only
    PAutomaC's files round.

    Parameters
    ----------
    path : str or os.PathLike
        A file that `save` has written: ``.json``, ``.json.gz``, ``.npz`` or ``.dot`` for a PDFA,
        ``.zip`` for a `Result` or a `Frontier`. Or one of another program: an n-gram model
        (``.arpa``, ``.arpa.gz``; `read_arpa` says more of it), a deterministic model of PAutomaC
        (``.pautomac_model.txt``, ``.pautomac``) or a PDFA of pythautomata (``.pickle``, ``.pkl``,
        ``.joblib``, or the text inside as ``.pythautomata``; nothing is unpickled).

    Returns
    -------
    PDFA, Result or Frontier
        For ``.zip`` a `Result` or a `Frontier`, whichever was saved; else a PDFA.

    Raises
    ------
    InputError
        If the ending is not one of these.
    FileFormatError
        If the file does not hold what its ending says; the message names the file and the culprit.

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


def load_pdfa(path: str | os.PathLike[str]) -> PDFA:
    """Read a PDFA from a file that `load` reads; of a run its automaton, of a frontier the best.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> pdfa = PDFA(alphabet="a", transitions=[[0]], probabilities=[[0.1, 0.9]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(pdfa, pathlib.Path(folder, "small.npz"))
    ...     load_pdfa(pathlib.Path(folder, "small.npz"))
    PDFA(1 state, alphabet=('a',), initial=0)
    """
    loaded = load(path)
    pdfa: PDFA = loaded if isinstance(loaded, PDFA) else shown("pdfa", loaded)
    return pdfa


def _is_page(path: str | os.PathLike[str], kind: type) -> bool:
    """Return whether a file's name asks for a page, and things of a class have one."""
    asks = named.checked_name(path).lower().endswith(tuple(_PAGES))
    return asks and offered_for("page", kind) is not None


def _check_is_no_archive(path: str | os.PathLike[str]) -> None:
    """Refuse the ending of other things than automata."""
    name = named.checked_name(path)
    if name.lower().endswith(zip_file.ENDING):
        raise InputError(
            f"{named.shown(name)}: a file in {zip_file.ENDING} holds a whole run or a frontier, "
            f"save(result, …) or save(frontier, …); a PDFA is saved as {', '.join(_WRITERS)}"
        )
