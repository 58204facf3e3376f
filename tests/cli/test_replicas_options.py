"""``--replicas`` and ``--scheduler``."""

from __future__ import annotations

from pathlib import Path

import pytest

from pdfalearn import load
from tests.cli.program import error_of, run_json
from tests.support import need_module

EXAMPLE = Path(__file__).parents[2] / "examples" / "replicated_model.py"
LEARN = ("--kappa", 20, "--oracle", "pac", "--epsilon", 0.1, "--max-length", 8, "--seed", 1)


@pytest.mark.slow
def test_copies_learn_what_one_learns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, more in (("one", ()), ("two", ("--replicas", 2))):
        model = (f"{EXAMPLE}:slow_answers", "--alphabet", "01")
        run_json("learn", *model, *LEARN, *more, "-o", f"{name}.json")
    assert load("one.json") == load("two.json")


@pytest.mark.slow
def test_what_fails_in_a_copy_is_one_line() -> None:
    assert "has no 'nothing'" in error_of("learn", f"{EXAMPLE}:nothing", "--replicas", 2, *LEARN)
    message = error_of("learn", f"{EXAMPLE}:slow_answers", "--replicas", 1, *LEARN)
    assert "say with --alphabet what its symbols are" in message


@pytest.mark.slow
def test_a_scheduler_that_is_not_there_is_named() -> None:
    need_module("distributed")
    message = error_of("learn", f"{EXAMPLE}:make_model", "--scheduler", "nowhere", *LEARN)
    assert (
        message
        == "no Dask scheduler answers at 'nowhere': missing port number in address 'nowhere'"
    )
