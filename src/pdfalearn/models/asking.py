"""Ask a model for words as if they were new, in a session of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from pdfalearn.models.checking import (
    checked_extension,
    checked_room,
    checked_rows,
    checked_session,
    checked_shared,
    checked_start,
    close_quietly,
)
from pdfalearn.models.protocol import Handles, LanguageModel, Session
from pdfalearn.rows import Rows
from pdfalearn.words import Codes, Words, prefixes_of


def asked_rows(model: LanguageModel, words: Words, *, most_bytes: int = 2**26) -> tuple[Rows, int]:
    """Ask a model for whole words, whatever it was asked before.

    Parameters
    ----------
    model : LanguageModel
        The model; a session is opened for these words alone.
    words : Words
        The words. A word that occurs several times is asked as many times.
    most_bytes : int
        How large a batch may be: the bytes of its distributions, if they were dense.

    Returns
    -------
    rows : Rows
        The distribution after each word; ``undefined`` says after which there is none.
    symbols : int
        How many symbols the model was led through.
    """
    width = len(model.alphabet) + 1
    with opened(model) as session:
        asker = _Asker(session, width)
        for group in _groups(words, max(1, most_bytes // (8 * width)), asker.most_symbols):
            asker.ask(group)
    return asker.answers(), asker.symbols


@contextmanager
def opened(model: LanguageModel) -> Iterator[Session]:
    """Open a session, and close it in every case.

    An error while closing is never the outcome; if there is another error, it becomes its note.
    """
    session = checked_session(model)
    try:
        yield session
    except BaseException as error:
        note = close_quietly(session)
        if note is not None:
            error.add_note(note)
        raise
    close_quietly(session)


def _groups(words: Words, most_rows: int, most_symbols: int | None) -> Iterator[Words]:
    """Cut a batch into parts of at most this many words and symbols; a longer word goes alone."""
    begin = 0
    while begin < len(words):
        end = min(begin + most_rows, len(words))
        if most_symbols is not None:
            fits = np.searchsorted(words.offsets, words.offsets[begin] + most_symbols, "right") - 1
            end = max(begin + 1, min(end, int(fits)))
        places = np.arange(begin, end)
        yield prefixes_of(words, places, words.lengths[places])
        begin = end


class _Asker:
    """Leads a session to words, group by group, and collects the answers."""

    def __init__(self, session: Session, width: int) -> None:
        self._session = session
        self._width = width
        self._shared = checked_shared(session)
        room = None if self._shared else checked_room(session)
        self.most_symbols = None if room is None else room - 1
        """How many symbols there is room for beside the empty word; None if for any number."""
        self._start = checked_start(session)
        self.symbols = 0
        """How many symbols the session was led through."""
        self._read: list[Rows] = []
        self._is_defined: list[NDArray[np.bool_]] = [np.empty(0, dtype=bool)]

    def ask(self, group: Words) -> None:
        """Ask for words that fit into the room together, or for one that does not."""
        if self.most_symbols is not None and len(group.symbols) > self.most_symbols:
            self._ask_in_pieces(group.symbols, self.most_symbols - 1)
            return
        handles = self._led(np.full(len(group), self._start), group)
        ends = np.full(len(group), self._start)
        is_longer = group.lengths > 0
        ends[is_longer] = handles[group.offsets[1:][is_longer] - 1]
        self._note_answers(ends)
        self._release(handles)

    def _ask_in_pieces(self, word: Codes, most: int) -> None:
        """Ask for a long word piece by piece; only the current piece and its start are kept."""
        ends = np.array([self._start])
        for begin in range(0, len(word), most):
            piece = word[begin : begin + most]
            handles = self._led(ends, Words(piece, np.array([0, len(piece)])))
            if begin:
                self._release(ends)
            self._release(handles[:-1])
            ends = handles[-1:]
            if ends[0] < 0:
                break
        self._note_answers(ends)
        self._release(ends)

    def _led(self, handles: Handles, words: Words) -> Handles:
        if not len(words.symbols):
            return np.empty(0, dtype=np.int64)
        self.symbols += len(words.symbols)
        return checked_extension(self._session.extend(handles, words), words)

    def _note_answers(self, handles: Handles) -> None:
        is_defined = handles >= 0
        self._is_defined.append(is_defined)
        handles = handles[is_defined]
        if len(handles):
            rows = checked_rows(self._session.read(handles), len(handles), self._width)
            self._read.append(rows)

    def _release(self, handles: Handles) -> None:
        if not self._shared and len(handles := handles[handles >= 0]):
            self._session.release(handles)

    def answers(self) -> Rows:
        """Return the answers to all words, in order; the undefined ones are marked."""
        is_defined = np.concatenate(self._is_defined)
        if not self._read:
            return _undefined_rows(len(is_defined), self._width)
        rows = Rows.joined(self._read)
        if is_defined.all():
            return rows
        rows = rows.take(np.maximum(np.cumsum(is_defined) - 1, 0))
        rows.undefined = ~is_defined if rows.undefined is None else rows.undefined | ~is_defined
        return rows


def _undefined_rows(count: int, width: int) -> Rows:
    nothing = np.zeros(count)
    return Rows.sparse(
        width, np.arange(count + 1), nothing, nothing, undefined=np.ones(count, dtype=bool)
    )
