"""What the paper's five experiments are (§4): targets, parameters and learners."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pdfalearn.checks import checked_integer
from pdfalearn.equivalence import Tolerance
from pdfalearn.errors import InputError

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
        common = Setting(self.states, symbols=2, distributions=None, kappa=1000, tolerance=0.0)
        given = self.values if values is None else self._checked(values)
        settings = [replace(common, **{self.varies: value}) for value in given]
        paired = _paired([setting.kappa for setting in settings], tolerances)
        return [replace(setting, tolerance=paired[setting.kappa]) for setting in settings]

    def family(self, setting: Setting) -> str:
        """Return the name that the targets of a setting share, such as n100."""
        field = self.named_by or self.varies
        return f"{SYMBOL_OF_FIELD[field]}{getattr(setting, field)}"

    def _checked(self, values: Sequence[int]) -> list[int]:
        checked = [checked_integer(value, self.axis, 1) for value in values]
        if not checked or len(set(checked)) < len(checked):
            raise InputError(f"{self.axis} {list(values)} have to be one or more different values")
        return checked


def _paired(kappas: list[int], tolerances: Sequence[float] | None) -> dict[int, float]:
    """Return the tolerance that belongs to each κ."""
    different = list(dict.fromkeys(kappas))
    if tolerances is None:
        return {kappa: 1 / kappa for kappa in different}
    if len(tolerances) != len(different):
        raise InputError(
            f"{len(tolerances)} tolerances {list(tolerances)} do not pair with "
            f"{len(different)} values of κ {different}; give one for each"
        )
    return {kappa: Tolerance(t).tolerance for kappa, t in zip(different, tolerances, strict=True)}


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
    if name == "all":
        return list(EXPERIMENTS.values())
    for number, experiment in EXPERIMENTS.items():
        if name == str(number):
            return [experiment]
    raise InputError(
        f"there is no experiment {name!r}; there are {', '.join(map(str, EXPERIMENTS))} and all"
    )
