"""The models that are distilled, by name."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.distilling.black_boxes import BlackBox, random_target
from benchmarks.distilling.textgenrnn import textgenrnn
from examples.phone_trigram import write_arpa
from pdfalearn import PDFA, LanguageModel, RecurrentModel
from pdfalearn.datasets import reber, tomita
from pdfalearn.io import read_arpa

TARGETS: dict[str, Callable[[], PDFA]] = {
    "reber": reber,
    **{f"tomita-{number}": partial(tomita, number) for number in range(1, 8)},
    **{f"random-{states}": partial(random_target, states, seed=1) for states in (4, 6, 8, 12)},
}
"""Automata that networks are trained on, and that should be found in them."""


def network(target: str, kind: str = "gru", seed: int = 0) -> tuple[PDFA, RecurrentModel]:
    """Return an automaton by its name, and a network of 32 units trained on its words."""
    from benchmarks.distilling.training import trained

    pdfa = TARGETS[target]()
    return pdfa, trained(pdfa, kind, seed=seed)


def phone_trigram() -> PDFA:
    """Return the trigram of 40 phones that the package pocketsphinx brings."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "phones.arpa")
        write_arpa(path)
        return read_arpa(path).pdfa


def phone_lstm() -> RecurrentModel:
    """Return an LSTM of 64 units trained on words of the phone trigram: it forgets."""
    from benchmarks.distilling.training import trained

    return trained(phone_trigram(), "lstm", 64)


def automaton_gru() -> RecurrentModel:
    """Return a GRU of 32 units trained on words of a random PDFA of 12 states: it counts."""
    return network("random-12", "gru")[1]


def _stand_in(name: str, *arguments: str | int) -> LanguageModel:
    """Return a network that is trained on real words."""
    from benchmarks.distilling import stand_ins

    model: LanguageModel = getattr(stand_ins, name)(*arguments)
    return model


NETWORKS: dict[str, Callable[[], LanguageModel]] = {
    "phone LSTM": phone_lstm,
    "automaton GRU": automaton_gru,
    "textgenrnn": textgenrnn,
    "phone trigram": lambda: BlackBox(phone_trigram()),
    "HDFS LSTM": partial(_stand_in, "log_lstm", "hdfs"),
    "OpenStack LSTM": partial(_stand_in, "log_lstm", "openstack"),
    "Hadoop LSTM": partial(_stand_in, "log_lstm", "hadoop"),
    # Only for final tables: no setting was chosen on them.
    "OpenStack LSTM 2": partial(_stand_in, "log_lstm", "openstack", 7),
    "Hadoop LSTM 2": partial(_stand_in, "log_lstm", "hadoop", 7),
    "word GPT-2": partial(_stand_in, "word_gpt2"),
    "antibody GPT-2": partial(_stand_in, "antibody_gpt2"),
}
"""The models of the benchmark."""
