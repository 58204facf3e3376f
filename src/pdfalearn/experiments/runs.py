"""Runs of learners on targets: done one at a time or in several processes, and kept in a folder."""

from __future__ import annotations

import json
import os
import platform
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent import futures
from dataclasses import asdict, dataclass, fields
from functools import cache, lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from pdfalearn import __version__
from pdfalearn.alphabet import Word
from pdfalearn.checks import check_integer
from pdfalearn.displays import RunsLine, show_progress
from pdfalearn.equivalence import Quantization, Tolerance, distinguish
from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.experiments.plans import Case, Plan, experiments_named, plan_experiment
from pdfalearn.files import check_kind, lock_file, parse_object, replacing
from pdfalearn.learning import SIMILARITY_LEARNERS, learn
from pdfalearn.metrics import evaluate
from pdfalearn.pdfa import PDFA

OURS = "ours"
# The files of a folder that say what its results are of, and that hold the runs.
PARAMETERS, TABLE, _LOCK = "parameters.json", "runs.jsonl", ".lock"
_FORMAT = "pdfalearn experiments"
# Symbols and lengths of the words that learners are evaluated on are uniform: words drawn from the
# target itself would end early and see little of it.
WORDS, LONGEST_WORD = 1000, 50


@dataclass(frozen=True)
class Run(Case):
    """A run that was done, with what it has cost and the metrics of what was learnt."""

    source: ClassVar[str] = OURS
    target_states: int  # the target's actual size
    certificate: str
    states: int  # of the learnt automaton
    words: int
    symbols: int
    equivalence_queries: int
    structure_size: int
    tree_depth: int
    learning_seconds: float
    equivalence_seconds: float
    learning_process_seconds: float
    equivalence_process_seconds: float
    word_error_rate: float
    ndcg: float
    log_probability_error: float | None
    other_class: float  # the share of distributions in another class at κ
    out_of_tolerance: float  # the share of distributions that differ by more than 1/κ
    l1: float
    kl: float
    target_perplexity: float
    perplexity: float

    @property
    def seconds(self) -> float:
        """The time from begin to end, as the paper measures it: learning and equivalence."""
        return self.learning_seconds + self.equivalence_seconds

    @property
    def process_seconds(self) -> float:
        """The processor's time for both."""
        return self.learning_process_seconds + self.equivalence_process_seconds


_NAMES = [field.name for field in fields(Run)]
# What the statistics of learning have under the same names.
_COSTS = _NAMES[_NAMES.index("states") : _NAMES.index("word_error_rate")]


def perform(case: Case, given: PDFA | None) -> Run:
    """Learn the target of a case, a given one or its own, and measure what was learnt."""
    target = case.draw() if given is None else given
    _warm_up(case.learner)
    result = learn(target, equivalence=_relation(case), learner=case.learner, audit=0)
    costs = {name: getattr(result.statistics, name) for name in _COSTS}
    metrics = measure(target, result.pdfa, case.kappa, case.words_seed)
    kind = result.certificate.kind
    return Run(**vars(case), target_states=len(target), certificate=kind, **costs, **metrics)


def _relation(case: Case) -> Quantization | Tolerance:
    by_similarity = case.learner in SIMILARITY_LEARNERS
    return Tolerance(1 / case.kappa) if by_similarity else Quantization(case.kappa)


@cache
def _warm_up(learner: str) -> None:
    """Learn something, so that a process's first run does not pay for imports and cold caches."""
    case = Case(1, "", learner, 1, 100, 2, distributions=4, kappa=1000, target_seed=0, words_seed=0)
    learn(case.draw(), equivalence=_relation(case), learner=learner)


