"""A recurrent network, trained on words of Reber's grammar, and the automata that are in it.

The network is learnt at several κ, as it is and with its least likely symbols cut off, and held
against the grammar that made the words. Run with ``python -m examples.reber``, or with the name of
a file to draw the automaton that is the grammar again; needs ``pip install '.[torch]'``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

from pdfalearn import (
    PDFA,
    Alphabet,
    Budget,
    LanguageModel,
    Quantization,
    RecurrentModel,
    Result,
    TopP,
    distinguish,
    evaluate,
    learn,
    save,
)
from pdfalearn.alphabet import Word
from pdfalearn.datasets import reber
from pdfalearn.oracles import ChainOracle, KnownAnswersOracle, PACOracle
from pdfalearn.samplers import ModelWords
from pdfalearn.typing import Codes

KAPPAS = (2, 3, 5, 10)
KEPT = 0.95
"""So much of the probability is kept where the least likely symbols are cut off."""
TITLES = ["model", "κ", "states", "words asked", "as the grammar"]
TITLES += ["WER", "NDCG@3", "L1", "perplexity"]

TRAINING, HELD_OUT, EPOCHS, BATCH = 3000, 1000, 6, 64


def trained(words: Sequence[Word], alphabet: Alphabet, seed: int) -> RecurrentModel:
    """Train a small GRU to predict the next symbol."""
    torch.manual_seed(seed)
    tokens = len(alphabet) + 1
    embedding, recurrent, head = nn.Embedding(tokens, 8), nn.GRU(8, 16), nn.Linear(16, tokens)
    layers = nn.ModuleList([embedding, recurrent, head])
    optimizer = torch.optim.Adam(layers.parameters(), lr=0.02)
    slower = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    codes = [alphabet.encode(word) + 1 for word in words]  # token 0 begins and ends words
    for _ in range(EPOCHS):
        order = torch.randperm(len(codes)).tolist()
        for begin in range(0, len(order), BATCH):
            inputs, targets = padded([codes[i] for i in order[begin : begin + BATCH]])
            logits = head(recurrent(embedding(inputs))[0])
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        slower.step()
    layers.eval()
    return RecurrentModel.of_layers(embedding, recurrent, head, alphabet)


def padded(codes: list[Codes]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return a batch of words as the tokens that go in, and the tokens that should come out.

    A word goes in with 0 before it and should come out with 0 after it; where a word has ended,
    -100 tells the loss to look away.
    """
    length = max(map(len, codes)) + 1
    inputs = np.zeros((length, len(codes)), dtype=np.int64)
    targets = np.full((length, len(codes)), -100)
    for column, word in enumerate(codes):
        inputs[1 : len(word) + 1, column] = targets[: len(word), column] = word
        targets[len(word), column] = 0
    return torch.from_numpy(inputs), torch.from_numpy(targets)


def learnt_at(kappa: int, model: LanguageModel) -> Result:
    """Learn a model at some κ, testing on words of its own."""
    pac = PACOracle(epsilon=0.01, delta=0.01, sampler=ModelWords(max_length=50), seed=1)
    oracle = ChainOracle(KnownAnswersOracle(), pac)
    return learn(
        model, equivalence=Quantization(kappa), oracle=oracle, budget=Budget(max_states=500)
    )


def row(name: str, kappa: int, result: Result, truth: PDFA, words: Sequence[Word]) -> list[str]:
    """Return a row of the table."""
    equivalence = Quantization(kappa)
    more = " or more" if result.certificate.kind == "stopped" else ""
    is_grammar = distinguish(result.pdfa, truth, equivalence=equivalence) is None
    cells = [name, str(kappa), f"{len(result.pdfa)}{more}", f"{result.statistics.words:,}"]
    return [*cells, "yes" if is_grammar else "no", *figures(truth, result.pdfa, words)]


def figures(truth: PDFA, model: PDFA | LanguageModel, words: Sequence[Word]) -> list[str]:
    """Evaluate a model against the grammar."""
    result = evaluate(truth, model, words)
    means = result.over_prefixes
    return [
        f"{means.word_error_rate:.3f}",
        f"{means.ndcg:.3f}",
        f"{means.l1:.3f}",
        f"{result.perplexity:.3f}",
    ]


def main(picture: str | None = None) -> None:
    """Print the table, and draw the automaton that is the grammar."""
    truth = reber()
    network = trained(truth.sample(TRAINING, seed=1).words, truth.alphabet, seed=1)
    words = truth.sample(HELD_OUT, seed=2).words
    print(f"| {' | '.join(TITLES)} |", f"|{' --- |' * len(TITLES)}", sep="\n")
    print(f"| the grammar | | 6 | | | {' | '.join(figures(truth, truth, words))} |")
    print(f"| the network | | | | | {' | '.join(figures(truth, network, words))} |")
    for name, model in (("learnt", network), (f"learnt, top {KEPT}", TopP(network, KEPT))):
        for kappa in KAPPAS:
            result = learnt_at(kappa, model)
            cells = row(name, kappa, result, truth, words)
            print(f"| {' | '.join(cells)} |")
            if picture and len(result.pdfa) == len(truth):
                save(result.pdfa, picture)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(*sys.argv[1:2])
