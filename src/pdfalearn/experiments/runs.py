"""One run of a learner on a target, and what a folder keeps of runs: a table, and failures."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple, dataclass, fields
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from pdfalearn.alphabet import Word
from pdfalearn.datasets import random_pdfa
from pdfalearn.equivalence import Quantization, Tolerance, distinguish
from pdfalearn.errors import FileFormatError
from pdfalearn.experiments.plans import EXPERIMENTS, LEARNER_NAMES, Case, Setting, Task, write_json
from pdfalearn.files import parse_object, replacing
from pdfalearn.learning import SIMILARITY_LEARNERS, learn
from pdfalearn.metrics import evaluate
from pdfalearn.pdfa import PDFA

OURS, AUTHORS = "ours", "authors"
# Symbols and lengths of the words that learners are evaluated on are uniform: words drawn from the
# target itself would end early and see little of it.
WORDS, LONGEST_WORD = 1000, 50
# The executors whose timings are not disturbed by other runs.
UNDISTURBED = ("in process", "1 process")


@dataclass(frozen=True)
class Measures:
    """The metrics of a run."""

    word_error_rate: float
    ndcg: float
    log_probability_error: float | None
    other_class: float  # the share of distributions in another class at κ
    out_of_tolerance: float  # the share of distributions that differ by more than t
    l1: float
    kl: float
    target_perplexity: float
    perplexity: float


@dataclass(frozen=True)
class Costs:
    """What a run has cost, as the statistics of learning have it."""

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

    @property
    def seconds(self) -> float:
        """The time from begin to end, as the paper measures it: learning and equivalence."""
        return self.learning_seconds + self.equivalence_seconds

    @property
    def process_seconds(self) -> float:
        """The processor's time for both."""
        return self.learning_process_seconds + self.equivalence_process_seconds


@dataclass(frozen=True)
class Run(Measures, Costs, Case):
    """A run that was done: a row of the results, whose columns begin with those of `Case`."""

    source: ClassVar[str] = OURS
    target_states: int  # the target's actual size
    certificate: str
    executor: str  # where it ran
    load: float | None  # of the machine when the run began, for each of its processors

    @property
    def value(self) -> int:
        """Its value on the experiment's axis."""
        value: int = getattr(self, EXPERIMENTS[self.experiment].varies)
        return value

    @property
    def is_disturbed(self) -> bool:
        """Whether other runs may have slowed it."""
        return self.executor not in UNDISTURBED


def perform(task: Task, executor: str) -> Run:
    """Learn a target, measure the automaton that was learnt, and return the row."""
    target, setting = task.pdfa(), task.setting
    _warm_up(task.learner)
    load = round(os.getloadavg()[0] / (os.cpu_count() or 1), 3)
    relation = _relation(task.learner, setting)
    result = learn(target, equivalence=relation, learner=task.learner, audit=0)
    return Run(
        **{field.name: getattr(task, field.name) for field in fields(Case)},
        target_states=len(target),
        **{field.name: getattr(result.statistics, field.name) for field in fields(Costs)},
        **vars(measures(target, result.pdfa, setting, task.words_seed)),
        certificate=result.certificate.kind,
        executor=executor,
        load=load,
    )


def _relation(learner: str, setting: Setting) -> Quantization | Tolerance:
    if learner in SIMILARITY_LEARNERS:
        return Tolerance(setting.tolerance)
    return Quantization(setting.kappa)


@cache
def _warm_up(learner: str) -> None:
    """Learn something, so that a process's first run does not pay for imports and cold caches."""
    setting = Setting(100, 2, distributions=4, kappa=1000, tolerance=0.001)
    target = random_pdfa(100, distributions=4, seed=0)
    learn(target, equivalence=_relation(learner, setting), learner=learner)


@lru_cache(maxsize=8)  # the runs of a learner on a target give the same automaton
def measures(target: PDFA, learnt: PDFA, setting: Setting, seed: int) -> Measures:
    """Measure a learnt automaton against its target, over all prefixes of random words."""
    random, symbols = np.random.default_rng(seed), target.alphabet.symbols
    lengths = random.integers(LONGEST_WORD + 1, size=WORDS)
    codes = (random.integers(len(symbols), size=length).tolist() for length in lengths)
    words: list[Word] = [tuple(symbols[code] for code in word) for word in codes]
    by_class = evaluate(target, learnt, words, equivalence=Quantization(setting.kappa))
    out_of_tolerance, similar = 0.0, Tolerance(setting.tolerance)
    # What is similar after all words is so after these.
    if distinguish(target, learnt, equivalence=similar) is not None:
        by_tolerance = evaluate(target, learnt, words, equivalence=similar)
        out_of_tolerance = by_tolerance.over_prefixes.difference
    over = by_class.over_prefixes
    return Measures(
        word_error_rate=over.word_error_rate,
        ndcg=over.ndcg,
        log_probability_error=by_class.log_probability_error,
        other_class=over.difference,
        out_of_tolerance=out_of_tolerance,
        l1=over.l1,
        kl=over.kl,
        target_perplexity=by_class.target_perplexity,
        perplexity=by_class.perplexity,
    )


