"""Files of whole runs: what `learn` returns, in a zip archive of a JSON text and arrays."""

from __future__ import annotations

import reprlib
from dataclasses import fields
from functools import partial
from typing import Any

from pdfalearn.equivalence import Equivalence, Exact, Quantization, Relation, Rounded, Tolerance
from pdfalearn.errors import FileFormatError
from pdfalearn.files import Arrays, check_keys, check_range, check_shape, is_number, wrong
from pdfalearn.io._archived import Archived, Document
from pdfalearn.io._run_arrays import (
    arrays_of,
    dtypes_of,
    read_distances,
    read_tree,
    read_unresolved,
    read_words,
)
from pdfalearn.io.pdfa_files import pdfa_of
from pdfalearn.results import History, Progress, Result, Statistics

PROGRESS = {field.name: str(field.type) for field in fields(Progress)}
FIGURES = {
    field.name: str(field.type)
    for field in fields(Statistics)
    if not str(field.type).startswith("tuple")
}
"""The figures, and whether they are "int" or "float"; tuples of figures are arrays in a file."""


def _describe(result: Result) -> Document:
    tree, distances = result.kept_tree, result.kept_distances
    return {
        "statistics": {name: getattr(result.statistics, name) for name in FIGURES},
        "history": [*PROGRESS],
        "equivalence": _relation_object(result.equivalence),
        "complete_to": None if distances is None else distances.complete_to,
        "tree": None if tree is None else "classes" if tree.traces is None else "traces",
    }


def _make(document: Document, arrays: Arrays, **shared: Any) -> Result:
    """Make a run from what its file holds, or refuse the file."""
    has_tree, complete_to = document["tree"], document["complete_to"]
    if document["history"] != [*PROGRESS]:
        raise wrong("history", document["history"], f"{[*PROGRESS]}")
    if has_tree not in (None, "classes", "traces"):
        raise wrong("tree", has_tree, 'null, "classes" or "traces"')
    if complete_to is not None and not (is_number(complete_to) and 0 <= complete_to <= 1):
        raise wrong("complete_to", complete_to, "a distance from 0 to 1")
    pdfa = pdfa_of(arrays)
    states, symbols = pdfa.transitions.shape
    words = read_words(arrays, symbols)
    if len(words) < states or (has_tree is None and len(words) > states):
        raise FileFormatError(f"word_ends.npy has {len(words)} words for {states} states")
    return Result(
        pdfa=pdfa,
        statistics=_statistics(document, arrays),
        history=_history(arrays),
        equivalence=_relation(document["equivalence"]),
        kept_words=words,
        kept_tree=None if has_tree is None else read_tree(arrays, len(words), states, symbols),
        kept_distances=None if complete_to is None else read_distances(arrays, float(complete_to)),
        unresolved=read_unresolved(arrays, states, symbols),
        **shared,
    )


def _statistics(document: Document, arrays: Arrays) -> Statistics:
    given = check_keys(document["statistics"], set(FIGURES), "statistics")
    batches = check_shape(arrays, "batches.npy", (None,))
    found = check_shape(arrays, "counterexamples.npy", (None, 2))
    check_range(batches, "batches.npy", 0, 2**62)
    check_range(found, "counterexamples.npy", 0, 2**62)
    return Statistics(
        **{name: _figure(given[name], kind, name) for name, kind in FIGURES.items()},  # type: ignore[arg-type]
        batches=tuple(batches.tolist()),
        counterexamples=tuple(found[:, 0].tolist()),
        longest_counterexamples=tuple(found[:, 1].tolist()),
    )


def _history(arrays: Arrays) -> History:
    rows = check_shape(arrays, "history.npy", (None, len(PROGRESS))).tolist()
    return History(
        Progress(
            **{
                name: _figure(value, kind, f"history.npy, {name},")  # type: ignore[arg-type]
                for value, (name, kind) in zip(row, PROGRESS.items(), strict=True)
            }
        )
        for row in rows
    )


def _figure(value: object, kind: str, name: str) -> int | float:
    """Return a figure as statistics have it, or refuse it."""
    if is_number(value) and 0 <= value < 2**63 and (kind == "float" or value == int(value)):
        return int(value) if kind == "int" else float(value)
    raise wrong(name, value, "an integer of 0 or more" if kind == "int" else "0 or more")


def _relation_object(equivalence: Relation | None) -> Document:
    """Return a relation as an object; one that is not this library's can only be shown."""
    decimals, inner = [], equivalence
    while type(inner) is Rounded:
        decimals.append(inner.decimals)
        inner = inner.equivalence
    if type(inner) is Quantization:
        return {"kind": "quantization", "kappa": inner.kappa, "rounded": decimals}
    if type(inner) is Exact:
        return {"kind": "exact", "rounded": decimals}
    if type(inner) is Tolerance:
        return {"kind": "tolerance", "tolerance": inner.tolerance}
    return {"kind": "other", "shown": reprlib.repr(equivalence)}


def _relation(document: object) -> Relation | None:
    """Make the relation again, or None if it is another program's."""
    kind = document.get("kind") if isinstance(document, dict) else None
    keys = {
        "quantization": {"kappa", "rounded"},
        "exact": {"rounded"},
        "tolerance": {"tolerance"},
        "other": {"shown"},
    }
    if not isinstance(kind, str) or kind not in keys:
        raise wrong("equivalence", document, "a relation of distributions")
    given = check_keys(document, keys[kind] | {"kind"}, "equivalence")
    if kind == "other":
        return None
    if kind == "tolerance":
        return Tolerance(given["tolerance"])
    if not isinstance(given["rounded"], list):
        raise wrong("rounded", given["rounded"], "a list of numbers of decimals")
    equivalence: Equivalence = Quantization(given["kappa"]) if kind == "quantization" else Exact()
    for decimals in reversed(given["rounded"]):
        equivalence = Rounded(equivalence, decimals)
    return equivalence


RUN = Archived(
    noun="run",
    keys={"statistics", "history", "equivalence", "complete_to", "tree"},
    describe=_describe,
    arrays_of=partial(arrays_of, progress=PROGRESS),
    dtypes_of=dtypes_of,
    make=_make,
    parts="the automaton alone: save(result.pdfa, …), the tree alone: save(result.tree, …)",
)
