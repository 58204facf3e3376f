"""Files of frontiers: what `distill` returns, in a zip archive of a JSON text and arrays."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from pdfalearn.errors import FileFormatError
from pdfalearn.files import (
    LARGEST,
    Arrays,
    Member,
    arrays_of_value,
    check_members,
    check_range,
    is_number,
    wrong,
)
from pdfalearn.io._archive_kinds import ArchiveKind, Document, Dtypes
from pdfalearn.io.pdfa_files import DTYPES, arrays_of_pdfa, pdfa_of
from pdfalearn.results import Frontier, KeptWords, Point

FIGURES = [field.name for field in fields(Point) if field.name not in ("states", "pdfa")]
"""The columns of figures.npy."""
_F8 = ("<f8",)
# Answers sum up to 1 but for this.
_SUM = 1e-9
_KEPT = {
    "lengths.npy": Member("kept_lengths", _F8, ("words",), 1, LARGEST),
    "losses.npy": Member("kept_losses", _F8, ("points", "words"), 0, LARGEST),
    "infinite.npy": Member("kept_infinite", _F8, ("points", "words"), 0, LARGEST),
}
_I4 = ("<i4",)
_WORDS = {
    "parents.npy": Member("parents", _I4, ("prefixes",), root=-1),
    "symbols.npy": Member("symbols", _I4, ("prefixes",)),
    "answers.npy": Member("answers", _F8, ("answers", "columns"), 0, 1),
    "rows.npy": Member("rows", _I4, ("prefixes",), 0, "answers"),
    "learnt.npy": Member("is_learnt", ("|b1",), ("prefixes",)),
    "ends.npy": Member("ends", _I4, ("kept",), 0, "prefixes"),
    "cut.npy": Member("is_cut", ("|b1",), ("prefixes",)),
}
_FIGURES = {"figures.npy": Member("figures", _F8, ("points", len(FIGURES)))}


def _describe(frontier: Frontier) -> Document:
    return {
        "states": [point.states for point in frontier],
        "sizes": list(frontier.sizes),
        "figures": FIGURES,
        "model_perplexity": frontier.model_perplexity,
        "keeps_words": frontier.kept_words is not None,
    }


def _check_text(document: Document) -> Dtypes:
    perplexity = document["model_perplexity"]
    if document["figures"] != FIGURES:
        raise wrong("figures", document["figures"], f"{FIGURES}")
    is_right = perplexity is None or (is_number(perplexity) and 0 <= perplexity < LARGEST)
    if not is_right:
        raise wrong("model_perplexity", perplexity, "null or a number of 0 or more")
    for name in ("states", "sizes"):
        _check_growing(document[name], name)
    if type(document["keeps_words"]) is not bool:
        raise wrong("keeps_words", document["keeps_words"], "true or false")
    words = _WORDS if document["keeps_words"] else {}
    tables = {name: member.dtypes for name, member in (_FIGURES | _KEPT | words).items()}
    return tables | {
        f"{count}/{name}": dtypes for count in document["states"] for name, dtypes in DTYPES.items()
    }


def _arrays_of(frontier: Frontier) -> Arrays:
    figures = [[getattr(point, name) for name in FIGURES] for point in frontier]
    arrays = {"figures.npy": np.array(figures, "<f8"), **arrays_of_value(frontier, _KEPT)}
    if frontier.kept_words is not None:
        arrays |= arrays_of_value(frontier.kept_words, _WORDS)
    for point in frontier:
        for name, array in arrays_of_pdfa(point.pdfa).items():
            arrays[f"{point.states}/{name}"] = array
    return arrays


def _make(document: Document, arrays: Arrays, **shared: Any) -> Frontier:
    """Make a frontier from what its file holds, or refuse the file."""
    if not len(arrays["lengths.npy"]):
        raise FileFormatError("lengths.npy is empty, and there has to be a held-out word")
    sizes = {"points": len(document["states"])}
    kept: dict[str, Any] = check_members(arrays, _KEPT, sizes)
    figures = check_members(arrays, _FIGURES, sizes)["figures"]
    # A divergence may be infinite, and its mean over the finite ones NaN if there are none.
    check_range(np.nan_to_num(figures, posinf=np.inf), "figures.npy", 0, np.inf)
    details = shared["certificate"].details
    if document["model_perplexity"] is None and "training_positions" not in details:
        raise wrong("details", details, "an object with training_positions, as of recorded words")
    points = _points(document["states"], figures.tolist(), arrays)
    words = _words(arrays, len(points[0].pdfa.alphabet)) if document["keeps_words"] else None
    return Frontier(
        points=points,
        kept_words=words,
        sizes=tuple(document["sizes"]),
        model_perplexity=document["model_perplexity"],
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


def _words(arrays: Arrays, width: int) -> KeptWords:
    """Return the prefixes and held-out words, or refuse arrays that do not fit together."""
    kept = KeptWords(**check_members(arrays, _WORDS, {"columns": width + 1}))
    check_range(kept.symbols[1:], "symbols.npy", 0, width - 1)
    if len(kept.ends) < 2:
        raise FileFormatError("ends.npy has fewer than two held-out words")
    if (kept.is_learnt[1:] & ~kept.is_learnt[kept.parents[1:]]).any():
        raise FileFormatError("learnt.npy has a prefix, but not the one before it")
    if (np.abs(kept.answers.sum(axis=1) - 1) > _SUM).any():
        raise FileFormatError("answers.npy has a row that does not sum up to 1")
    return kept


def _check_growing(value: object, name: str) -> None:
    """Refuse what is not a list of at least one integer, each larger than the one before."""
    if not isinstance(value, list) or not all(type(each) is int for each in value) or not value:
        raise wrong(name, value, "a list of integers")
    if value[0] < 1 or value[-1] > LARGEST or sorted({*value}) != value:
        raise wrong(name, value, "a list of integers of 1 or more that grow")


FRONTIER = ArchiveKind(
    noun="frontier",
    keys={"states", "sizes", "figures", "model_perplexity", "keeps_words"},
    describe=_describe,
    arrays_of=_arrays_of,
    check_text=_check_text,
    make=_make,
    defaults={"keeps_words": False},
)
