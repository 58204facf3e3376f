"""Back-off n-gram models as PDFA: states are contexts.

The tables are filled from short contexts to long ones. A context first gets the row of the longest
of its suffixes that is a context, and then what its own n-grams say. For the successors that is the
construction of Aho and Corasick; the probabilities are multiplied by the back-off weight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet
from pdfalearn.checks import check_fits
from pdfalearn.io._lines import at_line
from pdfalearn.pdfa import PDFA, States
from pdfalearn.reachability import reachable_in
from pdfalearn.typing import Floats

Nodes = NDArray[np.int64]

LARGEST_CORRECTION = 1e-2
"""The probabilities of a context may sum to 1 within this much."""


@dataclass(frozen=True, eq=False)
class Grams:
    """All n-grams of one order: words as positions in the vocabulary, and what the file says."""

    words: NDArray[np.int32]  # a row for each n-gram
    probabilities: NDArray[np.float64]
    weights: NDArray[np.float64]  # back-off weights, 1 where there is none
    lines: Nodes

    def __len__(self) -> int:
        return len(self.words)

    def where(self, chosen: NDArray[np.bool_]) -> Grams:
        """Choose some of the n-grams."""
        return Grams(*(column[chosen] for column in vars(self).values()))


@dataclass(frozen=True, eq=False)
class Level:
    """The contexts of one length, numbered from ``begin`` on."""

    begin: int
    parents: Nodes  # each context without its last word
    words: Nodes  # its last word
    weights: NDArray[np.float64]  # its back-off weight, 1 if it has none
    lines: Nodes  # where its back-off weight stands, or its first n-gram

    @property
    def end(self) -> int:
        """The number after the last."""
        return self.begin + len(self.words)


@dataclass(frozen=True, eq=False)
class Contexts:
    """All contexts, shortest first; the empty one has number 0."""

    levels: list[Level]
    before: list[Nodes]  # for each order the contexts of its n-grams

    def __len__(self) -> int:
        return self.levels[-1].end

    def path(self, context: int) -> tuple[list[int], int]:
        """Return a context's words, and the line that an error should name."""
        length = sum(level.begin <= context for level in self.levels) - 1
        line = int(self.levels[length].lines[context - self.levels[length].begin])
        words = []
        for level in self.levels[length:0:-1]:
            words.append(int(level.words[context - level.begin]))
            context = int(level.parents[context - level.begin])
        return words[::-1], line


