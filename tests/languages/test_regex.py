"""Regular expressions as guides: they allow what Python's own matching of whole words does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import Alphabet, FunctionModel, Guided
from pdfalearn.errors import InputError, MissingExtraError
from pdfalearn.languages import regex
from pdfalearn.languages.regex import regex_dfa
from tests.strategies import all_words
from tests.support import examples, mostly_slow, need_module

CHARACTERS = "ab]{}5 \n"

PATTERNS = [
    "",
    "a",
    "[0-9]{1,2}",
    r"a|b\s5",
    "(?:ab|a)*b",
    ".*5",
    "(?s).*5",
    "[]a]+",
    "[^]a]+",
    "[^ab]*",
    r"\w\W|\d\D|\s\S",
    r"[\w-]b",
    r"[^\d\s]",
    r"[\Da]*",
    r"[^\D5]*",
    "a{}b",
    "a}+b|{}+",
    r"a\*+|[*+]",
    "{}",
    r"[a\]]b",
    r"\[a|\]b",
    "(?i)AB",
    "(?i:A)b",
    "(a)(?P<name>b)",
    "a(?#a comment, and ] in it)*b",
    "a*?b+?5??",
    "a{2}|b{,1}5{1,}",
    r"\x61b",
    "(a*b)?5",
    "(?:a{,2}b?){1,3}",
    "(?:(?:a|b)?5{2,}|){0,2}",
    "(?:a{0}b|(?:){3})*",
    "(?:.a){1,2}|(?s:.)",
    "(?i:A(?-i:b)*)",
    "(?m)a",
]


def model(symbols: Iterable[object]) -> FunctionModel:
    alphabet = Alphabet(symbols)
    width = len(alphabet) + 1
    return FunctionModel(lambda words: [[1 / width] * width for _ in words], alphabet)


def assert_reads_as_python(pattern: str, words: Iterable[str], alphabet: str) -> None:
    dfa, matcher = regex_dfa(pattern, Alphabet(alphabet)), re.compile(pattern, re.ASCII)
    for word in words:
        assert dfa.accepts(word) == (matcher.fullmatch(word) is not None), (pattern, word)


@pytest.mark.parametrize("pattern", mostly_slow(PATTERNS, 4))
def test_the_same_words_match_as_in_python(pattern: str) -> None:
    need_module("interegular")
    assert_reads_as_python(pattern, all_words(CHARACTERS, 4), CHARACTERS)


ATOMS = st.sampled_from(["a", "b", "]", ".", "[ab]", "[^a]", "[]a]", "[^]b]", r"\]", "[a-b]", "()"])
REPEATED = st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{,1}", "*?", "{}", "{0}", "{2,}"])
EXPRESSIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})"),
        st.builds("(?:{}){}".format, inner, REPEATED),
    ),
    max_leaves=6,
)


@examples(150)
@given(EXPRESSIONS)
def test_random_expressions_match_as_in_python(pattern: str) -> None:
    need_module("interegular")
    assert_reads_as_python(pattern, all_words("ab]", 4), "ab]")


def test_symbols_of_many_characters_are_read_as_their_text() -> None:
    need_module("interegular")
    symbols = ["2", "20", "0", "19", "99-", "-", "-0", "x", "01", ""]
    dfa = regex_dfa("[0-9]{4}-[0-9]{2}", Alphabet(symbols))
    for words in (["20", "19", "-", "01"], ["2", "0", "19", "-0", "2"], ["19", "99-", "20"]):
        assert dfa.accepts(words)
    assert dfa.accepts(["", "19", "", "99-", "01", ""])
    for words in (["20", "19", "-"], ["20", "19", "-", "0", "01"], ["x"], []):
        assert not dfa.accepts(words)


@pytest.mark.parametrize(
    ("pattern", "position"),
    [("a(b", 1), ("ab)", 2), ("a**", 2), ("[z-a]", 1), ("a{3,2}", 2), ("ab[", 2), ("*a", 0)],
)
def test_an_expression_that_does_not_parse_is_refused_with_the_position(
    pattern: str, position: int
) -> None:
    with pytest.raises(InputError, match=rf"does not parse: .* at position {position}$") as caught:
        Guided(model("ab"), pattern)
    assert repr(pattern) in str(caught.value)


@pytest.mark.parametrize("pattern", ["a{b", "a{1,2", r"\0"])
def test_what_only_python_parses_is_refused_with_a_position(pattern: str) -> None:
    need_module("interegular")
    with pytest.raises(InputError, match=r"does not parse: unknown syntax at position \d"):
        Guided(model("ab"), pattern)


@pytest.mark.parametrize(
    "pattern", ["^a", "a$", r"(a)\1", "(?<=a)b", "a(?=b)", "(?!b).*", r"\bа", r"\Aa", "(?x) a"]
)
def test_what_is_not_known_is_refused(pattern: str) -> None:
    need_module("interegular")
    with pytest.raises(InputError, match=r"uses what is not supported: .*whole words, without"):
        Guided(model("ab"), pattern)


@pytest.mark.parametrize(
    ("pattern", "part"),
    [
        (r"a[\D\W]", r"[\D\W]"),
        ("a*+a", "*+"),
        ("a{1,2}+a", "{1,2}+"),
        ("a?+", "?+"),
        ("(?>a)b", "(?>"),
    ],
)
def test_what_would_be_misread_is_refused(pattern: str, part: str) -> None:
    need_module("interegular")
    with pytest.raises(InputError, match=f"not supported: {re.escape(part)} in "):
        Guided(model("ab"), pattern)


@pytest.mark.parametrize(
    "pattern",
    ["a{99999999999999999999}", *("(" * depth + "a" + ")" * depth for depth in (200, 300, 9999))],
    ids=len,
)
def test_expressions_beyond_all_bounds_are_refused(pattern: str) -> None:
    need_module("interegular")
    with pytest.raises(InputError, match="does not parse"):
        Guided(model("ab"), pattern)


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("a{99999999}", "it has 100,000,002 parts"),
        ("((a{1000}){1000}){1000}", "it has 1,003,003,003 parts"),
        ("(){99999999}", "it has 200,000,001 parts"),
        ("(a|b)*a(a|b){30}", r"its DFA has \d\d,\d+ states and many more to come"),
        (".*a.{40}b.*", r"its DFA has \d\d,\d+ states and many more to come"),
        ("(a?){9999}", "more to come"),
        ("((a{,300}){,300})", "more to come"),
    ],
)
def test_expressions_that_explode_are_refused_at_once(pattern: str, reason: str) -> None:
    need_module("interegular")
    begun = time.process_time()
    with pytest.raises(InputError, match=f"is too large: .*{reason}.*; use smaller"):
        Guided(model("ab"), pattern)
    assert time.process_time() - begun < 3
    with pytest.raises(InputError) as caught:
        Guided(model("ab"), f"{pattern}|{'ab' * 5000}")
    assert len(str(caught.value)) < 500


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pattern", "states"),
    [("a{,20000}", 20001), ("(a|b)*a(a|b){9}", 1024), ("(?:a|ab){200}", 401), ("(a?){300}", 301)],
)
def test_expressions_may_be_large_all_the_same(pattern: str, states: int) -> None:
    need_module("interegular")
    assert len(regex_dfa(pattern, Alphabet("ab"))) == states


@pytest.mark.slow
def test_large_alphabets_are_as_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    need_module("interegular")
    characters = "ab" + "".join(map(chr, range(0x4E00, 0x4E00 + 20_000)))
    begun = time.process_time()
    dfa = regex_dfa("(?:.|[^a]b?|(?i:A)){50}", Alphabet(characters))
    assert time.process_time() - begun < 3
    assert dfa.accepts(characters[:50])
    assert not dfa.accepts(characters[:49])
    monkeypatch.setattr(regex, "_MOST_CHARACTERS", 50_000)
    with pytest.raises(InputError, match="is too large: its 2 classes are too large"):
        regex_dfa("[^a]*[^b]*[^ab]*", Alphabet(characters))


@pytest.mark.parametrize(
    "pattern", ["(?=a)b", "a(?=b)b", "(?!b)a", "(a(?=a))*a", "a(?<=a)b", "(?<!a)b"]
)
def test_looking_around_is_refused_wherever_it_stands(pattern: str) -> None:
    need_module("interegular")
    with pytest.raises(InputError, match="uses what is not supported: looking around"):
        Guided(model("ab"), pattern)


@pytest.mark.parametrize(
    ("pattern", "symbols"), [("c+", ["a", "b"]), ("a", ["ab", "b"]), (r"\n", ["a"])]
)
def test_an_expression_that_excludes_everything_is_refused(
    pattern: str, symbols: list[str]
) -> None:
    need_module("interegular")
    with pytest.raises(InputError, match=r"excludes everything: it accepts no word of .*'a"):
        Guided(model(symbols), pattern)


def test_symbols_that_are_no_text_are_refused() -> None:
    with pytest.raises(InputError, match="symbol 1 is not text"):
        Guided(model(["a", 1]), "a")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "interegular", None)
    with pytest.raises(MissingExtraError, match=r"pip install interegular$"):
        Guided(model("ab"), "a*")


@pytest.mark.slow
def test_a_guide_is_the_same_in_every_process() -> None:
    need_module("interegular")
    program = (
        "from pdfalearn import Alphabet, Guided\n"
        "from pdfalearn.datasets import random_pdfa\n"
        "print(Guided(random_pdfa(3, 3, seed=1), '(0|1)*2(01|12){2,4}').fingerprint)"
    )
    prints = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(prints) == 1
