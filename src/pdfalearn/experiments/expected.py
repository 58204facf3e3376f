"""Which runs a folder of results is to hold, by its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pdfalearn.checks import checked_integer
from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.experiments.definitions import EXPERIMENTS, SCALES, Experiment, Scale, Setting
from pdfalearn.experiments.runs import LEARNER_NAMES, Run
from pdfalearn.experiments.targets import drawn_targets


@dataclass(frozen=True)
class Expected:
    """The runs that the parameters of an experiment ask for."""

    experiment: Experiment
    settings: tuple[Setting, ...]
    learners: tuple[str, ...]
    scale: Scale
    seed: int
    are_given: bool
    """Whether the targets were given, and not drawn."""
    targets: int | None
    """How many there are for all settings together, if that is known."""

    @property
    def runs(self) -> int | None:
        """How many runs there are to be."""
        if self.targets is None:
            return None
        return self.targets * self.scale.runs * len(self.learners)

    def check(self, run: Run) -> None:
        """Raise a ValueError that says why a run is none of these."""
        setting = Setting(
            run.nominal_states, run.alphabet_size, run.distributions, run.kappa, run.tolerance
        )
        if setting not in self.settings:
            raise ValueError(f"the parameters do not ask for {setting}")
        if run.learner not in self.learners:
            raise ValueError(f"the parameters do not ask for {run.learner}")
        if not 1 <= run.run <= self.scale.runs:
            raise ValueError(f"run {run.run} is not one of {self.scale.runs}")
        if self.are_given:
            is_known = run.target.startswith(f"{self.experiment.family(setting)}-")
        else:
            is_known = (run.target, run.target_seed, run.words_seed) in self._drawn
        if not is_known:
            raise ValueError(f"the parameters do not ask for a target {run.target} of its seeds")

    @cached_property
    def _drawn(self) -> set[tuple[str, int | None, int]]:
        """The names and seeds of drawn targets."""
        return {
            (target.name, target.seed, target.words_seed)
            for setting in self.settings
            for target in drawn_targets(self.experiment, setting, self.scale.targets, self.seed)
        }


def expected_runs(
    path: Path, experiments: Mapping[str, Mapping[str, object]]
) -> dict[int, Expected]:
    """Return for each experiment the runs that its parameters, read from a file, ask for.

    Raises
    ------
    FileFormatError
        If they are not the parameters of an experiment.
    """
    found = {}
    for number, parameters in experiments.items():
        try:
            one = _expected(number, parameters)
        except (InputError, KeyError, TypeError, ValueError) as error:
            reason = f"not the parameters of experiment {number}: {error}"
            raise FileFormatError(f"{path}: {reason}") from error
        found[one.experiment.number] = one
    return found


def _expected(number: str, parameters: Mapping[str, object]) -> Expected:
    experiment = EXPERIMENTS[int(number)]
    values, tolerances, learners = (
        _listed(parameters, name) for name in (experiment.axis, "tolerances", "learners")
    )
    if not {*learners} <= {*LEARNER_NAMES}:
        raise ValueError(f"learners {learners}")
    scale, are_given = SCALES[str(parameters["scale"])], parameters.get("given targets") is not None
    targets = (
        parameters.get("number of given targets") if are_given else scale.targets * len(values)
    )
    return Expected(
        experiment,
        tuple(experiment.settings(values, tolerances)),
        tuple(learners),
        scale,
        checked_integer(parameters["seed"], "seed", 0),
        are_given,
        None if targets is None else checked_integer(targets, "targets", 1),
    )


def _listed(parameters: Mapping[str, object], name: str) -> list[Any]:
    listed = parameters[name]
    if not isinstance(listed, list):
        raise TypeError(f"{name} {listed!r} is not a list")
    return listed
