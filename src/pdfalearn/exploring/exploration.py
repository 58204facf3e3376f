"""What is known of a live model's answers: certain bounds, and what they leave open."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import numpy as np

from pdfalearn.checks import check_integer, check_number
from pdfalearn.errors import InputError
from pdfalearn.exploring.frontier import TAIL
from pdfalearn.exploring.likeliest import Likely, list_likeliest
from pdfalearn.exploring.page_data import Parts, exploration_page
from pdfalearn.exploring.prefixes import Found
from pdfalearn.exploring.sampling import ROUNDING, Draws, draw_matching, estimate
from pdfalearn.files import write_named
from pdfalearn.frozen import Frozen
from pdfalearn.results import Bounds
from pdfalearn.text import escaped, format_table, shorten
from pdfalearn.typing import Flags, Floats

if TYPE_CHECKING:
    from pdfalearn.budgets import Budget
    from pdfalearn.exploring.asking import LiveRun
    from pdfalearn.exploring.drifting import Drift

_MEANINGS = {
    "whole": "the whole answer is in the language",
    "begins": "the answer begins with a word of the language",
    "contains": "the answer contains a word of the language",
}


class Step(NamedTuple):
    """How far an exploration was after some calls.

    Examples
    --------
    >>> from pdfalearn import explore
    >>> from pdfalearn.datasets import figure_1
    >>> explore(figure_1(), "a", gap=0.6).trace[0]
    Step(calls=0, low=0.0, high=1.0)
    """

    calls: int
    low: float
    high: float


class Exploration(Frozen):
    """Certain bounds on how a model answers, made by `explore`.

    Bounds are of any match, and by name of each language. Where several prompts were explored, all
    figures are means over them; `behind` has those of one.

    Examples
    --------
    >>> from pdfalearn import explore
    >>> from pdfalearn.datasets import figure_1
    >>> asked = explore(figure_1(), {"short": ".{1,2}", "even": "(..)*"}, gap=0.001)
    >>> round(asked.low, 3), round(asked["even"].high, 3), asked.stopped
    (0.833, 0.334, 'gap')
    >>> print(asked.given("short", "even"))
    [0.748538, 0.750733] for the model as it computes
    """

    names: tuple[str, ...]
    """The names of the languages."""
    prompts: tuple[str, ...]
    """The names of the prompts."""
    low: float
    """At least so likely is any match."""
    high: float
    """At most so likely is any match."""
    calls: int
    """How many distributions the model was asked for."""
    stopped: str
    """What ended it: gap, verdict, max_words, max_seconds, nothing left, interrupted, untold:
    the model does not tell more, and besides that the gap is reached; or context: besides answers
    that the model's context is too short for. Bound them by ``within``."""
    open: Mapping[str, float]
    """What is open, and why: ``undecided`` prefixes, ``unlikely`` ones that were left out, what the
    model did not tell (``untold``), and what is ``beyond context``: too long for the model."""
    control: float
    """How likely a token comes that is neither text nor an end, while the answer is undecided."""
    cut: float
    """How likely it is that nothing is decided ``within`` the symbols looked at: no match."""
    trace: tuple[Step, ...]
    """The bounds on any match as they closed."""

    @property
    def asides(self) -> dict[str, float]:
        """What is settled besides, if there is such: control tokens, and what is cut."""
        masses = {"control tokens": self.control, "longer than looked at": self.cut}
        return {name: mass for name, mass in masses.items() if mass > 0}

    def __init__(self, run: LiveRun, rows: Sequence[int], stopped: str) -> None:
        frontier = run.frontier
        places = np.array(rows)
        settled = frontier.settled[places, 0].mean(axis=0)
        opened = frontier.open_masses[places, 0].mean(axis=0)
        too_long = float(frontier.too_long[places, 0].sum()) / len(places)
        untold = float(frontier.untold[places, 0].sum()) / len(places) - too_long
        items = frontier.items
        tails = items.symbols == TAIL
        if len(places) < len(frontier.settled):
            tails &= np.isin(items.prompts, places)
        unlikely = float(items.masses[tails, 0].sum()) / len(places)
        self.__dict__.update(
            names=run.names,
            prompts=tuple(run.prompts[row] for row in rows),
            calls=frontier.calls,
            stopped=stopped,
            open={
                "undecided": max(0.0, float(opened.sum()) - unlikely - untold - too_long),
                "unlikely": unlikely,
                "untold": untold if untold > ROUNDING else 0.0,
                "beyond context": too_long,
            },
            control=float(settled[frontier.reading.control]),
            cut=float(settled[-1]),
            trace=tuple(run.trace),
            _run=run,
            _rows=tuple(rows),
            _settled=settled,
            _opened=opened,
        )
        low, high = self._bound(run.labels_of(None))
        self.__dict__.update(low=low, high=high)

    _run: LiveRun
    _rows: tuple[int, ...]
    _settled: Floats
    _opened: Floats

    def _bound(self, labels: Flags) -> tuple[float, float]:
        """Return the least and the most that words of some labels have together."""
        dfa = self._run.frontier.reading.dfa
        low = float(self._settled[: len(labels)][labels].sum())
        high = low + float(self._opened[dfa.reach[:, labels].any(axis=1)].sum())
        if self._run.counts_certain:
            low += float(self._opened[~dfa.reach[:, ~labels].any(axis=1)].sum())
        return max(0.0, low - ROUNDING), min(1.0, high + ROUNDING)

    def __getitem__(self, name: str) -> Bounds:
        """Return the bounds of one language."""
        return _certain(*self._bound(self._run.labels_of(name)))

    def other(self) -> tuple[float, float]:
        """Return at least and at most how likely an answer is that matches nothing."""
        return self._bound(~self._run.labels_of(None))

    def given(self, name: str, condition: str | None = None) -> Bounds:
        """Return bounds on how likely a language is among answers in another, or in any.

        Parameters
        ----------
        name, condition : str
            The names of languages; without a condition, all that match anything.
        """
        event, among = self._run.labels_of(name), self._run.labels_of(condition)
        least, most = self._bound(event & among)
        other_least, other_most = self._bound(~event & among)
        low = least / (least + other_most) if least else 0.0
        high = most / (most + other_least) if most else float(other_least == 0)
        return _certain(max(0.0, low - ROUNDING), min(1.0, high + ROUNDING))

    def is_at_least(self, probability: float, name: str | None = None) -> bool | None:
        """Return whether it is certain that a match is so likely behind every prompt.

        Returns
        -------
        bool or None
            True, or False where it is certain that it is not, or None where that is open.
        """
        probability = check_number(probability, "probability", 0, 1)
        labels = self._run.labels_of(name)
        each = [self.behind(prompt)._bound(labels) for prompt in self.prompts]
        if any(high < probability for _, high in each):
            return False
        return True if all(low >= probability for low, _ in each) else None

    def behind(self, prompt: str) -> Exploration:
        """Return what is known of one of several prompts."""
        if prompt not in self._run.prompts:
            raise InputError(f"there is no prompt {prompt!r}; there are {list(self.prompts)}")
        return Exploration(self._run, (self._run.prompts.index(prompt),), self.stopped)

    def likeliest(self, count: int = 10, name: str | None = None) -> list[Likely]:
        """Return the likeliest answers that match, the likeliest first.

        Parameters
        ----------
        count : int
            How many.
        name : str, optional
            Which language they have to match; any if not given.
        """
        return self._list(count, self._run.labels_of(name), self._run.frontier.found)

    def instead(self, count: int = 10) -> list[Likely]:
        """Return the likeliest beginnings of answers that match nothing."""
        return self._list(count, ~self._run.labels_of(None), self._run.frontier.other)

    def _list(self, count: int, labels: Flags, found: Found) -> list[Likely]:
        count = check_integer(count, "count", 0)
        if len(self._rows) > 1:
            raise InputError("there are several prompts; choose one, as in asked.behind(prompt)")
        frontier, alphabet = self._run.frontier, self._run.alphabet
        return list_likeliest(frontier, alphabet, self._rows[0], count, labels, found)

    def more(
        self,
        *,
        gap: float = 0.0,
        budget: Budget | None = None,
        at_least: float | None = None,
    ) -> Exploration:
        """Go on exploring, and return what is known then.

        The bounds of this exploration stay; what it lists, draws and saves is that of the new one.

        Parameters
        ----------
        gap, budget, at_least
            As for `explore`; the budget counts from now on.
        """
        return self._run.go_on(gap=gap, budget=budget, at_least=at_least)

    def estimate(
        self,
        name: str | None = None,
        *,
        calls: int = 1000,
        confidence: float = 0.95,
        seed: int = 0,
    ) -> Bounds:
        """Bound how likely a match is by what is certain and by samples of what is open.

        Exploring goes on while a call still lowers the gap by more than samples would. Then
        answers are drawn of what is open only. Each adds up what rows decide on its way, and the
        interval is one by betting, which holds wherever drawing stops.

        Parameters
        ----------
        name : str, optional
            The language; any match if not given.
        calls : int
            About how many distributions may be asked for.
        confidence : float
            How likely it is that the bounds hold.
        seed : int
            Same seed, same samples.

        Returns
        -------
        Bounds
            Certain ones, with confidence 1, where exploring was enough.
        """
        event = self._run.labels_of(name)
        with self._run.asking():
            return estimate(self._run, self._rows, event, calls, confidence, seed)

    def sample(
        self,
        count: int,
        name: str | None = None,
        *,
        seed: int = 0,
        budget: Budget | None = None,
    ) -> Draws:
        """Draw answers that match, exactly as likely as they are among all that match.

        What is settled is drawn by its mass. Else an open prefix goes on as the model does, and if
        it comes to no match, all begins anew: so there is no bias, however much is open.

        Parameters
        ----------
        count : int
            How many answers.
        name : str, optional
            The language; any match if not given.
        seed : int
            Same seed, same answers.
        budget : Budget, optional
            As for `explore`, from now on; 100,000 calls if not given. To draw fewer answers than
            were asked for would be a bias, so that is an error. The ``progress`` of `explore` is
            called here, too.
        """
        event = self._run.labels_of(name)
        try:
            with self._run.asking():
                return draw_matching(self._run, self._rows, event, count, seed, budget)
        except KeyboardInterrupt as interrupt:
            raise ExplorationInterrupted(self) from interrupt

    def save(self, path: str | Path, *, model_id: str | None = None) -> None:
        """Write what the model answered, so that `drift` can compare another one with it.

        Parameters
        ----------
        path : path
            A file ending in ``.jsonl``, which says which question it is about; or in ``.csv``: a
            table of bounds instead, a line for each prompt and language, and for any of them.
        model_id : str, optional
            A name for the model, which stands in the file.
        """
        write_named(self, path, SAVERS | {".jsonl": partial(_write_answers, model_id=model_id)})

    def page_parts(self) -> tuple[str, Parts]:
        """Return the title and the parts of its page; ``view`` makes it."""
        return exploration_page(self, _MEANINGS[self._run.match])

    def close(self) -> None:
        """Let go of what the opened model holds; `more` opens it again."""
        self._run.close()

    def __repr__(self) -> str:
        return f"Exploration([{self.low:.6g}, {self.high:.6g}], {self.calls} calls)"

    def languages_table(self) -> list[tuple[str, float, float]]:
        """Return at least and at most how likely each language is, and any and none of them."""
        rows = [(name, self[name].low, self[name].high) for name in self.names]
        if len(rows) > 1:
            rows.append(("any of these", self.low, self.high))
        return [*rows, ("none of these", *self.other())]

    def prompts_table(self) -> list[tuple[str, float, float]]:
        """Return at least and at most how likely any match is behind each prompt."""
        return [(part.prompts[0], part.low, part.high) for part in map(self.behind, self.prompts)]

    def __str__(self) -> str:
        if len(self.prompts) > 1:
            rows = [*self.prompts_table(), ("mean of any match", self.low, self.high)]
        else:
            rows = self.languages_table()
        texts = [(escaped(shorten(name, 40)), f"{a:.6f}", f"{b:.6f}") for name, a, b in rows]
        parts_of = [f"{kind} {mass:.3g}" for kind, mass in self.open.items() if mass > 0]
        lines = [
            format_table([("", "at least", "at most"), *texts]),
            f"open: {', '.join(parts_of) or 'nothing'}",
            f"a match: {_MEANINGS[self._run.match]}; {self.calls:,} calls, stopped by "
            f"{self.stopped}",
            *(f"{name}: {mass:.3g}" for name, mass in self.asides.items()),
        ]
        if self.open["beyond context"]:
            lines.append("the model's context was reached: bound the length of answers by within=")
        return "\n".join(lines)


