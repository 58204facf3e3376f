from __future__ import annotations

from pathlib import Path

import pytest

from pdfalearn import load, save
from pdfalearn.datasets import figure_1, figure_3
from tests.cli.program import error_of, run, run_json
from tests.io.foreign import FOREIGN
from tests.support import need_program


@pytest.fixture
def source(tmp_path: Path) -> Path:
    save(figure_3(), tmp_path / "source.json")
    return tmp_path / "source.json"


@pytest.mark.parametrize("ending", [".json", ".json.gz", ".npz"])
def test_converted_files_hold_the_same(ending: str, source: Path) -> None:
    target = source.with_name(f"target{ending}")
    assert run("convert", source, "-o", target).stdout == f"{target}: 4 states\n"
    assert load(target) == load(source)
    assert run_json("convert", target, "-o", source) == {
        "file": str(target),
        "output": str(source),
        "states": 4,
    }


@pytest.mark.parametrize("ending", FOREIGN)
def test_files_of_other_programs_are_read_and_most_are_not_written(
    ending: str, tmp_path: Path
) -> None:
    source, target = tmp_path / f"source{ending}", tmp_path / "target.npz"
    source.write_bytes(FOREIGN[ending])
    run("convert", source, "-o", target)
    assert load(target) == load(source)
    if ending != ".pautomac":
        assert "cannot save" in error_of("convert", target, "-o", source)


@pytest.mark.parametrize("command", ["convert", "draw"])
def test_dot_needs_no_program(command: str, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    run(command, source, "-o", source.with_name("picture.dot"))
    assert "digraph" in source.with_name("picture.dot").read_text()


@pytest.mark.parametrize(
    ("ending", "begin"), [(".svg", b"<?xml"), (".png", b"\x89PNG"), (".pdf", b"%PDF")]
)
def test_pictures(ending: str, begin: bytes, source: Path) -> None:
    need_program("dot")
    picture = source.with_name(f"picture{ending}")
    assert run_json("draw", source, "-o", picture) == {
        "file": str(source),
        "output": str(picture),
        "states": 4,
        "drawn": 4,
        "note": "",
    }
    assert picture.read_bytes().startswith(begin)


def test_a_picture_is_drawn_as_the_options_say(source: Path) -> None:
    picture = source.with_name("picture.dot")
    style = ["--word", "01", "--mark", 2, "--title", "<Title>", "--direction", "down"]
    done = run(
        "draw", source, "-o", picture, "--most-states", 1, "--digits", 3, "--least", 0.4, *style
    )
    assert done.stdout.startswith(f"{picture}: edges under 0.4 are left out")
    text = picture.read_text()
    assert 'label="<Title>"' in text
    assert "rankdir=TB" in text
    assert text.count('fillcolor="#fbdedb"') == 4
    assert "'2'" in error_of("draw", source, "-o", picture, "--word", "2")
    assert "marked state 9" in error_of("draw", source, "-o", picture, "--mark", 9)


def test_without_graphviz_a_drawing_says_what_to_install(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    assert "Graphviz" in error_of("draw", source, "-o", source.with_name("picture.svg"))
    assert not source.with_name("picture.svg").exists()


@pytest.mark.parametrize("name", ["target.txt", "target", "target.json"])
def test_a_drawing_has_an_ending_of_drawings(name: str, source: Path) -> None:
    assert ".svg, .png, .pdf, .dot" in error_of("draw", source, "-o", source.with_name(name))


def test_unknown_endings_are_refused(source: Path) -> None:
    assert "target.txt" in error_of("convert", source, "-o", source.with_name("target.txt"))
    assert "source.dot" in error_of("convert", source.with_name("source.dot"), "-o", source)


@pytest.mark.parametrize("ending", [".dot", ".pm", ".drn", ".att", ".syms", ".mc.dot", ".pautomac"])
def test_files_for_other_programs(ending: str, source: Path) -> None:
    target = source.with_name(f"target{ending}")
    run("convert", source, "-o", target)
    assert target.stat().st_size


def test_intervals(source: Path) -> None:
    run("convert", source, "-o", source.with_name("x.drn"), "--kappa", 100)
    assert "double-interval" in source.with_name("x.drn").read_text()
    assert "those that work: .drn" in error_of(
        "convert", source, "-o", source.with_name("x.json"), "--kappa", 100
    )


def test_what_is_read_is_not_overwritten_by_something_else(source: Path) -> None:
    corpus = source.with_name("words.json")
    corpus.write_text("0\n")
    assert "a file of its own" in error_of("refit", source, "--corpus", corpus, "-o", corpus)
    assert corpus.read_text() == "0\n"


@pytest.mark.slow
def test_pages_of_recorded_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save(figure_1(), "usual.json")
    Path("monday.txt").write_text("a\naa\n" * 50)
    Path("friday.txt").write_text("a\naaa\nab\n" * 50)
    one = run_json("view", "usual.json", "--corpus", "friday.txt", "-o", "one.html")
    assert Path("one.html").stat().st_size == one["bytes"]
    both = ("--corpus", "monday.txt", "--corpus", "friday.txt", "-o", "both.html")
    run("view", "usual.json", *both)
    assert "monday.txt and friday.txt</title>" in Path("both.html").read_text()
    assert "one or two --corpus" in error_of("view", "usual.json", "usual.json", *both)
    assert "--format is for --corpus" in error_of("view", "usual.json", "--format", "csv")
