"""The families of targets that AALpy's learners take their turns on."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from benchmarks.peers import ListSystem, Outcome, Recorder, System, peer
from benchmarks.support import in_turns, print_header, print_row
from pdfalearn import PDFA, Quantization, learn, load
from pdfalearn.datasets import chain, random_pdfa

BY = Quantization(1000)
LISTS = "KV on lists"
TITLES = ["target", "states", "learn, s", "KV, s", "L*, s", "KV / learn", "goal"]
TITLES += [f"{LISTS} / learn", "equivalence queries", "goal", "KV's", "L*'s"]


def ours(target: PDFA) -> Outcome:
    """Learn a target by this library."""
    result = learn(target, equivalence=BY)
    return Outcome(len(result.pdfa), result.statistics.equivalence_queries, result)


def compare(
    target: PDFA, names: Sequence[str] = ("KV", "L*", LISTS), runs: int = 5
) -> dict[str, tuple[float, Outcome]]:
    """Return the median seconds and the outcome of this library and of AALpy's learners."""
    jobs: dict[str, Callable[[], Outcome]] = {"learn": partial(ours, target)}
    for name in names:
        system = (ListSystem if name == LISTS else System)(target, BY)
        jobs[name] = peer(name.removesuffix(" on lists"), system)
    measured = dict(zip(jobs, in_turns(list(jobs.values()), runs), strict=True))
    sizes = {name: outcome.states for name, (_, outcome) in measured.items()}
    if len(set(sizes.values())) > 1:
        raise RuntimeError(f"the learners do not agree on the number of states: {sizes}")
    return measured


def _print_comparison(
    name: str,
    measured: dict[str, tuple[float, Outcome]],
    ratio_goal: str = "",
    query_goal: str = "",
) -> None:
    seconds = {learner: median for learner, (median, _) in measured.items()}
    queries = {learner: outcome.equivalence_queries for learner, (_, outcome) in measured.items()}
    ratio, other = (
        seconds[name] / seconds["learn"] if name in seconds else "" for name in ("KV", LISTS)
    )
    cells: list[object] = [name, measured["learn"][1].states]
    cells += [seconds.get(learner, "–") for learner in ("learn", "KV", "L*")]
    cells += [ratio, ratio_goal, other, queries["learn"], query_goal]
    print_row([*cells, queries.get("KV", "–"), queries.get("L*", "–")])


def random_targets(everything: bool) -> None:
    """Random targets, m=2, κ=1000, beside AALpy."""
    print_header(TITLES)
    for size, runs, goal in ((300, 21, "at least 3"), (5000, 9, "at least 15")):
        measured = compare(random_pdfa(size, seed=1), runs=runs)
        _print_comparison(f"n={size}", measured, goal)


def shared_distributions(everything: bool) -> None:
    """Random targets with d shared distributions, n=300, m=2, κ=1000, beside AALpy."""
    print_header(TITLES)
    for shared in (2, 4, 16):
        measured = compare(random_pdfa(300, distributions=shared, seed=1), runs=9)
        _print_comparison(f"d={shared}", measured, "at least 5", "at most 25")


def large_alphabets(everything: bool) -> None:
    """Random targets with large alphabets, n=100, κ=1000, beside AALpy."""
    print_header(TITLES)
    for symbols, runs, goal in ((32, 21, "at least 8"), (1000, 5, "at least 20")):
        measured = compare(random_pdfa(100, symbols, seed=1), runs=runs)
        _print_comparison(f"m={symbols}", measured, goal)


def chains(everything: bool) -> None:
    """Chains, without and with a second symbol that resets, κ=1000; KV only with --all."""
    print_header(TITLES)
    for reset in (False, True):
        name = "chain with reset" if reset else "chain"
        names, runs = (["KV", "L*", LISTS], 1) if everything else (["L*"], 3)
        measured = compare(chain(300, reset=reset), names, runs)
        _print_comparison(f"{name}, n=300", measured, "at least 150")
        measured = compare(chain(2500, reset=reset), [], 1)
        _print_comparison(f"{name}, n=2500", measured)


def counted_words(everything: bool) -> None:
    """Words, distributions and symbols asked for on a target of experiment 5; L# with --all."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("PDFALEARN_PAPER_DATA", beside))
    path = folder / "paper-targets" / "exp5" / "d2-0.json.gz"
    if not path.is_file():
        print(f"Skipped: there is no {path}; set PDFALEARN_PAPER_DATA to the folder of the data.")
        return
    print_header(
        ["learner", "words", "goal", "distributions", "goal", "symbols", "equivalence queries", "s"]
    )
    target = load(path)
    for name in ("quant", "quant-classes"):
        [(seconds, result)] = in_turns(
            [partial(learn, target, equivalence=BY, learner=name)], runs=5
        )
        costs = result.statistics
        cells: list[object] = [name, costs.words, "at most 2900"]
        cells += [costs.distributions, "at most 3150", costs.symbols]
        print_row([*cells, costs.equivalence_queries, seconds])
    for name in ("KV", "L*", "L#") if everything else ("KV", "L*"):
        runs = 1 if name == "L#" else 5
        [(seconds, outcome)] = in_turns([peer(name, System(target, BY))], runs)
        record = Recorder(target, BY)
        peer(name, record)()
        cells = [name, len(record.words), "", len(record.distributions), ""]
        print_row([*cells, record.symbols, outcome.equivalence_queries, seconds])
