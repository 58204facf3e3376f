"""Searches for similar rows, against comparing every pair."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from pdfalearn import Tolerance
from pdfalearn.learners._clusters import (
    choose_apart,
    cluster_means,
    deterministic,
    greedy_clusters,
    nearest,
    similar_pairs,
)
from tests.learners.tables import tolerances

Floats = NDArray[np.float64]


@st.composite
def rows(draw: st.DrawFn, columns: int = 3, least: int = 1) -> Floats:
    """Rows of whole tenths and twentieths, so that many differ by exactly a tolerance."""
    count = draw(st.integers(least, 20))
    parts = draw(st.sampled_from([10, 20]))
    return draw(arrays(np.int64, (count, columns), elements=st.integers(0, parts))) / parts


def all_pairs(table: Floats, equivalence: Tolerance) -> list[list[int]]:
    return [
        [left, right]
        for right in range(len(table))
        for left in range(right)
        if equivalence.similar(table[left], table[right])
    ]


@given(rows(least=0), tolerances())
def test_pairs(table: Floats, equivalence: Tolerance) -> None:
    assert similar_pairs(table, equivalence).tolist() == all_pairs(table, equivalence)


@given(rows(), rows(), tolerances())
def test_nearest(candidates: Floats, table: Floats, equivalence: Tolerance) -> None:
    distances = np.abs(table[:, None] - candidates).max(axis=2)
    for place, found in enumerate(nearest(candidates, table, equivalence.limit).tolist()):
        if found < 0:
            assert not equivalence.similar(candidates, table[place]).any()
        else:
            assert equivalence.similar(candidates[found], table[place])
            assert distances[place, found] == distances[place].min()


@given(rows(least=0), tolerances())
def test_chosen_rows_are_apart_and_cover_the_others(table: Floats, equivalence: Tolerance) -> None:
    chosen = choose_apart(table, equivalence)
    assert not all_pairs(table[chosen], equivalence)
    for row in table:
        assert equivalence.similar(table[chosen], row).any()
    if len(table):
        assert chosen[0] == 0


@given(rows(), tolerances())
def test_all_members_of_a_greedy_cluster_are_similar(table: Floats, equivalence: Tolerance) -> None:
    clusters = greedy_clusters(table, equivalence)
    count = int(clusters.max()) + 1
    firsts = [clusters.tolist().index(cluster) for cluster in range(count)]
    assert firsts == sorted(firsts)
    for cluster in range(count):
        members = table[clusters == cluster]
        assert len(all_pairs(members, equivalence)) == len(members) * (len(members) - 1) // 2
    for place, cluster in enumerate(clusters.tolist()):
        for earlier in range(cluster):
            before = table[:place][clusters[:place] == earlier]
            if place == firsts[cluster]:
                assert not equivalence.similar(before, table[place]).all()


def test_of_several_clusters_the_nearest_is_joined() -> None:
    table = np.array([[0.1], [0.4], [0.3]])
    assert greedy_clusters(table, Tolerance(0.2)).tolist() == [0, 1, 1]


@given(st.data(), st.integers(1, 8), st.integers(1, 3))
def test_deterministic_clusters(data: st.DataObject, count: int, symbols: int) -> None:
    member = st.integers(-1, count - 1)
    transitions = data.draw(arrays(np.int64, (count, symbols), elements=member))
    start = data.draw(arrays(np.int64, count, elements=st.integers(0, 2)))
    _, start = np.unique(start, return_inverse=True)
    clusters = deterministic(transitions, start)
    targets = np.append(clusters, -1)[transitions]
    for cluster in range(int(clusters.max()) + 1):
        members = clusters == cluster
        assert len(np.unique(targets[members], axis=0)) == 1
        assert len(np.unique(start[members])) == 1
    assert np.array_equal(_naively_refined(transitions, start), clusters)


def _naively_refined(transitions: NDArray[np.int64], classes: NDArray[np.int64]) -> list[int]:
    """Moore's algorithm over tuples."""
    names: list[object] = classes.tolist()
    while True:
        seen: dict[object, int] = {}
        keys = [
            (name, *(names[to] if to >= 0 else None for to in row))
            for name, row in zip(names, transitions.tolist(), strict=True)
        ]
        numbers = [seen.setdefault(key, len(seen)) for key in keys]
        if len(seen) == len(set(names)):
            return numbers
        names = list(numbers)


@given(rows(), st.data())
def test_means(table: Floats, data: st.DataObject) -> None:
    drawn = data.draw(arrays(np.int64, len(table), elements=st.integers(0, 3)))
    _, clusters = np.unique(drawn, return_inverse=True)
    means = cluster_means(table, clusters)
    for cluster, mean in enumerate(means):
        members = table[clusters == cluster]
        assert np.allclose(mean, members.mean(axis=0), rtol=0, atol=1e-15)
        if (members == members[0]).all():
            assert np.array_equal(mean, members[0])
