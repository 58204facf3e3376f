"""What the paper's five experiments are (§4), the runs planned for them, and their parameters."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from itertools import islice, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pdfalearn import __version__
from pdfalearn.checks import check_integer
from pdfalearn.datasets import random_pdfa
from pdfalearn.equivalence import Tolerance
from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.files import check_kind, parse_object, replacing
from pdfalearn.io import load_pdfa
from pdfalearn.learning import LEARNERS, SIMILARITY_LEARNERS
from pdfalearn.models import AutomatonModel
from pdfalearn.pdfa import PDFA

LEARNER_NAMES = (*LEARNERS, *SIMILARITY_LEARNERS)
# The files of a folder that say what its results are of, and that hold the runs.
PARAMETERS, TABLE = "parameters.json", "runs.csv"
_FORMAT = "pdfalearn experiments"
# What the paper calls the fields of a setting that the experiments vary.
_SYMBOLS = {"nominal_states": "n", "alphabet_size": "m", "kappa": "κ", "distributions": "d"}


@dataclass(frozen=True)
class Setting:
    """How targets are drawn and compared at one value on an experiment's axis."""

    nominal_states: int
    alphabet_size: int
    distributions: int | None  # how many different ones there are; None for one a state
    kappa: int
    tolerance: float


@dataclass(frozen=True)
class Experiment:
    """One of the experiments: settings that differ in one field, and the learners compared."""

    number: int
    title: str
    varies: str  # the field of a setting that is on the axis
    values: tuple[int, ...]
    learners: tuple[str, ...] = ("quant", "quant-paper", "lpstar")
    states: int = 300

    @property
    def axis(self) -> str:
        """The paper's symbol for the field on the axis."""
        return _SYMBOLS[self.varies]

    def settings(
        self, values: Sequence[int] | None = None, tolerances: Sequence[float] | None = None
    ) -> list[Setting]:
        """Return a setting for each value, the paper's if not given; t is 1/κ if not given.

        >>> EXPERIMENTS[3].settings([10, 20])[1]
        Setting(nominal_states=300, alphabet_size=2, distributions=None, kappa=20, tolerance=0.05)
        """
        chosen = self.values if values is None else values
        given = [check_integer(value, self.axis, 1) for value in chosen]
        if not given or len(set(given)) < len(given):
            raise InputError(f"{self.axis} {given} have to be one or more different values")
        common = Setting(self.states, 2, distributions=None, kappa=1000, tolerance=0.0)
        settings = [replace(common, **{self.varies: value}) for value in given]
        kappas = list(dict.fromkeys(setting.kappa for setting in settings))
        if tolerances is None:
            tolerances = [1 / kappa for kappa in kappas]
        if len(tolerances) != len(kappas):
            raise InputError(
                f"{len(tolerances)} tolerances {list(tolerances)} do not pair with "
                f"{len(kappas)} values of κ {kappas}; give one for each"
            )
        paired = {k: Tolerance(t).tolerance for k, t in zip(kappas, tolerances, strict=True)}
        return [replace(setting, tolerance=paired[setting.kappa]) for setting in settings]

    def family(self, setting: Setting) -> str:
        """Return the name that the targets of a setting share, such as n100."""
        # Targets are the same for all κ.
        field = "nominal_states" if self.varies == "kappa" else self.varies
        return f"{_SYMBOLS[field]}{getattr(setting, field)}"


class Scale(NamedTuple):
    """How often everything is repeated."""

    targets: int  # of each setting
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


def experiments_named(name: str) -> list[Experiment]:
    """Return the experiment of a number, or all of them."""
    found = [one for one in EXPERIMENTS.values() if name in (str(one.number), "all")]
    if found:
        return found
    raise InputError(
        f"there is no experiment {name!r}; there are {', '.join(map(str, EXPERIMENTS))} and all"
    )


