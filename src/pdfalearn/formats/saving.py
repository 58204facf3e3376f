"""Save and load automata, runs, frontiers and trees: which format and which kind is whose."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, BinaryIO

from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.files import (
    check_can_write,
    check_name,
    open_archive,
    read_named,
    show_name,
    write_named,
)
from pdfalearn.formats import arpa, pythautomata
from pdfalearn.formats._run_texts import NAME as RUN_NAME
from pdfalearn.formats.dot import check_can_draw, picture_writers, read_dot, write_dot
from pdfalearn.formats.frontier_files import NAME as FRONTIER_NAME
from pdfalearn.formats.frontier_files import check_can_save_frontier, save_frontier
from pdfalearn.formats.frontier_files import read as read_frontier
from pdfalearn.formats.other_programs import (
    write_drn,
    write_markov_chain,
    write_openfst,
    write_prism,
    write_symbols,
)
from pdfalearn.formats.pautomac import read_pautomac, write_pautomac
from pdfalearn.formats.pdfa_files import (
    read_gzipped_json,
    read_json,
    read_npz,
    write_gzipped_json,
    write_json,
    write_npz,
)
from pdfalearn.formats.run_files import check_can_save_run, save_run
from pdfalearn.formats.run_files import read as read_run
from pdfalearn.formats.tree_files import check_can_save_tree, save_tree
from pdfalearn.pdfa import PDFA, pdfa_remedy
from pdfalearn.results import Frontier, Result, TreeNode
from pdfalearn.text import described

_ARCHIVE = ".zip"
_ARCHIVED: dict[str, Callable[[BinaryIO], Any]] = {RUN_NAME: read_run, FRONTIER_NAME: read_frontier}
"""What reads an archive, by the name of the text in it."""


def _read_archive(stream: BinaryIO) -> Any:
    """Read a run or a frontier, whichever the text in the archive tells of."""
    with open_archive(stream) as archive:
        names = archive.namelist()
    for text, read in _ARCHIVED.items():
        if text in names:
            return read(stream)
    things = " or ".join(f"a {text.partition('.')[0]}" for text in _ARCHIVED)
    raise FileFormatError(
        f"holds {names[:8]}, and no {' or '.join(_ARCHIVED)}: not {things} that was saved"
    )


def _write_page(thing: Any, stream: BinaryIO) -> None:
    from pdfalearn.viewing import view

    view(thing).write(stream)


def _draw(pdfa: PDFA, kind: str) -> bytes:
    from pdfalearn.viewing import default_picture

    return default_picture(pdfa).rendered(kind)


_READERS: dict[str, Callable[[BinaryIO], Any]] = {
    ".json": read_json,
    ".json.gz": read_gzipped_json,
    ".npz": read_npz,
    ".arpa": lambda stream: arpa.read(stream).pdfa,
    ".arpa.gz": lambda stream: arpa.read_gzipped(stream).pdfa,
    ".pautomac": read_pautomac,
    ".pautomac_model.txt": read_pautomac,
    ".pythautomata": pythautomata.read,
    ".pickle": pythautomata.read,
    ".pkl": pythautomata.read,
    ".joblib": pythautomata.read,
    ".dot": read_dot,
    _ARCHIVE: _read_archive,
}

_PAGE = ".html"
_HAVE_PAGES = (PDFA, Result, Frontier)

_WRITERS: dict[str, Callable[[PDFA, BinaryIO], None]] = {
    ".json": write_json,
    ".json.gz": write_gzipped_json,
    ".npz": write_npz,
    ".mc.dot": write_markov_chain,
    ".dot": write_dot,
    ".pm": write_prism,
    ".drn": write_drn,
    ".att": write_openfst,
    ".syms": write_symbols,
    ".pautomac": write_pautomac,
    ".pautomac_model.txt": write_pautomac,
    **picture_writers(_draw),
    _PAGE: _write_page,
}

_Path = str | os.PathLike[str]
_SAVERS: dict[type, tuple[Callable[[Any, _Path], None], Callable[[_Path], None]]] = {
    TreeNode: (save_tree, check_can_save_tree),
    Result: (save_run, check_can_save_run),
    Frontier: (save_frontier, check_can_save_frontier),
}
"""What saves the things of a class, and what checks that they can be saved."""


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
        write_named(thing, path, _WRITERS)
        return
    if _is_page(path, type(thing)):
        write_named(thing, path, {_PAGE: _write_page})
        return
    for kind, (save_other, _) in _SAVERS.items():
        if isinstance(thing, kind):
            save_other(thing, path)
            return
    kinds = ", ".join(["PDFA", *(kind.__name__ for kind in _SAVERS)])
    raise InputError(f"{described(thing)} cannot be saved; what can: {kinds}; {pdfa_remedy(thing)}")


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
    for other, (_, check_other) in _SAVERS.items():
        if issubclass(kind, other) and not _is_page(path, kind):
            check_other(path)
            return
    _check_is_no_archive(path)
    check_can_write(path, _WRITERS)
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
    return read_named(path, _READERS)


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
    if isinstance(loaded, Result):
        return loaded.pdfa
    pdfa: PDFA = loaded.best if isinstance(loaded, Frontier) else loaded
    return pdfa


def _is_page(path: str | os.PathLike[str], kind: type) -> bool:
    """Return whether a file's name asks for a page, and things of a class have one."""
    return check_name(path).lower().endswith(_PAGE) and issubclass(kind, _HAVE_PAGES)


def _check_is_no_archive(path: str | os.PathLike[str]) -> None:
    """Refuse the ending of other things than automata."""
    name = check_name(path)
    if name.lower().endswith(_ARCHIVE):
        raise InputError(
            f"{show_name(name)}: a file in {_ARCHIVE} holds a whole run or a frontier, "
            f"save(result, …) or save(frontier, …); a PDFA is saved as {', '.join(_WRITERS)}"
        )
