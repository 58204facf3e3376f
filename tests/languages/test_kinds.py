"""Everything that may be given as a language becomes the DFA of exactly its words."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import Alphabet
from pdfalearn.errors import InputError
from pdfalearn.languages import DFA
from pdfalearn.languages.kinds import (
    BeginsWith,
    Contains,
    EndsWith,
    HasLength,
    LanguageLike,
    Not,
    intersection,
    language_dfa,
)
from tests.strategies import all_words
from tests.support import need_module

ALPHABET = Alphabet("ab")
WORDS = all_words("ab", 6)
ANY_WORD = st.text("ab", max_size=4)


def check(language: LanguageLike, is_in: Callable[[str], bool]) -> None:
    dfa = language_dfa(language, ALPHABET)
    assert [dfa.accepts(word) for word in WORDS] == [is_in(word) for word in WORDS]


@given(part=ANY_WORD)
def test_simple_languages_have_the_words_that_they_say(part: str) -> None:
    check(BeginsWith(part), lambda word: word.startswith(part))
    check(EndsWith(part), lambda word: word.endswith(part))
    check(Contains(part), lambda word: part in word)
    if part:
        check(Not(Contains(part)), lambda word: part not in word)


@given(least=st.integers(0, 5), more=st.none() | st.integers(0, 3))
def test_lengths_are_counted(least: int, more: int | None) -> None:
    most = None if more is None else least + more
    check(HasLength(least, most), lambda word: least <= len(word) <= (99 if most is None else most))


@given(words=st.sets(ANY_WORD, min_size=1))
def test_a_set_of_words_has_these_alone(words: set[str]) -> None:
    check(words, lambda word: word in words)


@pytest.mark.parametrize("pattern", ["a*b", "(ab|ba)+", "[ab]{2,3}", "[a-z]*"])
def test_regular_expressions_match_whole_words(pattern: str) -> None:
    need_module("interegular")
    check(pattern, lambda word: re.fullmatch(pattern, word) is not None)


@given(begin=ANY_WORD, part=ANY_WORD)
def test_an_intersection_has_the_words_of_both(begin: str, part: str) -> None:
    first, second = (language_dfa(one, ALPHABET) for one in (BeginsWith(begin), Contains(part)))
    both = intersection(first, second)
    assert both is not None
    assert [both.accepts(word) for word in WORDS] == [
        word.startswith(begin) and part in word for word in WORDS
    ]
    assert intersection(language_dfa(["a"], ALPHABET), language_dfa(["b"], ALPHABET)) is None


def test_symbols_come_in_the_order_of_the_alphabet() -> None:
    dfa = DFA(alphabet="ba", transitions=[[1, -1], [-1, -1]], accepting=[False, True])
    check(dfa, lambda word: word == "b")


@pytest.mark.parametrize(
    ("language", "message"),
    [
        ([], r"the language \[\] is empty: it has no word of the symbols \('a', 'b'\)"),
        ("c+", r"the language 'c\+' is empty"),
        ("(a", r"does not parse: .* at position 0"),
        ("(a|b)*a(a|b){40}", "too large"),
        (["ac"], "symbol 'c' is not in the alphabet"),
        (BeginsWith("c"), "symbol 'c' is not in the alphabet"),
        (DFA(alphabet="c", transitions=[[0]], accepting=[True]), "symbol 'c' of the language"),
        (DFA(alphabet="a", transitions=[[0]], accepting=[False]), "is empty"),
        (HasLength(3, 2), "greatest length 2 is not an integer from 3"),
        (HasLength(-1), "least length -1"),
        (HasLength(most=2**31 - 1), "that count to .* ask about shorter words"),
        (Not(HasLength()), "is empty"),
        (7, "7 is not a language; give a regular expression"),
        (re.compile("a"), "give its attribute pattern"),
        ([3], "a word is a sequence of symbols, not 3"),
    ],
)
def test_what_is_not_a_language_is_refused(language: Any, message: str) -> None:
    if isinstance(language, str):
        need_module("interegular")
    with pytest.raises(InputError, match=message):
        language_dfa(language, ALPHABET)


def test_blanks_between_symbols_of_an_expression_are_noticed() -> None:
    need_module("interegular")
    hint = "symbols stand side by side, without blanks; .*--as word"
    with pytest.raises(InputError, match=hint):
        language_dfa("open close", Alphabet(["open", "close"]))
    with pytest.raises(InputError, match="is empty") as raised:
        language_dfa("open close", Alphabet(["a b", "close"]))
    assert "side by side" not in str(raised.value)


def test_what_is_not_in_an_empty_language_are_all_words() -> None:
    for everything_else in (Not([]), Not(Not(HasLength())), Not(Not(Not([])))):
        everything = language_dfa(everything_else, Alphabet("ab"))
        assert all(everything.accepts(word) for word in ("", "a", "abba"))
    with pytest.raises(InputError, match="is empty"):
        language_dfa(Not(Not([])), Alphabet("ab"))
