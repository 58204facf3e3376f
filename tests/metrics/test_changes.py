"""What changed between two corpora: counts, tests and shares against slow and simple oracles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pdfalearn import PDFA, Corpus, compare, sample
from pdfalearn.analysis.change_tests import _adjust, _fisher
from pdfalearn.datasets import figure_1, random_pdfa
from pdfalearn.errors import InputError
from tests.support import examples

AB = PDFA(alphabet="ab", transitions=[[1, 0], [0, 1]], probabilities=[[0.2, 0.4, 0.4]] * 2)
WORDS = st.lists(st.text("abc", max_size=6), min_size=1, max_size=12)


def steps(word: str) -> list[tuple[int, Hashable]]:
    """Return the steps of a word in AB: the state and the event; what leads outside is the last."""
    state = 0
    found: list[tuple[int, Hashable]] = []
    for symbol in word:
        if symbol not in "ab":
            return [*found, (state, None)]
        found.append((state, symbol))
        state = int(AB.transitions[state, "ab".index(symbol)])
    return [*found, (state, "$")]


@given(WORDS, WORDS)
@examples(100)
def test_counts_and_probabilities_are_those_of_words_followed_one_by_one(
    a: list[str], b: list[str]
) -> None:
    found = compare(
        Corpus(a, alphabet="abc"), Corpus(b, alphabet="abc"), model=AB, false_alarms=0.999
    )
    counts = [Counter(step for word in words for step in steps(word)) for words in (a, b)]
    for one in found.transitions:
        place = one.source, one.symbol
        assert (one.count_a, one.count_b) == (counts[0][place], counts[1][place])
        for count, probability in zip(counts, (one.probability_a, one.probability_b), strict=True):
            visits = sum(n for (state, _), n in count.items() if state == one.source)
            assert probability == pytest.approx(count[place] / visits)
    events = [Counter(symbol for word in words for symbol in set(word)) for words in (a, b)]
    expected = {
        (symbol, "new" if not events[0][symbol] else "vanished"): sum(e[symbol] for e in events)
        for symbol in "abc"
        if bool(events[0][symbol]) != bool(events[1][symbol])
    }
    assert {(one.event, one.kind): one.words for one in found.events} == expected


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 60), st.integers(0, 60))
@examples(300)
def test_exact_p_values_are_twice_those_of_one_side(a: int, b: int, more: int, many: int) -> None:
    of_a, of_b = a + more, b + many
    p_values, least = _fisher(np.array([float(a)]), np.array([float(b)]), of_a, of_b)
    one_sided = [
        stats.fisher_exact(np.array([[a, of_a - a], [b, of_b - b]]), alternative).pvalue
        for alternative in ("less", "greater")
    ]
    assert p_values[0] == pytest.approx(min(1.0, 2 * min(one_sided)), rel=1e-9)
    both = a + b
    possible = [
        _fisher(np.array([float(k)]), np.array([float(both - k)]), of_a, of_b)[0][0]
        for k in range(max(0, both - of_b), min(both, of_a) + 1)
    ]
    assert least[0] == pytest.approx(min(possible), rel=1e-9)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=30))
@examples(200)
def test_adjusting_never_names_more_than_bonferroni_forbids(
    pairs: list[tuple[float, float]],
) -> None:
    least = np.array([min(pair) for pair in pairs])
    p_values = np.array([max(pair) for pair in pairs])
    adjusted, tests = _adjust(p_values, least, 0.05)
    is_tested = ~np.isnan(adjusted)
    assert (adjusted >= p_values)[is_tested].all()
    assert tests <= len(pairs)
    # Holm's own definition, on the tests that could reach the level at all.
    k = next((k for k in range(1, len(pairs) + 1) if (least <= 0.05 / k).sum() <= k), None)
    chosen = [i for i, value in enumerate(least) if k and value <= 0.05 / k]
    worst = 0.0
    for rank, place in enumerate(sorted(chosen, key=lambda i: (p_values[i], i))):
        worst = max(worst, min(1.0, (len(chosen) - rank) * p_values[place]))
        assert adjusted[place] == pytest.approx(worst)
    assert np.flatnonzero(is_tested).tolist() == chosen


def test_what_so_few_words_could_not_show_is_not_tested() -> None:
    usual = ["a", "ab", "b"] * 1000
    found = {
        level: compare(usual, ["c"] * 27 + usual[27:], model=AB, false_alarms=level)
        for level in (0.05, 1e-7)
    }
    [likely], [untested] = (one.events for one in found.values())
    assert likely.p_value == untested.p_value < 1e-7
    assert likely.adjusted is not None
    assert 1e-7 < likely.adjusted < 1e-6
    assert untested.adjusted is None
    assert not any(one.symbol is None for one in found[1e-7].transitions)
    assert found[1e-7].event_cells() == [("c", "b", "27", "not tested")]


def test_shares_are_of_the_divergence_of_rows() -> None:
    a, b = ["a"] * 30 + ["b"] * 10, ["a"] * 10 + ["b"] * 70
    one_state = PDFA(
        alphabet="ab",
        transitions=[[1, 1], [-1, -1]],
        probabilities=[[0.0, 0.5, 0.5], [1.0, 0.0, 0.0]],
    )
    found = compare(a, b, model=one_state)
    p, q = np.array([0.75, 0.25]), np.array([0.125, 0.875])
    mean = (p + q) / 2
    parts = (p * np.log(p / mean) + q * np.log(q / mean)) / 2
    assert found.change == pytest.approx(parts.sum())
    shares = {one.symbol: one.share for one in found.transitions}
    assert shares == pytest.approx(dict(zip("ab", parts / parts.sum(), strict=True)))
    assert [(pair.source, pair.target, len(pair.transitions)) for pair in found.pairs] == [
        (0, 1, 2)
    ]
    assert found.pairs[0].share == pytest.approx(1.0)


def test_repeated_events_of_few_words_are_not_many_words() -> None:
    """A hundred events of one session are one session: no evidence that all sessions do so."""
    loop = PDFA(alphabet="ab", transitions=[[0, 0]], probabilities=[[0.2, 0.4, 0.4]])
    found = compare(["ab"] * 20 + ["b" * 500], ["ab"] * 20 + ["a" * 500], model=loop)
    assert not found
    assert not found.transitions
    assert not found.events


def drawn(pdfa: PDFA, count: int, seed: int) -> Corpus:
    return Corpus(sample(pdfa, count, seed=seed).words, alphabet=pdfa.alphabet)


def planted(by: float) -> tuple[PDFA, PDFA]:
    pdfa = random_pdfa(6, 3, seed=3)
    rows = pdfa.probabilities * 0.9
    rows[:, 0] += 0.1
    changed = rows.copy()
    order = changed[2].argsort()
    changed[2, order[-1]] -= by
    changed[2, order[0]] += by
    one, other = (
        PDFA(alphabet=pdfa.alphabet, transitions=pdfa.transitions, probabilities=each)
        for each in (rows, changed)
    )
    return one, other


def test_a_planted_change_comes_first() -> None:
    before, after = planted(0.25)
    found = compare(drawn(before, 2000, 1), drawn(after, 2000, 2), model=before)
    assert found.transitions[0].source == found.transitions[1].source == 2
    assert found.pairs[0].source == 2
    assert {one.source for one in found.transitions} == {2}


@pytest.mark.slow
def test_false_alarms_are_as_few_as_promised() -> None:
    pdfa, _ = planted(0.0)
    alarms = sum(
        bool(compare(drawn(pdfa, 150, 2 * seed), drawn(pdfa, 150, 2 * seed + 1), model=pdfa))
        for seed in range(60)
    )
    assert alarms <= 9  # at .05, more would have a probability of .001


@pytest.mark.slow
def test_files_are_counted_as_words_in_memory_are(tmp_path: Path) -> None:
    before, after = planted(0.2)
    names = tmp_path / "monday.txt", tmp_path / "friday.txt"
    corpora = drawn(before, 300, 1), drawn(after, 300, 2)
    for path, corpus in zip(names, corpora, strict=True):
        path.write_text("".join(" ".join(map(str, word)) + "\n" for word in corpus))
    of_files = compare(*map(Corpus, names), model=before, processes=2)
    in_memory = compare(*corpora, model=before)
    assert of_files.transitions == in_memory.transitions
    assert of_files.change == pytest.approx(in_memory.change)


def test_an_automaton_is_distilled_from_both(tmp_path: Path) -> None:
    names = tmp_path / "a.txt", tmp_path / "b.txt"
    for path, word in zip(names, ("get put", "get drop"), strict=True):
        path.write_text("get get\n" * 40 + f"{word}\n" * 40)
    found = compare(*map(Corpus, names))
    assert {(one.event, one.kind, one.words) for one in found.events} == {
        ("put", "vanished", 40),
        ("drop", "new", 40),
    }
    assert set(found.pdfa.alphabet) == {"get", "put", "drop"}
    assert bool(found)


def test_cut_words_have_no_end_and_unknown_events_lead_outside(tmp_path: Path) -> None:
    path = tmp_path / "cut.txt"
    path.write_text("a b\na b (cut)\n" * 30)
    found = compare(Corpus(path), Corpus(["az"] * 60), model=AB)
    assert found.cut_a == 30
    assert found.cut_b == 0
    outside = next(one for one in found.transitions if one.symbol is None)
    assert outside.target is None
    assert outside.count_b == 60
    assert found.target_text(outside) == "outside"
    ends = [one for one in found.transitions if one.symbol == "$"]
    assert all(one.count_a <= 30 for one in ends)


def test_one_row_a_transition_in_texts_frames_and_documents() -> None:
    found = compare(["a", "aa"] * 200, ["a", "aaa"] * 200, model=figure_1())
    assert str(found).count("\n") == 5
    document = found.document()
    assert document["changed"]
    assert [pair["target"] for pair in document["pairs"]] == [1, None]
    assert found.statement.splitlines()[0] in found._repr_html_()
    pytest.importorskip("pandas")
    assert list(found.to_frame()["symbol"]) == ["a", "$"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((figure_1(), figure_1(), figure_1()), "model is for corpora"),
        ((["a"], figure_1(), None), "a is .*not a PDFA"),
        ((["a"], ["a"], "x.json"), "model is 'x.json', not a PDFA"),
        ((["a"], [], figure_1()), "a corpus needs a word"),
    ],
)
def test_wrong_arguments_are_refused(arguments: tuple[Any, Any, Any], message: str) -> None:
    a, b, model = arguments
    with pytest.raises(InputError, match=message):
        compare(a, b, model=model)


def test_a_share_of_false_alarms_is_above_0() -> None:
    with pytest.raises(InputError, match="false_alarms 0"):
        compare(["a"], ["a"], model=figure_1(), false_alarms=0)


def test_sessions_of_one_event_are_not_read_as_characters(tmp_path: Path) -> None:
    usual = PDFA(alphabet=["get", "put"], transitions=[[0, 0]], probabilities=[[0.5, 0.3, 0.2]])
    one, other = tmp_path / "a.txt", tmp_path / "b.txt"
    one.write_text("get\nput\n" * 30)
    other.write_text("get\ndrop\n" * 30)
    found = compare(Corpus(one), Corpus(other), model=usual)
    assert {(one.event, one.kind) for one in found.events} == {("put", "vanished"), ("drop", "new")}


def test_long_events_that_differ_in_the_middle_stay_different() -> None:
    begin, end = "<*> INFO the service of the shop", "of the customer took <*> ms in the end"
    names = [f"{begin} {what} {end}" for what in ("stores", "deletes")]
    a, b = ([[name]] * 50 + [[other]] * 5 for name, other in (names, names[::-1]))
    found = compare(a, b)
    assert len({row[2] for row in found.cells()}) == 2
    assert len({found.event_text(name) for name in names}) == 2


def test_events_beyond_those_that_are_counted_are_one() -> None:
    usual = PDFA(alphabet=["get"], transitions=[[0]], probabilities=[[0.5, 0.5]])
    noise = [("get", f"id {number}") for number in range(10_050)]
    found = compare(noise, [("get",)] * 50, model=usual)
    assert len(found.events) == 10_000
    (outside,) = [one for one in found.transitions if one.symbol is None]
    assert outside.count_a == 10_050
    assert "… 9,980 more" in str(found)
