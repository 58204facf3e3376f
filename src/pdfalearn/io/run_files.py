"""Files of whole runs: what `learn` returns, in a zip archive of a JSON text and arrays."""

from __future__ import annotations

import ast
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pdfalearn.equivalence as relations
from pdfalearn.alphabet import WordTree
from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.files import (
    LARGEST,
    Array,
    Arrays,
    Member,
    arrays_of_value,
    check_keys,
    check_members,
    check_range,
    is_number,
    wrong,
)
from pdfalearn.io._archive_kinds import ArchiveKind, Document, Dtypes
from pdfalearn.io.pdfa_files import DTYPES, arrays_of_pdfa, pdfa_of
from pdfalearn.results import (
    NONE,
    POWERS_OF_TEN,
    BoundaryDistances,
    History,
    KeptTree,
    Progress,
    Result,
    Statistics,
)
from pdfalearn.words import offsets_of

PROGRESS = {field.name: str(field.type) for field in fields(Progress)}
FIGURES = {
    field.name: str(field.type)
    for field in fields(Statistics)
    if not str(field.type).startswith("tuple")
}
"""The figures, and whether they are "int" or "float"; tuples of figures are arrays in a file."""

_I4, _I8, _F8 = ("<i4",), ("<i8",), ("<f8",)
_KEY_TYPES = ("|b1", "|i1", "|u1", *(f"<{kind}{size}" for kind in "iuf" for size in (2, 4, 8)))

_FIGURES = {
    "batches.npy": Member("batches", _I8, (None,), 0, LARGEST),
    "history.npy": Member("history", _F8, (None, len(PROGRESS))),
    "counterexamples.npy": Member("counterexamples", _I8, (None, 2), 0, LARGEST),
    "unresolved.npy": Member("unresolved", _I8, (None, 2)),
}
_WORDS = {
    "word_parents.npy": Member("parents", _I4, ("nodes",), root=0),
    "word_symbols.npy": Member("symbols", _I4, ("nodes",), 0, "symbols"),
    "word_ends.npy": Member("ends", _I4, ("words",), 0, "nodes"),
}
_TREE = {
    "further_distributions.npy": Member("distributions", _F8, ("further", "columns"), 0, 1 + 1e-6),
    "tree_parents.npy": Member("parents", _I4, ("tree nodes",), root=NONE),
    "suffix_rests.npy": Member("rests", _I4, ("suffixes",), root=0),
    "suffix_firsts.npy": Member("firsts", _I4, ("suffixes",), -1, "symbols"),
    "class_keys.npy": Member("keys", _KEY_TYPES, ("classes", None)),
    "tree_labels.npy": Member("labels", _I4, ("tree nodes",), -1, 2**31),
    "tree_suffixes.npy": Member("suffixes", _I4, ("tree nodes",), NONE, "suffixes"),
    "tree_states.npy": Member("states", _I4, ("tree nodes",), NONE, "words"),
}
_TRACES = {
    "traces.npy": Member("classes", _I4, ("classes in traces",), -1, "classes"),
    "trace_lengths.npy": Member("lengths", _I8, (None,), 0, 2**31),
}


def _describe(result: Result) -> Document:
    tree, distances = result.kept_tree, result.kept_distances
    return {
        "statistics": {name: getattr(result.statistics, name) for name in FIGURES},
        "history": [*PROGRESS],
        "equivalence": _relation_text(result.equivalence),
        "near_boundary": None if distances is None else distances.counts,
        "tree": None if tree is None else "classes" if tree.traces is None else "traces",
    }


def _check_text(document: Document) -> Dtypes:
    kind, near = document["tree"], document["near_boundary"]
    if document["history"] != [*PROGRESS]:
        raise wrong("history", document["history"], f"{[*PROGRESS]}")
    if kind not in (None, "classes", "traces"):
        raise wrong("tree", kind, 'null, "classes" or "traces"')
    if near is not None and not (isinstance(near, list) and len(near) == len(POWERS_OF_TEN)):
        raise wrong("near_boundary", near, f"null or {len(POWERS_OF_TEN)} counts")
    members = _FIGURES | _WORDS
    if kind is not None:
        members |= _TREE
    if kind == "traces":
        members |= _TRACES
    return DTYPES | {name: member.dtypes for name, member in members.items()}


