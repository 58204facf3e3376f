"""The problems of PAutomaC: how far learners stay above the score of the target itself.

Run with ``python -m benchmarks.corpora.pautomac --results FILE``; what FILE has is not run again.
``--problems 1,7`` and ``--learners ours,MDI`` run some. Each runs in a process of its own.

The score of a model is 2^(-Σ p(x) log₂ q(x)) over the test words, p of the target and q of the
model, each normalised over these words. The gap is the score less that of the target.
"""

from __future__ import annotations

import argparse
import gzip
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.corpora.kept_results import DATA, KeptResults, Record
from benchmarks.corpora.ngrams import predict_by_ngrams
from benchmarks.corpora.rivals import RIVALS, Setting, learn_smoothly, try_settings
from benchmarks.support import print_header, print_row
from pdfalearn import Corpus, distill
from pdfalearn.passive import fit_pfa
from pdfalearn.typing import Floats
from pdfalearn.words import Words

DETERMINISTIC = (6, 7, 9, 11, 13, 16, 18, 24)
PROBLEMS = (*range(1, 20), 24)
ORDERS = range(2, 7)
PFA_STATES = 70
# A rival's parameters are tried, most states last, until one takes more processor seconds than
# this, or so many in a row were worse than the best before them.
SECONDS, RISES = 20.0, 2
# Smaller gaps count as this one.
LEAST_GAP = 0.001


class Problem(NamedTuple):
    """A problem: words to learn from, and words with the target's probabilities."""

    train: Corpus
    test: Corpus
    solution: Floats

    def find_gap(self, logarithms: Floats) -> float:
        """Return the gap of a model with these ln P of the test words."""
        shares = self.solution / self.solution.sum()
        most = logarithms.max()
        losses = most + math.log(np.exp(logarithms - most).sum()) - logarithms
        own = shares @ -np.log(shares)
        return float(np.exp(shares @ losses) - np.exp(own))

    def encode_test(self) -> Words:
        """Return the test words over the symbols of those to learn from."""
        return self.test.encode(self.train.alphabet)


def read_problem(number: int, folder: Path) -> Problem:
    """Read a problem's files."""
    with gzip.open(folder / f"{number}.solution.gz", "rt") as stream:
        solution = np.array(stream.read().split()[1:], dtype=np.float64)
    train, test = (Corpus(str(folder / f"{number}.{kind}.gz")) for kind in ("train", "test"))
    return Problem(train, test, solution)


def _run_ours(problem: Problem) -> Record:
    frontier = distill(problem.train)
    gap = problem.find_gap(frontier.best.log_probabilities(problem.test))
    sizes = {
        str(point.states): problem.find_gap(point.pdfa.log_probabilities(problem.test))
        for point in frontier
    }
    return {"gap": gap, "states": len(frontier.best), "sizes": sizes}


def _run_ngrams(problem: Problem) -> Record:
    width = len(problem.train.alphabet)
    found = predict_by_ngrams(problem.train.encode(), problem.encode_test(), width, ORDERS)
    gaps = {str(order): problem.find_gap(values) for order, values in found.items()}
    return {"gap": min(gaps.values()), "orders": gaps}


def _run_pfa(problem: Problem) -> Record:
    pfa = fit_pfa(problem.train, PFA_STATES)
    return {"gap": problem.find_gap(pfa.log_probabilities(problem.test)), "states": len(pfa)}


def _run_rival(problem: Problem, name: str) -> Record:
    rival, words, width = RIVALS[name], problem.train.encode(), len(problem.train.alphabet)
    settings: list[Setting] = []
    for setting in try_settings(rival, words, width, SECONDS):
        settings.append(setting)
        losses = [each.loss for each in settings]
        if len(losses) - 1 - int(np.argmin(losses)) == RISES:
            break
    if not settings:
        return {"gap": math.nan}
    best = min(settings, key=lambda each: each.loss)
    pdfa = learn_smoothly(rival, words, width, best)
    return {
        "gap": problem.find_gap(pdfa.log_probabilities(list(problem.encode_test()))),
        "states": len(pdfa),
        "setting": f"{rival.parameter} = {best.parameter:g}",
        "weight": best.weight,
        "tried": len(settings),
    }


