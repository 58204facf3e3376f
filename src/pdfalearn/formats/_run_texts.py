"""The text and the arrays in the file of a run."""

from __future__ import annotations

import reprlib
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdfalearn.equivalence import Equivalence, Exact, Quantization, Relation, Rounded, Tolerance
from pdfalearn.errors import InputError
from pdfalearn.files import (
    check_keys,
    check_kind,
    is_number,
    parsed_object,
    strings,
    write_json_text,
    wrong,
)
from pdfalearn.formats.pdfa_files import DTYPES, arrays_of_pdfa
from pdfalearn.results import (
    Certificate,
    KeptTree,
    Progress,
    Result,
    Statistics,
    certificate_culprit,
    certificate_document,
    certificate_in,
)

FORMAT = "pdfalearn run"
VERSION = 2
"""Version 1 does not tell how many counterexamples there were."""
NAME = "run.json"

PROGRESS = {field.name: str(field.type) for field in fields(Progress)}
FIGURES = {
    field.name: str(field.type)
    for field in fields(Statistics)
    if not str(field.type).startswith("tuple")
}
"""The figures, and whether they are "int" or "float"; tuples of figures are arrays in a file."""

Arrays = dict[str, NDArray[Any]]
_KEY_TYPES = ("|b1", "|i1", "|u1", *(f"<{kind}{size}" for kind in "iuf" for size in (2, 4, 8)))
_ALWAYS = {
    **{name: (dtype,) for name, dtype in DTYPES.items()},
    "batches.npy": ("<i8",),
    "history.npy": ("<f8",),
    "unresolved.npy": ("<i8",),
    "word_parents.npy": ("<i4",),
    "word_symbols.npy": ("<i4",),
    "word_ends.npy": ("<i4",),
}
_COUNTEREXAMPLES = {"counterexamples.npy": ("<i8",)}
"""Of versions from 2 on: how many each equivalence query found, and the longest one's symbols."""
_DISTANCES = {"distances.npy": ("<f8",), "distance_counts.npy": ("<i8",)}
_TREE = {
    "tree_parents.npy": ("<i4",),
    "tree_labels.npy": ("<i4",),
    "tree_suffixes.npy": ("<i4",),
    "tree_states.npy": ("<i4",),
    "suffix_firsts.npy": ("<i4",),
    "suffix_rests.npy": ("<i4",),
    "class_keys.npy": _KEY_TYPES,
    "further_distributions.npy": ("<f8",),
}
_TRACES = {"traces.npy": ("<i4",), "trace_lengths.npy": ("<i8",)}


class RunText(NamedTuple):
    """What the text says."""

    version: int
    figures: dict[str, Any]
    certificate: Certificate
    by: Relation | None
    complete_to: float | None
    """Up to where distances from boundaries are complete, if there are any."""
    tree: str | None
    """What labels the arcs of the tree, "classes" or "traces", if there is one."""
    notes: tuple[str, ...]


def text_of(result: Result) -> bytes:
    """Write all that is not an array as a JSON object."""
    tree, distances, certificate = result.kept_tree, result.kept_distances, result.certificate
    document = {
        "format": FORMAT,
        "version": VERSION,
        "statistics": {name: getattr(result.statistics, name) for name in FIGURES},
        "history": [*PROGRESS],
        "certificate": certificate_document(certificate),
        "by": _relation_object(result.by),
        "complete_to": None if distances is None else distances.complete_to,
        "tree": None if tree is None else "classes" if tree.traces is None else "traces",
        "notes": list(result.notes),
    }
    return write_json_text(document, *certificate_culprit(certificate, "run"))


def text_in(data: bytes) -> RunText:
    """Read the JSON object, or refuse it."""
    document = parsed_object(data, NAME)
    check_kind(document, FORMAT, VERSION)
    keys = {"statistics", "history", "certificate", "by", "complete_to", "tree", "notes"}
    check_keys(document, keys | {"format", "version"}, NAME)
    if document["history"] != [*PROGRESS]:
        raise wrong("history", document["history"], f"{[*PROGRESS]}")
    if document["tree"] not in (None, "classes", "traces"):
        raise wrong("tree", document["tree"], 'null, "classes" or "traces"')
    return RunText(
        document["version"],
        _figures(document["statistics"]),
        certificate_in(document["certificate"]),
        _relation(document["by"]),
        _complete_to(document["complete_to"]),
        document["tree"],
        strings(document["notes"], "notes"),
    )


