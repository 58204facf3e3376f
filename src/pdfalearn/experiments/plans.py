"""What is to be run."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pdfalearn.checks import checked_integer
from pdfalearn.errors import InputError
from pdfalearn.experiments.definitions import SCALES, Experiment, experiments_named
from pdfalearn.experiments.runs import LEARNER_NAMES, Task
from pdfalearn.experiments.targets import Target, drawn_targets, given_targets


@dataclass(frozen=True)
class Plan:
    """An experiment with everything that its results depend on."""

    experiment: Experiment
    parameters: Mapping[str, object]
    targets: tuple[Target, ...]
    learners: tuple[str, ...]
    runs: int

    def tasks(self) -> Iterator[Task]:
        """Yield the runs; learners take turns, so that a busy hour slows all of them alike."""
        for target in self.targets:
            for run in range(1, self.runs + 1):
                for learner in self.learners:
                    yield Task(self.experiment.number, target, learner, run)


@dataclass(frozen=True)
class Choices:
    """What the caller may choose about experiments; None is as in the paper."""

    scale: str
    learners: Sequence[str] | None
    values: Sequence[int] | None
    tolerances: Sequence[float] | None
    targets: str | os.PathLike[str] | None
    """The folder of given targets; they are drawn if there is none."""
    seed: int

    def __post_init__(self) -> None:
        checked_integer(self.seed, "seed", 0)
        if self.scale not in SCALES:
            raise InputError(f"there is no scale {self.scale!r}; there are {', '.join(SCALES)}")
        for learner in self.learners or ():
            if learner not in LEARNER_NAMES:
                names = ", ".join(LEARNER_NAMES)
                raise InputError(f"there is no learner {learner!r}; there are {names}")
        if self.learners is not None and len({*self.learners}) != len(self.learners or [None]):
            raise InputError(f"learners {list(self.learners)} have to be one or more, each once")


def plans_for(name: str, choices: Choices) -> list[Plan]:
    """Plan the experiment of a name, or all of them."""
    experiments = experiments_named(name)
    if len(experiments) > 1 and not (choices.values is None and choices.tolerances is None):
        raise InputError("values and tolerances are for a single experiment, not for all of them")
    return [_plan(experiment, choices) for experiment in experiments]


def _plan(experiment: Experiment, choices: Choices) -> Plan:
    settings = experiment.settings(choices.values, choices.tolerances)
    scale = SCALES[choices.scale]
    targets: list[Target] = []
    for setting in settings:
        if choices.targets is None:
            targets += drawn_targets(experiment, setting, scale.targets, choices.seed)
        else:
            targets += given_targets(
                experiment, setting, scale.targets, choices.seed, choices.targets
            )
    learners = experiment.learners if choices.learners is None else tuple(choices.learners)
    parameters = {
        experiment.axis: [getattr(setting, experiment.varies) for setting in settings],
        "tolerances": [*{setting.kappa: setting.tolerance for setting in settings}.values()],
        "learners": list(learners),
        "scale": choices.scale,
        "seed": choices.seed,
        "given targets": None if choices.targets is None else _digest(targets),
        "number of given targets": None if choices.targets is None else len(targets),
    }
    return Plan(experiment, parameters, tuple(targets), learners, scale.runs)


def _digest(targets: Sequence[Target]) -> str:
    """Return a digest of given targets, which depends on their content and not on their place."""
    names = [f"{target.name} {target.fingerprint}" for target in targets]
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]
