"""Quotient and weak minimality, against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, Exact, Quantization, distinguish, quotient
from pdfalearn.analysis import reachable
from pdfalearn.datasets import chain, combination_lock, random_pdfa
from pdfalearn.equivalence import is_weakly_minimal, quotients
from pdfalearn.equivalence.quotients import state_classes
from pdfalearn.equivalence.relations import Equivalence
from tests.strategies import equivalences, pdfas, shuffled
from tests.support import examples


def moore_classes(pdfa: PDFA, equivalence: Equivalence) -> list[int]:
    """Refine as simply as can be: sets of signatures until nothing changes."""
    classes: list[int] = equivalence.classes(pdfa.probabilities).tolist()
    while True:
        signatures = [
            (classes[q], *(classes[p] if p >= 0 else -1 for p in pdfa.transitions[q].tolist()))
            for q in range(len(pdfa))
        ]
        numbers = {signature: i for i, signature in enumerate(dict.fromkeys(signatures))}
        if len(numbers) == len(set(classes)):
            return classes
        classes = [numbers[signature] for signature in signatures]


def same_partition(left: list[int], right: list[int]) -> bool:
    return len(set(left)) == len(set(right)) == len(set(zip(left, right, strict=True)))


@examples(300)
@given(pdfas(), equivalences())
def test_classes_are_those_of_brute_force(pdfa: PDFA, equivalence: Equivalence) -> None:
    assert same_partition(
        state_classes(pdfa, equivalence=equivalence).tolist(), moore_classes(pdfa, equivalence)
    )


@examples(300)
@given(pdfas(), equivalences())
def test_hopcroft_alone_gives_the_same_classes(pdfa: PDFA, equivalence: Equivalence) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quotients, "_ROUNDS", -1)
        classes = state_classes(pdfa, equivalence=equivalence).tolist()
    assert same_partition(classes, moore_classes(pdfa, equivalence))


@pytest.mark.parametrize("rounds", [-1, 1, 3])
@pytest.mark.parametrize(
    "pdfa",
    [
        chain(200),
        chain(150, reset=True),
        combination_lock(120, 3),
        random_pdfa(400, distributions=1, seed=3),
        random_pdfa(400, distributions=2, seed=4),
        random_pdfa(300, 4, distributions=2, zero_probability=0.3, undefined=True, seed=5),
        random_pdfa(200, 1, distributions=2, seed=6),
    ],
    ids=repr,
)
def test_the_hand_over_gives_the_same_classes(
    pdfa: PDFA, rounds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quotients, "_ROUNDS", rounds)
    equivalence = Quantization(1000)
    assert same_partition(
        state_classes(pdfa, equivalence=equivalence).tolist(), moore_classes(pdfa, equivalence)
    )


@examples(200)
@given(pdfas(), equivalences())
def test_quotient_is_idempotent_equivalent_and_weakly_minimal(
    pdfa: PDFA, equivalence: Equivalence
) -> None:
    result = quotient(pdfa, equivalence=equivalence)
    assert quotient(result, equivalence=equivalence) == result
    assert distinguish(pdfa, result, equivalence=equivalence) is None
    assert is_weakly_minimal(result, equivalence=equivalence)
    assert len(result) <= len(reachable(pdfa).states)
    assert is_weakly_minimal(pdfa, equivalence=equivalence) == (
        len(result) == len(reachable(pdfa).states)
    )


@examples(100)
@given(pdfas(), equivalences(), st.randoms(use_true_random=False))
def test_quotient_does_not_depend_on_the_numbering(
    pdfa: PDFA, equivalence: Equivalence, random: object
) -> None:
    order = np.arange(len(pdfa))
    random.shuffle(order)  # type: ignore[attr-defined]
    assert quotient(shuffled(pdfa, order), equivalence=equivalence).transitions.tolist() == (
        quotient(pdfa, equivalence=equivalence).transitions.tolist()
    )


def test_quotient_of_the_exact_relation_keeps_distributions() -> None:
    pdfa = random_pdfa(50, distributions=3, seed=1)
    result = quotient(pdfa, equivalence=Exact())
    rows = {tuple(row) for row in pdfa.probabilities.tolist()}
    assert {tuple(row) for row in result.probabilities.tolist()} == rows


def test_undefined_is_a_class_but_never_a_state() -> None:
    rows = [[0.5, 0.5, 0.0]] * 3
    pdfa = PDFA(alphabet="ab", transitions=[[1, -1], [2, 0], [2, -1]], probabilities=rows)
    # State 0 and 2 agree at first, but b is undefined after 0 and 2, not after 1.
    result = quotient(pdfa, equivalence=Exact())
    assert len(result) == 3
    assert result.transitions.min() == -1


def test_one_state_and_unreachable_states() -> None:
    pdfa = PDFA(alphabet="a", transitions=[[0], [1]], probabilities=[[0.5, 0.5], [0.1, 0.9]])
    assert len(quotient(pdfa, equivalence=Exact())) == 1
    assert is_weakly_minimal(pdfa, equivalence=Exact())


def test_large_alphabet() -> None:
    pdfa = random_pdfa(20, 500, distributions=2, seed=1)
    assert same_partition(
        state_classes(pdfa, equivalence=Exact()).tolist(), moore_classes(pdfa, Exact())
    )


def test_rounds_end_before_they_become_quadratic(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = 0
    one_round = quotients._round

    def counted(*arguments: object) -> object:
        nonlocal looked_at
        looked_at += len(arguments[2])  # type: ignore[arg-type]
        return one_round(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(quotients, "_round", counted)
    assert len(quotient(chain(2000), equivalence=Exact())) == 2000
    assert looked_at <= 20 * 2000
