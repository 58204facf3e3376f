"""Sessions of constrained models lead and answer as the automaton that is filtered directly."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdfalearn import PDFA, AutomatonModel, FunctionModel, LanguageModel
from pdfalearn.alphabet import Symbol
from pdfalearn.models.protocol import Session
from pdfalearn.row_checks import UndecidedError
from pdfalearn.words import Words
from tests.models.constrained.direct import Constraint, wrapped
from tests.models.constrained.sessions import SparseModel
from tests.models.constrained.strategies import constraints, filtered
from tests.models.watched import WatchedModel
from tests.strategies import all_words, pdfas


def function_of(pdfa: PDFA) -> FunctionModel:
    """A function that says None of undefined words."""

    def answer(words: list[tuple[Symbol, ...]]) -> list[list[float] | None]:
        states = pdfa.states_after(words)
        return [pdfa.probabilities[q].tolist() if q >= 0 else None for q in states]

    return FunctionModel(answer, pdfa.alphabet)


FORMS: dict[str, Callable[[PDFA], LanguageModel]] = {
    "automaton": AutomatonModel,
    "owned handles": lambda pdfa: WatchedModel(AutomatonModel(pdfa)),
    "function": function_of,
    "sparse": SparseModel,
    "sparse, owned handles": lambda pdfa: WatchedModel(SparseModel(pdfa)),
}

WORDS = all_words("abc", 3)


def answers(session: Session, words: list[str], cuts: list[int]) -> list[list[float] | None]:
    """The distribution after each word, led to in two steps; None if it is undefined."""
    encoded = [["abc".index(symbol) for symbol in word] for word in words]
    pairs = list(zip(encoded, cuts, strict=True))
    handles = led(
        session, np.full(len(words), session.start()), [word[:cut] for word, cut in pairs]
    )
    going = np.flatnonzero(handles >= 0)
    rests = [encoded[place][cuts[place] :] for place in going]
    handles[going] = led(session, handles[going], rests)
    here = np.flatnonzero(handles >= 0)
    different, places = np.unique(handles[here], return_inverse=True)
    rows = session.read(different)
    found: list[list[float] | None] = [None] * len(words)
    for word, place in zip(here, places, strict=True):
        if rows.undefined is None or not rows.undefined[place]:
            found[word] = rows.to_dense()[place].tolist()
    return found


def led(session: Session, handles: np.ndarray, words: list[list[int]]) -> np.ndarray:
    """The handle after each of several words."""
    batch = Words.of(words)
    after = session.extend(handles, batch)
    ends = handles.copy()
    longer = batch.lengths > 0
    ends[longer] = after[batch.offsets[1:][longer] - 1]
    return ends


def assert_same(found: list[list[float] | None], expected: PDFA, words: list[str] = WORDS) -> None:
    for word, row in zip(words, found, strict=True):
        state = expected.state_after(word)
        assert (row is None) == (state is None), word
        assert row is None or np.allclose(row, expected.probabilities[state], atol=1e-12), word


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=60)
@given(pdfas(alphabet="abc"), constraints("abc"), st.randoms(use_true_random=False))
@pytest.mark.slow
def test_all_short_words(form: str, target: PDFA, chosen: list[Constraint], random: object) -> None:
    expected = filtered(target, chosen)
    cuts = [random.randint(0, len(word)) for word in WORDS]  # type: ignore[attr-defined]
    if "owned" in form:  # a watched model refuses to be led to undefined words again
        cuts = [0] * len(WORDS)
    session = wrapped(FORMS[form](target), chosen).open()
    assert_same(answers(session, WORDS, cuts), expected)


@settings(max_examples=100)
@given(pdfas(alphabet="abc"), constraints("abc"), st.integers(0, 2))
@pytest.mark.slow
def test_models_that_list_too_little_are_refused_or_right(
    target: PDFA, chosen: list[Constraint], listed: int
) -> None:
    defined = PDFA(
        alphabet="abc",
        transitions=np.maximum(target.transitions, 0),
        probabilities=target.probabilities,
        initial=target.initial,
    )
    expected = filtered(defined, chosen)
    model = wrapped(SparseModel(defined, listed), chosen)
    for word in WORDS:
        session = model.open()
        try:
            found = answers(session, [word], [0])
        except UndecidedError:
            continue
        assert_same(found, expected, [word])
