"""A sweep gives what learning alone gives, asks each word once, and recommends what is right."""

from __future__ import annotations

import html
import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.distilling.black_boxes import BlackBox, random_target
from pdfalearn import (
    PDFA,
    Budget,
    FunctionModel,
    Quantization,
    Sweep,
    Tolerance,
    divergence,
    learn,
    quotient,
    sweep,
)
from pdfalearn.datasets import figure_1, figure_2, figure_3
from pdfalearn.errors import InputError
from pdfalearn.oracles import AllWordsOracle
from pdfalearn.results import SweepInterrupted, SweepProgress
from pdfalearn.samplers import ModelWords
from tests.strategies import pdfas
from tests.support import examples, need_module


def asked_function(target: PDFA) -> tuple[FunctionModel, Counter[tuple[Any, ...]]]:
    """Make a function of a PDFA, and a count of the words that it was asked for."""
    counts: Counter[tuple[Any, ...]] = Counter()

    def answer(words: list[tuple[Any, ...]]) -> Any:
        counts.update(words)
        return target.next_distributions(words)

    return FunctionModel(answer, target.alphabet), counts


def with_noise_of_words(target: PDFA, strength: float) -> FunctionModel:
    """Make a function whose rows differ a little after every word, so that it is no automaton."""

    def noise(word: tuple[Any, ...]) -> Any:
        return np.random.default_rng([9, *map(int, word)]).uniform(-1, 1, len(target.alphabet) + 1)

    def answer(words: list[tuple[Any, ...]]) -> Any:
        rows = target.next_distributions(words)
        rows = rows * np.exp(strength * np.array([noise(word) for word in words]))
        return rows / rows.sum(axis=1, keepdims=True)

    return FunctionModel(answer, target.alphabet)


@examples(25)
@given(pdfas(), st.sets(st.integers(1, 200), min_size=1, max_size=4))
def test_every_row_is_what_learning_alone_gives(target: PDFA, kappas: set[int]) -> None:
    found = sweep(target, kappas=kappas)
    assert [row.equivalence for row in found] == [Quantization(kappa) for kappa in sorted(kappas)]
    for row in found:
        alone = learn(target, equivalence=row.equivalence)
        assert row.pdfa == alone.pdfa
        assert row.result.access_words == alone.access_words
        assert row.words == alone.statistics.words
        assert len(row.pdfa) == len(quotient(target, equivalence=row.equivalence))  # type: ignore[arg-type]
    assert found.words_alone == sum(
        learn(target, equivalence=row.equivalence).statistics.words for row in found
    )
    assert found.words_asked <= found.words_alone


@examples(12)
@given(pdfas(), st.sampled_from([(0.3, 0.01), (0.1,)]))
def test_tolerances_are_for_lpstar(target: PDFA, tolerances: tuple[float, ...]) -> None:
    found = sweep(target, kappas=[20], tolerances=tolerances)
    assert [row.equivalence for row in found] == [Quantization(20), *map(Tolerance, tolerances)]
    for row in found.rows[1:]:
        assert row.pdfa == learn(target, equivalence=row.equivalence, learner="lpstar").pdfa


@examples(12)
@given(pdfas())
def test_the_divergence_of_a_pdfa_is_exact(target: PDFA) -> None:
    for row in sweep(target, kappas=[2, 50]):
        forward = divergence(target, row.pdfa).forward
        assert row.infinite_share == forward.infinite_share
        if not forward.infinite_share:
            assert row.divergence == row.low == row.high == pytest.approx(forward.per_symbol)


@pytest.mark.slow
def test_a_black_box_is_asked_for_each_word_once() -> None:
    model, counts = asked_function(random_target(12, 2, seed=1))
    found = sweep(model, kappas=[5, 20, 100], audit=0)
    again = {word: count for word, count in counts.items() if count > 1}
    audited = sum(row.result.statistics.audited_words for row in found)
    assert sum(again.values()) - len(again) == audited, "only stored words that runs begin with"
    assert len(counts) == found.words_asked
    assert found.words_asked < found.words_alone
    for row in found:
        assert (
            row.pdfa
            == learn(
                model, equivalence=row.equivalence, budget=Budget(max_words=10**5), audit=0
            ).pdfa
        )


@pytest.mark.slow
def test_estimates_agree_with_the_exact_divergence() -> None:
    target = random_target(30, 3, seed=2)
    estimated = sweep(BlackBox(target), kappas=[2, 3, 5])
    for row in estimated:
        forward = divergence(target, row.pdfa).forward
        assert row.infinite_share == forward.infinite_share == 0
        assert row.low <= forward.per_symbol <= row.high
        assert row.divergence == pytest.approx(forward.per_symbol, rel=0.2)


