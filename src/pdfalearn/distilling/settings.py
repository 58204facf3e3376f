"""What decides how long a search for automata takes, and how near it comes."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from math import inf
from typing import NamedTuple

from pdfalearn.checks import check_integer, check_number
from pdfalearn.displays import DistillingLine, Wanted, show_progress
from pdfalearn.models import Interrupts, run_long
from pdfalearn.results import DistillingInterrupted, DistillingProgress


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """What decides how long a search takes, and how near it comes.

    Four settings matter. All others are attributes that are better left alone: they were measured
    together, and small changes hardly show.

    Parameters
    ----------
    largest : int
        The most states of an automaton that is searched for; larger ones are made of the most
        useful contexts. The first automata are that large: time and memory grow with it, and it
        matters for results of some hundred states.
    cycled : int
        Automata of up to this many states are made larger and smaller again, which takes about half
        of the time and brings about one percent of the loss, more where few states are enough.
    tolerated : float
        How many nats a word exact answers may differ by after prefixes that become one state. More
        makes fewer states, and may miss a difference.
    reluctance : float
        The nats that a transition must gain to be moved. More overfits less where words are few.

    Examples
    --------
    >>> SearchSettings(cycled=0, reluctance=2.0).largest
    1500
    """

    largest: int = 1500
    cycled: int = 64
    tolerated: float = 0.02
    reluctance: float = 0.5

    # All that follows is better left alone. A search starts with this many contexts at least, if
    # there are as many, or twice the largest size.
    first: int = 512
    # Automata of more transitions are neither reduced nor wanted by default, unless they have at
    # most ``at_least`` states; prefixes times states that memory can hold.
    most_transitions: int = 2**23
    at_least: int = 120
    most_costs: int = 2**28
    # Prefixes of exact answers are merged if this many states are enough.
    merged: int = 64
    # An automaton of merged prefixes is made larger up to this many states, if there are this many
    # answers for each.
    grown: int = 250
    answers_a_state: int = 20
    # Polishing ends after this many rounds, or when one lowers the loss by less than this share.
    rounds: int = 12
    polished: float = 2e-3
    # Automata of up to this many states are polished with all targets in the end.
    whole: int = 360
    # At most this many states are merged one at a time, the best of some tries. Of more states a
    # share is merged at once: of up to ``few``, and of more.
    one_by_one: int = 16
    tries: int = 4
    few: int = 128
    shares: tuple[float, float] = (0.08, 0.15)
    # Futures are compared this many symbols ahead, along symbols that are at least this likely.
    sweeps: int = 3
    likely: float = 0.02
    # A merge costs more, as if this many unseen words were in the state that is removed; and no
    # unseen word costs more nats than this.
    as_if_seen: float = 0.3
    worst: float = 5.0
    # Sizes up to ``each`` go through cycles, and then those that are by the factor ``spacing``
    # smaller than the one before; those between learn from them: automata of up to ``exchanged``
    # states are tried for the sizes around theirs.
    each: int = 8
    spacing: float = 0.75
    exchanged: int = 64
    # Up to this size automata are tried for as many sizes around theirs.
    near: int = 4
    # Pairs: the most states of automata, and the most exact answers that they are searched with.
    thinned: tuple[tuple[int, int], ...] = ((32, 2**13), (120, 2**15))
    # The shares by which automata are made larger in cycles. A cycle that brings less than a share
    # ``better`` of the loss is not taken; above ``each`` states it is the last one.
    growth: tuple[float, ...] = (0.3, 0.3, 0.6, 1.0)
    better: float = 1e-3

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(field.default, int):
                check_integer(value, field.name, 2 if field.name == "largest" else 0)
            elif isinstance(field.default, float):
                check_number(value, field.name, 0.0, inf)


DEFAULTS = SearchSettings()


class WordSettings(NamedTuple):
    """What `distill` takes for words."""

    sizes: list[int] | None
    seed: int
    held_out: float
    unseen: float
    settings: SearchSettings
    progress: Wanted[DistillingProgress]

    def run_long(self) -> AbstractContextManager[Interrupts]:
        """Show progress, and hold a Ctrl-C back."""
        line, progress = DistillingLine, self.progress
        shown = None if progress is None else show_progress(progress, line, is_of_words=True)
        return run_long(shown, DistillingInterrupted)
