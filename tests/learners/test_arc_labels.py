"""Labels of arcs: traces where prefixes are free, classes elsewhere; few at a time or many."""

from __future__ import annotations

import numpy as np
import pytest

from pdfalearn import Quantization, learn
from pdfalearn.datasets import random_pdfa
from pdfalearn.models import AutomatonModel
from pdfalearn.observations import asking, tree
from pdfalearn.observations.tree import UNDEFINED, ObservationTree
from tests.learners.families import FAMILIES, drawn
from tests.models.watched import COSTS, WatchedModel
from tests.support import mostly_slow


@pytest.mark.parametrize("few", [1, 10**9], ids=["all at once", "one by one"])
@pytest.mark.parametrize("prefixes_free", [True, False])
@pytest.mark.parametrize("family", mostly_slow(FAMILIES))
def test_labels_are_equal_iff_classes_are(
    family: str, prefixes_free: bool, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (tree, asking):
        monkeypatch.setattr(module, "FEW", few)
    for seed in range(6):
        target, equivalence = drawn(family, 12, seed)
        random = np.random.default_rng(seed)
        model = WatchedModel(AutomatonModel(target), cost=COSTS[prefixes_free])
        observations = ObservationTree(model, equivalence)
        label, known_label = observations.classes, observations.known_class
        if prefixes_free:
            label, known_label = observations.traces, observations.known_trace
        observations.ask(np.array([0]))
        width, table = len(target.alphabet), observations.suffixes
        for length in range(4):
            suffix = table.add_word(random.integers(width, size=length).tolist())
            words = [random.integers(width, size=4).tolist() for _ in range(8)]
            nodes = np.unique([observations.node(word) for word in words])
            found = label(nodes, np.full(len(nodes), suffix))
            expected = []
            for word in observations.nodes.words(nodes):
                prefixes = [table.word(suffix)[:end] for end in range(1, length + 1)] or [[]]
                if not prefixes_free:
                    prefixes = prefixes[-1:]
                rows = [
                    target.next_distribution(target.alphabet.decode(word + prefix))
                    for prefix in prefixes
                ]
                expected.append(
                    tuple(
                        None if row is None else equivalence.keys(row[None]).tobytes()
                        for row in rows
                    )
                )
            numbers: dict[object, int] = {}
            for number, classes in zip(found.tolist(), expected, strict=True):
                assert numbers.setdefault(classes, number) == number
            assert len(set(numbers.values())) == len(numbers)
            for classes, number in zip(expected, found.tolist(), strict=True):
                trace = [number]
                if prefixes_free and length > 1:
                    trace = np.frombuffer(observations.all_traces[number], np.int32).tolist()
                assert [class_ == UNDEFINED for class_ in trace] == [c is None for c in classes]
            known = [known_label(node, suffix) for node in nodes.tolist()]
            assert known == found.tolist()
        assert len(set(model.asked)) == len(model.asked)


def test_a_label_that_was_not_asked_for_is_not_known() -> None:
    observations = ObservationTree(AutomatonModel(random_pdfa(5, seed=1)), Quantization(10))
    suffix = observations.suffixes.add_word([0, 1, 1])
    assert observations.known_trace(0, suffix) is None
    assert observations.nodes.size == 1
    (trace,) = observations.traces(np.array([0]), np.array([suffix])).tolist()
    assert observations.known_trace(0, suffix) == trace


@pytest.mark.parametrize("shared", [2, 4, 16])
def test_traces_take_far_fewer_words_and_classes_fewer_symbols(shared: int) -> None:
    target = random_pdfa(200, distributions=shared, seed=3)
    traces = learn(target).statistics
    classes = learn(target, learner="quant-classes").statistics
    assert traces.words < 0.8 * classes.words
    assert classes.symbols < 0.8 * traces.symbols
    assert traces.equivalence_queries < classes.equivalence_queries
