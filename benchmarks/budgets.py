"""What `learn` makes of a budget: mean divergence per symbol for growing `max_symbols`.

Run with ``python -m benchmarks.budgets``, or with names of families for only those; networks need
``pip install '.[torch]'``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from statistics import mean
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.support import print_header, print_row
from pdfalearn import PDFA, Budget, LanguageModel, Quantization, Result, evaluate, learn
from pdfalearn.datasets import random_pdfa
from pdfalearn.models import AutomatonModel, Rows
from pdfalearn.models.batch import Batch

if TYPE_CHECKING:
    from torch import nn

LETTERS = "abcdefghijklmnopqrstuvwxyz"
BUDGETS = (500, 2_000, 8_000, 32_000)
WORDS, LONGEST = 1_000, 100
"""The divergence is measured on this many fresh words of the model, cut at this length."""
KAPPAS = (20, 100, 1000)


def skewed_pdfa(states: int, symbols: int, seed: int) -> PDFA:
    """Make an automaton whose states have few likely symbols each, as in natural language."""
    random = np.random.default_rng(seed)
    rows = np.full((states, symbols + 1), 0.05)
    rows[:, 1:] = 0.95 * (0.01 / symbols + 0.99 * random.dirichlet(np.full(symbols, 0.3), states))
    return PDFA(
        alphabet=LETTERS[:symbols],
        transitions=random.integers(states, size=(states, symbols)),
        probabilities=rows,
    )


class NoisyModel(LanguageModel):
    """An automaton whose probabilities change a little with the last symbols of the word.

    Parameters
    ----------
    pdfa : PDFA
        The automaton.
    noise : float
        The standard deviation of the logarithms.
    memory : int
        How many of the last symbols decide.
    """

    def __init__(self, pdfa: PDFA, noise: float = 0.1, memory: int = 4) -> None:
        self.alphabet = pdfa.alphabet
        self._pdfa = pdfa
        self._memory = memory
        random = np.random.default_rng(0)
        self._factors = np.exp(noise * random.standard_normal((997, len(pdfa.alphabet) + 1)))

    def answer(self, batch: Batch) -> Rows:
        """Return the automaton's rows, times what the last symbols choose."""
        words = list(batch.words)
        rows = self._pdfa.next_distributions([self.alphabet.decode(codes) for codes in words])
        base = len(self.alphabet) + 1
        last = [list(codes)[-self._memory :] for codes in words]
        keys = [sum((code + 1) * base**place for place, code in enumerate(end)) for end in last]
        rows = rows * self._factors[np.array(keys, dtype=np.int64) % len(self._factors)]
        return Rows.dense(rows / rows.sum(axis=1, keepdims=True))


def _layers(symbols: int, hidden: int, seed: int) -> tuple[nn.Embedding, nn.GRU, nn.Linear]:
    """Make an embedding, a GRU and a head with random weights."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    embedding = torch.nn.Embedding(symbols + 1, hidden)
    return embedding, torch.nn.GRU(hidden, hidden), torch.nn.Linear(hidden, symbols + 1)


def untrained_gru(symbols: int, seed: int, *, sharpness: float = 6.0) -> LanguageModel:
    """Make a GRU whose distributions are rather flat, and differ after every word."""
    import torch

    from pdfalearn import RecurrentModel

    layers = _layers(symbols, 24, seed)
    with torch.no_grad():
        layers[2].weight *= sharpness
    return RecurrentModel.of_layers(*layers, LETTERS[:symbols])


def trained_gru(pdfa: PDFA, seed: int, *, steps: int = 300) -> LanguageModel:
    """Train a GRU for a few seconds on words of an automaton."""
    import torch

    from pdfalearn import RecurrentModel

    layers = embedding, recurrent, head = _layers(len(pdfa.alphabet), 32, seed)
    parameters = torch.nn.ModuleList(layers).parameters()
    optimizer = torch.optim.Adam(parameters, lr=0.01)
    words = pdfa.sample(64 * steps, seed=seed, max_length=40).words
    codes = [torch.tensor([0, *(c + 1 for c in pdfa.alphabet.encode(word)), 0]) for word in words]
    for step in range(steps):
        batch = codes[64 * step : 64 * step + 64]
        table = torch.nn.utils.rnn.pad_sequence(batch, padding_value=-1)
        logits = head(recurrent(embedding(table[:-1].clamp(min=0)))[0])
        loss = torch.nn.functional.cross_entropy(
            logits.flatten(0, 1), table[1:].flatten(), ignore_index=-1
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return RecurrentModel.of_layers(*layers, pdfa.alphabet.symbols)


FAMILIES: dict[str, Callable[[int], LanguageModel]] = {
    "random": lambda seed: AutomatonModel(random_pdfa(2_000, 8, seed=seed)),
    "skewed": lambda seed: AutomatonModel(skewed_pdfa(1_000, 20, seed)),
    "noisy": lambda seed: NoisyModel(skewed_pdfa(20, 6, seed)),
    "flat": lambda seed: untrained_gru(25, seed),
    "trained": lambda seed: trained_gru(skewed_pdfa(6, 8, seed), seed),
}
"""What makes a model of a seed."""


def divergence(
    model: PDFA | LanguageModel, other: PDFA | LanguageModel, count: int | None = None
) -> float:
    """Measure the divergence per symbol on fresh words of the model."""
    found = evaluate(model, other, count=count or WORDS, seed=99, max_length=LONGEST)
    return found.over_prefixes.kl


def learnt(model: LanguageModel, kappa: int, symbols: int) -> Result:
    """Learn within a number of symbols, audits left out."""
    return learn(
        model, equivalence=Quantization(kappa), budget=Budget(max_symbols=symbols), audit=0
    )


def table(name: str, seeds: Sequence[int]) -> None:
    """Print the mean divergence, and in brackets the states, for growing budgets."""
    print_header([name, "κ", *(f"{symbols:,}" for symbols in BUDGETS)])
    models = [FAMILIES[name](seed) for seed in seeds]
    for kappa in KAPPAS:
        cells = []
        for symbols in BUDGETS:
            results = [learnt(model, kappa, symbols).pdfa for model in models]
            loss = mean(map(divergence, models, results))
            cells.append(f"{loss:.4f} ({mean(map(len, results)):,.0f})")
        print_row([f"{len(models)} seeds", kappa, *cells])
    print()


def main(words: Sequence[str] | None = None) -> None:
    """Print a table for each family that the words of the command line ask for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.budgets")
    parser.add_argument("families", nargs="*", metavar="family", help=", ".join(FAMILIES))
    parser.add_argument("--seeds", type=int, default=3, help="how many models of each family")
    arguments = parser.parse_args(words)
    for name in arguments.families:
        if name not in FAMILIES:
            parser.error(f"there is no family {name!r}; there are {', '.join(FAMILIES)}")
    for name in arguments.families or FAMILIES:
        table(name, range(1, arguments.seeds + 1))


if __name__ == "__main__":
    main()
