"""All words up to a length: the shortest differences, and nothing below undefined words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA
from pdfalearn.datasets import chain, combination_lock, random_pdfa
from pdfalearn.equivalence.relations import Equivalence
from pdfalearn.errors import InputError
from pdfalearn.models import AutomatonModel
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.oracles import AllWordsOracle, comparison
from tests.models.watched import WatchedModel
from tests.oracles.helpers import BY, differs, tree
from tests.strategies import all_words, equivalences, pdfas


@given(st.data(), equivalences())
def test_all_words_finds_the_shortest_or_none(
    data: st.DataObject, equivalence: Equivalence
) -> None:
    target, hypothesis = data.draw(pdfas(alphabet="ab")), data.draw(pdfas(alphabet="ab"))
    found = AllWordsOracle(4).counterexamples(hypothesis, tree(target, equivalence))
    words = target.alphabet.decode_words(found)
    wrong = [tuple(word) for word in all_words("ab", 4)]
    wrong = [word for word in wrong if differs(target, hypothesis, word, equivalence)]
    shortest = {word for word in wrong if len(word) == len(wrong[0])}
    assert bool(words) == bool(wrong)
    assert set(words) <= shortest
    befores = {hypothesis.state_after(word[:-1]) for word in words}
    assert befores == {hypothesis.state_after(word[:-1]) for word in shortest}


def test_all_words_asks_for_every_word_once_and_none_below_undefined_ones() -> None:
    target = PDFA(
        alphabet="ab",
        transitions=[[0, 1], [1, -1]],
        probabilities=[[0.2, 0.4, 0.4], [0.5, 0.5, 0.0]],
    )
    model = WatchedModel(AutomatonModel(target))
    oracle = AllWordsOracle(5)
    assert len(oracle.counterexamples(target, ObservationTree(model, BY))) == 0
    defined = [word for word in all_words("ab", 5) if "b" not in word or word.count("b") == 1]
    assert sorted(model.asked) == sorted(tuple("ab".index(s) for s in word) for word in defined)


def test_all_words_are_asked_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "_PART", 4)
    target = random_pdfa(20, seed=1)
    model = WatchedModel(AutomatonModel(target))
    oracle = AllWordsOracle(5)
    oracle.counterexamples(target, ObservationTree(model, BY))
    assert max(map(len, model.batches)) == 4
    assert len(model.asked) == oracle.certificate.details["words"] == 63
    assert str(oracle.certificate) == (
        "tested: model and automaton agree on all words of up to 5 symbols"
    )


def test_differences_are_found_in_every_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "_PART", 3)
    for seed in range(8):
        lock = combination_lock(4, seed=seed)
        found = AllWordsOracle(5).counterexamples(closed(lock), tree(lock))
        (word,) = lock.alphabet.decode_words(found)
        assert lock.state_after(word) == 3
        assert len(word) == 3


def closed(lock: PDFA) -> PDFA:
    """A single state, as long as the lock is closed."""
    return PDFA(alphabet=lock.alphabet, transitions=[[0, 0]], probabilities=lock.probabilities[:1])


@pytest.mark.parametrize(
    ("symbols", "length", "count"),
    [(2, 23, "16,777,215"), (10, 8, "111,111,111"), (3, 2000, r"about 10\^954"), (2, 2**30, "")],
)
def test_absurdly_many_words_are_refused(symbols: int, length: int, count: str) -> None:
    target = random_pdfa(5, symbols, seed=1)
    with pytest.raises(InputError, match=f"there are {count}.*of up to {length} symbols"):
        AllWordsOracle(length).counterexamples(target, tree(target))


@pytest.mark.slow
def test_one_symbol_has_few_words() -> None:
    oracle = AllWordsOracle(2000)
    assert oracle.counterexamples(chain(1000), tree(chain(1001))).lengths.tolist() == [999]
    assert len(oracle.counterexamples(chain(1001), tree(chain(1001)))) == 0
