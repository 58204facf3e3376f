"""What many tests need: packages and programs that may not be there, and what is quick or slow."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import settings

_NOBODY = 65534


def paper_data() -> Path:
    """The folder with the data of the paper's experiments; skips where it is absent."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("PDFALEARN_PAPER_DATA", beside))
    if not (folder / "paper-targets").is_dir():
        pytest.skip(f"no paper-targets in {folder}; set PDFALEARN_PAPER_DATA to their folder")
    return folder


def need_program(name: str) -> None:
    """Skip where a program is not installed; fail instead where PDFALEARN_NO_SKIPS is 1."""
    if shutil.which(name) is None:
        _skip(f"the program {name} is not installed")


def need_module(name: str) -> ModuleType:
    """Import a package; skip where it is missing, or fail where PDFALEARN_NO_SKIPS is 1."""
    if find_spec(name) is None:
        _skip(f"the package {name} is not installed")
    return import_module(name)


@contextmanager
def without_privileges() -> Iterator[None]:
    """Act as a user with ordinary permissions, even if root runs the tests."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(_NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def examples(count: int) -> settings:
    """Try this many examples of a property, and a twentieth of them in the quick suite."""
    share = settings().max_examples / 100
    return settings(max_examples=max(1, round(share * count)))


def many(count: int) -> int:
    """Return a tenth of a large number of cases, or all of them where PDFALEARN_LARGE is 1."""
    return count if os.environ.get("PDFALEARN_LARGE") == "1" else max(1, count // 10)


def mostly_slow(values: Collection[object], quick: int = 1) -> list[object]:
    """Return the values of a parameter; all but the first few are left out of the quick suite."""
    first, rest = list(values)[:quick], list(values)[quick:]
    return [*first, *(pytest.param(value, marks=pytest.mark.slow) for value in rest)]


def _skip(reason: str) -> None:
    if os.environ.get("PDFALEARN_NO_SKIPS") == "1":
        pytest.fail(f"{reason}, and PDFALEARN_NO_SKIPS is set")
    pytest.skip(reason, allow_module_level=True)
