"""Back-off n-gram models as PDFA: states are contexts.

The tables are filled from short contexts to long ones. A context first gets the row of the longest
of its suffixes that is a context, and then what its own n-grams say. For the successors that is the
construction of Aho and Corasick; the probabilities are multiplied by the back-off weight.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from pdfalearn.alphabet import Alphabet
from pdfalearn.checks import check_fits
from pdfalearn.files import at_line
from pdfalearn.pdfa import PDFA
from pdfalearn.reachability import reachable_in

LARGEST_CORRECTION = 1e-2
"""The probabilities of a context may sum to 1 within this much."""
START, TERMINAL, UNKNOWN = "<s>", "</s>", ("<unk>", "<UNK>")

Texts = tuple[str, ...]


class Gram(NamedTuple):
    """What a file says of an n-gram, and in which line."""

    probability: float
    weight: float  # for backing off; 1 where there is none
    line: int


Grams = dict[Texts, Gram]


def automaton_of(grams: Grams, order: int) -> tuple[PDFA, float]:
    """Make a PDFA of all n-grams; return also how far from 1 a state's sum was at most."""
    vocabulary = dict.fromkeys(word for words in grams for word in words)
    # Nothing goes on behind the terminal, and nothing comes back to the start.
    grams = {
        words: gram
        for words, gram in grams.items()
        if TERMINAL not in words[:-1] and START not in words[1:]
    }
    # The unknown word is a symbol only if it has a probability.
    can_come = {words[-1] for words, gram in grams.items() if gram.probability > 0}
    left_out = {START, TERMINAL, *(word for word in UNKNOWN if word not in can_come)}
    used = {word for words in grams for word in words} - left_out
    symbols = [word for word in vocabulary if word in used]
    # In the order of columns; the start comes behind them, as it is never predicted.
    codes = {name: code for code, name in enumerate([TERMINAL, *symbols, START])}
    grams = {words: gram for words, gram in grams.items() if codes.keys() >= {*words}}
    alphabet = Alphabet(symbols, TERMINAL)
    lines = _find_contexts(grams, order)
    contexts = sorted(lines, key=lambda words: (len(words), [codes[word] for word in words]))
    numbers = {words: number for number, words in enumerate(contexts)}
    listed, children = defaultdict[Texts, Grams](dict), defaultdict[Texts, list[Texts]](list)
    for words, gram in grams.items():
        listed[words[:-1]][words] = gram
    for words in contexts[1:]:
        children[words[:-1]].append(words)
    check_fits(len(contexts), len(symbols))
    rows = np.zeros((len(contexts), len(symbols) + 2))  # a column for the start, too, to be cut off
    successors = np.zeros((len(contexts), len(symbols) + 2), dtype=np.int32)
    for number, words in enumerate(contexts):
        if words:
            suffix = words[1:]
            while suffix not in numbers:
                suffix = suffix[1:]
            weight = grams[words].weight if words in grams else 1.0
            with np.errstate(over="ignore", invalid="ignore"):  # sums will tell
                rows[number] = weight * rows[numbers[suffix]]
            successors[number] = successors[numbers[suffix]]
        for longer in children[words]:
            successors[number, codes[longer[-1]]] = numbers[longer]
        for longer, gram in listed[words].items():
            rows[number, codes[longer[-1]]] = gram.probability
    rows, table = rows[:, :-1], successors[:, 1:-1]
    start = numbers.get((START,), 0)
    kept = np.sort(reachable_in(table, start).states)
    sums = rows[kept].sum(axis=1)
    for state, total in zip(kept.tolist(), sums.tolist(), strict=True):
        if not abs(total - 1) <= LARGEST_CORRECTION:
            shown = repr(" ".join(contexts[state])) if state else "of no word"
            raise at_line(
                lines[contexts[state]],
                f"after the context {shown} the probabilities sum to {total:.6g}, not to 1 "
                f"(within {LARGEST_CORRECTION:g}); train or convert the model again",
            )
    places = np.zeros(len(contexts), dtype=np.int32)
    places[kept] = np.arange(len(kept))
    pdfa = PDFA(
        alphabet=alphabet,
        transitions=places[table[kept]],
        probabilities=rows[kept] / sums[:, np.newaxis],
        initial=int(places[start]),
    )
    return pdfa, float(np.abs(sums - 1).max())


def _find_contexts(grams: Grams, order: int) -> dict[Texts, int]:
    """Find the contexts of n-grams, and for each the line that an error should name.

    These are n-grams with a weight, and what longer ones begin with.
    """
    lines: dict[Texts, int] = {(): min((gram.line for gram in grams.values()), default=1)}
    for words, gram in grams.items():
        if gram.weight != 1 and len(words) < order and words[-1] != TERMINAL:
            lines[words] = gram.line
    for words, gram in grams.items():
        for length in range(1, len(words)):
            lines.setdefault(words[:length], gram.line)
    return lines
