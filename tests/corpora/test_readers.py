"""Every format is read as it is written, and a bad file is an error with its place."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import Corpus
from pdfalearn.errors import FileFormatError, InputError
from tests.support import need_module, paper_data

EVENTS = ["0", "1", "2", "a & <b>", 'say "x", y', "two\nlines", "κ"]
CASES = st.lists(st.lists(st.sampled_from(EVENTS), min_size=1, max_size=5), min_size=1, max_size=8)


def shuffle(cases: list[list[str]]) -> list[tuple[int, str, int]]:
    """Return the rows of a log in which the events of cases are mixed, with their times."""
    random = np.random.default_rng(sum(map(len, cases)))
    rows = [
        (case, event, time) for case, word in enumerate(cases) for time, event in enumerate(word)
    ]
    firsts = [rows.index((case, word[0], 0)) for case, word in enumerate(cases)]
    rest = [row for place, row in enumerate(rows) if place not in firsts]
    random.shuffle(rest)
    return [rows[first] for first in firsts] + rest


def as_csv(cases: list[list[str]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["case:concept:name", "time:timestamp", "cost", "concept:name"])
    for case, event, time in shuffle(cases):
        writer.writerow([f"case {case}", f"2026-01-31T12:00:{time:02}", "", event])
    return text.getvalue()


def as_xes(cases: list[list[str]]) -> str:
    traces = ""
    for case in cases:
        events = [
            f'<event><date key="time:timestamp" value="2026-01-31T12:00:{time:02}.000+01:00"/>'
            f'<string key="concept:name" value={quoteattr(event)}>'
            '<string key="concept:name" value="nested"/></string></event>'
            for time, event in enumerate(case)
        ]
        name = '<string key="concept:name" value="a case"/>'
        traces += f"<trace>{name}{''.join(reversed(events))}</trace>\n"
    head = '<?xml version="1.0"?>\n<log xmlns="http://www.xes-standard.org/">'
    return (
        f'{head}<global scope="event"><string key="concept:name" value="?"/></global>{traces}</log>'
    )


def as_json_lines(cases: list[list[str]]) -> str:
    return "".join(json.dumps({"id": 7, "events": case, "n": "x"}) + "\n" for case in cases)


WRITERS: dict[str, Callable[[list[list[str]]], str]] = {
    "log.csv": as_csv,
    "log.xes": as_xes,
    "log.jsonl": as_json_lines,
}


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
@given(cases=CASES)
def test_what_is_written_is_read(
    name: str, ending: str, tmp_path_factory: pytest.TempPathFactory, cases: list[list[str]]
) -> None:
    data = WRITERS[name](cases).encode()
    if ending == ".gz":
        data = gzip.compress(data[:9]) + gzip.compress(data[9:])
    elif ending:
        compress = need_module("zstandard").compress
        data = compress(data[:9]) + compress(data[9:])
    path = tmp_path_factory.mktemp("logs") / f"{name}{ending}"
    path.write_bytes(data)
    corpus = Corpus(path)
    assert list(corpus) == [tuple(case) for case in cases]
    assert len(corpus) == len(cases)


@given(words=st.lists(st.lists(st.integers(0, 12).map(str), max_size=9), min_size=1, max_size=9))
def test_files_of_competitions(
    tmp_path_factory: pytest.TempPathFactory, words: list[list[str]]
) -> None:
    path = tmp_path_factory.mktemp("pautomac") / "1.spice.train"
    lines = [f"{len(words)} 13"] + [" ".join([str(len(word)), *word]) for word in words]
    path.write_text("\n".join(lines))
    corpus = Corpus(path)
    assert list(corpus) == [tuple(word) for word in words]
    # The first line announces symbols that words need not have.
    assert corpus.alphabet.symbols == tuple(map(str, range(13)))


def test_files_of_the_competition_itself() -> None:
    folder = paper_data() / "pautomac"
    for path in sorted(folder.glob("[69].train.gz")):
        with gzip.open(path, "rt") as stream:
            count, symbols = map(int, stream.readline().split())
            expected = [tuple(line.split()[1:]) for line in stream]
        corpus = Corpus(path)
        assert len(corpus) == count
        assert len(corpus.alphabet) == symbols
        assert list(corpus) == expected


def test_columns_and_delimiters(tmp_path: Path) -> None:
    path = tmp_path / "log.tsv"
    path.write_text("\ufeffid\twhat\twhen\n1\ta\t2\n2\tb\t1\n\n1\tc\t-1\n", encoding="utf-8")
    assert list(Corpus(path, case="id", event="what")) == [("a", "c"), ("b",)]
    assert list(Corpus(path, case="id", event="what", time="when")) == [("c", "a"), ("b",)]


def test_many_cases(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    rows = [f"{case},{case % 7}\n" for _ in range(2) for case in range(20_000)]
    path.write_text(f"case:concept:name,concept:name\n{''.join(rows)}")
    assert list(Corpus(path)) == [(str(case % 7),) * 2 for case in range(20_000)]


def test_fields_of_json(tmp_path: Path) -> None:
    path = tmp_path / "words.jsonl"
    path.write_text('{"x": ["a"], "concept:name": ["b"]}\n[1, "c"]\n')
    assert list(Corpus(path)) == [("b",), (1, "c")]
    assert list(Corpus(path, event="x")) == [("a",), (1, "c")]


XES = '<log><trace><event><string key="{}" value="a"/></event></trace></log>'
BOMB = '<!DOCTYPE log [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>' + XES.format("&b;")
HEADER = "case:concept:name,concept:name,time:timestamp\n"
BAD: dict[str, tuple[str, bytes, str]] = {
    "cut gzip": ("a.gz", gzip.compress(b"ab\n" * 9999)[:50], "a.gz: damaged or cut off"),
    "no gzip": ("a.gz", b"ab\n", "a.gz: damaged or cut off .*get the file again"),
    "UTF-8": ("a.txt", b"ab\nb\xff\n", "a.txt, line 2: byte 2 of the line is not a text in UTF-8"),
    "empty": ("a.txt", b"", "there are no words of the corpus"),
    "empty lists": ("a.jsonl", b"", "there are no words of the corpus"),
    "empty problem": ("a.train", b"", "there are no words of the corpus"),
    "empty gzip": ("a.gz", gzip.compress(b""), "there are no words of the corpus"),
    "empty log": ("a.xes", b"", "a.xes, line 1: not XML"),
    "garbage": (
        "a.txt",
        bytes(range(256)) * 3,
        "a.txt, line 3: byte 115 .* is not a text in UTF-8",
    ),
    "cut table": ("a.csv.gz", gzip.compress(HEADER.encode())[:-9], "damaged or cut off"),
    "cut log": ("a.xes.gz", gzip.compress(XES.encode() * 99)[:60], "damaged or cut off"),
    "cut JSON": ("a.jsonl", b'["a"]\n["a", "b', "a.jsonl, line 2: "),
    "empty table": ("a.csv", b"", "a.csv: there is nothing in the file"),
    "no rows": ("a.csv", HEADER.encode(), "a.csv: there is no row that can be read"),
    "no column": ("a.csv", b"a,concept:name\n", "a.csv: there is no column 'case:concept:name'; "),
    "short row": ("a.csv", f"{HEADER}1,a,3\n2\n".encode(), "a.csv, line 3: the row has no case"),
    "no event": ("a.csv", f"{HEADER}1,,3\n".encode(), "a.csv, line 2: the row has no case"),
    "time": ("a.csv", f"{HEADER}1,a,soon\n".encode(), "a.csv, line 2: 'soon' is neither a time"),
    "quote": ("a.csv", f'{HEADER}1,"a"b,3\n'.encode(), "a.csv, line 2: .*expected after"),
    "no JSON": ("a.jsonl", b'["a"]\n["a"\n', r"a.jsonl, line 2: Expecting .*; correct it"),
    "no list": ("a.jsonl", b'["a"]\n"ab"\n', "a.jsonl, line 2: neither a list of symbols"),
    "two lists": ("a.jsonl", b'{"a": [], "b": []}\n', "line 1: an object with 2 lists.*--event"),
    "null": ("a.jsonl", b'["a", null]\n', "line 1: the symbol None is neither a text nor an"),
    "no header": ("a.train", b"ab\n", "a.train, line 1: a file of PAutomaC or SPiCe begins with"),
    "length": ("a.train", b"2 3\n1 0\n2 0\n", "a.train, line 3: the length '2' is followed by 1"),
    "symbol": ("a.train", b"1 3\n1 3\n", "a.train, line 2: '3' is not one of the 3 symbols"),
    "count": ("a.train", b"2 3\n1 0\n", "a.train, line 1: its first line announces 2 words"),
    "no XML": ("a.xes", b"<log>\n<trace></log>", "a.xes, line 2: not XML"),
    "no traces": ("a.xes", b"<log></log>", "a.xes: there is no trace"),
    "no name": ("a.xes", XES.format("x").encode(), "line 1: an event without 'concept:name'"),
    "bomb": ("a.xes", BOMB.encode(), "a.xes: declares entities"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_files_are_named(kind: str, tmp_path: Path) -> None:
    name, data, complaint = BAD[kind]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=complaint) as caught:
        Corpus(tmp_path / name).encode()
    assert "no words" in complaint or isinstance(caught.value, FileFormatError)


@pytest.mark.filterwarnings("ignore:.* is left out")
@pytest.mark.parametrize(
    ("name", "data", "words", "left_out"),
    [
        ("a.txt", b"a\nb\xff\nb\n\xfe\xff\n", ["a", "b"], 2),
        ("a.csv", f"{HEADER}1,a,3\n2\n1,b,soon\n1,c,1\n".encode(), ["ca"], 2),
        ("a.jsonl", b'["a"]\n["a"\n3\n["b"]', ["a", "b"], 2),
        ("a.train", b"4 3\n1 0\n2 0\n1 7\n0\n", ["0", ""], 2),
        ("a.train", b"9 3\n1 0\n", ["0"], 1),
        ("a.xes", XES.format("x").encode() + b"<", [""], 2),
        ("a.xes", XES.format("concept:name").replace("</log>", "<event").encode(), ["a"], 1),
    ],
)
def test_bad_input_can_be_left_out(
    name: str, data: bytes, words: list[str], left_out: int, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(data)
    corpus = Corpus(tmp_path / name, skip_bad=True, alphabet="abc0")
    assert list(corpus) == list(map(tuple, words))
    assert corpus.left_out == left_out
    assert len(corpus) == len(words)
    assert corpus.left_out == left_out  # though it was read again


def test_a_damaged_file_is_used_as_far_as_it_goes(tmp_path: Path) -> None:
    lines = b"".join(b"%d\n" % number for number in range(300_000))
    path = tmp_path / "words.txt.gz"
    path.write_bytes(gzip.compress(lines)[:-50_000])
    corpus = Corpus(path, skip_bad=True)
    count = zlib.decompressobj(31).decompress(path.read_bytes()).count(b"\n")
    with pytest.warns(UserWarning, match=f"cut off .* all behind line {count:,} is left out"):
        assert len(corpus) == count
    assert corpus.left_out == 1
    with pytest.raises(FileFormatError, match="damaged or cut off"):
        len(Corpus(path))
    path.write_bytes(gzip.compress(lines[:3000])[:-9])  # less than a block
    with pytest.warns(UserWarning, match="all behind line 777 is left out"):
        assert list(Corpus(path, skip_bad=True))[-1] == tuple("776")
    log = XES.format("concept:name").replace("</log>", "<trace/>" * 999).encode()
    path.with_name("a.xes.gz").write_bytes(gzip.compress(log)[:-9])
    with pytest.warns(UserWarning, match="cut off .* all behind what could be read is left out"):
        assert len(Corpus(path.with_name("a.xes.gz"), skip_bad=True)) > 1
    path = tmp_path / "words.txt.zst"
    path.write_bytes(need_module("zstandard").compress(lines)[:-1])
    with pytest.raises(FileFormatError, match="damaged or cut off"):
        len(Corpus(path))
    path.write_bytes(b"no Zstandard")
    with pytest.raises(FileFormatError, match="damaged or cut off"):
        Corpus(path)
