"""Random questions to random models whose answers are known otherwise."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.random import Generator

from pdfalearn import PDFA, LanguageModel, probability
from pdfalearn.models import AutomatonModel, Batch, Rows

LANGUAGES = ["a*", "b.*", ".*ab.*", "(ab|ba)*", ".{0,3}", "a.?b*", "[^a]+", "(aa|b)*a?", "", "abba"]


Rows64 = np.ndarray[Any, np.dtype[np.float64]]


class Partial(LanguageModel):
    """A model that tells the likeliest symbols only, and how much the others have together."""

    def __init__(self, pdfa: PDFA, told: int) -> None:
        self._model, self._told = AutomatonModel(pdfa).open(), told
        self.alphabet = pdfa.alphabet

    def answer(self, batch: Batch) -> Rows:
        table = self._model.answer(batch).to_dense()
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


def other_target(pdfa: PDFA, random: Generator) -> PDFA:
    """Return an automaton that differs from another in some rows."""
    rows = pdfa.probabilities * random.uniform(0.7, 1.3, pdfa.probabilities.shape)
    rows /= rows.sum(axis=1, keepdims=True)
    return PDFA(alphabet=pdfa.alphabet, transitions=pdfa.transitions, probabilities=rows)


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
    """Return whether bytes match, by Python's own module."""
    starts = [text] if match == "whole" else [text[:n] for n in range(len(text) + 1)]
    found = re.compile(f"(?s:.)*(?:{pattern})" if match == "contains" else pattern)
    for start in starts:
        try:
            if found.fullmatch(start.decode()):
                return True
        except UnicodeDecodeError:  # what is not UTF-8 matches nothing
            continue
    return False


def tiny_llm(vocabulary: int, seed: int = 1) -> Any:
    """Return a small Llama with random weights."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=64,
        initializer_range=0.4,
    )
    return LlamaForCausalLM(config).eval()


def served(logits: Rows64, temperature: float, top_k: int | None, top_p: float | None) -> Rows64:
    """Return the distributions that tokens are drawn from, a row for each row of logits."""
    table = logits / temperature
    if top_k is not None:
        table = np.where(table < np.sort(table, axis=1)[:, -top_k][:, None], -np.inf, table)
    table = np.exp(table - table.max(axis=1, keepdims=True))
    table /= table.sum(axis=1, keepdims=True)
    if top_p is not None:
        for row in table:
            order = np.argsort(-row, kind="stable")
            kept = int(np.searchsorted(np.cumsum(row[order]), top_p)) + 1
            row[order[kept:]] = 0.0
        table /= table.sum(axis=1, keepdims=True)
    return np.asarray(table)
