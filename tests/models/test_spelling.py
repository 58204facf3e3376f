"""Symbols spelled in tokens, against products of probabilities computed one by one."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn.alphabet import Symbol
from pdfalearn.errors import InputError
from pdfalearn.models import Rows
from pdfalearn.models.spelling import Spelling, Texts
from pdfalearn.samplers import Words
from tests.support import examples

VOCABULARY = 6


@st.composite
def prefix_free(draw: st.DrawFn) -> dict[Symbol, tuple[int, ...]]:
    """Draw token sequences of which none begins another; the tokens 4 and 5 begin none."""
    first, later = st.integers(0, 3), st.lists(st.integers(0, VOCABULARY - 1), max_size=3)
    paths = draw(st.lists(st.tuples(first, later), min_size=1, max_size=12))
    kept: list[tuple[int, ...]] = []
    for path in ((token, *rest) for token, rest in paths):
        if not any(path[: len(k)] == k or k[: len(path)] == path for k in kept):
            kept.append(path)
    return {f"s{place}": path for place, path in enumerate(kept)}


def conditional(seed: int, tokens: Sequence[int]) -> np.ndarray:
    """Return a distribution over tokens that depends on all tokens before."""
    generator = np.random.default_rng([seed, 7, *tokens])
    return generator.dirichlet(np.full(VOCABULARY, 0.4))


def plain_masses(
    seed: int, word: Sequence[int], spelling: Spelling
) -> tuple[float, list[float], float]:
    """Return the masses of terminal, symbols and all else, token by token."""
    masses = []
    for path in spelling.tokens:
        mass = 1.0
        for place, token in enumerate(path):
            mass *= conditional(seed, [*word, *path[:place]])[token]
        masses.append(mass)
    root = conditional(seed, word)
    if spelling.ends == "rest":
        begun = {path[0] for path in spelling.tokens}
        end = sum(root[token] for token in range(VOCABULARY) if token not in begun)
    else:
        end = sum(root[token] for token in spelling.ends)
    return end, masses, 1 - end - sum(masses)


@examples(100)
@given(
    prefix_free(),
    st.sampled_from([[4], [5, 4], "rest"]),
    st.sampled_from([None, "other"]),
    st.lists(st.lists(st.integers(0, 5), max_size=3), min_size=1, max_size=3),
    st.integers(0, 2**32),
)
def test_rows_are_products_of_conditional_probabilities(
    symbols: dict[Symbol, tuple[int, ...]],
    ends: Sequence[int] | Literal["rest"],
    outside: str | None,
    words: list[list[int]],
    seed: int,
) -> None:
    spelling = Spelling(symbols, ends, outside=outside)
    with np.errstate(divide="ignore"):
        logs = [
            np.log([conditional(seed, [*word, *prefix])[wanted] for word in words])
            for prefix, wanted in zip(spelling.prefixes, spelling.wanted, strict=True)
        ]
    rows = spelling.rows(logs)
    for place, word in enumerate(words):
        end, masses, lost = plain_masses(seed, word, spelling)
        if outside is not None:
            assert rows.values[place] == pytest.approx([end, *masses, lost], abs=1e-12)
            assert rows.outside is None
        else:
            total = end + sum(masses)
            assert rows.values[place] * total == pytest.approx([end, *masses], abs=1e-12)
            assert rows.outside is not None
            assert rows.outside[place] == pytest.approx(lost, abs=1e-12)


def test_masses_far_below_the_smallest_number_are_compared() -> None:
    spelling = Spelling({"a": [0], "b": [1]}, ends=[2])
    rows = spelling.rows([np.array([[-2000.0, -2000.0, -2000.0 + np.log(2)]])])
    assert rows.values[0] == pytest.approx([0.5, 0.25, 0.25])


def test_nan_stays_in_its_row() -> None:
    spelling = Spelling({"a": [0], "b": [1]}, ends="rest")
    rows = spelling.rows([np.array([[np.nan, -1.0], [-1.0, -1.0]])])
    assert np.isnan(rows.values[0]).any()
    assert rows.values[1].sum() == pytest.approx(1)


@pytest.mark.slow
def test_a_whole_vocabulary_is_one_node() -> None:
    spelling = Spelling({token: [token] for token in range(1, 50_000)}, ends=[0])
    assert spelling.prefixes == ((),)
    logs = np.log(np.random.default_rng(1).dirichlet(np.ones(50_000), size=2))
    rows = spelling.rows([logs[:, spelling.wanted[0]]])
    np.testing.assert_allclose(rows.values, np.exp(logs), rtol=1e-9)


def test_words_that_left_the_alphabet_are_over() -> None:
    spelling = Spelling({"a": [0], "b": [1]}, ends=[2], outside="?")
    asked: list[list[int]] = []

    def ask(words: Words) -> Rows:
        asked.extend(words)
        return Rows.dense(np.full((len(words), 4), 0.25))

    rows = spelling.answered(Words.of([(0,), (0, 2), (), (2, 1), (1, 2, 2), (1, 1)]), ask)
    assert asked == [[0], [], [1, 1]]
    assert rows.undefined is not None
    assert rows.undefined.tolist() == [False, False, False, True, True, False]
    assert rows.values[1].tolist() == [1, 0, 0, 0]
    assert (rows.values[[0, 2, 5]] == 0.25).all()
    only = spelling.answered(Words.of([(2,)]), ask)
    assert only.values.tolist() == [[1, 0, 0, 0]]


def test_fingerprint_covers_all_that_decides() -> None:
    base: dict[Symbol, Sequence[int]] = {"a": [0], "b": [1, 2]}
    spellings = [
        Spelling(base, ends=[3]),
        Spelling(base, ends=[4]),
        Spelling(base, ends="rest"),
        Spelling(base, ends=[3], outside="?"),
        Spelling(base, ends=[3], terminal="end"),
        Spelling({"a": [0], "b": [1, 3]}, ends=[5]),
        Spelling({"a": [0], "c": [1, 2]}, ends=[3]),
    ]
    assert len({spelling.fingerprint for spelling in spellings}) == len(spellings)
    assert spellings[0].fingerprint == Spelling(base, ends=[3]).fingerprint


def letters(text: str) -> list[int]:
    return [0 if c == "?" else ord(c) for c in text if c != "_"]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["a", "b", "a"], "the text 'a' is twice"),
        (["a", ""], "text is empty"),
        (["a", "\ud800"], "half a character"),
        (["a", "_"], "has no token for the text '_'"),
        (["a", "b?"], "does not know the text 'b\\?'"),
        (["ab", "c", "a"], "symbol 'a' begins symbol 'ab'"),
        ({"x": "a", "y": "a"}, "symbols 'x' and 'y' have the same tokens"),
        ([1, 2], "the symbol 1 is not a text"),
        ({"x": []}, "symbol 'x' has \\[\\] as its tokens"),
        ({"x": [-1]}, "token of symbol 'x' -1 is not an integer from 0"),
        ({"x": None}, "symbol 'x' has None as its tokens"),
        (None, "the symbols are None; give texts"),
        ([], "the alphabet is empty"),
        (["a", "$"], "the terminal '\\$' is also in the alphabet"),
    ],
)
def test_bad_symbols(texts: Texts, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Spelling.of_texts(texts, letters, ends=[1], unknown=0)


@pytest.mark.parametrize(
    ("ends", "message"),
    [
        ([], "give the tokens that end a word"),
        ("all", "give the tokens that end a word"),
        ([1, 1], "hold a token twice"),
        ([ord("a")], "the end token 97 begins a symbol"),
        ([0.5], "end token 0.5 is not an integer"),
    ],
)
def test_bad_ends(ends: list[int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Spelling.of_texts(["a", "b"], letters, ends)


def test_named_symbols_and_tokens_as_they_are() -> None:
    spelling = Spelling.of_texts({"first": "ab", "second": [300, 301]}, letters, ends=[1])
    assert spelling.tokens == ((97, 98), (300, 301))
    assert spelling.alphabet.symbols == ("first", "second")
