"""A session under watch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TypeVar

import numpy as np

from pdfalearn.alphabet import Alphabet
from pdfalearn.errors import ModelError
from pdfalearn.models.checking import (
    checked_extension,
    checked_room,
    checked_rows,
    checked_session,
    checked_shared,
    checked_start,
    close_quietly,
    error_text,
)
from pdfalearn.models.protocol import Handles, LanguageModel, Mask
from pdfalearn.rows import Rows
from pdfalearn.testing._answers import Answer, Codes, answers_of, word_name, wrong_with
from pdfalearn.testing._possible import excluded_symbols
from pdfalearn.words import Words

_Given = TypeVar("_Given")
_NO_END = 2**62


class Conversation:
    """A session under watch: whatever it returns is checked, and named by its words.

    Handles of words are noted, so that none belongs to two words, and there are never more than
    there is room for.
    """

    def __init__(self, model: LanguageModel, alphabet: Alphabet) -> None:
        self._model = model
        self._alphabet = alphabet
        self._words: dict[int, Codes] = {}
        """The words of the handles that are alive."""
        self._returned: tuple[Rows, Rows] | None = None
        """The rows that were read last, and what they were then."""
        self.ends: dict[Codes, int] = {}
        """The handles of the words that were asked for."""
        self.shared = False
        """Whether handles are shared by words."""
        self.room: int | None = None
        """How many handles may be alive at once."""
        self.start = -1
        """The handle of the empty word."""
        self._session = self._called("open", [], lambda: checked_session(model))

    def __enter__(self) -> Conversation:
        try:
            self._begin()
        except BaseException as error:
            self.__exit__(type(error), error, None)
            raise
        return self

    def _begin(self) -> None:
        self.shared = self._called("shared", [], lambda: checked_shared(self._session))
        self.room = self._called("room", [], lambda: checked_room(self._session))
        if self.shared and self.room is not None:
            raise self._wrong(f"room is {self.room}, but handles are shared: leave it None")
        self.start = self._called("start", [], lambda: checked_start(self._session))
        self._words[self.start] = ()

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if error is None:
            self._called("close", [], self._session.close)
        elif (note := close_quietly(self._session)) is not None:
            error.add_note(note)

    @property
    def free(self) -> int:
        """For how many handles more there is room."""
        return _NO_END if self.room is None else self.room - len(self._words)

    def chunks(self, words: Sequence[Codes]) -> Iterator[Sequence[Codes]]:
        """Cut words into parts to which the session can be led one after the other."""
        most = _NO_END if self.room is None else self.room - 2
        return (words[begin : begin + most] for begin in range(0, len(words), most))

    def ask(self, words: Sequence[Codes]) -> list[Answer]:
        """Ask for words from the start, in as few batches as there is room for."""
        answers: list[Answer] = []
        for chunk in self.chunks(words):
            ends = self.lead(chunk)
            answers += self.read(ends)
            self.ends.update(zip(chunk, ends, strict=True))
            self.release(ends)
        return answers

    def lead(self, words: Sequence[Codes]) -> list[int]:
        """Lead from the empty word to words; only the handles of their ends are kept."""
        ends: list[int] = []
        while len(ends) < len(words):
            group = self._fitting(words[len(ends) :])
            ends += self._led(group) if group else [self._led_in_pieces(words[len(ends)])]
        return ends

    def _fitting(self, words: Sequence[Codes]) -> Sequence[Codes]:
        """Return as many words from the first on as there is room for with all their prefixes."""
        room, count = self.free, 0
        while count < len(words) and len(words[count]) <= room:
            room -= len(words[count])
            count += 1
        return words[:count]

    def _led(self, words: Sequence[Codes]) -> list[int]:
        paths = self.extend([self.start] * len(words), words)
        self.release([handle for path in paths for handle in path[:-1]])
        return [path[-1] if path else self.start for path in paths]

    def _led_in_pieces(self, word: Codes) -> int:
        end = self.start
        while word and end >= 0:
            piece, word = word[: self.free], word[self.free :]
            (path,) = self.extend([end], [piece])
            self.release([end, *path[:-1]])
            end = path[-1]
        return end

    def extend(self, handles: Sequence[int], words: Sequence[Codes]) -> list[list[int]]:
        """Go on from handles; return the handles along each word."""
        bases = [self._words[handle] for handle in handles]
        whole = [base + word for base, word in zip(bases, words, strict=True)]
        given, batch = np.array(handles, dtype=np.int64), Words.of(words)

        def extended() -> Handles:
            answer = self._session.extend(given, batch)
            named = [word_name(self._alphabet, word) for word in whole]
            return checked_extension(answer, batch, named.__getitem__)

        found: list[int] = self._called("extend", whole, extended).tolist()
        if given.tolist() != list(handles) or list(batch) != list(map(list, words)):
            raise self._wrong("extend changed the arrays that it was given: work on copies", whole)
        paths = [found[begin:end] for begin, end in pairwise(batch.offsets)]
        for base, word, path in zip(bases, words, paths, strict=True):
            for length, handle in enumerate(path, start=1):
                self._note(handle, base + word[:length])
        return paths

    def _note(self, handle: int, word: Codes) -> None:
        if handle < 0:
            return
        if not self.shared and handle in self._words:
            name, other = (word_name(self._alphabet, each) for each in (word, self._words[handle]))
            raise self._wrong(
                f"extend returned the handle {handle} for {name}, but it is that of {other}: if "
                "handles are not shared, each belongs to one word until it is released"
            )
        self._words.setdefault(handle, word)

    def read(self, handles: Sequence[int]) -> list[Answer]:
        """Read the answers of handles, of which -1 is undefined."""
        defined = [handle for handle in handles if handle >= 0]
        words = [self._words[handle] for handle in defined]
        answers = iter(self._read(defined, words) if defined else [])
        return [next(answers) if handle >= 0 else None for handle in handles]

    def _read(self, handles: list[int], words: list[Codes]) -> list[Answer]:
        given, width = np.array(handles, dtype=np.int64), len(self._alphabet) + 1
        rows = self._called(
            "read", words, lambda: checked_rows(self._session.read(given), len(handles), width)
        )
        if given.tolist() != handles:
            raise self._wrong("read changed the handles that it was given: work on a copy", words)
        self._check_unchanged()
        self._returned = rows, rows.take(np.arange(len(rows)))
        answers = answers_of(rows)
        for word, answer in zip(words, answers, strict=True):
            wrong = None if answer is None else wrong_with(answer)
            if wrong is not None:
                raise self._wrong(f"the answer to {word_name(self._alphabet, word)} {wrong}")
        return answers

    def _check_unchanged(self) -> None:
        """Refuse rows that change after they were returned."""
        if self._returned is None:
            return
        for name in ("values", "columns", "rest", "ceiling", "undefined"):
            now, then = (getattr(rows, name) for rows in self._returned)
            if now is not None and not np.array_equal(now, then, equal_nan=now.dtype.kind == "f"):
                raise self._wrong("rows changed after read returned them: return a copy each time")

    def excluded(self, handles: Sequence[int]) -> Mask:
        """Return which symbols cannot follow each handle's word, as far as the session knows."""
        words = [self._words[handle] for handle in handles]
        given = np.array(handles, dtype=np.int64)

        def excluded() -> Mask:
            answer = self._session.possible(given)
            return excluded_symbols(answer, len(handles), len(self._alphabet))

        return self._called("possible", words, excluded)

    def release(self, handles: Sequence[int]) -> None:
        """Release handles if they are owned, but never that of the empty word."""
        given = [handle for handle in handles if handle >= 0 and handle != self.start]
        if self.shared or not given:
            return
        words = [self._words.pop(handle) for handle in given]
        self._called("release", words, lambda: self._session.release(np.array(given)))

    def _called(self, method: str, words: list[Codes], call: Callable[[], _Given]) -> _Given:
        """Call a method of the model; name it, and what it was asked, if it fails."""
        try:
            return call()
        except ModelError as error:
            raise self._wrong(str(error), words) from error
        except Exception as error:
            raise self._wrong(f"{method} raised {error_text(error)}", words) from error

    def _wrong(self, what: str, words: Sequence[Codes] = ()) -> ModelError:
        named = ""
        if words:
            others = f" and {len(words) - 1} others" if len(words) > 1 else ""
            named = f" (asked about {word_name(self._alphabet, words[0])}{others})"
        return ModelError(f"{type(self._model).__name__}: {what}{named}")
