"""Automata to look at."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from examples.phone_trigram import write_arpa
from pdfalearn import PDFA
from pdfalearn.datasets import figure_2, random_pdfa, reber, tomita
from pdfalearn.io import read_arpa
from tests.support import need_module


@cache
def phones() -> PDFA:
    need_module("pocketsphinx")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "phones.arpa")
        write_arpa(path)
        return read_arpa(path).pdfa


@cache
def characters() -> PDFA:
    """A bigram of 27 characters, all of whose 756 transitions are possible."""
    random = np.random.default_rng(3)
    rows = random.dirichlet(np.full(28, 0.2), size=28) + 1e-4
    return PDFA(
        alphabet="abcdefghijklmnopqrstuvwxyz ",
        transitions=np.tile(np.arange(1, 28), (28, 1)),
        probabilities=rows / rows.sum(axis=1, keepdims=True),
    )


SAMPLES: dict[str, Callable[[], PDFA]] = {
    "four": lambda: figure_2()[0],
    "reber": reber,
    "tomita": lambda: tomita(5),
    "characters": characters,
    "phones": phones,
    "random": lambda: random_pdfa(100_000, seed=1),
}
