"""Save and load automata, runs, frontiers and trees: which format and which kind is whose."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.files import (
    check_can_write,
    check_name,
    open_archive,
    read_gzipped,
    read_named,
    show_name,
    write_named,
)
from pdfalearn.io import other_programs, pdfa_files
from pdfalearn.io._archive_kinds import ArchiveKind
from pdfalearn.io.arpa import read_ngram
from pdfalearn.io.dot import check_can_draw, picture_writers, write_dot
from pdfalearn.io.frontier_files import FRONTIER
from pdfalearn.io.pautomac import read_pautomac, write_pautomac
from pdfalearn.io.run_files import RUN
from pdfalearn.io.tree_files import TREE_WRITERS
from pdfalearn.io.wfa_files import DFA_WRITERS, WFA_WRITERS, read_json, read_npz
from pdfalearn.pdfa import PDFA, pdfa_remedy
from pdfalearn.results import Frontier, Result, TreeNode
from pdfalearn.text import described

if TYPE_CHECKING:
    from pdfalearn.models import WFA

_ARCHIVE = ".zip"
_ARCHIVES: list[ArchiveKind[Any]] = [RUN, FRONTIER]


def _read_archive(stream: BinaryIO) -> Any:
    """Read a run or a frontier, whichever the text in the archive tells of."""
    with open_archive(stream) as archive:
        names = archive.namelist()
    for archived in _ARCHIVES:
        if archived.text_name in names:
            return archived.read(stream)
    texts = " or ".join(archived.text_name for archived in _ARCHIVES)
    raise FileFormatError(
        f"holds {names[:8]}, and no {texts}: not a run or a frontier that was saved"
    )


def _write_page(thing: Any, stream: BinaryIO) -> None:
    from pdfalearn.viewing import view

    view(thing).write(stream)


def _draw(pdfa: PDFA, kind: str) -> bytes:
    from pdfalearn.viewing import default_picture

    return default_picture(pdfa).rendered(kind)


def _read_arpa(stream: BinaryIO) -> PDFA:
    return read_ngram(stream).pdfa


_READERS: dict[str, Callable[[BinaryIO], Any]] = {
    ".json": read_json,
    ".json.gz": partial(read_gzipped, read_json),
    ".npz": read_npz,
    ".arpa": _read_arpa,
    ".arpa.gz": partial(read_gzipped, _read_arpa),
    ".pautomac": read_pautomac,
    ".pautomac_model.txt": read_pautomac,
    ".model": read_pautomac,
    ".model.gz": partial(read_gzipped, read_pautomac),
    _ARCHIVE: _read_archive,
}

_PAGE = ".html"

_WRITERS: dict[str, Callable[[PDFA, BinaryIO], None]] = {
    **pdfa_files.text_writers(pdfa_files.pdfa_text),
    ".npz": pdfa_files.write_npz,
    ".mc.dot": other_programs.write_markov_chain,
    ".dot": write_dot,
    ".pm": other_programs.write_prism,
    ".drn": other_programs.write_drn,
    ".att": other_programs.write_openfst,
    ".syms": other_programs.write_symbols,
    ".pautomac": write_pautomac,
    ".pautomac_model.txt": write_pautomac,
    **picture_writers(_draw),
    _PAGE: _write_page,
}

# What writes the things of a class, by the endings of files.
_WRITERS_OF: dict[type, dict[str, Callable[[Any, BinaryIO], None]]] = {
    PDFA: _WRITERS,
    TreeNode: TREE_WRITERS,
    Result: {_ARCHIVE: RUN.write, _PAGE: _write_page},
    Frontier: {_ARCHIVE: FRONTIER.write, _PAGE: _write_page},
}


def save(thing: object, path: str | os.PathLike[str]) -> None:
    """Write an automaton, a whole run, a frontier or a classification tree to a file.

    The ending of its name says the format. A crash leaves the old file or the new one, never half
    of one.

    Parameters
    ----------
    thing : PDFA, PFA, WFA, DFA, Result, Frontier, TreeNode, Exploration or Drift
        What to write. In files to be loaded again symbols are strings or integers.
    path : str or os.PathLike
        For a PDFA ``.json`` and ``.json.gz`` (to read, to share), ``.npz`` (for large automata), or
        a drawing: ``.dot``, and with Graphviz ``.svg``, ``.png`` and ``.pdf`` as `draw` makes them
        by default, or an interactive page: ``.html`` (see `view`). For other programs
        ``.pm`` (PRISM), ``.drn`` (Storm), ``.att`` and ``.syms`` (OpenFst), ``.mc.dot`` (AALpy),
        ``.pautomac`` and ``.pautomac_model.txt``. For a PFA or a WFA the first three of these, for
        a DFA the first two. For a `Result` or a `Frontier` ``.zip``. For a tree a drawing. For an
        `Exploration` or a `Drift` a page alone.

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
    writers = _writers_for(type(thing))
    if writers is None:
        classes = [kind.__name__ for kind in _WRITERS_OF]
        kinds = ", ".join(["PFA", "WFA", "DFA", *classes, "Exploration", "Drift"])
        raise InputError(
            f"{described(thing)} cannot be saved; what can: {kinds}; {pdfa_remedy(thing)}"
        )
    write_named(thing, path, writers)


