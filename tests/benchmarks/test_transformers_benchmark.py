"""The benchmark of transformers runs, at a tiny size."""

from __future__ import annotations

import numpy as np
import pytest

from tests.models.networks import needed_torch
from tests.support import need_module


@pytest.mark.slow
def test_tokens_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    needed_torch()
    need_module("transformers")
    from benchmarks import transformers

    network = transformers.tiny()
    model, clock = transformers.asked(network, 14), transformers.Clock()
    words = transformers.first_words(120)
    assert [batch.count for batch in transformers.batches(words)] == [1, 10, 100, 10]
    opened = model.open()
    with clock.on(network):
        rate, answers = transformers.bulk(opened, words)
    assert rate > 0
    # Every word is one new token, behind the prompt and its last token once more.
    assert clock.tokens == opened.tokens == 14 + 1 + 120
    assert clock.seconds > 0
    longest = words[-10:]
    assert transformers.padded(model, longest) > 0
    rate, rows = transformers.re_encoding(model, longest)
    assert rate > 0
    np.testing.assert_allclose(answers[-1].values, rows.values, atol=1e-5)
    transformers.learning("tiny", network, words=60)
    assert capsys.readouterr().out.startswith("| tiny |")
