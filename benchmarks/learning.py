"""Learning: seconds, memory and queries, beside AALpy where it takes part.

Run with ``python -m benchmarks.learning``, which leaves out the slowest rows; with ``--all`` for
these too; with names of families for only those.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial

from benchmarks.comparisons import (
    BY,
    chains,
    counted_words,
    large_alphabets,
    random_targets,
    shared_distributions,
)
from benchmarks.sleeping import learn_sleeping
from benchmarks.support import (
    Growth,
    in_a_process,
    in_turns,
    peak_gigabytes,
    print_header,
    print_row,
)
from pdfalearn import Quantization, learn, quotient
from pdfalearn.datasets import combination_lock, figure_3, random_pdfa
from pdfalearn.errors import MissingExtraError


def beside_quotient(everything: bool) -> None:
    """A random target of n=10^5, m=2, κ=1000, beside its quotient."""
    target = random_pdfa(10**5, seed=1)
    jobs: list[Callable[[], object]] = [
        partial(learn, target, equivalence=BY),
        partial(quotient, target, equivalence=BY),
    ]
    (learning, _), (dividing, _) = in_turns(jobs, runs=5)
    print_header(["states", "learn, s", "quotient, s", "learn / quotient", "goal"])
    print_row(
        [
            len(quotient(target, equivalence=BY)),
            learning,
            dividing,
            learning / dividing,
            "at most 4",
        ]
    )


def measure_random(
    size: int, distributions: int | None, kappa: int
) -> tuple[int, float, float, int]:
    """Return states, seconds, gigabytes and equivalence queries of learning a random target."""
    learn(figure_3())  # what is imported at first use is not part of the time
    target = random_pdfa(size, distributions=distributions, seed=1)
    [(seconds, result)] = in_turns(
        [partial(learn, target, equivalence=Quantization(kappa))], runs=3
    )
    return len(result.pdfa), seconds, peak_gigabytes(), result.statistics.equivalence_queries


def large_targets(everything: bool) -> None:
    """Large random targets, m=2, each in a process of its own; n=10^6 only with --all."""
    sizes = [10**4, 10**5, 10**6] if everything else [10**4, 10**5]
    titles = ["κ", "n", "states", "learn, s", "growth", "to κ=10^6", "goal", "peak, GB"]
    print_header([*titles, "goal", "equivalence queries"])
    growth = Growth()
    for size in sizes:
        states, fine, gigabytes, queries = in_a_process(measure_random, size, None, 10**6)
        cells = [10**6, size, states, fine, growth.to(size, fine), "", ""]
        print_row([*cells, gigabytes, "below 2", queries])
    states, coarse, gigabytes, queries = in_a_process(measure_random, size, None, 1000)
    cells = [1000, size, states, coarse, "", coarse / fine, "at most 5"]
    print_row([*cells, gigabytes, "", queries])


def large_shared(everything: bool) -> None:
    """Large random targets with 2 shared distributions, m=2, κ=1000."""
    print_header(["n", "states", "learn, s", "goal", "growth", "peak, GB", "equivalence queries"])
    growth = Growth()
    for size, goal in ((10**4, "below 1.7"), (10**5, "below 30")):
        states, seconds, gigabytes, queries = in_a_process(measure_random, size, 2, 1000)
        print_row([size, states, seconds, goal, growth.to(size, seconds), gigabytes, queries])


def locks(everything: bool) -> None:
    """Combination locks, m=2, κ=1000."""
    print_header(
        ["n", "learn, s", "growth", "words", "growth", "symbols", "growth", "equivalence queries"]
    )
    times, words, symbols = Growth(), Growth(), Growth()
    for size in (50, 100, 200):
        lock = combination_lock(size)
        [(seconds, result)] = in_turns([partial(learn, lock, equivalence=BY)], runs=5)
        costs = result.statistics
        cells = [size, seconds, times.to(size, seconds)]
        cells += [costs.words, words.to(size, costs.words)]
        cells += [costs.symbols, symbols.to(size, costs.symbols)]
        print_row([*cells, costs.equivalence_queries])


def functions(everything: bool) -> None:
    """A Python function as model that sleeps 1 ms a call and 10 µs a word, m=2, κ=1000."""
    titles = ["target", "total, s", "inside, s", "total / inside", "goal", "calls", "goal", "words"]
    print_header([*titles, "sizes of calls: least", "quartiles", "most"])
    for name, size, shared, calls_goal in (
        ("n=5000", 5000, None, "at most 40"),
        ("n=300, d=2", 300, 2, "at most 260"),
    ):
        target = random_pdfa(size, distributions=shared, seed=1)
        runs = sorted((learn_sleeping(target, BY) for _ in range(3)), key=lambda run: run.ratio)
        run = runs[1]
        least, *quartiles, most = run.spread()
        cells = [name, run.total, run.inside, run.ratio, "at most 1.5", len(run.sizes), calls_goal]
        shown = ", ".join(f"{quartile:g}" for quartile in quartiles)
        print_row([*cells, sum(run.sizes), least, shown, most])


FAMILIES: dict[str, Callable[[bool], None]] = {
    "random": random_targets,
    "quotient": beside_quotient,
    "large": large_targets,
    "shared": shared_distributions,
    "large-shared": large_shared,
    "alphabets": large_alphabets,
    "chain": chains,
    "words": counted_words,
    "lock": locks,
    "function": functions,
}


def main(words: Sequence[str] | None = None) -> None:
    """Print a table for each family that the words of the command line ask for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learning")
    parser.add_argument("families", nargs="*", metavar="family", help=", ".join(FAMILIES))
    parser.add_argument("--all", action="store_true", help="the slowest rows too")
    arguments = parser.parse_args(words)
    for name in arguments.families:
        if name not in FAMILIES:
            parser.error(f"there is no family {name!r}; there are {', '.join(FAMILIES)}")
    learn(figure_3())  # what is imported at first use is not part of any time
    for name in arguments.families or FAMILIES:
        print(f"\n{name}: {FAMILIES[name].__doc__}\n")
        try:
            FAMILIES[name](arguments.all)
        except MissingExtraError as error:
            print(f"Skipped: {error}")


if __name__ == "__main__":
    main()
