"""The example of guided dates compares what it says; docs/how-to/constrain-a-model.md runs it."""

from __future__ import annotations

import re

import numpy as np

from examples.guided_dates import DATES, EVERY_DATE, Trigrams, corpus, distribution, enumerated


def test_every_date_is_enumerated() -> None:
    assert len(set(EVERY_DATE)) == 3720
    assert all(re.fullmatch(DATES, text) for text in EVERY_DATE)


def test_the_dates_have_all_the_probability() -> None:
    expected = distribution(enumerated(Trigrams(corpus(50, seed=2)), EVERY_DATE))
    assert np.isclose(expected.sum(), 1)
    assert expected.min() > 0
