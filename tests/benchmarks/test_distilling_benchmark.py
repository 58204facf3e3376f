"""The benchmark of distilling: its table, its rivals and its measures, against plain loops."""

from __future__ import annotations

import doctest
from collections import defaultdict
from importlib import import_module
from itertools import pairwise
from math import log
from pathlib import Path

import numpy as np
import pytest

from benchmarks.distilling import __main__ as distilling
from benchmarks.distilling import distilled, networks, rivals, timing
from benchmarks.distilling.alergia import merged
from benchmarks.distilling.answers import Answers, asked
from benchmarks.distilling.black_boxes import BlackBox, NoisyAutomaton, random_target, with_noise
from benchmarks.distilling.kgrams import KGrams
from benchmarks.distilling.measuring import divergence
from benchmarks.distilling.truth import refitted, same_structure, verdict
from pdfalearn import PDFA
from pdfalearn.datasets import reber, tomita
from pdfalearn.errors import InputError
from pdfalearn.testing import check_model
from tests.support import need_module

TARGET = random_target(4, 2, seed=1)
MODULES = ("alergia", "answers", "black_boxes", "curves", "kgrams", "measuring", "rivals", "truth")


@pytest.fixture(scope="module")
def answers() -> Answers:
    return asked(BlackBox(with_noise(TARGET, 0.1, 1)), 500, seed=1)


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str) -> None:
    if name == "alergia":
        need_module("aalpy")
    module = import_module(f"benchmarks.distilling.{name}")
    assert doctest.testmod(module).failed == 0


def prefixes_of_words(answers: Answers) -> list[tuple[tuple[int, ...], int]]:
    """Return every position of every word: the word up to it, and the place of its answer."""
    children = {(int(p), int(s)): i for i, (p, s) in enumerate(_edges(answers))}
    found = []
    for word in answers.words:
        node = 0
        found.append((tuple(word[:0]), node))
        for position, symbol in enumerate(word, 1):
            node = children[node, symbol]
            found.append((tuple(word[:position]), node))
    return found


def _edges(answers: Answers) -> list[tuple[int, int]]:
    return list(zip(answers.parents.tolist(), answers.symbols.tolist(), strict=True))


def test_as_many_prefixes_are_asked_as_may_be(answers: Answers) -> None:
    positions = prefixes_of_words(answers)
    assert len({word for word, _ in positions}) == len(answers) <= 500
    counts = np.bincount([node for _, node in positions])
    assert counts.tolist() == answers.weights.tolist()


def test_a_prefix_more_than_may_be_asked_ends_the_words() -> None:
    model = BlackBox(TARGET)
    sizes = [len(asked(model, most, seed=3)) for most in (50, 100, 200)]
    assert all(most - 60 < size <= most for size, most in zip(sizes, (50, 100, 200), strict=True))


def test_the_divergence_is_that_of_a_loop(answers: Answers) -> None:
    pdfa, total, infinite = tomita(5), 0.0, 0
    rows = pdfa.probabilities.copy()
    rows[1] = [0.5, 0.5, 0.0]
    pdfa = PDFA(alphabet=pdfa.alphabet, transitions=pdfa.transitions, probabilities=rows)
    positions = prefixes_of_words(answers)
    for word, node in positions:
        row = pdfa.next_distribution([pdfa.alphabet.symbols[code] for code in word])
        assert row is not None
        pairs = list(zip(answers.rows[node].tolist(), row.tolist(), strict=True))
        if any(ours > 0 == theirs for ours, theirs in pairs):
            infinite += 1
        else:
            total += sum(ours * log(ours / theirs) for ours, theirs in pairs)
    found = divergence(pdfa, answers)
    assert found.infinite == pytest.approx(infinite / len(positions))
    assert found.mean == pytest.approx(total / (len(positions) - infinite))
    assert 0 < found.infinite < 1
    assert found.total == float("inf")


def test_undefined_words_are_infinitely_far() -> None:
    answers = asked(BlackBox(TARGET), 50, seed=1)
    row = [0.5, 0.5, 0.0]
    only_zeros = PDFA(alphabet="01", transitions=[[0, -1]], probabilities=[row])
    assert divergence(only_zeros, answers).infinite == 1.0


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_kgrams_are_those_of_a_loop(answers: Answers, order: int) -> None:
    """Contexts as tuples, -1 for the beginning; rows are means, and unseen ones fall back."""
    sums: dict[tuple[int, ...], np.ndarray] = defaultdict(lambda: np.zeros(3))
    for word, node in prefixes_of_words(answers):
        for length in range(order + 1):
            sums[_context(word, length)] += answers.rows[node]
    pdfa = KGrams.of(answers, order).automaton(order)
    for symbols in TARGET.sample(200, seed=5, max_length=12).words:
        codes = tuple(pdfa.alphabet.encode(symbols).tolist())
        seen = next(c for k in range(order, -1, -1) if (c := _context(codes, k)) in sums)
        expected = sums[seen] / sums[seen].sum()
        assert pdfa.next_distribution(symbols) == pytest.approx(expected)


def _context(word: tuple[int, ...], length: int) -> tuple[int, ...]:
    marked = (-1, *word)
    return marked[len(marked) - length :] if length < len(marked) else marked


