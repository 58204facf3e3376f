"""Rows of transformers with words kept and forgotten, against plain re-encoding."""

from typing import Any

import numpy as np
import pytest

from pdfalearn import TransformerModel
from pdfalearn.models import Batch, Rows
from pdfalearn.models._opened_transformer import OpenedTransformer
from pdfalearn.models.protocol import attached_answers
from pdfalearn.samplers import Words
from tests.models.networks import needed_torch
from tests.models.transformers_tiny import ARCHITECTURES, tiny
from tests.support import need_module

SINGLE = {"a": [3], "b": [4], "c": [5]}
SEVERAL = {"a": [3], "b": [4, 5], "c": [4, 6, 7], "d": [4, 6, 8], "e": [9, 3]}
PRECISIONS = {"float32": 1e-5, "float64": 1e-12}


def made(model: Any, symbols: dict[str, list[int]], **options: Any) -> TransformerModel:
    given = {"prompt": [1, 2, 3, 7, 11], "ends": [0, 2], **options}
    return TransformerModel(model, None, symbols, **given)


def plain_rows(*given: Any) -> Any:
    """Return the rows of plain passes, one for each word."""
    from benchmarks.causal_classes import plain_rows

    return plain_rows(*given)


def _gpt_neo(window: int) -> Any:
    """Return a GPT-Neo whose odd layers attend to the last tokens of a sequence."""
    needed_torch()
    need_module("transformers")
    from transformers import GPTNeoConfig, GPTNeoForCausalLM

    config = GPTNeoConfig(
        vocab_size=40,
        hidden_size=32,
        num_layers=2,
        num_heads=4,
        attention_types=[[["global", "local"], 1]],
        window_size=window,
        max_position_embeddings=2048,
        initializer_range=0.3,
    )
    return GPTNeoForCausalLM(config).eval()


def batches_of_a_run(symbols: int, generator: np.random.Generator, rounds: int) -> list[Batch]:
    """Make batches of one forest: ids come again, ancestors are there or not, wanted or not."""
    lengths = generator.integers(0, 8, 30)
    whole = Batch.of([generator.integers(0, symbols, length).tolist() for length in lengths])
    size = len(whole.lineage.parents)
    batches = []
    for _ in range(rounds):
        ids = np.unique(generator.integers(0, size, generator.integers(2, 25)))
        wanted = generator.random(len(ids)) < 0.7
        wanted[-1] = True
        batch = Batch.of_ids(ids, wanted, whole.lineage)
        batches.append(batch if generator.random() < 0.5 else batch.reaching(lambda ids: ids == 0))
    return batches


def answered(
    model: TransformerModel, batches: list[Batch]
) -> tuple[OpenedTransformer, Words, Rows]:
    """Answer batches of one run; return all words of them and their rows."""
    opened = model.open()
    rows = Rows.join([opened.answer(batch) for batch in batches])
    return opened, Words.of([word for batch in batches for word in batch.words]), rows


def check_plain(model: TransformerModel, words: Words, rows: Rows, tolerance: float = 1e-5) -> None:
    """Check that rows are those of plain passes."""
    plain = plain_rows(model, words)
    np.testing.assert_allclose(rows.values, plain.values, rtol=0, atol=tolerance)
    assert rows.outside is not None
    assert plain.outside is not None
    np.testing.assert_allclose(rows.outside, plain.outside, rtol=0, atol=tolerance)


@pytest.mark.parametrize("name", ARCHITECTURES)
@pytest.mark.parametrize(
    ("precision", "memory"), [("float32", 2**20), ("float32", 1), ("float64", 6000)]
)
@pytest.mark.parametrize(
    "symbols", [SEVERAL, pytest.param(SINGLE, marks=pytest.mark.slow)], ids=["several", "single"]
)
def test_rows_equal_those_of_plain_re_encoding(
    name: str, precision: str, memory: int, symbols: dict[str, list[int]]
) -> None:
    batch = {2**20: 64, 6000: 7, 1: 1}[memory]
    model = made(tiny(name, precision=precision), symbols, memory=memory, batch=batch)
    generator = np.random.default_rng([memory, len(symbols), *map(ord, name)])
    batches = batches_of_a_run(len(symbols), generator, rounds=4)
    # Gemma 2 computes attention in float32 whatever the precision.
    tolerance = 1e-6 if name == "gemma2" else PRECISIONS[precision]
    opened, words, rows = answered(model, batches)
    check_plain(model, words, rows, tolerance)
    assert opened.passes > 0