@dataclass(frozen=True)
class Origin:
    """Which run of which learner it is, on which target."""

    experiment: int
    target: str
    learner: str
    run: int
    target_seed: int | None  # None for a given target
    words_seed: int  # of the words that all learners are evaluated on


@dataclass(frozen=True)
class Case(Setting, Origin):
    """All that a run depends on but the content of a given target."""

    @property
    def key(self) -> str:
        """What identifies the run, in words."""
        place = f"experiment {self.experiment}, target {self.target}, κ={self.kappa}"
        return f"{place}, {self.learner}, run {self.run}"

    @property
    def setting(self) -> Setting:
        """How its target is drawn and compared."""
        return Setting(*(getattr(self, field.name) for field in fields(Setting)))


@dataclass(frozen=True)
class Task(Case):
    """A run that is to be done; another process draws its target, or it is sent along."""

    given: PDFA | None = None

    def pdfa(self) -> PDFA:
        """Return the target."""
        if self.given is not None:
            return self.given
        more: Any = {"distributions": self.distributions, "seed": self.target_seed}
        return _draw(self.nominal_states, self.alphabet_size, **more)


_draw = lru_cache(maxsize=2)(random_pdfa)  # a target is learnt many times, and may be large


@dataclass(frozen=True)
class Plan:
    """An experiment with everything that its results depend on."""

    experiment: Experiment
    settings: tuple[Setting, ...]
    learners: tuple[str, ...]
    scale: str
    seed: int
    given: dict[str, str] | None  # the fingerprints of given targets by their names
    tasks: tuple[Task, ...]

    def parameters(self) -> dict[str, Any]:
        """Return what is written to the file, by the names that `plan_experiment` takes."""
        return {
            "values": [getattr(one, self.experiment.varies) for one in self.settings],
            "tolerances": [*{one.kappa: one.tolerance for one in self.settings}.values()],
            "learners": list(self.learners),
            "scale": self.scale,
            "seed": self.seed,
            "given": self.given,
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
    given: dict[str, str] | None = None,
) -> Plan:
    """Plan an experiment; None is as in the paper.

    Targets are read from a folder, or are those that were given earlier, or else are drawn.
    """
    check_integer(seed, "seed", 0)
    if scale not in SCALES:
        raise InputError(f"there is no scale {scale!r}; there are {', '.join(SCALES)}")
    chosen = experiment.learners if learners is None else tuple(learners)
    for learner in chosen:
        if learner not in LEARNER_NAMES:
            known = ", ".join(LEARNER_NAMES)
            raise InputError(f"there is no learner {learner!r}; there are {known}")
    if not chosen or len({*chosen}) < len(chosen):
        raise InputError(f"learners {list(chosen)} have to be one or more, each once")
    settings, (count, runs) = experiment.settings(values, tolerances), SCALES[scale]
    read = dict[str, PDFA]()
    if folder is not None:
        for setting in settings:
            read |= _read_targets(experiment, setting, count, Path(folder))
        # What the targets are counts, and not where their files lie.
        given = {name: str(AutomatonModel(pdfa).fingerprint) for name, pdfa in read.items()}
    tasks = []
    for setting in settings:
        family = experiment.family(setting)
        names = [f"{family}-{index}" for index in range(count)]
        if given is not None:
            names = [name for name in given if name.startswith(f"{family}-")]
        # Seeds come from the place in the experiments; all κ share them.
        sizes = (setting.nominal_states, setting.alphabet_size, setting.distributions or 0)
        for index, name in enumerate(names):
            place = np.random.SeedSequence([seed, experiment.number, *sizes, index])
            target_seed, words_seed = place.generate_state(2).tolist()
            drawn = target_seed if given is None else None
            more: Any = {**vars(setting), "given": read.get(name)}
            # Learners take turns, so that a busy hour slows all of them alike.
            tasks += [
                Task(experiment.number, name, learner, run, drawn, words_seed, **more)
                for run, learner in product(range(1, runs + 1), chosen)
            ]
    return Plan(experiment, tuple(settings), chosen, scale, seed, given, tuple(tasks))


