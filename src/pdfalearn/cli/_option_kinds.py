"""What the values of options are: numbers, files, lists and choices, as Click takes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

_MOST_SECONDS = 1e6

Settings = dict[str, Any]


class ListOf(click.ParamType[list[Any]]):
    """Values that are separated by commas."""

    def __init__(self, kind: Callable[[str], object], name: str) -> None:
        self.kind, self.name = kind, name

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> list[Any]:
        """Turn a text into the list of its values."""
        try:
            return [self.kind(part.strip()) for part in value.split(",")]
        except ValueError:
            self.fail(f"{value!r} is not a list of {self.name}, such as 1,2,3.", param, ctx)


def kind(metavar: str, kind: Any = str) -> Settings:
    return {"metavar": metavar, "type": kind}


FILE = kind("FILE", click.Path(path_type=Path))
FOLDER = kind("DIR", click.Path(path_type=Path, file_okay=False))
NATURAL = kind("N", click.IntRange(min=0))
POSITIVE = kind("N", click.IntRange(min=1))
SHARE = kind("P", click.FloatRange(0, 1))
OPEN_SHARE = kind("P", click.FloatRange(0, 1, min_open=True, max_open=True))
SECONDS = kind("SECONDS", click.FloatRange(min=0, min_open=True))
AMOUNT = kind("N", click.FloatRange(min=0))
INTEGERS = kind("N,N,…", ListOf(int, "integers"))
NUMBERS = kind("X,X,…", ListOf(float, "numbers"))


def value(kind: Settings, text: str, **more: Any) -> Settings:
    return {**kind, "help": text, **more}


def choice(*names: str, text: str, **more: Any) -> Settings:
    return {"type": click.Choice(names), "help": text, **more}


def flag(text: str, **more: Any) -> Settings:
    return {"is_flag": True, "help": text, **more}


def check_seconds(
    _context: click.Context, _option: click.Parameter, seconds: float | None
) -> float | None:
    """Refuse what a clock cannot wait for, such as nan and inf."""
    from pdfalearn.checks import check_number

    return None if seconds is None else check_number(seconds, "--log-every", 0, _MOST_SECONDS)