@lru_cache(maxsize=8)  # the runs of a learner on a target give the same automaton
def measure(target: PDFA, learnt: PDFA, kappa: int, seed: int) -> dict[str, Any]:
    """Measure a learnt automaton against its target, over all prefixes of random words."""
    random, symbols = np.random.default_rng(seed), target.alphabet.symbols
    lengths = random.integers(LONGEST_WORD + 1, size=WORDS)
    codes = (random.integers(len(symbols), size=length).tolist() for length in lengths)
    words: list[Word] = [tuple(symbols[code] for code in word) for word in codes]
    by_class = evaluate(target, learnt, words, equivalence=Quantization(kappa))
    out_of_tolerance, similar = 0.0, Tolerance(1 / kappa)
    # What is similar after all words is so after these.
    if distinguish(target, learnt, equivalence=similar) is not None:
        by_tolerance = evaluate(target, learnt, words, equivalence=similar)
        out_of_tolerance = by_tolerance.over_prefixes.difference
    over = by_class.over_prefixes
    return {
        "word_error_rate": over.word_error_rate,
        "ndcg": over.ndcg,
        "log_probability_error": by_class.log_probability_error,
        "other_class": over.difference,
        "out_of_tolerance": out_of_tolerance,
        "l1": over.l1,
        "kl": over.kl,
        "target_perplexity": by_class.target_perplexity,
        "perplexity": by_class.perplexity,
    }


def read_runs(folder: Path) -> dict[str, Run]:
    """Read the runs in a folder by their keys; the last line of one that was killed is left out."""
    path = folder / TABLE
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    runs = {}
    for number, line in enumerate(lines, start=1):
        try:
            run = Run(**json.loads(line))
        except (TypeError, ValueError) as error:
            remedy = "delete the line, and the run is done again"
            raise FileFormatError(f"{path}, line {number}: not a run: {error}; {remedy}") from error
        runs[run.key] = run
    return runs


def read_parameters(folder: Path) -> dict[str, Any]:
    """Read what the results in a folder are of: parameters by experiments, and machines."""
    path = folder / PARAMETERS
    try:
        content = parse_object(path.read_bytes(), "the file")
        check_kind(content, _FORMAT)
    except FileNotFoundError:
        return {"format": _FORMAT, "version": 1, "machines": [], "experiments": {}}
    except FileFormatError as error:
        raise FileFormatError(f"{path}: {error}") from error
    return content


def _settle(folder: Path, plans: Sequence[Plan], machine: str | None) -> None:
    """Note in a folder what it has results of; refuse one that has results of something else."""
    content = read_parameters(folder)
    for plan in plans:
        number, parameters = plan.experiment.number, plan.parameters
        there = content["experiments"].setdefault(str(number), parameters)
        differences = [
            f"{name} {there.get(name)} there and {value} now"
            for name, value in parameters.items()
            if there.get(name) != value
        ]
        if differences:
            raise InputError(
                f"{folder} holds results of experiment {number} with other parameters: "
                f"{'; '.join(differences)}; choose another folder"
            )
    if machine is not None and machine not in content["machines"]:
        content["machines"].append(machine)
    with replacing(folder / PARAMETERS) as stream:
        stream.write(json.dumps(content, indent=1, ensure_ascii=False).encode() + b"\n")


def _describe_machine(jobs: int) -> str:
    return (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors, {jobs} at a time, "
        f"Python {platform.python_version()}, NumPy {np.__version__}, pdfalearn {__version__}"
    )


_Work = tuple[Case, PDFA | None]


def _perform_all(work: Iterable[_Work], jobs: int) -> Iterator[tuple[Case, Run | InputError]]:
    """Do runs; yield each as it ends, with what came out or why it has failed."""
    if jobs == 1:
        for one in work:
            try:
                yield one[0], perform(*one)
            except InputError as error:
                yield one[0], error
        return
    # Spawned, as everywhere but on Linux: a fork would take the locks of other threads along.
    # Interrupts end them without a message; the process that started them reports it.
    handling = (signal.signal, (signal.SIGINT, signal.SIG_DFL))
    executor = futures.ProcessPoolExecutor(jobs, get_context("spawn"), *handling)
    try:
        pending = {executor.submit(perform, *one): one[0] for one in work}
        for future in futures.as_completed(pending):
            try:
                yield pending[future], future.result()
            except InputError as error:
                yield pending[future], error
    except futures.BrokenExecutor as error:
        remedy = "start again to go on with what is left"
        raise InputError(f"a process was lost, for want of memory perhaps; {remedy}") from error
    finally:
        executor.shutdown(cancel_futures=True)


