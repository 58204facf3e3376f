"""What a frontier has: the likeliest words or texts, with what is certain of them, and rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pdfalearn.alphabet import Alphabet, Word
from pdfalearn.arrays import spelled
from pdfalearn.exploring.frontier import TAIL, Frontier
from pdfalearn.exploring.prefixes import Found
from pdfalearn.exploring.recording import Key, Row
from pdfalearn.languages import cut_at_stop
from pdfalearn.typing import Flags, Integers

# This many open prefixes are compared by the texts that they begin; others count for any text.
_MOST_COMPARED = 4096


@dataclass(frozen=True)
class Likely:
    """A word or text, and how likely it is.

    Examples
    --------
    >>> from pdfalearn import explore
    >>> from pdfalearn.datasets import figure_1
    >>> explore(figure_1(), ".{0,2}").likeliest(1)
    [Likely(word=('a',), probability=0.5, certified=True, is_whole=True)]
    """

    word: Word
    """The symbols; of an LLM the text, in which bytes that are no character are shown as �."""
    probability: float
    """At least this; no more than what is open higher. Of a text, over all ways to write it in
    tokens."""
    certified: bool
    """Whether it is likelier than all that was not found."""
    is_whole: bool
    """Whether it ended; else it is where the question was settled, whatever comes after it."""


def list_likeliest(
    frontier: Frontier, alphabet: Alphabet, prompt: int, count: int, labels: Flags, found: Found
) -> list[Likely]:
    """Return the likeliest prefixes with which some labels were settled behind a prompt."""
    wanted = frontier.node_prompts[found.nodes] == prompt
    places = (wanted & labels[found.labels] & (found.masses[:, 0] > 0)).nonzero()[0]
    masses = found.masses[places, 0]
    begin = _root_depth(frontier, prompt)
    nodes, symbols = found.nodes[places], found.symbols[places]
    if frontier.reading.spelling is None:
        order = np.argsort(-masses, kind="stable")[:count]
        beyond = float(frontier.untold[prompt, 0].sum())
        mine = frontier.items.prompts == prompt
        beyond += max(frontier.items.masses[mine, 0].max(initial=0.0), found.floor)
        return [
            Likely(
                alphabet.decode(_path(frontier, int(nodes[at]), int(symbols[at]))[begin:]),
                float(masses[at]),
                bool(masses[at] >= beyond),
                bool(symbols[at] < 0),
            )
            for at in order.tolist()
        ]
    # A text may be written in several ways: what is unlikely in each may still add up.
    order = np.argsort(-masses, kind="stable")[: 64 * count + 1024]
    paths = _paths(frontier, nodes[order], symbols[order], begin)
    texts: dict[tuple[bytes, bool], float] = {}
    for at, path in zip(order.tolist(), paths, strict=True):
        text, is_over = cut_at_stop(_spell(frontier, path), frontier.reading.stops)
        key = (text, is_over or bool(symbols[at] < 0))
        texts[key] = texts.get(key, 0.0) + float(masses[at])
    left = float(masses.sum() - masses[order].sum())
    beyond = _most_beyond(frontier, prompt, begin) + left + found.floor
    ordered = sorted(texts.items(), key=lambda pair: -pair[1])[:count]
    return [
        Likely(text.decode(errors="replace"), mass, mass >= beyond, is_whole)
        for (text, is_whole), mass in ordered
    ]


def spell_words(
    frontier: Frontier, alphabet: Alphabet, nodes: Integers, symbols: Integers
) -> list[Word]:
    """Return the words of nodes with one symbol more unless it is negative, without prompts."""
    words: list[Word] = []
    for node, symbol in zip(nodes.tolist(), symbols.tolist(), strict=True):
        begin = _root_depth(frontier, int(frontier.node_prompts[node]))
        path = _path(frontier, node, symbol)[begin:]
        if frontier.reading.spelling is None:
            words.append(alphabet.decode(path))
        else:
            text, _ = cut_at_stop(_spell(frontier, path), frontier.reading.stops)
            words.append(text.decode(errors="replace"))
    return words


def _root_depth(frontier: Frontier, prompt: int) -> int:
    return len(_path(frontier, int(frontier.roots[prompt]), -1))


def _path(frontier: Frontier, node: int, symbol: int) -> list[int]:
    """Return the symbols of a node, and one more unless it is negative."""
    (path,) = _paths(frontier, np.array([node]), np.array([symbol]), 0)
    return path


def _paths(frontier: Frontier, nodes: Integers, symbols: Integers, begin: int) -> list[list[int]]:
    flat, offsets = spelled(frontier.parents, frontier.symbols, nodes)
    return [
        [*flat[first + begin : last].tolist(), *([int(symbol)] if symbol >= 0 else [])]
        for first, last, symbol in zip(offsets, offsets[1:], symbols, strict=False)
    ]


def _spell(frontier: Frontier, path: Sequence[int]) -> bytes:
    spelling = frontier.reading.spelling or ()
    return b"".join(spelling[symbol] or b"" for symbol in path)


def _most_beyond(frontier: Frontier, prompt: int, begin: int) -> float:
    """Return the most that is open of any one text.

    Open prefixes that spell beginnings of one another may all go on to one text: what counts is
    the largest sum along a chain of such, besides what is too unlikely to be looked at.
    """
    items = frontier.items
    mine = (items.prompts == prompt).nonzero()[0]
    masses = items.masses[mine, 0]
    is_fresh = items.symbols[mine] != TAIL
    rest = float(frontier.untold[prompt, 0].sum() + masses[~is_fresh].sum())
    mine, masses = mine[is_fresh], masses[is_fresh]
    order = np.argsort(-masses)[:_MOST_COMPARED]
    rest += float(masses.sum() - masses[order].sum())
    paths = _paths(frontier, items.parents[mine[order]], items.symbols[mine[order]], begin)
    sums: dict[bytes, float] = {}
    for path, mass in zip(paths, masses[order].tolist(), strict=True):
        text, stops = _spell(frontier, path), frontier.reading.stops
        # Stops that it may be about to write are cut off.
        pending = [n for stop in stops for n in range(1, len(stop)) if text.endswith(stop[:n])]
        text = text[: len(text) - max(pending, default=0)]
        sums[text] = sums.get(text, 0.0) + mass
    most = 0.0
    chain: list[tuple[bytes, float]] = []
    for text in sorted(sums):
        while chain and not text.startswith(chain[-1][0]):
            chain.pop()
        total = sums[text] + (chain[-1][1] if chain else 0.0)
        chain.append((text, total))
        most = max(most, total)
    return most + rest


def collect_rows(frontier: Frontier) -> dict[Key, Row]:
    """Return what is known of the first model's rows: what is open behind each prefix."""
    items = frontier.items
    size, kinds = frontier.size, frontier.reading.control + 2
    masses = frontier.node_masses[:size, 0]
    asked = masses.nonzero()[0]
    inner = asked[frontier.node_prompts[frontier.parents[asked]] >= 0]
    inner = inner[frontier.depths[inner] > 0]
    fresh = (items.symbols >= 0).nonzero()[0]
    parts: list[tuple[Any, ...]] = [
        (frontier.parents[inner], frontier.symbols[inner], masses[inner], kinds - 1),
        (items.parents[fresh], items.symbols[fresh], items.masses[fresh, 0], kinds - 1),
    ]
    parts += [
        (found.nodes, found.symbols, found.masses[:, 0], found.labels)
        for found in (frontier.found, frontier.other)
    ]
    nodes, symbols, listed, labels = (
        np.concatenate([np.broadcast_to(part[n], len(part[0])) for part in parts]) for n in range(4)
    )
    order = np.lexsort((symbols, nodes))
    order = order[listed[order] > 0]
    nodes, symbols, listed, labels = (column[order] for column in (nodes, symbols, listed, labels))
    begins, ends = np.searchsorted(nodes, asked), np.searchsorted(nodes, asked, side="right")
    flat, offsets = spelled(frontier.parents, frontier.symbols, asked)
    rows: dict[Key, Row] = {}
    for place, node in enumerate(asked.tolist()):
        here, mass = slice(begins[place], ends[place]), masses[node]
        rests = frontier.node_settled[node, 0].copy()
        np.subtract.at(rests, labels[here], listed[here])
        rests[-1] = 0.0 if frontier.map_of(node).live.size else max(0.0, rests[-1])
        rests = np.maximum(rests / mass, 0.0)
        values = listed[here] / mass
        untold = max(0.0, 1.0 - float(values.sum() + rests.sum()))
        word = tuple(flat[offsets[place] : offsets[place + 1]].tolist())
        key = int(frontier.node_states[node]), word
        rows[key] = Row(symbols[here].astype(np.int32) + 1, values, rests, untold)
    return rows
