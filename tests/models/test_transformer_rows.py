"""Rows of transformers with words kept and forgotten, against plain re-encoding."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pdfalearn import Words
from pdfalearn.models._re_encoding import re_encoded
from pdfalearn.models.transformer import TransformerModel
from tests.models.transformers_tiny import ARCHITECTURES, tiny

SINGLE = {"a": [3], "b": [4], "c": [5]}
SEVERAL = {"a": [3], "b": [4, 5], "c": [4, 6, 7], "d": [4, 6, 8], "e": [9, 3]}
PRECISIONS = {"float32": 1e-5, "float64": 1e-12}


def made(model: Any, symbols: dict[str, list[int]], **options: Any) -> TransformerModel:
    given = {"prompt": [1, 2, 3, 7, 11], "ends": [0, 2], **options}
    return TransformerModel(model, None, symbols, **given)


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
    plain = re_encoded(model._model, model.spelling, model.prompt, Words.of(words))
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
    plain = re_encoded(model._model, model.spelling, model.prompt, words)
    np.testing.assert_allclose(rows.values, plain.values, rtol=0, atol=1e-5)
