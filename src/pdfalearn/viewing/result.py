"""The page of a run: automaton, certificate, tree, how it went, and what it cost."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdfalearn.results import (
    ArcLabel,
    Certificate,
    NumberedNode,
    Progress,
    Result,
    TreeNode,
    Word,
    cost_texts,
    numbered_nodes,
)
from pdfalearn.text import LABELS, are_characters, short_word_text
from pdfalearn.viewing.automaton import automaton_data
from pdfalearn.viewing.page import Part
from pdfalearn.viewing.visits import cut_visits

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


MOST_ROWS = 300
"""Of longer histories this many rows, evenly spread, are on a page."""


def run_data(result: Result) -> dict[str, Any]:
    """Return how far learning had come before each equivalence query, and in the end.

    Returns
    -------
    dict
        ``rows`` are objects; ``counterexamples`` are those found so far, and None in runs of files
        that do not tell. ``steps`` is how many rows there are in all.
    """
    steps: list[Progress] = [*result.history, result.statistics]
    found = _found_before(result, len(steps))
    places = np.unique(np.linspace(0, len(steps) - 1, min(MOST_ROWS, len(steps))).round())
    return {
        "rows": [_row(steps[place], found, place) for place in places.astype(int).tolist()],
        "steps": len(steps),
    }


def _found_before(result: Result, count: int) -> list[int | None]:
    """Return how many counterexamples had been found before each step."""
    each = result.statistics.counterexamples
    if not each and result.statistics.equivalence_queries:
        return [None] * count
    sums = [0, *np.cumsum(each, dtype=np.int64).tolist()]
    return [sums[min(place, len(sums) - 1)] for place in range(count)]


def _row(step: Progress, found: list[int | None], place: int) -> dict[str, Any]:
    return {
        "queries": step.equivalence_queries,
        "states": step.states,
        "words": step.words,
        "symbols": step.symbols,
        "counterexamples": found[place],
        "seconds": round(step.learning_seconds + step.equivalence_seconds, 6),
    }


def certificate_data(certificate: Certificate, notes: tuple[str, ...]) -> dict[str, Any]:
    """Return what is known in words, and the notes."""
    return {
        "kind": certificate.kind,
        "statement": certificate.statement,
        "meaning": MEANINGS.get(certificate.kind, ""),
        "notes": list(notes),
    }


MEANINGS = {
    "exact": "This is proved.",
    "pac": "It is probably approximately correct: for the words that were drawn, and no others.",
    "tested": "No difference was found, and no more is known.",
    "stopped": "A bound was reached before learning was done.",
    "interrupted": "Somebody stopped it before learning was done.",
    "distilled": "It was measured on words that nothing was learnt from.",
}
"""What the kinds of certificates mean, for people who see one for the first time."""


def statistics_rows(result: Result) -> list[tuple[str, str]]:
    """Return what learning has cost, as labels and texts; what is 0 is left out."""
    statistics = result.statistics
    longest = max(statistics.longest_counterexamples, default=0)
    own = "" if result.equivalence is None else str(result.equivalence)
    rows = {
        "compared by": own or "an equivalence that the file does not keep",
        LABELS["states"]: f"{len(result.pdfa):,}",
        **cost_texts(statistics),
        "counterexamples": f"{sum(statistics.counterexamples):,}",
        "symbols of the longest counterexample": f"{longest:,}",
        "unresolved transitions": f"{len(result.unresolved):,}",
    }
    return [(label, text) for label, text in rows.items() if text != "0"]


def result_title(result: Result) -> str:
    """Return how the page of a run is called if nobody says."""
    states = len(result.pdfa)
    return f"Learnt PDFA of {states:,} state{'s' * (states != 1)}"


def result_parts(result: Result) -> list[Part]:
    """Return the parts of a run's page."""
    visits = cut_visits(result.pdfa).states
    return [
        Part("certificate", "", certificate_data(result.certificate, result.notes)),
        Part("automaton", "Automaton", automaton_data(result.pdfa)),
        Part("run", "The run", run_data(result)),
        Part("tree", "Classification tree", tree_data(result, visits)),
        Part("facts", "What it cost", {"rows": statistics_rows(result)}),
    ]
