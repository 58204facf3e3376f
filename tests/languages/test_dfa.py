"""DFA: what they accept, and what is refused when one is made."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
import pytest

from pdfalearn.errors import InputError
from pdfalearn.languages import DFA

GIVEN: dict[str, Any] = {
    "alphabet": "ab",
    "transitions": [[1, -1], [1, 0]],
    "accepting": [False, True],
}


def test_words_are_accepted_where_their_run_ends_well() -> None:
    dfa = DFA(**GIVEN)
    assert [dfa.accepts(word) for word in ("", "a", "ab", "aba", "b", "ba")] == [
        False,
        True,
        False,
        True,
        False,
        False,
    ]
    assert DFA(**GIVEN, initial=1).accepts("")


def test_a_dfa_never_changes() -> None:
    transitions, accepting = np.array(GIVEN["transitions"]), np.array(GIVEN["accepting"])
    dfa = DFA(alphabet="ab", transitions=transitions, accepting=accepting)
    transitions[:], accepting[:] = 0, False
    assert dfa.accepts("a")
    with pytest.raises(AttributeError, match="DFA objects never change"):
        dfa.initial = 1
    with pytest.raises(ValueError, match="read-only"):
        dfa.transitions[0, 0] = 0
    with pytest.raises(ValueError, match="read-only"):
        dfa.accepting[0] = True


def test_a_dfa_can_be_copied_and_pickled() -> None:
    dfa = copy(DFA(**GIVEN, initial=1))
    assert dfa.initial == 1
    assert dfa.accepts("aba")
    assert repr(dfa) == "DFA(2 states, 2 symbols, initial=1)"


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"accepting": [1, 0]}, r"accepting \[1, 0\] has to be True or False for each state"),
        ({"accepting": [[True, False]]}, "has to be True or False"),
        ({"accepting": []}, "has to be True or False"),
        ({"accepting": [True]}, "transitions have 2 rows and accepting 1 values"),
        ({"transitions": 3}, r"transitions have shape \(\), not \(states, 2\)"),
        ({"transitions": [[1], [0]]}, r"shape \(2, 1\), not \(states, 2\)"),
        ({"transitions": [[1, 2], [0, 0]]}, "state 0, symbol 'b': successor 2 is not one of"),
        ({"transitions": [[0.5, 1], [0, 0]]}, "not a table of integers"),
        ({"transitions": [[1], [0, 0]]}, "not a table of integers"),
        ({"alphabet": ""}, "the alphabet is empty"),
        ({"initial": 2}, "initial state 2 is not an integer from 0 to 1"),
    ],
)
def test_what_is_no_dfa_is_refused(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        DFA(**(GIVEN | changes))
