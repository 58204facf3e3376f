"""Learners of samples alone beside each other: how near they come to what only draws.

Run with ``python -m benchmarks.sample_rivals``; ``--parts automata llm`` chooses what is hidden,
``--seeds 5`` how often each learner runs, ``--samples`` and ``--learners`` on what and which.

- **automata**: Reber's grammar, and random ones of 5 and 8 states.
- **llm**: SmolLM2-135M-Instruct (``pip install '.[llm-demo]'``) that writes bits.

AALpy's learner in the manner of L*-MDP (Tappler et al.) cannot draw after a prefix, as it resets
its system: each trace is a sample, and it ends a trace when it has seen enough. So it is also given
as many symbols as the others' words have, however many traces these are. Where samples, symbols or
a minute of the processor are used up, it gives what it last asked its oracle about.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from benchmarks.corpora.aalpy_machines import alergia_of_aalpy, allow_recursion, read_machine
from benchmarks.distilling.black_boxes import random_target
from benchmarks.samples import hidden
from benchmarks.support import print_header, print_row
from pdfalearn import PDFA, Budget, Exact, distill, quotient
from pdfalearn.alphabet import Alphabet
from pdfalearn.datasets import reber
from pdfalearn.metrics import directed_divergence
from pdfalearn.passive import alergia
from pdfalearn.results import Sample
from pdfalearn.sampled import Samples, learn_samples
from pdfalearn.sampled.samples import Word

SAMPLES = (1_000, 4_000, 16_000)
# All learners' rows are mixed with a uniform one before the divergence is computed.
SMOOTHING = 1e-3
# The processor time of a run of AALpy's stochastic L*.
SECONDS = 60.0
# Of both ALERGIA.
EPSILON = 0.05
NO_LIMIT = 10**9
PROMPT, LLM_SYMBOLS, LLM_LONGEST = "Random bits: ", "01", 8


def smoothed(pdfa: PDFA) -> PDFA:
    """Leave no probability at 0; where nothing leads, go to the initial state."""
    rows = pdfa.probabilities
    return PDFA(
        alphabet=pdfa.alphabet,
        transitions=np.where(pdfa.transitions < 0, pdfa.initial, pdfa.transitions),
        probabilities=(1 - SMOOTHING) * rows + SMOOTHING / rows.shape[1],
        initial=pdfa.initial,
    )


def read_pdfa(machine: Any, alphabet: Alphabet) -> PDFA:
    """Read a machine of AALpy; what it leaves out of a row is as in no state."""
    transitions, rows = read_machine(machine, len(alphabet))
    sums = rows.sum(axis=1, keepdims=True)
    rows = np.where(sums > 0, rows / np.maximum(sums, 1e-12), 1 / rows.shape[1])
    transitions = np.where((transitions < 0) & (rows[:, 1:] > 0), 0, transitions)
    return PDFA(alphabet=alphabet, transitions=transitions, probabilities=rows)


class OutOfSamplesError(Exception):
    """A learner asked for more than it has."""


class Draws:
    """Draws of a hidden model, of which as many are allowed; each learner has its own."""

    def __init__(self, draw: Callable[[Word, int], Sample], alphabet: Alphabet, most: int) -> None:
        self._draw, self.alphabet, self.most = draw, alphabet, most
        self.samples = Samples(self.draw, alphabet)
        self.drawn = self.symbols = 0

    def draw(self, prefix: Word, count: int) -> Sample:
        """Draw continuations, and count them and their symbols."""
        sample = self._draw(prefix, count)
        self.drawn += count
        self.symbols += sum(map(len, sample.words))
        return sample

    def words(self) -> Sample:
        """Draw as many whole words as are allowed."""
        return self.draw((), self.most)


def hidden_draws(pdfa: PDFA, most: int, seed: int) -> Draws:
    """Return draws of an automaton, cut at a length."""
    inner = hidden(pdfa, seed)

    def draw(prefix: Word, count: int) -> Sample:
        words, is_cut = inner.draw(tuple(pdfa.alphabet.encode(prefix).tolist()), count)
        return Sample(pdfa.alphabet.decode_words(words), is_cut)

    return Draws(draw, pdfa.alphabet, most)


def learn_ours(draws: Draws, seed: int) -> PDFA:
    """Learn by `learn_samples`."""
    return learn_samples(draws.samples, max_samples=draws.most).pdfa


def distil_ours(draws: Draws, seed: int) -> PDFA:
    """Distil."""
    budget = Budget(max_words=draws.most)
    return distill(draws.samples, budget=budget, sizes=range(1, 17), seed=seed).best


def merge_ours(draws: Draws, seed: int) -> PDFA:
    """Run our ALERGIA on words; one that was cut is as if it had ended there, as for AALpy's."""
    return alergia(draws.words().words, epsilon=EPSILON, alphabet=draws.alphabet)


def run_alergia(draws: Draws, seed: int) -> PDFA:
    """Run AALpy's ALERGIA on words."""
    words, width = draws.alphabet.encode_words(draws.words().words), len(draws.alphabet)
    with allow_recursion():
        return read_pdfa(alergia_of_aalpy(words, width, EPSILON), draws.alphabet)


