"""``pdfalearn distill``, and frontiers' files in the commands that read automata."""

from __future__ import annotations

from pathlib import Path

import pytest

from pdfalearn import PDFA, Budget, Corpus, Frontier, TopK, distill, divergence, load, save
from pdfalearn.datasets import random_pdfa
from pdfalearn.samplers import ModelWords
from tests.cli.program import error_of, run, run_json, unboxed

TARGET = random_pdfa(4, seed=1)
BUDGET = Budget(max_symbols=600)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    save(TARGET, tmp_path / "target.json")
    return tmp_path


def loaded(path: Path) -> Frontier:
    frontier = load(path)
    assert isinstance(frontier, Frontier)
    return frontier


@pytest.mark.slow
def test_a_frontier_is_written_and_told(folder: Path) -> None:
    result = run_json("distill", "target.json", "--symbols", 600, "--seed", 3, "-o", "out.zip")
    frontier = loaded(folder / "out.zip")
    assert frontier == distill(TARGET, budget=BUDGET, seed=3)
    assert result["target"] == "target.json"
    assert (result["output"], result["store"], result["seed"]) == ("out.zip", None, 3)
    assert (result["best"], result["knee"]) == (len(frontier.best), frontier.knee)
    assert result["sizes"] == list(frontier.sizes)
    assert [point["states"] for point in result["points"]] == [one.states for one in frontier]
    for told, point in zip(result["points"], frontier, strict=True):
        assert told == {name: value for name, value in vars(point).items() if name != "pdfa"}
    assert result["certificate"]["kind"] == "distilled"
    assert result["certificate"]["held_out_words"] == len(frontier.kept_lengths)


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_the_table_and_the_words_below() -> None:
    output = run("distill", "target.json", "--symbols", 600, "-o", "out.zip").stdout
    frontier = loaded(Path("out.zip"))
    for line in frontier.table().splitlines()[:-2]:
        assert line.split() in [shown.split() for shown in output.splitlines()]
    text = unboxed(output)
    assert f"best {len(frontier.best)} states: the smallest" in text
    assert f"knee {frontier.knee} states: there the curve" in text
    assert "certificate distilled: the automaton of" in text
    assert "not an equivalence" in text
    assert output.endswith("out.zip: the frontier\n")
    assert max(map(len, output.splitlines())) <= 80


@pytest.mark.slow
def test_one_automaton_is_written(folder: Path) -> None:
    frontier = distill(TARGET, budget=BUDGET, sizes=[1, 2, 4])
    output = run("distill", "target.json", "--symbols", 600, "--states", "2,1,4", "-o", "a.json")
    assert load(folder / "a.json") == frontier.best
    assert "a.json: the best automaton" in output.stdout
    output = run("distill", "target.json", "--symbols", 600, "--states", "2", "-o", "b.npz")
    assert load(folder / "b.npz") == distill(TARGET, budget=BUDGET, sizes=[2]).at_most(2)
    assert "b.npz: the automaton of at most 2 states" in output.stdout
    run("distill", "target.json", "--symbols", 600, "--states", "1", "-o", "c.dot")
    assert (folder / "c.dot").read_text().startswith("digraph")


def test_the_page_of_a_frontier_is_written(folder: Path) -> None:
    output = run("distill", "target.json", "--symbols", 600, "--states", "1,2", "-o", "view.html")
    assert output.stdout.endswith("view.html: the frontier\n")
    save(distill(TARGET, budget=BUDGET, sizes=[1, 2]), folder / "same.html")
    assert (folder / "view.html").read_text() == (folder / "same.html").read_text()


@pytest.mark.usefixtures("folder")
def test_a_size_without_a_knee() -> None:
    output = run("distill", "target.json", "--symbols", 600, "--states", 1).stdout
    assert "none: nowhere does the curve bend much" in output
    assert "1 state: the smallest" in output
    assert run_json("distill", "target.json", "--symbols", 600, "--states", 1)["knee"] is None


@pytest.mark.slow
def test_where_words_come_from(folder: Path) -> None:
    common = ("distill", "target.json", "--symbols", 600, "--states", "1,4")
    run(*common, "--max-length", 7, "-o", "short.zip")
    short = distill(TARGET, budget=BUDGET, sizes=[1, 4], sampler=ModelWords(7))
    assert loaded(folder / "short.zip") == short
    Path("words.txt").write_text(run("sample", "target.json", "--count", 300, "--seed", 0).stdout)
    run(*common, "--corpus", "words.txt", "-o", "corpus.zip")
    corpus = distill(TARGET, budget=BUDGET, sizes=[1, 4], sampler=Corpus("words.txt"))
    assert loaded(folder / "corpus.zip") == corpus
    assert "words of the corpus words.txt" in corpus.certificate.statement


@pytest.mark.slow
def test_bounds_and_constraints(folder: Path) -> None:
    run("distill", "target.json", "--words", 100, "--states", 2, "--top-k", 2, "-o", "a.zip")
    model = TopK(TARGET, 2)
    assert loaded(folder / "a.zip") == distill(model, budget=Budget(max_words=100), sizes=[2])
    frontier = run_json("distill", "target.json", "--seconds", 0.2, "--states", 2)
    assert frontier["best"] <= 2


