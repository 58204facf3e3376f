"""``pdfalearn distill --template``, ``calibrate``, ``monitor`` and ``score --each``."""

from __future__ import annotations

import json
import subprocess
import sys
from math import log
from pathlib import Path
from random import Random

import pytest

from pdfalearn import PDFA, load, save
from pdfalearn.watching import Watch
from tests.cli.program import error_of, run, run_json
from tests.support import need_module

SESSION = ("--template", "--session", r"req=(\w+)")


def write_log(path: Path, sessions: int, seed: int, odd: str = "") -> None:
    random, lines = Random(seed), list[str]()  # noqa: S311
    for number in range(sessions):
        events = ["login of ann", *["page 7"] * random.randrange(4), "logout"]
        lines += [f"req=s{number} {event}\n" for event in events]
    path.write_text("".join(lines) + odd)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with logs of two usual days, and one with an odd session."""
    need_module("drain3")
    monkeypatch.chdir(tmp_path)
    write_log(Path("monday.log"), 60, seed=1)
    write_log(Path("tuesday.log"), 120, seed=2)
    write_log(Path("today.log"), 20, seed=3, odd="req=x1 logout\nno session\nreq=x1 \xff?\n")
    return tmp_path


@pytest.mark.slow
def test_from_raw_lines_to_alarms(folder: Path) -> None:
    found = run_json("distill", "monday.log", *SESSION, "-o", "model.json", "--states", "3")
    assert found["best"] <= 3
    watch = Watch.load("model.json")
    assert watch.reader is not None
    assert set(watch.reader.templates) == {
        "req=<*> login of ann",
        "req=<*> page <*>",
        "req=<*> logout",
    }
    assert load("model.json") == watch.pdfa
    limits = run_json(
        "calibrate", "model.json", "tuesday.log", "--false-alarms", 0.01, "-o", "watched.json"
    )
    assert (limits["words"], limits["above"]) == (120, 0)
    odd = "".join(f"req=o{number} panic\n" for number in range(200))
    write_log(Path("odd.log"), 100, seed=4, odd=odd)
    done = run("calibrate", "model.json", "odd.log", "--false-alarms", 0.01, "-o", "never.json")
    assert "at least 3 of 300 sessions with unknown or impossible events, and" in done.stderr
    done = run("monitor", "watched.json", "today.log", "--reach", "page")
    [alarm] = map(json.loads, done.stdout.splitlines())
    assert (alarm["session"], alarm["after"], alarm["event"]) == ("x1", 0, "req=<*> logout")
    assert alarm["expected_instead"][0][0] == "req=<*> login of ann"
    assert alarm["line"] == "req=x1 logout"
    assert alarm["reaching"] == {"req=<*> page <*>": pytest.approx(0, abs=0.01)}
    assert "lines without a session: 1" in done.stderr
    members = run_json("monitor", "watched.json", "today.log", "--threshold", 3)
    assert [one["session"] for one in members["alarms"]] == ["x1"]
    ranked = run_json("score", "watched.json", "today.log", "--each", "--top", 2)
    assert ranked["words"] == 21
    assert (ranked["sessions"][0]["session"], len(ranked["sessions"])) == ("x1", 2)
    assert ranked["sessions"][0]["largest"] == pytest.approx(-log(1e-9))  # as monitor has it
    short, long = (
        run_json("score", "watched.json", "today.log", "--each", "--window", size)
        for size in (1, 10)
    )
    assert short["sessions"][0]["window"] < long["sessions"][0]["window"]
    assert "x1" in run("score", "watched.json", "today.log", "--each").stdout
    assert run_json("score", "watched.json", "today.log")["unknown"] == 1


@pytest.mark.slow
def test_a_state_goes_on_where_it_was(folder: Path) -> None:
    run("distill", "monday.log", *SESSION, "-o", "model.json")
    text = Path("today.log").read_text()
    common = ("monitor", "model.json", "today.log", "--threshold", 8, "--state", "state.npz")
    # The half ends within a line, which is read when it is whole.
    for end in (text.index("login", len(text) // 2), len(text)):
        Path("today.log").write_text(text[:end])
        run(*common, "-o", "alarms.jsonl", "--idle", 1000)
    alarms = [json.loads(line) for line in Path("alarms.jsonl").read_text().splitlines()]
    assert [one["session"] for one in alarms] == ["x1"]
    assert "another automaton" in error_of(*common, "--reach", "logout")


def test_events_may_be_lines_of_json_and_of_the_standard_input(folder: Path) -> None:
    run("random", 5, "--seed", 1, "-o", "small.json")
    lines = [f'{{"user": "u", "what": "{event}", "when": {n}}}' for n, event in enumerate("01z")]
    options = ["--threshold", "9", "--session", "user", "--event", "what", "--time", "when"]
    done = subprocess.run(
        [sys.executable, "-m", "pdfalearn", "monitor", "small.json", "-", *options],
        input="\n".join([*lines, "{", ""]),
        capture_output=True,
        check=True,
        text=True,
    )
    [alarm] = map(json.loads, done.stdout.splitlines())
    assert (alarm["session"], alarm["after"], alarm["event"], alarm["time"]) == ("u", 2, None, 2.0)
    assert "lines that are not an object of JSON with 'user' and 'what': 1" in done.stderr


LIMIT = ("--threshold", 1)


def test_nothing_watched_is_an_error_and_alarms_may_be_an_exit_code(folder: Path) -> None:
    run("random", 5, "--seed", 1, "-o", "small.json")
    Path("empty.jsonl").write_text("")
    Path("foreign.csv").write_text("session,event\nx,0\n")
    Path("unknown.jsonl").write_text('{"session": "x", "event": "unheard-of"}\n')
    Path("usual.jsonl").write_text('{"session": 1, "event": "0"}\n{"session": 1, "event": "$"}\n')
    Path("odd.jsonl").write_text('{"session": 1, "event": "0"}\n{"session": 1, "event": "z"}\n')
    watch = ("monitor", "small.json")
    form = '{"session": "s1", "event": "0", "time": "2026-01-31T12:00:00"}'
    for name, lines in (("empty.jsonl", "0 lines"), ("foreign.csv", "2 lines")):
        for more in ([], ["--json"]):
            text = run(*watch, name, "--threshold", 19, *more, exit_code=2).stderr
            assert f"error: {name}: no event is known to the automaton, in {lines}" in text
            assert form in text
            assert ("pandas.read_csv" in text) == ("csv" in name)
    done = run(*watch, "unknown.jsonl", "--threshold", 19, "-o", "alarms", exit_code=2)
    assert "in 1 line; it was made for" in done.stderr
    assert len(Path("alarms").read_text().splitlines()) == 1
    for name, code in (("usual.jsonl", 0), ("odd.jsonl", 1)):
        run(*watch, name, "--threshold", 19)
        run(*watch, name, "--threshold", 19, "--exit-code", exit_code=code)
    # With a state, what counts are the alarms of this run.
    state = ("odd.jsonl", "--threshold", 19, "--state", "state.npz", "--exit-code")
    run(*watch, *state, exit_code=1)
    run(*watch, *state)


def test_sessions_of_json_end_with_their_terminal_or_with_the_file(folder: Path) -> None:
    run("random", 5, "--seed", 1, "-o", "small.json")
    lines = [f'{{"session": "{one}", "event": "{event}"}}\n' for one, event in ("a0", "a$", "b0")]
    Path("log.jsonl").write_text("".join(lines))
    for more, ended in (([], 2), (["--idle", 9], 1), (["--state", "state.npz"], 1)):
        found = run_json("monitor", "small.json", "log.jsonl", "--threshold", 19, *more)
        assert (found["ended"], found["events"]) == (ended, 3)


def test_what_is_wrong_is_one_clear_line(folder: Path) -> None:
    run("random", 5, "--seed", 1, "-o", "small.json")
    Path("empty.log").write_text("")
    Path("words.txt").write_text("01\n10\n")
    assert "no thresholds" in error_of("monitor", "small.json", "today.log")
    assert "No such file" in error_of("monitor", "small.json", "never.log", "--threshold", 1)
    assert "is a folder" in error_of("monitor", "small.json", ".", "--threshold", 1)
    assert "2 events" in error_of(
        "monitor", "small.json", "today.log", "--threshold", 1, "--reach", ""
    )
    assert "too few words: 2" in error_of("calibrate", "small.json", "words.txt", "-o", "x.json")
    assert not Path("x.json").exists()
    assert ".json" in error_of("calibrate", "small.json", "words.txt", "-o", "x.npz")
    assert "--template" in error_of("distill", "today.log", "--gap", 3)
    assert ".json" in error_of("distill", "today.log", *SESSION, "-o", "x.zip")
    assert "what is a session" in error_of("distill", "today.log", "--template")
    assert "no line of the log has a session" in error_of("distill", "empty.log", *SESSION)
    assert "not for logs" in error_of("distill", "today.log", *SESSION, "--format", "csv")
    assert "leave --scores out" in error_of(
        "monitor", "small.json", "today.log", "--threshold", 1, "--scores", "window"
    )
    own = error_of("monitor", "small.json", "today.log", "--threshold", 1, "-o", "today.log")
    assert "a file of its own" in own
    before = Path("today.log").read_text()
    Path("other.log").write_text(before)
    for state in ([], ["--state", "new.npz"]):
        wrong = error_of("monitor", "small.json", "today.log", *LIMIT, "-o", "other.log", *state)
        assert "other.log has a line that is not an alarm" in wrong
        assert Path("other.log").read_text() == before
    Path("odd.jsonl").write_text('{"session": 1, "event": "0"}\n{"session": 1, "event": "z"}\n')
    run("monitor", "small.json", "odd.jsonl", *LIMIT, "-o", "/dev/zero")  # which has no end
    full = error_of("monitor", "small.json", "odd.jsonl", *LIMIT, "-o", "/dev/full")
    assert full.startswith("/dev/full: No space left")
    assert "it is empty" in error_of("distill", "empty.log", *SESSION)


@pytest.mark.slow
def test_lines_that_are_all_one_event_and_logs_that_are_read_as_words(folder: Path) -> None:
    lines = [
        f"1 INFO web req=s{i // 2} {'login' if i % 2 else 'page'} status=ok took 3 ms\n"
        for i in range(80)
    ]
    Path("alike.log").write_text("".join(lines))
    done = run("distill", "alike.log", *SESSION, "-o", "model.json")
    assert "all lines are one event, as they have much in common: give a larger" in done.stderr
    assert "more, which" not in done.stderr
    assert "model.json: an automaton and 1 template\n" in done.stdout + done.stderr
    done = run("distill", "alike.log", *SESSION, "--similarity", 0.9, "-o", "model.json")
    assert "an automaton and 2 templates" in done.stdout + done.stderr
    done = run("distill", "alike.log", "--states", "1")
    assert done.stderr.startswith("note: a line is read as a word; for raw lines there is")


def test_an_automaton_of_one_event_is_noted(folder: Path) -> None:
    run("random", 2, "--symbols", 1, "--seed", 1, "-o", "small.json")
    Path("zeros.txt").write_text("0\n00\n" * 60)
    limit = ("--false-alarms", 0.01, "-o", "watched.json")
    done = run("calibrate", "small.json", "zeros.txt", *limit)
    assert "the automaton has one event only" in done.stderr
    Path("odd.txt").write_text("0\n00\n" * 60 + "0 z\n0 z\n")
    done = run("calibrate", "small.json", "odd.txt", *limit)
    assert "at least 1 of 122 sessions with unknown or impossible events, and at" in done.stderr


def test_nothing_is_promised_of_the_words_that_an_automaton_was_made_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save(PDFA(alphabet="a", transitions=[[0]], probabilities=[[0.5, 0.5]]), "model.json")
    Path("words.txt").write_text("a\n" * 120)
    usual = ("calibrate", "model.json", "words.txt", "--false-alarms", 0.01, "-o", "watched.json")
    done = run(*usual)
    assert "so nothing is promised" in done.stderr
    assert "no share of usual sessions" in done.stdout
    assert "not known" in done.stdout
    assert "1.00%" not in done.stdout
    assert "not in the range 0<x<1" in error_of(*usual, "--other", 1)
    assert "has only the automaton" in run("convert", "watched.json", "-o", "copy.json").stderr
    assert not run("convert", "copy.json", "-o", "again.json").stderr


def test_help_names_the_scores_that_there_are() -> None:
    from pdfalearn.cli._options import SCORES
    from pdfalearn.watching import SCORES as THERE

    assert SCORES == THERE
