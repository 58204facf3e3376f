"""Choices on held-out words: contexts are the floor, and each half is measured by the other."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.distilling.black_boxes import BlackBox, random_target
from pdfalearn import Alphabet, Exact
from pdfalearn.distilling.candidates import STRENGTHS, Choice, Chooser, fit_both
from pdfalearn.distilling.contexts import Contexts
from pdfalearn.distilling.estimates import HeldOut
from pdfalearn.distilling.evidence import Evidence
from pdfalearn.distilling.machines import Machine, find_possible, fit_rows, make_pdfa, prune
from pdfalearn.distilling.sampling import Sampling
from pdfalearn.distilling.searching import search
from pdfalearn.learners import ObservationTree
from pdfalearn.samplers import ModelWords
from tests.support import mostly_slow

SIZES = [3, 8, 40, 300]
ABC = Alphabet("abc")


class Setting:
    """Words of a random automaton, those to learn from and those that are held out."""

    def __init__(self, seed: int) -> None:
        model = BlackBox(random_target(20, 3, seed=seed))
        with ObservationTree(model, Exact()) as observations:
            sampling = Sampling(observations, ModelWords(30), seed, held_out=4)
            while sampling.words < 120:
                sampling._draw(40)
            self.evidence: Evidence = sampling.make_evidence(2**62)[0]
            self.everything: Evidence = sampling.make_evidence(2**62, with_held_out=True)[0]
            self.held_out = HeldOut(sampling.held_out, observations)
        self.contexts = Contexts(self.evidence, max(SIZES))

    def choose(self, machines: dict[int, list[Machine]]) -> dict[int, Choice]:
        return dict(Chooser(self.evidence, self.held_out, self.contexts).choose(machines))

    def loss(self, machine: Machine) -> float:
        sums = self.held_out.sum_words(machine.transitions, 0, machine.rows)
        return float(sums.comparable.sum())


@pytest.mark.parametrize("seed", mostly_slow(range(4)))
def test_no_size_falls_below_contexts_or_the_search(seed: int) -> None:
    setting = Setting(seed)
    found = {size: fit.machine for size, fit in search(setting.evidence, SIZES, cycles=False)}
    choices = setting.choose({size: [machine] for size, machine in found.items()})
    for size, choice in choices.items():
        mine = choice.candidate.sums.comparable.sum()
        context = fit_rows(setting.contexts.machine(size), setting.evidence).machine
        for other in (found[size], context):
            # The strength is searched for by climbing, and rows of strength 1 are on the way.
            assert mine <= setting.loss(fit_rows(other, setting.evidence).machine) * (1 + 0.05)
        assert choice.candidate.strength in STRENGTHS


def test_contexts_stand_in_for_an_automaton_that_is_worse() -> None:
    setting = Setting(1)
    bad = Machine(np.zeros((1, 3), dtype=np.int32), np.full((1, 4), 0.25), np.full((1, 4), 0.25))
    choices = setting.choose({8: [bad], 40: [bad, bad], 300: []})
    assert all(choice.candidate.is_contexts for choice in choices.values())
    assert len(choices[8].candidate.machine.rows) <= 8
    losses = [float(choices[size].candidate.sums.comparable.sum()) for size in (8, 40, 300)]
    assert losses == sorted(losses, reverse=True)


def test_each_half_is_measured_with_the_choice_of_the_other() -> None:
    setting = Setting(2)
    good, bad = (setting.contexts.machine(size) for size in (40, 2))
    chooser = Chooser(setting.evidence, setting.held_out, setting.contexts)
    found = [*chooser._measure_searched(good), *chooser._measure_searched(bad)]
    # Make one the best on even words and the other on odd ones: figures then are the worse ones.
    even = np.arange(setting.held_out.word_count) % 2 == 0
    first, second = found[0].sums.losses, found[-1].sums.losses
    mixed = [
        found[0]._replace(sums=found[0].sums._replace(losses=np.where(even, 0.0, first + 1))),
        found[-1]._replace(sums=found[-1].sums._replace(losses=np.where(even, second + 1, 0.0))),
    ]
    honest = chooser._compare(mixed).sums.losses
    assert honest == pytest.approx(np.where(even, second + 1, first + 1))


def test_rows_get_all_answers_in_the_end() -> None:
    setting = Setting(3)
    choice = setting.choose({1: [setting.contexts.machine(1)]})[1]
    everything = setting.everything
    regrown = Contexts(everything, 1)
    fit, refitted = fit_both(1, choice.candidate, setting.evidence, everything, regrown)
    mean = everything.weights @ np.asarray(everything.answers) / everything.total
    assert refitted.machine.rows[0] == pytest.approx(mean, abs=1e-4)
    assert np.abs(fit.machine.rows[0] - mean).max() > 1e-4


def test_contexts_are_chosen_again_with_all_answers() -> None:
    setting = Setting(3)
    everything, regrown = setting.everything, Contexts(setting.everything, max(SIZES))
    choice = setting.choose({300: []})[300]
    assert choice.candidate.is_contexts
    candidate, evidence = choice.candidate, setting.evidence
    before, fit = fit_both(300, candidate, evidence, everything, regrown)
    again, kept = fit_both(300, candidate, evidence, everything, setting.contexts)
    assert before.loss == again.loss
    wanted = regrown.machine(300, candidate.strength)
    expected = make_pdfa(prune(fit_rows(wanted, everything), everything), everything, ABC)
    assert make_pdfa(fit, everything, ABC) == expected
    # Held-out words have contexts that the others do not have, and these are worth states.
    assert fit.loss < kept.loss


@pytest.mark.parametrize("size", [3, 40, 300])
def test_candidates_are_measured_as_what_they_are(size: int) -> None:
    """The states that held-out words visit are enough for the figures of the whole automaton."""
    setting = Setting(4)
    chooser = Chooser(setting.evidence, setting.held_out, setting.contexts)
    machine = setting.contexts.machine(size)
    for found in (*chooser._measure_searched(machine), *chooser._measure_contexts(size)):
        evidence, everything = setting.evidence, setting.everything
        fit, _ = fit_both(size, found, evidence, everything, setting.contexts)
        possible = find_possible(fit.machine.rows, fit.states, setting.evidence)
        transitions = np.where(possible, fit.machine.transitions, -1)
        whole = setting.held_out.sum_words(transitions, 0, fit.machine.rows)
        for mine, other in zip(found.sums, whole, strict=True):
            assert mine == pytest.approx(other, abs=1e-9)
