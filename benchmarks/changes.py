"""What changed between two corpora: false alarms and power, ``python -m benchmarks.changes``.

False alarms: how many comparisons name a transition or an event although nothing has changed, or
something else has. Power: how often a planted change is found, and named first. With names as
arguments (none, dependent, other, power, time) only these parts run.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.random import Generator
from scipy.stats import beta

from pdfalearn import PDFA, Corpus, compare, sample
from pdfalearn.analysis import find_changes
from pdfalearn.datasets import random_pdfa
from pdfalearn.results import Changes

LEVEL = 0.05
Maker = Callable[[int, int], Corpus]


def words_of(pdfa: PDFA, count: int, seed: int) -> Corpus:
    """Draw words of an automaton."""
    return Corpus(sample(pdfa, count, seed=seed, max_length=200).words, alphabet=pdfa.alphabet)


def target(seed: int, states: int = 10, symbols: int = 4) -> PDFA:
    """Draw an automaton whose words have about ten symbols."""
    pdfa = random_pdfa(states, symbols, seed=seed, exact_size=True)
    rows = pdfa.probabilities * np.array([0.0] + [0.9] * symbols)
    rows[:, 1:] *= 0.9 / rows[:, 1:].sum(axis=1, keepdims=True)
    rows[:, 0] = 0.1
    return PDFA(
        alphabet=pdfa.alphabet,
        transitions=pdfa.transitions,
        probabilities=rows,
        initial=pdfa.initial,
    )


def moved(pdfa: PDFA, state: int, by: float) -> tuple[PDFA, int]:
    """Move probability from a state's likeliest symbol to the least likely one."""
    rows = pdfa.probabilities.copy()
    row = rows[state, 1:]
    one, other = int(row.argmax()), int(row.argmin())
    row[one] -= by
    row[other] += by
    changed = PDFA(
        alphabet=pdfa.alphabet,
        transitions=pdfa.transitions,
        probabilities=rows,
        initial=pdfa.initial,
    )
    return changed, other


def interval(hits: int, runs: int) -> str:
    """Write a share with its 95% interval of Clopper and Pearson."""
    low = beta.ppf(0.025, hits, runs - hits + 1) if hits else 0.0
    high = beta.ppf(0.975, hits + 1, runs - hits) if hits < runs else 1.0
    return f"{hits:>4} of {runs}  {hits / runs:.3f}  ({low:.3f} to {high:.3f})"


def count_alarms(name: str, runs: int, make: Callable[[int], Changes]) -> None:
    """Count comparisons that name anything."""
    begin = time.process_time()
    hits = sum(bool(make(seed)) for seed in range(runs))
    seconds = time.process_time() - begin
    print(f"{name:<58} {interval(hits, runs)}  {seconds / runs:.2f} s each", flush=True)


def nothing_changed(runs: int) -> None:
    """Compare words of one automaton with other words of it."""
    print(f"nothing has changed; stated: at most {LEVEL}")
    for first, second in ((100, 100), (1000, 1000), (3000, 100)):
        pdfa = target(1)

        def make(seed: int, first: int = first, second: int = second, pdfa: PDFA = pdfa) -> Changes:
            a, b = words_of(pdfa, first, 2 * seed), words_of(pdfa, second, 2 * seed + 1)
            return find_changes(pdfa, a, b)

        count_alarms(f"  the automaton itself, {first:,} and {second:,} words", runs, make)
    pdfa = target(2, 30, 20)
    count_alarms(
        "  30 states, 20 symbols, 1,000 and 1,000 words",
        runs,
        lambda seed: find_changes(
            pdfa, words_of(pdfa, 1000, 2 * seed), words_of(pdfa, 1000, 2 * seed + 1)
        ),
    )
    small = target(1)
    count_alarms(
        "  distilled from both, 300 and 300 words",
        runs // 2,
        lambda seed: compare(words_of(small, 300, 2 * seed), words_of(small, 300, 2 * seed + 1)),
    )


def typed_words(count: int, random: Generator) -> Corpus:
    """Draw sessions of users: each has habits of its own, so that its events depend on them."""
    words = []
    for _ in range(count):
        habits = random.dirichlet([0.5] * 4)
        length = int(random.geometric(1 / 30))
        words.append("".join(np.array(list("abcd"))[random.choice(4, length, p=habits)]))
    return Corpus(words, alphabet="abcd")


def rare_bursts(count: int, random: Generator) -> Corpus:
    """Draw sessions of which one in fifty has a burst of hundreds of one event."""
    words = []
    for _ in range(count):
        word = ["abc"[code] for code in random.integers(3, size=int(random.geometric(0.1)))]
        if random.random() < 0.02:
            word += ["d"] * int(random.geometric(0.01))
        words.append("".join(word))
    return Corpus(words, alphabet="abcd")


