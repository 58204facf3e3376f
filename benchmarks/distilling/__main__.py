"""Divergence against states of distilled automata and of their rivals, on several models.

Run with ``python -m benchmarks.distilling``, with names of models for only those. ``--symbols``
says how much may be asked, ``--all`` adds 200,000 symbols, ``--keep`` takes the figures of rivals
from an earlier run, and ``--before`` adds what the sources of another checkout give.
Needs ``pip install '.[bench,test,torch,wlstar]'``.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from benchmarks.distilling.answers import Answers, asked
from benchmarks.distilling.caching import cache_folder
from benchmarks.distilling.curves import DISTILLED, Point, conclusions, print_curves
from benchmarks.distilling.distilled import SIZES, Run, fresh_words, run, run_in
from benchmarks.distilling.measuring import divergence
from benchmarks.distilling.networks import NETWORKS
from benchmarks.distilling.rivals import RIVALS, Candidate, Task
from benchmarks.support import print_header, print_row

SYMBOLS = (2_000, 20_000)
MOST_SYMBOLS = 200_000
BEFORE = "distill before"


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


def points_of(found: Run, rival: str) -> list[Point]:
    """Print how long distilling took, and return its points; the last one is the best."""
    beside = f"beside {found.model_seconds:.1f} s of the model"
    print(f"{rival}: {found.seconds:.1f} s of the processor {beside}", flush=True)
    named = [(f"at most {each.at_most}", each) for each in found.points]
    return [
        Point(rival, setting, each.states, each.fresh, each.infinite)
        for setting, each in (*named, ("best", found.best))
    ]


def print_training(runs: Mapping[str, Run]) -> None:
    """Print training divergences: next to those on fresh words they show what was memorised."""
    print("\nDivergence in training / on fresh words:\n")
    print_header(["states at most", *map(str, SIZES), "best", "states"])
    for rival, found in runs.items():
        cells = {each.at_most: f"{each.training:.4f} / {each.fresh:.4f}" for each in found.points}
        best = f"{found.best.training:.4f} / {found.best.fresh:.4f}"
        print_row([rival, *(cells.get(size, "") for size in SIZES), best, found.best.states])


def compare(
    name: str, symbols: int, names: Sequence[str], anew: bool = True, before: Path | None = None
) -> None:
    """Print the table of a model and a number of symbols, and what it says."""
    model = NETWORKS[name]()
    fresh = fresh_words(model)
    task = Task(model, symbols, asked(model, symbols, seed=1))
    points = kept(task, fresh, names, anew)
    runs = {DISTILLED: run(model, symbols, fresh)}
    ours = points_of(runs[DISTILLED], DISTILLED)
    if before is not None:
        runs = {BEFORE: run_in(before, name, symbols), **runs}
        points += points_of(runs[BEFORE], BEFORE)
    print()
    print_curves([*points, *ours], SIZES)
    print_training(runs)
    print(*("", *conclusions([*points, *ours], SIZES, ours[-1])), sep="\n")


def main(words: Sequence[str] | None = None) -> None:
    """Print the tables that the words of the command line ask for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.distilling")
    parser.add_argument("networks", nargs="*", metavar="network", help=", ".join(NETWORKS))
    parser.add_argument("--rivals", default=",".join(RIVALS), help="only these")
    parser.add_argument("--symbols", type=int, action="append", help="how many may be asked")
    parser.add_argument("--all", action="store_true", help=f"{MOST_SYMBOLS:,} symbols too")
    parser.add_argument("--keep", action="store_true", help="take rivals from an earlier run")
    parser.add_argument("--before", type=Path, help="another checkout to distil with, too")
    arguments = parser.parse_args(words)
    for name in arguments.networks:
        if name not in NETWORKS:
            parser.error(f"there is no network {name!r}; there are {', '.join(NETWORKS)}")
    rivals = [name for name in arguments.rivals.split(",") if name]
    more = (MOST_SYMBOLS,) if arguments.all else ()
    for name in arguments.networks or NETWORKS:
        for symbols in arguments.symbols or (*SYMBOLS, *more):
            print(f"\n{name}, {symbols:,} symbols\n")
            anew, before = not arguments.keep, arguments.before
            compare(name, symbols, rivals, anew=anew, before=before)


if __name__ == "__main__":
    main()
