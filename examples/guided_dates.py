"""A character model that is held to dates, and the automaton that is learnt from it.

A trigram model of characters is trained on the spot, on dates, costs and times as people write
them. A regular expression guides it to dates of one decade: 3,720 strings. The automaton's
distribution over them is compared with the model's, string by string.

Run with ``python examples/guided_dates.py``; it needs ``pip install '.[regex]'``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from pdfalearn import PDFA, Alphabet, Certificate, FunctionModel, Guided, Quantization, learn
from pdfalearn.equivalence import Equivalence
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.words import Words

ALPHABET = Alphabet("0123456789-/.:")
DATES = "202[0-9]-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
EVERY_DATE = [
    f"202{year}-{month:02}-{day:02}"
    for year, month, day in product(range(10), range(1, 13), range(1, 32))
]

Rows = NDArray[np.float64]


def corpus(count: int, seed: int) -> list[str]:
    """Draw dates in two notations, costs and times; early years and hours are rarer."""
    random = np.random.default_rng(seed)
    texts = []
    for form, a, b, c in random.random((count, 4)).tolist():
        year, month, day = 2029 - int(20 * a * a), 1 + int(12 * b), 1 + int(31 * c)
        if form < 0.4:
            texts.append(f"{year}-{month:02}-{day:02}")
        elif form < 0.6:
            texts.append(f"{day}/{month}/{year}")
        elif form < 0.8:
            texts.append(f"{100 * a * b:.2f}")
        else:
            texts.append(f"{23 - int(23 * a * a):02}:{int(60 * b):02}")
    return texts


class Trigrams:
    """How often each character follows two others; a call gives a distribution for each word."""

    def __init__(self, texts: Iterable[str]) -> None:
        size = len(ALPHABET) + 1  # 0 stands before a word and after it
        self._counts = np.full((size, size, size), 0.1)
        for text in texts:
            codes = [0, 0, *(ALPHABET.encode(text) + 1), 0]
            for first, second, third in zip(codes, codes[1:], codes[2:], strict=False):
                self._counts[first, second, third] += 1

    def __call__(self, words: Sequence[Sequence[object]]) -> Rows:
        """Return the distribution after each word, terminal first."""
        contexts = [[0, 0, *(ALPHABET.encode(word[-2:]) + 1)][-2:] for word in words]
        first, second = np.array(contexts).T
        counts = self._counts[first, second]
        rows: Rows = counts / counts.sum(axis=1, keepdims=True)
        return rows


def enumerated(model: Trigrams, strings: Sequence[str]) -> dict[str, Rows]:
    """Return the distribution after every prefix of the strings, restricted to these strings."""
    prefixes = list(dict.fromkeys(text[:end] for text in strings for end in range(len(text) + 1)))
    allowed = {prefix: np.zeros(len(ALPHABET) + 1, dtype=bool) for prefix in prefixes}
    for prefix in prefixes[1:]:
        allowed[prefix[:-1]][ALPHABET.index(prefix[-1]) + 1] = True
    for text in strings:
        allowed[text][0] = True
    rows = np.where([allowed[prefix] for prefix in prefixes], model(prefixes), 0.0)
    return dict(zip(prefixes, rows / rows.sum(axis=1, keepdims=True), strict=True))


class EveryWord:
    """An equivalence oracle that compares all words, as there are few enough of them."""

    certificate = Certificate("exact", "every word that the guide allows was compared")

    def __init__(self, truth: dict[str, Rows], equivalence: Equivalence) -> None:
        self._words, self._equivalence = list(truth), equivalence
        self._keys = equivalence.keys(np.array(list(truth.values())))

    def counterexamples(self, hypothesis: PDFA, observations: ObservationTree) -> Words:
        """Return the first words after which the classes differ."""
        ends = hypothesis.states_after(self._words)
        keys = self._equivalence.keys(hypothesis.probabilities)[ends]
        wrong = (ends < 0) | (keys != self._keys).any(axis=1)
        return ALPHABET.encode_words([self._words[place] for place in wrong.nonzero()[0][:50]])


def distribution(truth: dict[str, Rows]) -> Rows:
    """Return the probability of every date, from the distributions after its prefixes."""
    codes = {text: [*(ALPHABET.encode(text) + 1), 0] for text in EVERY_DATE}
    return np.array(
        [
            np.prod([truth[text[:place]][code] for place, code in enumerate(codes[text])])
            for text in EVERY_DATE
        ]
    )


def main() -> None:
    """Learn the guided model at several κ and print how far the automata are from it."""
    trigrams = Trigrams(corpus(3000, seed=1))
    truth = enumerated(trigrams, EVERY_DATE)
    expected = distribution(truth)
    model = Guided(FunctionModel(trigrams, ALPHABET), DATES)
    print("| κ | states | words asked | total variation | largest ratio |")
    print("| --- | --- | --- | --- | --- |")
    for kappa in (2, 10, 100, 1000, 10**6):
        equivalence = Quantization(kappa)
        result = learn(model, equivalence=equivalence, oracle=EveryWord(truth, equivalence))
        found = result.pdfa.word_probabilities(EVERY_DATE)
        variation = np.abs(found - expected).sum() / 2
        ratio = np.maximum(found / expected, expected / found).max()
        cells = f"{kappa} | {len(result.pdfa)} | {result.statistics.words}"
        print(f"| {cells} | {variation:.6f} | {ratio:.3f} |")


if __name__ == "__main__":
    main()