def dependent_events(runs: int) -> None:
    """Compare sessions whose events depend on each other in ways that no automaton has."""
    print("nothing has changed, and the automaton is wrong; stated: at most 0.05")
    flat = PDFA(alphabet="abcd", transitions=[[0] * 4], probabilities=[[0.2] * 5])
    for name, draw in (("users with habits", typed_words), ("rare bursts", rare_bursts)):
        for count in (200, 2000):

            def make(
                seed: int, draw: Callable[[int, Generator], Corpus] = draw, count: int = count
            ) -> Changes:
                random = np.random.default_rng(seed)
                return find_changes(flat, draw(count, random), draw(count, random))

            count_alarms(f"  {name}, one state, {count:,} and {count:,} words", runs, make)
            hits = sum(_is_found_by_events(flat, draw, count, seed) for seed in range(runs))
            print(f"{'    the same with a G-test of single events':<58} {interval(hits, runs)}")


def _is_found_by_events(
    flat: PDFA, draw: Callable[[int, Generator], Corpus], count: int, seed: int
) -> bool:
    """Test single events as if all were independent, with Holm: what not to do."""
    from scipy.stats import chi2_contingency

    from pdfalearn.corpora import count_steps

    random = np.random.default_rng(seed)
    rows = [count_steps(flat, draw(count, random)).table[0] for _ in range(2)]
    p_values = [
        chi2_contingency(
            [[row[column], row.sum() - row[column]] for row in rows], lambda_="log-likelihood"
        ).pvalue
        for column in range(5)
        if sum(row[column] for row in rows)
    ]
    return bool(min(p_values) * len(p_values) <= LEVEL)


def something_else(runs: int) -> None:
    """Name a transition that has not changed while others have."""
    print("one state has changed much; false: a transition of another state is named")
    for count in (300, 3000):
        pdfa = target(1)
        other, _ = moved(pdfa, pdfa.initial, 0.2)
        hits = 0
        for seed in range(runs):
            a, b = words_of(pdfa, count, 2 * seed), words_of(other, count, 2 * seed + 1)
            found = find_changes(pdfa, a, b)
            hits += any(one.source != pdfa.initial for one in found.transitions)
        print(f"{f'  {count:,} and {count:,} words':<58} {interval(hits, runs)}", flush=True)


def power(runs: int) -> None:
    """Find planted changes."""
    print("a planted change: found, and named first")
    for by in (0.05, 0.1, 0.2):
        for count in (100, 300, 1000, 3000):
            found = first = events = 0
            for seed in range(runs):
                pdfa = target(seed % 10)
                visits = np.bincount(
                    [state for word in words_of(pdfa, 50, 1) for state in _states(pdfa, word)],
                    minlength=len(pdfa),
                )
                state = int(visits.argsort()[len(pdfa) // 2])  # neither common nor rare
                other, symbol = moved(pdfa, state, by)
                a, b = words_of(pdfa, count, 2 * seed), words_of(other, count, 2 * seed + 1)
                changes = find_changes(pdfa, a, b)
                places = [(one.source, one.symbol) for one in changes.transitions]
                found += (state, pdfa.alphabet.symbols[symbol]) in places
                first += bool(places) and places[0][0] == state
                events += len(places)
            print(
                f"  moved {by:<5} {count:>6,} words each: found {found / runs:.2f}, "
                f"first {first / runs:.2f}, transitions named {events / runs:.2f}",
                flush=True,
            )


def _states(pdfa: PDFA, word: tuple[object, ...]) -> list[int]:
    states = [pdfa.initial]
    for code in pdfa.alphabet.encode(word).tolist():
        states.append(int(pdfa.transitions[states[-1], code]))
    return states


def cost(lines: int = 100_000) -> None:
    """Count files: time and memory do not grow with the number of words."""
    import resource

    pdfa = target(2, 30, 20)
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("a.txt", "b.txt")]
        block = "".join(" ".join(map(str, w)) + "\n" for w in words_of(pdfa, lines // 10, 1))
        for size in (1, 10):
            for path in paths:
                path.write_text(block * size)
            begin = time.process_time()
            found = find_changes(pdfa, Corpus(paths[0]), Corpus(paths[1]))
            seconds = time.process_time() - begin
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            megabytes = 2 * paths[0].stat().st_size / 1e6
            print(
                f"files of {megabytes:.0f} MB, {found.words_a + found.words_b:,} words: "
                f"{seconds:.1f} s, {memory:.0f} MB at most",
                flush=True,
            )


PARTS: dict[str, Callable[[], None]] = {
    "none": lambda: nothing_changed(400),
    "dependent": lambda: dependent_events(200),
    "other": lambda: something_else(200),
    "power": lambda: power(50),
    "time": cost,
}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