@dataclass(frozen=True)
class Outcome:
    """What running experiments has done.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = run_experiments("1", folder, values=[10], learners=["quant"])
    ...     again = run_experiments("1", folder, values=[10], learners=["quant"])
    >>> first.runs, first.found, again.runs, again.found
    (6, 0, 0, 6)
    """

    runs: int
    """How many runs have been done."""
    found: int
    """How many were there already, from an earlier time."""
    failures: dict[str, str]
    """Why runs have failed, by their keys in words; they are tried again the next time."""


def run_experiments(
    name: str,
    folder: str | os.PathLike[str],
    *,
    scale: str = "quick",
    learners: Sequence[str] | None = None,
    values: Sequence[int] | None = None,
    targets: str | os.PathLike[str] | None = None,
    seed: int = 0,
    jobs: int = 1,
    progress: Callable[[int, int], None] | bool | Literal["log"] | None = None,
) -> Outcome:
    """Run the paper's experiments, and write a row for each run as it ends.

    An interrupted experiment goes on where it stopped, when it is called again in the same way.

    Parameters
    ----------
    name : {"1", "2", "3", "4", "5", "all"}
        Which experiment.
    folder : path
        Where the results go: runs.jsonl, and parameters.json that says what they are of.
    scale : {"quick", "paper"}
        3 targets and 2 runs on each, or the paper's 10 and 10.
    learners : sequence of str, optional
        The learners, instead of those that the paper compares.
    values : sequence of int, optional
        Values on the axis of a single experiment, instead of the paper's.
    targets : path, optional
        A folder with given targets: exp1/n100-0.json.gz and so on.
    seed : int
        Same seed, same targets and words for the metrics.
    jobs : int
        How many runs to do at a time, in processes of their own if there are several. A script that
        asks for them has to do so under ``if __name__ == "__main__":``, as they import it.
    progress : bool, "log" or callable, optional
        True shows how many runs are done and how long the rest may take, and "log" logs it every
        ten seconds. A function is called with how many are done and how many there are in all.

    Raises
    ------
    InputError
        If the folder holds results of other parameters, another process is at work in it, or
        something that is given is wrong.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     outcome = run_experiments("1", folder, values=[10], learners=["quant"])
    >>> outcome.runs, outcome.failures
    (6, {})
    """
    chosen, place = experiments_named(name), Path(folder)
    if len(chosen) > 1 and values is not None:
        raise InputError("values are for a single experiment, not for all of them")
    check_integer(jobs, "jobs", 1)
    given: dict[str, Any] = {"scale": scale, "learners": learners, "values": values, "seed": seed}
    plans = [plan_experiment(one, folder=targets, **given) for one in chosen]
    place.mkdir(parents=True, exist_ok=True)
    shown = show_progress(progress, RunsLine, label=f"experiment {name}")
    with lock_file(place / _LOCK, "another run of experiments"), shown as update:
        runs = read_runs(place)
        work = [(case, plan.targets.get(case.target)) for plan in plans for case in plan.cases]
        left = [one for one in work if one[0].key not in runs]
        found, failures = len(work) - len(left), dict[str, str]()
        _settle(place, plans, _describe_machine(jobs) if left else None)
        report = update or (lambda done, total: None)
        report(found, len(work))
        with (place / TABLE).open("ab") as table:
            table.truncate((place / TABLE).read_bytes().rfind(b"\n") + 1)  # the torn last line
            for done, (case, run) in enumerate(_perform_all(left, jobs), start=found + 1):
                if isinstance(run, Run):  # at once and whole, so that it survives a crash
                    table.write(json.dumps(asdict(run)).encode() + b"\n")
                    table.flush()
                    os.fsync(table.fileno())
                else:
                    failures[case.key] = str(run)
                report(done, len(work))
    return Outcome(len(left) - len(failures), found, failures)
