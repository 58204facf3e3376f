"""Scores of sessions: what is odd about each, and where it becomes so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from pdfalearn.alphabet import Symbol
from pdfalearn.chains import minus_logs, normalise_rows
from pdfalearn.checks import check_integer, check_share
from pdfalearn.corpora import CorpusLike, Others, RecordedWords, as_corpus
from pdfalearn.pdfa import PDFA, check_pdfa
from pdfalearn.typing import Flags, Floats, Integers
from pdfalearn.words import Words, visited_states

Records = NDArray[np.void]

SCORES = ("peaks", "largest", "window", "sum")
"""The surprisals of the oddest events together, ln Σ exp(surprisal): about the largest one, more
where several are as odd; the largest one alone; the most that events side by side are more
surprising than expected; and by how many standard deviations all are, in either direction."""
WINDOW = 10
"""How many events a window has if nobody says otherwise."""
OTHER = 1e-9
"""The probability of an unknown or impossible event if nobody gives another: less than that of an
event that is only unlikely, so that it is odder than all of these."""
_MOST_WINDOW = 1000
# Events that cost more are as odd as those that cost this.
_MOST_COST = 600.0
_ROUNDING = 1e-12
_NO_GAP = 1e-9
# At most this many symbols are named as what was expected instead.
_EXPECTED = 3


def record_type(window: int, languages: int = 0) -> np.dtype[np.void]:
    """Return the type of what is known of a session, open or done."""
    integers = ("state", "events", "unknown", "impossible")
    places = ("largest_at", "largest_column", "largest_state")
    numbers = ("surprisal", "expected", "variance", "latest", "peaks", "largest", "window")
    return np.dtype(
        [
            # What a monitor knows: the time of its last event, and the numbers of its first and
            # last one among all events; a bit for each score; what it has done for each language.
            ("clock", np.float64),
            ("begun", np.int64),
            ("touched", np.int64),
            ("alarmed", np.int32),
            ("languages", np.int32, (languages,)),
            *((name, np.int32) for name in (*integers, *places)),
            *((name, np.float64) for name in numbers),
            ("recent", np.float64, (window - 1,)),
        ]
    )


class Scale:
    """How surprising every event is in every state, and where it leads.

    Columns are the terminal, the symbols, and a last one for unknown events, after which the state
    is the same. What is impossible costs as much as what is unknown, and leads where the automaton
    says, or nowhere; so no session is lost.
    """

    def __init__(self, pdfa: PDFA, other: float = OTHER, window: int = WINDOW) -> None:
        self.pdfa = check_pdfa(pdfa, "pdfa")
        self.other = check_share(other, "other")
        self.window = check_integer(window, "window", 1, _MOST_WINDOW)
        self.rows = rows = normalise_rows(pdfa.probabilities)
        self.unknown: int = rows.shape[1]
        costs = minus_logs(rows)
        # A state's expected surprise is its entropy; the variance is that of the surprise.
        self._means = entr(rows).sum(axis=1)
        gaps = np.where(rows > 0, costs - self._means[:, None], 0.0)
        gaps[np.abs(gaps) < _ROUNDING] = 0.0  # where all events are as likely
        self._variances = (rows * gaps**2).sum(axis=1)
        most = -log(self.other)
        self._costs = np.pad(
            np.where(rows > 0, costs, most), ((0, 0), (0, 1)), constant_values=most
        )
        stay = np.arange(len(pdfa), dtype=np.int32)
        moves = np.where(pdfa.transitions < 0, stay[:, None], pdfa.transitions)
        begin = np.full(len(pdfa), pdfa.initial, dtype=np.int32)
        self._moves = np.column_stack((begin, moves, stay))
        self._possible = np.pad(rows > 0, ((0, 0), (0, 1)), constant_values=True)

        self._likeliest: dict[int, tuple[tuple[Symbol, float], ...]] = {}

    def new_records(self, count: int, languages: int = 0) -> Records:
        """Return the records of sessions that have not begun."""
        records = np.zeros(count, dtype=record_type(self.window, languages))
        records["state"] = self.pdfa.initial
        records["largest_column"] = -1
        return records

    def advance(self, records: Records, events: Words) -> None:
        """Add the events of each session, of which there is one at least, to its record.

        A terminal may only be the last of them.
        """
        columns, begins, lengths = events.symbols, events.offsets[:-1], events.lengths
        visited = visited_states(self._moves, records["state"], events)
        is_before = np.ones(len(visited), dtype=bool)
        is_before[events.ends] = False
        states = visited[is_before]
        width = self._costs.shape[1]
        places = states * np.int64(width) + columns
        costs = self._costs.reshape(-1)[places]
        means = self._means[states]
        sessions = np.repeat(np.arange(len(records)), lengths)
        # The oddest events: the first of those that are as odd.
        most = np.maximum.reduceat(costs, begins)
        found = np.flatnonzero(costs == most[sessions])[::-1]
        where = np.zeros(len(records), dtype=np.int64)
        where[sessions[found]] = found
        is_odder = (most > records["largest"]) | (records["largest_column"] < 0)
        where = where[is_odder]
        for name, values in (
            ("largest", most[is_odder]),
            ("largest_column", columns[where]),
            ("largest_state", states[where]),
            ("largest_at", (records["events"] - begins)[is_odder] + where),
        ):
            records[name][is_odder] = values
        windows = self._add_windows(records, costs - means, events)
        for name, values in (
            ("surprisal", costs),
            ("peaks", np.exp(np.minimum(costs, _MOST_COST))),
            ("expected", means),
            ("variance", self._variances[states]),
            ("unknown", columns == self.unknown),
            ("impossible", ~self._possible.reshape(-1)[places]),
        ):
            records[name] += np.add.reduceat(values, begins, dtype=records[name].dtype)
        records["window"] = np.maximum(records["window"], np.maximum.reduceat(windows, begins))
        records["events"] += lengths.astype(np.int32)
        records["latest"] = costs[events.offsets[1:] - 1]
        records["state"] = visited[events.ends]

    def _add_windows(self, records: Records, excess: Floats, events: Words) -> Floats:
        """Return the sums of the last events' excess, up to each; keep what the next ones need."""
        kept = self.window - 1
        # The events of each session stand behind those that it has kept.
        gaps = kept * np.arange(1, len(records) + 1)
        here = np.arange(len(excess)) + np.repeat(gaps, events.lengths)
        recent = np.arange(-kept, 0)
        whole = np.empty(len(excess) + kept * len(records))
        whole[here] = excess
        whole[(events.offsets[:-1] + gaps)[:, None] + recent] = records["recent"]
        records["recent"] = whole[(events.offsets[1:] + gaps)[:, None] + recent]
        sums = np.append(0.0, np.cumsum(whole))
        return np.asarray(sums[here + 1] - sums[here - kept])

    def advance_one(
        self, known: Sequence[Any], column: int
    ) -> tuple[tuple[Any, ...], dict[str, float]]:
        """Do what `advance` does for one event of one session, much faster.

        ``known`` is its record from the state on. Return what is known then, and the scores of the
        event: the sum counts where it is the end.
        """
        state, events, unknown, impossible, at, odd_column, odd_state, *sums, recent = known
        surprisal, expected, variance, _, peaks, largest, window = sums
        cost, mean = self._costs.item(state, column), self._means.item(state)
        if cost > largest or odd_column < 0:
            at, odd_column, odd_state, largest = events, column, state, cost
        last = [*recent, cost - mean]
        side = sum(last)
        unknown += column == self.unknown
        impossible += not self._possible.item(state, column)
        variance += self._variances.item(state)
        after, peaks = self._moves.item(state, column), peaks + exp(min(cost, _MOST_COST))
        counts = (after, events + 1, unknown, impossible, at, odd_column, odd_state)
        surprisal, expected = surprisal + cost, expected + mean
        gap = abs(surprisal - expected)
        scores = {
            "peaks": log(max(peaks, 1.0)),
            "largest": cost,
            "window": side,
            "sum": gap / sqrt(variance) if variance > 0 else (0.0 if gap < _NO_GAP else inf),
        }
        costs = (surprisal, expected, variance, cost, peaks, largest)
        return (*counts, *costs, max(window, side), last[1:]), scores

    def likeliest(self, state: int) -> tuple[tuple[Symbol, float], ...]:
        """Return the symbols that were expected in a state, with their probabilities."""
        if state not in self._likeliest:
            row = self.rows[state]
            best = np.argsort(-row, kind="stable")[:_EXPECTED].tolist()
            self._likeliest[state] = tuple(
                (self.name_of(column), float(row[column])) for column in best if row[column]
            )
        return self._likeliest[state]

    def name_of(self, column: int) -> Symbol:
        """Return the symbol of a column; None for unknown events."""
        if column == self.unknown:
            return None
        return self.pdfa.terminal if column == 0 else self.pdfa.alphabet.symbols[column - 1]


