"""Files of frontiers: what `distill` returns, in a zip archive of a JSON text and arrays."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from pdfalearn.errors import FileFormatError
from pdfalearn.files import Array, Arrays, check_range, check_shape, is_number, wrong
from pdfalearn.io._archived import Archived, Document, Dtypes
from pdfalearn.io.pdfa_files import DTYPES, arrays_of_pdfa, pdfa_of
from pdfalearn.results import Frontier, Point

FIGURES = [field.name for field in fields(Point) if field.name not in ("states", "pdfa")]
"""The columns of figures.npy."""
_KEPT = {
    "losses.npy": "kept_losses",
    "infinite.npy": "kept_infinite",
    "lengths.npy": "kept_lengths",
}
_LARGEST = 2**62


def _describe(frontier: Frontier) -> Document:
    return {
        "states": [point.states for point in frontier],
        "sizes": list(frontier.sizes),
        "figures": FIGURES,
        "model_perplexity": frontier.model_perplexity,
    }


def _dtypes_of(document: Document) -> Dtypes:
    states = _growing(document["states"], "states")
    automata = {f"{count}/{name}": (dtype,) for count in states for name, dtype in DTYPES.items()}
    return {**dict.fromkeys(("figures.npy", *_KEPT), ("<f8",)), **automata}


def _arrays_of(frontier: Frontier) -> Arrays:
    figures = [[getattr(point, name) for name in FIGURES] for point in frontier]
    arrays: dict[str, Array] = {"figures.npy": np.array(figures, dtype="<f8")}
    for name, field in _KEPT.items():
        arrays[name] = getattr(frontier, field).astype("<f8", copy=False)
    for point in frontier:
        for name, array in arrays_of_pdfa(point.pdfa).items():
            arrays[f"{point.states}/{name}"] = array
    return arrays


def _make(document: Document, arrays: Arrays, **shared: Any) -> Frontier:
    """Make a frontier from what its file holds, or refuse the file."""
    if document["figures"] != FIGURES:
        raise wrong("figures", document["figures"], f"{FIGURES}")
    perplexity = document["model_perplexity"]
    if not is_number(perplexity) or not 0 <= perplexity < _LARGEST:
        raise wrong("model_perplexity", perplexity, "a number of 0 or more")
    states = document["states"]
    count = len(states)
    lengths = check_shape(arrays, "lengths.npy", (None,))
    check_range(lengths, "lengths.npy", 1, _LARGEST)
    words = len(lengths)
    if not words:
        raise FileFormatError("lengths.npy is empty, and there has to be a held-out word")
    for name in ("losses.npy", "infinite.npy"):
        check_range(check_shape(arrays, name, (count, words)), name, 0, _LARGEST)
    figures = check_shape(arrays, "figures.npy", (count, len(FIGURES)))
    check_range(np.nan_to_num(figures, posinf=np.inf), "figures.npy", 0, np.inf)
    kept: dict[str, Any] = {field: arrays[name] for name, field in _KEPT.items()}
    return Frontier(
        points=_points(states, figures.tolist(), arrays),
        sizes=tuple(_growing(document["sizes"], "sizes")),
        model_perplexity=float(perplexity),
        **kept,
        **shared,
    )


def _points(states: list[int], figures: list[list[float]], arrays: Arrays) -> tuple[Point, ...]:
    points: list[Point] = []
    for count, row in zip(states, figures, strict=True):
        pdfa = pdfa_of({name: arrays[f"{count}/{name}"] for name in DTYPES})
        if len(pdfa) != count:
            raise FileFormatError(f"{count}/transitions.npy has {len(pdfa)} states, not {count}")
        if points and pdfa.alphabet != points[0].pdfa.alphabet:
            raise FileFormatError(f"{count}/header.npy has other symbols than the one before it")
        points.append(Point(count, pdfa, **dict(zip(FIGURES, row, strict=True))))
    return tuple(points)


def _growing(value: object, name: str) -> list[int]:
    """Return a list of at least one integer, each larger than the one before."""
    if not isinstance(value, list) or not all(type(each) is int for each in value) or not value:
        raise wrong(name, value, "a list of integers")
    if value[0] < 1 or value[-1] > _LARGEST or sorted({*value}) != value:
        raise wrong(name, value, "a list of integers of 1 or more that grow")
    return value


FRONTIER = Archived(
    noun="frontier",
    keys={"states", "sizes", "figures", "model_perplexity"},
    describe=_describe,
    arrays_of=_arrays_of,
    dtypes_of=_dtypes_of,
    make=_make,
    parts="one automaton alone: save(frontier.best, …) or save(frontier.at_most(30), …)",
)
