"""Learning from samples alone: how often it is wrong, held against what is promised.

Run with ``python -m benchmarks.samples``; ``--runs 300`` chooses how many targets it is tried on,
``--most 6000`` with how many samples, and ``--variants 0 1 2 3`` with which tests.

Random targets have 3 to 8 states, of which some have equal rows or probabilities of 0. What the
certificate says is checked on the target itself: that any two states differ, and that every word
that was compared is as near its state's access word as was said. Where a state is wrong and nothing
was promised, samples were too few; that is counted apart. How near what is learnt comes, beside
other learners, is in ``benchmarks.sample_rivals``.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.distilling.black_boxes import random_target
from benchmarks.support import print_header, print_row
from pdfalearn import PDFA, Exact, quotient
from pdfalearn.datasets import random_pdfa
from pdfalearn.models import Interrupts
from pdfalearn.results import Sample
from pdfalearn.sampled import Samples
from pdfalearn.sampled.counted_tree import CountedTree, Test
from pdfalearn.sampled.hypothesis import Balance, Hypothesis
from pdfalearn.sampled.learner import Run
from pdfalearn.sampled.samples import Drawer
from pdfalearn.words import draw_words

LENGTH = 60
GAP, REACH = 0.15, 0.02
# Tests, and the risk that they may take. With an alpha of 1000 there is no union bound: each band
# alone misses with about the usual 5%.
VARIANTS: list[tuple[Test, float]] = [
    ("exact", 0.05),
    ("hoeffding", 0.05),
    ("exact", 0.5),
    ("exact", 1000.0),
]


class Judged(NamedTuple):
    """How a run was, by its target."""

    states_differ: bool
    near: bool
    is_structure: bool
    decided: bool
    samples: int


def hidden(pdfa: PDFA, seed: int, length: int = LENGTH) -> Samples:
    """Return an automaton of which only samples are told, cut at a length."""
    random = np.random.default_rng(seed)

    def draw(prefix: Sequence[object], count: int) -> Sample:
        state = pdfa.state_after(prefix)
        if state is None:
            raise RuntimeError(f"the prefix {prefix} is impossible")
        drawn, is_cut = draw_words(pdfa.table, pdfa.probabilities, state, count, length, random)
        return Sample(pdfa.alphabet.decode_words(drawn), is_cut)

    return Samples(draw, pdfa.alphabet)


def draw_target(seed: int) -> PDFA:
    """Draw a target: in turn of different rows, of fewer rows than states, and with zeros."""
    states = 3 + seed % 6
    if seed % 3 == 0:
        pdfa = random_target(states, 2, seed=seed)
    elif seed % 3 == 1:
        pdfa = random_target(states, 2, distributions=max(2, states // 2), seed=seed)
    else:
        pdfa = random_pdfa(states, 3, zero_probability=0.4, undefined=True, seed=seed)
    return quotient(pdfa, equivalence=Exact())


def run_checked(
    target: PDFA, most: int, alpha: float, test: Test, seed: int, length: int = LENGTH
) -> tuple[CountedTree, Hypothesis, Balance]:
    """Learn a target; return what was counted and compared, which results do not keep."""
    samples, interrupts = hidden(target, seed, length), Interrupts()
    with Drawer.opened(samples, interrupts, None) as drawer:
        tree = CountedTree(len(target.alphabet), alpha, test)
        run = Run(samples, drawer, tree, most, GAP, REACH)
        while run.go_on() is None:
            pass
        return tree, *run.compare()


def judge(target: PDFA, tree: CountedTree, found: Hypothesis, balance: Balance) -> Judged:
    """Compare what was promised with the target, which is its own quotient."""
    words = (target.alphabet.decode(tree.word(node)) for node in range(len(tree)))
    state_of = np.array([target.state_after(word) for word in words])
    access = np.array(found.reds)[found.states]
    reds, near = state_of[found.reds], balance.near
    rows = target.probabilities
    gaps = np.abs(rows[state_of[near]] - rows[state_of[access[near]]])
    pairs = set(zip(state_of.tolist(), found.states.tolist(), strict=True))
    is_structure = len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})
    return Judged(
        states_differ=len(set(reds.tolist())) == len(reds),
        near=bool((gaps.max(axis=1) <= balance.allowed + 1e-9).all()),
        is_structure=is_structure,
        decided=balance.decided == balance.transitions and not len(balance.contradictions),
        samples=tree.samples,
    )


def show_promise(runs: int, most: int, variants: Sequence[int]) -> None:
    """Print how often what was promised was wrong."""
    print_header(
        [
            "test",
            "alpha",
            "runs",
            "two states are one",
            "a word is not near its state",
            "any error",
            "all decided",
            "of these not the structure",
            "structure in all",
            "samples, median",
        ]
    )
    for test, alpha in (VARIANTS[variant] for variant in variants):
        judged = []
        for seed in range(runs):
            target = draw_target(seed)
            judged.append(judge(target, *run_checked(target, most, alpha, test, seed)))
        decided = [one for one in judged if one.decided]
        print_row(
            [
                test,
                alpha,
                runs,
                sum(not one.states_differ for one in judged),
                sum(not one.near for one in judged),
                sum(not (one.near and one.states_differ) for one in judged),
                len(decided),
                sum(not one.is_structure for one in decided),
                sum(one.is_structure for one in judged),
                int(np.median([one.samples for one in judged])),
            ]
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--variants", type=int, nargs="+", default=range(len(VARIANTS)))
    parser.add_argument("--most", type=int, default=6_000)
    options = parser.parse_args(arguments)
    show_promise(options.runs, options.most, options.variants)


if __name__ == "__main__":
    main()
