"""The pages of automata, runs, frontiers and pairs: which panels they have, and their data."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pdfalearn.errors import InputError
from pdfalearn.pdfa import PDFA, check_pdfa, pdfa_remedy
from pdfalearn.results import (
    ArcLabel,
    Certificate,
    Frontier,
    NumberedNode,
    Progress,
    Result,
    Word,
    cost_texts,
    frontier_header,
    numbered_nodes,
)
from pdfalearn.text import LABELS, are_characters, count_text, described, short_word_text
from pdfalearn.typing import Floats
from pdfalearn.viewing.automaton import (
    MOST_TRANSITIONS,
    automaton_data,
    automaton_title,
    comparison_data,
    finite_or_none,
)
from pdfalearn.viewing.choosing import cut_visits
from pdfalearn.viewing.page import HasParts, Page, Part, make_page

if TYPE_CHECKING:
    from pdfalearn.corpora import CorpusLike

# At most this many nodes of a tree are on a page.
MOST_NODES = 600
# Trees with more states times symbols are not on a page: they would take too long to make.
MOST_CELLS = 5_000_000
# Of the key of a class, this many numbers are shown.
_MOST_KEY = 8
# Words of trees are cut in the middle after this many symbols.
_MOST_SYMBOLS = 24
# Of longer histories this many rows, evenly spread, are on a page.
MOST_ROWS = 300
# What the kinds of certificates mean, for people who see one for the first time.
MEANINGS = {
    "exact": "This is proved.",
    "pac": "It is probably approximately correct: on words drawn as those of the test were.",
    "tested": "No difference was found, and no more is known.",
    "stopped": "A bound was reached before learning was done.",
    "interrupted": "Somebody stopped it before learning was done.",
    "distilled": "It was measured on words that nothing was learnt from. What is asked of an "
    "automaton is exact of that automaton, and only as near to what is behind it as this says: "
    "explore asks a model itself.",
}


def view(
    thing: object,
    *others: PDFA | CorpusLike,
    title: str | None = None,
    names: Sequence[str] | None = None,
) -> Page:
    """Make an interactive page: one file that needs no network.

    Parameters
    ----------
    thing : PDFA, Result, Frontier, Exploration or Drift
        What to look at.
    *others : PDFA, or one or two Corpus
        Beside an automaton: a second one over the same symbols, and the page shows where the two
        differ; or a corpus, and it shows what its words do and where they are odd; or two, and it
        shows what has changed between them, as `compare` does.
    title : str, optional
        The title of the page; if not given, it names the kind and the size.
    names : sequence of str, optional
        The names of the words of the one corpus, such as those of sessions.

    Returns
    -------
    Page
        ``page.save("view.html")`` writes it; in a notebook it shows itself.

    Raises
    ------
    InputError
        If the thing is none of these, or if the symbols of two automata differ.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> view(figure_1()).title
    'PDFA of 2 states over 1 symbol'
    >>> view(figure_1(), figure_1(0.25)).title
    'PDFA of 2 and of 2 states'
    >>> view(figure_1(), ["a", "aa"], ["aaa"]).title
    'PDFA of 2 states with 2 corpora'
    """
    if names is not None and (len(others) != 1 or isinstance(others[0], PDFA)):
        raise InputError("names are those of the words of one corpus")
    if len(others) == 1 and isinstance(others[0], PDFA):
        a, b = check_pdfa(thing, "thing"), others[0]
        name, parts = f"PDFA of {len(a):,} and of {len(b):,} states", pair_parts(a, b)
    elif others:
        name, parts = _view_words(check_pdfa(thing, "thing"), others, names)
    elif isinstance(thing, PDFA):
        name, parts = automaton_title(thing), [Part("automaton", "", automaton_data(thing))]
    elif isinstance(thing, Result):
        name, parts = f"Learnt PDFA of {count_text(len(thing.pdfa), 'states')}", result_parts(thing)
    elif isinstance(thing, Frontier):
        name, parts = _frontier_title(thing), frontier_parts(thing)
    elif isinstance(thing, HasParts):
        name, data = thing.page_parts()
        parts = [Part(*each) for each in data]
    else:
        raise InputError(
            f"there is no page of {described(thing)}; what has one: PDFA, Result, Frontier, "
            f"Exploration, Drift; "
            f"{pdfa_remedy(thing)}"
        )
    return make_page(name if title is None else str(title), parts)


def _view_words(
    pdfa: PDFA, others: tuple[object, ...], names: Sequence[str] | None
) -> tuple[str, list[Part]]:
    """Return the title and the parts of the page of an automaton with one or two corpora."""
    from pdfalearn.corpora import is_corpus  # other pages do not need it
    from pdfalearn.viewing.recorded_words import recorded_parts

    corpora = [other for other in others if is_corpus(other)]
    if len(others) == 1 and not corpora:
        check_pdfa(others[0], "other")
    if len(corpora) < len(others) or len(corpora) > 2:
        raise InputError("beside an automaton view shows one more, or one or two corpora")
    count = "a corpus" if len(corpora) == 1 else "2 corpora"
    name = f"PDFA of {count_text(len(pdfa), 'states')} with {count}"
    return name, recorded_parts(pdfa, corpora, names)


def result_parts(result: Result) -> list[Part]:
    """Return the parts of a run's page."""
    return [
        Part("certificate", "", certificate_data(result.certificate, result.notes)),
        Part("automaton", "Automaton", automaton_data(result.pdfa)),
        Part("run", "The run", run_data(result)),
        Part("tree", "Classification tree", tree_data(result, cut_visits(result.pdfa).states)),
        Part("facts", "What it cost", {"rows": statistics_rows(result)}),
    ]


