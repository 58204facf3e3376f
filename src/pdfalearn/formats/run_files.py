"""Files of whole runs: what `learn` returns, in a zip archive of a JSON text and arrays."""

from __future__ import annotations

import os
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import WordTree
from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.files import (
    Array,
    Arrays,
    check_can_write,
    check_name,
    check_range,
    check_shape,
    show_name,
    text_and_arrays,
    write_archive,
    write_named,
)
from pdfalearn.formats._run_texts import (
    NAME,
    PROGRESS,
    RunText,
    arrays_of,
    dtypes_of,
    figure,
    text_in,
    text_of,
)
from pdfalearn.formats.pdfa_files import pdfa_of
from pdfalearn.results import (
    NONE,
    BoundaryDistances,
    History,
    KeptTree,
    Progress,
    Result,
    Statistics,
)
from pdfalearn.words import offsets_of

ENDING = ".zip"


def save_run(result: Result, path: str | os.PathLike[str]) -> None:
    """Write a run to a file in .zip: `save` for results."""
    _check_ending(path)
    write_named(result, path, {ENDING: write})


def check_can_save_run(path: str | os.PathLike[str]) -> None:
    """Raise now what `save_run` would raise later: `check_can_save` for results."""
    _check_ending(path)
    check_can_write(path, {ENDING: write})


def write(result: Result, stream: BinaryIO) -> None:
    """Write a run as a zip archive; the arrays of its automaton are those of an .npz file."""
    write_archive(stream, {NAME: text_of(result), **arrays_of(result)})


def read(stream: BinaryIO) -> Result:
    """Read a run from a zip archive; nothing in it is ever unpickled."""
    return result_of(*text_and_arrays(stream, NAME, text_in, dtypes_of))


def _check_ending(path: str | os.PathLike[str]) -> None:
    name = check_name(path)
    if not name.lower().endswith(ENDING):
        raise InputError(
            f"{show_name(name)}: a whole run goes into a file in {ENDING}; the automaton alone: "
            "save(result.pdfa, …), the tree alone: save(result.tree, …)"
        )


def result_of(text: RunText, arrays: Arrays) -> Result:
    """Make a run from what its file holds, or refuse the file."""
    pdfa = pdfa_of(arrays)
    states, symbols = pdfa.transitions.shape
    words = _words(arrays, symbols)
    if len(words) < states or (text.tree is None and len(words) > states):
        raise FileFormatError(f"word_ends.npy has {len(words)} words for {states} states")
    return Result(
        pdfa=pdfa,
        statistics=_statistics(text, arrays),
        history=_history(arrays),
        certificate=text.certificate,
        by=text.by,
        kept_words=words,
        kept_tree=None if text.tree is None else _tree(arrays, len(words), states, symbols),
        kept_distances=_distances(text, arrays),
        unresolved=_unresolved(arrays, states, symbols),
        notes=text.notes,
    )


def _statistics(text: RunText, arrays: Arrays) -> Statistics:
    batches = _column(arrays, "batches.npy")
    check_range(batches, "batches.npy", 0, 2**62)
    counterexamples, longest = _counterexamples(arrays)
    return Statistics(
        **text.figures,
        batches=tuple(batches.tolist()),
        counterexamples=counterexamples,
        longest_counterexamples=longest,
    )


def _counterexamples(arrays: Arrays) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return how many each query found, and the longest one's symbols; nothing if not known."""
    if "counterexamples.npy" not in arrays:
        return (), ()
    table = _table(arrays, "counterexamples.npy", 2)
    check_range(table, "counterexamples.npy", 0, 2**62)
    return tuple(table[:, 0].tolist()), tuple(table[:, 1].tolist())


def _history(arrays: Arrays) -> History:
    rows = _table(arrays, "history.npy", len(PROGRESS)).tolist()
    return History(
        Progress(
            **{
                name: figure(value, kind, f"history.npy, {name},")  # type: ignore[arg-type]
                for value, (name, kind) in zip(row, PROGRESS.items(), strict=True)
            }
        )
        for row in rows
    )