def figure(value: object, kind: str, name: str) -> int | float:
    """Return a figure as statistics have it, or refuse it."""
    if is_number(value) and 0 <= value < 2**63 and (kind == "float" or value == int(value)):
        return int(value) if kind == "int" else float(value)
    raise wrong(name, value, "an integer of 0 or more" if kind == "int" else "0 or more")


def _figures(document: object) -> dict[str, Any]:
    given = check_keys(document, set(FIGURES), "statistics")
    return {name: figure(given[name], kind, name) for name, kind in FIGURES.items()}


def _complete_to(value: object) -> float | None:
    if value is None:
        return None
    if not is_number(value) or not 0 <= value <= 1:
        raise wrong("complete_to", value, "a distance from 0 to 1")
    return float(value)


def _relation_object(by: Relation | None) -> dict[str, Any]:
    """Return a relation as an object; one that is not this library's can only be shown."""
    decimals, inner = [], by
    while type(inner) is Rounded:
        decimals.append(inner.decimals)
        inner = inner.by
    if type(inner) is Quantization:
        return {"kind": "quantization", "kappa": inner.kappa, "rounded": decimals}
    if type(inner) is Exact:
        return {"kind": "exact", "rounded": decimals}
    if type(inner) is Tolerance:
        return {"kind": "tolerance", "tolerance": inner.tolerance}
    return {"kind": "other", "shown": reprlib.repr(by)}


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
        raise wrong("by", document, "a relation of distributions")
    given = check_keys(document, keys[kind] | {"kind"}, "by")
    if kind == "other":
        return None
    if kind == "tolerance":
        return Tolerance(given["tolerance"])
    if not isinstance(given["rounded"], list):
        raise wrong("rounded", given["rounded"], "a list of numbers of decimals")
    by: Equivalence = Quantization(given["kappa"]) if kind == "quantization" else Exact()
    for decimals in reversed(given["rounded"]):
        by = Rounded(by, decimals)
    return by


def dtypes_of(text: RunText) -> dict[str, tuple[str, ...]]:
    """Return the names and types of the arrays that there have to be beside a text."""
    return {
        **_ALWAYS,
        **(_COUNTEREXAMPLES if text.version >= 2 else {}),
        **(_DISTANCES if text.complete_to is not None else {}),
        **(_TREE if text.tree is not None else {}),
        **(_TRACES if text.tree == "traces" else {}),
    }


def arrays_of(result: Result) -> Arrays:
    """Return the arrays of a run, in the types that files have them in."""
    words, tree, distances = result.kept_words, result.kept_tree, result.kept_distances
    statistics = result.statistics
    found = statistics.counterexamples, statistics.longest_counterexamples
    steps = [[getattr(step, name) for name in PROGRESS] for step in result.history]
    arrays: Arrays = {
        **arrays_of_pdfa(result.pdfa),
        "batches.npy": np.array(statistics.batches, dtype=np.int64),
        "history.npy": np.array(steps, dtype=np.float64).reshape(-1, len(PROGRESS)),
        "counterexamples.npy": np.array(found, dtype=np.int64).T,
        "unresolved.npy": result.unresolved,
        "word_parents.npy": words.parents,
        "word_symbols.npy": words.symbols,
        "word_ends.npy": words.ends,
    }
    if distances is not None:
        arrays |= {"distances.npy": distances.distances, "distance_counts.npy": distances.counts}
    if tree is not None:
        arrays |= _tree_arrays(tree)
    types = _ALWAYS | _COUNTEREXAMPLES | _DISTANCES | _TREE | _TRACES
    return {
        name: array if len(types[name]) > 1 else array.astype(types[name][0], copy=False)
        for name, array in arrays.items()
    }


def _tree_arrays(tree: KeptTree) -> Arrays:
    keys = tree.keys.astype(tree.keys.dtype.newbyteorder("<"), copy=False)
    if keys.dtype.str not in _KEY_TYPES:
        raise InputError(
            f"the keys of classes are of {keys.dtype}, which cannot be in a file; learn by an "
            "equivalence whose keys are integers or floats of up to 64 bits"
        )
    arrays: Arrays = {
        "tree_parents.npy": tree.parents,
        "tree_labels.npy": tree.labels,
        "tree_suffixes.npy": tree.suffixes,
        "tree_states.npy": tree.states,
        "suffix_firsts.npy": tree.firsts,
        "suffix_rests.npy": tree.rests,
        "class_keys.npy": keys,
        "further_distributions.npy": tree.distributions,
    }
    if tree.traces is not None:
        arrays["traces.npy"] = np.frombuffer(b"".join(tree.traces), dtype=np.int32)
        arrays["trace_lengths.npy"] = np.array([len(trace) // 4 for trace in tree.traces], np.int64)
    return arrays
