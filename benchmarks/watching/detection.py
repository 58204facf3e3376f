"""How many odd sessions of three public logs are found, with thresholds set by usual ones.

``python -m benchmarks.watching.detection`` prints a table for each log: recall, precision and F1 of
the sessions at hand, the measured share of false alarms, and on how many sessions the threshold
rests. Of HDFS there are no usual sessions to test with: its training sessions are split in three,
to learn, to calibrate and to test. As the whole log has 558,223 usual sessions beside the 16,838
odd ones, F1 is also given for these numbers. Means over three splits.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.corpora.kept_results import DATA
from benchmarks.corpora.ngrams import ngram_shares
from benchmarks.support import print_header, print_row
from pdfalearn import PDFA, Corpus, distill
from pdfalearn.errors import InputError
from pdfalearn.passive import alergia, smooth_rows
from pdfalearn.typing import Floats
from pdfalearn.watching import calibrate, score_sessions
from pdfalearn.watching.session_scores import SCORES, WINDOW
from pdfalearn.watching.thresholds import TOLERANCE
from pdfalearn.words import Words, offsets_of

Session = tuple[str, ...]
Scores = dict[str, Floats]
RATES = (0.05, 0.01, 0.001)
SPLITS = 3
_LOGS = DATA / "logs"
# How many usual sessions the whole log has, where that is known.
_WHOLE = {"hdfs": 558_223}


class Split(NamedTuple):
    """The sessions of a log."""

    learnt: list[Session]
    held_out: list[Session]
    usual: list[Session]
    odd: list[Session]


def read_sessions(path: Path) -> list[Session]:
    """Read the events of each session."""
    with gzip.open(path, "rt") as stream:
        return [tuple(line.partition(",")[2].split()) for line in stream]


def split_log(name: str, seed: int) -> Split:
    """Split a log: its usual sessions to calibrate and to test, and those to learn if need be."""
    random = np.random.default_rng(seed)

    def parts(sessions: list[Session], count: int) -> list[list[Session]]:
        order = random.permutation(len(sessions))
        return [[sessions[i] for i in part] for part in np.array_split(order, count)]

    learnt = read_sessions(_LOGS / f"{name}_train.gz")
    odd = read_sessions(_LOGS / f"{name}_test_abnormal.gz")
    usual = _LOGS / f"{name}_test_normal.gz"
    if usual.exists():
        held_out, tested = parts(read_sessions(usual), 2)
        return Split(learnt, held_out, tested, odd)
    one, two, *rest = parts(learnt, 5)
    return Split([session for part in rest for session in part], one, two, odd)


def score_by_automaton(make: Callable[[Corpus], PDFA], split: Split) -> list[Scores]:
    """Score the sessions to calibrate, the usual and the odd ones by an automaton."""
    pdfa = make(Corpus(split.learnt))
    found = [score_sessions(pdfa, Corpus(part)) for part in split[1:]]
    return [{name: one.values(name) for name in SCORES} for one in found]


def score_by_ngrams(order: int, split: Split) -> list[Scores]:
    """Score them by an n-gram; its window and sum are sums of surprisals."""
    codes: dict[str, int] = {}
    for session in split.learnt:
        for event in session:
            codes.setdefault(event, len(codes))
    learnt, *asked = (
        Words.of([[codes.get(one, len(codes)) for one in session] for session in part])
        for part in split
    )
    found = []
    for words in asked:
        shares = ngram_shares(learnt, words, len(codes) + 1, range(order, order + 1))[order]
        found.append(_sum_costs(-np.log(shares), words))
    return found


def _sum_costs(costs: Floats, words: Words) -> Scores:
    offsets = offsets_of(words.lengths + 1)
    sums = np.append(0.0, np.cumsum(costs))
    begins = np.repeat(offsets[:-1], np.diff(offsets))
    here = np.arange(len(costs))
    windows = sums[1:] - sums[np.maximum(here + 1 - WINDOW, begins)]
    return {
        "peaks": np.log(np.add.reduceat(np.exp(costs), offsets[:-1])),
        "largest": np.maximum.reduceat(costs, offsets[:-1]),
        "window": np.maximum.reduceat(windows, offsets[:-1]),
        "sum": np.add.reduceat(costs, offsets[:-1]),
    }


def threshold_of(values: Floats, rate: float) -> float | None:
    """Return the threshold as `calibrate` does; None where there are too few sessions."""
    rank = int(np.ceil(np.round((len(values) + 1) * (1 - rate), 9)))
    return None if rank > len(values) else float(np.sort(values)[rank - 1]) + TOLERANCE


def measure(name: str) -> None:
    """Print the table of a log."""
    methods: dict[str, Callable[[Split], list[Scores]]] = {
        "distill": partial(score_by_automaton, lambda words: distill(words, seed=1).best),
        "ALERGIA, 0.05": partial(score_by_automaton, _learn_by_alergia),
        **{f"{order}-grams": partial(score_by_ngrams, order) for order in range(2, 7)},
    }
    splits = [split_log(name, seed) for seed in range(SPLITS)]
    sizes = ", ".join(f"{len(part):,}" for part in splits[0])
    print(f"\n{name}: {sizes} sessions to learn, to calibrate, usual and odd ones to test\n")
    whole = _WHOLE.get(name)
    more = [] if whole is None else ["F1, whole log"]
    print_header(
        ["by", "score", "promised", "rests on", "false alarms", "recall", "precision", "F1", *more]
    )
    for method, run in methods.items():
        found = [run(split) for split in splits]
        for score in SCORES:
            for rate in RATES:
                _print_rate(
                    method, score, rate, [[one[score] for one in each] for each in found], whole
                )


def _learn_by_alergia(words: Corpus) -> PDFA:
    return smooth_rows(alergia(words, epsilon=0.05), words)


def _print_rate(
    method: str, score: str, rate: float, found: list[list[Floats]], whole: int | None
) -> None:
    rows = []
    for held_out, usual, odd in found:
        threshold = threshold_of(held_out, rate)
        if threshold is None:
            print_row([method, score, rate, len(held_out), "too few", "", "", ""])
            return
        false, recall = float((usual > threshold).mean()), float((odd > threshold).mean())
        row = [false, recall, *_precision_and_f1(false * len(usual), recall * len(odd), len(odd))]
        if whole is not None:
            row.append(_precision_and_f1(false * whole, recall * len(odd), len(odd))[1])
        rows.append(row)
    means = [f"{value:.4f}" for value in np.mean(rows, axis=0)]
    print_row([method, score, rate, len(found[0][0]), *means])


def _precision_and_f1(false: float, right: float, odd: int) -> tuple[float, float]:
    return right / max(right + false, 1e-9), 2 * right / (right + false + odd)


def main() -> None:
    """Print all tables, and what `calibrate` says where there are too few sessions."""
    for name in ("hdfs", "openstack", "hadoop"):
        measure(name)
    split = split_log("hadoop", 0)
    try:
        calibrate(distill(Corpus(split.learnt), seed=1).best, Corpus(split.held_out), 0.01)
    except InputError as error:
        print(f"\nhadoop at 0.01: {error}")


if __name__ == "__main__":
    main()
