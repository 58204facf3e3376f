"""What changed between two live models: certain bounds on how far their answers are apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pdfalearn.alphabet import Word
from pdfalearn.budgets import Budget
from pdfalearn.checks import check_integer, check_number
from pdfalearn.errors import InputError
from pdfalearn.exploring.asking import DEFAULT_CALLS, LiveRun, Progress
from pdfalearn.exploring.exploration import ExplorationInterrupted
from pdfalearn.exploring.likeliest import spell_words
from pdfalearn.exploring.live_questions import Languages, Left, Match, OfText
from pdfalearn.exploring.page_data import Parts, drift_page
from pdfalearn.exploring.recording import Baseline
from pdfalearn.exploring.rounding_noise import Noise
from pdfalearn.exploring.sampling import ROUNDING
from pdfalearn.models import LanguageModel, as_model
from pdfalearn.text import escaped, format_table, shorten
from pdfalearn.typing import Floats

if TYPE_CHECKING:
    from pdfalearn.pdfa import PDFA


@dataclass(frozen=True)
class Apart:
    """How far the answers to one prompt are apart, in total variation.

    Examples
    --------
    >>> Apart("Hello", 0.01, 0.02, 0.015, 0.5).answers_low
    0.015
    """

    prompt: str
    low: float
    """At least so far apart are the classes: each language, or none, or cut, or control tokens."""
    high: float
    answers_low: float
    """At least so far apart are whole answers, or those of at most ``within`` symbols. An LLM's are
    sequences of tokens, with what ended them: its texts may be nearer."""
    answers_high: float
    """At most so far; what follows where a class was settled is not looked at, so it may be 1."""


@dataclass(frozen=True)
class Difference:
    """An answer, or the beginning of one, and how likely it is in either model.

    Examples
    --------
    >>> Difference("Yes", 0.25, 0.5, 0.75).share
    0.75
    """

    word: Word
    a: float
    b: float
    share: float
    """Of all differences that were found."""
    is_open: bool = False
    """Whether it goes on in ways that were not looked at: then it is all, or what is left, behind a
    beginning."""

    def describe(self, text: str) -> str:
        """Return the text of its word with a mark if it is open."""
        return f"{text} … (open)" if self.is_open else text


@dataclass(frozen=True)
class Drift:
    """How far two live models are apart, made by `drift`.

    Examples
    --------
    >>> from pdfalearn import drift
    >>> from pdfalearn.datasets import figure_1
    >>> apart = drift(figure_1(), figure_1(), "(aa)*", gap=1e-6)
    >>> apart.is_within(0.001), apart.noise
    (True, 0.0)
    """

    low: float
    """At least so far apart are the classes behind some prompt, in total variation."""
    high: float
    """At most so far apart are they behind every prompt."""
    noise: float
    """How far rounding alone moves classes, as measured; their bounds are widened by it."""
    answers_noise: float
    """The same of answers."""
    prompts: tuple[Apart, ...]
    differences: tuple[Difference, ...]
    """The answers and beginnings, settled or open, that differ most, the largest difference first;
    those behind the prompt where most differs."""
    calls: int
    """How many distributions each model was asked for."""
    noise_calls: int
    """How many it was asked for again to measure the noise; 0 if that was not done."""
    stopped: str

    def is_within(self, tolerance: float) -> bool | None:
        """Return whether it is certain that classes are this near; None where that is open."""
        tolerance = check_number(tolerance, "tolerance", 0, 1)
        if self.high <= tolerance:
            return True
        return False if self.low > tolerance else None

    def page_parts(self) -> tuple[str, Parts]:
        """Return the title and the parts of its page; ``view`` makes it."""
        return drift_page(self)

    def __str__(self) -> str:
        rows: list[tuple[str, ...]] = [("total variation", "of classes", "", "of answers", "")]
        for one in self.prompts:
            bounds = one.low, one.high, one.answers_low, one.answers_high
            name = escaped(shorten(one.prompt, 40)) or "any answer"
            rows.append((name, *(f"{bound:.6f}" for bound in bounds)))
        words = [("what differs most", "a", "b", "share")]
        for each in self.differences:
            name = each.describe(shorten(repr(each.word), 40))
            words.append((name, f"{each.a:.6f}", f"{each.b:.6f}", f"{each.share:.3f}"))
        calls = (
            f"{self.calls:,} calls each, stopped by {self.stopped}; noise {self.describe_noise()}"
        )
        return "\n".join([format_table(rows), format_table(words), calls])

    def describe_noise(self) -> str:
        """Return the noise of classes, and what it took to measure it."""
        measured = f"{self.noise:.2g}, of {self.noise_calls:,} calls more"
        return measured if self.noise_calls else "not measured"


def drift(
    a: PDFA | LanguageModel | str | Path,
    b: PDFA | LanguageModel | str | Path,
    languages: Languages | None = None,
    *,
    match: Match = "whole",
    within: int | None = None,
    cut_ends: bool = False,
    prompts: Mapping[str, Word] | None = None,
    gap: float = 0.01,
    tolerance: float | None = None,
    budget: Budget | None = None,
    count: int = 10,
    progress: Progress | None = None,
) -> Drift:
    """Bound how far two live models are apart: two checkpoints, quantisations or servers.

    Both are explored together, by what is likelier in either. The bounds hold at any moment, and
    the lower one on answers needs nothing to close.

    Parameters
    ----------
    a, b : PDFA, LanguageModel or path
        The models, over the same symbols; two `Answers` have the same tokens and ends. One may be a
        file that `explore` has saved: what a model answered then.
    languages, match, within, cut_ends, prompts, gap
        As for `explore`. With a file the languages, and what a match is, are those of the file if
        no languages are given.
    tolerance : float, optional
        Stop as soon as it is settled whether the classes are this near, in total variation.
    budget : Budget, optional
        As for `explore`; calls are those of each model, without at most 48, or 8 a prompt, for the
        noise. When the time is up, noise is what a few of them showed.
    count : int
        How many differences are listed.
    progress : callable, optional
        Called with a `Step` after every batch, about the first model.

    Raises
    ------
    InputError
        If the models have other symbols, tokens, ends or numbers of prompts, and if a file has
        answers to another question.
    ExplorationInterrupted
        After Ctrl-C; its ``drift`` has the bounds until then, with the noise as far as measured.

    Notes
    -----
    Two runs of one model differ by rounding: some prefixes are asked again in other batches, by
    models opened anew, and all bounds are widened by what that moves.

    Examples
    --------
    >>> from pdfalearn import PDFA
    >>> rows = [[[0, p, 1 - p], [1, 0, 0]] for p in (0.5, 0.6)]
    >>> a, b = (
    ...     PDFA(alphabet="ht", transitions=[[1, 1]] * 2, probabilities=each) for each in rows
    ... )
    >>> print(drift(a, b, {"heads": "h", "tails": "t"}))
    total variation  of classes            of answers
    any answer         0.100000  0.100000    0.100000  0.100000
    what differs most         a         b  share
    ('h',)             0.500000  0.600000  0.500
    ('t',)             0.500000  0.400000  0.500
    3 calls each, stopped by gap; noise 0, of 6 calls more
    """
    models = [Baseline(one) if isinstance(one, str | Path) else as_model(one) for one in (a, b)]
    settings: dict[str, Any] = {"match": match, "within": within, "cut_ends": cut_ends}
    stored = [model for model in models if isinstance(model, Baseline)]
    if stored and languages is None:
        languages = stored[0].languages
        known = {name: stored[0].question[name] for name in settings}
        if (match, within, cut_ends) != ("whole", None, False) and settings != known:
            raise InputError(
                f"{stored[0].path} is about the question {known}, and not {settings}: leave these "
                "out, or save a file that was asked so"
            )
        settings = known
    if len(stored) > 1:
        raise InputError(
            f"{stored[0].path} and {stored[1].path} are both files, which do not have a model's "
            "tokens: compare each with a model that can be asked"
        )
    if languages is None:
        raise InputError("say which languages are asked about; only a file of answers has its own")
    if not stored:
        _check_pair(*cast("list[LanguageModel]", models))
    run = LiveRun(models, languages, prompts, progress=progress, **settings)
    if tolerance is not None:
        tolerance = check_number(tolerance, "tolerance", 0, 1)
    left, noise = Left(run.frontier, budget, DEFAULT_CALLS), Noise(run)
    try:
        stopped = _explore_both(run, left, noise, gap, tolerance)
        with run.asking():
            noise.measure(left)
        found = _value(run, noise, count, stopped)
    except KeyboardInterrupt as interrupt:
        interrupted = ExplorationInterrupted(run.value("interrupted"))
        interrupted.drift = _value(run, noise, count, "interrupted")
        raise interrupted from interrupt
    run.close()
    return found


def _explore_both(
    run: LiveRun, left: Left, noise: Noise, gap: float, tolerance: float | None
) -> str:
    """Explore until the gap, the budget or the tolerance; return which it was."""
    while True:
        # Between rounds it is looked at whether the tolerance is settled.
        part = left.budget(None if tolerance is None else 2 * run.batch)
        stopped = run.go_on(gap=gap, budget=part).stopped
        if stopped != "max_words" or left.bound():
            return stopped
        if tolerance is not None and _value(run, noise, 0, "").is_within(tolerance) is not None:
            return "tolerance"


def _check_pair(a: LanguageModel, b: LanguageModel) -> None:
    if a.alphabet != b.alphabet:
        raise InputError("the models have other symbols, so their words cannot be compared")
    if isinstance(a, OfText) != isinstance(b, OfText):
        raise InputError("one model is of texts and the other of symbols")
    if isinstance(a, OfText) and isinstance(b, OfText):
        if a.token_bytes != b.token_bytes or a.ends != b.ends:
            raise InputError("the models have other tokens or ends, so they cannot be compared")
        if list(a.first_words.values()) != list(b.first_words.values()):
            raise InputError("the models need the same prompts, in one order, or one prompt each")


def _value(run: LiveRun, noise: Noise, count: int, stopped: str) -> Drift:
    """Return what is known, with all bounds widened by the noise of classes and of answers."""
    parts, (of_classes, of_answers) = [], noise.bounds()
    for prompt, name in enumerate(run.prompts):
        classes = _widen(*_classes_apart(run, prompt), of_classes)
        parts.append(Apart(name, *classes, *_widen(*_answers_apart(run, prompt), of_answers)))
    worst = int(np.argmax([part.answers_low for part in parts]))
    return Drift(
        max(part.low for part in parts),
        max(part.high for part in parts),
        of_classes,
        of_answers,
        tuple(parts),
        _list_differences(run, worst, check_integer(count, "count", 0)),
        run.frontier.calls - noise.calls,
        noise.calls,
        stopped,
    )


def _widen(low: float, high: float, noise: float) -> tuple[float, float]:
    return max(0.0, low - noise - ROUNDING), min(1.0, high + noise + ROUNDING)


def _classes_apart(run: LiveRun, prompt: int) -> tuple[float, float]:
    """Return bounds on the total variation over classes.

    What is open in one model may all be in the classes that are likelier in it, or in the others.
    """
    first, second = run.frontier.settled[prompt]
    open_first, open_second = run.frontier.open_masses[prompt].sum(axis=1)
    more = float(np.maximum(first - second, 0).sum())
    less = float(np.maximum(second - first, 0).sum())
    high = float(min(more + open_first, less + open_second))
    return max(0.0, float(more - open_second), float(less - open_first)), min(1.0, high)


def _answers_apart(run: LiveRun, prompt: int) -> tuple[float, float]:
    """Return bounds on the total variation over answers.

    Every settled prefix and every open one is a cell: to know no more than the cells can only bring
    distributions nearer. In a cell that is open, or was settled before the end of the answer, they
    can differ in all that both have.
    """
    frontier = run.frontier
    cells = frontier.items.masses[frontier.items.prompts == prompt]
    apart = 2 * float(frontier.differences[prompt]) + float(np.abs(cells[:, 0] - cells[:, 1]).sum())
    both = float(cells.min(axis=1).sum() + frontier.unclear[prompt])
    untold = frontier.untold[prompt].sum(axis=1)
    more, less = (apart + untold[1] - untold[0]) / 2, (apart + untold[0] - untold[1]) / 2
    low = max(0.0, more - untold[1], less - untold[0])
    return low, min(1.0, more + both + untold[0], less + both + untold[1])


def _list_differences(run: LiveRun, prompt: int, count: int) -> tuple[Difference, ...]:
    frontier = run.frontier
    items, settled = frontier.items, (frontier.found, frontier.other)
    behind = [frontier.node_prompts[found.nodes] == prompt for found in settled]
    is_item = items.prompts == prompt
    nodes = [found.nodes[here] for found, here in zip(settled, behind, strict=True)]
    symbols = [found.symbols[here] for found, here in zip(settled, behind, strict=True)]
    masses = [found.masses[here] for found, here in zip(settled, behind, strict=True)]
    each = np.concatenate([*masses, items.masses[is_item]])
    sizes = np.abs(each[:, 0] - each[:, 1])
    # A text may be written in several ways, so more are spelled than are listed.
    order = np.argsort(-sizes, kind="stable")[: 64 * count + 1024]
    order = order[sizes[order] > 0]
    are_open = order >= len(each) - int(is_item.sum())
    words = spell_words(
        frontier,
        run.alphabet,
        np.concatenate([*nodes, items.parents[is_item]])[order],
        np.concatenate([*symbols, items.symbols[is_item]])[order],
    )
    merged: dict[tuple[Word, bool], Floats] = {}
    for word, is_open, mass in zip(words, are_open.tolist(), each[order], strict=True):
        merged[word, is_open] = merged.get((word, is_open), 0.0) + mass
    ordered = sorted(merged.items(), key=lambda pair: -abs(pair[1][0] - pair[1][1]))[:count]
    total = float(sizes.sum())
    return tuple(
        Difference(word, float(one), float(other), float(abs(one - other) / total), is_open)
        for (word, is_open), (one, other) in ordered
        if abs(one - other) > ROUNDING
    )
