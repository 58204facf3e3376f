"""What the paper's five experiments are (§4), and the runs that are planned for them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pdfalearn.checks import check_integer
from pdfalearn.datasets import random_pdfa
from pdfalearn.errors import InputError
from pdfalearn.io import load_pdfa
from pdfalearn.learning import LEARNERS, SIMILARITY_LEARNERS
from pdfalearn.models import AutomatonModel
from pdfalearn.pdfa import PDFA

LEARNER_NAMES = (*LEARNERS, *SIMILARITY_LEARNERS)
# What the paper calls the figures that the experiments vary.
_SYMBOLS = {"nominal_states": "n", "alphabet_size": "m", "kappa": "κ", "distributions": "d"}


@dataclass(frozen=True)
class Experiment:
    """One of the experiments: cases that differ in one figure, and the learners compared."""

    number: int
    title: str
    varies: str  # the attribute of a case that is on the axis
    values: tuple[int, ...]
    learners: tuple[str, ...] = ("quant", "quant-paper", "lpstar")
    states: int = 300

    @property
    def axis(self) -> str:
        """The paper's symbol for the figure on the axis."""
        return _SYMBOLS[self.varies]


class Scale(NamedTuple):
    """How often everything is repeated."""

    targets: int  # at each value
    runs: int  # of each learner on each target


SCALES = {"quick": Scale(targets=3, runs=2), "paper": Scale(targets=10, runs=10)}

_KAPPAS, _DISTRIBUTIONS = (10, 100, 500, 1000, 2000, 3000), (2, 4, 6, 8, 10, 12, 14, 16)
# The experiments by their number in the paper.
EXPERIMENTS = {
    experiment.number: experiment
    for experiment in (
        Experiment(1, "QuaNT and L_p* as targets grow", "nominal_states", (100, 200, 300)),
        Experiment(2, "Alphabets that grow", "alphabet_size", (2, 4, 8, 16, 32), states=100),
        Experiment(3, "Quantization parameters and tolerances", "kappa", _KAPPAS),
        Experiment(4, "QuaNT on larger targets", "nominal_states", (1000, 2000, 5000), ("quant",)),
        Experiment(5, "Targets whose states share distributions", "distributions", _DISTRIBUTIONS),
    )
}


@dataclass(frozen=True)
class Case:
    """A run that is planned: which one of which learner, on which target.

    It is all that the run depends on, but for the content of a given target.
    """

    experiment: int
    target: str
    learner: str
    run: int
    nominal_states: int
    alphabet_size: int
    distributions: int | None  # how many different ones there are; None for one a state
    kappa: int
    target_seed: int | None  # None for a given target
    words_seed: int  # of the words that all learners are evaluated on

    @property
    def key(self) -> str:
        """What identifies the run, in words."""
        place = f"experiment {self.experiment}, target {self.target}, κ={self.kappa}"
        return f"{place}, {self.learner}, run {self.run}"

    @property
    def value(self) -> int:
        """Its value on the experiment's axis."""
        value: int = getattr(self, EXPERIMENTS[self.experiment].varies)
        return value

    def draw(self) -> PDFA:
        """Draw the target."""
        more: Any = {"distributions": self.distributions, "seed": self.target_seed}
        return _draw(self.nominal_states, self.alphabet_size, **more)


_draw = lru_cache(maxsize=2)(random_pdfa)  # a target is learnt many times, and may be large


class Plan(NamedTuple):
    """An experiment, what its results depend on, as it is written in a file, and its runs."""

    experiment: Experiment
    parameters: dict[str, Any]
    cases: list[Case]
    targets: dict[str, PDFA]  # those that are given, by name


def experiments_named(name: str) -> list[Experiment]:
    """Return the experiment of a number, or all of them."""
    found = [one for one in EXPERIMENTS.values() if name in (str(one.number), "all")]
    if found:
        return found
    known = ", ".join(map(str, EXPERIMENTS))
    raise InputError(f"there is no experiment {name!r}; there are {known} and all")


