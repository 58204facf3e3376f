"""WL*: what comes out, its limits and thresholds, and where similarity leads it astray."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import assume, given
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from pdfalearn import PDFA, Result, Tolerance, learn
from pdfalearn.datasets import figure_3, random_pdfa, tomita
from pdfalearn.errors import LearningError, MissingExtraError
from pdfalearn.learners import WLStar
from pdfalearn.learners._clusters import WeissClusters, _dbscan
from pdfalearn.models import AutomatonModel
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.oracles import ExactOracle, WeissOracle
from tests.learners.tables import (
    are_separated,
    assert_is_exact_quotient,
    is_within,
    near_target,
    tolerances,
)
from tests.strategies import pdfas
from tests.support import examples, mostly_slow, need_module

TARGETS = [figure_3(), *(tomita(number) for number in range(1, 8))]


@pytest.fixture(autouse=True)
def _needs_scikit_learn(request: pytest.FixtureRequest) -> None:
    if "without" not in request.node.name:
        need_module("sklearn")


def wlstar(target: PDFA, equivalence: Tolerance, **limits: float) -> Result:
    def made(observations: ObservationTree) -> WLStar:
        return WLStar(observations, **limits)  # type: ignore[arg-type]

    return learn(target, learner=made, equivalence=equivalence, audit=0)


@pytest.mark.parametrize(
    "target", mostly_slow(TARGETS), ids=["figure 3", *(f"tomita {n}" for n in range(1, 8))]
)
def test_figure_3_and_the_tomita_grammars(target: PDFA) -> None:
    equivalence = Tolerance(0.1)
    assert_is_exact_quotient(learn(target, learner="wlstar", equivalence=equivalence).pdfa, target)
    for seed in range(3):
        oracle = WeissOracle(attempts=500, max_length=50, seed=seed)
        result = learn(target, learner="wlstar", equivalence=equivalence, oracle=oracle)
        assert_is_exact_quotient(result.pdfa, target)
        assert result.certificate.kind == "tested"


@examples(40)
@given(pdfas(), tolerances())
def test_where_the_tolerance_separates_all_states_the_quotient_is_learnt(
    target: PDFA, equivalence: Tolerance
) -> None:
    assume(are_separated(target, equivalence))
    assert_is_exact_quotient(wlstar(target, equivalence).pdfa, target)


@pytest.mark.slow
def test_targets_whose_distributions_are_near_to_one_another() -> None:
    for seed in range(40):
        target = near_target(np.random.default_rng(seed), undefined=bool(seed % 2))
        equivalence = Tolerance([0.05, 0.1, 0.2][seed % 3])
        assert is_within(wlstar(target, equivalence).pdfa, target, equivalence), seed


@pytest.mark.parametrize(
    ("limits", "bound"),
    [
        ({"max_prefixes": 7}, "max_prefixes"),
        ({"max_states": 5}, "max_states"),
        ({"max_suffixes": 3}, "max_suffixes"),
        ({"max_seconds": 0.0}, "max_seconds"),
    ],
)
def test_limits_end_learning_with_the_best_match(limits: dict[str, float], bound: str) -> None:
    target = random_pdfa(30, distributions=4, seed=1)
    result = wlstar(target, Tolerance(0.01), **limits)
    assert result.certificate.kind == "stopped"
    assert result.certificate.details["bound"] == bound
    assert result.certificate.details["limit"] == limits[bound]
    assert (result.pdfa.transitions >= 0).all()
    if bound == "max_prefixes":
        assert len(result.pdfa) <= 7
        assert result.certificate.details["unresolved"]


def test_limits_that_are_not_reached_change_nothing() -> None:
    target = random_pdfa(30, distributions=4, seed=1)
    free = wlstar(target, Tolerance(0.01))
    bounded = wlstar(
        target,
        Tolerance(0.01),
        max_prefixes=1000,
        max_suffixes=100,
        max_states=1000,
        max_seconds=1e6,
    )
    assert bounded.pdfa == free.pdfa
    assert_is_exact_quotient(free.pdfa, target)


RARE = PDFA(
    alphabet="ab",
    transitions=[[0, 1], [1, 1]],
    probabilities=[[0.3, 0.68, 0.02], [0.9, 0.05, 0.05]],
)


def test_continuations_by_an_improbable_symbol_are_left_out() -> None:
    assert len(wlstar(RARE, Tolerance(0.1), prefix_threshold=0.02).pdfa) == 2
    learner = learner_of(RARE, prefix_threshold=0.021)
    learner.start()
    assert learner.hypothesis().transitions.tolist() == [[0, 0]]
    assert learner.unresolved().tolist() == [1]


def learner_of(target: PDFA, **limits: float) -> WLStar:
    observations = ObservationTree(AutomatonModel(target), Tolerance(0.1))
    return WLStar(observations, **limits)  # type: ignore[arg-type]


def test_improbable_suffixes_are_not_added() -> None:
    """In Figure 3, "10" and "11" tell 0 from 01: 0.36 probable after one, 0.18 after the other."""
    for threshold, width in ((0.0, 4), (0.18, 4), (0.19, 3)):
        learner = learner_of(figure_3(), suffix_threshold=threshold)
        learner.start()
        words = ExactOracle(figure_3(), equivalence=Tolerance(0.1)).counterexamples(
            learner.hypothesis()
        )
        learner.refine(words)
        assert learner.table.width == width
    assert learner.table.suffix(2) == ("1",)


def test_probabilities_of_suffixes_are_those_of_all_their_symbols() -> None:
    target = random_pdfa(8, 2, zero_probability=0.3, undefined=True, seed=1)
    learner = learner_of(target)
    learner.start()
    learner.table.add_suffixes([(0, 1), (1, 0)])
    learner.table.add_suffixes([(1, 3)])
    symbols, suffixes = np.divmod(np.arange(2 * learner.table.width), learner.table.width)
    for place, node in enumerate(learner.table.nodes.tolist()):
        state = target.state_after(learner.observations.word(node))
        for symbol, suffix, probability in zip(
            symbols.tolist(),
            suffixes.tolist(),
            learner.table.suffix_probabilities(place, symbols, suffixes).tolist(),
            strict=True,
        ):
            word = (target.alphabet.symbols[symbol], *learner.table.suffix(suffix))
            is_whole = word[-1] == target.terminal
            expected = (
                target.probability(word[:-1], state=state)
                if is_whole
                else target.prefix_probability(word, state=state)
            )
            assert probability == pytest.approx(expected, rel=1e-12, abs=0)


# Every two of these states are similar to a third one.
CIRCLE = PDFA(
    alphabet="ab",
    transitions=[[1, 3], [0, 4], [1, 0], [1, 2], [3, 1]],
    probabilities=[
        [0.45, 0.4, 0.15],
        [0.4, 0.4, 0.2],
        [0.25, 0.25, 0.5],
        [0.25, 0.45, 0.3],
        [0.4, 0.25, 0.35],
    ],
)


@pytest.mark.slow
def test_a_table_that_goes_round_in_circles_is_noticed() -> None:
    with pytest.raises(LearningError, match=r"50 counterexamples in a row.* t=0\.3 is not trans"):
        learn(CIRCLE, learner="wlstar", equivalence=Tolerance(0.3))
    equivalence = Tolerance(0.3)
    assert is_within(
        learn(CIRCLE, learner="lpstar", equivalence=equivalence).pdfa, CIRCLE, equivalence
    )
    assert_is_exact_quotient(
        learn(CIRCLE, learner="wlstar", equivalence=Tolerance(0.01)).pdfa, CIRCLE
    )


def test_dbscan_joins_what_chains_of_similar_rows_connect() -> None:
    random = np.random.default_rng(3)
    for equivalence in (Tolerance(0), Tolerance(0.05), Tolerance(0.1), Tolerance(1)):
        rows = random.integers(0, 21, (40, 3)) / 20
        similar = np.array([equivalence.similar(rows, row) for row in rows])
        _, expected = connected_components(csr_array(similar))
        assert _partition(_dbscan(rows, equivalence)) == _partition(expected)


def _partition(labels: NDArray[np.integer]) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)}


@pytest.mark.slow
def test_clusters_are_similar_within_and_agree_on_successors() -> None:
    random = np.random.default_rng(7)
    for _ in range(100):
        count, equivalence = (
            int(random.integers(1, 25)),
            Tolerance(float(random.choice([0, 0.1, 0.3]))),
        )
        rows = random.integers(0, 11, (count, 2)) / 10
        children = random.integers(-1, count, (count, 2))
        clusters = WeissClusters(rows, children, equivalence)
        firsts = clusters.first_members()
        assert [clusters.of.tolist().index(number) for number in range(len(firsts))] == (
            firsts.tolist()
        )
        for number in range(len(firsts)):
            members = clusters.members(number)
            assert all(equivalence.similar(rows[members], rows[member]).all() for member in members)
            for symbol in range(2):
                known = children[members, symbol]
                assert len(np.unique(clusters.of[known[known >= 0]])) <= 1


def test_the_best_match() -> None:
    rows = np.array([[0.0], [0.5], [0.6]])
    children = np.array([[-1], [-1], [-1]])
    clusters = WeissClusters(rows, children, Tolerance(0.1))
    assert clusters.of.tolist() == [0, 1, 1]
    assert clusters.best_match(np.array([0.55]), range(2)) == (1, True)
    assert clusters.best_match(np.array([0.7]), range(2)) == (1, False)
    assert clusters.best_match(np.array([0.3]), range(2)) == (0, False)


def test_without_scikit_learn_a_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.cluster", None)
    with pytest.raises(MissingExtraError, match=r"pip install scikit-learn$"):
        learn(figure_3(), learner="wlstar", equivalence=Tolerance(0.1))