@pytest.mark.parametrize("symbols", [SEVERAL, SINGLE], ids=["several", "single"])
def test_what_is_kept_is_a_cache_only(symbols: dict[str, list[int]]) -> None:
    model = made(tiny("llama"), symbols)
    batches = batches_of_a_run(len(symbols), np.random.default_rng(5), rounds=6)
    _, _, rows = answered(model, batches)
    anew = Rows.join([model.answer(batch) for batch in batches])
    np.testing.assert_allclose(rows.values, anew.values, rtol=0, atol=1e-5)


def test_what_is_kept_is_not_computed_again() -> None:
    model = made(tiny("llama"), SINGLE)
    whole = Batch.of([(0, 1, 2, 0), (0, 1, 1), (2,)])
    opened = model.open()
    opened.answer(whole)
    size = len(whole.lineage.parents)
    # The words and the prompt; its last token goes through once more, as the empty word.
    assert opened.tokens == size + len(model.prompt)
    longer = Batch.of([(0, 1, 2, 0), (0, 1, 1), (2,), (0, 1, 2, 0, 1)])
    last = Batch.of_ids(np.array([size]), np.array([True]), longer.lineage)
    opened.answer(last)
    assert opened.tokens == size + len(model.prompt) + 1


def test_a_batch_that_fails_keeps_what_it_has() -> None:
    network = tiny("llama")
    model = made(network, SINGLE, batch=4)
    batch = Batch.of(np.random.default_rng(1).integers(0, 3, (9, 4)).tolist())
    calls = 0

    def fail(module: Any, inputs: Any) -> None:
        nonlocal calls
        calls += 1
        if calls > 3:
            raise KeyboardInterrupt

    handle = network.register_forward_pre_hook(fail)
    try:
        with pytest.raises(KeyboardInterrupt) as caught:
            model.open().answer(batch)
    finally:
        handle.remove()
    partial = attached_answers(caught.value)
    assert partial is not None
    assert 0 < len(partial.ids) < batch.count
    assert partial.ids.tolist() == batch.wanted_ids[: len(partial.ids)].tolist()
    expected = model.answer(batch).values[: len(partial.ids)]
    np.testing.assert_allclose(partial.rows.values, expected, rtol=0, atol=1e-5)


def test_long_words_go_in_several_passes() -> None:
    model = made(tiny("llama"), SINGLE, batch=4)
    batch = Batch.of(np.random.default_rng(1).integers(0, 3, (6, 50)).tolist())
    opened = model.open()
    opened.answer(batch)
    before = opened.passes
    rows = opened.answer(batch)  # one token each, with 50 before it
    assert opened.passes - before == 3
    check_plain(model, batch.words, rows)


@pytest.mark.parametrize("window", [40, 290, 700])
def test_passes_are_not_longer_than_a_window_of_the_sequence(window: int) -> None:
    tiny("gpt2")  # skips where torch is missing
    model = made(_gpt_neo(window), SINGLE)
    assert model.keeps
    longest = min(60, window - 5)
    words = np.random.default_rng(window).integers(0, 3, (25, longest)).tolist()
    whole = Batch.of([word[:length] for word in words for length in range(longest + 1)])
    opened = model.open()
    opened.answer(whole)
    batch = Batch.of_ids(whole.ids[-25:], np.ones(25, dtype=bool), whole.lineage)
    check_plain(model, batch.words, opened.answer(batch))


@pytest.mark.parametrize("symbols", [SINGLE, SEVERAL], ids=["single", "several"])
def test_what_cannot_be_kept_is_computed_again(symbols: dict[str, list[int]]) -> None:
    tiny("gpt2")  # skips where the packages are not installed
    from transformers import BloomConfig, BloomForCausalLM

    config = BloomConfig(vocab_size=40, hidden_size=32, n_layer=2, n_head=4, initializer_range=0.3)
    with pytest.warns(UserWarning, match="nothing can be kept of words with BloomForCausalLM"):
        model = made(BloomForCausalLM(config).eval(), symbols, batch=40)
    assert not model.keeps
    assert model.cost.word == len(model.prompt)
    batches = batches_of_a_run(len(symbols), np.random.default_rng(1), rounds=5)
    _, words, rows = answered(model, batches)
    check_plain(model, words, rows)
