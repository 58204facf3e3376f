"""What pages show of explorations and of drift: data for panels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pdfalearn.exploring.frontier import Frontier
from pdfalearn.text import are_characters, count_text, short_word_text, shorten, symbol_text
from pdfalearn.typing import Floats

if TYPE_CHECKING:
    from pdfalearn.alphabet import Alphabet, Word
    from pdfalearn.exploring.drifting import Drift
    from pdfalearn.exploring.exploration import Exploration

Parts = list[tuple[str, str, dict[str, Any]]]

# The most beginnings, listed answers and steps on a page.
_MOST_NODES, _LISTED, _MOST_STEPS = 160, 15, 200
# Beginnings at least so likely are open at first.
_OPENED = 0.02
_SOUND = "Bounds are certain, about the model in the numerics in which it computes here."


def exploration_page(found: Exploration, meaning: str) -> tuple[str, Parts]:
    """Return the title and the parts of the page of an exploration."""
    notes = [f"open, {name}: {mass:.3g}" for name, mass in found.open.items() if mass > 0]
    notes += [f"{name}: {mass:.3g}" for name, mass in found.asides.items()]
    known = {
        "kind": "certain",
        "statement": f"{'On average over the prompts, any' if len(found.prompts) > 1 else 'Any'} "
        f"match has a probability from {found.low:.6f} to {found.high:.6f}: {meaning}. "
        f"{count_text(found.calls, 'calls')}, stopped by {found.stopped}.",
        "meaning": _SOUND,
        "notes": notes,
    }
    parts: Parts = [("certificate", "", known)]
    if len(found.prompts) == 1:
        prompt = shorten(found.prompts[0], 60)
        title = f"Answers to: {prompt}" if prompt else "Answers of a live model"
        return title, parts + _parts_of_one(found)
    rows = [(name or "(nothing)", low, high, "") for name, low, high in found.prompts_table()]
    header = ["prompt", *(f"{name}, {end}" for name in found.names for end in ("from", "to"))]
    figures = [
        [
            one.prompts[0],
            *(f"{end:.6f}" for name in found.names for end in (one[name].low, one[name].high)),
        ]
        for one in map(found.behind, found.prompts)
    ]
    bars = {**_bars([*rows, ("mean", found.low, found.high, "total")]), "text": "Any match."}
    parts.append(("bounds", "By prompt", {**bars, "figures": {"header": header, "rows": figures}}))
    return f"Answers to {len(rows):,} prompts", [*parts, *_trace_part(found)]


def _parts_of_one(found: Exploration) -> Parts:
    kinds = {"any of these": "total", "none of these": "other"}
    rows = [(name, low, high, kinds.get(name, "")) for name, low, high in found.languages_table()]
    lists = [
        {
            "heading": heading,
            "header": ["answer", "probability", "certified"],
            "rows": [
                (_word(one.word), f"{one.probability:.3g}", "yes" if one.certified else "no")
                for one in listed
            ],
        }
        for heading, listed in (
            ("The likeliest that match", found.likeliest(_LISTED)),
            ("What it says instead", found.instead(_LISTED)),
        )
    ]
    tree = {"nodes": _tree(found._run.frontier, found._run.alphabet, found._rows[0])}
    return [
        ("bounds", "How likely", _bars(rows)),
        *_trace_part(found),
        ("lists", "Likely answers", {"lists": lists}),
        ("answers", "Beginnings of answers", {**tree, "open": _OPENED}),
    ]


def _bars(rows: list[tuple[str, float, float, str]]) -> dict[str, Any]:
    most = max(high for _, _, high, _ in rows)
    scale = next(scale for scale in (0.001, 0.01, 0.1, 0.25, 0.5, 1.0) if most <= scale)
    text = "" if scale == 1 else f"Bars end at {scale:g}."
    return {"rows": rows, "scale": scale, "text": text, "known": "certain"}


def _trace_part(found: Exploration) -> Parts:
    places = np.unique(np.linspace(0, len(found.trace) - 1, _MOST_STEPS).round().astype(int))
    steps = [found.trace[place]._asdict() for place in places.tolist()]
    return [("closing", "How the bounds closed", {"steps": steps})] if len(steps) > 1 else []


def _word(word: Word) -> str:
    if isinstance(word, str):
        return repr(word)
    return short_word_text(word, joined=are_characters(word))


def _tree(frontier: Frontier, alphabet: Alphabet, prompt: int) -> list[dict[str, Any]]:
    """Return the likeliest beginnings, each behind its parent, with shares of what they come to."""
    asked = (frontier.node_prompts[: frontier.size] == prompt).nonzero()[0]
    asked = asked[frontier.node_masses[asked, 0] > 0]
    sums = _sums_below(frontier, asked)
    items, root = frontier.items, int(frontier.roots[prompt])
    # Node, symbol behind it, mass, and how much of that matches or cannot.
    rows = [
        (int(frontier.parents[node]), int(frontier.symbols[node]), node, mass, *known)
        for node, mass, known in zip(
            asked.tolist(),
            frontier.node_masses[asked, 0].tolist(),
            sums[asked].tolist(),
            strict=True,
        )
        if node != root
    ]
    for found, is_match in ((frontier.found, True), (frontier.other, False)):
        here = (frontier.node_prompts[found.nodes] == prompt).nonzero()[0]
        listed = zip(found.nodes[here], found.symbols[here], found.masses[here, 0], strict=True)
        rows += [
            (int(node), int(symbol), -1, float(mass), mass * is_match, mass * (not is_match))
            for node, symbol, mass in listed
        ]
    here = ((items.prompts == prompt) & (items.symbols >= 0)).nonzero()[0]
    here = here[np.argsort(-items.masses[here, 0], kind="stable")[:_MOST_NODES]]
    rows += [
        (int(items.parents[at]), int(items.symbols[at]), -1, float(items.masses[at, 0]), 0.0, 0.0)
        for at in here.tolist()
    ]
    # No beginning is likelier than its own one, so that the likeliest have all theirs among them.
    rows = sorted(rows, key=lambda row: (-row[3], row[2] < 0, row[2]))[: _MOST_NODES - 1]
    rows = [(-1, -1, root, 1.0, *sums[root].tolist()), *rows]
    places = {row[2]: place for place, row in enumerate(rows) if row[2] >= 0}
    return [
        {
            "parent": places[parent] if place else None,
            "text": _edge_text(frontier, alphabet, symbol) if place else "all answers",
            "mass": mass,
            "match": min(1.0, match / mass),
            "fail": min(1.0, fail / mass),
            "open": max(0.0, 1 - (match + fail) / mass),
        }
        for place, (parent, symbol, _, mass, match, fail) in enumerate(rows)
        if mass > 0
    ]


def _sums_below(frontier: Frontier, asked: np.ndarray[Any, Any]) -> Floats:
    """Return for every node what matches and what cannot, in all that is behind it."""
    settled = frontier.node_settled[: frontier.size, 0]
    sums = np.stack([settled[:, 1:-2].sum(axis=1), settled[:, [0, -2, -1]].sum(axis=1)], axis=1)
    depths = frontier.depths[asked]
    for depth in range(int(depths.max(initial=0)), 0, -1):
        here = asked[depths == depth]
        np.add.at(sums, frontier.parents[here], sums[here])
    return sums


def _edge_text(frontier: Frontier, alphabet: Alphabet, symbol: int) -> str:
    if symbol < 0:
        return "▪"
    spelling = frontier.reading.spelling
    if spelling is None:
        return symbol_text(alphabet.symbols[symbol])
    text = spelling[symbol]
    return "(control)" if text is None else repr(text.decode(errors="replace"))


def drift_page(found: Drift) -> tuple[str, Parts]:
    """Return the title and the parts of the page of two models."""
    known = {
        "kind": "certain",
        "statement": f"The classes are from {found.low:.6g} to {found.high:.6g} apart, in total "
        f"variation, behind the prompt where that is most. "
        f"{count_text(found.calls, 'calls')} of each model, stopped by {found.stopped}.",
        "meaning": f"{_SOUND} Rounding alone moves classes by up to {found.noise:.2g}, and answers "
        f"by {found.answers_noise:.2g}, by which the bounds are widened."
        if found.noise_calls
        else f"{_SOUND} What rounding moves was not measured.",
        "notes": [],
    }
    bounds = []
    for one in found.prompts:
        before = f"{one.prompt}: " if len(found.prompts) > 1 else ""
        bounds.append((f"{before}classes", one.low, one.high, ""))
        bounds.append((f"{before}answers", one.answers_low, one.answers_high, ""))
    rows = [
        {"word": one.describe(_word(one.word)), "a": one.a, "b": one.b, "share": one.share}
        for one in found.differences
    ]
    text = "Answers and beginnings that differ most, behind the prompt where most differs."
    parts: Parts = [
        ("certificate", "", known),
        ("bounds", "How far they are apart", _bars(bounds)),
    ]
    if rows:
        parts.append(("differences", "What differs most", {"rows": rows, "text": text}))
    return "Two live models", parts
