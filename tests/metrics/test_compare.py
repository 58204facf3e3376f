"""Two automata compared over the symbols of both, against enumeration of short words."""

from __future__ import annotations

from math import inf, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, Exact, Quantization, Tolerance, compare, distinguish, divergence
from pdfalearn.analysis import differences, distances
from pdfalearn.datasets import figure_1, figure_3
from pdfalearn.equivalence import over_union, same_function
from pdfalearn.errors import InputError
from tests.analysis.brute import words_with_mass
from tests.strategies import all_words, pdfas
from tests.support import examples

ALPHABETS = ["ab", "ba", "bc", "c", "acb"]
LONGEST = 6


def automata() -> st.SearchStrategy[PDFA]:
    return st.sampled_from(ALPHABETS).flatmap(lambda symbols: pdfas(3, alphabet=symbols))


def row_after(pdfa: PDFA, word: str) -> dict[object, float] | None:
    """Return the probability of every symbol that is possible next; None where undefined."""
    if not set(word) <= set(pdfa.alphabet.symbols):
        return None
    row = pdfa.next_distribution(word)
    if row is None:
        return None
    columns = zip(("", *pdfa.alphabet), row.tolist(), strict=True)
    return {symbol: value for symbol, value in columns if value}


@examples(200)
@given(automata(), automata())
def test_the_word_is_a_shortest_one(a: PDFA, b: PDFA) -> None:
    symbols = "".join(sorted({*map(str, a.alphabet), *map(str, b.alphabet)}))
    # Two automata that differ do so after a word shorter than both have states, undefined included.
    words = all_words(symbols, min(LONGEST, len(a) + len(b) + 1))
    parting = [word for word in words if row_after(a, word) != row_after(b, word)]
    found = compare(a, b).word
    assert found == distinguish(a, b, equivalence=Exact())
    if found is None:
        assert not parting
    else:
        word = "".join(map(str, found))
        assert row_after(a, word) != row_after(b, word)
        assert len(word) == len(parting[0])


@examples(200)
@given(automata(), automata())
def test_measures_agree_with_all_short_words(a: PDFA, b: PDFA) -> None:
    (first, rest), (second, other) = (words_with_mass(one, LONGEST) for one in (a, b))
    words = first.keys() | second.keys()
    pairs = [(first.get(word, 0.0), second.get(word, 0.0)) for word in words]
    found = compare(a, b, count=3)
    squared = sum((sqrt(p) - sqrt(q)) ** 2 for p, q in pairs) / 2
    # Words that are longer add at most half of their mass.
    assert squared - 1e-9 <= found.distances.hellinger**2 <= squared + (rest + other) / 2 + 1e-9
    l2 = sum((p - q) ** 2 for p, q in pairs)
    assert l2 - 1e-9 <= found.distances.l2**2 <= l2 + rest**2 + other**2 + 1e-9
    if any(p and not q for p, q in pairs):
        assert found.divergence.forward.per_word == inf
    elif not rest:
        expected = sum(p * log(p / q) for p, q in pairs if p)
        assert found.divergence.forward.per_word == pytest.approx(expected, abs=1e-9)
    for one in found.differences.words:
        word = "".join(map(str, one.word))
        if len(word) <= LONGEST:
            assert one.probability_a == pytest.approx(first.get(word, 0.0), rel=1e-9)
            assert one.probability_b == pytest.approx(second.get(word, 0.0), rel=1e-9)
    if not rest and not other:
        is_same = all(p == pytest.approx(q, rel=1e-9) for p, q in pairs)
        assert same_function(a, b) == is_same


@examples(100)
@given(automata(), automata())
def test_the_union_changes_no_word(a: PDFA, b: PDFA) -> None:
    for pdfa, wide in zip((a, b), over_union(a, b), strict=True):
        new = [s for s in b.alphabet.symbols if s not in a.alphabet]
        assert wide.alphabet.symbols == (*a.alphabet.symbols, *new)
        words = all_words("".join(map(str, pdfa.alphabet)), 3)
        assert np.array_equal(wide.word_probabilities(words), pdfa.word_probabilities(words))
        for symbol in set(wide.alphabet) - set(pdfa.alphabet):
            assert wide.probability([symbol]) == 0
            assert wide.state_after([symbol]) is None


def test_it_holds_what_the_single_questions_answer() -> None:
    a, b = figure_1(), figure_1(0.25)
    found = compare(a, b, equivalence=Tolerance(0.5), count=4)
    assert found.word is None
    assert found.distances == distances(a, b)
    assert found.differences == differences(a, b, 4)
    assert len(found.differences.words) == 4
    assert found.divergence.rows() == divergence(a, b).rows()
    assert compare(a, b, equivalence=Quantization(4)).word == ("a",)


def test_equal_automata_are_said_to_be_so() -> None:
    text = str(compare(figure_3(), figure_3()))
    assert "different after         no word" in text
    assert "probability of the word" not in text


def test_a_terminal_may_be_a_symbol_of_the_other() -> None:
    a = PDFA(alphabet="a", transitions=[[0]], probabilities=[[0.5, 0.5]])
    b = PDFA(alphabet="$", transitions=[[0]], probabilities=[[0.5, 0.5]], terminal="end")
    assert compare(a, b).a.terminal == compare(b, a).a.terminal == "end"
    assert compare(a, b).differences.words[0].probability_b == 0
    last = PDFA(alphabet="b$", transitions=[[0, 0]], probabilities=[[1, 0, 0]], terminal="a")
    with pytest.raises(InputError, match="the terminal 'a' is also in the alphabet"):
        compare(a, last)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"count": -1}, "count"),
        ({"equivalence": "exact"}, "is not an equivalence"),
        ({"b": "a.json"}, "b is 'a.json', not a PDFA"),
    ],
)
def test_wrong_arguments_are_refused_at_once(arguments: dict[str, object], message: str) -> None:
    given_arguments: dict[str, object] = {"a": figure_1(), "b": figure_1(), **arguments}
    with pytest.raises(InputError, match=message):
        compare(**given_arguments)  # type: ignore[call-overload]