class ExplorationInterrupted(KeyboardInterrupt):
    """Exploring was interrupted; ``exploration`` has the bounds until then, if there are any.

    Examples
    --------
    >>> issubclass(ExplorationInterrupted, KeyboardInterrupt)
    True
    """

    drift: Drift | None = None
    """What is known of two models that were compared."""

    def __init__(self, exploration: Exploration | None) -> None:
        super().__init__("exploring was interrupted")
        self.exploration = exploration


def _write_answers(found: Exploration, file: BinaryIO, model_id: str | None = None) -> None:
    file.write(found._run.rows_text(model_id).encode())


def _write_table(found: Exploration, file: BinaryIO) -> None:
    text = StringIO()
    table = csv.writer(text)
    table.writerow(["prompt", "language", "low", "high"])
    for prompt in found.prompts:
        part = found.behind(prompt)
        table.writerows((prompt, name, part[name].low, part[name].high) for name in part.names)
        table.writerow((prompt, "", part.low, part.high))
    file.write(text.getvalue().encode())


SAVERS: dict[str, Callable[[Exploration, BinaryIO], None]]
SAVERS = {".jsonl": _write_answers, ".csv": _write_table}
"""What writes an exploration, by the endings of files."""


def _certain(low: float, high: float) -> Bounds:
    return Bounds(low, high, "the model as it computes", 1.0, ())
