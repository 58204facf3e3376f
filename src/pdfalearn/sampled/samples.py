"""A model that only draws: how it is asked, what is checked, and the file that keeps its draws."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from pdfalearn.alphabet import Alphabet, Symbol, shorten
from pdfalearn.checks import check_integer
from pdfalearn.errors import FileFormatError, InputError, ModelError, StoreError
from pdfalearn.files import lock_file, parse_json, show_name
from pdfalearn.io import check_symbols
from pdfalearn.models import Interrupts
from pdfalearn.results import Sample
from pdfalearn.text import described
from pdfalearn.typing import Flags
from pdfalearn.words import Words

Word = tuple[Symbol, ...]
Codes = tuple[int, ...]

_FORMAT, _VERSION = "pdfalearn samples", 1


class Samples:
    """A model of which nothing is known but samples: an LLM without log-probabilities, a simulator.

    Parameters
    ----------
    draw : callable
        Takes a prefix, a tuple of symbols, and a number; returns that many continuations of the
        prefix, each a word. All draws have to be independent, and need not be repeatable. Where
        some were cut before their end (by a limit of tokens, say), it returns a `Sample`: the
        continuations, and for each whether it was cut.
    alphabet : iterable of hashable, or Alphabet
        The symbols.
    terminal : hashable
        The terminal symbol, unless the alphabet has one already.
    most : int
        The most continuations that are asked for at once. Those of one call are lost together if
        the process is killed meanwhile.

    Examples
    --------
    >>> import random
    >>> def draw(prefix, count):  # after an a comes a b, and the other way round
    ...     following = "ab" if prefix[-1:] == ("b",) else "ba"
    ...     return [list((following * 9)[: random.randrange(4)]) for _ in range(count)]
    >>> Samples(draw, "ab")
    Samples(draw, alphabet=('a', 'b'))
    """

    function: Callable[[Word, int], Sequence[Sequence[Symbol]] | Sample]
    """The function that draws."""
    alphabet: Alphabet
    """The symbols."""

    def __init__(
        self,
        draw: Callable[[Word, int], Sequence[Sequence[Symbol]] | Sample],
        alphabet: Iterable[Symbol] | Alphabet,
        terminal: Symbol = "$",
        *,
        most: int = 1000,
    ) -> None:
        if not callable(draw):
            raise InputError(f"draw is {described(draw)}, not a function of a prefix and a number")
        self.function = draw
        self.alphabet = alphabet if isinstance(alphabet, Alphabet) else Alphabet(alphabet, terminal)
        self.most = check_integer(most, "most", 1)

    def __repr__(self) -> str:
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return f"Samples({name}, alphabet={shorten(self.alphabet.symbols)})"

    def draw(self, prefix: Codes, count: int) -> tuple[Words, Flags]:
        """Draw continuations of a prefix that is given as integers; also tell which were cut.

        Examples
        --------
        >>> words, is_cut = Samples(lambda prefix, count: ["ab"] * count, "ab").draw((0,), 2)
        >>> list(words), is_cut.tolist()
        ([[0, 1], [0, 1]], [False, False])
        """
        word = self.alphabet.decode(prefix)
        called = f"draw({shorten(word)}, {count})"
        given: object = self.function(word, count)
        words, cut = given if isinstance(given, Sample) else (given, None)
        try:
            encoded = self.alphabet.encode_words(words)  # type: ignore[arg-type]
        except InputError as error:
            raise ModelError(f"{called} returned what are not words: {error}") from error
        if len(encoded) != count:
            raise ModelError(f"{called} returned {len(encoded)} continuations, not {count}")
        is_cut = np.zeros(count, dtype=bool) if cut is None else np.asarray(cut)
        if is_cut.dtype != bool or is_cut.shape != (count,):
            raise ModelError(
                f"{called} returned a Sample whose cut is {described(cut)}, not a flag for each "
                "of its words"
            )
        return encoded, is_cut


class Draw(NamedTuple):
    """Continuations of one prefix that were drawn together."""

    prefix: Codes
    words: Words
    is_cut: Flags


class Drawer:
    """Draws for one run, and keeps what was drawn in a file, if there is one.

    Attributes
    ----------
    kept : list of Draw
        What the file had, in the order in which it was drawn.
    """

    def __init__(self, samples: Samples, interrupts: Interrupts, stream: BinaryIO | None) -> None:
        self._samples, self._interrupts, self._stream = samples, interrupts, stream
        self.kept: list[Draw] = []

    @classmethod
    @contextmanager
    def opened(
        cls, samples: object, interrupts: Interrupts, store: str | os.PathLike[str] | None
    ) -> Iterator[Drawer]:
        """Open the file for one run."""
        if not isinstance(samples, Samples):
            raise InputError(f"{described(samples)} is not Samples(draw, alphabet)")
        if store is None:
            yield cls(samples, interrupts, None)
            return
        path = Path(store)
        check_symbols((*samples.alphabet, samples.alphabet.terminal))
        with ExitStack() as stack:
            try:
                lock = path.with_name(f"{path.name}.lock")
                stack.enter_context(lock_file(lock, "another run"))
                stream = stack.enter_context(path.open("a+b"))
                drawer = cls(samples, interrupts, stream)
                drawer.kept = _read_draws(path, stream, samples.alphabet)
            except OSError as error:
                raise StoreError(f"{show_name(str(path))}: {error.strerror or error}") from error
            yield drawer

    def draw(self, prefix: Codes, count: int) -> Iterator[Draw]:
        """Draw continuations, in calls that are not too large; each is kept before it is used."""
        while count:
            here = min(count, self._samples.most)
            self._interrupts.check()
            self._interrupts.is_calling = True
            try:
                drawn = Draw(prefix, *self._samples.draw(prefix, here))
            finally:
                self._interrupts.is_calling = False
            if self._stream is not None:
                # One write: with the system it survives the death of the process.
                self._stream.write(_write_draw(drawn))
                self._stream.flush()
            yield drawn
            count -= here


def _write_draw(drawn: Draw) -> bytes:
    document = {
        "prefix": drawn.prefix,
        "words": list(drawn.words),
        "cut": drawn.is_cut.nonzero()[0].tolist(),
    }
    return json.dumps(document, separators=(",", ":")).encode() + b"\n"


def _read_draws(path: Path, stream: BinaryIO, alphabet: Alphabet) -> list[Draw]:
    """Read what a file has; a last line that a kill has cut off is removed."""
    header = {"symbols": list(alphabet), "terminal": alphabet.terminal}
    first = json.dumps({"format": _FORMAT, "version": _VERSION} | header).encode()
    stream.seek(0)
    *lines, torn = stream.read().split(b"\n")
    name = show_name(str(path))
    if not (first.startswith(torn) if not lines else lines[0] == first):
        raise FileFormatError(
            f"{name} is not a store of samples over the alphabet {shorten(alphabet.symbols)}; "
            "give another name"
        )
    stream.truncate(stream.tell() - len(torn))
    if not lines:
        stream.write(first + b"\n")
        stream.flush()
    return [
        _read_draw(line, f"{name}, line {number},", len(alphabet))
        for number, line in enumerate(lines[1:], 2)
    ]


def _read_draw(line: bytes, name: str, width: int) -> Draw:
    document = parse_json(line, name)
    try:
        words = Words.of(document["words"])
        prefix = tuple(Words.of([document["prefix"]]).symbols.tolist())
        is_cut = np.zeros(len(words), dtype=bool)
        is_cut[np.array(document["cut"], dtype=np.int64)] = True
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise FileFormatError(f"{name} is damaged: {error!r}; remove the line") from error
    for codes in (words.symbols, np.array(prefix, dtype=np.int32)):
        if ((codes < 0) | (codes >= width)).any():
            raise FileFormatError(f"{name} is damaged: it has other symbols; remove the line")
    return Draw(prefix, words, is_cut)
