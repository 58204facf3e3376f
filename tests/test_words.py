"""Batches of words: prefixes of some, and words join_words one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn.words import Words, join_words, prefixes_of

WORDS = st.lists(st.lists(st.integers(0, 9), max_size=5), max_size=8)


def lists(words: Words) -> list[list[int]]:
    assert words.symbols.dtype == np.int32
    assert len(words.symbols) == words.offsets[-1]
    return [
        words.symbols[begin:end].tolist()
        for begin, end in zip(words.offsets[:-1], words.offsets[1:], strict=True)
    ]


@given(WORDS.filter(bool), st.data())
def test_prefixes_are_taken_from_words(words: list[list[int]], data: st.DataObject) -> None:
    places = data.draw(st.lists(st.integers(0, len(words) - 1), max_size=10))
    lengths = [data.draw(st.integers(0, len(words[place]))) for place in places]
    found = prefixes_of(
        Words.of(words), np.array(places, dtype=np.int64), np.array(lengths, dtype=np.int64)
    )
    expected = [words[place][:end] for place, end in zip(places, lengths, strict=True)]
    assert lists(found) == expected


@given(st.lists(st.tuples(st.lists(st.integers(0, 9)), st.lists(st.integers(0, 9))), max_size=8))
def test_words_are_joined_one_by_one(pairs: list[tuple[list[int], list[int]]]) -> None:
    left, right = Words.of([a for a, _ in pairs]), Words.of([b for _, b in pairs])
    assert lists(join_words(left, right)) == [a + b for a, b in pairs]


@given(WORDS, st.integers(1, 12))
def test_parts_are_small_and_whole(words: list[list[int]], most: int) -> None:
    batch = Words.of(words)
    places = list(batch.parts(most))
    parts = [lists(batch.part(begin, end)) for begin, end in places]
    assert [word for part in parts for word in part] == words
    for part in parts:
        assert len(part) == 1 or sum(len(word) + 1 for word in part) <= most
