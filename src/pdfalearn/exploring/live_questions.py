"""What is asked of a live model: languages, prompts and budgets, checked and made ready."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from hashlib import sha256
from math import inf
from typing import Any, Literal

import numpy as np

from pdfalearn.alphabet import Word
from pdfalearn.budgets import Budget
from pdfalearn.errors import InputError
from pdfalearn.exploring.frontier import Frontier
from pdfalearn.exploring.readings import Reading, SymbolReading, TokenReading
from pdfalearn.exploring.recording import Question
from pdfalearn.languages import LanguageLike, containing
from pdfalearn.models import Answers, LanguageModel, ServedAnswers, TransformerModel
from pdfalearn.text import described

Match = Literal["whole", "begins", "contains"]
OfText = Answers | ServedAnswers
TOTALS = frozenset({"any of these", "none of these"})
"""What tables call all languages together, and all else."""
Languages = LanguageLike | Mapping[str, LanguageLike]


def name_languages(languages: Languages) -> tuple[tuple[str, ...], list[LanguageLike]]:
    """Return the names of languages, and the languages; one without a name has that of its text."""
    if isinstance(languages, Mapping):
        if not languages or not all(isinstance(name, str) and name for name in languages):
            raise InputError("the languages need names that are texts, and there has to be one")
        if taken := TOTALS.intersection(languages):
            raise InputError(f"{min(taken)!r} is the name of a total; call the language otherwise")
        return tuple(languages), list(languages.values())
    return (languages if isinstance(languages, str) else "match",), [languages]


def write_language(language: LanguageLike) -> str:
    """Return how a language stands in a file."""
    return language if isinstance(language, str) else described(language)


def hash_symbols(model: LanguageModel) -> str:
    """Return what tells symbols, or the texts of tokens, apart."""
    symbols = model.token_bytes if isinstance(model, OfText) else model.alphabet.symbols
    return sha256(repr(symbols).encode()).hexdigest()[:16]


def longest_word(models: Sequence[LanguageModel]) -> float:
    """Return how many symbols words may have, as far as models have a context that is known."""
    bounded = (one for one in models if isinstance(one, TransformerModel | ServedAnswers))
    return min((one.longest_word for one in bounded), default=inf)


def describe_symbols(model: LanguageModel, reading: Reading) -> Question:
    """Return what a question has besides its words: how they are read, and in which symbols."""
    begin, ends = list[int](), list[int]()
    if isinstance(model, OfText):
        begin, ends = list(model.prompt), list(model.ends)
    dfa = reading.dfa
    tables = dfa.table, dfa.labels, dfa.members, reading.cuts, dfa.initial
    automaton = sha256(b"".join(np.ascontiguousarray(table).tobytes() for table in tables))
    return {
        "prompt": begin,
        "ends": ends,
        "symbols": hash_symbols(model),
        "automaton": automaton.hexdigest()[:16],
    }


def read_languages(
    model: LanguageModel,
    languages: list[LanguageLike],
    match: Match,
    *,
    cut_ends: bool,
    to_the_end: bool,
) -> Reading:
    """Return languages as they are read in the symbols of a model."""
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
    settings: dict[str, Any] = {"by_beginning": match != "whole", "cut_ends": cut_ends}
    if isinstance(model, OfText):
        settings |= {"is_lasting": not to_the_end, "stops": model.stops}
        return TokenReading(languages, model.token_bytes, **settings)
    return SymbolReading(languages, model.alphabet, **settings)


def words_of_prompts(
    model: LanguageModel, prompts: Mapping[str, Word] | None
) -> dict[str, Sequence[int]]:
    """Return the symbols before what is asked about, by the names of prompts."""
    if isinstance(model, OfText):
        if prompts is not None:
            raise InputError("give the prompts to Answers, which writes them in tokens")
        return dict(model.first_words)
    if prompts is None:
        return {"": ()}
    if not isinstance(prompts, Mapping) or not prompts:
        raise InputError(f"prompts are {described(prompts)}; give a mapping of names to words")
    return {str(name): model.alphabet.encode(word).tolist() for name, word in prompts.items()}


def check_budget(budget: Budget | None) -> Budget:
    """Return a budget that bounds what exploring is bounded by."""
    if budget is None:
        return Budget()
    if not isinstance(budget, Budget):
        raise InputError(f"budget={budget!r} is not a Budget, such as Budget(max_words=1000)")
    given = {name for name, value in vars(budget).items() if value is not None}
    other = given - {"max_words", "max_seconds", "bounds_questions", "bounds_words"}
    if other:
        raise InputError(f"exploring is bounded by max_words and max_seconds, not by {min(other)}")
    return budget


class Left:
    """What is left of a budget, as models are asked."""

    def __init__(self, frontier: Frontier, budget: Budget | None, usual: int) -> None:
        given = check_budget(budget)
        calls = usual if given.max_words is None else given.max_words
        seconds = inf if given.max_seconds is None else given.max_seconds
        self._frontier, self._most = frontier, frontier.calls + calls
        self._ends_at = time.monotonic() + seconds

    @property
    def is_late(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() >= self._ends_at

    @property
    def calls(self) -> int:
        """How many distributions may be asked for."""
        return max(0, self._most - self._frontier.calls)

    def bound(self) -> str | None:
        """Return which bound is reached, if one is."""
        if not self.calls:
            return "max_words"
        return "max_seconds" if self.is_late else None

    def budget(self, calls: int | None = None) -> Budget:
        """Return the budget of the next calls, of at most this many."""
        left, seconds = max(1, self.calls), self._ends_at - time.monotonic()
        return Budget(
            max_words=left if calls is None else min(left, calls),
            max_seconds=None if seconds == inf else max(0.0, seconds),
        )
