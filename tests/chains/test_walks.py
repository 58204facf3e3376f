"""The walk through pairs of states, against a search that takes one pair after the other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, Tolerance
from pdfalearn.arrays import union_find
from pdfalearn.equivalence import differences
from pdfalearn.equivalence.differences import Judge, Merging, Visiting, Walk
from pdfalearn.equivalence.relations import Equivalence
from tests.learners.tables import tolerances
from tests.strategies import equivalences, pdfas
from tests.support import examples

Pair = tuple[int, int]
Word = list[int]


@pytest.mark.parametrize("few", [1, 4, 1000])
@examples(150)
@given(st.data(), st.one_of(equivalences(), tolerances()))
def test_differences_and_words_are_those_of_a_naive_search(
    few: int, data: st.DataObject, equivalence: Equivalence | Tolerance
) -> None:
    first, second = data.draw(pdfas(alphabet="ab")), data.draw(pdfas(alphabet="ab"))
    start = first.initial, second.initial
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(differences, "_FEW_PAIRS", few)
        patch.setattr(union_find, "_FEW", few)
        walk = Walk(first.table, second.table, judge(first, second, equivalence))
        levels = list(walk.differences(*start))
        found = [[walk.word(code) for code in codes.tolist()] for codes in levels]
    assert found == list(naive_differences(first, second, equivalence))
    for codes, words in zip(levels, found, strict=True):
        before = walk.rights_before(codes).tolist()
        assert before == [second.state_after(as_text(word[:-1])) if word else -1 for word in words]


def judge(first: PDFA, second: PDFA, equivalence: Equivalence | Tolerance) -> Judge:
    if isinstance(equivalence, Tolerance):
        return Visiting(first.probabilities, second.probabilities, equivalence)
    classes = equivalence.classes(np.concatenate((first.probabilities, second.probabilities)))
    return Merging(np.append(classes[: len(first)], -1), np.append(classes[len(first) :], -1))


def naive_differences(
    first: PDFA, second: PDFA, equivalence: Equivalence | Tolerance
) -> Iterator[list[Word]]:
    """Yield the words of every level that has any; follow what merges, or was not seen."""
    classes = list(range(len(first) + len(second)))
    seen: set[Pair] = set()
    level: list[tuple[Pair, Word]] = [((first.initial, second.initial), [])]
    while level:
        different, followed = [], []
        for (left, right), word in level:
            if left < 0 and right < 0:
                continue
            if differ(first, left, second, right, equivalence):
                different.append(word)
                continue
            low, high = sorted((classes[left], classes[len(first) + right]))
            known = (left, right) in seen if isinstance(equivalence, Tolerance) else low == high
            if not known:
                followed.append(((left, right), word))
            seen.add((left, right))
            classes = [low if number == high else number for number in classes]
        if different:
            yield different
        level = [
            ((int(first.table[left, symbol]), int(second.table[right, symbol])), [*word, symbol])
            for (left, right), word in followed
            for symbol in range(len(first.alphabet))
        ]


def differ(
    first: PDFA, left: int, second: PDFA, right: int, equivalence: Equivalence | Tolerance
) -> bool:
    if left < 0 or right < 0:
        return True
    row, other = first.probabilities[left], second.probabilities[right]
    if isinstance(equivalence, Tolerance):
        return not equivalence.similar(row, other)
    one, two = equivalence.classes(np.array([row, other]))
    return bool(one != two)


def as_text(word: Word) -> str:
    return "".join("ab"[symbol] for symbol in word)
