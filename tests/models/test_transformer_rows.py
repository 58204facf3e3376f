"""Rows of transformers with words kept and forgotten, against plain re-encoding."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.causal_classes import plain_rows
from pdfalearn import Words
from pdfalearn.models.transformer import TransformerModel
from tests.models.transformers_tiny import ARCHITECTURES, tiny

SINGLE = {"a": [3], "b": [4], "c": [5]}
SEVERAL = {"a": [3], "b": [4, 5], "c": [4, 6, 7], "d": [4, 6, 8], "e": [9, 3]}
PRECISIONS = {"float32": 1e-5, "float64": 1e-12}


def made(model: Any, symbols: dict[str, list[int]], **options: Any) -> TransformerModel:
    given = {"prompt": [1, 2, 3, 7, 11], "ends": [0, 2], **options}
    return TransformerModel(model, None, symbols, **given)


def _gpt_neo(window: int) -> Any:
    """Return a GPT-Neo whose odd layers attend to the last tokens of a sequence."""
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


def walked(
    model: TransformerModel, generator: np.random.Generator, rounds: int
) -> tuple[list[list[int]], NDArray[np.float64], NDArray[np.float64], Any]:
    """Extend random words that were read before, read random ones again, release some."""
    session = model.open()
    words: list[list[int]] = [[]]
    handles, read = [session.start()], list[list[int]]()
    tables, outside = [], []
    for _ in range(rounds):
        count = int(generator.integers(1, 12))
        bases = generator.integers(0, len(words), count)
        tails = [
            generator.integers(0, len(model.alphabet), generator.integers(0, 4)).tolist()
            for _ in range(count)
        ]
        new = session.extend(np.array([handles[base] for base in bases]), Words.of(tails))
        for base, tail in zip(bases, tails, strict=True):
            for length in range(1, len(tail) + 1):
                words.append(words[base] + tail[:length])
        handles += new.tolist()
        asked = generator.integers(0, len(words), count)
        rows = session.read(np.array([handles[place] for place in asked]))
        read += [words[place] for place in asked]
        tables.append(rows.values)
        assert rows.outside is not None
        outside.append(rows.outside)
        session.release(np.array([handles[asked[0]]]))
    return read, np.concatenate(tables), np.concatenate(outside), session


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
    words, values, outside, session = walked(model, generator, rounds=4)
    plain = plain_rows(model, Words.of(words))
    # Gemma 2 computes attention in float32 whatever the precision.
    tolerance = 1e-6 if name == "gemma2" else PRECISIONS[precision]
    np.testing.assert_allclose(values, plain.values, rtol=0, atol=tolerance)
    assert plain.outside is not None
    np.testing.assert_allclose(outside, plain.outside, rtol=0, atol=tolerance)
    assert session.passes > 0


def test_long_words_go_in_several_passes() -> None:
    model = made(tiny("llama"), SINGLE, batch=4)
    words = Words.of(np.random.default_rng(1).integers(0, 3, (6, 50)).tolist())
    session = model.open()
    handles = session.extend(np.zeros(6, dtype=np.int64), words)
    ends = handles[words.offsets[1:] - 1]
    session.read(ends)
    before = session.passes
    rows = session.read(ends)  # one token each, with 50 before it
    assert session.passes - before == 3
    plain = plain_rows(model, words)
    np.testing.assert_allclose(rows.values, plain.values, rtol=0, atol=1e-5)


@pytest.mark.parametrize("window", [40, 290, 700])
def test_passes_are_not_longer_than_a_window_of_the_sequence(window: int) -> None:
    tiny("gpt2")  # skips where torch is missing
    model = made(_gpt_neo(window), SINGLE)
    assert model.keeps
    generator = np.random.default_rng(window)
    longest = min(60, window - 5)
    words = Words.of([generator.integers(0, 3, longest).tolist() for _ in range(25)])
    session = model.open()
    handles = session.extend(np.zeros(25, dtype=np.int64), words)
    session.read(handles)
    rows = session.read(handles[words.offsets[1:] - 1])
    plain = plain_rows(model, words)
    np.testing.assert_allclose(rows.values, plain.values, rtol=0, atol=1e-5)


@pytest.mark.parametrize("symbols", [SINGLE, SEVERAL], ids=["single", "several"])
def test_what_cannot_be_kept_is_computed_again(symbols: dict[str, list[int]]) -> None:
    from transformers import BloomConfig, BloomForCausalLM

    tiny("gpt2")
    config = BloomConfig(vocab_size=40, hidden_size=32, n_layer=2, n_head=4, initializer_range=0.3)
    with pytest.warns(UserWarning, match="nothing can be kept of words with BloomForCausalLM"):
        model = made(BloomForCausalLM(config).eval(), symbols, batch=40)
    assert not model.keeps
    assert model.cost.word == len(model.prompt)
    words, values, outside, _ = walked(model, np.random.default_rng(1), rounds=5)
    plain = plain_rows(model, Words.of(words))
    np.testing.assert_allclose(values, plain.values, rtol=0, atol=1e-5)
    assert plain.outside is not None
    np.testing.assert_allclose(outside, plain.outside, rtol=0, atol=1e-5)