@pytest.mark.parametrize("pdfa", [figure_1(), *figure_2(), figure_3()], ids=len)
def test_figures_are_learnt_by_the_smallest_kappa_that_tells_their_states(pdfa: PDFA) -> None:
    found = sweep(pdfa, kappas=[1, 10, 100, 1000])
    assert found.recommended is not None
    assert found.recommended.divergence == 0
    assert found.recommended.states == len(quotient(pdfa, equivalence=Quantization(1000)))
    assert found.recommendation.endswith(("not nearer to the model", "may be nearer"))


@pytest.mark.slow
def test_a_hidden_automaton_is_found() -> None:
    found = sweep(BlackBox(random_target(6, 3, seed=1)), budget=Budget(max_words=20_000))
    assert found.recommended is not None
    assert found.recommended.states == 6
    assert found.drawn_words > 100


@pytest.mark.slow
def test_a_little_noise_is_not_learnt_where_a_bound_stops_it() -> None:
    noisy = with_noise_of_words(random_target(6, 3, seed=1), 1e-6)
    found = sweep(noisy, kappas=[5, 10, 10**7], budget=Budget(max_words=18_000))
    assert [row.has_ended for row in found] == [True, True, False]
    assert found.recommended is not None
    assert found.recommended.states == 6


@pytest.mark.slow
def test_no_run_that_ends_is_for_distilling() -> None:
    noisy = with_noise_of_words(random_target(6, 3, seed=1), 0.3)
    found = sweep(noisy, kappas=[50, 100], budget=Budget(max_words=2_000))
    assert not any(row.has_ended for row in found)
    assert found.recommended is None
    assert found.recommendation.startswith("distill: ")
    assert "recommended: distill" in repr(found)


@pytest.mark.slow
def test_runs_that_stopped_nearer_are_for_distilling() -> None:
    noisy = with_noise_of_words(random_target(6, 3, seed=1), 0.5)
    found = sweep(noisy, kappas=[1, 200], budget=Budget(max_words=12_000))
    assert [row.has_ended for row in found] == [True, False]
    assert found.recommended is None
    assert "κ = 200 is nearer to the model than κ = 1, but learning did not end" in (
        found.recommendation
    )


@pytest.mark.slow
def test_a_trained_network_is_for_distilling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_module("torch").set_num_threads(1)
    monkeypatch.setenv("PDFALEARN_CACHE", str(tmp_path))
    from benchmarks.distilling.training import trained

    network = trained(random_target(6, 3, seed=1), hidden=16, words=2000, steps=200)
    found = sweep(network, kappas=[5, 20, 100], budget=Budget(max_words=6_000))
    assert found.recommended is None
    assert found.words_asked <= 6_000
    first, *others = (row.states for row in found)
    assert all(first < states for states in others)  # these have what the budget left room for


@pytest.mark.slow
def test_the_phone_trigram() -> None:
    need_module("pocketsphinx")
    from examples.asked_trigram import phones

    found = sweep(phones(), kappas=[5, 10, 100, 1000])
    assert found.recommended is not None
    assert found.recommended.equivalence == Quantization(100)
    assert found.words_asked < 0.6 * found.words_alone


def test_the_budget_is_for_the_whole_sweep() -> None:
    model, counts = asked_function(random_target(40, 3, seed=3))
    found = sweep(model, kappas=[50, 100, 200], budget=Budget(max_words=400, max_states=9))
    assert sum(counts.values()) <= 400
    assert all(row.states <= 9 or row.result.certificate.details["added_states"] for row in found)
    assert [row.result.certificate.kind for row in found] == ["stopped"] * 3


