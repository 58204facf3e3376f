"""What is promised: rates of false alarms, and how likely an event is to come."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from benchmarks.watching.promises import compare_reaching, false_alarms
from pdfalearn import PDFA, Monitor, calibrate, distill, probability
from pdfalearn.datasets import figure_1, reber
from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.languages import Contains, Not
from pdfalearn.watching import TOO_NEAR, Watch, event_probabilities
from pdfalearn.watching.reaching import language_ahead
from tests.strategies import pdfas
from tests.support import examples


@pytest.mark.slow
@pytest.mark.parametrize("is_distilled", [False, True])
def test_the_rate_is_what_was_promised(is_distilled: bool) -> None:
    for count, rate in ((99, 0.01), (50, 0.05)):
        for shares in false_alarms(
            4 if is_distilled else 20, count, rate, is_distilled=is_distilled
        ).values():
            assert shares.mean() <= rate + 3 * shares.std() / np.sqrt(len(shares)) + 1e-3


def test_too_few_words_are_refused_with_how_many_are_needed() -> None:
    words = figure_1().sample(999, seed=1).words
    assert calibrate(figure_1(), words).above == 0
    with pytest.raises(InputError, match=r"998, .* 0\.001 at least 999 are needed"):
        calibrate(figure_1(), words[:-1])
    for unknown in ("zz", ""):  # nothing can be promised of what is of another kind
        with pytest.raises(InputError, match="knows no event of the usual words"):
            calibrate(figure_1(), [unknown, "z"] * 500)
    assert calibrate(figure_1(), ["za", *words]).unknown == 1
    with pytest.raises(InputError, match="false_alarms"):
        calibrate(figure_1(), words, 0)


@pytest.mark.slow
def test_the_interval_is_that_of_the_rank() -> None:
    found = calibrate(figure_1(), figure_1().sample(999, seed=1).words, 0.01)
    # The rate of a threshold at the k-th of n values is that of the k-th of n uniform ones.
    random = np.random.default_rng(1)
    ranks = np.sort(random.random((2_000, 999)), axis=1)[:, 999 - 1 - found.above]
    least, most = np.quantile(1 - ranks, [0.025, 0.975])
    assert found.interval == pytest.approx((least, most), rel=0.08)


def test_thresholds_of_another_version_are_refused(tmp_path: Path) -> None:
    found = calibrate(figure_1(), figure_1().sample(99, seed=1).words, 0.01)
    path = tmp_path / "watched.json"
    Watch(figure_1(), thresholds=found).save(path)
    assert Watch.load(path).thresholds == found
    document = json.loads(path.read_text())
    for change, message in (({"version": 7}, "version 7"), ({"words": "many"}, "damaged")):
        document["watching"]["thresholds"].update(change)
        path.write_text(json.dumps(document))
        with pytest.raises(FileFormatError, match=message):
            Watch.load(path)
        document["watching"]["thresholds"]["version"] = 1
    with pytest.raises(InputError, match="their own window"):
        Monitor(figure_1(), replace(found, events=3), window=4)


@pytest.mark.slow
def test_events_and_languages_to_come_against_other_ways() -> None:
    assert max(compare_reaching(50)) < 1e-9


@pytest.mark.slow
@examples(40)
@given(pdfas(max_symbols=2))
def test_a_whole_word_has_the_probability_of_its_language(pdfa: PDFA) -> None:
    for language in (Contains("aa"), Not(Contains("a"))):
        table = language_ahead(pdfa, language).probabilities
        assert table[pdfa.initial, 0] == pytest.approx(probability(pdfa, language), abs=1e-9)


def test_an_event_may_come_in_a_word_that_never_ends() -> None:
    endless = PDFA(
        alphabet="ab",
        transitions=[[0, 1], [1, 1]],
        probabilities=[[0.0, 0.5, 0.5], [0.0, 1.0, 0.0]],
    )
    assert event_probabilities(endless, "b").tolist() == [1.0, 0.0]
    assert event_probabilities(endless, "a") == pytest.approx([1.0, 1.0])
    with pytest.raises(InputError, match="not in the alphabet"):
        event_probabilities(endless, "c")


def test_words_that_the_automaton_was_made_of_are_noticed() -> None:
    words = reber().sample(600, seed=1).words
    model = distill(words, sizes=[6]).best
    assert calibrate(model, words, 0.01).nearness < TOO_NEAR
    assert calibrate(model, reber().sample(600, seed=2).words, 0.01).nearness > 1e-3
    # Impossible words say nothing.
    assert calibrate(figure_1(), ["ab"] * 99, 0.01).nearness == 1
