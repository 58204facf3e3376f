"""Named examples: the figures are tested in test_paper.py."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

import pytest

from pdfalearn import Exact, Quantization
from pdfalearn.datasets import chain, combination_lock, figure_1, reber, tomita
from pdfalearn.equivalence import is_weakly_minimal
from pdfalearn.errors import InputError
from tests.strategies import all_words
from tests.support import mostly_slow


def odd_ones_then_odd_zeros(word: str) -> bool:
    runs = [(run[0], len(run)) for run in re.findall(r"0+|1+", word)]
    return any(a == "1" and b == "0" and i % 2 and j % 2 for (a, i), (b, j) in pairwise(runs))


LANGUAGES: dict[int, Callable[[str], bool]] = {
    1: lambda w: "0" not in w,
    2: lambda w: re.fullmatch("(10)*", w) is not None,
    3: lambda w: not odd_ones_then_odd_zeros(w),
    4: lambda w: "000" not in w,
    5: lambda w: w.count("0") % 2 == 0 and w.count("1") % 2 == 0,
    6: lambda w: (w.count("0") - w.count("1")) % 3 == 0,
    7: lambda w: re.fullmatch("0*1*0*1*", w) is not None,
}


@pytest.mark.parametrize("number", mostly_slow(LANGUAGES, 2))
def test_tomita_grammars_accept_their_languages(number: int) -> None:
    pdfa = tomita(number)
    for word in all_words("01", 9):
        row = pdfa.next_distribution(word)
        assert row is not None
        accepted = LANGUAGES[number](word)
        assert row.tolist() == ([0.05, 0.665, 0.285] if accepted else [0.05, 0.285, 0.665])
    assert is_weakly_minimal(pdfa, equivalence=Exact())


def test_the_words_of_rebers_grammar() -> None:
    pdfa, after_x_or_p = reber(), "(?:XT*VP)*(?:S|XT*VV)"
    grammar = re.compile(f"TS*X{after_x_or_p}|PT*V(?:V|P{after_x_or_p})")
    words = all_words("PSTVX", 6)
    for word, probability in zip(words, pdfa.word_probabilities(words).tolist(), strict=True):
        assert probability == (0.5 ** len(word) if grammar.fullmatch(word) else 0.0)
    assert is_weakly_minimal(pdfa, equivalence=Exact())


def test_chains_and_locks_are_weakly_minimal() -> None:
    for pdfa in (chain(1), chain(30), chain(30, reset=True), combination_lock(30, 4)):
        assert is_weakly_minimal(pdfa, equivalence=Quantization(10))


def test_a_lock_opens_with_one_word_only() -> None:
    lock = combination_lock(5, seed=2)
    opening = [w for w in all_words("01", 4) if lock.state_after(w) == 4]
    assert len(opening) == 1


@pytest.mark.parametrize("number", [0, 8, "1"])
def test_there_are_seven_tomita_grammars(number: int) -> None:
    with pytest.raises(InputError, match="Tomita"):
        tomita(number)


def test_bad_sizes_are_named() -> None:
    with pytest.raises(InputError, match="size 0"):
        chain(0)
    with pytest.raises(InputError, match="symbols 0"):
        combination_lock(3, 0)
    with pytest.raises(InputError, match=r"epsilon 0\.6"):
        figure_1(0.6)