def _frontier_title(frontier: Frontier) -> str:
    first, last = frontier.points[0].states, frontier.points[-1].states
    if len(frontier) == 1:
        return f"Frontier of one automaton of {count_text(first, 'states')}"
    return f"Frontier of {len(frontier):,} automata of {first:,} to {last:,} states"


def pair_parts(a: PDFA, b: PDFA) -> list[Part]:
    """Return the parts of the page of two automata."""
    compared = comparison_data(a, b)
    automata = [automaton_data(pdfa, most_transitions=MOST_TRANSITIONS // 2) for pdfa in (a, b)]
    names = [automaton_title(a), automaton_title(b)]
    return [Part("pair", "Where they differ", compared | {"automata": automata, "names": names})]


def frontier_parts(frontier: Frontier) -> list[Part]:
    """Return the parts of a frontier's page; all automata together are as large as one may be."""
    sizes = share_out([point.pdfa.transitions.size for point in frontier], MOST_TRANSITIONS)
    points = [
        {name: finite_or_none(value) for name, value in vars(point).items() if name != "pdfa"}
        for point in frontier
    ]
    measure = frontier_header(frontier)[1]
    curve = {
        "points": points,
        "best": frontier.points.index(frontier.point(len(frontier.best))),
        "knee": frontier.knee and frontier.points.index(frontier.point(frontier.knee)),
        "measure": measure,
        "modelPerplexity": frontier.model_perplexity,
        "automata": [
            automaton_data(point.pdfa, most_transitions=size)
            for point, size in zip(frontier, sizes, strict=True)
        ],
    }
    return [
        Part("certificate", "", certificate_data(frontier.certificate, frontier.notes)),
        Part("frontier", f"States against {measure}", curve),
    ]


def share_out(sizes: list[int], total: int) -> list[int]:
    """Share a total out so that the smaller ones have what they need, and the larger ones the same.

    Examples
    --------
    >>> share_out([10, 1000, 2, 1000], 112)
    [10, 50, 2, 50]
    """
    shares = [0] * len(sizes)
    for done, place in enumerate(sorted(range(len(sizes)), key=lambda place: sizes[place])):
        shares[place] = min(sizes[place], total // (len(sizes) - done))
        total -= shares[place]
    return shares


def certificate_data(certificate: Certificate, notes: tuple[str, ...]) -> dict[str, Any]:
    """Return what is known in words, and the notes."""
    return {
        "kind": certificate.kind,
        "statement": certificate.statement,
        "meaning": MEANINGS.get(certificate.kind, ""),
        "notes": list(notes),
    }


def run_data(result: Result) -> dict[str, Any]:
    """Return how far learning had come before each equivalence query, and in the end.

    ``counterexamples`` are those found so far, and None in runs of files that do not have them.
    ``steps`` is how many rows there are in all.
    """
    steps: list[Progress] = [*result.history, result.statistics]
    each = result.statistics.counterexamples
    sums = [0, *np.cumsum(each, dtype=np.int64).tolist()]
    is_known = bool(each) or not result.statistics.equivalence_queries
    places = np.unique(np.linspace(0, len(steps) - 1, min(MOST_ROWS, len(steps))).round())
    rows = [
        {
            "queries": steps[place].equivalence_queries,
            "states": steps[place].states,
            "words": steps[place].words,
            "symbols": steps[place].symbols,
            "counterexamples": sums[min(place, len(each))] if is_known else None,
            "seconds": round(steps[place].learning_seconds + steps[place].equivalence_seconds, 6),
        }
        for place in places.astype(int).tolist()
    ]
    return {"rows": rows, "steps": len(steps)}


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


def tree_data(result: Result, visits: Floats) -> dict[str, Any]:
    """Return what the panel of a classification tree shows, or why there is no tree.

    Nodes above states that words visit more come first, and parents before their children.
    """
    count, reason = len(result.kept_words), ""
    if result.kept_tree is None:
        reason = "The learner keeps a table, and no classification tree."
    elif count * len(result.pdfa.alphabet) > MOST_CELLS:
        reason = f"The tree of {count:,} states is too large for a page."
    if reason:
        return {"nodes": [], "reason": reason}
    nodes = numbered_nodes(result.tree)
    words = result.access_words
    # Of the states of an access word the first one counts, as copies may be added to agree.
    states = {words[state]: state for state in range(len(words) - 1, -1, -1)}
    leaves, weights = _sum_below(nodes, states, visits)
    chosen = _choose_nodes(nodes, weights)
    places = {number: place for place, number in enumerate(chosen)}
    is_joined = are_characters(result.pdfa.alphabet)

    def describe(number: int) -> dict[str, Any]:
        node, parent, arc = nodes[number]
        data = {
            "parent": None if parent is None else places[parent],
            "arc": _arc_data(arc),
            "leaves": leaves[number],
        }
        # A node without both is that of a run which stopped before there was a state.
        word = node.access_word if node.suffix is None else node.suffix
        text = "" if word is None else short_word_text(word, joined=is_joined, most=_MOST_SYMBOLS)
        if node.suffix is not None:
            return data | {"suffix": text}
        return data | {"word": text, "state": None if word is None else states.get(word)}

    return {
        "nodes": [describe(number) for number in chosen],
        "leaves": leaves[0],
        "inner": sum(bool(node.children) for node, _, _ in nodes),
    }


def _sum_below(
    nodes: list[NumberedNode], states: dict[Word, int], visits: Floats
) -> tuple[list[int], list[float]]:
    """Return how many leaves are below every node, and how often their states are visited."""
    leaves, weights = [0] * len(nodes), [0.0] * len(nodes)
    for number in range(len(nodes) - 1, -1, -1):  # children stand behind their parents
        node, parent, _ = nodes[number]
        if not node.children:
            leaves[number] = 1
            state = None if node.access_word is None else states.get(node.access_word)
            weights[number] = 0.0 if state is None else float(visits[state])
        if parent is not None:
            leaves[parent] += leaves[number]
            weights[parent] += weights[number]
    return leaves, weights


def _choose_nodes(nodes: list[NumberedNode], weights: list[float]) -> list[int]:
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


def _arc_data(key: ArcLabel) -> dict[str, Any] | None:
    """Return the beginning of a class's key, and how many numbers there are; None for undefined."""
    if key is None:
        return None
    shown = [f"{v:.4g}" if isinstance(v, float) else str(int(v)) for v in key[:_MOST_KEY]]
    return {"key": shown, "length": len(key)}
