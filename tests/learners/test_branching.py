"""Traces as a tree of inner nodes: following classes leads to the right child."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pdfalearn.results.trees import branches


@given(
    st.integers(1, 5).flatmap(
        lambda length: st.lists(
            st.tuples(*[st.integers(-1, 2)] * length), min_size=1, max_size=12, unique=True
        )
    )
)
def test_following_classes_leads_to_the_child(traces: list[tuple[int, ...]]) -> None:
    lengths: list[int] = []
    children: dict[tuple[int, int], tuple[int | None, int]] = {}
    for arc in branches(traces):
        if arc.inner is not None:
            assert arc.inner == len(lengths)
            lengths.append(arc.length)
        if arc.parent >= 0:
            children[arc.parent, arc.class_] = arc.inner, arc.child
    assert len(lengths) <= max(1, len(traces) - 1)
    for place, trace in enumerate(traces):
        inner: int | None = 0
        while inner is not None:
            inner, child = children[inner, trace[lengths[inner] - 1]]
        assert child == place
