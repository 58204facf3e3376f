"""The arrays in the file of a run."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdfalearn.errors import InputError
from pdfalearn.formats import npz_file
from pdfalearn.learners.kept_tree import KeptTree
from pdfalearn.learning._run_texts import PROGRESS, RunText
from pdfalearn.learning.results import Result

Arrays = dict[str, NDArray[Any]]

_KEY_TYPES = ("|b1", "|i1", "|u1", *(f"<{kind}{size}" for kind in "iuf" for size in (2, 4, 8)))
_ALWAYS = {
    **{name: (dtype,) for name, dtype in npz_file.DTYPES.items()},
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
        **npz_file.arrays_of(result.pdfa),
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
