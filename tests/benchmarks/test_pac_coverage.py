"""The PAC promise holds on targets made to break it, and would not with fewer words."""

from __future__ import annotations

import pytest

from benchmarks import pac_coverage
from benchmarks.pac_coverage import DELTA, TenthOracle, drawn_target, error_of, outcomes_of
from pdfalearn import PDFA, quotient
from pdfalearn.equivalence.relations import Equivalence
from pdfalearn.models import AutomatonModel
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.oracles import PACOracle
from pdfalearn.samplers import UniformWords
from tests.learners.checks import label_after
from tests.strategies import all_words
from tests.support import many

RUNS = many(1000)


@pytest.mark.slow
def test_the_promise_is_kept() -> None:
    assert pac_coverage.share_above(outcomes_of(PACOracle, RUNS)) <= DELTA


@pytest.mark.slow
def test_it_would_be_broken_with_a_tenth_of_the_words() -> None:
    assert pac_coverage.share_above(outcomes_of(TenthOracle, RUNS)) > DELTA


def one_state(target: PDFA) -> PDFA:
    """What is learnt when every fault is missed."""
    return PDFA(
        alphabet=target.alphabet,
        transitions=[[0] * len(target.alphabet)],
        probabilities=target.probabilities[-1:],
    )


@pytest.mark.parametrize("seed", range(40))
def test_every_fault_is_worth_finding(seed: int) -> None:
    target, max_length = drawn_target(seed)
    faults = 1 + seed % 2
    error = error_of(one_state(target), target, max_length)
    assert faults * 0.11 <= error + 1e-12
    assert error - 1e-12 <= faults * 0.15
    learnt = quotient(target, equivalence=pac_coverage.BY)
    assert error_of(learnt, target, max_length) == pytest.approx(0, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 5])
def test_errors_are_those_of_counting_words(seed: int) -> None:
    target, _ = drawn_target(seed)
    equivalence: Equivalence = pac_coverage.BY
    learnt = one_state(target)
    symbols = "".join(map(str, target.alphabet))
    shares = []
    for length in range(5):
        words = [tuple(word) for word in all_words(symbols, length) if len(word) == length]
        wrong = [
            word
            for word in words
            if any(
                label_after(target, word[:end], equivalence)
                != label_after(learnt, word[:end], equivalence)
                for end in range(length + 1)
            )
        ]
        shares.append(len(wrong) / len(words))
    assert error_of(learnt, target, 4) == pytest.approx(sum(shares) / 5)


def test_a_tenth_is_a_tenth() -> None:
    asked = PACOracle(epsilon=0.1, delta=0.1, sampler=UniformWords(3))
    tenth = TenthOracle(epsilon=0.1, delta=0.1, sampler=UniformWords(3))
    target, _ = drawn_target(0)
    for oracle in (asked, tenth):
        oracle.counterexamples(target, ObservationTree(AutomatonModel(target), pac_coverage.BY))
    assert asked.certificate.details["words"] == 30
    assert tenth.certificate.details["words"] == 3


def test_the_table_is_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pac_coverage, "RUNS", 5)
    pac_coverage.main()
    lines = capsys.readouterr().out.strip().splitlines()
    assert len(lines) == 4
    assert {line.count("|") for line in lines} == {7}
