"""Distilling as a whole: what comes out, for models of all kinds."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest
from scipy.special import rel_entr

from benchmarks.distilling.black_boxes import BlackBox
from benchmarks.distilling.truth import same_structure
from pdfalearn import PDFA, Budget, Corpus, Frontier, FunctionModel, TopK, distill
from pdfalearn.alphabet import Symbol
from pdfalearn.datasets import figure_3, random_pdfa
from pdfalearn.errors import ModelError
from pdfalearn.models import Rows
from pdfalearn.samplers import ModelWords, UniformWords
from tests.distilling.samplers import HELD_OUT, Listed, prefixes
from tests.support import mostly_slow

SMALL = Budget(max_symbols=300)
FEW = [1, 2, 3, 4, 5, 6]


def distributions_after(pdfa: PDFA, words: list[tuple[int, ...]]) -> list[np.ndarray]:
    states = [0] * len(words)
    for place, word in enumerate(words):
        states[place] = pdfa.initial
        for symbol in word:
            assert states[place] >= 0
            states[place] = int(pdfa.transitions[states[place], symbol])
    return [pdfa.probabilities[state] for state in states if state >= 0]


def is_sound(frontier: Frontier) -> bool:
    """Whether the frontier is in order, and all its automata are complete where words go."""
    sizes = [point.states for point in frontier]
    automata = [point.pdfa for point in frontier]
    return (
        sizes == sorted(set(sizes)) == [len(pdfa) for pdfa in automata]
        and all(is_better(frontier, place) for place in range(1, len(frontier)))
        and all(point.low <= point.divergence <= point.high for point in frontier)
        and all((pdfa.transitions[pdfa.probabilities[:, 1:] > 0] >= 0).all() for pdfa in automata)
    )


def is_better(frontier: Frontier, place: int) -> bool:
    """Whether a point is better than all smaller ones, in training or on the held-out words."""
    losses = frontier.kept_losses.sum(axis=1) + 20 * frontier.kept_infinite.sum(axis=1)
    training = [point.training_divergence for point in frontier]
    return bool(losses[place] < losses[:place].min() or training[place] < min(training[:place]))


@pytest.mark.slow
def test_same_seed_same_frontier() -> None:
    model = BlackBox(random_pdfa(5, 2, seed=1))
    first, again, other = (distill(model, budget=SMALL, sizes=FEW, seed=s) for s in (1, 1, 2))
    assert first == again == pickle.loads(pickle.dumps(first))  # noqa: S301
    assert hash(first) == hash(again)
    assert first != other
    assert is_sound(first)


def test_an_automaton_comes_out_of_an_automaton() -> None:
    frontier = distill(figure_3(), budget=Budget(max_symbols=1000), sizes=FEW, seed=1)
    assert frontier.knee == len(frontier.best) == 4
    assert same_structure(figure_3(), frontier.best)
    assert frontier.point(4).divergence < 1e-6 < frontier.point(3).divergence
    assert frontier.at_most(100) == frontier.points[-1].pdfa
    assert frontier.sizes == tuple(FEW)
    lines = frontier.table().splitlines()
    assert len(lines) == 3 + len(frontier)
    assert lines[-1].startswith("answers of best are exact of the automaton of 4 states, whose")
    assert lines[-1].endswith("explore asks the model itself")
    assert [line.endswith("best, knee") for line in lines].count(True) == 1
    # What is small is not written as 0, and columns stay as wide.
    shown = [line.split()[1:4] for line in lines[1:-2]]
    for texts, point in zip(shown, frontier, strict=True):
        values = (point.divergence, point.low, point.high)
        assert [float(text) for text in texts] == pytest.approx(values, rel=0.06, abs=5e-6)
        assert [text == "0.00000" for text in texts] == [value == 0 for value in values]
        assert {len(text) for text in texts} == {7}


def test_a_function() -> None:
    def rows(words: list[tuple[Symbol, ...]]) -> list[list[float]]:
        return [[0.2, 0.2, 0.6] if len(word) % 2 else [0.1, 0.8, 0.1] for word in words]

    frontier = distill(FunctionModel(rows, "ab"), budget=SMALL, sizes=FEW)
    assert frontier.knee == len(frontier.best) == 2
    assert frontier.best.next_distribution("aba") == pytest.approx([0.2, 0.2, 0.6], abs=1e-4)


@pytest.mark.parametrize("where", ["training", "held-out"])
def test_nothing_is_learnt_from_words_that_are_held_out(where: str) -> None:
    def rows(words: list[tuple[Symbol, ...]]) -> list[list[float]]:
        # The symbol b has probability 0 until a sampler puts it in: no question leads there.
        return [[0.7, 0.1, 0.2] if "b" in word else [0.2, 0.8, 0.0] for word in words]

    special = (HELD_OUT - 1) if where == "held-out" else 0
    words = ["bab" if place == special else "a" * place for place in range(HELD_OUT)]
    sampler = Listed(words)
    frontier = distill(FunctionModel(rows, "ab"), budget=SMALL, sampler=sampler, sizes=[1])
    (point,) = frontier
    is_learnt = where == "training"
    assert (point.training_divergence > 1e-6) is is_learnt
    assert (point.infinite_share > 0) is not is_learnt
    # When all is measured, the rows get all answers.
    assert point.pdfa.probabilities[0, 2] > 0
    assert "refitted on all answers" in str(frontier.certificate)


def test_what_is_counted_in_the_certificate() -> None:
    target = random_pdfa(5, 2, seed=4)
    sampler = Listed(target.sample(5000, seed=1, max_length=30).words)
    frontier = distill(BlackBox(target), budget=SMALL, sampler=sampler, sizes=FEW)
    details = frontier.certificate.details
    count = details["words_drawn"]
    assert isinstance(count, int)
    drawn = sampler.drawn[:count]
    held = [word for place, word in enumerate(drawn) if (place + 1) % HELD_OUT == 0]
    assert details["held_out_words"] == len(held) == len(frontier.kept_lengths)
    assert details["held_out_positions"] == len(prefixes(held)) == frontier.kept_lengths.sum()
    assert details["training_positions"] == len(prefixes(drawn)) - len(prefixes(held))
    assert details["words"] == "words of a list"
    assert details["words_cut"] == 0


def test_figures_on_prefixes_that_nothing_was_learnt_from() -> None:
    target = random_pdfa(5, 2, seed=4)
    sampler = Listed(target.sample(5000, seed=1, max_length=10).words)
    budget = Budget(max_symbols=150)
    frontier = distill(BlackBox(target), budget=budget, sampler=sampler, sizes=[1], audit=0)
    (point,), details = frontier.points, frontier.certificate.details
    count = int(str(details["words_drawn"]))
    held = sampler.drawn[HELD_OUT - 1 : count : HELD_OUT]
    learnt = {*prefixes([word for n, word in enumerate(sampler.drawn[:count]) if n % 4 != 3])}
    unseen = [prefix for prefix in prefixes(held) if prefix not in learnt]
    assert 0 < int(str(details["unseen_positions"])) == len(unseen) < len(prefixes(held))
    row = np.mean(distributions_after(target, prefixes(sampler.training[: count - len(held)])), 0)
    answers = distributions_after(target, unseen)
    expected = np.mean([rel_entr(answer, row).sum() for answer in answers])
    # Answers to questions are in the row too, with little weight.
    assert point.unseen_divergence == pytest.approx(expected, rel=0.05)
    assert details["unseen_divergence"] == point.unseen_divergence != point.divergence


def test_the_point_of_one_state_is_the_mean_of_the_answers() -> None:
    target = random_pdfa(5, 2, seed=4)
    words = target.sample(40, seed=1, max_length=10).words
    frontier = distill(BlackBox(target), budget=SMALL, sampler=Listed(words), sizes=[1])
    held = frontier.points[0].pdfa.probabilities[0]
    assert held.sum() == pytest.approx(1)
    assert held == pytest.approx(
        np.mean(distributions_after(target, prefixes(encoded(target, words))), axis=0), abs=0.08
    )


def encoded(pdfa: PDFA, words: list[tuple[Symbol, ...]]) -> list[tuple[int, ...]]:
    return [tuple(codes) for codes in pdfa.alphabet.encode_words(words)]


@pytest.mark.parametrize("seed", mostly_slow(range(3), 2))
def test_zeros_and_undefined_transitions(seed: int) -> None:
    target = random_pdfa(12, 3, zero_probability=0.4, undefined=True, seed=seed + 1)
    sampler = Listed(target.sample(5000, seed=1, max_length=12).words)
    frontier = distill(BlackBox(target), budget=SMALL, sampler=sampler, sizes=[*FEW, 20])
    assert is_sound(frontier)
    count = frontier.certificate.details["words_drawn"]
    assert isinstance(count, int)
    learnt = sorted(set(prefixes(sampler.training[: count * (HELD_OUT - 1) // HELD_OUT])))
    truth = distributions_after(target, learnt)
    for point in frontier:
        found = distributions_after(point.pdfa, learnt)
        assert all((row[true > 0] > 0).all() for row, true in zip(found, truth, strict=True))
    for pdfa in (point.pdfa for point in frontier if point.states > 1):
        assert pdfa.transitions.min() >= -1
        assert pdfa.transitions.max() < len(pdfa)


def test_a_corpus() -> None:
    corpus = Corpus(["01", "001", "0", "", "11"])
    frontier = distill(figure_3(), budget=SMALL, sampler=corpus, sizes=FEW)
    assert "words of a corpus of 5" in str(frontier.certificate)
    assert frontier.certificate.details["held_out_positions"] > 0  # type: ignore[operator]
    assert is_sound(frontier)


def test_uniform_words() -> None:
    frontier = distill(figure_3(), budget=SMALL, sampler=UniformWords(6), sizes=FEW)
    assert frontier.certificate.details["words_cut"] == 0
    assert frontier.knee == 4


def test_a_model_that_never_ends() -> None:
    endless = PDFA(
        alphabet="ab", transitions=[[1, 0], [0, 1]], probabilities=[[0, 0.9, 0.1], [0, 0.2, 0.8]]
    )
    frontier = distill(endless, budget=Budget(max_symbols=1500), sizes=FEW)
    assert frontier.knee == 2
    assert same_structure(endless, frontier.best)
    details = frontier.certificate.details
    assert details["words_cut"] == details["words_drawn"]
    assert "words were cut" in str(frontier.certificate)
    assert all((point.pdfa.probabilities[:, 0] == 0).all() for point in frontier)


@pytest.mark.parametrize("sizes", [None, [1, 2, 3, 4]])
def test_a_model_with_a_single_word(sizes: list[int] | None) -> None:
    word = PDFA(
        alphabet="ab",
        transitions=[[1, -1], [-1, 2], [-1, -1]],
        probabilities=[[0, 1, 0], [0, 0, 1], [1, 0, 0]],
    )
    frontier = distill(word, budget=SMALL, sizes=sizes)
    assert is_sound(frontier)
    assert frontier.model_perplexity == pytest.approx(1)
    assert same_structure(word, frontier.best)
    assert frontier.best.probability("ab") == pytest.approx(1)
    assert frontier.point(3).divergence == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("end", [1.0, 0.5, 0.01])
def test_one_symbol_and_one_state(end: float) -> None:
    one = PDFA(alphabet="a", transitions=[[0]], probabilities=[[end, 1 - end]])
    frontier = distill(one, budget=SMALL)
    assert len(frontier) == len(frontier.best) == 1
    assert frontier.best.probabilities[0] == pytest.approx([end, 1 - end])
    assert frontier.knee is None


WIDE = 50_000


def wide_model(rest: float = 0.0) -> FunctionModel:
    """A model of many symbols, few of them likely; two states: even and odd sums."""

    def rows(words: list[tuple[Symbol, ...]]) -> Rows:
        states = [sum(word) % 2 for word in words]  # type: ignore[arg-type]
        columns = [column for state in states for column in (0, 1 + state, 40_000, 40_003)]
        values = [0.2 - rest, 0.3, 0.4, 0.1] * len(words)
        offsets = np.arange(0, 4 * len(words) + 1, 4)
        rests = np.full(len(words), rest) if rest else None
        return Rows.sparse(WIDE + 1, offsets, columns, values, rest=rests)

    return FunctionModel(rows, range(WIDE))


@pytest.mark.slow
def test_many_symbols() -> None:
    model, budget = TopK(wide_model(), 4), Budget(max_symbols=60)
    tracemalloc.start()
    try:
        frontier = distill(model, budget=budget, sizes=[1, 2, 3])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert frontier.point(2).divergence < 0.01
    assert frontier.point(2).pdfa.probabilities.shape == (2, WIDE + 1)
    assert frontier.point(2).infinite_share == 0
    assert peak < 200e6  # bytes: a few automata of twenty states, with dense rows


@pytest.mark.parametrize("words", [None, Corpus([[39_999]]), ModelWords(5)])
def test_answers_that_do_not_list_all_are_refused(words: Corpus | ModelWords | None) -> None:
    with pytest.raises(ModelError, match=r"answer to the word \(.*\) .* wrap the model in TopK"):
        distill(wide_model(rest=0.05), budget=SMALL, sampler=words)
