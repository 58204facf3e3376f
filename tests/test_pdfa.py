"""The PDFA: what it refuses, what it computes, and that it never changes."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, Alphabet, load, score
from pdfalearn.analysis import reachable, reachable_part
from pdfalearn.datasets import chain, figure_1, figure_2, figure_3, random_pdfa
from pdfalearn.errors import InputError
from tests.strategies import all_words, pdfas
from tests.support import examples


def two_states(**changes: object) -> PDFA:
    arguments: dict[str, object] = {
        "alphabet": "ab",
        "transitions": [[0, 1], [1, 0]],
        "probabilities": [[0.2, 0.3, 0.5], [0.2, 0.8, 0.0]],
    }
    return PDFA(**(arguments | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"probabilities": [[0.2, 0.3, 0.5], [0.2, 0.7, 0.0]]}, "state 1: .* sum to 0.9"),
        ({"probabilities": [[0.2, 0.3, 0.5], [1.2, -0.2, 0.0]]}, "state 1, symbol 'a': .* -0.2"),
        ({"probabilities": [[0.2, 0.3, 0.5], [math.nan, 1, 0]]}, r"state 1, symbol '\$': .* nan"),
        ({"probabilities": [[0.2, 0.3, 0.5], [math.inf, 1, 0]]}, "sum to inf"),
        ({"probabilities": [[0.2, 0.3, 0.5]]}, "2 rows and probabilities 1"),
        ({"probabilities": [[0.5, 0.5], [0.5, 0.5]]}, r"shape \(2, 2\), not \(states, 3\)"),
        ({"probabilities": [[0.5, 0.5], [0.5]]}, "not a table of numbers"),
        ({"probabilities": "nonsense"}, "not a table of numbers"),
        ({"probabilities": [["0.2", "0.3", "0.5"]] * 2}, "not a table of numbers"),
        ({"probabilities": [[True, False, False]] * 2}, "not a table of numbers, but of bool"),
        ({"transitions": [[0, 2], [1, 0]]}, "state 0, symbol 'b': successor 2"),
        ({"transitions": [[0, 1], [-2, 0]]}, "state 1, symbol 'a': successor -2"),
        ({"transitions": [[0, -1], [1, 0]]}, "state 0, symbol 'b': .* undefined .* 0.5"),
        ({"transitions": [[0], [1]]}, r"shape \(2, 1\)"),
        ({"transitions": [[0.0, 1.0], [1.0, 0.0]]}, "table of integers"),
        ({"transitions": [[0, 1], [1]]}, "not a table of integers"),
        ({"transitions": np.empty((0, 2), int), "probabilities": np.empty((0, 3))}, "empty"),
        ({"alphabet": "aa"}, "'a' occurs twice"),
        ({"alphabet": ["a", None]}, "None and NaN cannot be symbols"),
        ({"alphabet": ["a", float("nan")]}, "None and NaN cannot be symbols"),
        ({"alphabet": "a$"}, "terminal"),
        ({"alphabet": ""}, "alphabet is empty"),
        ({"alphabet": [["x"], ["y"]]}, "not hashable"),
        ({"alphabet": 3}, "sequence of symbols"),
        ({"initial": 2}, "initial state 2"),
        ({"initial": -1}, "initial state -1"),
        ({"initial": "0"}, "initial state '0'"),
    ],
)
def test_bad_arguments_are_named(changes: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        two_states(**changes)


def test_sums_within_a_millionth_are_taken_as_they_are() -> None:
    rows = [[0.2, 0.3, 0.5 + 9e-7], [0.2, 0.8, 0.0]]
    assert two_states(probabilities=rows).probabilities.tolist() == rows


def test_terminal_can_be_chosen() -> None:
    assert two_states(alphabet="a$", terminal="#").terminal == "#"
    assert two_states(alphabet=Alphabet("ab", "#")).terminal == "#"


def test_it_never_changes() -> None:
    pdfa = two_states()
    with pytest.raises(AttributeError):
        pdfa.initial = 1
    with pytest.raises(AttributeError):
        del pdfa.alphabet
    with pytest.raises(AttributeError):
        pdfa.alphabet.symbols = ("x",)
    for array in (pdfa.transitions, pdfa.probabilities):
        assert not array.flags.writeable
    given = np.array([[0.2, 0.3, 0.5], [0.2, 0.8, 0.0]])
    changed = two_states(probabilities=given)
    given[0] = 7
    assert changed == pdfa


def test_equality_hash_copy_and_pickle() -> None:
    pdfa = figure_3()
    for twin in (figure_3(), copy.deepcopy(pdfa), pickle.loads(pickle.dumps(pdfa))):  # noqa: S301
        assert twin == pdfa
        assert hash(twin) == hash(pdfa)
        assert not twin.transitions.flags.writeable
    assert pdfa != figure_1()
    assert pdfa != "figure 3"


def test_representation() -> None:
    assert repr(figure_3()) == "PDFA(4 states, alphabet=('0', '1'), initial=0)"
    assert repr(chain(1)) == "PDFA(1 state, alphabet=('a',), initial=0)"
    assert repr(random_pdfa(5, 100, seed=0)).endswith("alphabet=100 symbols, initial=0)")


def run_by_hand(pdfa: PDFA, word: str, state: int) -> tuple[int, list[float]]:
    """The definition of τ* and P(s|q), symbol by symbol."""
    factors: list[float] = []
    for symbol in word:
        if state < 0:
            return -1, [0.0]
        column = pdfa.alphabet.index(symbol)
        factors.append(float(pdfa.probabilities[state, column + 1]))
        state = int(pdfa.transitions[state, column])
    return state, factors if state >= 0 else [0.0]


@examples(150)
@given(pdfas(alphabet="ab"), st.lists(st.text("ab", max_size=9), max_size=8), st.data())
def test_operations_follow_the_definitions(
    pdfa: PDFA, words: list[str], data: st.DataObject
) -> None:
    state = data.draw(st.one_of(st.none(), st.integers(0, len(pdfa) - 1)))
    runs = [run_by_hand(pdfa, word, pdfa.initial if state is None else state) for word in words]
    assert pdfa.states_after(words, state=state).tolist() == [end for end, _ in runs]
    for word, (end, factors) in zip(words, runs, strict=True):
        prefix = math.prod(factors)
        whole = prefix * pdfa.probabilities[end, 0] if end >= 0 else 0.0
        assert pdfa.prefix_probability(word, state=state) == pytest.approx(prefix)
        assert pdfa.probability(word, state=state) == pytest.approx(whole)
        logarithm = math.log(whole) if whole else -math.inf
        assert pdfa.log_probability(word, state=state) == pytest.approx(logarithm)
        row = pdfa.next_distribution(word, state=state)
        if end < 0:
            assert row is None
            assert pdfa.state_after(word, state=state) is None
            assert pdfa.last_symbol_probability(word + "$", state=state) == 0
        else:
            assert row is not None
            assert row.tolist() == pdfa.probabilities[end].tolist()
            for column, symbol in enumerate("$ab"):
                last = pdfa.last_symbol_probability(word + symbol, state=state)
                assert last == row[column]


@examples(50)
@given(pdfas(alphabet="ab"), st.lists(st.text("ab", max_size=12), max_size=90))
def test_many_words_at_once_give_what_each_gives_alone(pdfa: PDFA, words: list[str]) -> None:
    batches: list[tuple[Callable[..., object], Callable[..., object]]] = [
        (pdfa.word_probabilities, pdfa.probability),
        (pdfa.log_probabilities, pdfa.log_probability),
        (pdfa.prefix_probabilities, pdfa.prefix_probability),
    ]
    for batch, single in batches:
        assert list(batch(words)) == [single(word) for word in words]  # type: ignore[call-overload]
    rows = pdfa.next_distributions(words)
    for word, row in zip(words, rows, strict=True):
        alone = pdfa.next_distribution(word)
        assert np.isnan(row).all() if alone is None else np.array_equal(row, alone)


@examples(60)
@given(pdfas(max_states=4, alphabet="ab"))
def test_probabilities_up_to_a_length_and_what_is_left_sum_to_one(pdfa: PDFA) -> None:
    words = all_words("ab", 6)
    longest = [word for word in words if len(word) == 6]
    left = pdfa.prefix_probabilities([w + s for w in longest for s in "ab"]).sum()
    assert pdfa.word_probabilities(words).sum() + left == pytest.approx(1)


def test_undefined_words() -> None:
    pdfa = PDFA(alphabet="ab", transitions=[[0, -1]], probabilities=[[0.5, 0.5, 0]])
    assert pdfa.state_after("aab") is None
    assert pdfa.state_after("aaba") is None
    assert pdfa.probability("aaba") == pdfa.prefix_probability("aaba") == 0
    assert pdfa.log_probability("aaba") == -math.inf
    assert pdfa.states_after(["a", "ab", "aba"]).tolist() == [0, -1, -1]


@pytest.mark.slow
def test_words_of_a_hundred_thousand_symbols() -> None:
    pdfa = random_pdfa(50, seed=1)
    word = "01" * 50_000
    assert pdfa.probability(word) == 0  # below the smallest float
    assert -math.inf < pdfa.log_probability(word) < -50_000
    assert pdfa.state_after(word) is not None
    looping = PDFA(alphabet="a", transitions=[[0]], probabilities=[[0, 1]])
    sample = looping.sample(2, seed=1, max_length=100_000)
    assert [len(word) for word in sample.words] == [100_000] * 2


def test_sequences_of_symbols_and_plain_strings() -> None:
    pdfa = two_states()
    assert pdfa.state_after("ab") == pdfa.state_after(["a", "b"]) == pdfa.state_after(("a", "b"))
    tokens = PDFA(alphabet=["the", "cat"], transitions=[[0, 0]], probabilities=[[0.5, 0.25, 0.25]])
    assert tokens.probability(["the", "cat"]) == 0.03125
    numbers = PDFA(alphabet=[(0, 1), 7], transitions=[[0, 0]], probabilities=[[0.5, 0.25, 0.25]])
    assert numbers.state_after([7, (0, 1), 7]) == 0


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("axb", "symbol 'x' is not in the alphabet .*position 1"),
        (["a", ["b"]], r"symbol \['b'\]"),
        (7, "a word is a sequence"),
        ("ab$", r"symbol '\$'"),
    ],
)
def test_bad_words_are_named(word: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        two_states().probability(word)


def test_plain_strings_are_refused_for_longer_symbols() -> None:
    tokens = PDFA(alphabet=["the", "cat"], transitions=[[0, 0]], probabilities=[[0.5, 0.25, 0.25]])
    with pytest.raises(InputError, match="plain string"):
        tokens.probability("the")
    with pytest.raises(InputError, match="batch is a list of words"):
        two_states().states_after("ab")


def test_bad_states_and_empty_words_are_named() -> None:
    with pytest.raises(InputError, match="state 5"):
        two_states().probability("a", state=5)
    with pytest.raises(InputError, match="no last symbol"):
        two_states().last_symbol_probability("")
    with pytest.raises(InputError, match="'x'"):
        two_states().last_symbol_probability("ax")
    with pytest.raises(InputError, match="count -1"):
        two_states().sample(-1, 0)


def test_batches_may_be_empty() -> None:
    pdfa = two_states()
    for operation in (pdfa.word_probabilities, pdfa.log_probabilities, pdfa.prefix_probabilities):
        assert operation([]).shape == (0,)
    assert pdfa.next_distributions([]).shape == (0, 3)
    assert pdfa.sample(0, seed=1).words == []


@pytest.mark.slow
def test_samples_follow_the_distribution() -> None:
    pdfa = figure_3()
    sample = pdfa.sample(40_000, seed=7)
    assert not sample.cut.any()
    words = ["".join(map(str, word)) for word in sample.words]
    for word in all_words("01", 3):
        expected = pdfa.probability(word)
        error = 5 * math.sqrt(expected * (1 - expected) / 40_000)
        assert abs(words.count(word) / 40_000 - expected) <= error
    assert sample.words == pdfa.sample(40_000, seed=7).words
    assert sample.words != pdfa.sample(40_000, seed=8).words


def test_samples_from_a_large_alphabet_take_only_what_has_probability() -> None:
    pdfa = random_pdfa(20, 300, zero_probability=0.9, undefined=True, seed=1)
    sample = pdfa.sample(500, seed=2)
    assert pdfa.states_after(sample.words).min() >= 0
    used = {symbol for word in sample.words for symbol in word}
    assert len(used) > 100


def test_samples_that_never_stop_are_cut_and_flagged() -> None:
    a, _ = figure_2()
    sample = a.sample(300, seed=1, max_length=30)
    for word, cut in zip(sample.words, sample.cut, strict=True):
        assert cut == (a.probability(word) == 0)
        assert len(word) == 30 if cut else len(word) <= 30
    assert sample.cut.any()
    assert not sample.cut.all()


def test_a_word_of_just_the_maximal_length_is_whole() -> None:
    pdfa = PDFA(alphabet="a", transitions=[[1], [1]], probabilities=[[0, 1], [1, 0]])
    sample = pdfa.sample(3, seed=0, max_length=1)
    assert sample.words == [("a",)] * 3
    assert not sample.cut.any()
    assert pdfa.sample(1, seed=0, max_length=0).cut.all()


@examples(100)
@given(pdfas())
def test_reachable_states_are_in_shortlex_order(pdfa: PDFA) -> None:
    order, depths = [pdfa.initial], {pdfa.initial: 0}
    for state in order:
        for successor in pdfa.transitions[state].tolist():
            if successor >= 0 and successor not in depths:
                depths[successor] = depths[state] + 1
                order.append(successor)
    found = reachable(pdfa)
    assert found.states.tolist() == order
    assert found.depth == max(depths.values())
    assert all(left <= right for left, right in pairwise(found.parents.tolist()))
    part = reachable_part(pdfa)
    assert len(part) == len(order)
    words = all_words("".join(map(str, pdfa.alphabet)), 4)
    rows, others = pdfa.next_distributions(words), part.next_distributions(words)
    assert np.array_equal(rows, others, equal_nan=True)


def test_a_sample_without_a_seed_is_another_each_time() -> None:
    pdfa = random_pdfa(20, seed=1)
    assert pdfa.sample(200).words != pdfa.sample(200).words


def test_verbs_are_methods_too(tmp_path: Path) -> None:
    pdfa = figure_3()
    pdfa.save(tmp_path / "a.json")
    assert load(tmp_path / "a.json") == pdfa
    assert pdfa.score(["01", ""]) == score(pdfa, ["01", ""])
