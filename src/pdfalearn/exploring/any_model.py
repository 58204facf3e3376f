"""Questions to every kind of model: answered exactly, with certain bounds, or by an interval."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TypedDict, Unpack, cast, overload

import numpy as np
from numpy.random import Generator

from pdfalearn import analysis
from pdfalearn.analysis import Estimate, LikelyWord, estimate_probability
from pdfalearn.budgets import Budget
from pdfalearn.checks import check_integer, check_number
from pdfalearn.errors import InputError
from pdfalearn.exploring.asking import DEFAULT_CALLS, LiveRun, Progress
from pdfalearn.exploring.likeliest import Likely, spell_words
from pdfalearn.exploring.live_questions import Left
from pdfalearn.exploring.sampling import _walk
from pdfalearn.languages import HasLength, LanguageLike
from pdfalearn.models import Answers, LanguageModel, as_model
from pdfalearn.pdfa import PDFA
from pdfalearn.results import Bounds, Frontier
from pdfalearn.text import described
from pdfalearn.typing import Flags

GAP = 0.001
# Models that cost nothing to ask are asked for as many distributions, if no budget is given.
_FREE_CALLS = 100_000
# What may be open when it is looked first at what is known, by how much less after that, and the
# least that bounds can show.
_FIRST_GAP, _CLOSER, _LEAST_GAP = 0.01, 8, 1e-11
# Languages that are less likely are not drawn from.
_LEAST_LIKELY = 1e-300


class _Spending(TypedDict, total=False):
    budget: Budget | None
    progress: Progress | None


class _Limits(_Spending, total=False):
    gap: float


@overload
def probability(
    model: PDFA,
    language: LanguageLike,
    given: LanguageLike | None = None,
    **limits: Unpack[_Limits],
) -> float: ...
@overload
def probability(
    model: Frontier,
    language: LanguageLike,
    given: LanguageLike | None = None,
    **limits: Unpack[_Limits],
) -> Estimate: ...
@overload
def probability(
    model: LanguageModel,
    language: LanguageLike,
    given: LanguageLike | None = None,
    **limits: Unpack[_Limits],
) -> Bounds: ...
def probability(
    model: PDFA | Frontier | LanguageModel,
    language: LanguageLike,
    given: LanguageLike | None = None,
    *,
    gap: float = GAP,
    budget: Budget | None = None,
    progress: Progress | None = None,
) -> float | Bounds:
    """Compute or bound the probability that a word of a model is in a language.

    Parameters
    ----------
    model : PDFA, LanguageModel or Frontier
        Of an automaton the answer is exact: a number. Of a model that can only be asked it is two
        bounds, which are certain. Of a frontier it is an interval for the model behind it, made
        without asking that again, beside what is exactly so of the automaton ``best``.
    language : str, DFA, Language, or iterable of words
        A regular expression that whole words match, an automaton, a description such as
        ``BeginsWith("ab")``, or the words themselves. Of `Answers` it is about text.
    given : str, DFA, Language, or iterable of words, optional
        A condition: only words that are in this language count.
    gap : float
        Bounds that are no further apart are near enough.
    budget : Budget, optional
        ``max_words``, the calls of a model, and ``max_seconds``. If not given, there are at most
        2,000 calls, or 100,000 of a model that costs nothing to ask.
    progress : callable, optional
        Called with a `Step` after every batch of calls.

    Raises
    ------
    InputError
        If the condition has probability 0, or if something is wrong with a language.

    Notes
    -----
    Words that never end are in no language; ``probability(pdfa, HasLength())`` is the share of
    those that do. Rows of an automaton are divided by their sums. How models are bounded, and more
    that can be asked of them, is said at `explore`; how frontiers answer, at
    `estimate_probability`.

    Examples
    --------
    >>> from pdfalearn import FunctionModel
    >>> from pdfalearn.datasets import figure_1
    >>> from pdfalearn.languages import HasLength
    >>> probability(figure_1(), HasLength(most=2))
    0.75
    >>> probability(figure_1(), ["a"], given=HasLength(most=2))
    0.6666666666666666
    >>> coin = FunctionModel(lambda words: [[0.5, 0.25, 0.25]] * len(words), "ht")
    >>> print(probability(coin, "h*"))
    [0.666016, 0.666992] for the model as it computes
    """
    if isinstance(model, PDFA):
        return analysis.probability(model, language, given)
    if isinstance(model, Frontier):
        return estimate_probability(model, language, given)
    asked = as_model(model)
    gap = goal = check_number(gap, "gap", 0, 1)
    languages = {"language": language} | ({} if given is None else {"given": given})
    run = LiveRun([asked], languages, None, progress=progress)
    left = _limit(run, budget)
    while True:
        found = run.go_on(gap=goal, budget=left.budget())
        if given is not None and found["given"].high <= _LEAST_GAP:
            raise InputError(
                f"the condition {described(given)} has probability 0, or less than {_LEAST_GAP:g}; "
                "take a likelier one, or put what it begins with into the prompt"
            )
        bounds = found["language"] if given is None else found.given("language", "given")
        is_near = bounds.high - bounds.low <= gap + _LEAST_GAP
        if is_near or found.stopped != "gap" or goal < _LEAST_GAP:
            break
        goal /= _CLOSER
    run.close()
    if is_near:
        return bounds
    why = f"{bounds.holds_for}; stopped by {found.stopped} after {found.calls:,} calls"
    return replace(bounds, holds_for=why)


@overload
def most_likely(
    model: PDFA,
    count: int | None = None,
    language: LanguageLike | None = None,
    **limits: Unpack[_Spending],
) -> Iterator[LikelyWord]: ...
@overload
def most_likely(
    model: LanguageModel,
    count: int | None = None,
    language: LanguageLike | None = None,
    **limits: Unpack[_Spending],
) -> Iterator[Likely]: ...
def most_likely(
    model: PDFA | LanguageModel,
    count: int | None = None,
    language: LanguageLike | None = None,
    *,
    budget: Budget | None = None,
    progress: Progress | None = None,
) -> Iterator[LikelyWord] | Iterator[Likely]:
    """Find the likeliest words of a model.

    Parameters
    ----------
    model : PDFA or LanguageModel
        The words of an automaton come in exact order, each one when it is asked for. A model that
        can only be asked is explored until its words are certain.
    count : int, optional
        How many words at most. If not given, all those of an automaton, however many, and 10 of
        another model.
    language : str, DFA, Language, or iterable of words, optional
        Only words in it. Of `Answers` they are texts.
    budget, progress
        As for `probability`.

    Returns
    -------
    iterator of LikelyWord or Likely
        From the likeliest on. Those of a model that can only be asked have a mark ``certified``: it
        is missing if the budget was spent before it was certain that no word that was not found is
        likelier. Of an automaton's words that are equally likely but for rounding (1e-12) the
        shorter comes first, then the one that is first in the order of the alphabet.

    Examples
    --------
    >>> from pdfalearn import FunctionModel
    >>> from pdfalearn.datasets import figure_1
    >>> [("".join(one.word), one.probability) for one in most_likely(figure_1(), 3)]
    [('a', 0.5), ('aa', 0.25), ('aaa', 0.125)]
    >>> coin = FunctionModel(lambda words: [[0.5, 0.3, 0.2]] * len(words), "ht")
    >>> [("".join(one.word), one.probability, one.certified) for one in most_likely(coin, 2)]
    [('', 0.5, True), ('h', 0.15, True)]
    """
    if isinstance(model, PDFA):
        return analysis.most_likely(model, count, language)
    asked, wanted = as_model(model), 10 if count is None else check_integer(count, "count", 0)
    everything = HasLength() if language is None else language
    run = LiveRun([asked], everything, None, progress=progress, to_the_end=True)
    left, goal, size = _limit(run, budget), _FIRST_GAP, run.batch
    found: list[Likely] = []
    while wanted:
        part = left.budget(size)
        explored = run.go_on(gap=goal, budget=part)
        found = explored.likeliest(wanted)
        if len(found) == wanted and found[-1].certified:
            break
        if explored.stopped == "gap" and goal > _LEAST_GAP:
            goal /= _CLOSER
        elif explored.stopped == "gap":  # what is open is less than sums can show
            if left.bound() or not run.step(part.max_words or size):
                break
        elif explored.stopped != "max_words" or left.bound():
            break
        size += size // 2 + 1
    run.close()
    return iter(found)


def draw_texts(
    model: Answers, count: int, random: Generator, max_length: int
) -> tuple[list[Any], Flags]:
    """Draw texts of an LLM; return them, and which were cut at a number of tokens.

    A token that is neither text nor an end cuts them, too. Of several prompts each is as likely.
    """
    run = LiveRun([model], HasLength(), None, within=max_length, to_the_end=True)
    frontier = run.frontier
    with run.asking():
        roots = np.array(frontier.roots)[random.integers(len(frontier.roots), size=count)]
        for number, root in enumerate(frontier.roots):
            frontier.node_prompts[root] = number
            frontier.node_states[root] = frontier.reading.dfa.initial
        ends = _walk(frontier, roots, np.zeros(count, dtype=bool), random)
    run.close()
    is_cut = ends.labels >= frontier.reading.control
    symbols = np.where(is_cut, -1, ends.columns - 1)
    return spell_words(frontier, run.alphabet, ends.nodes, symbols), is_cut


def draw_in(
    model: LanguageModel,
    language: LanguageLike,
    count: int,
    seed: int,
    max_length: int,
    budget: Budget | None,
    progress: Progress | None,
) -> tuple[list[Any], list[bool]]:
    """Draw words of a language, as likely as they are in it; return them, and which are whole.

    Texts of an LLM may be cut where they match whatever follows; longer words are left out.
    """
    run = LiveRun([model], language, None, within=max_length, progress=progress)
    left, goal = _limit(run, budget), _FIRST_GAP
    found = run.go_on(gap=goal, budget=left.budget(DEFAULT_CALLS))
    # Drawing is fast where most of what may match is known to.
    while found.high > 2 * found.low and found.stopped == "gap" and goal > _LEAST_LIKELY:
        goal /= _CLOSER
        found = run.go_on(gap=goal, budget=left.budget(DEFAULT_CALLS))
    draws = found.sample(count, seed=seed, budget=None if budget is None else left.budget())
    run.close()
    return draws.words, draws.are_whole


def _limit(run: LiveRun, budget: Budget | None) -> Left:
    """Return what is left of the budget of a question to one model."""
    is_free = cast("LanguageModel", run.models[0]).cost.is_free
    return Left(run.frontier, budget, _FREE_CALLS if is_free else DEFAULT_CALLS)