def _read_targets(
    experiment: Experiment, setting: Setting, count: int, folder: Path
) -> dict[str, PDFA]:
    """Read the targets of a setting from a folder, such as exp1/n100-0.json.gz and so on."""
    family, place = experiment.family(setting), folder / f"exp{experiment.number}"
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
        if len(pdfa.alphabet) != setting.alphabet_size:
            raise InputError(
                f"{paths[name]}: its alphabet has {len(pdfa.alphabet)} symbols, and experiment "
                f"{experiment.number} needs {setting.alphabet_size} there"
            )
    return targets


class Parameters(NamedTuple):
    """What the results in a folder are of."""

    plans: dict[int, Plan]  # by the experiment's number
    machines: tuple[str, ...]  # those that runs were started on

    @property
    def tasks(self) -> dict[str, Task]:
        """All runs by their keys."""
        return {task.key: task for plan in self.plans.values() for task in plan.tasks}

    def write(self, folder: Path) -> None:
        """Write the file of parameters."""
        content = {
            "format": _FORMAT,
            "version": 1,
            "machines": self.machines,
            "experiments": {number: plan.parameters() for number, plan in self.plans.items()},
        }
        write_json(folder / PARAMETERS, content)

    def note_machine(self, folder: Path) -> None:
        """Note in the file that runs are started on this machine."""
        machine = (
            f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors, "
            f"Python {platform.python_version()}, NumPy {np.__version__}, pdfalearn {__version__}"
        )
        if machine not in self.machines:
            self._replace(machines=(*self.machines, machine)).write(folder)


def write_json(path: Path, content: object) -> None:
    """Write a JSON file: the old one stays, or the new one is there."""
    with replacing(path) as stream:
        stream.write(json.dumps(content, indent=1, ensure_ascii=False).encode() + b"\n")


def read_parameters(folder: Path) -> Parameters:
    """Read what the results in a folder are of; of nothing if there are none."""
    path = folder / PARAMETERS
    try:
        content = parse_object(path.read_bytes(), "the file")
        check_kind(content, _FORMAT)
        machines = tuple(map(str, content["machines"]))
        plans = {int(one): _read_plan(one, given) for one, given in content["experiments"].items()}
    except FileNotFoundError:
        return Parameters({}, ())
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise FileFormatError(f"{path}: {error}") from error
    return Parameters(plans, machines)


def _read_plan(number: str, parameters: dict[str, Any]) -> Plan:
    try:
        plan = plan_experiment(EXPERIMENTS[int(number)], **parameters)
        if plan.parameters() != parameters:
            raise ValueError(f"they would be {plan.parameters()}")
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise FileFormatError(f"not the parameters of experiment {number}: {error}") from error
    return plan


def settle_parameters(folder: Path, plans: Sequence[Plan]) -> Parameters:
    """Add plans to a folder's file of parameters; refuse one that has results of other ones."""
    found = read_parameters(folder)
    if not found.plans and (folder / TABLE).exists():
        raise InputError(f"{folder} holds {TABLE} without {PARAMETERS}: choose another folder")
    for plan in plans:
        there = found.plans.get(plan.experiment.number, plan).parameters()
        names = {"values": plan.experiment.axis, "given": "given targets"}
        differences = [
            f"{names.get(name, name)} {_show_value(there[name])} there and {_show_value(value)} now"
            for name, value in plan.parameters().items()
            if there[name] != value
        ]
        if differences:
            raise InputError(
                f"{folder} holds results of experiment {plan.experiment.number} with other "
                f"parameters: {'; '.join(differences)}; choose another folder"
            )
    both = found.plans | {plan.experiment.number: plan for plan in plans}
    settled = Parameters(both, found.machines)
    settled.write(folder)
    return settled


def _show_value(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
