"""Random questions to random models whose answers are known otherwise."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.random import Generator

from pdfalearn import PDFA, LanguageModel, probability
from pdfalearn.models import AutomatonModel, Batch, Rows

LANGUAGES = ["a*", "b.*", ".*ab.*", "(ab|ba)*", ".{0,3}", "a.?b*", "[^a]+", "(aa|b)*a?", "", "abba"]


class Partial(LanguageModel):
    """A model that tells the likeliest symbols only, and how much the others have together."""

    def __init__(self, pdfa: PDFA, told: int) -> None:
        self._model, self._told = AutomatonModel(pdfa), told
        self.alphabet = pdfa.alphabet

    def answer(self, batch: Batch) -> Rows:
        table = self._model.open().answer(batch).to_dense()
        offsets, columns, values, rest = [0], list[int](), list[float](), list[float]()
        for row in table:
            shown = sorted({0, *(1 + np.argsort(-row[1:])[: self._told]).tolist()})
            columns += shown
            values += row[shown].tolist()
            rest.append(max(0.0, 1 - float(row[shown].sum())))
            offsets.append(len(columns))
        return Rows.sparse(table.shape[1], offsets, columns, values, rest=rest)


def random_target(random: Generator) -> PDFA:
    """Return an automaton of few states over two or three symbols, whose words end."""
    size, symbols = int(random.integers(1, 6)), "abc"[: int(random.integers(2, 4))]
    rows = random.dirichlet(np.full(len(symbols) + 1, 0.7), size)
    rows[:, 1:][random.random((size, len(symbols))) < 0.1] = 0.0
    rows[:, 0] += 0.1
    rows /= rows.sum(axis=1, keepdims=True)
    transitions = random.integers(size, size=(size, len(symbols)))
    return PDFA(alphabet=symbols, transitions=transitions, probabilities=rows)


def random_languages(random: Generator) -> dict[str, str]:
    """Return one language or several by names."""
    count = int(random.integers(1, 4))
    return {f"L{n}": str(random.choice(LANGUAGES)) for n in range(count)}


def truth(pdfa: PDFA, pattern: str, match: str) -> float:
    """Return the probability of a match, computed exactly over all words."""
    if match == "begins":
        pattern = f"({pattern}).*"
    if match == "contains":
        pattern = f".*({pattern}).*"
    return probability(pdfa, pattern)


def matches(text: bytes, pattern: str, match: str) -> bool:
    """Return whether a text matches, by Python's own module."""
    found = re.compile(pattern.encode())
    if match == "whole":
        return found.fullmatch(text) is not None
    if match == "begins":
        return any(found.fullmatch(text[:n]) for n in range(len(text) + 1))
    return found.search(text) is not None


def row_of(network: Any, tokens: list[int]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the logits after tokens, computed whole."""
    import torch

    with torch.no_grad():
        logits: Any = network(torch.tensor([tokens])).logits[0, -1].double().numpy()
    return np.asarray(logits)
