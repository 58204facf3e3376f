"""What spelling is worth: spaces at the end of a prompt, and texts in other tokens than canonical.

Run with ``python -m benchmarks.spelling``; needs ``pip install '.[llm-demo]'``.
"""

from __future__ import annotations

import heapq
import math
import warnings
from collections import defaultdict
from typing import Any

import numpy as np
import torch

from benchmarks.support import print_header, print_row
from examples.smollm import smollm
from pdfalearn import TransformerModel
from pdfalearn.models import Batch

COIN = "I toss a coin, and it shows"
SIDES = ("heads", "tails")
JOB = "She has always worked in"
JOBS = (" nursing", " law", " teaching", " sales", " medicine", " farming", " banking", " design")
MOST_CALLS = 300


def outside(folder: Any, prompt: str, symbols: list[str]) -> float:
    """Return the mass outside after a prompt, where all that is not a symbol is outside."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = TransformerModel(folder, symbols=symbols, prompt=prompt, outside="(else)")
    return float(model.answer(Batch.of([()])).values[0, -1])


class Paths:
    """All ways to write texts in tokens, and what a model thinks of them.

    Parameters
    ----------
    model : TransformerModel
        The model, over the texts as symbols.
    texts : dict of int to str
        The text of every token.
    """

    def __init__(self, model: TransformerModel, texts: dict[int, str]) -> None:
        self._model = model
        self._by_text = defaultdict(list)
        for token, text in texts.items():
            if text and any(text in symbol for symbol in JOBS):
                self._by_text[text].append(token)

    def walked(self) -> tuple[dict[tuple[int, ...], tuple[float, float]], float]:
        """Walk the likeliest paths first, each step divided by what is allowed in it.

        Returns
        -------
        whole : dict
            Of every path to a whole text, its probability so divided, and what the model gives it.
        share : float
            The probability of the paths that were walked to their ends.
        """
        waiting: list[tuple[float, tuple[int, ...], str, float]] = [(-1.0, (), "", 0.0)]
        whole: dict[tuple[int, ...], tuple[float, float]] = {}
        for _ in range(MOST_CALLS):
            if not waiting:
                break
            negative, path, text, log_mass = heapq.heappop(waiting)
            tokens = np.array([[*self._model.prompt, *path]])
            logits = self._model._model.plain_logits(tokens)[0, -1].double()
            logs = (logits - logits.logsumexp(-1)).numpy()
            allowed = self._onwards(text)
            total = sum(math.exp(logs[token]) for token in allowed)
            for token, longer in allowed.items():
                share = -negative * math.exp(logs[token]) / total
                mass = log_mass + float(logs[token])
                if longer in JOBS:
                    whole[(*path, token)] = share, math.exp(mass)
                else:
                    heapq.heappush(waiting, (-share, (*path, token), longer, mass))
        return whole, sum(share for share, _ in whole.values())

    def _onwards(self, text: str) -> dict[int, str]:
        """Return the tokens that go on towards one of the texts, and where they lead."""
        lengths = range(len(text) + 1, max(map(len, JOBS)) + 1)
        longer = {job[:n] for job in JOBS if job.startswith(text) for n in lengths}
        return {
            token: end
            for end in longer
            if any(job.startswith(end) for job in JOBS)
            for token in self._by_text[end[len(text) :]]
        }


def main() -> None:
    """Print both comparisons."""
    torch.set_num_threads(1)
    folder = smollm()
    print_header(["prompt", "symbols", "mass outside"])
    for prompt, blank in ((COIN, " "), (f"{COIN} ", "")):
        symbols = [blank + side for side in SIDES]
        print_row([repr(prompt), repr(symbols), f"{outside(folder, prompt, symbols):.6f}"])
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    model = TransformerModel(folder, tokenizer, JOBS, prompt=JOB, ends="rest")
    texts = {number: tokenizer.decode([number]) for number in tokenizer.get_vocab().values()}
    whole, share = Paths(model, texts).walked()
    canonical = dict(zip(model.spelling.tokens, JOBS, strict=True))
    others = [path for path in whole if path not in canonical]
    total = sum(mass for path, (_, mass) in whole.items() if path in canonical)
    print(f"\n{share:.1%} of the probability of all paths was walked to the end")
    divided, given = (sum(whole[path][i] for path in others) for i in (0, 1))
    print(
        f"paths that are not canonical: {divided / share:.1%} of it; the model gives {given:.2g}\n"
    )
    print_header(["text", "canonical tokens", "all paths, step by step"])
    for tokens, text in canonical.items():
        of_text = [p for p in whole if "".join(texts[token] for token in p) == text]
        step_by_step = sum(whole[path][0] for path in of_text) / share
        mass = whole.get(tokens, (0.0, 0.0))[1]
        print_row([repr(text), f"{mass / total:.4f}", f"{step_by_step:.4f}"])


if __name__ == "__main__":
    main()
