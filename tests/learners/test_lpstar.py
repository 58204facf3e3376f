"""L_p*: what comes out, what the table is like, and where similarity could lead it astray."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from numpy.typing import NDArray

from pdfalearn import PDFA, Exact, Tolerance, learn, quotient
from pdfalearn.datasets import chain, combination_lock, figure_3, random_pdfa, tomita
from pdfalearn.errors import LearningError
from pdfalearn.learners import LPStar
from pdfalearn.models import AutomatonModel
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.oracles import ExactOracle
from pdfalearn.typing import Integers
from tests.learners.families import FAMILIES, drawn
from tests.learners.rounds import hypotheses
from tests.learners.tables import (
    are_separated,
    assert_is_exact_quotient,
    is_within,
    near_target,
    tolerances,
)
from tests.strategies import pdfas
from tests.support import examples, mostly_slow


def learner_of(target: PDFA, equivalence: Tolerance) -> LPStar:
    return LPStar(ObservationTree(AutomatonModel(target), equivalence))


def lpstar(target: PDFA, equivalence: Tolerance) -> PDFA:
    return learn(target, learner="lpstar", equivalence=equivalence, audit=0).pdfa


@examples(80)
@given(pdfas(), tolerances())
def test_every_distribution_is_within_the_tolerance(target: PDFA, equivalence: Tolerance) -> None:
    learnt = lpstar(target, equivalence)
    assert is_within(learnt, target, equivalence)
    assert len(learnt) <= len(quotient(target, equivalence=Exact()))


@examples(80)
@given(pdfas(), tolerances())
def test_where_the_tolerance_separates_all_states_the_quotient_is_learnt(
    target: PDFA, equivalence: Tolerance
) -> None:
    assume(are_separated(target, equivalence))
    assert_is_exact_quotient(lpstar(target, equivalence), target)


@pytest.mark.slow
@pytest.mark.parametrize("tolerance", [0.05, 0.1, 0.2, 0.3])
def test_targets_whose_distributions_are_near_to_one_another(tolerance: float) -> None:
    equivalence = Tolerance(tolerance)
    for seed in range(60):
        target = near_target(np.random.default_rng(seed), undefined=bool(seed % 2))
        assert is_within(lpstar(target, equivalence), target, equivalence), seed


@pytest.mark.parametrize("family", mostly_slow(FAMILIES))
def test_targets_of_every_kind(family: str) -> None:
    equivalence = Tolerance(1e-4)
    for seed in range(30):
        target, _ = drawn(family, 25, seed)
        assert is_within(lpstar(target, equivalence), target, equivalence), seed


@pytest.mark.parametrize(
    "target",
    [chain(30), chain(30, reset=True), combination_lock(15, 3), figure_3(), tomita(3)],
    ids=repr,
)
def test_named_targets(target: PDFA) -> None:
    assert_is_exact_quotient(lpstar(target, Tolerance(0.05)), target)


def assert_closed_and_consistent(learner: LPStar) -> None:
    """Check by comparing every row with every other."""
    rows, red, similar = learner.table.rows, learner._red, learner.equivalence.similar
    for place in range(len(learner.table)):
        assert similar(rows[red], rows[place]).any()
    for left, successors in zip(red.tolist(), learner._successors, strict=True):
        for right, others in zip(red.tolist(), learner._successors, strict=True):
            if similar(rows[left], rows[right]):
                assert similar(rows[successors], rows[others]).all()
            if np.array_equal(rows[left], rows[right]):
                assert np.array_equal(rows[successors], rows[others])


@pytest.mark.parametrize("tolerance", mostly_slow([0.001, 0.1, 0.3]))
def test_the_table_is_closed_and_consistent_in_every_round(tolerance: float) -> None:
    equivalence = Tolerance(tolerance)
    for seed in range(15):
        target = near_target(np.random.default_rng(seed), undefined=bool(seed % 2))
        learner = learner_of(target, equivalence)
        rows = 0
        for hypothesis in hypotheses(learner, ExactOracle(target, equivalence=equivalence)):
            assert_closed_and_consistent(learner)
            words = learner.findings().access_words.decoded(target.alphabet)
            assert hypothesis.states_after(words).tolist() == list(range(len(hypothesis)))
            progress = len(np.unique(learner.table.numbers())) + learner.table.width
            assert progress > rows, "a counterexample has taught nothing"
            rows = progress


def test_rows_of_red_prefixes_are_kept_apart_by_few_suffixes() -> None:
    target = random_pdfa(300, seed=5)
    learner = learner_of(target, Tolerance(0.1))
    for _ in hypotheses(learner, ExactOracle(target, equivalence=Tolerance(0.1))):
        pass
    assert learner.table.width < 20
    assert learner.findings().structure_size == len(learner.table) * learner.table.width


# After "a" and after "b" the same, then different only at the terminal: 0.4 and 0.25.
ENDING = PDFA(
    alphabet="ab",
    transitions=[[1, 2], [3, 0], [4, 0], [0, 0], [0, 0]],
    probabilities=[
        [0.6, 0.2, 0.2],
        [0.1, 0.45, 0.45],
        [0.1, 0.45, 0.45],
        [0.4, 0.3, 0.3],
        [0.25, 0.375, 0.375],
    ],
)


def test_words_without_the_terminal_never_make_the_table_consistent() -> None:
    """The paper prints {$} ∪ Σ⁺ as the suffixes; they are Σ*·Σ_$."""
    learner = learner_of(ENDING, Tolerance(0.1))
    learner.start()
    node_b = learner.observations.nodes.step_one(0, 1)
    learner._make_red(learner._add_path(learner.observations.nodes.step_one(node_b, 0)))
    table = learner.table
    longest = [1, 2]  # the suffixes "a" and "b"
    for _ in range(6):
        new = [(symbol, suffix) for symbol in (0, 1) for suffix in longest]
        longest = list(range(table.width, table.width + len(new)))
        table.add_suffixes(new)
        (wanted,) = learner._separating_suffixes()
        assert (wanted[0], table.suffix(wanted[1])) == (0, ("$",))
    table.add_suffixes([wanted])
    assert not learner._separating_suffixes()


def test_words_with_the_terminal_do() -> None:
    assert_is_exact_quotient(lpstar(ENDING, Tolerance(0.1)), ENDING)


class AsPrinted(LPStar):
    """Consistent as in the paper: of equal rows, too, successors need only be similar."""

    def _alike(self) -> tuple[Integers, NDArray[np.float64]]:
        pairs, _ = super()._alike()
        return pairs, np.full(len(pairs), self.equivalence.limit)


# The third and the fifth state have the same distribution, and successors that are similar but not
# the same: as long as the two are one row, the hypothesis can follow only one of them.
CIRCLE = PDFA(
    alphabet="abc",
    transitions=[[4, 2, 2], [3, 0, 1], [4, 3, 2], [3, 4, 0], [0, 4, 0]],
    probabilities=[
        [0.3, 0.15, 0.15, 0.4],
        [0.05, 0.25, 0.4, 0.3],
        [0.2, 0.2, 0.1, 0.5],
        [0.15, 0.3, 0.15, 0.4],
        [0.2, 0.2, 0.1, 0.5],
    ],
)


def test_with_similar_successors_alone_the_table_goes_round_in_circles() -> None:
    with pytest.raises(LearningError, match=r"in circles: .* t=0\.1 is not transitive; try a sma"):
        learn(CIRCLE, learner=AsPrinted, equivalence=Tolerance(0.1))


def test_with_equal_successors_of_equal_rows_it_does_not() -> None:
    assert is_within(lpstar(CIRCLE, Tolerance(0.1)), CIRCLE, Tolerance(0.1))
