"""Hypothesis strategies: constraints of every kind."""

from __future__ import annotations

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from pdfalearn import PDFA
from pdfalearn.languages import DFA
from tests.models.constrained.direct import (
    Best,
    Constraint,
    Guide,
    Heat,
    NothingLeftError,
    Nucleus,
    product,
)


@st.composite
def dfas(draw: st.DrawFn, alphabet: str) -> DFA:
    """A DFA of few states, some of which may be of no use; every second accepts, or more."""
    states, symbols = draw(st.integers(1, 4)), len(alphabet)
    successor = st.one_of(st.integers(0, states - 1), st.integers(-1, states - 1))
    cells = draw(st.lists(successor, min_size=states * symbols, max_size=states * symbols))
    ends = draw(st.lists(st.sampled_from([True, True, False]), min_size=states, max_size=states))
    return DFA(
        alphabet=alphabet,
        transitions=np.reshape(cells, (states, symbols)),
        accepting=ends,
        initial=draw(st.integers(0, states - 1)),
    )


def constraints(alphabet: str) -> st.SearchStrategy[list[Constraint]]:
    """Up to three constraints of any kind, in any order."""
    return st.lists(
        st.one_of(
            dfas(alphabet).map(Guide),
            st.integers(1, len(alphabet) + 2).map(Best),
            st.sampled_from(["0.1", "0.3", "0.5", "0.6", "0.75", "0.9", "0.99", "1"]).map(Nucleus),
            st.sampled_from([0.25, 0.5, 1.0, 2.0, 3.5]).map(Heat),
        ),
        min_size=1,
        max_size=3,
    )


def filtered(target: PDFA, chosen: list[Constraint]) -> PDFA:
    """The product, where all of its states have something left."""
    try:
        return product(target, chosen)
    except NothingLeftError:
        assume(False)
        raise
