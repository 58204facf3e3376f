"""The runs that are planned, and the file that says what the results in a folder are of."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pdfalearn import __version__
from pdfalearn.checks import checked_integer
from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.experiments.definitions import (
    EXPERIMENTS,
    SCALES,
    Experiment,
    Scale,
    Setting,
    Target,
    drawn_targets,
    given_targets,
)
from pdfalearn.files import check_kind, parse_object, replacing, strings, wrong
from pdfalearn.learning import LEARNERS, SIMILARITY_LEARNERS
from pdfalearn.models import AutomatonModel

LEARNER_NAMES = (*LEARNERS, *SIMILARITY_LEARNERS)
PARAMETERS, TABLE = "parameters.json", "runs.csv"
"""The files of a folder that say what its results are of, and that hold the runs."""
_FORMAT = "pdfalearn experiments"


class Key(NamedTuple):
    """What a run is known by in an experiment's results."""

    experiment: int
    target: str
    kappa: int
    learner: str
    run: int

    def __str__(self) -> str:
        return (
            f"experiment {self.experiment}, target {self.target}, κ={self.kappa}, "
            f"{self.learner}, run {self.run}"
        )


@dataclass(frozen=True)
class Task:
    """A run that is to be done."""

    experiment: int
    target: Target
    learner: str
    run: int

    @property
    def key(self) -> Key:
        """What the run is known by."""
        kappa = self.target.setting.kappa
        return Key(self.experiment, self.target.name, kappa, self.learner, self.run)


@dataclass(frozen=True)
class Plan:
    """An experiment with everything that its results depend on."""

    experiment: Experiment
    settings: tuple[Setting, ...]
    learners: tuple[str, ...]
    scale_name: str
    seed: int
    targets: tuple[Target, ...]
    """The drawn ones, or the given ones if they are at hand."""
    digest: str | None = None
    """Of the content of given targets; None if targets are drawn."""
    given: int | None = None
    """How many targets are given."""

    @property
    def scale(self) -> Scale:
        """How often everything is repeated."""
        return SCALES[self.scale_name]

    @property
    def runs(self) -> int:
        """How many runs there are to be."""
        targets = len(self.targets) if self.given is None else self.given
        return targets * self.scale.runs * len(self.learners)

    @cached_property
    def drawn(self) -> set[tuple[str, int | None, int]]:
        """The names and seeds of the targets."""
        return {(target.name, target.seed, target.words_seed) for target in self.targets}

    def tasks(self) -> Iterator[Task]:
        """Yield the runs; learners take turns, so that a busy hour slows all of them alike."""
        for target in self.targets:
            for run in range(1, self.scale.runs + 1):
                for learner in self.learners:
                    yield Task(self.experiment.number, target, learner, run)

    def parameters(self) -> dict[str, object]:
        """Return what is written down of it."""
        return {
            self.experiment.axis: [getattr(one, self.experiment.varies) for one in self.settings],
            "tolerances": [*{one.kappa: one.tolerance for one in self.settings}.values()],
            "learners": list(self.learners),
            "scale": self.scale_name,
            "seed": self.seed,
            "given targets": self.digest,
            "number of given targets": self.given,
        }


def plan_experiment(
    experiment: Experiment,
    *,
    scale: str,
    learners: Sequence[str] | None,
    values: Sequence[int] | None,
    tolerances: Sequence[float] | None,
    seed: int,
    folder: str | os.PathLike[str] | None = None,
) -> Plan:
    """Plan an experiment; what is None is as in the paper, and targets are drawn without a folder.

    Raises
    ------
    InputError
        If something that is given is wrong.
    """
    checked_integer(seed, "seed", 0)
    if scale not in SCALES:
        raise InputError(f"there is no scale {scale!r}; there are {', '.join(SCALES)}")
    chosen = experiment.learners if learners is None else tuple(learners)
    for learner in chosen:
        if learner not in LEARNER_NAMES:
            names = ", ".join(LEARNER_NAMES)
            raise InputError(f"there is no learner {learner!r}; there are {names}")
    if not chosen or len({*chosen}) < len(chosen):
        raise InputError(f"learners {list(chosen)} have to be one or more, each once")
    settings, count = experiment.settings(values, tolerances), SCALES[scale].targets
    targets: list[Target] = []
    for setting in settings:
        if folder is None:
            targets += drawn_targets(experiment, setting, count, seed)
        else:
            targets += given_targets(experiment, setting, count, seed, folder)
    plan = Plan(experiment, tuple(settings), chosen, scale, seed, tuple(targets))
    if folder is None:
        return plan
    # The digest depends on what the targets are, and not on where their files lie.
    lines = [f"{one.name} {AutomatonModel(one.pdfa()).fingerprint}" for one in targets]
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
    return replace(plan, digest=digest, given=len(targets))


