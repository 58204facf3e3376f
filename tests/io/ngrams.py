"""Back-off n-gram models for tests: random ones as ARPA text, and their meaning, slowly."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import numpy as np

START, END = "<s>", "</s>"
Words = tuple[str, ...]


class SlowModel:
    """What an ARPA text says, read and computed in the plainest way."""

    def __init__(self, text: str) -> None:
        self.probabilities: dict[Words, float] = {}
        self.weights: dict[Words, float] = {}
        self.order = 0
        for line in text.splitlines():
            if line.endswith("-grams:"):
                self.order = int(line[1:].removesuffix("-grams:"))
            elif self.order and line and not line.startswith("\\"):
                first, *rest = line.split()
                words = tuple(rest[: self.order])
                self.probabilities[words] = number(first)
                self.weights[words] = number(rest[-1]) if len(rest) > self.order else 1.0

    def symbols(self) -> set[str]:
        """All words of n-grams that can be, without the marks or an unknown word of no mass."""
        grams = [w for w in self.probabilities if END not in w[:-1] and START not in w[1:]]
        coming = {words[-1] for words in grams if self.probabilities[words]}
        return {*sum(grams, ())} - {START, END} - ({"<unk>", "<UNK>"} - coming)

    def probability(self, history: Words, word: str) -> float:
        """P(word | history) by backing off."""
        if (*history, word) in self.probabilities:
            return self.probabilities[*history, word]
        if not history:
            return 0.0
        return self.weights.get(history, 1.0) * self.probability(history[1:], word)

    def row(self, word: Iterable[str], symbols: Iterable[str]) -> list[float]:
        """What comes after a word, the terminal first, as it is in the file."""
        history = (START, *word)
        history = history[max(0, len(history) - self.order + 1) :]
        return [self.probability(history, symbol) for symbol in (END, *symbols)]


def number(logarithm: str) -> float:
    return 0.0 if float(logarithm) <= -99 else 10.0 ** float(logarithm)


class RandomModel:
    """A random model whose contexts sum to 1 as far as the digits of its numbers go."""

    def __init__(
        self, seed: int, order: int, *, words: str = "abc", unknown: str = "", digits: int = 17
    ) -> None:
        self._random = np.random.default_rng(seed)
        self._digits = digits
        self._lines: list[dict[Words, str]] = [{} for _ in range(order)]
        self._model = SlowModel("")
        self._symbols = [END, *words, *([unknown] if unknown else [])]
        self._add_words()
        for length in range(1, order):
            firsts = [START, *self._symbols[1:]]
            for context in product(firsts, *[self._symbols[1:]] * (length - 1)):
                if self._random.random() < 0.5:
                    self._add_context(context)
            self._add_nonsense(length)

    def text(self) -> str:
        """The model as an ARPA file."""
        parts = ["Made by a test.", "", "\\data\\"]
        parts += [f"ngram {n}={len(lines)}" for n, lines in enumerate(self._lines, start=1)]
        for order, lines in enumerate(self._lines, start=1):
            parts += ["", f"\\{order}-grams:", *lines.values()]
        return "\n".join([*parts, "", "\\end\\", ""])

    def _add_words(self) -> None:
        shares = self._shares(len(self._symbols))
        for symbol, share in zip(self._symbols, shares, strict=True):
            # Some words are in longer n-grams only.
            if share or symbol == "a" or self._random.random() < 0.5:
                self._add((symbol,), share)
        self._add((START,), float(self._random.choice([0.0, 1.0])))

    def _add_context(self, context: Words) -> None:
        """List words after a context, with a back-off weight or with the mass they had before."""
        listed = [symbol for symbol in self._symbols if self._random.random() < 0.5]
        if not listed:
            return
        mass = sum(self._model.probability(context[1:], symbol) for symbol in listed)
        if context in self._model.weights and mass < 0.9 and self._random.random() < 0.7:
            share = float(self._random.choice([0.1, 0.5, 1.0]))
            self._add(context, None, weight=(1 - share) / (1 - mass))
            mass = share
        for symbol, share in zip(listed, self._shares(len(listed)), strict=True):
            self._add((*context, symbol), mass * share)

    def _add_nonsense(self, length: int) -> None:
        """List what no word can reach: beyond the terminal, or back at the start."""
        for words in ((END, START), ("a", END, "b"), ("b", START)):
            if len(words) == length + 1:
                self._add(words, 0.9, weight=0.7)

    def _shares(self, count: int) -> list[float]:
        weights = self._random.choice([0.0, 0.1, 1.0, 2.5], size=count)
        weights[self._random.integers(count)] += 1.0
        return [float(weight) for weight in weights / weights.sum()]

    def _add(self, words: Words, probability: float | None, weight: float | None = None) -> None:
        """Put an n-gram into the text and, as the text has it, into the model."""
        if probability is None:
            probability = self._model.probabilities[words]
        is_highest = len(words) == len(self._lines)
        fields = [self._logarithm(probability), *words]
        if weight is not None and not is_highest:
            fields.append(self._logarithm(weight))
        self._lines[len(words) - 1][words] = "\t".join(fields)
        self._model.probabilities[words] = number(fields[0])
        self._model.weights[words] = 1.0 if weight is None else weight

    def _logarithm(self, value: float) -> str:
        return f"{np.log10(value):.{self._digits}g}" if value else "-99"
