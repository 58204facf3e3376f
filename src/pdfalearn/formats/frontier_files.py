"""Files of frontiers: what `distill` returns, in a zip archive of a JSON text and arrays."""

from __future__ import annotations

import os
from dataclasses import fields
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.files import (
    Arrays,
    check_can_write,
    check_keys,
    check_kind,
    check_name,
    check_range,
    check_shape,
    is_number,
    parsed_object,
    show_name,
    strings,
    text_and_arrays,
    write_archive,
    write_json_text,
    write_named,
    wrong,
)
from pdfalearn.formats.pdfa_files import DTYPES, arrays_of_pdfa, pdfa_of
from pdfalearn.pdfa import PDFA
from pdfalearn.results import (
    Certificate,
    Frontier,
    Point,
    certificate_culprit,
    certificate_document,
    certificate_in,
)

ENDING = ".zip"
FORMAT = "pdfalearn frontier"
VERSION = 1
NAME = "frontier.json"
FIGURES = [field.name for field in fields(Point) if field.name not in ("states", "pdfa")]
"""The columns of figures.npy."""
_KEPT = {
    "losses.npy": "kept_losses",
    "infinite.npy": "kept_infinite",
    "lengths.npy": "kept_lengths",
}
_LARGEST = 2**62


def save_frontier(frontier: Frontier, path: str | os.PathLike[str]) -> None:
    """Write a frontier to a file in .zip: `save` for frontiers."""
    _check_ending(path)
    write_named(frontier, path, {ENDING: write})


def check_can_save_frontier(path: str | os.PathLike[str]) -> None:
    """Raise now what `save_frontier` would raise later: `check_can_save` for frontiers."""
    _check_ending(path)
    check_can_write(path, {ENDING: write})


def write(frontier: Frontier, stream: BinaryIO) -> None:
    """Write a frontier as a zip archive; each automaton has the arrays of an .npz file."""
    write_archive(stream, {NAME: text_of(frontier), **arrays_of(frontier)})


def read(stream: BinaryIO) -> Frontier:
    """Read a frontier from a zip archive; nothing in it is ever unpickled."""
    return frontier_of(*text_and_arrays(stream, NAME, text_in, dtypes_of))


def _check_ending(path: str | os.PathLike[str]) -> None:
    name = check_name(path)
    if not name.lower().endswith(ENDING):
        raise InputError(
            f"{show_name(name)}: a whole frontier goes into a file in {ENDING}; one automaton "
            "alone: save(frontier.best, …) or save(frontier.at_most(30), …)"
        )


class FrontierText(NamedTuple):
    """What the text says."""

    states: list[int]
    """How many states every automaton has; its arrays are in a folder of this name."""
    sizes: tuple[int, ...]
    certificate: Certificate
    model_perplexity: float
    notes: tuple[str, ...]


def text_of(frontier: Frontier) -> bytes:
    """Write what is not an array as a JSON object."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "states": [point.states for point in frontier],
        "sizes": list(frontier.sizes),
        "figures": FIGURES,
        "model_perplexity": frontier.model_perplexity,
        "certificate": certificate_document(frontier.certificate),
        "notes": list(frontier.notes),
    }
    return write_json_text(document, *certificate_culprit(frontier.certificate, "frontier"))


def text_in(data: bytes) -> FrontierText:
    """Read the JSON object, or refuse it."""
    document = parsed_object(data, NAME)
    check_kind(document, FORMAT, VERSION)
    keys = {"states", "sizes", "figures", "model_perplexity", "certificate", "notes"}
    check_keys(document, keys | {"format", "version"}, NAME)
    if document["figures"] != FIGURES:
        raise wrong("figures", document["figures"], f"{FIGURES}")
    perplexity = document["model_perplexity"]
    if not is_number(perplexity) or not 0 <= perplexity < _LARGEST:
        raise wrong("model_perplexity", perplexity, "a number of 0 or more")
    return FrontierText(
        _growing(document["states"], "states"),
        tuple(_growing(document["sizes"], "sizes")),
        certificate_in(document["certificate"]),
        float(perplexity),
        strings(document["notes"], "notes"),
    )


def dtypes_of(text: FrontierText) -> dict[str, tuple[str, ...]]:
    """Return the names and types of the arrays that there have to be beside a text."""
    automata: dict[str, tuple[str, ...]] = {
        f"{states}/{name}": (dtype,) for states in text.states for name, dtype in DTYPES.items()
    }
    return {**dict.fromkeys(("figures.npy", *_KEPT), ("<f8",)), **automata}


def arrays_of(frontier: Frontier) -> dict[str, NDArray[Any]]:
    """Return the arrays of a frontier, in the types that files have them in."""
    figures = [[getattr(point, name) for name in FIGURES] for point in frontier]
    arrays: dict[str, NDArray[Any]] = {"figures.npy": np.array(figures, dtype="<f8")}
    for name, field in _KEPT.items():
        arrays[name] = getattr(frontier, field).astype("<f8", copy=False)
    for point in frontier:
        for name, array in arrays_of_pdfa(point.pdfa).items():
            arrays[f"{point.states}/{name}"] = array
    return arrays


def frontier_of(text: FrontierText, arrays: Arrays) -> Frontier:
    """Make a frontier from what its file holds, or refuse the file."""
    count = len(text.states)
    lengths = check_shape(arrays, "lengths.npy", (None,))
    check_range(lengths, "lengths.npy", 1, _LARGEST)
    words = len(lengths)
    if not words:
        raise FileFormatError("lengths.npy is empty, and there has to be a held-out word")
    for name in ("losses.npy", "infinite.npy"):
        check_range(check_shape(arrays, name, (count, words)), name, 0, _LARGEST)
    figures = check_shape(arrays, "figures.npy", (count, len(FIGURES)))
    check_range(np.nan_to_num(figures, posinf=np.inf), "figures.npy", 0, np.inf)
    return Frontier(
        points=_points(text.states, figures.tolist(), arrays),
        sizes=text.sizes,
        certificate=text.certificate,
        model_perplexity=text.model_perplexity,
        notes=text.notes,
        **{field: arrays[name] for name, field in _KEPT.items()},
    )


def _points(states: list[int], figures: list[list[float]], arrays: Arrays) -> tuple[Point, ...]:
    points: list[Point] = []
    for count, row in zip(states, figures, strict=True):
        pdfa = _automaton(count, arrays)
        if points and pdfa.alphabet != points[0].pdfa.alphabet:
            raise FileFormatError(f"{count}/header.npy has other symbols than the one before it")
        points.append(Point(count, pdfa, **dict(zip(FIGURES, row, strict=True))))
    return tuple(points)


def _automaton(states: int, arrays: Arrays) -> PDFA:
    pdfa = pdfa_of({name: arrays[f"{states}/{name}"] for name in DTYPES})
    if len(pdfa) != states:
        raise FileFormatError(f"{states}/transitions.npy has {len(pdfa)} states, not {states}")
    return pdfa


def _growing(value: object, name: str) -> list[int]:
    """Return a list of at least one integer, each larger than the one before."""
    if not isinstance(value, list) or not all(type(each) is int for each in value) or not value:
        raise wrong(name, value, "a list of integers")
    if value[0] < 1 or value[-1] > _LARGEST or sorted({*value}) != value:
        raise wrong(name, value, "a list of integers of 1 or more that grow")
    return value
