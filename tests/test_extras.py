"""The extras of pyproject.toml: `all` is for users, `dev` for developers."""

import re
import tomllib
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
DEVELOPERS = {"test", "bench", "docs", "pages", "notebooks"}
ON_BOTH_SIDES = {"matplotlib"}
"""Users plot with it, and the gallery of the documentation does."""


def parts_of(extra: str) -> set[str]:
    """Return the extras that an extra names, itself included."""
    named = [re.fullmatch(r"pdfalearn\[(.*)\]", need) for need in EXTRAS[extra]]
    parts = [part for match in named if match for part in match[1].split(",")]
    return {extra}.union(*map(parts_of, parts))


def packages_of(extras: set[str]) -> set[str]:
    """Return the names of the packages that extras need, without versions."""
    needs = [need for extra in extras for need in EXTRAS[extra]]
    return {re.split(r"[\[<>=]", need)[0] for need in needs} - {"pdfalearn"}


def test_all_has_every_extra_for_users() -> None:
    assert parts_of("all") == EXTRAS.keys() - DEVELOPERS - {"dev"}


def test_all_brings_no_tool_of_developers() -> None:
    assert packages_of(parts_of("all")) & packages_of(DEVELOPERS) == ON_BOTH_SIDES


def test_dev_has_every_extra() -> None:
    assert parts_of("dev") == EXTRAS.keys()
