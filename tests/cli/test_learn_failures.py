from __future__ import annotations

from pathlib import Path

import pytest

import pdfalearn
from pdfalearn import load, save
from pdfalearn.datasets import figure_3, random_pdfa
from pdfalearn.io import pdfa_files
from pdfalearn.results import LearningInterrupted
from tests.cli.program import error_of, run
from tests.support import need_program


@pytest.fixture
def path(tmp_path: Path) -> Path:
    save(figure_3(), tmp_path / "target.json")
    return tmp_path / "target.json"


def test_what_turns_out_too_large_for_a_format_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_program("dot")
    monkeypatch.setattr(pdfa_files, "PARTS_LIMIT", 100)
    path = tmp_path / "large.npz"
    save(random_pdfa(400, seed=1), path)
    program, tree = tmp_path / "learnt.json", tmp_path / "tree.svg"
    result = run("learn", path, "-o", program, exit_code=2)
    assert f"saved as {program}.npz instead" in result.stderr
    assert "certificate" in result.stdout
    expected = pdfalearn.learn(load(path)).pdfa
    assert load(f"{program}.npz") == expected
    result = run("learn", path, "-o", tmp_path / "learnt.npz", "--tree", tree, exit_code=2)
    assert "leaves won't help" in result.stderr
    assert load(tmp_path / "learnt.npz") == expected
    assert not tree.exists()


def test_an_interrupt_before_the_first_answer(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object, **options: object) -> None:
        raise LearningInterrupted(None)

    monkeypatch.setattr(pdfalearn, "learn", interrupted)
    for options in ([], ["--json"], ["-o", path.with_name("learnt.json")]):
        result = run("learn", path, *options, exit_code=130)
        assert result.stderr == "interrupted before the first answer: nothing was saved\n"
        assert not result.stdout
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    ("options", "culprit"),
    [
        (["--kappa", "0"], "kappa 0"),
        (["--kappa", "x"], "'x'"),
        (["--kappa", "5", "--exact"], "only one of"),
        (["--audit", "-1"], "--audit"),
        (["--seed", "-1"], "--seed"),
        (["-o", "learnt.txt"], "learnt.txt"),
        (["--tree", "tree.npz"], ".dot, .svg, .png, .pdf"),
    ],
)
def test_bad_options(options: list[str], culprit: str, path: Path) -> None:
    assert culprit in error_of("learn", path, *options)


def test_without_graphviz_pictures_are_refused_before_learning(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(pdfalearn, "learn", None)
    for option in ("-o", "--tree"):
        assert "Graphviz" in error_of("learn", path, option, path.with_name("picture.png"))


@pytest.mark.parametrize("options", [["-o", "same.dot", "--tree", "same.dot"], ["-o", "t.json"]])
def test_files_have_to_be_different(
    options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save(figure_3(), "t.json")
    assert "has to be a file of its own" in error_of("learn", "t.json", *options)
    assert load("t.json") == figure_3()
