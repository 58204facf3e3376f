"""The size and the shape of the package stay within limits; ``tools/house.py`` measures them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import need_module
from tools.house import RUNS, Figures, format_table, measure, run_in

ROOT = Path(__file__).parents[1]

AT_MOST = {
    "files": 288,
    "lines in all": 60_890,
    "lines of code": 39_730,
    "files over 400 lines": 0,
    "files under 60 lines": 2,
    "modules with one importer": 36,
    "names used for several modules": 11,
    "functions named by a participle, %": 6.5,
    "public names at the top": 45,
    "modules of the package to show an automaton": 22,
    "modules of the package for its page, too": 59,
    "modules of the package for a shell learn": 111,
    "scipy.stats is imported by a shell learn": 0,
    "learn: functions": 176,
    "learn: files": 31,
    "learn: greatest depth of the user's function": 11,
    "distill: functions": 291,
    "distill: files": 44,
    "distill: greatest depth of the user's network": 12,
}
"""Limits that only go down."""
AT_LEAST = {"comments for 100 lines of code": 4.4, "lines of docstring for each public name": 24.5}
"""Limits that only go up."""


SMALL = {
    "__init__.py": """
if TYPE_CHECKING:
    from pdfalearn.rooms.door import Door as Door
""",
    "rooms/__init__.py": "from pdfalearn.rooms.windows import Window as Window",
    "rooms/door.py": """'''A door.

Two lines more.
'''
import pdfalearn.rooms._hinges  # one importer, and no life of its own
from pdfalearn.rooms.windows import Window


def _opened():
    '''Return it.'''
""",
    "rooms/_hinges.py": "size = 1\n'''What it is.'''\n",
    "rooms/windows.py": "class Window:\n    pass\n",
    "house/hinges.py": "from pdfalearn.rooms import Door, Window\nfrom pdfalearn import Door\n",
}
"""A package of which every figure is known."""


def check(figures: Figures) -> None:
    above = {name: figure for name, figure in figures.items() if figure > AT_MOST.get(name, figure)}
    assert not above, {name: AT_MOST[name] for name in above}
    below = {
        name: figure for name, figure in figures.items() if figure < AT_LEAST.get(name, figure)
    }
    assert not below, {name: AT_LEAST[name] for name in below}


@pytest.mark.slow
def test_files_lines_and_names_are_within_limits() -> None:
    check(measure(ROOT, runs=()))


@pytest.mark.parametrize("name", [name for name in RUNS if name != "distill"])
def test_runs_are_within_limits(name: str) -> None:
    figures = run_in(ROOT, name)
    assert not [limit for limit in AT_MOST if limit.startswith(f"{name}:") and limit not in figures]
    check(figures)


@pytest.mark.slow
def test_distilling_a_network_is_within_limits() -> None:
    need_module("torch")
    check(run_in(ROOT, "distill"))


def test_figures_of_a_small_package(tmp_path: Path) -> None:
    for name, text in SMALL.items():
        path = tmp_path / "src" / "pdfalearn" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.lstrip("\n"), encoding="utf-8")
    figures = measure(tmp_path, runs=())
    assert figures == {
        "files": 6,
        "lines in all": 19,
        "lines of code": 12,
        "of these, lines of strings below attributes": 1,
        "lines of docstrings": 5,
        "comments": 1,
        "comments for 100 lines of code": 8.33,
        "files over 400 lines": 0,
        "files under 60 lines": 4,
        "modules with one importer": 1,
        "names used for several modules": 1,
        "functions named by a participle, %": 100.0,
    }
    assert format_table({"before": figures, "after": {"files": 5}}).splitlines()[2:4] == [
        "| files                                       |      6 |     5 |",
        "| lines in all                                |     19 |       |",
    ]
