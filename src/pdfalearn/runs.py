"""Runs of many words through a transition table, and random walks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn.words import Words, offsets_of

_FEW = 64
"""Below this many words at once, one word after the other is faster than array steps."""


def visited_states(
    table: NDArray[np.int32], start: int | NDArray[np.int64], words: Words
) -> NDArray[np.int32]:
    """Return the states of the run of every word, from one state or from one state each.

    Word ``i`` of length k has k + 1 entries, the first of them at ``offsets[i] + i``. The table's
    last row is all -1, so that undefined leads to undefined.
    """
    if len(words) < _FEW:
        return _visited_by_few(table, start, words)
    begins = words.offsets[:-1] + np.arange(len(words))
    visited = np.empty(len(words.symbols) + len(words), dtype=np.int32)
    visited[begins] = start
    lengths = words.lengths
    longest_first = np.argsort(-lengths, kind="stable")
    running = np.cumsum(np.bincount(lengths)[::-1])[::-1]  # running[k]: words of length >= k
    position = 0
    while position + 1 < len(running) and running[position + 1] >= _FEW:
        active = longest_first[: running[position + 1]]
        here = begins[active] + position
        symbols = words.symbols[words.offsets[active] + position]
        visited[here + 1] = table[visited[here], symbols]
        position += 1
    if position + 1 < len(running):
        rest = longest_first[: running[position + 1]]
        here = begins[rest] + position
        tails = Words(*_tails(words, rest, position))
        places = np.repeat(here - tails.offsets[:-1] - np.arange(len(rest)), tails.lengths + 1)
        run = _visited_by_few(table, visited[here], tails)
        visited[places + np.arange(len(run))] = run
    return visited


def states_along(
    table: NDArray[np.int32], starts: NDArray[np.int64], words: Words
) -> NDArray[np.int64]:
    """Return the state after every symbol of every word, from a state each; -1 where undefined."""
    if len(words.symbols) == len(words) > 4 and (words.lengths == 1).all():
        return table[starts, words.symbols].astype(np.int64)
    if len(words) < _FEW:
        runs = _runs_of_few(table, starts.tolist(), words)
        return np.array([state for run in runs for state in run], dtype=np.int64)
    visited = visited_states(table, starts, words)
    after_symbol = np.ones(len(visited), dtype=bool)
    after_symbol[words.offsets[:-1] + np.arange(len(words))] = False
    return visited[after_symbol].astype(np.int64)


def _tails(
    words: Words, chosen: NDArray[np.intp], position: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return what some words have from a position on."""
    lengths = words.lengths[chosen] - position
    offsets = offsets_of(lengths)
    here = np.repeat(words.offsets[chosen] + position - offsets[:-1], lengths)
    return words.symbols[here + np.arange(int(offsets[-1]))], offsets


def _visited_by_few(
    table: NDArray[np.int32], start: int | NDArray[np.integer], words: Words
) -> NDArray[np.int32]:
    """Return the runs one word after the other."""
    starts = np.broadcast_to(start, len(words)).tolist()
    visited = []
    for state, run in zip(starts, _runs_of_few(table, starts, words), strict=True):
        visited.append(state)
        visited += run
    return np.array(visited, dtype=np.int32)


def _runs_of_few(table: NDArray[np.int32], starts: list[int], words: Words) -> list[list[int]]:
    """Return the states after every symbol, word by word."""
    width, successors = table.shape[1], table.reshape(-1).data
    runs = []
    for state, codes in zip(starts, words, strict=True):
        run = []
        for symbol in codes:
            state = successors[state * width + symbol]
            run.append(state)
        runs.append(run)
    return runs


def sampled_words(
    table: NDArray[np.int32],
    probabilities: NDArray[np.float64],
    start: int | NDArray[np.int32],
    count: int,
    max_length: int,
    random: np.random.Generator,
) -> tuple[Words, NDArray[np.bool_]]:
    """Draw words symbol by symbol, all at once; return also which were cut at the length.

    They begin in one state, or each in its own.
    """
    cumulative = np.cumsum(probabilities, axis=1)
    active = np.arange(count)
    states = np.full(count, start, dtype=np.int32)
    steps: list[tuple[NDArray[np.intp], NDArray[np.int32]]] = []
    for _ in range(max_length + 1):
        columns = drawn_columns(cumulative, states, random)
        going = columns > 0
        active, states, symbols = active[going], states[going], columns[going] - 1
        if not len(active):
            break
        steps.append((active, symbols.astype(np.int32)))
        states = table[states, symbols]
    cut = np.zeros(count, dtype=bool)
    if len(steps) > max_length:
        cut[steps.pop()[0]] = True
    return collected_words(steps, count), cut


def drawn_columns(
    cumulative: NDArray[np.float64], states: NDArray[np.int32], random: np.random.Generator
) -> NDArray[np.intp]:
    """Draw a column for each state: the first whose cumulative probability exceeds the draw."""
    draws = random.random(len(states)) * cumulative[states, -1]
    low = np.zeros(len(states), dtype=np.intp)
    high = np.full(len(states), cumulative.shape[1] - 1, dtype=np.intp)
    for _ in range(int(cumulative.shape[1] - 1).bit_length()):
        middle = (low + high) // 2
        below = cumulative[states, middle] <= draws
        low = np.where(below, np.minimum(middle + 1, high), low)
        high = np.where(below, high, middle)
    return low


def collected_words(steps: list[tuple[NDArray[np.intp], NDArray[np.int32]]], count: int) -> Words:
    """Join the symbols of words: for every place, the words that go on there, and their symbols."""
    lengths = np.zeros(count, dtype=np.int64)
    for active, _ in steps:
        lengths[active] += 1
    offsets = offsets_of(lengths)
    symbols = np.empty(int(offsets[-1]), dtype=np.int32)
    for position, (active, drawn) in enumerate(steps):
        symbols[offsets[active] + position] = drawn
    return Words(symbols, offsets)