def _unresolved(arrays: Arrays, states: int, symbols: int) -> NDArray[np.int64]:
    table = _table(arrays, "unresolved.npy", 2)
    check_range(table[:, 0], "unresolved.npy", 0, states - 1)
    check_range(table[:, 1], "unresolved.npy", 0, symbols - 1)
    return table.astype(np.int64, copy=False)


def _words(arrays: Arrays, symbols: int) -> WordTree:
    parents = _earlier(arrays, "word_parents.npy", root=0)
    codes = _numbers(arrays, "word_symbols.npy", len(parents), 0, symbols - 1)
    ends = _numbers(arrays, "word_ends.npy", None, 0, len(parents) - 1)
    return WordTree(parents, codes, ends)


def _distances(text: RunText, arrays: Arrays) -> BoundaryDistances | None:
    if text.complete_to is None:
        return None
    distances = _column(arrays, "distances.npy").astype(np.float64, copy=False)
    counts = _column(arrays, "distance_counts.npy", len(distances)).astype(np.int64, copy=False)
    check_range(distances, "distances.npy", 0, 1)
    check_range(counts, "distance_counts.npy", 0, 2**62)
    if not (np.diff(distances) > 0).all() or not (np.diff(counts) >= 0).all():
        raise FileFormatError("distances.npy and distance_counts.npy do not grow; damaged")
    return BoundaryDistances(distances, counts, text.complete_to)


def _tree(arrays: Arrays, words: int, states: int, symbols: int) -> KeptTree:
    further = _table(arrays, "further_distributions.npy", symbols + 1, words - states)
    check_range(further, "further_distributions.npy", 0, 1 + 1e-6)
    parents = _earlier(arrays, "tree_parents.npy", root=NONE)
    rests = _earlier(arrays, "suffix_rests.npy", root=0)
    firsts = _numbers(arrays, "suffix_firsts.npy", len(rests), -1, symbols - 1)
    check_range(firsts[1:], "suffix_firsts.npy", 0, symbols - 1)
    tree = KeptTree(
        parents=parents,
        labels=_numbers(arrays, "tree_labels.npy", len(parents), -1, 2**31 - 1),
        suffixes=_numbers(arrays, "tree_suffixes.npy", len(parents), NONE, len(rests) - 1),
        states=_numbers(arrays, "tree_states.npy", len(parents), NONE, words - 1),
        firsts=firsts,
        rests=rests,
        keys=_table(arrays, "class_keys.npy"),
        traces=_traces(arrays) if "traces.npy" in arrays else None,
        distributions=further.astype(np.float64, copy=False),
    )
    _check_arcs(tree)
    return tree


def _traces(arrays: Arrays) -> tuple[bytes, ...]:
    classes = _numbers(arrays, "traces.npy", None, -1, len(_table(arrays, "class_keys.npy")) - 1)
    lengths = _column(arrays, "trace_lengths.npy")
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


def _column(arrays: Arrays, name: str, length: int | None = None) -> Array:
    return check_shape(arrays, name, (length,))


def _table(arrays: Arrays, name: str, columns: int | None = None, rows: int | None = None) -> Array:
    return check_shape(arrays, name, (rows, columns))


def _numbers(
    arrays: Arrays, name: str, length: int | None, low: int, high: int
) -> NDArray[np.int32]:
    """Return a column of integers in a range."""
    array = _column(arrays, name, length)
    check_range(array, name, low, high)
    return array.astype(np.int32, copy=False)


def _earlier(arrays: Arrays, name: str, root: int) -> NDArray[np.int32]:
    """Return a column whose entries, except the first, are places of earlier entries."""
    array = _column(arrays, name)
    if not len(array) or array[0] != root:
        raise FileFormatError(f"{name} does not begin with {root}")
    wrong = (array[1:] < 0) | (array[1:] > np.arange(len(array) - 1))
    if wrong.any():
        place = int(wrong.argmax()) + 1
        raise FileFormatError(f"{name}, entry {place}: {array[place]} is not an earlier entry")
    return array.astype(np.int32, copy=False)
