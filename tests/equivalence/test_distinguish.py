"""Telling automata and states apart, against brute force over words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, Exact, Quantization, Tolerance, distinguish, quotient
from pdfalearn.arrays import union_find
from pdfalearn.arrays.union_find import UnionFind
from pdfalearn.datasets import chain, combination_lock, random_pdfa
from pdfalearn.equivalence.relations import Equivalence
from pdfalearn.errors import InputError
from tests.strategies import all_words, equivalences, pdfas
from tests.support import examples

Relation = Equivalence | Tolerance


def relations() -> st.SearchStrategy[Relation]:
    tolerances = st.sampled_from([0.0, 0.01, 0.1, 0.25, 0.5]).map(Tolerance)
    return st.one_of(equivalences(), tolerances)


def differ_after(a: PDFA, p: int, b: PDFA, q: int, word: str, equivalence: Relation) -> bool:
    left, right = a.next_distribution(word, state=p), b.next_distribution(word, state=q)
    if left is None or right is None:
        return (left is None) != (right is None)
    if isinstance(equivalence, Tolerance):
        return not equivalence.similar(left, right)
    classes = equivalence.classes(np.array([left, right]))
    return bool(classes[0] != classes[1])


@examples(400)
@given(st.data(), relations())
def test_agrees_with_brute_force(data: st.DataObject, equivalence: Relation) -> None:
    a = data.draw(pdfas(max_states=3, alphabet="ab"))
    b = data.draw(pdfas(max_states=3, alphabet="ab"))
    p = data.draw(st.integers(0, len(a) - 1))
    q = data.draw(st.integers(0, len(b) - 1))
    found = distinguish(a, b, equivalence=equivalence, states=(p, q))
    # Nine pairs, and undefined on either side: no shortest word is longer than all pairs.
    longest = len(a) * len(b) if isinstance(equivalence, Tolerance) else len(a) + len(b)
    brute = [w for w in all_words("ab", longest) if differ_after(a, p, b, q, w, equivalence)]
    assert (found is None) == (not brute)
    if found is not None:
        assert differ_after(a, p, b, q, "".join(map(str, found)), equivalence)


@pytest.mark.parametrize("few", [0, 20, 1000])
@given(st.integers(1, 40), st.data())
def test_union_find_merges_pair_after_pair(few: int, size: int, data: st.DataObject) -> None:
    node = st.integers(0, size - 1)
    batches = data.draw(st.lists(st.lists(st.tuples(node, node), max_size=60), max_size=4))
    partition, naive = UnionFind(size), list(range(size))
    for batch in batches:
        pairs = np.array(batch, dtype=np.int64).reshape(-1, 2)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(union_find, "_FEW", few)
            needed = partition.merge(pairs[:, 0], pairs[:, 1]).tolist()
        expected = []
        for place, (left, right) in enumerate(batch):
            if naive[left] != naive[right]:
                expected.append(place)
                naive = joined(naive, left, right)
        assert needed == expected


def joined(classes: list[int], left: int, right: int) -> list[int]:
    low, high = sorted((classes[left], classes[right]))
    return [low if number == high else number for number in classes]


def test_symbols_are_matched_by_name() -> None:
    a = PDFA(alphabet="ab", transitions=[[0, 0]], probabilities=[[0.2, 0.3, 0.5]])
    b = PDFA(alphabet="ba", transitions=[[0, 0]], probabilities=[[0.2, 0.5, 0.3]])
    assert distinguish(a, b, equivalence=Exact()) is None
    assert distinguish(a, b, equivalence=Tolerance(0)) is None


def test_symbols_that_only_one_knows_are_impossible_in_the_other() -> None:
    a = PDFA(alphabet="ab", transitions=[[0, 0]], probabilities=[[0.2, 0.3, 0.5]])
    b = PDFA(alphabet="ac", transitions=[[0, 0]], probabilities=[[0.2, 0.3, 0.5]])
    assert distinguish(a, b, equivalence=Exact()) == ()
    assert distinguish(a, b, equivalence=Tolerance(0.5)) == ("b",)
    never = PDFA(alphabet="bxa", transitions=[[0, -1, 0]], probabilities=[[0.2, 0.5, 0, 0.3]])
    assert distinguish(a, never, equivalence=Exact()) is None


@pytest.mark.parametrize("state", [-1, 2, 1.5])
def test_bad_states_are_refused(state: int) -> None:
    pdfa = chain(2)
    with pytest.raises(InputError, match="state"):
        distinguish(pdfa, pdfa, equivalence=Exact(), states=(0, state))


def test_the_end_of_a_chain_is_found() -> None:
    longer, shorter = chain(5000), chain(4999)
    word = distinguish(longer, shorter, equivalence=Quantization(10))
    assert word == ("a",) * 4998
    assert distinguish(longer, longer, equivalence=Exact(), states=(0, 1)) == ("a",) * 4998


def test_the_secret_of_a_lock_is_found() -> None:
    lock = combination_lock(60, seed=3)
    closed = PDFA(alphabet="01", transitions=[[0, 0]], probabilities=lock.probabilities[:1])
    for equivalence in (Exact(), Tolerance(0.1)):
        word = distinguish(lock, closed, equivalence=equivalence)
        assert word is not None
        assert lock.state_after(word) == 59


def test_a_fault_among_many_states_is_found() -> None:
    target = random_pdfa(3000, distributions=4, seed=2)
    rows = target.probabilities.copy()
    rows[2500] = [0.2, 0.3, 0.5]
    faulty = PDFA(alphabet="01", transitions=target.transitions, probabilities=rows)
    for equivalence in (Exact(), Quantization(1000), Tolerance(0.001)):
        word = distinguish(target, faulty, equivalence=equivalence)
        assert word is not None
        assert differ_after(target, 0, faulty, 0, "".join(map(str, word)), equivalence)
        assert distinguish(target, target, equivalence=equivalence) is None


def test_undefined_differs_from_defined_in_the_coarsest_relation() -> None:
    rows = [[0.5, 0.5, 0.0]]
    defined = PDFA(alphabet="ab", transitions=[[0, 0]], probabilities=rows)
    undefined = PDFA(alphabet="ab", transitions=[[0, -1]], probabilities=rows)
    for equivalence in (Quantization(1), Exact(), Tolerance(1)):
        assert distinguish(defined, undefined, equivalence=equivalence) == ("b",)
        assert distinguish(undefined, defined, equivalence=equivalence) == ("b",)


def test_merging_many_states_into_one_takes_few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    leaves = 2**10
    inner = np.arange(leaves, 2 * leaves - 1)
    children = np.arange(len(inner) * 2).reshape(-1, 2)
    transitions = np.concatenate((np.repeat(np.arange(leaves), 2).reshape(-1, 2), children))
    tree = PDFA(
        alphabet="ab",
        transitions=transitions,
        probabilities=np.full((len(transitions), 3), [0.5, 0.25, 0.25]),
        initial=len(transitions) - 1,
    )
    rounds = 0
    roots = UnionFind._roots

    def counted(self: UnionFind, nodes: np.ndarray[tuple[int], np.dtype[np.int64]]) -> object:
        nonlocal rounds
        rounds += 1
        return roots(self, nodes)

    monkeypatch.setattr(UnionFind, "_roots", counted)
    assert distinguish(tree, quotient(tree, equivalence=Exact()), equivalence=Exact()) is None
    assert rounds < 100  # a dozen levels, a few rounds each
