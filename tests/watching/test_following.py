"""A file that grows, is rotated and truncated; and a monitor that is stopped and goes on."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from math import inf
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from pdfalearn import PDFA, Monitor, save
from pdfalearn.datasets import figure_1
from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.watching import AlarmFile, Follower, JsonEvents, LogReader, Watcher


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "app.log"
    path.write_text("one\n")
    return path


def make_follower(log: Path, notes: list[str] | None = None) -> Follower:
    kept = list[str]() if notes is None else notes
    return Follower(str(log), is_endless=True, seconds=0.0, note=kept.append)


def take(blocks: Iterator[list[str]], quiet: int = 9) -> list[str]:
    """Return lines until nothing came a few times."""
    lines: list[str] = []
    while quiet:
        found = next(blocks)
        lines += found
        quiet -= not found
    return lines


def test_lines_are_read_once_they_are_whole(log: Path) -> None:
    blocks = make_follower(log).blocks()
    assert take(blocks) == ["one"]
    with log.open("a") as stream:
        stream.write("two\r\nthr")
        stream.flush()
        assert take(blocks) == ["two"]
        stream.write("ee\n")
    assert take(blocks) == ["three"]


def test_no_line_is_lost_when_the_file_is_rotated(log: Path) -> None:
    blocks = make_follower(log).blocks()
    assert take(blocks) == ["one"]
    old = log.open("a")
    for number in range(3):  # several times between two looks
        for older in range(number, 0, -1):
            (log.parent / f"app.log.{older}").rename(log.parent / f"app.log.{older + 1}")
        log.rename(log.parent / "app.log.1")
        old.write(f"late {number}\n")
        old.close()
        old = log.open("a")
        old.write(f"new {number}\n")
        old.flush()
        stamp = 10**18 + number
        os.utime(log.parent / "app.log.1", ns=(stamp, stamp))
    old.close()
    assert take(blocks) == ["late 0", "new 0", "late 1", "new 1", "late 2", "new 2"]


def test_a_truncated_file_is_read_from_its_beginning(log: Path) -> None:
    notes: list[str] = []
    blocks = make_follower(log, notes).blocks()
    assert take(blocks) == ["one"]
    log.write_text("another that is longer\n")
    assert take(blocks) == ["another that is longer"]
    log.write_text("x\n")
    assert take(blocks) == ["x"]
    assert [note.count("was truncated") for note in notes] == [1, 1]


def test_it_goes_on_where_it_was_also_after_a_rotation(log: Path) -> None:
    first = make_follower(log)
    assert take(first.blocks()) == ["one"]
    position = first.position
    with log.open("a") as stream:
        stream.write("two\n")
    log.rename(log.parent / "app.log-20261118")
    log.write_text("three\n")
    second = make_follower(log)
    second.resume(position)
    assert take(second.blocks()) == ["two", "three"]
    notes: list[str] = []
    (log.parent / "app.log-20261118").unlink()
    third = make_follower(log, notes)
    third.resume(position)
    assert take(third.blocks()) == ["three"]
    assert "is another file than before" in notes[0]


def test_what_is_not_a_text_and_lines_without_end_do_not_stop_it(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pdfalearn.watching.following._LONGEST_LINE", 8)
    follower = make_follower(log)
    log.write_bytes(b"\xff\xfe\nok\n" + b"x" * 20)
    assert take(follower.blocks()) == ["��", "ok", "x" * 8, "x" * 8]
    assert list(Follower(str(log)).blocks())[-1] == ["xxxx"]  # the same in all, however it comes
    assert follower.undecodable == 1
    assert (
        JsonEvents().parse(["{", "[]", '{"session": 1.5, "event": "a"}', "3"]).sessions
        == [None] * 4
    )
    log.write_text("last")
    assert list(Follower(str(log)).blocks()) == [["last"]]


def test_a_copy_that_was_rotated_or_compressed_is_read_to_its_end(log: Path) -> None:
    log.write_text("".join(f"line {number:03}\n" for number in range(40)))
    follower = make_follower(log)
    blocks = follower.blocks()
    assert len(take(blocks)) == 40
    position = follower.position
    with log.open("a") as stream:
        stream.write("between\n")
    copy = log.with_name("app.log.1")
    copy.write_bytes(log.read_bytes())
    log.write_text("new\n")  # copied and truncated
    assert take(blocks) == ["between", "new"]
    for rotated in (log.with_name("app.log.1.gz"), log.with_name("app.log.2.gz")):
        rotated.write_bytes(gzip.compress(copy.read_bytes()))
        copy.unlink()
        again = make_follower(log)
        again.resume(position)
        assert take(again.blocks()) == ["between", "new"]
        copy = rotated.replace(log.with_name("app.log.1"))
        copy.write_bytes(gzip.decompress(copy.read_bytes()))


def test_all_ways_to_give_a_log_are_read_alike(log: Path, tmp_path: Path) -> None:
    text = "\ufeffone\r\ntwo\nzoë\n".encode()
    log.write_bytes(text)
    packed, pipe = tmp_path / "app.log.gz", tmp_path / "pipe"
    packed.write_bytes(gzip.compress(text))
    os.mkfifo(pipe)
    Thread(target=pipe.write_bytes, args=(text,)).start()
    found = [
        [line for lines in Follower(str(path)).blocks() for line in lines]
        for path in (log, packed, pipe)
    ]
    assert found == [["one", "two", "zoë"]] * 3
    log.write_bytes("one\n".encode("utf-16"))
    with pytest.raises(InputError, match="UTF-16"):
        list(Follower(str(log)).blocks())
    packed.write_bytes(packed.read_bytes()[:-9])
    with pytest.raises(FileFormatError, match=r"app\.log\.gz: damaged"):
        list(Follower(str(packed)).blocks())
    with pytest.raises(InputError, match="cannot be followed"):
        Follower(str(packed), is_endless=True)


def watch(log: Path, saved: Path) -> Watcher:
    monitor = Monitor(figure_1(), {"largest": 5.0})
    follower = Follower(str(log))
    alarms = AlarmFile(saved / "alarms.jsonl")
    return Watcher(monitor, follower, JsonEvents(), saved / "state.npz", alarms)


def test_after_a_stop_no_alarm_is_lost_and_none_comes_twice(tmp_path: Path) -> None:
    log, alarms = tmp_path / "app.log", tmp_path / "alarms.jsonl"
    texts = [f'{{"session": {number // 2}, "event": "z"}}\n' for number in range(40)]
    log.write_text("".join(texts[:10]))
    list(watch(log, tmp_path).run())
    with log.open("a") as stream:
        stream.writelines(texts[10:20])
    stopped = watch(log, tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stopped, "_save", lambda state: None)
        list(stopped.run())  # killed before it could save, and in the middle of a line
    with alarms.open("a") as stream:
        stream.write('{"session": 9')
    with log.open("a") as stream:
        stream.writelines(texts[20:])
    last = watch(log, tmp_path)
    list(last.run())
    assert [line.split(",")[0] for line in alarms.read_text().splitlines()] == [
        f'{{"session": {number}' for number in range(20)
    ]
    assert last.tally["lines"] == 40
    with alarms.open("a") as stream:
        stream.write("no alarm\n")
    with pytest.raises(FileFormatError, match="not an alarm"):
        list(watch(log, tmp_path).run())


def test_a_state_has_one_monitor_at_a_time(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    log.write_text('{"session": 1, "event": "z"}\n{"session": 2, "event": "z"}\n')
    first = watch(log, tmp_path).run()
    next(first)
    with pytest.raises(InputError, match=r"state\.npz\.lock is locked: another monitor is at work"):
        list(watch(log, tmp_path).run())
    del first  # as if it were killed
    assert list(watch(log, tmp_path).run()) == []
    assert len((tmp_path / "alarms.jsonl").read_text().splitlines()) == 2


@pytest.mark.slow
@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_who_stops_it_gets_a_state_and_a_summary(tmp_path: Path, signum: int) -> None:
    log, model, state = tmp_path / "app.log", tmp_path / "model.json", tmp_path / "state.npz"
    save(figure_1(), model)
    log.write_text('{"session": 1, "event": "z"}\n')
    command = [sys.executable, "-m", "pdfalearn", "monitor", str(model), "--follow", str(log)]
    command += ["--threshold", "5", "--state", str(state)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        assert '"session": 1' in running.stdout.readline()
        with log.open("a") as stream:
            stream.write('{"session": 1, "event": "a"}\n')
        time.sleep(0.5)
        running.send_signal(signum)
        _, errors = running.communicate(timeout=30)
    assert running.returncode == 0
    assert "2 lines, 2 events, 0 sessions ended and 1 open, 1 alarms" in errors
    monitor = Monitor(figure_1())
    monitor.restore(state)
    assert (monitor.session(1) or {})["events"] == 2


LINES = """\
2026-11-19 08:00:00 user=old in
2026-11-19 08:10:00 user=old in
2026-11-19 08:10:05 user=new in
"""


@pytest.mark.parametrize(
    ("settings", "ended"),
    [({}, ["old", "new"]), ({"gap": 300}, ["old"]), ({"gap": 300, "time_format": "epoch"}, [])],
)
def test_the_end_of_the_file_ends_sessions_only_where_silence_does_not(
    log: Path, settings: dict[str, Any], ended: list[str]
) -> None:
    log.write_text(LINES)
    event, notes = "<*> <*> user=<*> in", list[str]()
    pdfa = PDFA(alphabet=[event], transitions=[[0]], probabilities=[[0.01, 0.99]])
    reader = LogReader((event,), session=r"user=(\w+)", **settings)
    monitor = Monitor(pdfa, {"largest": 3.0}, idle=reader.gap or inf, idle_ends=True)
    watcher = Watcher(monitor, Follower(str(log), note=notes.append), reader)
    assert [json.loads(text)["session"] for text in watcher.run()] == ended
    assert len(notes) == ("time_format" in settings)
    assert all("as 'epoch' says, as '2026-11-19 08:00:00 user=old in'" in note for note in notes)
    assert len(monitor) == (2 if settings else 0)