def plan_experiment(
    experiment: Experiment,
    *,
    scale: str,
    learners: Sequence[str] | None,
    values: Sequence[int] | None,
    seed: int,
    folder: str | os.PathLike[str] | None = None,
) -> Plan:
    """Plan an experiment; None is as in the paper. Targets are drawn, or read from a folder."""
    check_integer(seed, "seed", 0)
    if scale not in SCALES:
        raise InputError(f"there is no scale {scale!r}; there are {', '.join(SCALES)}")
    who = list(experiment.learners if learners is None else learners)
    for learner in who:
        if learner not in LEARNER_NAMES:
            known = ", ".join(LEARNER_NAMES)
            raise InputError(f"there is no learner {learner!r}; there are {known}")
    axis = experiment.axis
    chosen = experiment.values if values is None else values
    places = [check_integer(value, axis, 1) for value in chosen]
    for name, given in (("learners", who), (axis, places)):
        if not given or len({*given}) < len(given):
            raise InputError(f"{name} {given} have to be one or more different ones")
    count, runs = SCALES[scale]
    cases, targets = list[Case](), dict[str, PDFA]()
    for value in places:
        figures: dict[str, Any] = {"nominal_states": experiment.states, "alphabet_size": 2}
        figures |= {"distributions": None, "kappa": 1000, experiment.varies: value}
        # Targets are the same for all κ.
        shared = "nominal_states" if experiment.varies == "kappa" else experiment.varies
        family = f"{_SYMBOLS[shared]}{figures[shared]}"
        names = [f"{family}-{index}" for index in range(count)]
        if folder is not None:
            place = Path(folder) / f"exp{experiment.number}"
            read = _read_targets(place, family, count, figures["alphabet_size"])
            targets |= read
            names = [*read]
        sizes = [
            figures[name] or 0 for name in ("nominal_states", "alphabet_size", "distributions")
        ]
        for index, name in enumerate(names):
            # Seeds come from the place in the experiments; all κ share them.
            source = np.random.SeedSequence([seed, experiment.number, *sizes, index])
            drawn, words_seed = source.generate_state(2).tolist()
            seeds = {"target_seed": drawn if folder is None else None, "words_seed": words_seed}
            # Learners take turns, so that a busy hour slows all of them alike.
            cases += [
                Case(experiment.number, name, learner, run, **figures, **seeds)
                for run, learner in product(range(1, runs + 1), who)
            ]
    # What given targets are counts, and not where their files lie.
    prints = {name: str(AutomatonModel(pdfa).fingerprint) for name, pdfa in targets.items()}
    parameters = {
        axis: places,
        "learners": who,
        "scale": scale,
        "seed": seed,
        "given targets": prints,
        "runs": len(cases),
    }
    return Plan(experiment, parameters, cases, targets)


def _read_targets(place: Path, family: str, count: int, symbols: int) -> dict[str, PDFA]:
    """Read the targets of one value from a folder, such as exp1/n100-0.json.gz and so on."""
    paths: dict[str, Path] = {}
    found = ((path.name.partition(".")[0], path) for path in place.glob(f"{family}-*"))
    for name, path in sorted(found, key=lambda one: (len(one[0]), one)):  # n5-10 after n5-9
        first = paths.setdefault(name, path)
        if first != path:
            raise InputError(f"{first} and {path} are two targets of one name; keep one of them")
    if not paths:
        raise InputError(f"{place} holds no targets {family}-0.json.gz, {family}-1.json.gz, …")
    targets = {name: load_pdfa(path) for name, path in islice(paths.items(), count)}
    for name, pdfa in targets.items():
        if len(pdfa.alphabet) != symbols:
            problem = f"its alphabet has {len(pdfa.alphabet)} symbols"
            raise InputError(f"{paths[name]}: {problem}, and its experiment needs {symbols}")
    return targets
