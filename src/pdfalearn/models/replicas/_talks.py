"""A conversation with a copy of a model, which can be led to any word that it does not hold."""

from __future__ import annotations

from uuid import uuid4

import numpy as np

from pdfalearn.alphabet import shortened
from pdfalearn.errors import ModelError
from pdfalearn.models.asking import asked_rows
from pdfalearn.models.checking import (
    checked_extension,
    checked_possible,
    checked_room,
    checked_rows,
    checked_session,
    checked_shared,
    checked_start,
    close_quietly,
)
from pdfalearn.models.protocol import Handles, LanguageModel
from pdfalearn.models.replicas._requests import EXTEND, READ, Request, Response
from pdfalearn.rows import Rows
from pdfalearn.words import Codes, Words


class Talk:
    """A session with the model; where there is no room in it, it is begun anew.

    Parameters
    ----------
    model : LanguageModel
        The model.
    by : str
        Who this copy is.
    """

    def __init__(self, model: LanguageModel, by: str) -> None:
        self._model = model
        self._by = by
        self._symbols = len(model.alphabet)
        self._begin()

    def _begin(self) -> None:
        self._session = checked_session(self._model)
        self._shared = checked_shared(self._session)
        self._room = None if self._shared else checked_room(self._session)
        self._start = checked_start(self._session)
        self._live = 1
        self._token = uuid4().hex

    def close(self) -> None:
        """End the session."""
        close_quietly(self._session)

    def handle(self, request: Request) -> Response:
        """Do what is asked."""
        hints = self._held(request)
        if request.kind == EXTEND:
            return self._extended(request, hints)
        if request.kind == READ:
            return self._read(request, hints)
        bases = self._led_to(request, hints)
        given = self._session.possible(bases)
        possible = checked_possible(given, len(bases), self._symbols)
        return Response(self._by, self._token, bases, possible=possible)

    def _held(self, request: Request) -> Handles:
        """Return the handles of the words that are held; -1 for the others."""
        hints = np.full(len(request.words), -1, dtype=np.int64)
        if request.token == self._token:
            hints[:] = request.hints
            self._release(request.released)
        hints[request.words.lengths == 0] = self._start
        return hints

    def _extended(self, request: Request, hints: Handles) -> Response:
        lost = len(np.unique(request.names[hints < 0]))
        count = len(request.more.symbols)
        if self._room is not None and self._live + lost + count > self._room:
            self.close()
            self._begin()
            hints = np.where(request.words.lengths == 0, self._start, -1)
        bases = self._led_to(request, hints, count)
        handles = self._led(bases, request.more)
        rows = self._read_ahead(handles[handles >= 0]) if request.with_rows else None
        return Response(self._by, self._token, bases, handles, rows)

    def _read_ahead(self, handles: Handles) -> Rows | None:
        """Read answers before they are asked for; only then is told what is wrong with them."""
        try:
            return self._rows(handles) if len(handles) else None
        except Exception:
            return None

    def _read(self, request: Request, hints: Handles) -> Response:
        lost = request.words.lengths[hints < 0].sum()
        if self._room is not None and self._live + lost > self._room:
            return Response(
                self._by, self._token, hints, rows=asked_rows(self._model, request.words)[0]
            )
        bases = self._led_to(request, hints)
        return Response(self._by, self._token, bases, rows=self._rows(bases))

    def _rows(self, handles: Handles) -> Rows:
        return checked_rows(self._session.read(handles), len(handles), self._symbols + 1)

    def _led_to(self, request: Request, hints: Handles, reserved: int = 0) -> Handles:
        """Return handles of all words; those that are not held are led to from the start."""
        lost = (hints < 0).nonzero()[0]
        if not len(lost):
            return hints
        _, first, places = np.unique(request.names[lost], return_index=True, return_inverse=True)
        words = request.words.take(lost[first])
        if self._room is None or self._live + len(words.symbols) + reserved <= self._room:
            handles = self._led(np.full(len(words), self._start), words)
            ends = handles[words.offsets[1:] - 1]
            self._release(np.delete(handles, words.offsets[1:] - 1))
        else:
            codes = [
                words.symbols[begin:end]
                for begin, end in zip(words.offsets[:-1], words.offsets[1:], strict=True)
            ]
            ends = np.array(
                [
                    self._led_in_pieces(word, len(codes) - 1 - place)
                    for place, word in enumerate(codes)
                ]
            )
        self._check_defined(ends, words)
        hints = hints.copy()
        hints[lost] = ends[places]
        return hints

    def _led_in_pieces(self, word: Codes, others: int) -> int:
        """Lead to a word in as much room as there is beside that of other words' ends."""
        end, begin = self._start, 0
        while begin < len(word) and end >= 0:
            most = 1 if self._room is None else max(1, self._room - self._live - others)
            piece = word[begin : begin + most]
            handles = self._led(np.array([end]), Words(piece, np.array([0, len(piece)])))
            if begin:
                self._release(np.array([end]))
            self._release(handles[:-1])
            end, begin = int(handles[-1]), begin + len(piece)
        return end

    def _led(self, handles: Handles, words: Words) -> Handles:
        if not len(words.symbols):
            return np.empty(0, dtype=np.int64)
        new = checked_extension(self._session.extend(handles, words), words)
        self._live += int(np.count_nonzero(new >= 0))
        return new

    def _release(self, handles: Handles) -> None:
        handles = handles[handles >= 0]
        if not self._shared and len(handles):
            self._live -= len(handles)
            self._session.release(handles)

    def _check_defined(self, ends: Handles, words: Words) -> None:
        if (ends < 0).any():
            place = int((ends < 0).argmax())
            (codes,) = words.part(place, place + 1)
            word = shortened(self._model.alphabet.decode(codes))
            raise ModelError(
                f"the word {word} was defined, and {self._by} says that it is not: do all copies "
                "have the same model, and is nothing in it random?"
            )
