"""A program that learns from a slow model, to be killed: ``python killed.py STORE LOG OUTPUT``."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pdfalearn import FunctionModel, Quantization, learn, save
from pdfalearn.datasets import random_pdfa
from pdfalearn.oracles import ChainOracle, KnownAnswersOracle, PACOracle
from pdfalearn.samplers import UniformWords

TARGET = random_pdfa(1500, 3, distributions=40, seed=7)


def main(store: str, log: str, output: str) -> None:
    """Learn, noting the number of words of every call before it is answered."""

    def slow(words: list[tuple[object, ...]]) -> NDArray[np.float64]:
        with Path(log).open("a") as file:
            file.write(f"{len(words)}\n")
        time.sleep(0.001 + 25e-6 * len(words))
        return TARGET.next_distributions(words)

    sampler = UniformWords(max_length=12)
    oracle = ChainOracle(
        KnownAnswersOracle(), PACOracle(epsilon=0.05, delta=0.05, sampler=sampler, seed=3)
    )
    model = FunctionModel(slow, TARGET.alphabet)
    result = learn(
        model, equivalence=Quantization(100), oracle=oracle, store=store, model_id="slow"
    )
    save(result.pdfa, output)


if __name__ == "__main__":
    main(*sys.argv[1:])
