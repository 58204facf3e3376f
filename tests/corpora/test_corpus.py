"""Corpora are values: what they hold, what they equal, and what they are made of."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, Alphabet, Budget, Corpus, distill, learn, refit, sample
from pdfalearn.corpora.symbol_codes import sort_symbols
from pdfalearn.datasets import figure_3
from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.io import WordNotation
from pdfalearn.oracles import PACOracle
from tests.support import need_module

NAMES = ["up", "a_long_event_name_that_is_not_short", "ü", "7", "eightchr", "nine_char"]
LISTS = st.lists(st.lists(st.sampled_from(NAMES), max_size=6), min_size=1, max_size=20).filter(any)


def pickled(corpus: Corpus) -> Corpus:
    found: Corpus = pickle.loads(pickle.dumps(corpus))  # noqa: S301 (its own)
    return found


@given(st.lists(st.text("abκ", max_size=6), min_size=1, max_size=20).filter(any))
def test_strings_are_words_of_characters(words: list[str]) -> None:
    corpus = Corpus(words)
    assert list(corpus) == [tuple(word) for word in words]
    assert len(corpus) == len(words)
    assert corpus.alphabet.symbols == tuple(sorted(set("".join(words))))


@given(LISTS)
def test_batches_and_all_words_are_the_same(words: list[list[str]]) -> None:
    corpus = Corpus(words)
    batches = [word for batch in corpus.batches() for word in batch]
    assert batches == list(corpus.encode())
    assert corpus.alphabet.decode_words(corpus.encode()) == [tuple(word) for word in words]
    reverse = Alphabet(reversed([*corpus.alphabet, "more"]))
    assert reverse.decode_words(corpus.encode(reverse)) == [tuple(word) for word in words]


@given(LISTS)
def test_lines_are_characters_unless_one_has_a_blank(
    tmp_path_factory: pytest.TempPathFactory, words: list[list[str]]
) -> None:
    path = tmp_path_factory.mktemp("words") / "words.txt"
    path.write_text("".join(f"{' '.join(word)}\n" for word in words), encoding="utf-8")
    has_blanks = any(len(word) > 1 for word in words)
    expected = words if has_blanks else [[*"".join(word)] for word in words]
    assert list(Corpus(path)) == [tuple(word) for word in expected]
    assert list(Corpus(path, format="tokens")) == [tuple(word) for word in words]
    characters = [tuple(" ".join(word)) for word in words]
    assert list(Corpus(path, format="characters")) == characters


def test_symbols_of_one_character_between_blanks(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("0 1\n1\n")
    assert list(Corpus(path)) == [("0", "1"), ("1",)]
    # Over an alphabet that has the blank, it is a symbol.
    assert list(Corpus(path, alphabet="01 ")) == [("0", " ", "1"), ("1",)]
    assert list(Corpus(path, alphabet=[0, 1])) == [(0, 1), (1,)]


@pytest.mark.parametrize(
    "source", [[["ab"], ("b", 3)], [np.array([0, 1]), [2]], [()] * 3 + [("x",)], {"ab": 1}.keys()]
)
def test_equal_corpora(source: list[object]) -> None:
    corpus = Corpus(source)  # type: ignore[arg-type]
    again = pickled(corpus)
    assert again == corpus == Corpus(iter(list(source)))  # type: ignore[arg-type]
    assert hash(again) == hash(corpus)
    assert next(again.batches()).symbols.tolist() == corpus.encode().symbols.tolist()
    assert corpus != Corpus([*corpus, ()])
    assert corpus != Corpus([*corpus], alphabet=corpus.alphabet)
    assert (corpus == 3) is False


def test_a_corpus_of_files_knows_names_only(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("ab\n")
    corpus = Corpus(path, skip_bad=True)
    assert corpus == Corpus(str(path), skip_bad=True) != Corpus(path)
    assert repr(corpus) == f"Corpus({str(path)!r}, skip_bad=True)"
    assert repr(Corpus(["a"] * 90)).startswith("Corpus(['a', 'a',")
    assert len(repr(Corpus(["a"] * 90))) < 99
    again = pickled(corpus)
    path.write_text("abc\n")
    assert list(again) == [("a", "b", "c")]
    with pytest.raises(AttributeError, match="never change"):
        corpus.alphabet = Alphabet("ab")


def test_several_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("b.txt").write_text("b\n")
    Path("a.txt").write_text("c\n")
    Path("c.txt.gz").write_bytes(gzip.compress(b"long x\n"))
    both = [("c",), ("b",)]
    assert list(Corpus("?.txt")) == list(Corpus([Path("a.txt"), Path("b.txt")])) == both
    assert Corpus("?.txt").name == "words of the corpus a.txt and 1 more"
    # One line with a blank decides for all files.
    assert list(Corpus("*.txt*")) == [*both, ("long", "x")]
    Path("odd[1].txt").write_text("d\n")
    assert list(Corpus("odd[1].txt")) == [("d",)]
    with pytest.raises(InputError, match=r"none\*: no file has a name of this form"):
        Corpus("none*")
    with pytest.raises(FileNotFoundError):
        Corpus([Path("a.txt"), Path("none.txt")])
    with pytest.raises(InputError, match=r". is a folder; name its files"):
        Corpus(".")


def test_the_standard_input_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"ab\nb\n")))
    corpus = Corpus("-")
    assert list(corpus) == [("a", "b"), ("b",)]
    assert corpus.name == "words of the corpus the standard input"
    assert len(pickled(corpus)) == len(corpus) == 2
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="no standard input"):
        Corpus("-")


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "pipe.jsonl"
    os.mkfifo(path)
    with ThreadPoolExecutor(1) as pool:
        written = pool.submit(path.write_text, '["a"]\n')
        corpus = Corpus(path)
        assert written.result()
    assert list(corpus) == list(corpus) == [("a",)]
    assert corpus.name == f"words of the corpus {path}"


def test_lines_may_be_longer_than_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pdfalearn.corpora.sources._BLOCK", 3)
    path = tmp_path / "words.txt"
    path.write_text("abbabbab\n\na\nbbbbbbbbb\nab")
    assert ["".join(map(str, word)) for word in Corpus(path)] == path.read_text().split("\n")


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"source": 3}, "a path, words or a frame, not 3"),
        ({"source": [3]}, "word 1 of a corpus is 3, not a sequence"),
        ({"source": ["a", b"a"]}, "word 2 of a corpus is"),
        ({"source": [[[]]]}, "not hashable"),
        ({"source": []}, "there are no words"),
        ({"source": [()]}, "have no symbols: give an alphabet"),
        ({"source": ["a"], "format": "txt"}, "format 'txt' is not one of lines, "),
        ({"source": ["ab"], "alphabet": "aa"}, "twice"),
        ({"source": ["login"], "alphabet": ["login"]}, "plain string"),
        ({"source": Corpus(["a"])}, "a corpus already"),
    ],
)
def test_bad_arguments(options: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        Corpus(**options).encode()  # type: ignore[arg-type]


def test_alphabets_are_sorted_and_have_a_terminal_of_their_own() -> None:
    assert Corpus([["10", "9", "b"]]).alphabet.symbols == ("10", "9", "b")
    assert Corpus([["10", "9"]]).alphabet.symbols == ("9", "10")
    assert Corpus([[10, "9", 2]]).alphabet.symbols == (2, 10, "9")
    assert Corpus(["a$"]).alphabet.terminal == "<end>"
    assert sort_symbols([(2,), (1,), 1.5]) == [1.5, (1,), (2,)]
    assert list(Corpus([()], alphabet="a")) == [()]


def test_unknown_symbols_are_named_with_their_file(tmp_path: Path) -> None:
    path = tmp_path / "words.jsonl"
    path.write_text('["a"]\n\n["a", "x"]\n')
    with pytest.raises(FileFormatError, match=r"words.jsonl, line 3: symbol 'x' is not in"):
        list(Corpus(path, alphabet="a"))


def test_a_corpus_is_accepted_as_a_sampler() -> None:
    target, corpus = figure_3(), Corpus(sample(figure_3(), 50, seed=1).words)
    oracle = PACOracle(epsilon=0.1, delta=0.1, sampler=corpus)
    certificate = learn(target, oracle=oracle).certificate
    assert certificate.details["sampler"] == "words of a corpus of 50"
    frontier = distill(target, budget=Budget(max_symbols=500), sampler=corpus, sizes=[2])
    assert isinstance(frontier.best, PDFA)
    assert refit(target, target, sampler=corpus).alphabet == target.alphabet


def test_a_frame_of_pandas() -> None:
    pandas = need_module("pandas")
    columns = {
        "case:concept:name": ["x", "y", "x", "y", "x"],
        "concept:name": ["b", "a", "a", "a", "c"],
        "time:timestamp": pandas.to_datetime([3, 2, 1, 1, 3], unit="D"),
    }
    frame = pandas.DataFrame(columns)
    corpus = Corpus(frame)
    assert list(corpus) == [("a", "b", "c"), ("a", "a")]
    assert pickled(corpus) == corpus
    unsorted = Corpus(frame, time=None)
    assert list(unsorted) == [("b", "a", "c"), ("a", "a")]
    named = frame.rename(columns={"case:concept:name": "id", "concept:name": "what"})
    assert list(Corpus(named, case="id", event="what")) == list(corpus)
    with pytest.raises(InputError, match=r"no column 'concept:name'; the columns are 'id', 'what'"):
        Corpus(named, case="id")
    frame.loc[1, "concept:name"] = None
    with pytest.raises(InputError, match="no value in row 1 of the column 'concept:name'; drop"):
        Corpus(frame)
    skipping = Corpus(frame, skip_bad=True)
    assert (list(skipping), skipping.left_out) == ([("a", "b", "c"), ("a",)], 1)
    assert pickled(skipping).left_out == 1


@pytest.mark.parametrize(
    "times",
    [
        ["2025-01-31T10:00:00+02:00", "2025-01-31 09:00:00", " 2025-01-31T08:30:00Z"],
        ["10", "9", "8.5"],
        ["01/02/2025", "31/01/2025", "30/01/2025"],
        ["2025-02-01", "9:05:00", "2025-02-02"],
        ["2025-02-01", "yesterday", ""],
        ["2025-02-01", "2025-02-01", "nan"],
    ],
)
def test_texts_in_a_frame_are_times_as_in_a_file(tmp_path: Path, times: list[str]) -> None:
    pandas, path = need_module("pandas"), tmp_path / "log.csv"
    frame = pandas.DataFrame({"case": [1, 1, 1], "event": ["a", "b", "c"], "time": times})
    frame.to_csv(path, index=False)
    names = {"case": "case", "event": "event", "time": "time"}
    for kind in ("object", "str", "category"):
        given = frame.astype({"time": kind})
        try:
            expected = list(Corpus(path, **names))  # type: ignore[arg-type]
        except FileFormatError as error:
            row, reason = re.match(r".*line (\d): (.*); correct", str(error)).groups()  # type: ignore[union-attr]
            message = f"row {int(row) - 2} of the column 'time': {reason}"
            with pytest.raises(InputError, match=re.escape(message)):
                Corpus(given, **names)  # type: ignore[arg-type]
        else:
            assert list(Corpus(given, **names)) == expected  # type: ignore[arg-type]


EVENTS = """
{"session": 7, "event": "home", "time": 3, "tags": []}
{"session": "a", "event": "help", "time": "2026-01-31T12:00:00"}
{"session": 7, "event": "in", "time": 1}
{"session": 7, "event": "$", "time": 4}
{"session": 7, "event": 5, "time": 2}
{"session": 9, "event": "$", "time": 2}
"""


def test_lines_of_json_may_be_events(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(EVENTS)
    corpus = Corpus(path)
    expected = [("in", "home"), ("help",), (5,), ()]
    assert list(corpus) == expected
    assert list(Corpus(path, time=None)) == [("home", "in"), ("help",), (5,), ()]
    assert set(corpus.alphabet) == {"in", "home", "help", 5}
    renamed = EVENTS.replace("session", "user").replace("event", "what").replace('"time"', '"at"')
    path.write_text(renamed)
    assert list(Corpus(path, case="user", event="what", time="at")) == expected
    assert list(Corpus(path, case="user", event="what")) == list(
        Corpus(path, case="user", event="what", time=None)
    )
    path.write_text(renamed.replace(', "tags": []', ""))
    with pytest.raises(InputError, match="no column 'session'; the columns are 'user', 'what'"):
        Corpus(path, event="what")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('["home"]', "not an object with 'session', 'event', 'time'"),
        ('{"session": 7, "event": "in"}', "not an object with 'session', 'event', 'time'"),
        ('{"session": 7, "event": "in", "time": "soon"}', "'soon' is neither a time"),
        ('{"session": null, "event": "in", "time": 1}', "its 'session' or 'event' is neither"),
        ('{"session": 7', "Expecting"),
    ],
)
def test_bad_events_of_json_are_named_or_left_out(tmp_path: Path, line: str, reason: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(f"{EVENTS}{line}\n")
    with pytest.raises(FileFormatError, match=rf"log.jsonl, line 8: {reason}"):
        len(Corpus(path))
    kept = Corpus(path, skip_bad=True)
    assert (len(kept), kept.left_out) == (4, 1)


@pytest.mark.filterwarnings("ignore:.* is left out")
@pytest.mark.parametrize("name", ["log.csv", "log.jsonl"])
def test_a_log_that_is_cut_off_says_so(tmp_path: Path, name: str) -> None:
    random = np.random.default_rng(1)
    rows = [(number, f"{random.random()}") for number in range(16_000)]
    lines = ["session,event", *(f"{case},{event}" for case, event in rows)]
    if "json" in name:
        lines = [f'{{"session": {case}, "event": "{event}"}}' for case, event in rows]
    path = tmp_path / f"{name}.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode())[:-2_000])
    columns = {"case": "session", "event": "event"}
    with pytest.raises(FileFormatError) as raised:
        len(Corpus(path, **columns))  # type: ignore[arg-type]
    assert str(raised.value).count(name) == 1
    assert "skip_bad" not in str(raised.value)
    kept = Corpus(path, skip_bad=True, **columns)
    with pytest.warns(UserWarning, match="cut off") as noted:
        count = len(kept)
    place = f"all behind line {count + ('csv' in name):,} is left out"
    assert place in str(noted[0].message)
    assert kept.left_out == 1


def test_times_of_a_frame_that_are_missing_or_of_python() -> None:
    pandas = need_module("pandas")
    moments = [datetime(2025, 1, day, tzinfo=UTC) for day in (2, 1)]
    frame = pandas.DataFrame({"case": [1, 1], "event": ["a", "b"], "time": moments})
    for kind in (object, "datetime64[ns, UTC]"):
        given = frame.astype({"time": kind})
        assert list(Corpus(given, case="case", event="event", time="time")) == [("b", "a")]
        given.loc[1, "time"] = None
        with pytest.raises(InputError, match="no value in row 1 of the column 'time'"):
            Corpus(given, case="case", event="event", time="time")


def test_cut_words_have_not_ended(tmp_path: Path) -> None:
    path, notation = tmp_path / "words.txt", WordNotation(Alphabet("ab"))
    lines = [notation.line("ab", is_cut=True), notation.line("b"), notation.line("", is_cut=True)]
    path.write_text("".join(f"{line}\n" for line in lines))
    words, is_cut = Corpus(path).encode_with_cuts()
    assert list(words) == [[0, 1], [1], []]
    assert is_cut.tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("form", "word"),
    [("characters", tuple("a\0b \x1b\td")), ("tokens", ("a\0b", "\x1b", "d"))],
)
def test_control_characters_are_read_as_they_are(
    form: str, word: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes(b"a\0b \x1b\td\n")
    assert list(Corpus(path, format=form)) == [word]


def test_names_of_files_are_not_taken_for_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = ["a.txt", "b.txt"]
    for name in names:
        Path(name).write_text("ab\n")
    with pytest.raises(InputError, match=r"names of files, as a.txt, .*Corpus\(\[Path\(name\)"):
        Corpus(names)
    assert list(Corpus([Path(name) for name in names])) == [("a", "b")] * 2
    assert len(Corpus([*names, "ab"])) == 3
    assert len(Corpus([tuple(name) for name in names])) == 2
