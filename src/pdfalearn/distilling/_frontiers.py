"""Put a frontier together: automata, their measures on held-out words, and the certificate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from pdfalearn.distilling.estimates import CONFIDENCE, HeldOut, Measured, interval
from pdfalearn.distilling.evidence import Evidence, Floats
from pdfalearn.distilling.machines import Fit, automaton, rare_loss
from pdfalearn.distilling.sampling import Sampling
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.pdfa import PDFA
from pdfalearn.results.certificates import Certificate
from pdfalearn.results.frontiers import Frontier, Point
from pdfalearn.results.recommendations import NOTHING, comparable, not_worse
from pdfalearn.samplers.drawing import Sampler

_FEW_WORDS = 200
"""Intervals from fewer held-out words than this are too narrow rather often."""


def frontier_of(
    fits: Mapping[int, Fit],
    evidence: Evidence,
    drawn: Floats,
    sampling: Sampling,
    sampler: Sampler,
    observations: ObservationTree,
    *,
    seed: int,
    is_interrupted: bool,
) -> Frontier:
    """Measure automata on the held-out words, and certify what was done.

    ``drawn`` is the number of drawn words that passed each node of the evidence.
    """
    held_out = HeldOut(sampling.held_out, observations)
    chosen, room = _envelope(fits), held_out.room
    pdfas = [automaton(fit, evidence, observations.alphabet) for fit in chosen]
    measured = [held_out.measured(pdfa) for pdfa in pdfas]
    losses = np.array([comparable(each.losses, each.infinite) for each in measured])
    kept = not_worse(losses, held_out.lengths).nonzero()[0].tolist()
    points = [
        _point(
            pdfas[place],
            chosen[place],
            measured[place],
            held_out,
            room + rare_loss(chosen[place], evidence, drawn),
        )
        for place in kept
    ]
    measured = [measured[place] for place in kept]
    frontier = Frontier(
        points=tuple(points),
        sizes=tuple(sorted(fits)),
        certificate=Certificate("distilled", "", {"answers": sampling.spending.answered}),
        model_perplexity=float(np.exp(held_out.entropy)),
        kept_losses=np.array([each.losses for each in measured]),
        kept_infinite=np.array([each.infinite for each in measured]),
        kept_lengths=held_out.lengths,
    )
    certificate = _certificate(
        frontier, sampling, sampler, observations, seed, is_interrupted=is_interrupted
    )
    return replace(frontier, certificate=certificate)


def _envelope(fits: Mapping[int, Fit]) -> list[Fit]:
    """Return one automaton for each number of states, without those that a smaller one beats."""
    by_size: dict[int, Fit] = {}
    for fit in fits.values():
        size = len(fit.machine)
        if size not in by_size or fit.loss < by_size[size].loss:
            by_size[size] = fit
    chosen: list[Fit] = []
    for size in sorted(by_size):
        if not chosen or by_size[size].loss < chosen[-1].loss - NOTHING:
            chosen.append(by_size[size])
    return chosen


def _point(pdfa: PDFA, fit: Fit, measured: Measured, held_out: HeldOut, unseen: float) -> Point:
    divergence = interval(measured.losses, held_out.lengths - measured.infinite)
    return Point(
        states=len(pdfa),
        pdfa=pdfa,
        divergence=divergence.mean,
        low=divergence.low,
        high=divergence.high + unseen,
        infinite_share=float(measured.infinite.sum() / held_out.lengths.sum()),
        l1=measured.l1,
        word_error_rate=measured.word_error_rate,
        perplexity=float(np.exp(measured.cross_entropy)),
        training_divergence=max(0.0, fit.loss),
    )


def _certificate(
    frontier: Frontier,
    sampling: Sampling,
    sampler: Sampler,
    observations: ObservationTree,
    seed: int,
    *,
    is_interrupted: bool,
) -> Certificate:
    best = frontier.point(len(frontier.best))
    held_out, counts = sampling.held_out, observations.counts
    words = held_out.word_count
    texts = [
        f"the automaton of {best.states:,} states diverges by {best.divergence:.4g} per symbol "
        f"({CONFIDENCE:.0%} interval {best.low:.4g} to {best.high:.4g}) on {words:,} held-out "
        f"words, {sampler.name}; an estimate under these words, not an equivalence"
    ]
    if sampling.cut_words:
        texts.append(f"{sampling.cut_words:,} of {sampling.words:,} words were cut")
    if best.infinite_share:
        texts.append(f"at {best.infinite_share:.2%} of positions the divergence is infinite")
    if words < _FEW_WORDS:
        texts.append(
            f"intervals from fewer than {_FEW_WORDS} words are too narrow rather often: take a "
            "larger budget to publish them"
        )
    if is_interrupted:
        texts.append("stopped by hand")
    return Certificate(
        "distilled",
        "; ".join(texts),
        {
            "words": sampler.name,
            "words_drawn": sampling.words,
            "words_cut": sampling.cut_words,
            "held_out_words": words,
            "held_out_positions": len(held_out.nodes),
            "training_positions": len(sampling.training.nodes),
            "answers": sampling.spending.answered,
            "words_asked": counts.words,
            "symbols_asked": observations.counts.symbols,
            "cost": observations.meter.spent,
            "stored_words": counts.stored,
            "audited_words": counts.audited,
            "largest_difference": counts.largest_difference,
            "confidence": CONFIDENCE,
            "best": best.states,
            "divergence": best.divergence,
            "interval": [best.low, best.high],
            "infinite_share": best.infinite_share,
            "knee": frontier.knee,
            "seed": seed,
            "interrupted": is_interrupted,
            **counts.outside_details,
        },
    )