COLUMNS = tuple(field.name for field in fields(Run))
FAILURES = "failures.json"

_MAY_BE_INFINITE = ("log_probability_error", "kl", "target_perplexity", "perplexity")
# What is divided by or drawn on a logarithmic axis.
_POSITIVE = (
    *("target_states", "states", "words", "structure_size", "seconds"),
    *("target_perplexity", "perplexity"),
)
_PARSERS: dict[str, Callable[[str], object]] = {"int": int, "float": float, "str": str}


class Table(NamedTuple):
    """The runs that a file holds, and what is wrong with its other lines."""

    runs: dict[str, Run]
    complaints: tuple[str, ...] = ()
    is_torn: bool = False  # whether the last line breaks off, as that of a run which was killed


def read_table(path: Path, tasks: Mapping[str, Task] | None = None) -> Table:
    """Read what can be read; a torn last line is not reported.

    Rows that are not those of planned tasks, where these are known, count as unreadable. A file
    that does not begin with the columns of a table of runs is refused.
    """
    try:
        text = path.read_bytes().decode("utf-8", "backslashreplace")
    except FileNotFoundError:
        return Table({})
    # Not one text for csv: a quote that is not closed would swallow all lines after it.
    *lines, rest = text.replace("\r\n", "\n").split("\n")
    if lines and tuple(lines[0].split(",")) != COLUMNS:
        raise FileFormatError(f"{path}, line 1: these are not the columns of a table of runs")
    runs: dict[str, Run] = {}
    complaints = []
    for number, line in enumerate(lines[1:], start=2):
        try:
            run = _read_row(line)
            if tasks is not None:
                _check_planned(run, tasks.get(run.key))
            if run.key in runs:
                raise ValueError(f"{run.key} stands there a second time")
        except ValueError as error:
            complaints.append(f"{path}, line {number}: {error}")
        else:
            runs[run.key] = run
    return Table(runs, tuple(complaints), is_torn=bool(rest) or not lines)


def write_table(path: Path, runs: Iterable[Run]) -> None:
    """Write a whole table: the old file stays, or the new one is there."""
    with replacing(path) as stream:
        stream.write("".join(map(_make_line, [COLUMNS, *map(astuple, runs)])).encode())


def append_run(path: Path, run: Run) -> None:
    """Add a row at the end of a table, at once and whole, so that it survives a crash."""
    with path.open("ab") as stream:
        stream.write(_make_line(astuple(run)).encode())
        stream.flush()
        os.fsync(stream.fileno())


def _make_line(values: Iterable[object]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(values)
    return line.getvalue()


def _read_row(line: str) -> Run:
    """Read a row, or raise a ValueError that says what is wrong with it."""
    try:
        (values,) = csv.reader([line], strict=True) if line.strip() else [[]]
    except csv.Error as error:
        raise ValueError(str(error)) from None
    if len(values) != len(COLUMNS):
        raise ValueError(f"{len(values)} values and not {len(COLUMNS)}")
    parsed: dict[str, Any] = {}
    for field, text in zip(fields(Run), values, strict=True):
        kind, _, none = str(field.type).partition(" | ")
        try:
            value = None if none and not text else _PARSERS[kind](text)
        except ValueError:
            raise ValueError(f"{field.name} {text!r} is not of the type {field.type}") from None
        parsed[field.name] = value
        if isinstance(value, int | float) and not value >= 0:  # so written, it refuses NaN, too
            raise ValueError(f"{field.name} {text} is not a number from 0 on")
        if value == math.inf and field.name not in _MAY_BE_INFINITE:
            raise ValueError(f"{field.name} {value} is not finite")
    run = Run(**parsed)
    if run.experiment not in EXPERIMENTS or run.learner not in LEARNER_NAMES:
        raise ValueError(f"there is no {run.learner} in experiment {run.experiment}")
    for name in _POSITIVE:
        if not getattr(run, name) > 0:
            raise ValueError(f"{name} {getattr(run, name)} is not more than 0")
    return run


def _check_planned(run: Run, task: Task | None) -> None:
    """Raise a ValueError that says what of a run is not planned."""
    if task is None:
        raise ValueError(f"the parameters do not ask for {run.key}")
    for field in fields(Case):
        value = getattr(run, field.name)
        if value != getattr(task, field.name):
            raise ValueError(f"the parameters do not ask for {field.name}={value} of {run.key}")


def read_failures(folder: Path) -> dict[str, str]:
    """Read which runs have failed at some time, by their keys, and why."""
    path = folder / FAILURES
    try:
        return {key: str(why) for key, why in parse_object(path.read_bytes(), "it").items()}
    except FileNotFoundError:
        return {}
    except FileFormatError as error:
        raise FileFormatError(f"{path}: not an object of failed runs: {error}") from error


def note_failure(folder: Path, key: str, reason: str) -> None:
    """Note that a run has failed; a row in the table says that it was done since."""
    write_json(folder / FAILURES, read_failures(folder) | {key: reason})
