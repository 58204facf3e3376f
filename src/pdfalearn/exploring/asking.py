"""Exploring a live model: what is asked, in which order, and when it is enough."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import numpy as np

from pdfalearn.alphabet import Alphabet, Word
from pdfalearn.budgets import Budget
from pdfalearn.checks import check_integer, check_number
from pdfalearn.errors import InputError
from pdfalearn.exploring.exploration import Exploration, ExplorationInterrupted, Step
from pdfalearn.exploring.frontier import Frontier
from pdfalearn.exploring.likeliest import collect_rows
from pdfalearn.exploring.live_questions import (
    Languages,
    Left,
    Match,
    describe_symbols,
    hash_symbols,
    longest_word,
    name_languages,
    read_languages,
    words_of_prompts,
    write_language,
)
from pdfalearn.exploring.recording import Baseline, Question, RecordedRows, open_record, text_of
from pdfalearn.models import Answers, LanguageModel, as_model, close_quietly, open_model
from pdfalearn.pdfa import PDFA
from pdfalearn.stores import model_key
from pdfalearn.typing import Flags, Floats

Progress = Callable[[Step], None]

_BATCH, _FREE_BATCH = 64, 4096
DEFAULT_CALLS = 2000
# Alphabets that are larger are those of tokens, of which most are too unlikely to be looked at.
_LARGE = 1024
# Beginnings less likely than this share of the gap that is asked for are not looked at.
_FLOOR_SHARE = 1e-3


def explore(
    model: PDFA | LanguageModel | Sequence[Answers],
    languages: Languages,
    *,
    match: Match = "whole",
    within: int | None = None,
    cut_ends: bool = False,
    prompts: Mapping[str, Word] | None = None,
    gap: float = 0.01,
    budget: Budget | None = None,
    at_least: float | None = None,
    batch: int | None = None,
    store: str | Path | None = None,
    model_id: str | None = None,
    progress: Progress | None = None,
) -> Exploration:
    r"""Bound how likely it is that a live model answers in some way, with certainty.

    The tree of the model's prefixes is expanded together with the automaton of the languages,
    likeliest first. What has ended, or can no longer match, is settled, and the rest is the gap
    between the bounds. So they hold at any moment, whatever is left out.

    Parameters
    ----------
    model : PDFA, LanguageModel, or sequence of Answers
        The model. Of `Answers`, an LLM over its whole vocabulary, languages are about text, and all
        ways to write a text in tokens count. Several of one network are asked together: what their
        prompts begin with is computed once, and one that is closed is no longer asked.
    languages : str, DFA, Language, iterable of words, or a mapping of names to such
        What is asked about; an answer may be in several of them.
    match : {"whole", "begins", "contains"}
        Whether the whole answer is to be in a language, to begin with a word of it, or to contain
        one. That an answer begins so is settled as soon as it does, whatever comes after. A whole
        one has ended, and one that never ends is in no language; but texts of an LLM count as soon
        as they match whatever follows, as in ``no([^a-z].*)?``. To contain something is for regular
        expressions.
    within : int, optional
        Look at this many symbols, or tokens, only, and at whether a whole answer ends there: what
        they leave undecided does not match, and is counted apart.
    cut_ends : bool
        Whether an answer ends after ``within`` symbols, as a server cuts it at ``max_tokens``: it
        matches if what there is of it does.
    prompts : mapping of str to word, optional
        Words of the model's symbols that stand before what is asked about, by names of your choice.
        `Answers` has prompts of its own.
    gap : float
        When the bounds of every language are no further apart than this, it is enough.
    budget : Budget, optional
        ``max_words``, the calls of the model, of which there are at most 2,000 if not given; and
        ``max_seconds``.
    at_least : float, optional
        Stop as soon as it is settled whether any match is at least so likely behind every prompt.
    batch : int, optional
        The most prefixes asked together.
    store : path, optional
        A file that keeps what the model answers to this question: an exploration that was killed
        goes on from there, and `drift` compares another model with it. Of an LLM's row it has the
        likeliest tokens that leave the question open, and sums of the others.
    model_id : str, optional
        The model's name in the store; needed for a model without fingerprint.
    progress : callable, optional
        Called with a `Step` after every batch.

    Returns
    -------
    Exploration
        The bounds, and what is open. Its method ``more`` goes on.

    Raises
    ------
    InputError
        If a language is empty, not regular or about symbols that the model has not; if a prompt is
        not made of the model's symbols; and for a bad answer of the model.
    ExplorationInterrupted
        After Ctrl-C, with the bounds until then.

    Notes
    -----
    What a model does not tell, as a server that lists some tokens, stays in the gap, and so do
    answers that its context is too short for; ``within`` says how long they may be. Beginnings
    that are a thousand times less likely than the gap stay there, too, until less is asked for.
    "Certain" is about the model as it computes here: another order of computing differs by some
    1e-7 in float32, and 1e-3 in bfloat16.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> asked = explore(figure_1(), {"even": "(aa)*", "odd": "a(aa)*"}, gap=1e-6)
    >>> print(asked)
                   at least   at most
    even           0.333333  0.333334
    odd            0.666666  0.666667
    any of these   0.999999  1.000000
    none of these  0.000000  0.000000
    open: undecided 9.54e-07
    a match: the whole answer is in the language; 21 calls, stopped by gap
    """
    run = LiveRun(
        [Answers.join(model) if isinstance(model, Sequence) else as_model(model)],
        languages,
        prompts,
        match=match,
        within=within,
        cut_ends=cut_ends,
        batch=batch,
        progress=progress,
    )
    if store is not None:
        run.keep(store, model_id)
    return run.go_on(gap=gap, budget=budget, at_least=at_least)


class LiveRun:
    """An exploration under way, of one model or of several over the same symbols.

    With ``to_the_end`` a text counts only when it has ended, though it match whatever follows.
    """

    def __init__(
        self,
        models: Sequence[LanguageModel | Baseline],
        languages: Languages,
        prompts: Mapping[str, Word] | None,
        *,
        match: Match = "whole",
        within: int | None = None,
        cut_ends: bool = False,
        batch: int | None = None,
        progress: Progress | None = None,
        to_the_end: bool = False,
    ) -> None:
        self.models = models
        live = [model for model in models if not isinstance(model, Baseline)]
        asked = live[0]
        self.alphabet: Alphabet = asked.alphabet
        self.names, given = name_languages(languages)
        if cut_ends and within is None:
            raise InputError("cut_ends is about where answers are cut; say with within= where")
        self.match = match
        for model in models:
            if isinstance(model, Baseline) and model.question["symbols"] != hash_symbols(asked):
                raise InputError(
                    f"{model.path} has answers of a model with other symbols or tokens; compare it "
                    "with a model that has the same, or name another file"
                )
        reading = read_languages(asked, given, match, cut_ends=cut_ends, to_the_end=to_the_end)
        words = words_of_prompts(asked, prompts)
        self.prompts = tuple(words)
        # Where nothing counts as ended there, a word may still end after its last symbol that is
        # looked at, but not begin otherwise.
        has_end = match == "whole" and not cut_ends
        deepest = None if within is None else check_integer(within, "within", 1) - (not has_end)
        self.frontier = Frontier(
            (),
            reading,
            list(words.values()),
            deepest,
            len(models),
            only_ends=has_end,
            longest=longest_word(live),
        )
        self.question: Question = {
            "languages": dict(zip(self.names, map(write_language, given), strict=True)),
            "match": match,
            "within": within,
            "cut_ends": cut_ends,
            "stops": [stop.decode() for stop in reading.stops],
            "prompts": {name: [int(s) for s in word] for name, word in words.items()},
            **describe_symbols(asked, reading),
        }
        for model in models:
            if isinstance(model, Baseline):
                model.check(self.question, 1 + len(self.alphabet), reading.control + 2)
        self._store: tuple[Path, str] | None = None
        self._is_free = all(model.cost.is_free for model in live)
        usual = _FREE_BATCH if self._is_free else _BATCH
        self.batch = usual if batch is None else check_integer(batch, "batch", 1)
        self.is_large = len(self.alphabet) > _LARGE
        """Whether most symbols are too unlikely to be looked at."""
        self._progress = progress
        self.trace: list[Step] = []
        members = reading.dfa.members
        # For every event (any match, then each language) its labels, and the states open to it.
        events = np.concatenate([members.any(axis=1, keepdims=True), members], axis=1)
        self._events: Flags = events.T
        reach = reading.dfa.reach[:, :, None]
        self._open_to: Flags = np.any(reach & events, axis=1)
        self.counts_certain = reading.dfa.is_lasting
        """Whether an open prefix counts for what all that it may come to has in common."""
        self._certain_to: Flags = ~np.any(reach & ~events, axis=1) & self.counts_certain

    def keep(self, store: str | Path, model_id: str | None) -> None:
        """Keep what is told in a file."""
        self._store = Path(store), model_key(cast("LanguageModel", self.models[0]), model_id)

    def labels_of(self, name: str | None) -> Flags:
        """Return which labels mean a language, or any if no name is given."""
        if name is None:
            return np.asarray(self._events[0])
        if name not in self.names:
            raise InputError(f"there is no language {name!r}; there are {list(self.names)}")
        return np.asarray(self._events[1 + self.names.index(name)])

    def open(self) -> None:
        """Open the models, if they are not."""
        if not self.frontier.models:
            self.frontier.models = [self._open(model) for model in self.models]
            weakref.finalize(self.frontier, close_all, self.frontier.models)

    def _open(self, model: LanguageModel | Baseline) -> LanguageModel:
        kinds = self.frontier.reading.control + 2
        if isinstance(model, Baseline):
            return RecordedRows(None, model.rows, self.alphabet, kinds)
        opened = open_model(model)
        if self._store is None:
            return opened
        try:
            return open_record(self._store[0], self.question, self._store[1], model, opened, kinds)
        except BaseException:
            close_quietly(opened)
            raise

    def rows_text(self, model_id: str | None) -> str:
        """Return a file of what is known of the first model's rows: what each leaves open."""
        try:
            key = model_key(cast("LanguageModel", self.models[0]), model_id)
        except InputError:  # it has no name, and is not asked again
            key = ""
        return text_of(self.question, key, collect_rows(self.frontier))

    def close(self) -> None:
        """Close the models; what is known is kept."""
        close_all(self.frontier.models)
        self.frontier.models = ()

    def gaps(self) -> tuple[Floats, Floats]:
        """Return low and high for every prompt, model and event."""
        frontier, labels = self.frontier, self._events.shape[1]
        low = frontier.settled[:, :, :labels] @ self._events.T
        opened = frontier.open_masses
        return low + opened @ self._certain_to, low + opened @ self._open_to

    def go_on(
        self, *, gap: float, budget: Budget | None = None, at_least: float | None = None
    ) -> Exploration:
        """Explore until the gap, a verdict or the budget is reached."""
        gap = check_number(gap, "gap", 0, 1)
        least = None if at_least is None else check_number(at_least, "at_least", 0, 1)
        try:
            with self.asking():
                stopped = self._explore(gap, Left(self.frontier, budget, DEFAULT_CALLS), least)
        except KeyboardInterrupt as interrupt:
            raise ExplorationInterrupted(self.value("interrupted")) from interrupt
        return self.value(stopped)

    def step(self, batch: int) -> bool:
        """Ask for the likeliest open prefixes, however unlikely; return False if there are none."""
        with self.asking():
            return self.frontier.step(np.zeros(len(self.prompts), dtype=bool), batch, 0.0)

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Open the models; after an error they are closed, and not asked again."""
        try:
            with self.frontier.interrupts:
                self.open()
                yield
                for model in self.frontier.models:
                    if isinstance(model, RecordedRows):
                        model.end()
                self.frontier.interrupts.check()
        except BaseException:
            self.close()
            raise

    def value(self, stopped: str) -> Exploration:
        """Return what is known."""
        return Exploration(self, range(len(self.prompts)), stopped)

    def report(self) -> None:
        """Call what wants to know how far it is, with the last bounds and the calls until now."""
        if self._progress is not None and self.trace:
            self._progress(self.trace[-1]._replace(calls=self.frontier.calls))

    def _explore(self, gap: float, left: Left, at_least: float | None) -> str:
        frontier = self.frontier
        floor = _FLOOR_SHARE * gap if self.is_large else 0.0
        while True:
            frontier.interrupts.check()
            low, high = self.gaps()
            apart = high - low
            # What is not told cannot be asked for: without it, it is as near as it may come.
            untold = self._untold()
            beyond = apart - np.where(untold > gap, untold, 0.0) - gap
            closed: Flags = np.all((apart <= gap) | (beyond <= 0), axis=(1, 2))
            low, high = low[:, 0, 0], high[:, 0, 0]  # any match, in the first model
            self.trace.append(Step(frontier.calls, float(low.mean()), float(high.mean())))
            self.report()
            if at_least is not None:
                if (high < at_least).any() or (low >= at_least).all():
                    return "verdict"
                closed |= low >= at_least
            if closed.all():
                is_near = apart.max() <= gap or at_least is not None
                return "gap" if is_near else self._end("untold")
            if (bound := left.bound()) is not None:
                return bound
            enough = np.inf if self._is_free else float(beyond.max(axis=(1, 2))[~closed].sum())
            if not frontier.step(closed, min(self.batch, left.calls), floor, enough):
                return self._end("nothing left")

    def _untold(self) -> Floats:
        """Return for every prompt and event the most that a model does not tell.

        That is all that is open for a file whose rows were all read.
        """
        untold = self.frontier.untold.copy()
        for number, model in enumerate(self.frontier.models):
            if isinstance(model, RecordedRows) and model.model is None and not model.unread:
                untold[:, number] = self.frontier.open_masses[:, number]
        return np.asarray(np.max(untold @ self._open_to, axis=1, keepdims=True))

    def _end(self, why: str) -> str:
        return "context" if self.frontier.too_long.any() else why


def close_all(models: Sequence[LanguageModel]) -> None:
    """Close models."""
    for model in models:
        close_quietly(model)