@dataclass(frozen=True)
class Parameters:
    """What the results in a folder are of."""

    plans: dict[int, Plan]
    """By the experiment's number; without the targets, if those were given."""
    machines: tuple[str, ...]
    """Those that runs were started on."""

    def write(self, folder: Path) -> None:
        """Write them down."""
        experiments = {number: plan.parameters() for number, plan in self.plans.items()}
        head = {"format": _FORMAT, "version": 1, "machines": self.machines}
        with replacing(folder / PARAMETERS) as stream:
            content = head | {"experiments": experiments}
            stream.write(json.dumps(content, indent=1, ensure_ascii=False).encode() + b"\n")

    def note_machine(self, folder: Path) -> None:
        """Write down that runs are started on this machine."""
        machine = (
            f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors, "
            f"Python {platform.python_version()}, NumPy {np.__version__}, pdfalearn {__version__}"
        )
        if machine not in self.machines:
            replace(self, machines=(*self.machines, machine)).write(folder)


def read_parameters(folder: Path) -> Parameters:
    """Read what the results in a folder are of; of nothing if there are none.

    Raises
    ------
    FileFormatError
        If the file holds something else.
    """
    path = folder / PARAMETERS
    try:
        content = parse_object(path.read_bytes(), "the file")
        check_kind(content, _FORMAT, 1)
        machines = strings(content.get("machines"), "machines")
        experiments = content.get("experiments")
        if not isinstance(experiments, dict):
            raise wrong("experiments", experiments, "an object")
        plans = [_read_plan(number, parameters) for number, parameters in experiments.items()]
    except FileNotFoundError:
        return Parameters({}, ())
    except FileFormatError as error:
        raise FileFormatError(f"{path}: {error}") from error
    return Parameters({plan.experiment.number: plan for plan in plans}, machines)


def _read_plan(number: str, parameters: Any) -> Plan:
    try:
        experiment = EXPERIMENTS[int(number)]
        plan = plan_experiment(
            experiment,
            scale=parameters["scale"],
            learners=list(parameters["learners"]),
            values=list(parameters[experiment.axis]),
            tolerances=list(parameters["tolerances"]),
            seed=parameters["seed"],
        )
        digest, given = parameters["given targets"], parameters["number of given targets"]
        if digest is None:
            return plan
        count = checked_integer(given, "number of given targets", 1)
        return replace(plan, targets=(), digest=str(digest), given=count)
    except (InputError, KeyError, TypeError, ValueError) as error:
        raise FileFormatError(f"not the parameters of experiment {number}: {error}") from error


def settle_parameters(folder: Path, plans: Sequence[Plan]) -> Parameters:
    """Write down the parameters of plans; refuse a folder that has results of other ones.

    Returns all that are there now.
    """
    found = read_parameters(folder)
    if not found.plans and (folder / TABLE).exists():
        raise InputError(f"{folder} holds {TABLE} without {PARAMETERS}: choose another folder")
    for plan in plans:
        number = plan.experiment.number
        held = found.plans.get(number, plan).parameters()
        differences = [
            f"{name} {_show_value(held[name])} there and {_show_value(value)} now"
            for name, value in plan.parameters().items()
            if held[name] != value
        ]
        if differences:
            raise InputError(
                f"{folder} holds results of experiment {number} with other parameters: "
                f"{'; '.join(differences)}; choose another folder"
            )
    settled = replace(found, plans=found.plans | {plan.experiment.number: plan for plan in plans})
    settled.write(folder)
    return settled


def _show_value(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "none" if value is None else str(value)
