"""Where learning cannot end, or sees nothing, it says so."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

from pdfalearn import Budget, FunctionModel, Quantization, learn, load, save
from pdfalearn.datasets import figure_3, random_pdfa
from pdfalearn.equivalence import Rounded
from pdfalearn.learning import loop
from pdfalearn.models import AutomatonModel
from pdfalearn.oracles import AllWordsOracle, ExactOracle
from pdfalearn.results import LearningInterrupted
from pdfalearn.results.signs import EndlessLearningWarning, StateGrowth
from tests.cli.program import run
from tests.cli.terminal import Program
from tests.learners.endless import EndlessModel

BY = Quantization(1000)

MODULE = """
import time
from pdfalearn.learning import loop
from pdfalearn.results.signs import EndlessLearningWarning
from tests.learners.endless import EndlessModel

class Slow(EndlessModel):
    def answer(self, batch):
        time.sleep(0.1)
        return super().answer(batch)

endless, slow = EndlessModel(), Slow()
"""


@pytest.mark.parametrize("budget", [Budget(max_words=1200), Budget(max_states=600)], ids=str)
def test_states_that_grow_with_the_questions(budget: Budget) -> None:
    certificate = learn(EndlessModel(), equivalence=BY, budget=budget).certificate
    assert certificate.details["is_growing"] is True
    assert "may never end" in certificate.statement
    assert "distill" in certificate.statement


def test_few_states_say_nothing() -> None:
    certificate = learn(EndlessModel(), equivalence=BY, budget=Budget(max_words=200)).certificate
    assert certificate.details["is_growing"] is False
    assert "may never end" not in certificate.statement


def test_an_automaton_has_an_end() -> None:
    target = random_pdfa(20_000, seed=1)
    asked = FunctionModel(target.next_distributions, target.alphabet)
    budget, oracle = Budget(max_words=20_000), ExactOracle(target, equivalence=BY)
    for model in (target, AutomatonModel(target), asked):
        result = learn(model, equivalence=BY, oracle=oracle, budget=budget)
        assert result.certificate.kind == "stopped"
        assert result.certificate.details["is_growing"] is False


def test_growth_is_judged_by_what_came_last() -> None:
    growth = StateGrowth()
    for words in range(100, 100_000, 100):
        growth.note(words, states=min(words, 5_000))
        if not 6_000 < words < 7_500:
            assert growth.is_steady == (400 <= words <= 6_000), words


def test_an_interrupted_run_says_it_too() -> None:
    def press(progress: object) -> None:
        if progress.states > 4000:  # type: ignore[attr-defined]
            raise KeyboardInterrupt

    with (
        pytest.warns(EndlessLearningWarning, match=r"distill\(model\).*Budget"),
        pytest.raises(LearningInterrupted) as caught,
    ):
        learn(EndlessModel(), equivalence=BY, progress=press)
    assert caught.value.result is not None
    assert caught.value.result.certificate.details == {"is_growing": True}
    assert "distill" in caught.value.result.certificate.statement


def test_rows_of_single_words(tmp_path: Path) -> None:
    result = learn(EndlessModel(), equivalence=BY, budget=Budget(max_words=50))
    assert result.certificate.details["rows"] == "single words"
    assert "fit" in result.certificate.statement
    save(result, tmp_path / "run.zip")
    assert load(tmp_path / "run.zip") == result


def flat(words: list[tuple[object, ...]]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return distributions of 20 symbols with nothing above 0.07, which is there."""
    rows = np.full((len(words), 21), 0.93 / 20)
    for row, word in zip(rows, words, strict=True):
        row[(7 * len(word)) % 21] = 0.07
    return rows


ALPHABET = "abcdefghijklmnopqrst"


def test_intervals_that_are_too_wide() -> None:
    model = FunctionModel(flat, ALPHABET)
    for equivalence in (Quantization(10), Rounded(Quantization(10), 4)):
        result = learn(model, equivalence=equivalence)
        assert len(result.pdfa) == 1
        (note,) = result.notes
        assert "kappa = 15 is the least" in note
    assert learn(model, equivalence=Quantization(14)).notes
    assert len(learn(model, equivalence=Quantization(15)).pdfa) > 1
    assert not learn(model, equivalence=Quantization(15)).notes


def test_one_state_for_good() -> None:
    row = np.array([0.25, 0.25, 0.25, 0.25])
    model = FunctionModel(lambda words: np.tile(row, (len(words), 1)), "abc")
    assert not learn(model, equivalence=Quantization(3)).notes


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "endless.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_the_summary_names_the_way_out() -> None:
    command = ("learn", "endless.py:endless", "--kappa", 1000, "--max-words", 1200)
    text = " ".join(run(*command).stdout.replace("│", " ").split())
    assert "end not in sight, states grew with the questions; 'pdfalearn distill' may help" in text
    certificate = json.loads(run(*command, "--json").stdout)["certificate"]
    assert certificate["is_growing"] is True
    few = run("learn", "endless.py:endless", "--max-words", 100)
    assert "not in sight" not in few.stdout


@pytest.mark.slow
def test_the_progress_line_says_it(folder: Path) -> None:
    root = str(Path(__file__).parents[2])
    program = Program("learn", "endless.py:slow", folder=folder, PYTHONPATH=f"{root}/src:{root}",
                      COLUMNS="200")  # fmt: skip
    program.wait_for("no end in sight: see distill")
    program.interrupt()
    code, _ = program.finish_reading()
    assert code == 130


def test_the_default_bound_stops_what_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = {"max_words": Budget(max_words=3000), "max_bytes": Budget(max_bytes=200_000)}
    for bound, limit in limits.items():
        monkeypatch.setattr(loop, "DEFAULT_LIMITS", limit)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EndlessLearningWarning)
            result = learn(EndlessModel(), equivalence=BY, oracle=AllWordsOracle(1))
        certificate = result.certificate
        assert certificate.kind == "stopped"
        assert certificate.details["bound"] == bound
        assert "the default bound, which budget=Budget() lifts" in certificate.statement
        assert 100 < result.statistics.words < 100_000
    assert (
        learn(figure_3(), equivalence=BY).certificate.kind == "exact"
    )  # an automaton has no bound
