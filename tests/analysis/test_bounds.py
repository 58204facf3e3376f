"""Sound bounds: no model inside the classes is outside of them, and some are at their ends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pdfalearn import PDFA, Exact, Quantization, Tolerance
from pdfalearn.analysis import length_bounds, probability, probability_bounds
from pdfalearn.analysis.bounds import Boxes
from pdfalearn.analysis.probabilities import Product
from pdfalearn.chains.flows import Flow
from pdfalearn.datasets import chain, figure_3, random_pdfa
from pdfalearn.equivalence import Rounded
from pdfalearn.errors import InputError
from pdfalearn.languages import DFA
from pdfalearn.languages.kinds import (
    BeginsWith,
    Contains,
    HasLength,
    LanguageLike,
    Not,
    language_dfa,
)
from tests.strategies import pdfas
from tests.support import examples

Floats = NDArray[np.float64]
MODELS = 500
DEPTH = 5


def rows_in(lows: Floats, highs: Floats, random: np.random.Generator) -> Floats:
    """Random distributions in boxes, many at an end: filled up in two random orders, and mixed."""
    mixed = np.zeros(lows.shape)
    share = random.choice([0.0, 1.0, random.random()], size=(*lows.shape[:-1], 1))
    for part in (share, 1 - share):
        order = np.argsort(random.random(lows.shape), axis=-1)
        slack = np.take_along_axis(highs - lows, order, axis=-1)
        room = 1 - lows.sum(axis=-1, keepdims=True)
        filled = np.clip(room - (np.cumsum(slack, axis=-1) - slack), 0, slack)
        row = lows.copy()
        np.put_along_axis(row, order, np.take_along_axis(lows, order, axis=-1) + filled, axis=-1)
        mixed += part * row
    return mixed


def values_of_models(pdfa: PDFA, dfa: DFA, equivalence: Quantization, seed: int) -> Floats:
    """The probability of a language in random models: trees of rows, each word with its own.

    After words of some length each model goes on as the automaton does, so that nothing is left
    out.
    """
    random, boxes = np.random.default_rng(seed), Boxes.of(pdfa, equivalence)
    product = Product.of(pdfa, dfa, followed=boxes.highs[:, 1:] > 0)
    walk, flow = product.walk, product.flow
    used = flow.weights > 0
    edges = flow.sources[used], flow.successors[used], flow.weights[used]
    later = np.append(Flow(*edges, flow.leaving).values(product.successes), 0.0)  # -1: lost
    moves = np.full((len(product) + 1, len(pdfa.alphabet)), -1)
    moves[walk.sources, walk.symbols] = walk.successors
    places = np.zeros((MODELS, 1), dtype=np.int64)
    masses, found = np.ones((MODELS, 1)), np.zeros(MODELS)
    for _ in range(DEPTH):
        states = walk.lefts[places]
        rows = rows_in(boxes.lows[states], boxes.highs[states], random)
        ends = masses * rows[..., 0] * np.append(product.accepting, False)[places]
        found += np.where(places < 0, 0.0, ends).sum(axis=1)
        masses = np.where(places < 0, 0.0, masses)[..., None] * rows[..., 1:]
        places, masses = moves[places].reshape(MODELS, -1), masses.reshape(MODELS, -1)
    return np.asarray(found + (masses * later[places]).sum(axis=1))


LANGUAGES = [HasLength(), HasLength(most=3), Contains("aa"), BeginsWith("b"), Not(Contains("ab"))]


@examples(60)
@given(
    pdfa=pdfas(max_states=5, alphabet="ab"),
    language=st.sampled_from(LANGUAGES),
    kappa=st.sampled_from([2, 3, 7, 10, 100, 1000]),
    seed=st.integers(0, 1000),
)
def test_no_model_is_outside(pdfa: PDFA, language: HasLength, kappa: int, seed: int) -> None:
    equivalence = Quantization(kappa)
    bounds = probability_bounds(pdfa, language, equivalence=equivalence)
    values = values_of_models(pdfa, language_dfa(language, pdfa.alphabet), equivalence, seed)
    assert bounds.low <= values.min() + 1e-14
    assert bounds.high >= values.max() - 1e-14
    assert bounds.low <= probability(pdfa, language) + 1e-14 <= bounds.high + 2e-14


def test_ends_are_attained() -> None:
    """At κ = 4 the state ends with 0.25 to 0.5; the ends come from always choosing the same."""
    pdfa = PDFA(alphabet="a", transitions=[[0]], probabilities=[[0.3, 0.7]])
    cases: list[tuple[LanguageLike, tuple[float, float]]] = [
        (HasLength(most=0), (0.25, 0.5)),
        (HasLength(most=2), (1 - 0.75**3, 1 - 0.5**3)),
        (HasLength(least=2), (0.25, 0.5625)),
        (["a"], (0.5 * 0.25, 0.75 * 0.5)),  # after each word another choice
    ]
    for language, expected in cases:
        bounds = probability_bounds(pdfa, language, equivalence=Quantization(4))
        assert (bounds.low, bounds.high) != expected, "rounded outward"
        assert (bounds.low, bounds.high) == pytest.approx(expected, abs=1e-13)
    lengths = length_bounds(pdfa, equivalence=Quantization(4))
    assert (lengths.low, lengths.high) == pytest.approx((1, 3), abs=1e-12)


def test_words_that_may_never_end_say_nothing_and_name_their_states() -> None:
    pdfa = PDFA(
        alphabet="ab",
        transitions=[[1, 1], [1, 1], [2, 2]],
        probabilities=[[0.1, 0.5, 0.4], [0.05, 0.9, 0.05], [0.0, 0.5, 0.5]],
    )
    bounds = probability_bounds(pdfa, HasLength(), equivalence=Quantization(10))
    assert (bounds.low, bounds.high) == pytest.approx((0.1, 1))
    whole = probability_bounds(pdfa, HasLength(least=1), equivalence=Quantization(10))
    assert whole.blamed == (1,)
    assert whole.low == 0
    assert whole.high == pytest.approx(0.9)
    lengths = length_bounds(pdfa, equivalence=Quantization(10))
    assert lengths.high == np.inf
    assert lengths.blamed == (1,)
    assert str(lengths).endswith("; it says so little because of the state 1")
    assert probability_bounds(pdfa, HasLength(), equivalence=Quantization(20)).low == pytest.approx(
        1
    )


def test_wide_classes_that_say_nothing_name_the_widest() -> None:
    pdfa = PDFA(alphabet="a", transitions=[[1], [0]], probabilities=[[0.5, 0.5], [1.0, 0.0]])
    bounds = probability_bounds(pdfa, [""], equivalence=Quantization(1))
    assert (bounds.low, bounds.high) == (0, 1)
    assert bounds.blamed == (0, 1)


def test_iteration_from_below_would_be_wrong() -> None:
    """A loop that may be left with 1/κ or not at all: the greatest value is 1, reached slowly."""
    pdfa = PDFA(alphabet="a", transitions=[[0]], probabilities=[[1e-9, 1 - 1e-9]])
    bounds = probability_bounds(pdfa, HasLength(), equivalence=Quantization(10**6))
    assert (bounds.low, bounds.high) == (0, 1)


def test_loops_near_one() -> None:
    pdfa = PDFA(alphabet="a", transitions=[[0]], probabilities=[[1e-6, 1 - 1e-6]])
    bounds = length_bounds(pdfa, equivalence=Quantization(10**8))
    # One interval leaves 1.01e-6 open, but what goes on is at least 1 - 1e-6.
    assert (bounds.low, bounds.high) == pytest.approx((1e6 - 1, 1e6 - 1), rel=1e-7)
    assert bounds.low <= 1e6 - 1 <= bounds.high
    whole = probability_bounds(pdfa, HasLength(), equivalence=Quantization(10**8))
    assert whole.low == pytest.approx(1, abs=1e-6)


def test_finer_classes_give_narrower_bounds_around_the_answer() -> None:
    pdfa, language = random_pdfa(200, seed=5), Contains(["0", "1"])
    answer, last = probability(pdfa, language), (0.0, 1.0)
    for kappa in (10, 100, 1000, 10**4, 10**6):
        bounds = probability_bounds(pdfa, language, equivalence=Quantization(kappa))
        assert last[0] <= bounds.low <= answer <= bounds.high <= last[1]
        last = (bounds.low, bounds.high)
    assert last[1] - last[0] < 1e-4


def test_other_relations() -> None:
    pdfa, language = figure_3(), HasLength(most=3)
    answer = probability(pdfa, language)
    exact = probability_bounds(pdfa, language, equivalence=Exact())
    assert (exact.low, exact.high) == pytest.approx((answer, answer), abs=1e-12)
    plain = probability_bounds(pdfa, language, equivalence=Quantization(10))
    rounded = probability_bounds(pdfa, language, equivalence=Rounded(Quantization(10), 3))
    assert rounded.low < plain.low < plain.high < rounded.high
    assert rounded.low == pytest.approx(plain.low, abs=0.005)


@examples(80)
@given(
    pdfa=pdfas(max_states=4, alphabet="ab"),
    languages=st.tuples(*[st.sampled_from(LANGUAGES)] * 2),
    kappa=st.sampled_from([3, 10, 100]),
)
def test_conditions(pdfa: PDFA, languages: tuple[HasLength, HasLength], kappa: int) -> None:
    language, given_that = languages
    equivalence = Quantization(kappa)
    if not probability_bounds(pdfa, given_that, equivalence=equivalence).high:
        with pytest.raises(InputError, match="has probability 0 for every model"):
            probability_bounds(pdfa, language, equivalence=equivalence, given=given_that)
        return
    bounds = probability_bounds(pdfa, language, equivalence=equivalence, given=given_that)
    assert 0 <= bounds.low <= bounds.high <= 1
    if probability(pdfa, given_that):
        answer = probability(pdfa, language, given=given_that)
        assert bounds.low <= answer + 1e-12
        assert answer <= bounds.high + 1e-12


def test_a_condition_that_no_model_meets_is_refused() -> None:
    pdfa = PDFA(alphabet="ab", transitions=[[0, -1]], probabilities=[[0.5, 0.5, 0.0]])
    assert probability_bounds(pdfa, BeginsWith("b"), equivalence=Quantization(10)).high == 0
    with pytest.raises(InputError, match="has probability 0 for every model"):
        probability_bounds(pdfa, ["b"], equivalence=Quantization(10), given=BeginsWith("b"))


def test_a_condition_cuts_off_what_is_not_known() -> None:
    pdfa = PDFA(
        alphabet="ab",
        transitions=[[1, 0], [1, 1]],
        probabilities=[[0.2, 0.4, 0.4], [1.0, 0.0, 0.0]],
    )
    sure = probability_bounds(
        pdfa, BeginsWith("a"), equivalence=Quantization(10**6), given=HasLength(1, 1)
    )
    answer = probability(pdfa, BeginsWith("a"), given=HasLength(1, 1))
    assert sure.low <= answer <= sure.high
    assert sure.high - sure.low < 1e-4


def test_undefined_stays_impossible() -> None:
    pdfa = PDFA(alphabet="ab", transitions=[[0, -1]], probabilities=[[0.5, 0.5, 0.0]])
    bounds = probability_bounds(pdfa, Contains("b"), equivalence=Quantization(2))
    assert (bounds.low, bounds.high) == pytest.approx((0, 0), abs=1e-12)
    open_one = PDFA(alphabet="ab", transitions=[[0, 0]], probabilities=[[0.5, 0.5, 0.0]])
    bounds = probability_bounds(open_one, Contains("b"), equivalence=Quantization(3))
    assert (bounds.low, bounds.high) == pytest.approx((0, 0.5))  # b as often as the end


def test_long_chains() -> None:
    bounds = probability_bounds(chain(3000), HasLength(), equivalence=Quantization(10))
    assert bounds.high == 1
    assert bounds.low <= probability(chain(3000), HasLength())


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({}, r"^bounds of a PDFA need equivalence=Quantization"),
        ({"equivalence": 3}, r"^equivalence=3 is not"),
        (
            {"equivalence": Tolerance(0.1)},
            r"^Tolerance\(tolerance=0.1\) does not say of a PDFA alone",
        ),
    ],
)
def test_what_is_refused(arguments: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        probability_bounds(figure_3(), HasLength(), **arguments)  # type: ignore[arg-type]


def test_rows_that_are_in_no_class() -> None:
    pdfa = PDFA(alphabet="a", transitions=[[0]], probabilities=[[0.5, 0.5 + 9e-7]])
    with pytest.raises(InputError, match=r"^state 0: no distribution that sums to 1 is in its"):
        probability_bounds(pdfa, HasLength(), equivalence=Quantization(10**9))
