"""Divergence against states of distilled automata and of their rivals, on several models.

Run with ``python -m benchmarks.distilling``, with names of models for only those. ``--symbols``
says how much may be asked, ``--all`` adds 200,000 symbols, and ``--keep`` takes the figures of
rivals from an earlier run. Needs ``pip install '.[bench,test,torch,wlstar]'``.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from hashlib import sha256

from benchmarks.distilling.answers import LONGEST, Answers, asked
from benchmarks.distilling.caching import cache_folder
from benchmarks.distilling.curves import DISTILLED, Point, conclusions, print_curves
from benchmarks.distilling.measuring import divergence
from benchmarks.distilling.networks import NETWORKS
from benchmarks.distilling.rivals import RIVALS, SIZES, Candidate, Task
from pdfalearn import PDFA, Budget, LanguageModel, distill
from pdfalearn.samplers import ModelWords

SYMBOLS = (2_000, 20_000)
MOST_SYMBOLS = 200_000
FRESH, MOST_CELLS = 50_000, 10_000_000
"""Automata are measured on this many fresh prefixes, on fewer for large alphabets."""


def fresh_words(model: LanguageModel) -> Answers:
    """Return words that nobody has seen, with the model's answers."""
    return asked(model, min(FRESH, MOST_CELLS // (len(model.alphabet) + 1)), seed=99)


def measured(candidate: Candidate, fresh: Answers) -> Point:
    """Measure an automaton on fresh words."""
    found = divergence(candidate.pdfa, fresh)
    return Point(candidate.rival, candidate.setting, len(candidate.pdfa), *found)


def of_rivals(task: Task, fresh: Answers, names: Sequence[str]) -> Iterator[Point]:
    """Measure the automata of rivals, and print how long that took."""
    for name in names:
        started = time.perf_counter()
        yield from (measured(candidate, fresh) for candidate in RIVALS[name](task))
        print(f"{name}: {time.perf_counter() - started:.0f} s", flush=True)


def kept(task: Task, fresh: Answers, names: Sequence[str], anew: bool) -> list[Point]:
    """Return the figures of rivals from a file of an earlier run, or make them anew."""
    decided = (task.model.fingerprint, task.symbols, len(fresh), tuple(names))
    name = sha256(repr(decided).encode()).hexdigest()[:20]
    path = cache_folder() / f"rivals-{name}.json"
    if anew or not path.exists():
        points = list(of_rivals(task, fresh, names))
        path.write_text(json.dumps(points))
    return [Point(*point) for point in json.loads(path.read_text())]


def distilled(model: LanguageModel, symbols: int) -> tuple[list[Candidate], PDFA]:
    """Return distilled automata of all sizes, and the best of them."""
    started = time.perf_counter()
    words = ModelWords(LONGEST)
    frontier = distill(model, budget=Budget(max_symbols=symbols), sampler=words, seed=1)
    print(f"{DISTILLED}: {time.perf_counter() - started:.0f} s", flush=True)
    largest = max(point.states for point in frontier)
    sizes = [size for size in SIZES if size < largest] + [largest]
    found = [Candidate(DISTILLED, f"at most {size}", frontier.at_most(size)) for size in sizes]
    return found, frontier.best


def compare(model: LanguageModel, symbols: int, names: Sequence[str], anew: bool = True) -> None:
    """Print the table of a model and a number of symbols, and what it says."""
    fresh = fresh_words(model)
    task = Task(model, symbols, asked(model, symbols, seed=1))
    points = kept(task, fresh, names, anew)
    candidates, chosen = distilled(model, symbols)
    best = measured(Candidate(DISTILLED, "best", chosen), fresh)
    points += [*(measured(candidate, fresh) for candidate in candidates), best]
    print()
    print_curves(points, SIZES)
    print(*("", *conclusions(points, SIZES, best)), sep="\n")


def main(words: Sequence[str] | None = None) -> None:
    """Print the tables that the words of the command line ask for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.distilling")
    parser.add_argument("networks", nargs="*", metavar="network", help=", ".join(NETWORKS))
    parser.add_argument("--rivals", default=",".join(RIVALS), help="only these")
    parser.add_argument("--symbols", type=int, action="append", help="how many may be asked")
    parser.add_argument("--all", action="store_true", help=f"{MOST_SYMBOLS:,} symbols too")
    parser.add_argument("--keep", action="store_true", help="take rivals from an earlier run")
    arguments = parser.parse_args(words)
    for name in arguments.networks:
        if name not in NETWORKS:
            parser.error(f"there is no network {name!r}; there are {', '.join(NETWORKS)}")
    rivals = [name for name in arguments.rivals.split(",") if name]
    more = (MOST_SYMBOLS,) if arguments.all else ()
    for name in arguments.networks or NETWORKS:
        model = NETWORKS[name]()
        for symbols in arguments.symbols or (*SYMBOLS, *more):
            print(f"\n{name}, {symbols:,} symbols\n")
            compare(model, symbols, rivals, anew=not arguments.keep)


if __name__ == "__main__":
    main()
