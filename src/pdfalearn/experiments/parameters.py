"""What the results in a folder are of, and whether others may go there."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pdfalearn import __version__
from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.experiments.expected import Expected, expected_runs
from pdfalearn.experiments.plans import Plan
from pdfalearn.experiments.table import TABLE
from pdfalearn.files.named import replacing

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
