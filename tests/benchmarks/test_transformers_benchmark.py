"""The benchmark of transformers runs, at a tiny size."""

from __future__ import annotations

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
    levels = transformers.words_by_length(120)
    assert [len(level) for level in levels] == [10, 100, 10]
    session = model.open()
    with clock.on(network):
        assert transformers.bulk(session, levels) > 0
    # Every word is one new token, behind the prompt and its last token once more.
    assert clock.tokens == session.tokens == 14 + 1 + 120
    assert clock.seconds > 0
    assert transformers.padded(model, levels[-1]) > 0
    assert transformers.re_encoding(model, levels[-1]) > 0
    transformers.learning("tiny", network, words=60)
    assert capsys.readouterr().out.startswith("| tiny |")