@pytest.mark.usefixtures("folder")
def test_a_store_is_taken_up_again() -> None:
    Path("asked.py").write_text(
        "import pdfalearn\npdfa = pdfalearn.load('target.json')\n"
        "def answers(words):\n    return pdfa.next_distributions(words)\n"
    )
    asked = ("distill", "asked.py:answers", "--alphabet", "01", "--symbols", 600, "--states", "1,4")
    stored = ("--store", "answers.db", "--model-id", "mine", "-o", "out.zip")
    first = run_json(*asked, *stored)
    points = [*loaded(Path("out.zip"))]
    again = run_json(*asked, *stored)
    assert first["certificate"]["words_asked"] > 50
    assert again["certificate"]["words_asked"] < first["certificate"]["words_asked"] / 2
    assert again["certificate"]["stored_words"] > 50
    assert [*loaded(Path("out.zip"))] == points
    assert "model_id" in error_of(*asked, "--store", "other.db")


@pytest.mark.parametrize(
    ("options", "culprit"),
    [
        (["--symbols", "20"], "max_symbols=20 is too small to hold out any words"),
        (["--symbols", "0"], "0 is not in the range"),
        (["--states", "few"], "'few' is not a list of integers"),
        (["--states", "0"], "a size 0"),
        (["-o", "out.txt"], "of this ending; those that work: .zip, .html, .json, "),
        (["-o", "nowhere/out.zip"], "nowhere/out.zip: No such file or directory"),
        (["-o", "target.json"], "-o has to be a file of its own"),
        (["-o", "words.zip", "--corpus", "words.zip"], "-o has to be a file of its own"),
        (["-o", "a.zip", "--store", "a.zip"], "-o has to be a file of its own"),
        (["--corpus", "words.txt"], "words.txt, line 2: symbol 'x' is not in the alphabet"),
        (["--corpus", "target.json", "--max-length", "3"], "--max-length is for words of the mod"),
        (["--max-length", "0"], "0 is not in the range"),
    ],
)
def test_bad_options(options: list[str], culprit: str, folder: Path) -> None:
    (folder / "words.txt").write_text("01\n0x\n")
    before = sorted(folder.iterdir())
    assert culprit in error_of("distill", "target.json", *options)
    assert sorted(folder.iterdir()) == before


def test_symbols_that_no_file_can_hold_are_refused_at_once(folder: Path) -> None:
    (folder / "odd.py").write_text(
        "from pdfalearn import FunctionModel\n"
        "def never(words):\n    raise AssertionError('asked')\n"
        "model = FunctionModel(never, [('a', 1)])\n"
    )
    message = error_of("distill", "odd.py:model", "--symbols", 600, "-o", "out.zip")
    assert "symbol ('a', 1) cannot be in a file" in message


@pytest.fixture
def frontier(folder: Path) -> Frontier:
    """A frontier whose best automaton has four states, in a file."""
    found = distill(TARGET, budget=BUDGET, sizes=[1, 2, 4])
    assert len(found.best) == 4
    save(found, folder / "frontier.zip")
    return found


def test_info(frontier: Frontier) -> None:
    told = run_json("info", "frontier.zip")
    assert told["states"] == told["frontier"]["best"] == len(frontier.best)
    assert [point["states"] for point in told["frontier"]["points"]] == [1, 2, 4]
    output = run("info", "frontier.zip").stdout
    assert "frontier.zip: the best automaton of a frontier" in output
    assert "weakly minimal" in output
    for line in frontier.table().splitlines()[:-2]:
        assert line.split() in [shown.split() for shown in output.splitlines()]
    assert "frontier" not in run_json("info", "target.json")


def test_commands_take_the_best_automaton(frontier: Frontier, folder: Path) -> None:
    for name in ("best.json", "best.npz"):
        run("convert", "frontier.zip", "-o", name)
        assert load(folder / name) == frontier.best
    run("draw", "frontier.zip", "-o", "best.dot")
    assert "digraph" in (folder / "best.dot").read_text()
    words = run("sample", "frontier.zip", "--count", 5, "--seed", 0)
    assert words.stdout == run("sample", "best.json", "--count", 5, "--seed", 0).stdout
    exact = divergence(TARGET, frontier.best)
    told = run_json("divergence", "target.json", "frontier.zip")
    assert told["forward"]["per_symbol"] == exact.forward.per_symbol
    assert run_json("compare", "best.json", "frontier.zip")["equivalent"] is True
    assert run_json("evaluate", "frontier.zip", "best.json")["over_words"]["l1"] == 0
    run("simplify", "frontier.zip", "--states", 2, "-o", "two.json")
    assert len(load(folder / "two.json")) == 2
    run("quotient", "frontier.zip", "-o", "small.json", "--kappa", 10)
    assert isinstance(load(folder / "small.json"), PDFA)
    assert run_json("learn", "frontier.zip")["states"] == 4
    run("refit", "frontier.zip", "target.json", "-o", "fitted.json")
    assert len(load(folder / "fitted.json")) == 4


def test_words_of_several_files_in_one_narrow_table(folder: Path) -> None:
    words = run("sample", "target.json", "--count", 80, "--seed", 0).stdout
    for name in ("one.txt", "two.txt"):
        Path(name).write_text(words)
    run("distill", "one.txt", "two.txt", "--states", "1,2", "-o", "out.zip")
    assert loaded(folder / "out.zip").certificate.details["word_count"] == 160
    shown = run("distill", "one.txt", "two.txt", "--states", "1,2").stdout
    [header] = [line for line in shown.splitlines() if line.startswith("states")]
    assert header.split()[1] == "cross-entropy"
    assert header.split()[-1] == "perplexity"
    text = error_of("distill", "one.txt", "target.json")
    assert "target.json is a model: name it alone, or files of words" in text
