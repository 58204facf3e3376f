"""A run's conversation with copies of a model."""

from __future__ import annotations

from collections.abc import Callable
from uuid import uuid4

import numpy as np

from pdfalearn.models.protocol import Handles, Mask, Session
from pdfalearn.models.replicas._joining import joined_possible, joined_rows, raise_failure
from pdfalearn.models.replicas._parting import (
    Seats,
    balanced,
    evenly,
    part_count,
    spread,
    word_costs,
)
from pdfalearn.models.replicas._pools import Pool
from pdfalearn.models.replicas._requests import (
    ANSWER,
    EXTEND,
    NO_WORDS,
    POSSIBLE,
    READ,
    Failure,
    Request,
    Response,
)
from pdfalearn.models.replicas._tables import WordTable
from pdfalearn.rows import Rows
from pdfalearn.words import Words, joined

Places = Handles


class ReplicaSession(Session):
    """Sends every word to the copy that holds its prefix, as far as that leaves none idle.

    A model that is asked for whole words gets them in parts of about the same cost.

    Parameters
    ----------
    pool : Pool
        The copies.
    others : callable
        Returns the words of other conversations that are open: what a copy has answered there,
        another one is asked for here.
    ended : dict
        The names of conversations that are over, to be told to each seat; this one adds its own.
    """

    def __init__(
        self, pool: Pool, others: Callable[[], list[WordTable]], ended: dict[int, list[str]]
    ) -> None:
        traits = pool.traits
        self.room = traits.room
        self.positive = traits.positive
        self._pool = pool
        self._others = others
        self._ended = ended
        self._name = uuid4().hex
        self._cost = traits.members.cost
        self._is_whole = traits.is_whole
        self._reads_ahead = self._cost.prefix == 0
        self.words = WordTable(len(traits.members.alphabet))
        """The words that the copies were led to."""
        self._tokens: list[str] = []
        """The conversations of single copies."""
        self._held_at: dict[int, int] = {}
        """Which of them each seat has now."""
        self._released: dict[int, list[Handles]] = {}
        """The handles of each that are to be released."""
        self._ahead: tuple[Handles, Rows] | None = None
        """The words that were led to last, and the answers to them."""

    def start(self) -> int:
        """Return the number of the empty word."""
        return 0

    def extend(self, handles: Handles, words: Words) -> Handles:
        """Lead copies on, each from words that it holds where that may be."""
        new = self.words.add(handles, words)
        if self._is_whole or not len(new):
            return new
        self._ahead = None
        answers = self._asked(EXTEND, handles, self._seats_to_extend(handles, words), words)
        ahead: list[tuple[Handles, Rows]] = []
        for places, seat, answer in answers:
            here = _symbols_of(words, places)
            holder = self._noted(handles[places], seat, answer)
            ones = new[here]
            is_defined = answer.handles >= 0
            self.words.holders[ones] = holder
            self.words.handles[ones] = answer.handles
            self.words.seats[ones] = seat
            new[here[~is_defined]] = -1
            if answer.rows is not None:
                ahead.append((ones[is_defined], answer.rows))
        self._note_ahead(ahead)
        return new

    def _note_ahead(self, ahead: list[tuple[Handles, Rows]]) -> None:
        """Keep answers that came with the words, in the order of their numbers."""
        if ahead:
            numbers = np.concatenate([some for some, _ in ahead])
            order = np.argsort(numbers)
            rows = Rows.joined([rows for _, rows in ahead])
            self._ahead = numbers[order], rows if len(ahead) == 1 else rows.take(order)

    def read(self, handles: Handles) -> Rows:
        """Return answers, those of the last words without asking again."""
        if (rows := self._read_ahead(handles)) is not None:
            return rows
        if self._is_whole:
            answers = self._asked(ANSWER, handles, self._even_seats(handles))
        else:
            answers = self._asked(READ, handles, self._seats_to_read(handles))
        for places, seat, answer in answers:
            self._noted(handles[places], seat, answer)
            self.words.seats[handles[places]] = seat
        return joined_rows([(places, answer.rows) for places, _, answer in answers])

    def possible(self, handles: Handles) -> Mask | Words | None:
        """Return what the copies know; nothing of whole words."""
        if self._is_whole or not len(handles):
            return None
        answers = self._asked(POSSIBLE, handles, self._seats_to_read(handles))
        for places, seat, answer in answers:
            self._noted(handles[places], seat, answer)
        parts = [(places, answer.possible) for places, _, answer in answers]
        return joined_possible(parts, len(self._pool.traits.members.alphabet))

    def release(self, handles: Handles) -> None:
        """Have handles released by the next request to the copy that holds them."""
        table = self.words
        holders = table.holders[handles]
        for holder in np.unique(holders[holders >= 0]).tolist():
            self._released.setdefault(holder, []).append(table.handles[handles[holders == holder]])
        table.holders[handles] = -1

    def close(self) -> None:
        """Have the copies forget all words, by the next request that they get."""
        for seat in self._held_at:
            self._ended.setdefault(seat, []).append(self._name)
        self._ahead = None
        self.words = WordTable(1)

    def _read_ahead(self, handles: Handles) -> Rows | None:
        if self._ahead is None:
            return None
        numbers, rows = self._ahead
        if np.array_equal(numbers, handles):
            return rows
        places = np.minimum(np.searchsorted(numbers, handles), len(numbers) - 1)
        return rows.take(places) if np.array_equal(numbers[places], handles) else None

    def _even_seats(self, handles: Handles) -> Seats:
        """Part whole words; those that a copy has answered elsewhere go to the next one."""
        count = self._pool.seats()
        costs = word_costs(self._cost, self.words.lengths[handles])
        parts = evenly(costs, part_count(costs, self._cost, count))
        before = self._answered_by(lambda: self.words.spell(handles), len(handles))
        return np.where(before < 0, parts, before + 1) % count

    def _seats_to_extend(self, handles: Handles, more: Words) -> Seats:
        """Choose the seats of words that are to be led on."""
        count = self._pool.seats()
        lengths = self.words.lengths[handles] + more.lengths
        at_home, away = word_costs(self._cost, more.lengths), word_costs(self._cost, lengths)
        homes = self._homes(handles, count)
        before = self._answered_by(lambda: joined(self.words.spell(handles), more), len(handles))
        if (before >= 0).any():
            homes = np.where((before >= 0) & (homes < 0), (before + 1) % count, homes)
            return spread(homes, at_home, away, count)
        if part_count(at_home, self._cost, count) == 1:
            return np.where(homes < 0, max(0, int(homes.max())), homes)
        return balanced(homes, at_home, away, count)

    def _seats_to_read(self, handles: Handles) -> Seats:
        """Choose the seats of words that are to be read: where they are held, if they are."""
        count = self._pool.seats()
        costs = word_costs(self._cost, self.words.lengths[handles])
        return spread(self._homes(handles, count), costs, costs, count)

    def _homes(self, handles: Handles, count: int) -> Seats:
        """Return the seats that hold words; -1 where none does."""
        seat_of = np.full(len(self._tokens) + 1, -1, dtype=np.int64)
        for seat, holder in self._held_at.items():
            if seat < count:
                seat_of[holder] = seat
        return seat_of[self.words.holders[handles]]

    def _answered_by(self, spell: Callable[[], Words], count: int) -> Seats:
        """Return the seats that have answered words in other conversations; -1 where none has."""
        seats = np.full(count, -1, dtype=np.int64)
        others = self._others()
        words = spell() if others else NO_WORDS
        for table in others:
            found = table.find(words)
            known = found >= 0
            seats[known] = np.maximum(seats[known], table.seats[found[known]])
        return seats

    def _asked(
        self, kind: str, handles: Handles, seats: Seats, more: Words | None = None
    ) -> list[tuple[Places, int, Response]]:
        """Ask all seats for their parts; return the places of each part and the answer."""
        chosen = np.unique(seats).tolist()
        parts = [(seats == seat).nonzero()[0] for seat in chosen]
        requests = [
            (
                seat,
                self._request(
                    kind, handles[places], seat, None if more is None else more.take(places)
                ),
            )
            for seat, places in zip(chosen, parts, strict=True)
        ]
        answers = self._pool.ask(requests)
        failures = [
            (answer, places)
            for answer, places in zip(answers, parts, strict=True)
            if isinstance(answer, Failure)
        ]
        good = [
            (places, seat, answer)
            for places, seat, answer in zip(parts, chosen, answers, strict=True)
            if isinstance(answer, Response)
        ]
        if failures:
            for _, seat, response in good:
                self._give_up(seat, response)
            raise_failure(*failures[0])
        return good

    def _request(self, kind: str, handles: Handles, seat: int, more: Words | None) -> Request:
        words = self.words.spell(handles)
        if kind == ANSWER:
            return Request(kind, words, ended=tuple(self._ended.pop(seat, ())))
        holder = self._held_at.get(seat, -1)
        held = self.words.holders[handles] == holder
        return Request(
            kind,
            words,
            NO_WORDS if more is None else more,
            self._name,
            self._tokens[holder] if holder >= 0 else "",
            np.where(held, self.words.handles[handles], -1),
            handles,
            np.concatenate(self._released.pop(holder, []) or [handles[:0]]),
            tuple(self._ended.pop(seat, ())),
            with_rows=self._reads_ahead and kind == EXTEND,
        )

    def _holder(self, seat: int, answer: Response) -> int:
        """Return the number of a copy's conversation, which the seat has from now on."""
        if answer.token not in self._tokens:
            self._tokens.append(answer.token)
        holder = self._tokens.index(answer.token)
        self._held_at[seat] = holder
        return holder

    def _noted(self, handles: Handles, seat: int, answer: Response) -> int:
        """Note which words a copy holds from now on, and return its conversation.

        A word that another copy holds stays there; what this one was led to is released.
        """
        if not len(answer.bases):
            return -1
        holder = self._holder(seat, answer)
        held = self.words.holders[handles]
        others = (answer.bases >= 0) & (handles > 0) & (held != holder)
        is_kept = others & np.isin(held, list(self._held_at.values()))
        if is_kept.any():
            self._released.setdefault(holder, []).append(np.unique(answer.bases[is_kept]))
        new = handles[others & ~is_kept]
        self.words.holders[new] = holder
        self.words.handles[new] = answer.bases[others & ~is_kept]
        return holder

    def _give_up(self, seat: int, answer: Response) -> None:
        """Have the new handles released of a batch that another copy has failed in."""
        defined = answer.handles[answer.handles >= 0]
        if len(defined):
            self._released.setdefault(self._holder(seat, answer), []).append(defined)


def _symbols_of(words: Words, places: Places) -> Handles:
    """Return the places of the symbols of some words."""
    lengths = words.lengths[places]
    begins = np.repeat(words.offsets[places] - np.cumsum(lengths) + lengths, lengths)
    here: Handles = begins + np.arange(len(begins))
    return here
