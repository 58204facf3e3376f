"""Networks trained on real words: LSTMs on logs, small GPT-2 on a dictionary and antibodies."""

from __future__ import annotations

import gzip
import os
from functools import partial
from hashlib import sha256
from pathlib import Path

import numpy as np
import torch
from torch import nn

from benchmarks.distilling.antibodies import ACIDS, draw_chains
from benchmarks.distilling.caching import cache_folder
from benchmarks.distilling.training import keep_weights, trained_on_words
from pdfalearn import RecurrentModel, TransformerModel

_LOGS = Path(os.environ.get("PDFALEARN_DATA", "../shared/data"), "logs")
_LONGEST = 120
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_GPT_RATE = 3e-3
_CHAINS = 20_000


def log_sessions(name: str) -> list[tuple[str, ...]]:
    """Return the normal sessions of a log, cut where they are very long."""
    files = sorted(_LOGS.glob(f"{name}_*.gz"))
    normal = [path for path in files if "abnormal" not in path.name]
    if not normal:
        raise SystemExit(f"there is no log {name!r} in {_LOGS}; name its folder by PDFALEARN_DATA")
    texts = (gzip.decompress(path.read_bytes()).decode() for path in normal)
    lines = [line for text in texts for line in text.splitlines()]
    return [tuple(line.split(",", 1)[1].split()[:_LONGEST]) for line in lines]


def log_lstm(name: str, seed: int = 0) -> RecurrentModel:
    """Return an LSTM of 64 units trained on the normal sessions of a log."""
    return trained_on_words(log_sessions(name), seed=seed)


def dictionary_words() -> list[str]:
    """Return the words of the dictionary that the package pocketsphinx brings, once each."""
    import pocketsphinx

    path = Path(pocketsphinx.get_model_path("en-us/cmudict-en-us.dict"))
    first = (line.split()[0] for line in path.read_text(encoding="utf-8").splitlines() if line)
    return sorted({word for word in first if set(word) <= set(_LETTERS)})


def word_gpt2() -> TransformerModel:
    """Return a GPT-2 of two layers of 64 units trained on the words of a dictionary."""
    return _small_gpt2(dictionary_words(), _LETTERS, steps=1500, batch=128)


def antibody_gpt2() -> TransformerModel:
    """Return the like trained on heavy chains of antibodies: its words are long and hard."""
    return _small_gpt2(draw_chains(_CHAINS, seed=0), ACIDS, steps=600, batch=32)


def _small_gpt2(words: list[str], letters: str, *, steps: int, batch: int) -> TransformerModel:
    from transformers import GPT2Config, GPT2LMHeadModel

    longest = 2 ** (max(map(len, words)) + 1).bit_length()
    torch.manual_seed(0)
    sizes = {"n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 2 * longest}
    drop = dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), 0.0)
    config = GPT2Config(
        **sizes, **drop, vocab_size=len(letters) + 1, bos_token_id=0, eos_token_id=0
    )
    decided = (sizes, letters, steps, batch, _GPT_RATE, words)
    name = sha256(repr(decided).encode()).hexdigest()[:20]
    train = partial(_train_gpt2, words=words, letters=letters, steps=steps, batch=batch)
    path = cache_folder() / f"gpt2-64-{name}.pt"
    network = keep_weights(path, GPT2LMHeadModel(config), train)
    symbols = {letter: [place + 1] for place, letter in enumerate(letters)}
    return TransformerModel(network, symbols=symbols, prompt=[0], ends=[0])


def _train_gpt2(
    network: nn.Module, *, words: list[str], letters: str, steps: int, batch: int
) -> None:
    """Take steps of AdamW on the next letter; 0 is before and after every word."""
    longest = max(map(len, words)) + 2
    table = np.full((len(words), longest), -100)
    for row, word in zip(table, words, strict=True):
        row[: len(word) + 2] = [0, *(letters.index(letter) + 1 for letter in word), 0]
    random = np.random.default_rng(0)
    optimizer = torch.optim.AdamW(network.parameters(), lr=_GPT_RATE)
    slower = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    for _ in range(steps):
        labels = torch.from_numpy(table[random.integers(len(words), size=batch)])
        loss = network(labels.clamp(min=0), labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        slower.step()
