"""Exploring a live model: what is asked, in which order, and when it is enough."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np

from pdfalearn.alphabet import Alphabet, Word
from pdfalearn.budgets import Budget
from pdfalearn.checks import check_integer, check_number
from pdfalearn.errors import InputError
from pdfalearn.exploring.exploration import (
    Exploration,
    ExplorationInterrupted,
    Step,
    check_share_or_one,
)
from pdfalearn.exploring.frontier import Frontier
from pdfalearn.exploring.readings import Reading, SymbolReading, TokenReading
from pdfalearn.exploring.recording import RecordedModel
from pdfalearn.languages import LanguageLike, containing
from pdfalearn.models import Answers, LanguageModel, as_model, close_quietly, open_model
from pdfalearn.pdfa import PDFA
from pdfalearn.text import described
from pdfalearn.typing import Flags, Floats

Match = Literal["whole", "begins", "contains"]
Languages = LanguageLike | Mapping[str, LanguageLike]
Progress = Callable[[Step], None]

_BATCH, _FREE_BATCH = 64, 4096
DEFAULT_CALLS = 2000
# Alphabets that are larger are those of tokens, of which most are too unlikely to be looked at.
_LARGE = 1024
# Beginnings less likely than this share of the gap that is asked for are not looked at.
_FLOOR_SHARE = 1e-3


def explore(
    model: PDFA | LanguageModel,
    languages: Languages,
    *,
    match: Match = "whole",
    within: int | None = None,
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
    model : PDFA or LanguageModel
        The model. Of `Answers`, an LLM over its whole vocabulary, languages are about text, and all
        ways to write a text in tokens count.
    languages : str, DFA, Language, iterable of words, or a mapping of names to such
        What is asked about; an answer may be in several of them.
    match : {"whole", "begins", "contains"}
        Whether the whole answer is to be in a language, to begin with a word of it, or to contain
        one. That an answer begins so is settled as soon as it does, whatever comes after. A whole
        one has ended, and one that never ends is in no language; but texts of an LLM count as soon
        as they match whatever follows, as in ``no([^a-z].*)?``. To contain something is for regular
        expressions.
    within : int, optional
        Look at this many symbols, or tokens, only: what they leave undecided does not match.
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
        A file that keeps the model's rows: an exploration that was killed goes on from there. A row
        of an LLM has a number for every token, .4 MB for 50,000.
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
    What a model does not tell, as a server that lists some tokens, stays in the gap. Beginnings
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
    asked = as_model(model)
    if store is not None:
        asked = RecordedModel(asked, store, model_id)
    run = LiveRun([asked], languages, match, within, prompts, batch, progress)
    return run.go_on(gap=gap, budget=budget, at_least=at_least)


class LiveRun:
    """An exploration under way, of one model or of several over the same symbols.

    With ``to_the_end`` a text counts only when it has ended, though it match whatever follows.
    """

    def __init__(
        self,
        models: Sequence[LanguageModel],
        languages: Languages,
        match: Match,
        within: int | None,
        prompts: Mapping[str, Word] | None,
        batch: int | None = None,
        progress: Progress | None = None,
        *,
        to_the_end: bool = False,
    ) -> None:
        self._models = models
        self.alphabet: Alphabet = models[0].alphabet
        self.names, given = _name_languages(languages)
        asked = models[0].model if isinstance(models[0], RecordedModel) else models[0]
        self.match, reading = match, _read(asked, given, match, to_the_end=to_the_end)
        words = _words_of_prompts(asked, prompts)
        self.prompts = tuple(words)
        # A word may still end after its last symbol that is looked at, but not begin otherwise.
        deepest = (
            None if within is None else check_integer(within, "within", 1) - (match != "whole")
        )
        self.frontier = Frontier((), reading, list(words.values()), deepest, len(models))
        is_free = all(model.cost.is_free for model in models)
        usual = _FREE_BATCH if is_free else _BATCH
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
        self.counts_certain = (
            reading.dfa.is_lasting and reading.spelling is None and deepest is None
        )
        """Whether an open prefix counts for what all that it may come to has in common: no control
        token and no cut can come between."""
        self._certain_to: Flags = ~np.any(reach & ~events, axis=1) & self.counts_certain

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
            self.frontier.models = [open_model(model) for model in self._models]
            weakref.finalize(self.frontier, _close_all, self.frontier.models)

    def close(self) -> None:
        """Close the models; what is known is kept."""
        _close_all(self.frontier.models)
        self.frontier.models = ()

    def gaps(self) -> tuple[Floats, Floats]:
        """Return low and high for every prompt, model and event."""
        frontier, labels = self.frontier, self._events.shape[1]
        low = frontier.settled[:, :, :labels] @ self._events.T
        opened = frontier.open_masses
        return low + opened @ self._certain_to, low + opened @ self._open_to

    def go_on(
        self,
        *,
        gap: float,
        budget: Budget | None = None,
        at_least: float | None = None,
    ) -> Exploration:
        """Explore until the gap, a verdict or the budget is reached."""
        gap = check_number(gap, "gap", 0, 1)
        least = None if at_least is None else check_share_or_one(at_least)
        try:
            with self.asking():
                stopped = self._explore(gap, check_budget(budget), least)
        except KeyboardInterrupt as interrupt:
            raise ExplorationInterrupted(self.value("interrupted")) from interrupt
        return self.value(stopped)

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Open the models; after an error they are closed, and not asked again."""
        try:
            with self.frontier.interrupts:
                self.open()
                yield
                self.frontier.interrupts.check()
        except BaseException:
            self.close()
            raise

    def value(self, stopped: str) -> Exploration:
        """Return what is known."""
        return Exploration(self, range(len(self.prompts)), stopped)

    def _explore(self, gap: float, budget: Budget, at_least: float | None) -> str:
        frontier = self.frontier
        floor = _FLOOR_SHARE * gap if self.is_large else 0.0
        most = frontier.calls + (DEFAULT_CALLS if budget.max_words is None else budget.max_words)
        ends_at = np.inf if budget.max_seconds is None else time.monotonic() + budget.max_seconds
        while True:
            frontier.interrupts.check()
            low, high = self.gaps()
            closed = (high - low).max(axis=(1, 2)) <= gap
            low, high = low[:, 0, 0], high[:, 0, 0]  # any match, in the first model
            self.trace.append(Step(frontier.calls, float(low.mean()), float(high.mean())))
            if self._progress is not None:
                self._progress(self.trace[-1])
            if at_least is not None:
                if (high < at_least).any() or (low >= at_least).all():
                    return "verdict"
                closed |= low >= at_least
            if closed.all():
                return "gap"
            if frontier.calls >= most:
                return "max_words"
            if time.monotonic() >= ends_at:
                return "max_seconds"
            if not frontier.step(closed, min(self.batch, most - frontier.calls), floor):
                return "nothing left"