LEARNERS: dict[str, Callable[[Problem], Record]] = {
    "ours": _run_ours,
    "n-grams": _run_ngrams,
    "PFA by EM": _run_pfa,
}


def run_learner(name: str, number: int, folder: Path) -> Record:
    """Return the gap of a learner on a problem, with what it chose."""
    problem = read_problem(number, folder)
    run = LEARNERS.get(name)
    return _run_rival(problem, name) if run is None else run(problem)


def geometric_mean(gaps: Sequence[float]) -> float:
    """Return the geometric mean of gaps, none below the least."""
    return float(np.exp(np.log(np.maximum(gaps, LEAST_GAP)).mean())) if len(gaps) else math.nan


class Table:
    """All results of some learners on some problems."""

    def __init__(self, learners: Sequence[str], found: dict[int, dict[str, Record]]) -> None:
        self._learners, self._found = learners, found

    def print_gaps(self) -> None:
        """Print the gap of each learner on each problem, and processor seconds of ours."""
        print_header(["problem", "target", *self._learners, "states of ours", "s of ours", "GB"])
        for number, records in self._found.items():
            gaps = [f"{records[name]['value']['gap']:.4f}" for name in self._learners]
            ours = records.get("ours")
            cells = ["", "", ""]
            if ours is not None:
                cells = [str(ours["value"]["states"]), f"{ours['seconds']:.0f}", ours["gigabytes"]]
            kind = "PDFA" if number in DETERMINISTIC else "other"
            print_row([number, kind, *gaps, *cells])

    def print_means(self) -> None:
        """Print geometric means of each learner, and its processor seconds."""
        print_header(
            ["learner", "problems", "all", "deterministic", "others", "median s", "greatest s"]
        )
        for name in self._learners:
            if name == "n-grams":
                for order in map(str, ORDERS):
                    gaps = {
                        number: records[name]["value"]["orders"][order]
                        for number, records in self._found.items()
                    }
                    self._print_mean(f"{order}-gram", gaps, name)
            gaps = {
                number: records[name]["value"]["gap"] for number, records in self._found.items()
            }
            self._print_mean("best n-gram of each" if name == "n-grams" else name, gaps, name)

    def _print_mean(self, title: str, gaps: dict[int, float], name: str) -> None:
        ended = {number: gap for number, gap in gaps.items() if not math.isnan(gap)}
        parts = [list(ended.values()), [], []]
        for number, gap in ended.items():
            parts[1 if number in DETERMINISTIC else 2].append(gap)
        seconds = [records[name]["seconds"] for records in self._found.values()]
        means = [f"{geometric_mean(part):.4f}" for part in parts]
        print_row([title, len(ended), *means, float(np.median(seconds)), float(max(seconds))])

    def print_losses(self) -> None:
        """Print on which problems ours is worse than the best n-gram."""
        if {"ours", "n-grams"} <= set(self._learners):
            lost = [
                f"{number} ({records['ours']['value']['gap']:.4f} / "
                f"{records['n-grams']['value']['gap']:.4f})"
                for number, records in self._found.items()
                if records["ours"]["value"]["gap"]
                > max(LEAST_GAP, records["n-grams"]["value"]["gap"])
            ]
            print(f"\nWorse than the best n-gram: {', '.join(lost) or 'none'}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    names = [*LEARNERS, *RIVALS]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corpora.pautomac")
    parser.add_argument("--problems", default=",".join(map(str, PROBLEMS)))
    parser.add_argument("--learners", default=",".join(names), help=", ".join(names))
    parser.add_argument("--results", type=Path)
    parser.add_argument("--data", type=Path, default=DATA / "pautomac")
    options = parser.parse_args(arguments)
    results, learners = KeptResults(options.results), options.learners.split(",")
    found: dict[int, dict[str, Record]] = {}
    for number in map(int, options.problems.split(",")):
        found[number] = {
            name: results.compute_elsewhere(
                f"{number} {name}", run_learner, name, number, options.data
            )
            for name in learners
        }
    table = Table(learners, found)
    for show in (table.print_gaps, table.print_means, table.print_losses):
        print()
        show()


if __name__ == "__main__":
    main()
