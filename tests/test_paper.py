"""Every proposition, corollary and worked example of the paper's section 2."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, Exact, Quantization, Tolerance, distinguish, quotient
from pdfalearn.analysis import reachable_part
from pdfalearn.datasets import figure_1, figure_2, figure_3
from pdfalearn.equivalence import is_weakly_minimal, same_function
from pdfalearn.equivalence.quotients import state_classes
from tests.strategies import KAPPAS, all_words, pdfas
from tests.support import examples


def test_figure_1_maps_a_to_the_n_to_half_to_the_n() -> None:
    pdfa = figure_1()
    assert pdfa.probability("") == 0
    assert [pdfa.probability("a" * n) for n in range(1, 20)] == [0.5**n for n in range(1, 20)]


@pytest.mark.parametrize("epsilon", [0.5, 0.25, 0.1, 0.001, 1e-9])
def test_a_epsilon_is_not_equivalent_to_a(epsilon: float) -> None:
    perturbed = figure_1(epsilon)
    for n in range(1, 8):
        expected = (0.5 - epsilon) ** (n - 1) * (0.5 + epsilon)
        assert perturbed.probability("a" * n) == pytest.approx(expected)
    assert distinguish(figure_1(), perturbed, equivalence=Exact()) == ("a",)


def test_a_epsilon_tends_to_a() -> None:
    gaps = [
        np.abs(figure_1(e).probabilities - figure_1().probabilities).max()
        for e in (0.1, 0.01, 0.001)
    ]
    assert gaps == pytest.approx([0.1, 0.01, 0.001])


@pytest.mark.parametrize("epsilon", [0.0999, 0.05, 1e-6])
def test_a_epsilon_is_equivalent_to_a_at_kappa_5(epsilon: float) -> None:
    assert Quantization(5).intervals(figure_1().probabilities[1]).tolist() == [2, 2]
    assert distinguish(figure_1(), figure_1(epsilon), equivalence=Quantization(5)) is None
    assert distinguish(figure_1(), figure_1(0.1), equivalence=Quantization(5)) == ("a",)


def test_figure_2_same_function_not_equivalent_both_weakly_minimal() -> None:
    a, b = figure_2()
    assert same_function(a, b)  # Corollary 1: the converse does not hold
    assert distinguish(a, b, equivalence=Exact()) is not None
    for pdfa in (a, b):  # Proposition 3: weakly minimal, B with a state too many
        assert is_weakly_minimal(pdfa, equivalence=Exact())
    for n in range(6):
        expected = 0.3 * (0.1 * 0.2) ** (n + 1)
        assert a.probability("ab" * (n + 1)) == pytest.approx(expected)
        assert b.probability("ab" * (n + 1)) == pytest.approx(expected)
    others = [w for w in all_words("ab", 8) if not w or w != "ab" * (len(w) // 2)]
    assert a.word_probabilities(others).max() == b.word_probabilities(others).max() == 0


def test_figure_1_is_weakly_minimal() -> None:
    """Proposition 3: it is minimal, and so weakly minimal."""
    assert is_weakly_minimal(figure_1(), equivalence=Exact())


def test_quantization_vector_of_section_2() -> None:
    assert Quantization(2).intervals([0.1, 0.3, 0.6]).tolist() == [0, 0, 1]


def test_figure_3_distinguishing_words() -> None:
    pdfa = figure_3()
    equivalence = Quantization(10)
    initial, after_0, after_1, after_10 = (pdfa.state_after(w) for w in ("", "0", "1", "10"))
    assert initial is not None
    assert after_0 is not None
    assert after_1 is not None
    assert after_10 is not None
    for other in (after_0, after_1, after_10):
        assert distinguish(pdfa, pdfa, equivalence=equivalence, states=(initial, other)) == ()
    assert Quantization(10).intervals(pdfa.probabilities).tolist() == [
        [0, 5, 5],
        [1, 3, 6],
        [1, 6, 3],
        [1, 3, 6],
    ]
    # π*(1|q_0) = π(q_10) ≠ π(q_1) = π*(1|q_10)
    first = pdfa.next_distribution("1", state=after_0)
    assert first is not None
    assert first.tolist() == pdfa.probabilities[after_10].tolist()
    word = distinguish(pdfa, pdfa, equivalence=equivalence, states=(after_0, after_10))
    assert word is not None
    assert len(word) == 1
    assert len(quotient(pdfa, equivalence=equivalence)) == 4


@examples(150)
@given(pdfas())
def test_proposition_1_congruence(pdfa: PDFA) -> None:
    """Equivalent states have equal distributions and equivalent successors, reachable or not."""
    classes = np.append(state_classes(pdfa, equivalence=Exact()), -1)
    for p in range(len(pdfa)):
        for q in range(len(pdfa)):
            if classes[p] == classes[q]:
                assert pdfa.probabilities[p].tolist() == pdfa.probabilities[q].tolist()
                left, right = classes[pdfa.transitions[p]], classes[pdfa.transitions[q]]
                assert left.tolist() == right.tolist()


@examples(150)
@given(pdfas(max_states=5))
def test_proposition_2_the_quotient_computes_the_same_function(pdfa: PDFA) -> None:
    smaller = quotient(pdfa, equivalence=Exact())
    words = all_words("".join(map(str, pdfa.alphabet)), 4)
    assert np.array_equal(pdfa.word_probabilities(words), smaller.word_probabilities(words))
    assert same_function(pdfa, smaller)


@examples(150)
@given(st.data())
def test_corollary_1_equivalence_implies_the_same_function(data: st.DataObject) -> None:
    a = data.draw(pdfas(max_states=3, alphabet="ab"))
    b = data.draw(pdfas(max_states=3, alphabet="ab"))
    if distinguish(a, b, equivalence=Exact()) is None:
        assert same_function(a, b)


@examples(100)
@given(pdfas(max_states=4, alphabet="ab", allow_undefined=False))
def test_proposition_3_what_is_not_weakly_minimal_is_not_minimal(pdfa: PDFA) -> None:
    """The paper's proof is about reachable states: unreachable ones can be dropped at once."""
    smaller = quotient(pdfa, equivalence=Exact())
    assert same_function(pdfa, smaller)
    if not is_weakly_minimal(pdfa, equivalence=Exact()):
        assert len(smaller) < len(reachable_part(pdfa))


@examples(200)
@given(pdfas(max_states=5), st.sampled_from(KAPPAS), st.data())
def test_proposition_4_equal_at_kappa_means_similar_at_one_over_kappa(
    pdfa: PDFA, kappa: int, data: st.DataObject
) -> None:
    classes = state_classes(pdfa, equivalence=Quantization(kappa))
    p = data.draw(st.integers(0, len(pdfa) - 1))
    for q in np.flatnonzero(classes == classes[p]).tolist():
        assert distinguish(pdfa, pdfa, equivalence=Tolerance(1 / kappa), states=(p, q)) is None


@examples(100)
@given(pdfas(), st.sampled_from(KAPPAS))
def test_the_quotient_at_kappa_is_a_member_of_the_set(pdfa: PDFA, kappa: int) -> None:
    """A/≡_κ holds the κ-equivalent automata with one state a class of the reachable part."""
    equivalence = Quantization(kappa)
    member = quotient(pdfa, equivalence=equivalence)
    assert distinguish(pdfa, member, equivalence=equivalence) is None
    assert len(member) == len(
        np.unique(state_classes(reachable_part(pdfa), equivalence=equivalence))
    )
    assert is_weakly_minimal(member, equivalence=equivalence)
