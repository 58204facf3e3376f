"""Bands of probabilities: what they are by definition, and that they hold at all times."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from pdfalearn.sampled.counted_tree import LEAST_COUNTS, CountedTree, Test
from pdfalearn.sampled.samples import Draw
from pdfalearn.words import Words
from tests.support import examples


def drawn(prefix: tuple[int, ...], words: list[tuple[int, ...]], *cut: int) -> Draw:
    is_cut = np.zeros(len(words), dtype=bool)
    is_cut[list(cut)] = True
    return Draw(prefix, Words.of(words), is_cut)


def letters(counts: list[int]) -> list[tuple[int, ...]]:
    """Return words of the end alone, or of one symbol, as often as counts say."""
    words: list[tuple[int, ...]] = []
    for column, count in enumerate(counts):
        words += [(column - 1,) if column else ()] * count
    return words


def counted(counts: list[int], alpha: float, test: Test, before: list[int]) -> CountedTree:
    """Count some letters, of which the root gets its rank, and then others."""
    tree = CountedTree(len(counts) - 1, alpha, test)
    assert LEAST_COUNTS <= sum(before) <= 16  # they are one part
    tree.add(drawn((), letters(before)))
    tree.add(drawn((), letters(counts)))
    return tree


def mixed_ratio(count: int, total: int, share: float) -> float:
    """How much likelier draws are under a mixture by Beta(1/2, 1/2), by integration."""

    def likelihood(angle: float) -> float:  # the density of Beta(1/2, 1/2) is flat in this angle
        p = np.sin(angle) ** 2
        ratio = (p / share) ** count * ((1 - p) / (1 - share)) ** (total - count)
        return float(ratio) * 2 / np.pi

    return float(quad(likelihood, 0, np.pi / 2, limit=200)[0])


@examples(30)
@given(
    st.lists(st.tuples(st.integers(3, 5), st.integers(0, 30)), min_size=3, max_size=3),
    st.sampled_from([0.01, 0.3]),
)
def test_exact_bands_end_where_the_mixture_beats_a_probability(
    pairs: list[tuple[int, int]], alpha: float
) -> None:
    before, counts = (list(one) for one in zip(*pairs, strict=True))
    total, early = sum(counts), sum(before)
    low, high = counted(counts, alpha, "exact", before).bands()[0]
    if not total:
        assert (low == 0).all()
        assert (high == 1).all()
        return
    limit = 2 * len(counts) / alpha  # rank 0 has half of alpha, each column a part of it

    def ratio_since(column: int, share: float) -> float:
        ratio = mixed_ratio(counts[column] + before[column], total + early, share)
        return ratio / mixed_ratio(before[column], early, share)

    for column, count in enumerate(counts):
        assert low[column] <= high[column]
        if low[column] > 0 and low[column] < (count / total) * (1 - 1e-6):
            assert ratio_since(column, low[column]) == pytest.approx(limit, rel=1e-3)
        if high[column] < 1 and high[column] > count / total + 1e-6:
            assert ratio_since(column, high[column]) == pytest.approx(limit, rel=1e-3)
        assert count or not low[column]


def test_what_gave_a_node_its_rank_does_not_move_its_bands() -> None:
    for test in ("exact", "hoeffding"):
        tree = counted([0, 0], 0.05, test, [0, 16])
        assert (tree.bands()[0] == [[0, 0], [1, 1]]).all()


def test_ranks_come_with_counts_and_the_largest_first() -> None:
    tree = CountedTree(2, 0.3, "hoeffding")
    risks: list[float] = []
    rare: list[tuple[int, ...]] = [*[(0,)] * 5, *[(1,)] * 5]
    tree.add(drawn((), rare))  # the root gets rank 0: its own words are not enough for others
    tree.add(drawn((0,), [()] * 9 + [(0,)] * 4))
    tree.add(drawn((1,), [()] * 8))
    for word in ((), (0,), (1,)):
        tree.add(drawn(word, [()] * 400))
        low, high = tree.bands()[tree.last_node(word)]
        risks.append(float(high[0] - low[0]))
    assert risks == sorted(risks)  # those of later ranks are wider
    assert (tree.bands()[tree.last_node((0, 0))] == [[0, 0, 0], [1, 1, 1]]).all()


@pytest.mark.slow
@pytest.mark.parametrize("test", ["exact", "hoeffding"])
@pytest.mark.parametrize("share", [0.02, 0.5])
def test_bands_hold_however_often_one_looks(test: Test, share: float) -> None:
    random, missed, runs = np.random.default_rng(1), 0, 60
    for _ in range(runs):
        tree, is_missed = CountedTree(1, 0.5, test), False
        for _ in range(25):
            draws = random.random(10) < share
            tree.add(drawn((), [(0,) if one else () for one in draws]))
            low, high = tree.bands()[0]
            is_missed |= bool(low[1] > share or high[1] < share)
        missed += is_missed
    assert missed <= 0.25 * runs  # rank 0 may miss with half of alpha


def test_bands_of_more_samples_are_narrow_and_those_of_none_say_nothing() -> None:
    for test in ("exact", "hoeffding"):
        few, many = (counted([count, count], 0.05, test, [4, 4]).bands() for count in (50, 5000))
        assert (many[0, 1] - many[0, 0] < 0.12).all()
        assert (few[0, 1] - few[0, 0] > 0.3).all()
        assert (few[-1] == [[0, 0], [1, 1]]).all()
    exact, hoeffding = (
        counted([1000, 0], 0.05, test, [8, 0]).bands()[0, 1, 1] for test in ("exact", "hoeffding")
    )
    assert exact < hoeffding / 3  # near 0


def test_continuations_are_evidence_for_all_prefixes_along_them_and_none_before() -> None:
    tree = CountedTree(2, 0.05, "exact")
    tree.add(drawn((1,), [(0, 0), (0,), ()], 1))
    words = [tree.word(node) for node in range(len(tree))]
    assert words == [(), (1,), (1, 0), (1, 0, 0)]
    assert tree.counts.tolist() == [[0, 0, 0], [1, 2, 0], [0, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert tree.table.tolist() == [[-1, 1], [2, -1], [3, -1], [-1, -1], [-1, -1]]
    assert [tree.last_node(word) for word in [(), (1, 0, 1), (0, 1)]] == [0, 2, 0]
    tree.add(drawn((0,), [()], 0))
    assert tree.mute == {4}
