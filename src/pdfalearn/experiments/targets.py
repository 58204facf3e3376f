"""The targets of an experiment: drawn from seeds, or given as files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np

from pdfalearn.errors import InputError
from pdfalearn.experiments.definitions import Experiment, Setting
from pdfalearn.formats import load_pdfa
from pdfalearn.generate import random_pdfa
from pdfalearn.models import AutomatonModel
from pdfalearn.pdfa import PDFA


@dataclass(frozen=True)
class Target:
    """A target that another process can have, too: drawn there from its seed, or sent along."""

    name: str
    setting: Setting
    seed: int | None
    """Of the drawn target; None for a given one."""
    words_seed: int
    """Of the words that all learners are evaluated on."""
    given: PDFA | None = None

    def pdfa(self) -> PDFA:
        """Return the automaton."""
        if self.given is not None:
            return self.given
        if self.seed is None:
            raise InputError(f"target {self.name} has neither a seed nor an automaton")
        setting = self.setting
        return _drawn(setting.states, setting.symbols, setting.distributions, self.seed)

    @property
    def fingerprint(self) -> str:
        """What tells given targets apart."""
        return AutomatonModel(self.pdfa()).fingerprint


@lru_cache(maxsize=2)  # a target is learnt many times in a row, and may be large
def _drawn(states: int, symbols: int, distributions: int | None, seed: int) -> PDFA:
    return random_pdfa(states, symbols, distributions=distributions, seed=seed)


def drawn_targets(experiment: Experiment, setting: Setting, count: int, seed: int) -> list[Target]:
    """Name the targets to draw for a setting; those of several κ are the same."""
    family = experiment.family(setting)
    place = (experiment.number, setting.states, setting.symbols, setting.distributions or 0)
    seeds = [_seeds(seed, *place, index) for index in range(count)]
    return [
        Target(f"{family}-{index}", setting, target_seed, words_seed)
        for index, (target_seed, words_seed) in enumerate(seeds)
    ]


def given_targets(
    experiment: Experiment,
    setting: Setting,
    count: int,
    seed: int,
    folder: str | os.PathLike[str],
) -> list[Target]:
    """Read the targets of a setting from a folder, such as exp1/n100-0.json.gz and so on.

    Raises
    ------
    InputError
        If there are none, one has another number of symbols, or two have one name; the message
        names the files.
    """
    family = experiment.family(setting)
    place = Path(folder, f"exp{experiment.number}")
    found = sorted(place.glob(f"{family}-*"), key=_index)
    for first, second in pairwise(found):
        if _name(first) == _name(second):
            raise InputError(f"{first} and {second} are two targets of one name; keep one of them")
    paths = found[:count]
    if not paths:
        raise InputError(f"{place} holds no targets {family}-0.json.gz, {family}-1.json.gz, …")
    targets: list[Target] = []
    for path in paths:
        pdfa = load_pdfa(path)
        if len(pdfa.alphabet) != setting.symbols:
            raise InputError(
                f"{path}: its alphabet has {len(pdfa.alphabet)} symbols, and experiment "
                f"{experiment.number} needs {setting.symbols} there"
            )
        _, words_seed = _seeds(seed, experiment.number, len(targets))
        targets.append(Target(_name(path), setting, None, words_seed, pdfa))
    return targets


def _seeds(*numbers: int) -> tuple[int, int]:
    """Derive the seeds of a target and of its words from where it stands in the experiments."""
    first, second = np.random.SeedSequence(numbers).generate_state(2).tolist()
    return first, second


def _name(path: Path) -> str:
    """Return a target's name, which has no endings."""
    return path.name.partition(".")[0]


def _index(path: Path) -> tuple[int, str]:
    """Order files by their number: n100-10 comes after n100-9."""
    number = _name(path).rpartition("-")[2]
    return (int(number) if number.isdecimal() else 0, path.name)
