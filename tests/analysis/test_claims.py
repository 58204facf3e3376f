"""For which models bounds hold: certificates that carry them, and those that do not."""

from __future__ import annotations

import numpy as np
import pytest

from pdfalearn import PDFA, Budget, FunctionModel, Quantization, Tolerance, distill, learn
from pdfalearn.analysis import length_bounds, probability, probability_bounds
from pdfalearn.analysis.bounds import Boxes
from pdfalearn.datasets import figure_3, random_pdfa
from pdfalearn.errors import InputError
from pdfalearn.languages.kinds import HasLength
from pdfalearn.oracles import ExactOracle, PACOracle
from pdfalearn.results.learning_runs import Result
from pdfalearn.samplers import ModelWords, UniformWords
from tests.analysis.test_bounds import rows_in

SHORT = HasLength(most=3)
BY = Quantization(100)


def pac_run(max_length: int, target: PDFA, epsilon: float = 0.05) -> Result:
    model = FunctionModel(target.next_distributions, target.alphabet)
    sampler = ModelWords(max_length)
    oracle = PACOracle(epsilon=epsilon, delta=0.1, sampler=sampler, seed=0)
    return learn(model, equivalence=BY, oracle=oracle)


def blurred(pdfa: PDFA, copies: int, equivalence: Quantization) -> PDFA:
    """Copies of every state, which lead to any of the copies and differ within their class."""
    random, boxes = np.random.default_rng(0), Boxes.of(pdfa, equivalence)
    old = np.tile(np.arange(len(pdfa)), copies)
    shifts = random.integers(copies, size=(len(old), len(pdfa.alphabet)))
    rows = rows_in(boxes.lows[old], boxes.highs[old], random)
    return PDFA(
        alphabet=pdfa.alphabet,
        transitions=pdfa.transitions[old] + shifts * len(pdfa),
        probabilities=(rows + pdfa.probabilities[old]) / 2,
    )


def test_an_exact_run_bounds_its_target() -> None:
    origin = random_pdfa(10, seed=2)
    target = blurred(origin, copies=5, equivalence=Quantization(2))
    result = learn(target, equivalence=Quantization(2))
    assert len(result.pdfa) <= len(origin)
    bounds = probability_bounds(result, SHORT)
    assert bounds.low <= probability(target, SHORT) <= bounds.high
    assert bounds.confidence == 1
    assert bounds.holds_for.startswith("the target")
    plain = probability_bounds(result.pdfa, SHORT, equivalence=Quantization(2))
    assert (plain.low, plain.high) == (bounds.low, bounds.high)
    assert probability_bounds(result, SHORT, equivalence=Quantization(2)) == bounds


def test_the_classes_are_those_of_the_run() -> None:
    result = learn(figure_3(), equivalence=BY)
    with pytest.raises(InputError, match=r"but the run compared answers by Quantization\(kappa=1"):
        probability_bounds(result, SHORT, equivalence=Quantization(1000))


def test_an_exact_run_within_a_tolerance() -> None:
    target = random_pdfa(30, seed=4)
    result = learn(target, equivalence=Tolerance(0.1), learner="lpstar")
    bounds = probability_bounds(result, SHORT)
    assert bounds.low <= probability(target, SHORT) <= bounds.high
    lengths = length_bounds(result)
    assert lengths.low < lengths.high


def test_an_oracle_of_another_relation_proves_nothing() -> None:
    target = random_pdfa(30, seed=4)
    oracle = ExactOracle(target, equivalence=Tolerance(0.5))
    result = learn(target, equivalence=Tolerance(0.1), learner="lpstar", oracle=oracle)
    with pytest.raises(InputError, match=r"but its oracle by Tolerance\(tolerance=0.5\)"):
        probability_bounds(result, SHORT)


def test_pac_for_whole_words_of_the_model() -> None:
    result = pac_run(1000, figure_3())
    assert result.certificate.details["whole_words_of_model"] is True
    bounds = probability_bounds(result, SHORT)
    plain = probability_bounds(result.pdfa, SHORT, equivalence=BY)
    assert (bounds.low, bounds.high) == pytest.approx((plain.low - 0.05, plain.high + 0.05))
    assert bounds.confidence == 0.9
    assert bounds.holds_for == "the model, with probability at least 1 - 0.1"
    given_that = probability_bounds(result, HasLength(most=1), given=SHORT)
    free = probability_bounds(result.pdfa, HasLength(most=1), given=SHORT, equivalence=BY)
    assert given_that.low < free.low < free.high < given_that.high
    with pytest.raises(InputError, match="a PAC certificate leaves a share of words open"):
        length_bounds(result)


def test_coupling_covers_models_that_differ_on_few_words() -> None:
    """A model that always ends after "000" passes the same test if none of its words went there."""
    target = figure_3()
    result = pac_run(1000, target, epsilon=0.3)
    share = target.prefix_probability("000")
    assert share < 0.3
    # P of at most 3 symbols grows by the words that would have gone on after "000".
    longer = share * (1 - target.probabilities[target.state_after("000"), 0])
    bounds = probability_bounds(result, SHORT)
    assert bounds.low <= probability(target, SHORT) + longer <= bounds.high


def test_pac_for_words_that_were_cut_or_are_not_the_models() -> None:
    cut = pac_run(3, figure_3())
    model = FunctionModel(figure_3().next_distributions, figure_3().alphabet)
    oracle = PACOracle(epsilon=0.1, delta=0.1, sampler=UniformWords(5), seed=0)
    for result in (cut, learn(model, equivalence=BY, oracle=oracle)):
        assert result.certificate.kind == "pac"
        with pytest.raises(InputError, match=r"^nothing is claimed: a PAC certificate bounds"):
            probability_bounds(result, SHORT)


@pytest.mark.slow
def test_no_claim_for_what_was_stopped_or_distilled() -> None:
    stopped = learn(random_pdfa(100, seed=1), equivalence=BY, budget=Budget(max_states=3))
    with pytest.raises(InputError, match=r"^nothing is claimed: a bound stopped learning .*its pd"):
        probability_bounds(stopped, SHORT)
    frontier = distill(figure_3(), budget=Budget(max_symbols=2000), seed=1)
    with pytest.raises(InputError, match=r"^nothing is claimed: a distilled automaton is near"):
        length_bounds(frontier)
