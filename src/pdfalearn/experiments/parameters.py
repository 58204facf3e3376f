"""What is to be run, what the results in a folder are of, and whether others may go there."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pdfalearn import __version__
from pdfalearn.checks import checked_integer
from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.experiments.definitions import SCALES, Experiment, experiments_named
from pdfalearn.experiments.runs import LEARNER_NAMES, Task
from pdfalearn.experiments.table import TABLE, Expected, expected_runs
from pdfalearn.experiments.targets import Target, drawn_targets, given_targets
from pdfalearn.files import replacing


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


PARAMETERS = "parameters.json"
"""The file that says what the results in a folder are of."""
_FORMAT = "pdfalearn experiments"


@dataclass(frozen=True)
class Parameters:
    """What the results in a folder are of."""

    experiments: dict[str, dict[str, object]]
    """The parameters of each experiment, by its number."""
    machines: list[str]
    """Those that runs were started on."""
    expected: dict[int, Expected]
    """The runs that they ask for, by the experiment's number."""


def read_parameters(folder: Path) -> Parameters:
    """Read what the results in a folder are of; of nothing if there are none."""
    path = folder / PARAMETERS
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        return Parameters({}, [], {})
    except ValueError as error:
        raise FileFormatError(f"{path}: not a JSON file: {error}") from error
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise FileFormatError(f"{path}: these are not the parameters of experiments")
    experiments = content.get("experiments")
    if not isinstance(experiments, dict) or not all(
        isinstance(one, dict) for one in experiments.values()
    ):
        raise FileFormatError(f"{path}: experiments are not an object of objects")
    expected = expected_runs(path, experiments)
    return Parameters(experiments, _machines(path, content), expected)


def _machines(path: Path, content: Mapping[str, object]) -> list[str]:
    machines = content.get("machines", [])
    if not isinstance(machines, list):
        raise FileFormatError(f"{path}: machines {machines!r} are not a list")
    return [str(machine) for machine in machines]


def settle_parameters(folder: Path, plans: Sequence[Plan]) -> Parameters:
    """Write down the parameters of plans; refuse a folder that has results of other ones.

    Returns all that are there now.
    """
    found = read_parameters(folder)
    held = found.experiments
    if not held and (folder / TABLE).exists():
        raise InputError(f"{folder} holds {TABLE} without {PARAMETERS}: choose another folder")
    for one in plans:
        number = str(one.experiment.number)
        if number in held:
            _refuse_differences(folder, number, held[number], one.parameters)
        held[number] = dict(one.parameters)
    _write(folder, held, found.machines)
    return read_parameters(folder)


def note_machine(folder: Path) -> None:
    """Write down that runs are started on this machine."""
    found = read_parameters(folder)
    _write(folder, found.experiments, [*dict.fromkeys([*found.machines, _machine()])])


def _write(
    folder: Path, experiments: Mapping[str, Mapping[str, object]], machines: Sequence[str]
) -> None:
    content = {
        "format": _FORMAT,
        "version": 1,
        "machines": machines,
        "experiments": experiments,
    }
    with replacing(folder / PARAMETERS) as stream:
        stream.write(json.dumps(content, indent=1, ensure_ascii=False).encode() + b"\n")


def _machine() -> str:
    return (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors, "
        f"Python {platform.python_version()}, NumPy {np.__version__}, pdfalearn {__version__}"
    )


def _refuse_differences(
    folder: Path, number: str, held: Mapping[str, object], wanted: Mapping[str, object]
) -> None:
    differences = [
        f"{name} {_text(held.get(name))} there and {_text(wanted.get(name))} now"
        for name in held
        if held.get(name) != wanted.get(name)
    ]
    if differences:
        raise InputError(
            f"{folder} holds results of experiment {number} with other parameters: "
            f"{'; '.join(differences)}; choose another folder"
        )


def _text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "none" if value is None else str(value)
