"""Languages of texts over the bytes of UTF-8, against Python's own module."""

from __future__ import annotations

import re

import numpy as np
import pytest

from pdfalearn.errors import InputError
from pdfalearn.languages import BeginsWith, Contains, HasLength, LabelledDFA, Not, label_texts
from pdfalearn.languages.byte_dfa import containing
from pdfalearn.languages.kinds import LanguageLike
from tests.support import need_module

PATTERNS = [
    r"(?i)\s*yes([^a-z].*)?",
    r"(?i)[^a-z]*no",
    r"[^é-ü]{0,3}",
    r"(?i:[^k-s]+)|日.?",
    r"\s*([1-9][0-9]?|100)\.?\s*",
    r"\w+[^\w]\W?",
    r"(?s:.)*a(?s:.)",
    r".*😀[^😀-😂]?",
    "[\u0400-\u04ff]*é?",
    r"(ab|a)*b?",
]
PIECES = ["yes", "No", "100", "ab", *"yesnoYESNO aAbzZ109.\n\té日ü本б😀😁\x7f\x80ÿ߿ࠀ￿𐀀"]


def run(dfa: LabelledDFA, text: bytes) -> list[bool]:
    state = dfa.initial
    for byte in text:
        state = int(dfa.table[state, byte])
    members: list[bool] = dfa.members[dfa.labels[state]].tolist()
    return members


@pytest.mark.slow
@pytest.mark.parametrize("by_beginning", [False, True])
def test_bytes_match_as_texts_do(by_beginning: bool) -> None:
    need_module("interegular")
    # interegular reads \w and \s as ASCII; letters beyond it are folded, as without that flag.
    python = [re.compile(re.sub(r"\\s", r"[ \\t\\n\\r\\f\\v]", p)) for p in PATTERNS]
    python[5] = re.compile(PATTERNS[5], re.ASCII)
    random = np.random.default_rng(1)
    dfa = label_texts(PATTERNS, by_beginning=by_beginning)
    matched = 0
    for _ in range(2000):
        text = "".join(random.choice(PIECES, random.integers(0, 7)))
        if by_beginning:
            starts = [text[:n] for n in range(len(text) + 1)]
            expected = [any(p.fullmatch(start) for start in starts) for p in python]
        else:
            expected = [bool(p.fullmatch(text)) for p in python]
        assert run(dfa, text.encode()) == expected, text
        matched += sum(expected)
    assert matched > 500


def test_what_is_not_utf8_matches_nothing() -> None:
    need_module("interegular")
    dfa = label_texts(["(?s:.)*"])
    for text in (
        b"\xff",
        b"\xc3",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xc0\x80",
        b"\xe0\x80\x80",
    ):
        assert run(dfa, text) == [False], text
        with pytest.raises(UnicodeDecodeError):
            text.decode()
    assert run(dfa, "\U0010ffff\x00".encode()) == [True]


def test_languages_of_other_kinds() -> None:
    languages: list[LanguageLike] = [
        BeginsWith("né"),
        Not(Contains("日")),
        HasLength(2, 3),
        ["né", "ab"],
    ]
    dfa = label_texts(languages)
    assert run(dfa, "né".encode()) == [True, True, True, True]
    assert run(dfa, "né日本".encode()) == [True, False, False, False]
    assert run(dfa, "😀b".encode()) == [False, True, True, False]


def test_containing_keeps_flags() -> None:
    need_module("interegular")
    dfa = label_texts([containing("(?i)ocean|sea"), containing("b|c")], by_beginning=True)
    assert run(dfa, b"an\nOCEAN!") == [True, False]
    assert run(dfa, b"a\nc") == [False, True]


def test_what_is_settled_is_settled_at_once() -> None:
    need_module("interegular")
    dfa = label_texts(["yes", "no"], by_beginning=True)
    after = {text: int(dfa.decided[dfa.table[dfa.initial, text[0]]]) for text in (b"y", b"x")}
    assert after == {b"y": -1, b"x": 0}
    assert sorted(dfa.decided.tolist()) == [-1, -1, -1, -1, 0, 1, 2]


def test_bad_languages() -> None:
    with pytest.raises(InputError, match="is not a language of texts"):
        label_texts([3])  # type: ignore[list-item]
    with pytest.raises(InputError, match="single characters"):
        label_texts([[("ab", "c")]])
    need_module("interegular")
    with pytest.raises(InputError, match="is empty"):
        label_texts([r"a[^\s\S]"])
    with pytest.raises(InputError, match="not supported"):
        label_texts([r"(?=a)b"])