def _arrays_of(result: Result) -> Arrays:
    tree, statistics = result.kept_tree, result.statistics
    found = statistics.counterexamples, statistics.longest_counterexamples
    steps = [[getattr(step, name) for name in PROGRESS] for step in result.history]
    arrays: dict[str, Array] = {
        **arrays_of_pdfa(result.pdfa),
        "batches.npy": np.array(statistics.batches, "<i8"),
        "history.npy": np.array(steps, "<f8").reshape(-1, len(PROGRESS)),
        "counterexamples.npy": np.array(found, "<i8").T,
        "unresolved.npy": result.unresolved.astype("<i8", copy=False),
        **arrays_of_value(result.kept_words, _WORDS),
    }
    if tree is not None:
        arrays |= arrays_of_value(tree, _TREE)
        keys = tree.keys.astype(tree.keys.dtype.newbyteorder("<"), copy=False)
        if keys.dtype.str not in _KEY_TYPES:
            raise InputError(
                f"the keys of classes are of {keys.dtype}, which cannot be in a file; learn by an "
                "equivalence whose keys are integers or floats of up to 64 bits"
            )
        arrays["class_keys.npy"] = keys
        if tree.traces is not None:
            traces = np.frombuffer(b"".join(tree.traces), np.int32)
            arrays["traces.npy"] = traces.astype("<i4", copy=False)
            arrays["trace_lengths.npy"] = np.array([len(each) // 4 for each in tree.traces], "<i8")
    return arrays


def _make(document: Document, arrays: Arrays, **shared: Any) -> Result:
    """Make a run from what its file holds, or refuse the file."""
    pdfa = pdfa_of(arrays)
    states, symbols = pdfa.transitions.shape
    sizes = {"symbols": symbols, "columns": symbols + 1}
    figures = check_members(arrays, _FIGURES, sizes)
    for column, size in enumerate((states, symbols)):
        check_range(figures["unresolved"][:, column], "unresolved.npy", 0, size - 1)
    words = WordTree(**check_members(arrays, _WORDS, sizes))
    has_tree, near = document["tree"] is not None, document["near_boundary"]
    counts = tuple(int(_figure(count, "int", "near_boundary")) for count in near or ())
    if len(words) < states or (not has_tree and len(words) > states):
        raise FileFormatError(f"word_ends.npy has {len(words)} words for {states} states")
    # States that only the tree knows come behind those of the automaton.
    sizes["further"] = len(words) - states
    return Result(
        pdfa=pdfa,
        statistics=_statistics(document, figures),
        history=_history(figures["history"]),
        equivalence=_relation(document["equivalence"]),
        kept_words=words,
        kept_tree=_tree(arrays, sizes) if has_tree else None,
        kept_distances=None if near is None else BoundaryDistances(counts),
        unresolved=figures["unresolved"],
        **shared,
    )


def _statistics(document: Document, figures: Arrays) -> Statistics:
    given = check_keys(document["statistics"], set(FIGURES), "statistics")
    found, longest = figures["counterexamples"].T.tolist()
    return Statistics(
        **{name: _figure(given[name], kind, name) for name, kind in FIGURES.items()},  # type: ignore[arg-type]
        batches=tuple(figures["batches"].tolist()),
        counterexamples=tuple(found),
        longest_counterexamples=tuple(longest),
    )


def _history(rows: Array) -> History:
    steps = (zip(row, PROGRESS.items(), strict=True) for row in rows.tolist())
    return History(
        Progress(*(_figure(value, kind, f"history.npy, {name},") for value, (name, kind) in step))  # type: ignore[arg-type]
        for step in steps
    )


def _figure(value: object, kind: str, name: str) -> int | float:
    """Return a figure as statistics have it, or refuse it."""
    if is_number(value) and 0 <= value < 2**63 and (kind == "float" or value == int(value)):
        return int(value) if kind == "int" else float(value)
    raise wrong(name, value, "an integer of 0 or more" if kind == "int" else "0 or more")


def _tree(arrays: Arrays, sizes: dict[str, int]) -> KeptTree:
    parts = check_members(arrays, _TREE, sizes)
    # The empty suffix has no first symbol, and all others do.
    check_range(parts["firsts"][1:], "suffix_firsts.npy", 0, sizes["symbols"] - 1)
    traces = _traces(arrays, sizes) if "traces.npy" in arrays else None
    tree = KeptTree(**parts, traces=traces)
    _check_arcs(tree)
    return tree


def _traces(arrays: Arrays, sizes: dict[str, int]) -> tuple[bytes, ...]:
    classes, lengths = check_members(arrays, _TRACES, sizes).values()
    if lengths.sum(dtype=object) != len(classes):
        raise FileFormatError(f"trace_lengths.npy do not sum to the {len(classes)} of traces.npy")
    data, places = classes.tobytes(), (classes.itemsize * offsets_of(lengths)).tolist()
    traces = tuple(map(data.__getitem__, map(slice, places, places[1:])))
    if len(set(traces)) < len(traces):
        raise FileFormatError("traces.npy holds a trace twice; damaged: save or fetch it again")
    return traces


def _check_arcs(tree: KeptTree) -> None:
    """Refuse labels without meaning, arcs that cannot be told apart, and leaves with children."""
    above, labels = tree.parents[1:], tree.labels[1:].astype(np.int64)
    if (tree.suffixes[above] == NONE).any() or (tree.states[above] != NONE).any():
        raise FileFormatError("tree_suffixes.npy has no suffix for a node that has children")
    are_traces = np.zeros(len(above), dtype=bool)
    if tree.traces is not None:
        # Arcs by a suffix of one symbol are labelled with a class, all others with a trace.
        lengths = _suffix_lengths(tree.rests)[tree.suffixes[above]]
        are_traces = lengths >= 2
        check_range(labels[are_traces], "tree_labels.npy", 0, len(tree.traces) - 1)
        found = np.array([len(trace) // 4 for trace in tree.traces], dtype=np.int64)
        if (found[labels[are_traces]] != lengths[are_traces]).any():
            raise FileFormatError("trace_lengths.npy has another length than the trace's suffix")
    check_range(labels[~are_traces], "tree_labels.npy", -1, len(tree.keys) - 1)
    # The node and the label in one number; labels are from -1 on.
    if len(np.unique((above.astype(np.int64) << 32) + labels + 1)) < len(above):
        raise FileFormatError("tree_labels.npy has the same label on two arcs of one node")


def _suffix_lengths(rests: NDArray[np.int32]) -> NDArray[np.int64]:
    lengths = [0]
    for rest in rests[1:].tolist():
        lengths.append(lengths[rest] + 1)
    return np.array(lengths, dtype=np.int64)


# Longer texts of relations are cut, and refused.
_LONGEST_RELATION = 1000
_RELATIONS = (
    *("Quantization", "Exact", "Tolerance", "TopKSet", "Ranking", "Support"),
    *("ZeroApart", "Rounded"),
)


def _relation_text(equivalence: object) -> str | None:
    """Return how a relation is made, as a text; None of one that is not this library's."""
    inner = equivalence
    while inner is not None:
        name = type(inner).__name__
        if name not in _RELATIONS or type(inner) is not getattr(relations, name):
            return None
        inner = getattr(inner, "equivalence", None)
    return None if equivalence is None else repr(equivalence)


def _relation(text: object) -> relations.Relation | None:
    """Make a relation again of its text; only those of this library can be called."""
    if text is None:
        return None
    try:
        made = _call(ast.parse(str(text)[:_LONGEST_RELATION], mode="eval").body)
    except InputError:
        raise
    except (SyntaxError, RecursionError, TypeError, ValueError):
        made = None
    if type(made).__name__ not in _RELATIONS:
        raise wrong("equivalence", text, "a relation of distributions")
    return made  # type: ignore[no-any-return]


def _call(node: ast.expr) -> Any:
    if not isinstance(node, ast.Call):
        return ast.literal_eval(node)
    if not isinstance(node.func, ast.Name) or node.func.id not in _RELATIONS or node.args:
        raise ValueError
    given = {str(one.arg): _call(one.value) for one in node.keywords}
    return getattr(relations, node.func.id)(**given)


RUN = ArchiveKind(
    noun="run",
    keys={"statistics", "history", "equivalence", "near_boundary", "tree"},
    describe=_describe,
    arrays_of=_arrays_of,
    check_text=_check_text,
    make=_make,
)