def test_noise_depends_on_the_state_and_the_last_four_symbols() -> None:
    noisy = NoisyAutomaton(12, 2, seed=1)
    truth, pdfa = noisy.truth, with_noise(noisy.truth, 0.1, 1)
    rows: dict[object, tuple[float, ...]] = {}
    for word in truth.sample(300, seed=2).words:
        for end in range(len(word) + 1):
            key = truth.state_after(word[:end]), word[max(0, end - 4) : end], end < 4
            row = tuple(pdfa.next_distributions([word[:end]])[0].tolist())
            assert rows.setdefault(key, row) == row
    assert len(set(rows.values())) == len(rows)


def test_black_boxes_are_good_models() -> None:
    for pdfa in (TARGET, reber()):
        check_model(BlackBox(pdfa))


def renamed(pdfa: PDFA, seed: int) -> PDFA:
    order = np.random.default_rng(seed).permutation(len(pdfa))
    names = np.argsort(order)
    return PDFA(
        alphabet=pdfa.alphabet,
        transitions=np.where(pdfa.transitions < 0, -1, names[pdfa.transitions])[order],
        probabilities=pdfa.probabilities[order],
        initial=int(names[pdfa.initial]),
    )


@pytest.mark.parametrize("seed", range(5))
def test_a_structure_is_the_same_under_other_names_and_not_with_another_edge(seed: int) -> None:
    pdfa = random_target(6, 3, seed=seed)
    assert same_structure(pdfa, renamed(pdfa, seed))
    transitions = pdfa.transitions.copy()
    transitions[2, 1] = (transitions[2, 1] + 1) % 6
    changed = PDFA(
        alphabet=pdfa.alphabet, transitions=transitions, probabilities=pdfa.probabilities
    )
    is_likely = pdfa.probabilities[2, 2] >= 0.01
    assert same_structure(pdfa, changed) == (not is_likely)
    assert same_structure(pdfa, changed, least=1.0)
    assert not same_structure(pdfa, changed, least=0.0)


def test_two_states_for_one_are_not_the_structure() -> None:
    rows = [[0.5, 0.5]]
    one = PDFA(alphabet="a", transitions=[[0]], probabilities=rows)
    two = PDFA(alphabet="a", transitions=[[1], [1]], probabilities=rows * 2)
    assert not same_structure(one, two)
    assert not same_structure(two, one)
    with pytest.raises(InputError, match="alphabets differ"):
        same_structure(one, tomita(1))


def test_rows_are_refitted_and_missing_edges_filled() -> None:
    """A network that has learnt Reber's grammar says a little of everything."""
    truth = reber()
    table = np.where(truth.transitions < 0, 3, truth.transitions)
    leaky = PDFA(
        alphabet=truth.alphabet,
        transitions=table,
        probabilities=0.94 * truth.probabilities + 0.01,
    )
    training, held_out = (asked(BlackBox(leaky), 3000, seed=seed) for seed in (1, 2))
    refit = refitted(truth, training)
    assert refit.probabilities == pytest.approx(leaky.probabilities)
    assert (refit.transitions == table).mean() > 0.8
    found = verdict(truth, refit, training, held_out)
    assert found.same
    assert found.is_counted
    assert found.loss == found.true_loss < 0.01
    worse = verdict(truth, one_state_over(truth), training, held_out)
    assert not worse.same
    assert worse.is_counted
    assert worse.loss > worse.true_loss


def one_state_over(pdfa: PDFA) -> PDFA:
    """Return an automaton of one state over the same symbols."""
    width = len(pdfa.alphabet) + 1
    return PDFA(
        alphabet=pdfa.alphabet,
        transitions=[[0] * (width - 1)],
        probabilities=[[1 / width] * width],
    )


@pytest.mark.slow
def test_alergia_finds_an_automaton_in_many_words() -> None:
    need_module("aalpy")
    truth = tomita(6)
    words = truth.alphabet.encode_words(truth.sample(3000, seed=1, max_length=60).words)
    found = merged(words, 2, 0.05)
    rows = np.full((len(found), 3), 1 / 3)
    table = np.where(found < 0, 0, found)
    candidate = PDFA(alphabet="01", transitions=table, probabilities=rows)
    assert same_structure(truth, candidate)


@pytest.mark.slow
def test_a_table_is_printed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PDFALEARN_CACHE", str(tmp_path))
    monkeypatch.setitem(networks.NETWORKS, "small", lambda: BlackBox(TARGET))
    monkeypatch.setattr(distilled, "FRESH", 500)
    monkeypatch.setattr(rivals, "KAPPAS", (3, 10))
    words = ["small", "--symbols", "300", "--rivals", "k-grams,learn"]
    distilling.main(words)
    first = capsys.readouterr().out
    distilling.main([*words, "--keep"])
    again = capsys.readouterr().out
    table = [line for line in first.splitlines() if line.startswith("|")]
    assert [line.split(" | ")[0] for line in table[2:4]] == ["| k-grams", "| learn"]
    # The curves, and training beside fresh words.
    assert len({line.count("|") for line in table}) == 2
    assert set(table) <= set(again.splitlines())
    assert all(earlier != later for earlier, later in pairwise(table))


def test_an_unknown_network_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        distilling.main(["none"])
    assert "there is no network 'none'; there are phone LSTM" in capsys.readouterr().err


def test_time_is_told_from_that_of_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(timing.CASES, "small", timing.Case(lambda: BlackBox(TARGET), 500, [1, 4]))
    cells = timing.measured("small")
    assert cells[:5] == ["small", 2, 500, 2, 4]
    total, model, beside = np.array(cells[5:8], dtype=float)
    assert 0 < model < total
    assert total == pytest.approx(model + beside)