def check_can_save(path: str | os.PathLike[str], kind: type = PDFA) -> None:
    """Raise now what `save` would raise later, before a long computation rather than after it.

    Parameters
    ----------
    path : str or os.PathLike
        Where something is to be saved. What is there is left as it is.
    kind : type
        What is to be saved: `PDFA`, `PFA`, `WFA`, `DFA`, `Result`, `Frontier` or `TreeNode`.

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
    check_can_write(path, _writers_for(kind) or _WRITERS)
    check_can_draw(path)


def load(path: str | os.PathLike[str]) -> Any:
    """Read an automaton, a run or a frontier from a file, in the format of its name's ending.

    What was saved and is loaded again is equal, to the last bit of every probability; only
    PAutomaC's files round.

    Parameters
    ----------
    path : str or os.PathLike
        A file that `save` has written: ``.json``, ``.json.gz`` or ``.npz`` for a PDFA, a PFA or a
        WFA, the first two for a DFA, ``.zip`` for a `Result` or a `Frontier`. Or one of another
        program: an n-gram model (``.arpa``, ``.arpa.gz``; `read_arpa` says more of it) or a model
        of PAutomaC (``.pautomac_model.txt``, ``.pautomac``, ``.model``, ``.model.gz``).

    Returns
    -------
    PDFA, PFA, WFA, DFA, Result or Frontier
        For ``.zip`` a `Result` or a `Frontier`, whichever was saved; else a PDFA, a PFA or a WFA
        where the automaton is not deterministic, or a DFA where that was saved.

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


def can_load(path: str | os.PathLike[str]) -> bool:
    """Return whether the ending of a name is one that `load` knows."""
    return os.fspath(path).lower().endswith(tuple(_READERS))


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
    loaded = load_model(path)
    if isinstance(loaded, PDFA):
        return loaded
    raise InputError(
        f"{show_name(check_name(path))}: the automaton is not deterministic, and here a PDFA is "
        "needed; learn or distill one from load(path)"
    )


def load_model(path: str | os.PathLike[str]) -> PDFA | WFA:
    """Read an automaton from a file that `load` reads; of a run or a frontier, as `load_pdfa`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> pdfa = PDFA(alphabet="a", transitions=[[0]], probabilities=[[0.1, 0.9]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(pdfa, pathlib.Path(folder, "small.npz"))
    ...     load_model(pathlib.Path(folder, "small.npz")) == pdfa
    True
    """
    loaded = load(path)
    if isinstance(loaded, Result):
        return loaded.pdfa
    model: PDFA | WFA = loaded.best if isinstance(loaded, Frontier) else loaded
    if hasattr(model, "accepting"):
        raise InputError(
            f"{show_name(check_name(path))} holds a DFA, which has no probabilities: it is a "
            "language or a guide, and here a model is needed"
        )
    return model


def _writers_for(kind: type) -> dict[str, Callable[[Any, BinaryIO], None]] | None:
    """Find what writes the things of a class, or of one that it is derived from."""
    for each, writers in _WRITERS_OF.items():
        if issubclass(kind, each):
            return writers
    from pdfalearn.languages import DFA
    from pdfalearn.models import WFA

    if hasattr(kind, "page_parts"):  # what is known of live models
        return {_PAGE: _write_page}
    if issubclass(kind, DFA):
        return DFA_WRITERS
    return WFA_WRITERS if issubclass(kind, WFA) else None


def save_watching(pdfa: PDFA, members: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Write a PDFA in JSON with an object that `load` ignores."""
    write_text = partial(pdfa_files.pdfa_text, watching=members)
    write_named(pdfa, path, pdfa_files.text_writers(write_text))


def load_watching(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read what `save_watching` has written beside the PDFA; empty if there is nothing."""

    def read(stream: BinaryIO) -> dict[str, Any]:
        found = pdfa_files.read_document(stream).get(pdfa_files.WATCHING, {})
        if not isinstance(found, dict) or not all(isinstance(one, dict) for one in found.values()):
            raise FileFormatError(f"{pdfa_files.WATCHING} is not an object of objects")
        return found

    return read_named(path, {".json": read, ".json.gz": partial(read_gzipped, read)})