def _close_all(models: Sequence[LanguageModel]) -> None:
    for model in models:
        close_quietly(model)


def _name_languages(languages: Languages) -> tuple[tuple[str, ...], list[LanguageLike]]:
    if isinstance(languages, Mapping):
        if not languages or not all(isinstance(name, str) and name for name in languages):
            raise InputError("the languages need names that are texts, and there has to be one")
        return tuple(languages), list(languages.values())
    return (languages if isinstance(languages, str) else "match",), [languages]


def _read(
    model: LanguageModel, languages: list[LanguageLike], match: Match, *, to_the_end: bool
) -> Reading:
    if match not in ("whole", "begins", "contains"):
        raise InputError(f"match={match!r} is not one of 'whole', 'begins' and 'contains'")
    if match == "contains":
        for language in languages:
            if not isinstance(language, str):
                raise InputError(
                    f"match='contains' is for regular expressions, not for {described(language)}; "
                    "use Contains(word) with match='begins'"
                )
        languages = [containing(language) for language in map(str, languages)]
    settings: dict[str, Any] = {"by_beginning": match != "whole"}
    if isinstance(model, Answers):
        settings["is_lasting"] = not to_the_end
        return TokenReading(languages, model.token_bytes, **settings)
    return SymbolReading(languages, model.alphabet, **settings)


def _words_of_prompts(
    model: LanguageModel, prompts: Mapping[str, Word] | None
) -> dict[str, Sequence[int]]:
    """Return the symbols before what is asked about, by the names of prompts."""
    if isinstance(model, Answers):
        if prompts is not None:
            raise InputError("give the prompts to Answers, which writes them in tokens")
        return dict(model.first_words)
    if prompts is None:
        return {"": ()}
    if not isinstance(prompts, Mapping) or not prompts:
        raise InputError(f"prompts are {described(prompts)}; give a mapping of names to words")
    return {str(name): model.alphabet.encode(word).tolist() for name, word in prompts.items()}


def check_budget(budget: Budget | None) -> Budget:
    """Return a budget of calls and seconds; refuse other bounds."""
    if budget is None:
        return Budget()
    if not isinstance(budget, Budget):
        raise InputError(f"budget={budget!r} is not a Budget, such as Budget(max_words=1000)")
    given = {name for name, value in vars(budget).items() if value is not None}
    other = given - {"max_words", "max_seconds", "bounds_questions", "bounds_words"}
    if other:
        raise InputError(f"exploring is bounded by max_words and max_seconds, not by {min(other)}")
    return budget
