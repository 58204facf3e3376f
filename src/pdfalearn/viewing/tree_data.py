"""The data of a classification tree's panel: its likely part, and what is left out in figures."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdfalearn.results.learning_runs import Result
from pdfalearn.results.trees import ArcLabel, NumberedNode, TreeNode, Word, numbered_nodes
from pdfalearn.text import are_characters, short_word_text

MOST_NODES = 600
"""At most this many nodes of a tree are on a page."""
MOST_CELLS = 5_000_000
"""Trees with more states times symbols are not on a page: they would take too long to make."""
_MOST_KEY = 8
"""Of the key of a class, this many numbers are shown."""
_MOST_SYMBOLS = 24
"""Words are cut in the middle after this many symbols."""


def tree_data(result: Result, visits: NDArray[np.float64]) -> dict[str, Any]:
    """Return what the panel of a classification tree shows.

    Parameters
    ----------
    result : Result
        The run that the tree is of.
    visits : array of float
        How often words visit each state; nodes above states that are visited more come first.

    Returns
    -------
    dict
        Parents come before their children; ``reason`` says why there is no tree, if so.
    """
    reason = _reason_for_none(result)
    if reason is not None:
        return {"nodes": [], "reason": reason}
    nodes = numbered_nodes(result.tree)
    states = _states_by_word(result)
    leaves, weights = _sums_below(nodes, states, visits)
    chosen = _chosen(nodes, weights)
    places = {number: place for place, number in enumerate(chosen)}
    joined = are_characters(result.pdfa.alphabet)
    return {
        "nodes": [
            {
                "parent": None if parent is None else places[parent],
                "arc": _arc(arc),
                "leaves": leaves[number],
                **_own(node, states, joined=joined),
            }
            for number, (node, parent, arc) in ((number, nodes[number]) for number in chosen)
        ],
        "leaves": leaves[0],
        "inner": sum(bool(node.children) for node, _, _ in nodes),
    }


def _states_by_word(result: Result) -> dict[Word, int]:
    """Return the state of every access word: the first one, as copies may be added to agree."""
    words = result.access_words
    return {words[state]: state for state in range(len(words) - 1, -1, -1)}


def _reason_for_none(result: Result) -> str | None:
    if result.kept_tree is None:
        return "The learner keeps a table, and no classification tree."
    cells = len(result.kept_words) * len(result.pdfa.alphabet)
    if cells > MOST_CELLS:
        return f"The tree of {len(result.kept_words):,} states is too large for a page."
    return None


def _sums_below(
    nodes: list[NumberedNode], states: dict[Word, int], visits: NDArray[np.float64]
) -> tuple[list[int], list[float]]:
    """Return how many leaves are below every node, and how often their states are visited."""
    leaves, weights = [0] * len(nodes), [0.0] * len(nodes)
    for number in range(len(nodes) - 1, -1, -1):
        node, parent, _ = nodes[number]
        if not node.children:
            leaves[number] = 1
            state = None if node.access_word is None else states.get(node.access_word)
            weights[number] = 0.0 if state is None else float(visits[state])
        if parent is not None:
            leaves[parent] += leaves[number]
            weights[parent] += weights[number]
    return leaves, weights


def _chosen(nodes: list[NumberedNode], weights: list[float]) -> list[int]:
    """Choose nodes, the most visited first, each after its parent."""
    below: list[list[int]] = [[] for _ in nodes]
    for number, (_, parent, _) in enumerate(nodes):
        if parent is not None:
            below[parent].append(number)
    chosen: list[int] = []
    waiting = [(-weights[0], 0)]
    while waiting and len(chosen) < MOST_NODES:
        number = heapq.heappop(waiting)[1]
        chosen.append(number)
        for child in below[number]:
            heapq.heappush(waiting, (-weights[child], child))
    return chosen


def _arc(key: ArcLabel) -> dict[str, Any] | None:
    """Return the beginning of a class's key, and how many numbers there are; None for undefined."""
    if key is None:
        return None
    shown = [float(f"{value:.4g}") if isinstance(value, float) else value for value in key]
    return {"key": [_plain(value) for value in shown[:_MOST_KEY]], "length": len(key)}


def _plain(value: float) -> str:
    return f"{value:g}" if isinstance(value, float) else str(int(value))


def _own(node: TreeNode, states: dict[Word, int], *, joined: bool) -> dict[str, Any]:
    """Return what a node has beside its place: a suffix, or a word and its state."""
    if node.suffix is not None:
        return {"suffix": short_word_text(node.suffix, joined=joined, most=_MOST_SYMBOLS)}
    word = node.access_word
    if word is None:  # learning stopped before there was a state
        return {"word": "", "state": None}
    text = short_word_text(word, joined=joined, most=_MOST_SYMBOLS)
    return {"word": text, "state": states.get(word)}