def plain_values(record: np.void) -> tuple[Any, ...]:
    """Return a record in plain Python, as `Scale.advance_one` takes it but for what comes first."""
    values: Any = record.item()
    *own, languages = values[:5]
    *known, recent = values[5:]
    return (*own, languages.tolist(), *known, recent.tolist())


@dataclass(frozen=True, eq=False)
class SessionScores:
    """How odd each word of a corpus is, and where.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> found = score_sessions(figure_1(), ["a", "aaaaaaaa", "ab"])
    >>> found.values("largest").round(2).tolist()
    [0.69, 0.69, 20.72]
    >>> found.values("sum").round(2).tolist(), found.rank("largest")[:1].tolist()
    ([0.0, 0.0, inf], [2])
    >>> found.describe(2)["after"], found.describe(2)["event"]
    (1, None)
    """

    scale: Scale
    records: Records

    def __len__(self) -> int:
        return len(self.records)

    def values(self, score: str) -> Floats:
        """Return a score of every session; the larger, the odder."""
        if score == "sum":
            return np.abs(self.deviations)
        if score == "peaks":
            return np.asarray(np.log(np.maximum(self.records["peaks"], 1.0)))
        return np.asarray(self.records[score])

    @property
    def deviations(self) -> Floats:
        """By how many standard deviations sessions are more surprising than expected.

        Where nothing else was possible, the deviation is 0, or infinite.
        """
        surprisals, variances = self.records["surprisal"], self.records["variance"]
        gaps = surprisals - self.records["expected"]
        none = np.where(np.abs(gaps) < _NO_GAP, 0.0, np.copysign(np.inf, gaps))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(variances > 0, gaps / np.sqrt(variances), none)

    def rank(self, score: str = "peaks") -> Integers:
        """Return the numbers of the sessions, the oddest first."""
        return np.argsort(-self.values(score), kind="stable")

    def describe(self, number: int) -> dict[str, Any]:
        """Return what is known of a session, as in JSON: its scores, and where it is oddest."""
        record, alone = self.records[number], SessionScores(self.scale, self.records[[number]])
        column, state = int(record["largest_column"]), int(record["largest_state"])
        names = ("largest", "window", "surprisal", "expected")
        return {
            "peaks": float(alone.values("peaks")[0]),
            **{name: float(record[name]) for name in names},
            "deviation": float(alone.deviations[0]),
            **{name: int(record[name]) for name in ("events", "unknown", "impossible")},
            "after": int(record["largest_at"]),
            "event": self.scale.name_of(column) if column >= 0 else None,
            "expected_instead": self.scale.likeliest(state) if column >= 0 else (),
        }


