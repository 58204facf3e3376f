"""A result is a value: compared, copied, pickled, shown in one line."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import pytest

from pdfalearn import Quantization, Result, learn
from pdfalearn.errors import InputError
from tests.io.run_samples import RUNS, TARGET, run_of
from tests.learners.checks import untimed


def pickled(result: Result) -> Result:
    copied = pickle.loads(pickle.dumps(result))  # noqa: S301
    assert isinstance(copied, Result)
    return copied


def assert_same(one: Result, other: Result) -> None:
    """Check what can be seen of two runs."""
    assert one == other
    assert hash(one) == hash(other)
    assert one.pdfa == other.pdfa
    assert one.statistics == other.statistics
    assert one.history == other.history
    assert one.certificate == other.certificate
    assert (one.equivalence, one.notes) == (other.equivalence, other.notes)
    assert one.unresolved.tolist() == other.unresolved.tolist()
    assert one.access_words == other.access_words
    assert one.has_boundaries == other.has_boundaries
    if one.has_boundaries:
        for distance in (1e-12, 1e-6, 0.1, 1):
            assert one.near_boundary(distance) == other.near_boundary(distance)
    if one.kept_tree is not None:
        assert one.tree == other.tree
    else:
        with pytest.raises(InputError, match="no classification tree"):
            _ = other.tree


@pytest.mark.parametrize("copied", [pickled, copy.copy, copy.deepcopy])
@pytest.mark.parametrize("name", RUNS)
def test_copies_are_equal(name: str, copied: Callable[[Result], Result]) -> None:
    result = run_of(name)
    other = copied(result)
    assert other is not result
    assert_same(result, other)
    assert not other.unresolved.flags.writeable
    assert not other.kept_words.parents.flags.writeable


def test_what_was_asked_for_is_not_pickled() -> None:
    fresh = learn(TARGET)
    size = len(pickle.dumps(fresh))
    assert len(fresh.access_words) == len(fresh.pdfa)
    assert fresh.tree.children
    assert len(pickle.dumps(fresh)) == size
    assert fresh.tree is fresh.tree


@pytest.mark.slow
def test_other_processes_learn_and_send() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        result = executor.submit(learn, TARGET, equivalence=Quantization(100)).result()
        here = learn(TARGET, equivalence=Quantization(100))
        assert untimed(result.statistics) == untimed(here.statistics)
        assert (result.pdfa, result.tree) == (here.pdfa, here.tree)
        back = executor.submit(copy.deepcopy, here).result()
        assert_same(here, back)


def test_results_of_different_runs_differ() -> None:
    result = run_of("quant")
    assert result != run_of("quant-classes")
    assert result != replace(result, notes=("the audit failed",))
    assert result != "a result"
    changed = replace(result, certificate=run_of("stopped").certificate)
    assert changed.pdfa == result.pdfa
    assert changed != result


@pytest.mark.parametrize("name", RUNS)
def test_they_are_shown_in_one_line(name: str) -> None:
    result = run_of(name)
    statistics = result.statistics
    assert repr(result) == (
        f"Result({len(result.pdfa)} states, {len(result.pdfa.alphabet)} symbols, "
        f"{result.certificate.kind}, {statistics.words} words asked)"
    )
    assert f"batches=({len(statistics.batches)}, of at most {max(statistics.batches)})" in repr(
        statistics
    )
    assert f"words={statistics.words}, " in repr(statistics)
    assert len(repr(statistics)) < 600
    assert len(repr(result.history)) < 100
    assert repr(result.history).startswith(f"History({len(result.history)} hypotheses")


def test_the_history_is_a_tuple() -> None:
    history = run_of("quant").history
    assert isinstance(history, tuple)
    assert copy.deepcopy(history) == history == pickle.loads(pickle.dumps(history))  # noqa: S301
    assert [step.states for step in history] == sorted(step.states for step in history)


def test_unresolved_transitions_are_those_of_the_certificate() -> None:
    stopped = run_of("stopped")
    assert stopped.unresolved.shape == (stopped.certificate.details["unresolved"], 2)
    assert len(stopped.unresolved) > 0
    symbols = stopped.pdfa.alphabet.symbols
    named = [[state, symbols[code]] for state, code in stopped.unresolved[:10].tolist()]
    assert named == stopped.certificate.details["first_unresolved"]
    for name in ("quant", "lpstar", "interrupted"):
        assert run_of(name).unresolved.shape == (0, 2)
