"""What has changed between two corpora, as a value: transitions by pair of states, and events."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import groupby
from typing import Any, Literal

from pdfalearn.alphabet import Symbol
from pdfalearn.extras import import_extra
from pdfalearn.pdfa import PDFA
from pdfalearn.results.certificates import TableValue
from pdfalearn.text import count_text, shorten, symbol_text, width_apart

# Of longer lists, texts show this many rows, and this many characters of a symbol.
_MOST_ROWS, _MOST_CHARACTERS = 20, 40


@dataclass(frozen=True)
class TransitionChange:
    """A transition that the words of one corpus take more often than those of the other.

    Examples
    --------
    >>> from pdfalearn import compare
    >>> from pdfalearn.datasets import figure_1
    >>> one, _ = compare(["a", "aa"] * 100, ["a", "aaa"] * 100, model=figure_1()).transitions
    >>> (one.source, one.symbol, one.target), one.count_a, one.count_b, one.test
    ((1, 'a', 1), 100, 200, 'G')
    """

    source: int
    symbol: Symbol
    """The symbol; it may be the terminal, or None for events that the automaton does not have."""
    target: int | None
    """The state it leads to; None at the end of a word, and where nothing follows."""
    share: float
    """The part of the whole change that arises here."""
    count_a: int
    count_b: int
    """How often it is taken."""
    probability_a: float
    probability_b: float
    """How often it is taken of all visits to the source."""
    test: Literal["G", "Fisher"]
    """Which test: see `pdfalearn.compare`."""
    p_value: float
    adjusted: float
    """The p-value after Holm, with all tests of the comparison."""


@dataclass(frozen=True)
class PairChange:
    """The changed transitions from one state to another, the largest share first.

    Examples
    --------
    >>> from pdfalearn import compare
    >>> from pdfalearn.datasets import figure_1
    >>> pairs = compare(["a", "aa"] * 100, ["a", "aaa"] * 100, model=figure_1()).pairs
    >>> [(pair.source, pair.target, round(pair.share, 2)) for pair in pairs]
    [(1, 1, 0.58), (1, None, 0.42)]
    """

    source: int
    target: int | None
    share: float
    """The sum over the transitions."""
    adjusted: float
    """The least of their p-values after Holm."""
    transitions: tuple[TransitionChange, ...]


@dataclass(frozen=True)
class EventChange:
    """An event that only one of the corpora has.

    Examples
    --------
    >>> from pdfalearn import compare
    >>> from pdfalearn.datasets import figure_1
    >>> (one,) = compare(["a"] * 50, ["a", "ab"] * 25, model=figure_1()).events
    >>> one.event, one.kind, one.words, one.adjusted < 0.001
    ('b', 'new', 25, True)
    """

    event: Symbol
    kind: Literal["new", "vanished"]
    words: int
    """How many words have it."""
    p_value: float
    adjusted: float | None
    """The p-value after Holm; None if no test of so few words could be below ``false_alarms``."""


@dataclass(frozen=True)
class Changes(TableValue):
    """What has changed between two corpora, along the transitions of an automaton.

    Examples
    --------
    >>> from pdfalearn import Corpus, compare
    >>> from pdfalearn.datasets import figure_1
    >>> monday, friday = Corpus(["a", "aa"] * 100), Corpus(["a", "aaa"] * 100)
    >>> found = compare(monday, friday, model=figure_1())
    >>> bool(found), [(one.source, one.target) for one in found.pairs]
    (True, [(1, 1), (1, None)])
    """

    pdfa: PDFA
    """The automaton."""
    words_a: int
    words_b: int
    """How many words the corpora have."""
    cut_a: int
    cut_b: int
    """How many of them were marked as cut."""
    false_alarms: float
    """The probability that anything is named although nothing has changed, at most."""
    tests: int
    """How many transitions and events have been tested that could be found at all."""
    change: float
    """The whole change in nats a word: what the next events say, on average, about the corpus."""
    transitions: tuple[TransitionChange, ...]
    """Those whose p-value after Holm is at most ``false_alarms``, the largest share first."""
    events: tuple[EventChange, ...]
    """All that only one corpus has, the least p-value first; few words may be chance."""

    def __bool__(self) -> bool:
        """Return whether anything has changed, by a test."""
        return bool(self.transitions) or any(self._is_found(one) for one in self.events)

    @property
    def pairs(self) -> tuple[PairChange, ...]:
        """The changed transitions by the two states that they join, the largest share first."""

        def states(one: TransitionChange) -> tuple[int, int]:
            return one.source, -1 if one.target is None else one.target

        found = []
        for _, group in groupby(sorted(self.transitions, key=states), states):
            ways = tuple(sorted(group, key=lambda one: -one.share))
            share, adjusted = sum(one.share for one in ways), min(one.adjusted for one in ways)
            found.append(PairChange(ways[0].source, ways[0].target, share, adjusted, ways))
        return tuple(sorted(found, key=lambda pair: -pair.share))

    def _is_found(self, one: EventChange) -> bool:
        return one.adjusted is not None and one.adjusted <= self.false_alarms

    def tables(self) -> list[list[tuple[str, ...]]]:
        """Return a table of the events, and one of the transitions; of long ones the beginning.

        Examples
        --------
        >>> from pdfalearn import Corpus, compare
        >>> from pdfalearn.datasets import figure_1
        >>> monday, friday = Corpus(["a", "aa"] * 100), Corpus(["a", "aab"] * 100)
        >>> print(compare(monday, friday, model=figure_1()))
        200 and 200 words along 2 states: 2 changed transitions, 1 new or vanished event
        Where nothing has changed, at most 5% of comparisons name anything
        <BLANKLINE>
        event  only in  words  p-value
        b            b    100    <1e-6
        <BLANKLINE>
        from       to      event   in a   in b  share  p-value
        1     outside  (unknown)      0  0.333  0.803    <1e-6
        1         end          $  0.667  0.333  0.197    <1e-6
        """
        both = (EVENTS_HEADER, self.event_cells()), (CHANGES_HEADER, self.cells())
        return [
            [header, *rows[:_MOST_ROWS], *_rest_row(len(rows) - _MOST_ROWS, len(header))]
            for header, rows in both
            if rows
        ]

    @property
    def statement(self) -> str:
        """What is known, in a sentence."""
        found = (
            (len(self.transitions), "changed transitions"),
            (sum(map(self._is_found, self.events)), "new or vanished events"),
        )
        texts = [f"{n:,} {name if n != 1 else name[:-1]}" for n, name in found if n]
        return (
            f"{self.words_a:,} and {self.words_b:,} words along "
            f"{count_text(len(self.pdfa), 'states')}: {', '.join(texts) or 'no change is known'}\n"
            f"Where nothing has changed, at most {100 * self.false_alarms:.3g}% of comparisons "
            "name anything"
        )

    def cells(self) -> list[tuple[str, ...]]:
        """Return a row of texts for every changed transition, pair by pair."""
        return [
            (
                str(one.source),
                self.target_text(one),
                self.event_text(one.symbol),
                f"{one.probability_a:.3g}",
                f"{one.probability_b:.3g}",
                f"{one.share:.3g}",
                _p_text(one.adjusted),
            )
            for pair in self.pairs
            for one in pair.transitions
        ]

    def event_cells(self) -> list[tuple[str, ...]]:
        """Return a row of texts for every event that only one corpus has."""
        return [
            (
                self.event_text(one.event),
                "b" if one.kind == "new" else "a",
                f"{one.words:,}",
                _p_text(one.adjusted),
            )
            for one in self.events
        ]

    def target_text(self, one: TransitionChange | PairChange) -> str:
        """Return the name of where a transition leads."""
        if one.target is not None:
            return str(one.target)
        first = one if isinstance(one, TransitionChange) else one.transitions[0]
        return "end" if first.symbol == self.pdfa.terminal else "outside"

    def event_text(self, symbol: Symbol) -> str:
        """Return the name of an event."""
        text = "(unknown)" if symbol is None else symbol_text(symbol)
        return shorten(text, self._width)

    @cached_property
    def _width(self) -> int:
        symbols = [one.symbol for one in self.transitions] + [one.event for one in self.events]
        return width_apart(map(symbol_text, symbols), _MOST_CHARACTERS)

    def document(self) -> dict[str, Any]:
        """Return all of it, but for the automaton, ready for JSON."""
        names = ("words_a", "words_b", "cut_a", "cut_b", "false_alarms", "tests", "change")
        return {
            "changed": bool(self),
            "states": len(self.pdfa),
            **{name: getattr(self, name) for name in names},
            "events": [asdict(one) for one in self.events],
            "pairs": [asdict(pair) for pair in self.pairs],
        }

    def to_frame(self) -> Any:
        """Make a table of pandas, a line for each transition; needs the extra ``exchange``."""
        return import_extra("pandas", "tables").DataFrame([asdict(one) for one in self.transitions])


CHANGES_HEADER = ("from", "to", "event", "in a", "in b", "share", "p-value")
EVENTS_HEADER = ("event", "only in", "words", "p-value")


def _rest_row(count: int, columns: int) -> list[tuple[str, ...]]:
    return [(f"… {count:,} more", *[""] * (columns - 1))] if count > 0 else []


def _p_text(value: float | None) -> str:
    if value is None:
        return "not tested"
    return f"{value:.2g}" if value >= 1e-6 else "<1e-6"
