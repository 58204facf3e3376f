"""The arrays in the file of a run: which there are, and the checks of what they hold."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import WordTree
from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.files import Array, Arrays, check_range, check_shape
from pdfalearn.io.pdfa_files import DTYPES, arrays_of_pdfa
from pdfalearn.results import NONE, BoundaryDistances, KeptTree, Result
from pdfalearn.words import offsets_of

_KEY_TYPES = ("|b1", "|i1", "|u1", *(f"<{kind}{size}" for kind in "iuf" for size in (2, 4, 8)))
_ALWAYS = {
    **{name: (dtype,) for name, dtype in DTYPES.items()},
    "batches.npy": ("<i8",),
    "history.npy": ("<f8",),
    "counterexamples.npy": ("<i8",),
    "unresolved.npy": ("<i8",),
    "word_parents.npy": ("<i4",),
    "word_symbols.npy": ("<i4",),
    "word_ends.npy": ("<i4",),
}
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


def dtypes_of(document: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the names and types of the arrays that there have to be beside a text."""
    return {
        **_ALWAYS,
        **(_DISTANCES if document["complete_to"] is not None else {}),
        **(_TREE if document["tree"] is not None else {}),
        **(_TRACES if document["tree"] == "traces" else {}),
    }


def arrays_of(result: Result, progress: Collection[str]) -> Arrays:
    """Return the arrays of a run, in the types that files have them in."""
    words, tree, distances = result.kept_words, result.kept_tree, result.kept_distances
    statistics = result.statistics
    found = statistics.counterexamples, statistics.longest_counterexamples
    steps = [[getattr(step, name) for name in progress] for step in result.history]
    arrays: dict[str, Array] = {
        **arrays_of_pdfa(result.pdfa),
        "batches.npy": np.array(statistics.batches, dtype=np.int64),
        "history.npy": np.array(steps, dtype=np.float64).reshape(-1, len(progress)),
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
    types = _ALWAYS | _DISTANCES | _TREE | _TRACES
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
    arrays: dict[str, Array] = {
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


def read_unresolved(arrays: Arrays, states: int, symbols: int) -> NDArray[np.int64]:
    table = check_shape(arrays, "unresolved.npy", (None, 2))
    check_range(table[:, 0], "unresolved.npy", 0, states - 1)
    check_range(table[:, 1], "unresolved.npy", 0, symbols - 1)
    return table.astype(np.int64, copy=False)


def read_words(arrays: Arrays, symbols: int) -> WordTree:
    parents = _earlier(arrays, "word_parents.npy", root=0)
    codes = _numbers(arrays, "word_symbols.npy", len(parents), 0, symbols - 1)
    ends = _numbers(arrays, "word_ends.npy", None, 0, len(parents) - 1)
    return WordTree(parents, codes, ends)


def read_distances(arrays: Arrays, complete_to: float) -> BoundaryDistances:
    distances = check_shape(arrays, "distances.npy", (None,)).astype(np.float64, copy=False)
    counts = check_shape(arrays, "distance_counts.npy", (len(distances),)).astype(
        np.int64, copy=False
    )
    check_range(distances, "distances.npy", 0, 1)
    check_range(counts, "distance_counts.npy", 0, 2**62)
    if not (np.diff(distances) > 0).all() or not (np.diff(counts) >= 0).all():
        raise FileFormatError("distances.npy and distance_counts.npy do not grow; damaged")
    return BoundaryDistances(distances, counts.astype(np.int64, copy=False), complete_to)


def read_tree(arrays: Arrays, words: int, states: int, symbols: int) -> KeptTree:
    further = check_shape(arrays, "further_distributions.npy", (words - states, symbols + 1))
    check_range(further, "further_distributions.npy", 0, 1 + 1e-6)
    parents = _earlier(arrays, "tree_parents.npy", root=NONE)
    rests = _earlier(arrays, "suffix_rests.npy", root=0)
    firsts = _numbers(arrays, "suffix_firsts.npy", len(rests), -1, symbols - 1)
    check_range(firsts[1:], "suffix_firsts.npy", 0, symbols - 1)
    keys = check_shape(arrays, "class_keys.npy", (None, None))
    tree = KeptTree(
        parents=parents,
        labels=_numbers(arrays, "tree_labels.npy", len(parents), -1, 2**31 - 1),
        suffixes=_numbers(arrays, "tree_suffixes.npy", len(parents), NONE, len(rests) - 1),
        states=_numbers(arrays, "tree_states.npy", len(parents), NONE, words - 1),
        firsts=firsts,
        rests=rests,
        keys=keys,
        traces=_traces(arrays, len(keys)) if "traces.npy" in arrays else None,
        distributions=further.astype(np.float64, copy=False),
    )
    _check_arcs(tree)
    return tree


def _traces(arrays: Arrays, classes_known: int) -> tuple[bytes, ...]:
    classes = _numbers(
        arrays, "traces.npy", None, -1, len(check_shape(arrays, "class_keys.npy", (None, None))) - 1
    )
    lengths = check_shape(arrays, "trace_lengths.npy", (None,))
    check_range(lengths, "trace_lengths.npy", 0, len(classes))
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
        lengths = _suffix_lengths(tree.rests)[tree.suffixes[above]]
        are_traces = lengths >= 2
        check_range(labels[are_traces], "tree_labels.npy", 0, len(tree.traces) - 1)
        found = np.array([len(trace) // 4 for trace in tree.traces], dtype=np.int64)
        if (found[labels[are_traces]] != lengths[are_traces]).any():
            raise FileFormatError("trace_lengths.npy has another length than the trace's suffix")
    check_range(labels[~are_traces], "tree_labels.npy", -1, len(tree.keys) - 1)
    if len(np.unique((above.astype(np.int64) << 32) + labels + 1)) < len(above):
        raise FileFormatError("tree_labels.npy has the same label on two arcs of one node")


def _suffix_lengths(rests: NDArray[np.int32]) -> NDArray[np.int64]:
    lengths = [0]
    for rest in rests[1:].tolist():
        lengths.append(lengths[rest] + 1)
    return np.array(lengths, dtype=np.int64)


def _numbers(
    arrays: Arrays, name: str, length: int | None, low: int, high: int
) -> NDArray[np.int32]:
    """Return a column of integers in a range."""
    array = check_shape(arrays, name, (length,))
    check_range(array, name, low, high)
    return array.astype(np.int32, copy=False)


def _earlier(arrays: Arrays, name: str, root: int) -> NDArray[np.int32]:
    """Return a column whose entries, except the first, are places of earlier entries."""
    array = check_shape(arrays, name, (None,))
    if not len(array) or array[0] != root:
        raise FileFormatError(f"{name} does not begin with {root}")
    wrong = (array[1:] < 0) | (array[1:] > np.arange(len(array) - 1))
    if wrong.any():
        place = int(wrong.argmax()) + 1
        raise FileFormatError(f"{name}, entry {place}: {array[place]} is not an earlier entry")
    return array.astype(np.int32, copy=False)