@pytest.mark.slow
def test_same_seed_same_sweep() -> None:
    model = BlackBox(random_target(8, 2, seed=4))
    one, same, other = (sweep(model, kappas=[5, 50], seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(one.kept_losses, same.kept_losses)
    assert [row.pdfa for row in one] == [row.pdfa for row in same]
    assert [row.words for row in one] == [row.words for row in same]
    assert not np.array_equal(one.kept_lengths, other.kept_lengths)


@pytest.mark.slow
def test_a_store_goes_on_where_it_stopped(tmp_path: Path) -> None:
    model = BlackBox(random_target(8, 2, seed=4))
    first = sweep(model, kappas=[5], store=tmp_path / "answers.db")
    again = sweep(model, kappas=[5, 50], store=tmp_path / "answers.db")
    assert first.words_asked > 100
    assert again.held_out_questions < first.held_out_questions / 100
    assert again.rows[0].new_words == 0
    assert again.rows[0].pdfa == first.rows[0].pdfa


def test_an_oracle_of_ones_own() -> None:
    seen = []

    def oracle(equivalence: Any) -> AllWordsOracle:
        seen.append(equivalence)
        return AllWordsOracle(4)

    model, _ = asked_function(figure_3())
    found = sweep(model, kappas=[10], tolerances=[0.1], oracle=oracle, sampler=ModelWords(30))
    assert seen == [Quantization(10), Tolerance(0.1)]
    assert {row.result.certificate.kind for row in found} == {"tested"}


@pytest.mark.slow
def test_an_interrupt_keeps_what_was_learnt() -> None:
    def stop(news: SweepProgress) -> None:
        if news.run == 2 and news.learning is not None and news.learning.states > 1:
            raise KeyboardInterrupt

    model, _ = asked_function(random_target(20, 2, seed=5))
    with pytest.raises(SweepInterrupted) as caught:
        sweep(model, kappas=[5, 50, 100], progress=stop)
    kept = caught.value.sweep
    assert kept is not None
    assert [row.equivalence for row in kept] == [Quantization(5), Quantization(50)]
    assert kept.rows[0].has_ended
    assert kept.rows[1].result.certificate.kind == "interrupted"
    assert kept.recommended is kept.rows[0] or kept.recommended is None
    with pytest.raises(SweepInterrupted) as early:
        sweep(model, kappas=[5], progress=lambda news: _raise())
    assert early.value.sweep is None


def _raise() -> None:
    raise KeyboardInterrupt


@pytest.mark.slow
def test_progress_is_told_run_by_run() -> None:
    told: list[SweepProgress] = []
    sweep(BlackBox(figure_3()), kappas=[1, 10], progress=told.append)
    assert sorted({(news.run, news.equivalence) for news in told}, key=lambda pair: pair[0]) == [
        (0, None),
        (1, Quantization(1)),
        (2, Quantization(10)),
    ]
    assert all((news.learning is None) == (news.run == 0) for news in told)


@pytest.fixture(scope="module")
def found() -> Sweep:
    return sweep(figure_3(), kappas=[1, 10], tolerances=[0.1])


def test_it_is_a_value(found: Sweep) -> None:
    copy = pickle.loads(pickle.dumps(found))  # noqa: S301
    assert copy == found
    assert hash(copy) == hash(found)
    assert copy.recommendation == found.recommendation
    assert repr(found) == "Sweep(3 runs, 17 words asked, recommended: κ = 10)"


def test_its_table(found: Sweep) -> None:
    head, *rows, questions, advice = found.table().splitlines()
    assert head.split()[:3] == ["learnt", "with", "states"]
    assert [row.split("  ")[0].strip() for row in rows] == ["κ = 1", "κ = 10", "tolerance 0.1"]
    assert rows[1].endswith("exact, recommended")
    assert questions.startswith("words asked: 17; ")
    assert advice == f"recommended: {found.recommendation}"
    assert found.table() in html.unescape(str(found._repr_html_()))


@pytest.mark.slow
def test_its_frame(found: Sweep) -> None:
    need_module("pandas")
    frame = found.to_frame()
    assert frame["states"].tolist() == [row.states for row in found]
    assert frame["recommended"].tolist() == [False, True, False]


@pytest.mark.slow
def test_its_picture(found: Sweep) -> None:
    need_module("matplotlib")
    from matplotlib.figure import Figure

    axes = found.plot(Figure().subplots())
    assert [text.get_text() for text in axes.texts] == [
        "κ = 1",
        "κ = 10\ntolerance 0.1",
    ]
    assert found.plot(axes) is axes


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"kappas": []}, "there is nothing to sweep over"),
        ({"kappas": [10, 10]}, "κ = 10 is given twice"),
        ({"kappas": [0]}, "kappa 0"),
        ({"kappas": "10"}, "kappas '10' is not a list of numbers"),
        ({"kappas": 10}, "kappas 10 is not a list of numbers"),
        ({"tolerances": [2.0]}, "tolerance 2.0"),
        ({"budget": 100}, "budget 100 is not a Budget"),
        ({"oracle": 3}, "oracle 3 is not a function"),
        ({"progress": 3}, "progress 3 is not True"),
        ({"seed": -1}, "seed -1"),
    ],
)
def test_bad_arguments(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        sweep(figure_3(), **given)


def test_a_budget_that_is_too_small_to_measure() -> None:
    model, _ = asked_function(random_target(8, 2, seed=4))
    with pytest.raises(InputError, match="give a larger budget"):
        sweep(model, kappas=[10], budget=Budget(max_words=8))
