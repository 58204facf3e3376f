"""Recurrent networks trained on the words of an automaton or of a file, and kept in files."""

from __future__ import annotations

import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from benchmarks.distilling.caching import cache_folder
from pdfalearn import PDFA, Alphabet, RecurrentModel
from pdfalearn.models._networks import Layers
from pdfalearn.models.automaton import AutomatonModel
from pdfalearn.samplers import Words

Integers = NDArray[np.int64]
Module = TypeVar("Module", bound=nn.Module)

WORDS, STEPS, BATCH, LONGEST = 20_000, 1000, 64, 40
RATE = 0.01
KINDS = {"gru": nn.GRU, "lstm": nn.LSTM}


def trained(
    pdfa: PDFA,
    kind: str = "gru",
    hidden: int = 32,
    seed: int = 0,
    *,
    words: int = WORDS,
    steps: int = STEPS,
) -> RecurrentModel:
    """Return a network trained to say the next symbol of words of a PDFA, from a file if it can.

    Parameters
    ----------
    pdfa : PDFA
        Draws the words.
    kind : {"gru", "lstm"}
        The recurrent layer.
    hidden : int
        Its width.
    seed : int
        Decides the words, the first weights and the order of batches.
    words, steps : int
        The number of words to train on, and of batches of 64 words.

    Notes
    -----
    Weights are trained in float32 and asked in float64, so that answers do not depend on the
    batches in which words are asked.
    """
    decided = (
        kind,
        hidden,
        seed,
        words,
        steps,
        BATCH,
        LONGEST,
        RATE,
        AutomatonModel(pdfa).fingerprint,
    )
    name = sha256(repr(decided).encode()).hexdigest()[:20]
    path = cache_folder() / f"{kind}-{hidden}-{name}.pt"

    def train(layers: nn.ModuleList) -> None:
        sample = pdfa.sample(words, seed=seed, max_length=LONGEST)
        take_steps(layers, pdfa.alphabet.encode_words(sample.words), sample.cut, steps, seed)

    layers = _layers(pdfa.alphabet, kind, hidden, seed)
    return RecurrentModel(Layers(*keep_weights(path, layers, train)), pdfa.alphabet)


def trained_on_words(
    words: list[tuple[str, ...]],
    kind: str = "lstm",
    hidden: int = 64,
    *,
    steps: int = STEPS,
    seed: int = 0,
) -> RecurrentModel:
    """Return a network trained on recorded words, from a file if it can; as `trained`."""
    alphabet = Alphabet(sorted({symbol for word in words for symbol in word}))
    decided = (kind, hidden, steps, BATCH, RATE, words, *([seed] if seed else []))
    name = sha256(repr(decided).encode()).hexdigest()[:20]

    def train(layers: nn.ModuleList) -> None:
        uncut = np.zeros(len(words), dtype=bool)
        take_steps(layers, alphabet.encode_words(words), uncut, steps, seed)

    layers = _layers(alphabet, kind, hidden, seed)
    path = cache_folder() / f"{kind}-{hidden}-{name}.pt"
    return RecurrentModel(Layers(*keep_weights(path, layers, train)), alphabet)


def keep_weights(path: Path, module: Module, train: Callable[[Module], None]) -> Module:
    """Read a module's weights from a file, or train it and write them; return it in float64."""
    if path.exists():
        module.load_state_dict(torch.load(path, weights_only=True))
    else:
        train(module)
        part = path.with_suffix(f".{os.getpid()}")
        torch.save(module.state_dict(), part)
        part.replace(path)
    made: Module = module.double().eval()
    return made


def _layers(alphabet: Alphabet, kind: str, hidden: int, seed: int) -> nn.ModuleList:
    torch.manual_seed(seed)
    tokens = len(alphabet) + 1
    recurrent = KINDS[kind](hidden, hidden)
    return nn.ModuleList([nn.Embedding(tokens, hidden), recurrent, nn.Linear(hidden, tokens)])


def take_steps(
    layers: nn.ModuleList, batch: Words, cut: NDArray[np.bool_], steps: int, seed: int
) -> None:
    """Take steps of Adam on next-symbol cross entropy, ever smaller ones."""
    random = np.random.default_rng(seed)
    optimizer = torch.optim.Adam(layers.parameters(), lr=RATE)
    slower = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    embedding, recurrent, head = layers
    for _ in range(steps):
        chosen = random.integers(len(batch), size=BATCH)
        inputs, targets = padded(batch.take(chosen), cut[chosen])
        logits = head(recurrent(embedding(torch.from_numpy(inputs)))[0])
        loss = nn.functional.cross_entropy(
            logits.flatten(0, 1), torch.from_numpy(targets).flatten()
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        slower.step()


def padded(words: Words, cut: NDArray[np.bool_]) -> tuple[Integers, Integers]:
    """Return the tokens of a batch on the way in, 0 first, and on the way out, 0 last.

    -100 tells the loss to look away: behind the words, and where the end of a word was cut off.

    Examples
    --------
    >>> inputs, targets = padded(Words.of([(4, 2), ()]), np.array([False, False]))
    >>> inputs.T.tolist(), targets.T.tolist()
    ([[0, 5, 3], [0, 0, 0]], [[5, 3, 0], [0, -100, -100]])
    """
    lengths = words.lengths
    shape = (int(lengths.max()) + 1, len(words))
    inputs, targets = np.zeros(shape, dtype=np.int64), np.full(shape, -100)
    column = np.repeat(np.arange(len(words)), lengths)
    within = np.arange(len(words.symbols)) - np.repeat(words.offsets[:-1], lengths)
    inputs[within + 1, column] = targets[within, column] = words.symbols + 1
    targets[lengths, np.arange(len(words))] = np.where(cut, -100, 0)
    return inputs, targets
