"""What the paper's five experiments are (§4): settings, learners and targets."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np

from pdfalearn.checks import checked_integer
from pdfalearn.datasets import random_pdfa
from pdfalearn.equivalence import Tolerance
from pdfalearn.errors import InputError
from pdfalearn.io import load_pdfa
from pdfalearn.pdfa import PDFA

SYMBOL_OF_FIELD = {"states": "n", "symbols": "m", "kappa": "κ", "distributions": "d"}
"""How the paper calls what the experiments vary."""


@dataclass(frozen=True)
class Setting:
    """How targets are drawn and compared at one point of an experiment's axis."""

    states: int
    """The nominal size."""
    symbols: int
    distributions: int | None
    """How many different distributions there are; None for one a state."""
    kappa: int
    tolerance: float


@dataclass(frozen=True)
class Experiment:
    """One of the experiments: settings that differ in one field, and who learns there."""

    number: int
    title: str
    varies: str
    """The field of a setting that is on the axis."""
    values: tuple[int, ...]
    learners: tuple[str, ...]
    states: int = 300
    named_by: str | None = None
    """The field that names target files, if it is not the one on the axis."""

    @property
    def axis(self) -> str:
        """What the paper calls the field on the axis."""
        return SYMBOL_OF_FIELD[self.varies]

    def settings(
        self, values: Sequence[int] | None = None, tolerances: Sequence[float] | None = None
    ) -> list[Setting]:
        """Return a setting for each value on the axis.

        Parameters
        ----------
        values : sequence of int, optional
            Other values than the paper's.
        tolerances : sequence of float, optional
            One for each different κ, in their order; 1/κ if not given.

        Examples
        --------
        >>> EXPERIMENTS[3].settings([10, 20])[1]
        Setting(states=300, symbols=2, distributions=None, kappa=20, tolerance=0.05)
        """
        chosen = self.values if values is None else values
        given = [checked_integer(value, self.axis, 1) for value in chosen]
        if not given or len(set(given)) < len(given):
            raise InputError(f"{self.axis} {given} have to be one or more different values")
        common = Setting(self.states, symbols=2, distributions=None, kappa=1000, tolerance=0.0)
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
        field = self.named_by or self.varies
        return f"{SYMBOL_OF_FIELD[field]}{getattr(setting, field)}"


@dataclass(frozen=True)
class Scale:
    """How often everything is repeated."""

    targets: int
    """Targets of each setting."""
    runs: int
    """Runs of each learner on each target."""


SCALES = {"quick": Scale(targets=3, runs=2), "paper": Scale(targets=10, runs=10)}

_COMPARED = ("quant", "quant-paper", "lpstar")

EXPERIMENTS = {
    experiment.number: experiment
    for experiment in (
        Experiment(1, "QuaNT and L_p* as targets grow", "states", (100, 200, 300), _COMPARED),
        Experiment(2, "Alphabets that grow", "symbols", (2, 4, 8, 16, 32), _COMPARED, states=100),
        Experiment(
            3,
            "Quantization parameters and tolerances",
            "kappa",
            (10, 100, 500, 1000, 2000, 3000),
            _COMPARED,
            named_by="states",
        ),
        Experiment(4, "QuaNT on larger targets", "states", (1000, 2000, 5000), ("quant",)),
        Experiment(
            5,
            "Targets whose states share distributions",
            "distributions",
            (2, 4, 6, 8, 10, 12, 14, 16),
            _COMPARED,
        ),
    )
}
"""The experiments by their number in the paper."""


def title_of(name: str) -> str:
    """Return what is run, in words.

    Examples
    --------
    >>> title_of("4"), title_of("all")
    ('experiment 4', 'all experiments')
    """
    return "all experiments" if name == "all" else f"experiment {name}"


def experiments_named(name: str) -> list[Experiment]:
    """Return the experiment of a number, or all of them."""
    found = [one for one in EXPERIMENTS.values() if name in (str(one.number), "all")]
    if found:
        return found
    raise InputError(
        f"there is no experiment {name!r}; there are {', '.join(map(str, EXPERIMENTS))} and all"
    )


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
        return _draw(self.setting, self.seed)


@lru_cache(maxsize=2)  # a target is learnt many times in a row, and may be large
def _draw(setting: Setting, seed: int) -> PDFA:
    size = (setting.states, setting.symbols)
    return random_pdfa(*size, distributions=setting.distributions, seed=seed)


def drawn_targets(experiment: Experiment, setting: Setting, count: int, seed: int) -> list[Target]:
    """Name the targets to draw for a setting; those of several κ are the same."""
    place = (experiment.number, setting.states, setting.symbols, setting.distributions or 0)
    return [
        Target(f"{experiment.family(setting)}-{index}", setting, *_seeds(seed, *place, index))
        for index in range(count)
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
    found = sorted(place.glob(f"{family}-*"), key=_number_and_name)
    if not found:
        raise InputError(f"{place} holds no targets {family}-0.json.gz, {family}-1.json.gz, …")
    for first, second in pairwise(found):
        if _name(first) == _name(second):
            raise InputError(f"{first} and {second} are two targets of one name; keep one of them")
    targets = []
    for index, path in enumerate(found[:count]):
        pdfa = load_pdfa(path)
        if len(pdfa.alphabet) != setting.symbols:
            raise InputError(
                f"{path}: its alphabet has {len(pdfa.alphabet)} symbols, and experiment "
                f"{experiment.number} needs {setting.symbols} there"
            )
        _, words_seed = _seeds(seed, experiment.number, index)
        targets.append(Target(_name(path), setting, None, words_seed, pdfa))
    return targets


def _seeds(*numbers: int) -> tuple[int, int]:
    """Derive the seeds of a target and of its words from where it stands in the experiments."""
    first, second = np.random.SeedSequence(numbers).generate_state(2).tolist()
    return first, second


def _name(path: Path) -> str:
    """Return a target's name, which has no endings."""
    return path.name.partition(".")[0]


def _number_and_name(path: Path) -> tuple[int, str]:
    """Order files by their number: n100-10 comes after n100-9."""
    number = _name(path).rpartition("-")[2]
    return (int(number) if number.isdecimal() else 0, path.name)