def contexts_of(orders: list[Grams], terminal: int, width: int) -> Contexts:
    """Find the contexts of n-grams whose words are below ``width``, none behind the terminal."""
    before = [np.zeros(len(grams), np.int64) for grams in orders]
    first_line = min((int(grams.lines[0]) for grams in orders if len(grams)), default=1)
    none = np.zeros(1, np.int64)
    levels = [Level(0, none, none, np.ones(1), np.array([first_line]))]
    for length, grams in enumerate(orders, start=1):
        # The context before an n-gram and its last word, in one number, say which n-gram it is.
        keys = before[length - 1] * width + grams.words[:, -1]
        _check_distinct(grams, keys)
        if length == len(orders):
            break
        # The n-grams that are contexts by their weight, and the beginnings of longer ones.
        has_weight = (grams.weights != 1) & (grams.words[:, -1] != terminal)
        groups = [(keys[has_weight], grams.lines[has_weight])]
        for nodes, longer in zip(before[length:], orders[length:], strict=True):
            groups.append((nodes * width + longer.words[:, length - 1], longer.lines))
        every_key, lines = (np.concatenate(parts) for parts in zip(*groups, strict=True))
        found, first, places = np.unique(every_key, return_index=True, return_inverse=True)
        weights = np.ones(len(found))
        weights[places[: has_weight.sum()]] = grams.weights[has_weight]
        level = Level(levels[-1].end, found // width, found % width, weights, lines[first])
        levels.append(level)
        cuts = np.cumsum([len(part) for part, _ in groups])
        before[length:] = np.split(level.begin + places, cuts)[1:-1]
    return Contexts(levels, before)


def _check_distinct(grams: Grams, keys: Nodes) -> None:
    # Equal keys are side by side once sorted; stable, so that the later line is to blame.
    order = np.argsort(keys, kind="stable")
    again = order[1:][np.diff(keys[order]) == 0]
    if len(again):
        raise at_line(int(grams.lines[again].min()), "this n-gram is already there; keep one")


START, TERMINAL, UNKNOWN = "<s>", "</s>", ("<unk>", "<UNK>")


def automaton_of(vocabulary: list[str], orders: list[Grams]) -> tuple[PDFA, float]:
    """Make a PDFA of all n-grams; return also how far from 1 a state's sum was at most."""
    orders = _without_impossible(orders, vocabulary)
    symbols = _symbols(orders, vocabulary)
    alphabet = Alphabet(symbols, TERMINAL)
    # In the order of columns; the start comes behind them, as it is never predicted.
    names = [TERMINAL, *symbols, START]
    orders = _recode(orders, vocabulary, names)
    contexts = contexts_of(orders, terminal=0, width=len(names))
    check_fits(len(contexts), len(symbols))
    links, successors = _successors(contexts, len(symbols))
    start = _start(contexts, len(symbols) + 1)
    kept = np.sort(reachable_in(successors, start).states).astype(np.int64)
    rows = _probabilities(contexts, links, orders, len(symbols))[kept]
    sums = rows.sum(axis=1)
    _check_sums(sums, kept, contexts, names)
    rows /= sums[:, np.newaxis]
    numbers = np.zeros(len(contexts), dtype=np.int32)
    numbers[kept] = np.arange(len(kept))
    pdfa = PDFA(
        alphabet=alphabet,
        transitions=numbers[successors[kept]],
        probabilities=rows,
        initial=int(numbers[start]),
    )
    return pdfa, float(np.abs(sums - 1).max())


def _without_impossible(orders: list[Grams], vocabulary: list[str]) -> list[Grams]:
    """Drop n-grams that go on behind the terminal or come back to the start."""
    start, terminal = (
        vocabulary.index(one) if one in vocabulary else -1 for one in (START, TERMINAL)
    )
    kept = []
    for grams in orders:
        goes_on, comes_back = grams.words[:, :-1] == terminal, grams.words[:, 1:] == start
        kept.append(grams.where(~(goes_on | comes_back).any(axis=1)))
    return kept


def _symbols(orders: list[Grams], vocabulary: list[str]) -> list[str]:
    """Return the words that are symbols: all, but the unknown word only if it has a probability."""
    is_symbol = np.zeros(len(vocabulary), dtype=bool)
    can_come = np.zeros(len(vocabulary), dtype=bool)
    for grams in orders:
        is_symbol[grams.words] = True
        can_come[grams.words[grams.probabilities > 0, -1]] = True
    for code, word in enumerate(vocabulary):
        if word in (START, TERMINAL) or (word in UNKNOWN and not can_come[code]):
            is_symbol[code] = False
    return [vocabulary[code] for code in np.flatnonzero(is_symbol)]


def _recode(orders: list[Grams], vocabulary: list[str], names: list[str]) -> list[Grams]:
    """Write n-grams in the codes of names; drop those with a word that is not among them."""
    numbers = {name: code for code, name in enumerate(names)}
    codes = np.array([numbers.get(word, -1) for word in vocabulary], dtype=np.int32)
    recoded = []
    for grams in orders:
        words = codes[grams.words]
        kept = np.all(words >= 0, axis=1)
        recoded.append(Grams(words, grams.probabilities, grams.weights, grams.lines).where(kept))
    return recoded


def _successors(contexts: Contexts, symbols: int) -> tuple[Nodes, States]:
    """Return each context's longest suffix, and the context after it and each symbol."""
    links = np.zeros(len(contexts), dtype=np.int64)
    successors = np.zeros((len(contexts), symbols), dtype=np.int32)
    for length, level in enumerate(contexts.levels[1:], start=1):
        nodes = np.arange(level.begin, level.end)
        columns = level.words - 1
        if length > 1:
            # The failure links of Aho and Corasick: where the parent's link leads by the last word.
            links[nodes] = successors[links[level.parents], columns]
        is_symbol = columns < symbols  # the start is not a symbol, but a context
        successors[level.parents[is_symbol], columns[is_symbol]] = nodes[is_symbol]
        _copy_rows(successors, links, level)
    return links, successors


def _copy_rows(table: Floats | States, links: Nodes, level: Level) -> None:
    """Copy to every context of a level the row of its longest suffix, from a level above."""
    above, here = table[: level.begin], table[level.begin : level.end]
    # Any other mode, and a source that is not apart, would make a copy first.
    np.take(above, links[level.begin : level.end], axis=0, out=here, mode="clip")


def _start(contexts: Contexts, start: int) -> int:
    """Return the context of the start alone, or the empty one if there is no such context."""
    for level in contexts.levels[1:2]:
        if start in level.words:
            return level.begin + int((level.words == start).argmax())
    return 0


def _probabilities(contexts: Contexts, links: Nodes, orders: list[Grams], symbols: int) -> Floats:
    """Return the probabilities after each context, as in the file; the start has no column."""
    rows = np.zeros((len(contexts), symbols + 1))
    for level, grams, before in zip(contexts.levels, orders, contexts.before, strict=True):
        if level.begin:
            # What is not listed after a context has the weighted probability of its suffix.
            _copy_rows(rows, links, level)
            with np.errstate(over="ignore", invalid="ignore"):  # sums will tell
                rows[level.begin : level.end] *= level.weights[:, np.newaxis]
        words = grams.words[:, -1]
        can_come = words <= symbols
        rows[before[can_come], words[can_come]] = grams.probabilities[can_come]
    return rows


def _check_sums(sums: Floats, kept: Nodes, contexts: Contexts, names: list[str]) -> None:
    bad = ~(np.abs(sums - 1) <= LARGEST_CORRECTION)
    if bad.any():
        place = int(np.argmax(bad))
        words, line = contexts.path(int(kept[place]))
        context = repr(" ".join(names[word] for word in words)) if words else "of no word"
        raise at_line(
            line,
            f"after the context {context} the probabilities sum to {sums[place]:.6g}, not to 1 "
            f"(within {LARGEST_CORRECTION:g}); train or convert the model again",
        )
