"""Shortest words to states."""

from __future__ import annotations

from hypothesis import given

from pdfalearn import PDFA
from pdfalearn.analysis import reachable
from pdfalearn.datasets import chain
from pdfalearn.reachability import shortest_words
from tests.strategies import all_words, pdfas


@given(pdfas(max_states=6, alphabet="ab"))
def test_they_are_the_least_of_the_shortest(pdfa: PDFA) -> None:
    found = pdfa.alphabet.decode_words(shortest_words(pdfa, reachable(pdfa)))
    first: dict[int, tuple[str, ...]] = {}
    for word in all_words("ab", 6):
        state = pdfa.state_after(word)
        if state is not None:
            first.setdefault(state, tuple(word))
    assert found == list(first.values())
    assert pdfa.states_after(found).tolist() == reachable(pdfa).states.tolist()


def test_they_may_be_long() -> None:
    words = shortest_words(chain(300), reachable(chain(300)))
    assert words.lengths.tolist() == list(range(300))