def run_lstar(draws: Draws, seed: int, most_symbols: int = NO_LIMIT) -> PDFA:
    """Run AALpy's learner of stochastic Mealy machines until draws, symbols or time are used up.

    What it believes then is what it last asked its oracle about.
    """
    import random

    from aalpy.base import SUL
    from aalpy.learning_algs import run_stochastic_Lstar
    from aalpy.oracles import RandomWalkEqOracle

    end, deadline = len(draws.alphabet), time.process_time() + SECONDS

    class Hidden(SUL):  # type: ignore[misc]
        """A system that is reset, and tells the next symbol of a word at each step."""

        def pre(self) -> None:
            self.word: list[int] = []
            self.place, is_late = 0, time.process_time() > deadline
            if draws.drawn >= draws.most or draws.symbols >= most_symbols or is_late:
                raise OutOfSamplesError
            (word,) = draws.draw((), 1).words
            # Only what it has seen of a word is counted.
            draws.symbols -= len(word)
            self.word = draws.alphabet.encode(word).tolist()

        def post(self) -> None:
            pass

        def step(self, letter: object) -> int:
            self.place += 1
            draws.symbols += self.place <= len(self.word)
            return self.word[self.place - 1] if self.place <= len(self.word) else end

    class Watching(RandomWalkEqOracle):  # type: ignore[misc]
        """Keeps what it was asked about."""

        last: PDFA | None = None

        def find_cex(self, hypothesis: Any) -> Any:
            self.last = read_pdfa(hypothesis, draws.alphabet)
            return super().find_cex(hypothesis)

    random.seed(seed)
    system = Hidden()
    oracle = Watching([0], system, num_steps=200, reset_prob=0.1)
    with allow_recursion():
        try:
            machine = run_stochastic_Lstar(
                [0], system, oracle, automaton_type="smm", custom_oracle=True, print_level=0
            )
            return read_pdfa(machine, draws.alphabet)
        except OutOfSamplesError:
            if oracle.last is None:
                raise
            return oracle.last


def run_lstar_by_symbols(draws: Draws, seed: int) -> PDFA:
    """Run AALpy's learner with as many symbols as so many whole words have, in shorter draws."""
    draws.words()
    most, draws.symbols, draws.drawn, draws.most = draws.symbols, 0, 0, NO_LIMIT
    return run_lstar(draws, seed, most)


RIVALS: dict[str, Callable[[Draws, int], PDFA]] = {
    "learn_samples": learn_ours,
    "distill": distil_ours,
    "alergia": merge_ours,
    "AALpy, ALERGIA": run_alergia,
    "AALpy, stochastic L*": run_lstar,
    "AALpy, stochastic L*, by symbols": run_lstar_by_symbols,
}


def show_learners(
    title: str,
    make_draws: Callable[[int, int], Draws],
    loss_of: Callable[[PDFA], float],
    options: argparse.Namespace,
) -> None:
    """Print divergences of what each learner finds, by the number of samples."""
    for name in options.learners:
        for count in options.samples:
            losses, sizes, used, begin = [], [], [], time.process_time()
            for seed in range(options.seeds):
                draws = make_draws(count, seed)
                with suppress(OutOfSamplesError, RecursionError):
                    pdfa = RIVALS[name](draws, seed)
                    losses.append(max(loss_of(pdfa), 1e-9))
                    sizes.append(len(pdfa))
                used.append((draws.drawn, draws.symbols))
            found = [math.exp(float(np.mean(np.log(losses)))), max(losses)] if losses else ["", ""]
            seconds = (time.process_time() - begin) / options.seeds
            size = np.median(sizes) if sizes else ""
            print_row(
                [
                    title,
                    name,
                    count,
                    f"{len(losses)} of {options.seeds}",
                    *found,
                    size,
                    *np.median(used, axis=0).tolist(),
                    seconds,
                ]
            )


COLUMNS = (
    *("target", "learner", "samples", "runs with an automaton", "divergence", "worst"),
    *("states", "samples used", "symbols used", "s"),
)


def divergence_from(target: PDFA, pdfa: PDFA) -> float:
    """Return the divergence per symbol in nats."""
    return directed_divergence(target, smoothed(pdfa)).per_symbol


def show_rivals(options: argparse.Namespace) -> None:
    """Print how near learners come to automata of which they see only samples."""
    targets = {"Reber": reber()} | {
        f"random, {states} states, {rows} rows": quotient(
            random_target(states, 3, distributions=rows, seed=1), equivalence=Exact()
        )
        for states, rows in ((5, 5), (8, 4))
    }
    print_header(list(COLUMNS))
    for name, target in targets.items():
        show_learners(
            name,
            partial(hidden_draws, target),
            partial(divergence_from, target),
            options,
        )


def show_llm(options: argparse.Namespace) -> None:
    """Print how near learners come to an LLM that only talks, over all words of some bits."""
    from examples.llms import smollm_in_memory

    model = smollm_in_memory().asked(LLM_SYMBOLS, PROMPT, ends="rest")
    known: dict[tuple[object, ...], Any] = {}
    random: list[np.random.Generator] = []

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
                column = int(random[-1].choice(len(row), p=row / row.sum()))
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

    def make_draws(most: int, seed: int) -> Draws:
        random.append(np.random.default_rng(seed))
        return Draws(draw, model.alphabet, most)

    print_header(list(COLUMNS))
    show_learners("SmolLM2", make_draws, loss_of, options)
    print(f"\nof the LLM itself {len(known):,} rows were computed")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parts = ("automata", "llm")
    parser.add_argument("--parts", nargs="+", choices=parts, default=list(parts))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--samples", type=int, nargs="+", default=SAMPLES)
    parser.add_argument("--learners", nargs="+", choices=RIVALS, default=list(RIVALS))
    options = parser.parse_args(arguments)
    for part in options.parts:
        print(f"\n## {part}\n")
        (show_rivals if part == "automata" else show_llm)(options)


if __name__ == "__main__":
    main()
