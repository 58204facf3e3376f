"""A file that grows, is rotated and truncated; and a monitor that is stopped and goes on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pdfalearn import Monitor
from pdfalearn.datasets import figure_1
from pdfalearn.errors import FileFormatError
from pdfalearn.watching import AlarmFile, Follower, JsonEvents, Watcher


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "app.log"
    path.write_text("one\n")
    return path


def make_follower(log: Path, notes: list[str] | None = None) -> Follower:
    kept = list[str]() if notes is None else notes
    return Follower(str(log), seconds=0.0, note=kept.append)


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
    assert "another file than before" in notes[0]


def test_what_is_not_a_text_and_lines_without_end_do_not_stop_it(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pdfalearn.watching.following._LONGEST_LINE", 8)
    follower = make_follower(log)
    log.write_bytes(b"\xff\xfe\nok\n" + b"x" * 20)
    assert take(follower.blocks()) == ["��", "ok", "x" * 20]
    assert follower.undecodable == 1
    assert (
        JsonEvents().parse(["{", "[]", '{"session": 1.5, "event": "a"}', "3"]).sessions
        == [None] * 4
    )
    log.write_text("last")
    assert list(Follower(str(log), is_endless=False).blocks()) == [["last"]]


def watch(log: Path, saved: Path) -> Watcher:
    monitor = Monitor(figure_1(), {"largest": 5.0})
    follower = Follower(str(log), seconds=0.0, is_endless=False)
    alarms = AlarmFile(saved / "alarms.jsonl")
    return Watcher(monitor, follower, JsonEvents().parse, saved / "state.npz", alarms)


def test_after_a_stop_no_alarm_is_lost_and_none_comes_twice(tmp_path: Path) -> None:
    log, alarms = tmp_path / "app.log", tmp_path / "alarms.jsonl"
    texts = [f'{{"session": {number // 2}, "event": "z"}}\n' for number in range(40)]
    log.write_text("".join(texts[:10]))
    list(watch(log, tmp_path).run())
    with log.open("a") as stream:
        stream.writelines(texts[10:20])
    stopped = watch(log, tmp_path)
    stopped._save = lambda: None  # type: ignore[method-assign]
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
    assert last.lines == 40
    with alarms.open("a") as stream:
        stream.write("no alarm\n")
    with pytest.raises(FileFormatError, match="not an alarm"):
        watch(log, tmp_path)
