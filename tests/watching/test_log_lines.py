"""Raw lines: templates, masks, sessions, times, and files of them."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn.datasets import figure_1
from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.io import load
from pdfalearn.watching import LogReader, Watch, learn_log, read_log
from tests.support import examples, need_module

USER = r"req=(\w+)"
LINES = """\
2026-11-18T10:00:00Z req=a1 login of ann
2026-11-18T10:00:01Z req=b2 login of bob
2026-11-18T10:00:02Z req=a1 read of 0x7f3e in 12.5 ms
2026-11-18T10:00:03Z no session at all
2026-11-18T10:00:04Z req=b2 read of beef01 in 3 ms
2026-11-18T10:10:00Z req=a1 login of eve
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "app.log"
    path.write_text(LINES)
    return path


def test_a_log_is_read_tomorrow_as_today(log: Path, tmp_path: Path) -> None:
    need_module("drain3")
    reader, found = learn_log(log, session=USER)
    login, read = ("<*>T<*>Z req=<*> login of <*>", "<*>T<*>Z req=<*> read of <*> in <*> ms")
    assert reader.templates == (login, read)
    assert dict(zip(found.names, found.words, strict=True)) == {
        "a1": (login, read, login),
        "b2": (login, read),
    }
    assert (found.lines, found.outside, found.undecodable) == (6, 1, 0)
    assert read_log(log, reader) == found
    (tmp_path / "app.log.gz").write_bytes(gzip.compress(LINES.encode()))
    assert read_log(tmp_path / "app.log.gz", reader) == found
    assert reader.parse(["x req=a1 login of ann and bob"]).events == ["other"]


def test_silence_ends_a_session_and_the_edges_are_known(log: Path) -> None:
    need_module("drain3")
    _, found = learn_log(log, session=USER, gap=60)
    assert [(name, len(word)) for name, word in zip(found.names, found.words, strict=True)] == [
        ("a1", 2),
        ("b2", 2),
        ("a1", 1),
    ]
    assert found.at_edges == {0, 1, 2}
    assert found.whole_words() == found.words  # as there are no others
    alone, of_all = learn_log(log, gap=60)
    assert [len(word) for word in of_all.words] == [5, 1]
    assert alone.parse(["nothing"]).sessions == ["log"]


EIGHTH = datetime(datetime.now(UTC).year, 11, 8, 0, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("form", "line", "seconds"),
    [
        (None, "at 1970-01-01 00:01:00,250 it", 60.25),
        (None, "at 1970-01-01T01:01:00+01:00 it", 60.0),
        ("%d/%b/%Y:%H:%M:%S %z", "[01/Jan/1970:00:01:00 +0000] it", 60.0),
        ("%y%m%d %H%M%S", "700101 000100 it", 60.0),
        ("%b %d %H:%M:%S", "Nov  8 00:01:00 host sshd", EIGHTH.timestamp()),
        ("epoch", "1790000000.5 it", 1790000000.5),
    ],
)
def test_times_of_many_forms_are_read(form: str | None, line: str, seconds: float) -> None:
    reader = LogReader((), gap=5, time_format=form)
    times = reader.parse([line, "no time"]).times
    assert times is not None
    assert times[0] == pytest.approx(seconds)
    assert times[1] != times[1]


WORD = st.sampled_from(["in", "out", "<*>", "disk", "7"])
TEMPLATES = st.lists(st.lists(WORD, min_size=1, max_size=4).map(" ".join), max_size=8)


@pytest.mark.slow
@examples(40)
@given(TEMPLATES, st.lists(st.lists(WORD, max_size=4).map(" ".join), max_size=8))
def test_a_line_has_a_template_that_fits_it_if_there_is_one(
    templates: list[str], lines: list[str]
) -> None:
    reader = LogReader(tuple(templates), masks=(), gap=5)
    for line, event in zip(lines, reader.parse(lines).events, strict=True):
        fitting = [
            one
            for one in templates
            if len(one.split()) == len(line.split())
            and all(a in ("<*>", b) for a, b in zip(one.split(), line.split(), strict=True))
        ]
        assert event in fitting if fitting else event == "other"
        # What is the same counts from the left.
        keys = [[word == "<*>" for word in one.split()] for one in fitting]
        assert not fitting or [word == "<*>" for word in event.split()] == min(keys)


@pytest.mark.slow
@examples(40)
@given(st.lists(st.text("ab1. \t", max_size=12), min_size=1, max_size=30), st.integers(1, 9))
def test_lines_are_read_alike_alone_and_together(lines: list[str], size: int) -> None:
    masks = (r"\s+1", r"^a", r"\d+", r"b\s")  # some reach over the ends of lines
    reader = LogReader(("<*> b", "<*>"), masks=masks, session="(a)")
    whole = reader.prepare(lines)[:2]
    parts = [reader.prepare(lines[i : i + size])[:2] for i in range(0, len(lines), size)]
    assert whole == ([one for part in parts for one in part[0]], [o for p in parts for o in p[1]])


def test_bad_lines_files_and_options_are_one_clear_line_each(log: Path, tmp_path: Path) -> None:
    need_module("drain3")
    with pytest.raises(InputError, match=r"[Ww]hat is a session"):
        learn_log(log)
    with pytest.raises(InputError, match="not a regular expression"):
        learn_log(log, session="req=(")
    with pytest.raises(InputError, match="no line of the log has a session"):
        learn_log(log, session="user=(.*)")
    with pytest.raises(InputError, match=r"no line has a time as '%d:%b' says, as '2026-11-18T"):
        learn_log(log, session=USER, gap=3, time_format="%d:%b")
    with pytest.raises(InputError, match="%Q is not one of"):
        learn_log(log, gap=3, time_format="%Q")
    (tmp_path / "empty.log").write_text("")
    with pytest.raises(InputError, match="no line of the log has a session"):
        learn_log(tmp_path / "empty.log", session=USER)
    bad = tmp_path / "bad.log"
    bad.write_bytes(LINES.encode() + b"req=c3 \xff\xfe\n")
    assert learn_log(bad, session=USER)[1].undecodable == 1


def test_templates_are_in_the_file_of_the_automaton(tmp_path: Path) -> None:
    watch = Watch(figure_1(), LogReader(("in <*>",), session=USER, gap=3.5))
    for name in ("model.json", "model.json.gz"):
        watch.save(tmp_path / name)
        assert Watch.load(tmp_path / name) == watch
        assert load(tmp_path / name) == figure_1()
    with pytest.raises(InputError, match=r"saved with the automaton in \.json"):
        watch.save(tmp_path / "model.npz")
    document = json.loads((tmp_path / "model.json").read_text())
    document["watching"]["lines"]["version"] = 2
    (tmp_path / "model.json").write_text(json.dumps(document))
    with pytest.raises(FileFormatError, match=r"model\.json: its lines are of version 2"):
        Watch.load(tmp_path / "model.json")
    document["watching"]["lines"].update(version=1, masks=[3])
    (tmp_path / "model.json").write_text(json.dumps(document))
    with pytest.raises(FileFormatError, match="its lines are damaged"):
        Watch.load(tmp_path / "model.json")
    document["watching"] = 3
    (tmp_path / "model.json").write_text(json.dumps(document))
    with pytest.raises(FileFormatError, match="not an object of objects"):
        Watch.load(tmp_path / "model.json")
