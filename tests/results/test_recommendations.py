"""What a sweep recommends, and whether its reasons are true."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pdfalearn import Quantization, Sweep, Tolerance, learn
from pdfalearn.datasets import chain
from pdfalearn.results import SweepRow

Run = tuple[Quantization | Tolerance, int, float, bool]
"""What was learnt with, its states and divergence, and whether it ended."""


def sweep_of(*runs: Run) -> Sweep:
    """Make up a sweep whose divergences are exact."""
    divergences = np.array([[divergence] for _, _, divergence, _ in runs])
    return Sweep(
        rows=tuple(map(_row, runs)),
        drawn_words=0,
        held_out_questions=0,
        kept_losses=divergences,
        kept_infinite=np.zeros_like(divergences),
        kept_lengths=np.ones(1),
    )


def _row(run: Run) -> SweepRow:
    equivalence, states, divergence, has_ended = run
    result = learn(chain(states))
    assert len(result.pdfa) == states
    known = replace(result.certificate, kind="exact" if has_ended else "stopped")
    result = replace(result, certificate=known)
    return SweepRow(equivalence, result, divergence, divergence, divergence, 0.0)


def test_a_worse_automaton_of_about_the_same_size_is_no_reason() -> None:
    found = sweep_of(
        (Quantization(5), 50, 0.1, True),
        (Quantization(10), 51, 0.01, True),
        (Quantization(20), 51, 0.01, True),
    )
    assert found.recommended is found.rows[1]
    assert "larger automata are not nearer" in found.recommendation


def test_what_has_no_divergence_is_not_to_be_bettered() -> None:
    coarse = (Quantization(2), 2, 0.5, True)
    assert sweep_of(coarse, (Quantization(5), 9, 0.0, True)).recommendation == (
        "κ = 5, 9 states; its divergence is at most 1e-06"
    )
    nearer = sweep_of(coarse, (Quantization(5), 9, 0.1, True)).recommendation
    assert "a finer one may be nearer" in nearer


def test_beyond_means_finer_and_of_the_same_kind() -> None:
    grown = ((Quantization(2), 2, 0.5, True), (Quantization(5), 9, 0.1, True))
    stopped = sweep_of(*grown, (Quantization(10), 12, 0.1, False))
    assert stopped.recommended is None
    assert "states grew from 2 to 9 at κ = 5, and beyond" in stopped.recommendation
    for other in (Quantization(1), Tolerance(0.5)):
        runs = sorted([*grown, (other, 12, 0.1, False)], key=lambda run: str(run[0]))
        found = sweep_of(*runs)
        assert found.recommended is not None
        assert found.recommended.equivalence == Quantization(5)