def score_sessions(
    pdfa: PDFA, words: CorpusLike, *, other: float = OTHER, window: int = WINDOW
) -> SessionScores:
    """Score each word of a corpus by itself; `score` is about all of them.

    Parameters
    ----------
    pdfa : PDFA
        What is usual. Its rows are divided by their sums.
    words : Corpus, or what it is made of
        The sessions.
    other : float
        The probability of an event that the automaton does not have or that is impossible in its
        place.
    window : int
        How many events side by side count for the score "window".

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> score_sessions(figure_1(), ["a", ""]).values("largest").round(2).tolist()
    [0.69, 20.72]
    """
    scale = Scale(pdfa, other, window)
    read = as_corpus(words).read(pdfa.alphabet, Others())
    parts = [scale.new_records(0), *(_score_part(scale, part) for part in read)]
    return SessionScores(scale, np.concatenate(parts))


def _score_part(scale: Scale, part: RecordedWords) -> Records:
    words, is_cut = part
    columns = words.next_columns()
    is_kept: Flags = np.ones(len(columns), dtype=bool)
    is_kept[words.ends[is_cut]] = False
    lengths = words.lengths + ~is_cut
    records = scale.new_records(len(words))
    some = np.flatnonzero(lengths)
    offsets = np.append(0, np.cumsum(lengths[some]))
    if len(some):
        found = records[some]
        scale.advance(found, Words(columns[is_kept], offsets))
        records[some] = found
    return records
