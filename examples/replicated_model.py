"""A model of which other processes can make copies: a slow function of words, in a module.

``make_model`` is named to `Replicas`, or on the command line:
``pdfalearn learn examples/replicated_model.py:make_model --replicas 2 --kappa 20``.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from pdfalearn import FunctionModel
from pdfalearn.datasets import random_pdfa

TARGET = random_pdfa(30, distributions=8, seed=1)


def slow_answers(words: Sequence[tuple[Hashable, ...]]) -> NDArray[np.float64]:
    """Answer as an automaton does, and take a millisecond for each word."""
    time.sleep(1e-3 * len(words))
    return TARGET.next_distributions(words)


def make_model() -> FunctionModel:
    """Make the model; every process calls this once."""
    return FunctionModel(slow_answers, TARGET.alphabet, fingerprint="a slow automaton")
