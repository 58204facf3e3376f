"""Ours beside ALERGIA and MDI at every size that they reach, on eight corpora.

Run with ``python -m benchmarks.corpora.sizes --results FILE``; what FILE has is not run again.
``--corpora HDFS,phones`` takes some.

Cross-entropies are nats per symbol on a fifth of the words, which no learner sees. Ours is the
automaton of at most as many states of one frontier, with default settings.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.corpora.kept_results import KeptResults, Record
from benchmarks.corpora.named_corpora import CORPORA, code_corpus
from benchmarks.corpora.rivals import (
    RIVALS,
    learn_smoothly,
    list_words,
    mean_loss,
    try_settings,
)
from benchmarks.support import print_header, print_row
from pdfalearn import Corpus, distill

# A parameter that takes more processor seconds than this is not tried, nor those behind it.
SECONDS = 20.0
# The parameters that rivals are given: from few states to many.
GRIDS = {
    "ALERGIA": (1e-12, 1e-6, 1e-4, 0.005, 0.05, 0.2, 0.5, 0.8, 1.2),
    "MDI": (1000, 300, 100, 50, 20, 10, 5, 2, 1),
}
OURS = "ours"


def measure_points(corpus: str, learner: str) -> list[Record]:
    """Return the states and the cross-entropy of each automaton that a learner makes."""
    learnt, unseen, width = code_corpus(corpus)
    if learner == OURS:
        frontier = distill(Corpus(list_words(learnt), alphabet=range(width)))
        return [
            {
                "states": point.states,
                "loss": mean_loss(point.pdfa, unseen),
                "best": point.pdfa is frontier.best,
            }
            for point in frontier
        ]
    rival = RIVALS[learner]._replace(grid=GRIDS[learner])
    points = []
    for setting in try_settings(rival, learnt, width, SECONDS):
        pdfa = learn_smoothly(rival, learnt, width, setting)
        text = f"{rival.parameter} = {setting.parameter:g}, weight {setting.weight:g}"
        points.append({"states": len(pdfa), "loss": mean_loss(pdfa, unseen), "setting": text})
    return points


def compare_points(ours: list[Record], theirs: list[Record]) -> list[tuple[Record, Record | None]]:
    """Return the best of a rival's automata of each size, beside ours of at most that size."""
    best: dict[int, Record] = {}
    for point in sorted(theirs, key=lambda each: -each["loss"]):
        best[point["states"]] = point
    pairs = []
    for states in sorted(best):
        fitting = [point for point in ours if point["states"] <= states]
        pairs.append((best[states], fitting[-1] if fitting else None))
    return pairs


def main(arguments: Sequence[str] | None = None) -> None:
    """Print how often ours is not lower, and the sizes at which it is not."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corpora.sizes")
    parser.add_argument("--corpora", default=",".join(CORPORA))
    parser.add_argument("--results", type=Path)
    parser.add_argument("--all", action="store_true", help="list sizes that are not lost, too")
    options = parser.parse_args(arguments)
    results = KeptResults(options.results)
    rows, summary, total = [], [], [0, 0]
    for corpus in options.corpora.split(","):
        records = {
            learner: results.compute_elsewhere(
                f"{corpus} {learner}", measure_points, corpus, learner
            )
            for learner in (OURS, *GRIDS)
        }
        ours = records[OURS]["value"]
        compared, lost = 0, 0
        for rival in GRIDS:
            for theirs, beside in compare_points(ours, records[rival]["value"]):
                is_lost = beside is None or beside["loss"] >= theirs["loss"]
                compared, lost = compared + 1, lost + is_lost
                if is_lost or options.all:
                    found = ["none", ""]
                    if beside is not None:
                        found = [f"{beside['loss']:.4f}", beside["states"]]
                    cells = [theirs["setting"], theirs["states"], f"{theirs['loss']:.4f}", *found]
                    rows.append([corpus, rival, *cells, "lost" if is_lost else ""])
        total = [total[0] + compared, total[1] + lost]
        best = next(point for point in ours if point["best"])
        lowest = {rival: min(one["loss"] for one in records[rival]["value"]) for rival in GRIDS}
        seconds = [records[learner]["seconds"] for learner in (OURS, *GRIDS)]
        losses = [f"{loss:.4f}" for loss in (best["loss"], *lowest.values())]
        summary.append([corpus, compared, lost, best["states"], *losses, *seconds])
    titles = ["corpus", "sizes", "lost", "states of best", "best", *GRIDS, "s of ours"]
    print_header([*titles, *(f"s of {name}" for name in GRIDS)])
    for row in [*summary, ["all", *total]]:
        print_row(row)
    print()
    print_header(["corpus", "rival", "setting", "states", "theirs", "ours", "states of ours", ""])
    for row in rows:
        print_row(row)


if __name__ == "__main__":
    main()
