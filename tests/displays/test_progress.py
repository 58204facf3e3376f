"""The argument ``progress``: what it may be, and what each of its values shows."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from pdfalearn import Budget, FunctionModel, displays, distill, learn
from pdfalearn.datasets import figure_3
from pdfalearn.displays import DistillingLine, LearningLine, RunsLine, logged
from pdfalearn.errors import InputError
from pdfalearn.experiments import run_experiments
from pdfalearn.results import Progress
from pdfalearn.results.frontiers import DistillingProgress
from tests.displays.terminals import shown_by

SLOW = """
import time
from pdfalearn import Budget, FunctionModel, distill, learn
from pdfalearn.datasets import random_pdfa

inner = random_pdfa(30, seed=1)

def answer(words):
    time.sleep(0.05)
    if FAILS and len(words[0]) > 3:
        raise ZeroDivisionError("the model failed")
    return inner.next_distributions(words)

FAILS = False
model = FunctionModel(answer, inner.alphabet)
"""
SHOW, HIDE = "\x1b[?25h", "\x1b[?25l"


@pytest.mark.parametrize("progress", [3, "yes", "LOG", 1.0, [], 0, 1])
def test_other_values_are_refused(progress: Any, tmp_path: Path) -> None:
    told = re.escape('is not True, False, "log" or a function to call')
    with pytest.raises(InputError, match=told):
        learn(figure_3(), progress=progress)
    with pytest.raises(InputError, match=told):
        distill(figure_3(), budget=Budget(max_symbols=500), progress=progress)
    with pytest.raises(InputError, match=told):
        run_experiments("1", tmp_path, values=[10], progress=progress)


@pytest.mark.parametrize("progress", [None, False, True, "log"])
def test_a_short_run_without_a_terminal_writes_nothing(
    progress: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    assert len(learn(figure_3(), progress=progress).pdfa) == 4
    assert capfd.readouterr() == ("", "")


def test_lines_come_every_so_often_and_end_with_the_context(
    capsys: pytest.CaptureFixture[str],
) -> None:
    line = LearningLine(may_be_endless=False)
    with logged(line, seconds=0.02) as update:
        update(progress_of(states=1, words=1, equivalence_queries=1, cost=2.5))
        time.sleep(0.3)
    lines = capsys.readouterr().err.splitlines()
    assert 2 <= len(lines) <= 15
    assert re.fullmatch(
        r"learning: 1 state, 1 word asked, 1 equivalence query, cost 2.5, 0\.\d s", lines[0]
    )
    time.sleep(0.05)
    assert capsys.readouterr().err == ""


@pytest.mark.slow
def test_log_goes_to_the_logger_of_the_package(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(displays, "SECONDS_BETWEEN_LINES", 0.02)
    with caplog.at_level("INFO", logger="pdfalearn"):
        run_slowly(progress="log")
    assert len(caplog.records) >= 2
    for record in caplog.records:
        assert (record.name, record.levelname) == ("pdfalearn", "INFO")
        assert re.match(r"learning: .*\d s", record.getMessage())
    caplog.clear()
    run_slowly(progress="log")  # nobody has asked for such messages
    assert not caplog.records
    assert capfd.readouterr() == ("", "")


def run_slowly(progress: Any) -> None:
    def answer(words: list[Any]) -> Any:
        time.sleep(0.1)
        return figure_3().next_distributions(words)

    learn(FunctionModel(answer, figure_3().alphabet), progress=progress)


def test_a_standard_error_that_is_gone_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for gone in (None, open("/dev/full", "w")):  # noqa: PTH123, SIM115
        monkeypatch.setattr(sys, "stderr", gone)
        with logged(LearningLine(may_be_endless=False), seconds=0.01):
            time.sleep(0.05)
        if gone is not None:
            with pytest.raises(OSError, match="No space"):
                gone.close()


def test_the_line_of_distilling() -> None:
    line = DistillingLine(max_symbols=1000)
    assert re.fullmatch(r"distilling: 0\.\d s", line.text)
    line.update(DistillingProgress("automata", 40, 600, 0.0, 0.6, 5, 0.25, 0.5))
    assert line.text.startswith(
        "distilling: searching, 40 words drawn, 400 symbols left, 5 states, "
        "training divergence 0.25, held-out divergence 0.5, "
    )
    line = DistillingLine(is_of_words=True)
    line.update(DistillingProgress("teacher", 40, 2, 0.0, 0.5, member=(2, 4)))
    assert line.text.startswith("distilling: training a teacher (2 of 4), 40 words, about 50% done")


def test_the_line_of_runs_tells_how_long_the_rest_may_take() -> None:
    line = RunsLine("experiment 4")
    line.update(10, 40)
    assert line.text.startswith("experiment 4: [#####---------------] 10 of 40 runs, ")
    assert "left" not in line.text, "nothing was done yet from which it could be told"
    time.sleep(0.2)
    line.update(20, 40)
    seconds = re.search(r"about ([\d.]+) s left", line.text)
    assert seconds is not None
    assert 0.3 <= float(seconds[1]) <= 10
    line.update(40, 40)
    assert "left" not in line.text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("learn(model, progress=True)", r"learning: .* states, .* words asked, .* s"),
        (
            "distill(model, budget=Budget(max_symbols=300), progress=True)",
            r"distilling: measuring, .* words drawn, .*symbols left",
        ),
    ],
)
def test_the_last_line_stays_in_a_terminal(call: str, told: str) -> None:
    code, shown = shown_by(f"{SLOW}\n{call}\nprint('done')")
    assert code == 0, shown
    assert re.search(told, shown)
    assert (shown.count(HIDE), shown.count(SHOW)) == (1, 1)
    assert re.search(r"s(, [^\r\n]*)?\r?\n(\x1b\[\?25h)?done", shown.replace(" \r\n", "\r\n")), (
        shown
    )


@pytest.mark.slow
def test_an_error_leaves_the_terminal_in_order() -> None:
    code, shown = shown_by(f"{SLOW}\nFAILS = True\nlearn(model, progress=True)")
    assert code == 1
    assert shown.count(HIDE) == shown.count(SHOW) == 1
    assert shown.index(SHOW) < shown.index("Traceback")
    assert re.search(r"\r?\n(\x1b\[\?25h)?Traceback", shown), "the line is not ended"
    without_colours = re.sub(r"\x1b\[[\d;]*m", "", shown)  # Python 3.13 has some
    assert "ZeroDivisionError: the model failed" in without_colours


@pytest.mark.slow
def test_an_interrupt_leaves_the_terminal_in_order() -> None:
    script = f"{SLOW}\ntry:\n    learn(model, progress=True)\nexcept KeyboardInterrupt as error:\n"
    code, shown = shown_by(
        f"{script}    print('kept', error.result.pdfa)", interrupt_after="words asked"
    )
    assert code == 0, shown
    assert shown.count(HIDE) == shown.count(SHOW) == 1
    assert shown.index(SHOW) < shown.index("kept PDFA(")


@pytest.mark.slow
def test_what_a_model_prints_stands_above_the_line() -> None:
    script = SLOW.replace("    time.sleep(0.05)", "    time.sleep(0.1); print('the model speaks')")
    code, shown = shown_by(f"{script}\nlearn(model, progress=True, budget=Budget(max_words=50))")
    assert code == 0
    assert "the model speaks\r\n" in shown
    assert not re.search(r"s the model speaks", shown)


@pytest.mark.slow
@pytest.mark.parametrize("terminal", [None, "dumb"])
def test_without_a_terminal_true_writes_line_by_line(terminal: str | None) -> None:
    script = SLOW + (
        "import pdfalearn.displays as showing\n"
        "showing.SECONDS_BETWEEN_LINES = 0.2\n"
        "learn(model, progress=True, budget=Budget(max_words=200))\n"
    )
    if terminal is None:
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        code, shown = done.returncode, done.stderr
        assert done.stdout == ""
    else:
        code, shown = shown_by(script, TERM=terminal)
    assert code == 0, shown
    assert "\x1b" not in shown
    lines = shown.splitlines()
    assert len(lines) >= 2
    assert all(re.match(r"learning: .*\d s", line) for line in lines)


def test_words_of_progress_are_those_of_the_summary() -> None:
    from pdfalearn.cli.learn import facts_of

    result = learn(figure_3())
    line = LearningLine(may_be_endless=False)
    line.update(result.history[-1])
    facts = facts_of(result)
    for part in line.text.removeprefix("learning: ").split(", ")[:-1]:
        label = part.split(" ", 1)[1].replace("query", "queries")
        assert label in facts, part


def progress_of(**figures: Any) -> Progress:
    usual = dict.fromkeys(Progress.__dataclass_fields__, 0)
    return Progress(**{**usual, **figures})
