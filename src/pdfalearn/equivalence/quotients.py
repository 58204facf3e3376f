"""The quotient of a PDFA by an equivalence, and weak minimality (§2.1 to §2.3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pdfalearn.equivalence.refinement import refined
from pdfalearn.equivalence.relations import Equivalence, check_equivalence
from pdfalearn.pdfa import PDFA, checked_pdfa, renumbered
from pdfalearn.reachability import reachable_part


def state_classes(pdfa: PDFA, *, by: Equivalence) -> NDArray[np.int64]:
    """Number the classes of a PDFA's states: equal numbers iff the states are equivalent.

    Parameters
    ----------
    pdfa : PDFA
        The automaton; states that no word reaches count too.
    by : Equivalence
        When two distributions are the same.
    """
    pdfa = checked_pdfa(pdfa, "pdfa")
    classes = check_equivalence(by).classes(pdfa.probabilities)
    transitions = pdfa.transitions
    undefined = transitions < 0
    if not undefined.any():
        return refined(transitions, classes)
    # Undefined is one more class: here a state of its own, after the others.
    sink = len(pdfa)
    transitions = np.append(transitions, np.full((1, len(pdfa.alphabet)), sink), axis=0)
    transitions[:-1][undefined] = sink
    return refined(transitions.astype(np.int32), np.append(classes, classes.max() + 1))[:-1]


def quotient(pdfa: PDFA, *, by: Equivalence) -> PDFA:
    """Return the quotient of the reachable part of a PDFA: one state for each class.

    Parameters
    ----------
    pdfa : PDFA
        The automaton A.
    by : Equivalence
        `Exact` for A/≡; `Quantization` for a member of A/≡_κ.

    Returns
    -------
    PDFA
        Numbered breadth first, so that equivalent automata over one alphabet have quotients with
        equal transitions. Every class has the distribution of its first state in that order.

    Examples
    --------
    >>> from pdfalearn import Exact, Quantization
    >>> rows = [[0.52, 0.48], [0.53, 0.47]]
    >>> pdfa = PDFA(alphabet="a", transitions=[[1], [0]], probabilities=rows)
    >>> len(quotient(pdfa, by=Exact())), len(quotient(pdfa, by=Quantization(10)))
    (2, 1)
    """
    part = reachable_part(pdfa)
    classes = state_classes(part, by=by)
    _, first, numbers = np.unique(classes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(first), dtype=np.int32)
    rank[order] = np.arange(len(first))
    return renumbered(part, first[order], rank[numbers])


def is_weakly_minimal(pdfa: PDFA, *, by: Equivalence) -> bool:
    """Return whether no two reachable states are equivalent.

    Examples
    --------
    >>> from pdfalearn import Exact
    >>> pdfa = PDFA(alphabet="a", transitions=[[1], [0]], probabilities=[[0.5, 0.5]] * 2)
    >>> is_weakly_minimal(pdfa, by=Exact())
    False
    """
    part = reachable_part(pdfa)
    return len(np.unique(state_classes(part, by=by))) == len(part)
