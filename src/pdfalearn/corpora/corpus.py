"""Recorded words as a value: from files of many formats, or from memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from os.path import isfile  # which is False of what cannot be a name
from typing import Any, NamedTuple, TypeGuard, Union

import numpy as np

from pdfalearn.alphabet import Alphabet, Symbol, Word
from pdfalearn.corpora.event_logs import Frame, read_csv, read_frame, read_json, read_xes
from pdfalearn.corpora.prefix_trees import PrefixTree
from pdfalearn.corpora.readers import (
    Columns,
    ListedPart,
    Part,
    Reader,
    read_lines,
    read_pautomac,
)
from pdfalearn.corpora.sources import BadInput, Source, list_sources
from pdfalearn.corpora.symbol_codes import Coder, Others, RecordedWords, alphabet_of
from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.frozen import Frozen
from pdfalearn.text import are_characters, described, is_iterable, shorten
from pdfalearn.words import NO_WORDS, Words, offsets_of

CorpusLike = Union[
    "Corpus", str, os.PathLike[str], Iterable[os.PathLike[str]], Iterable[Word], Frame
]

_DEFAULTS = Columns()
_OF_LINES = ("lines", "characters", "tokens")
_READERS: dict[str, Reader] = {
    **dict.fromkeys(_OF_LINES, read_lines),
    "pautomac": read_pautomac,
    "spice": read_pautomac,
    "jsonl": read_json,
    "csv": read_csv,
    "xes": read_xes,
}
FORMATS = tuple(_READERS)
# What a file is by the ending of its name; of all other files, each line is a word.
_ENDINGS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "csv",
    ".xes": "xes",
    ".train": "pautomac",
    ".test": "pautomac",
}
_SHOWN = 60


class Corpus(Frozen):
    """Recorded words: of files, of the standard input, of a list, or of a frame of pandas.

    Files are not kept in memory: they are read anew each time. Two corpora are equal if they were
    made of the same names of files, or of the same words, with the same options.

    Parameters
    ----------
    source : path, iterable of paths, iterable of words, or pandas.DataFrame
        A string or a path is the name of a file, a pattern of such names (``"logs/*.gz"``), or "-"
        for the standard input, which is read once. In a list, paths are ``pathlib.Path``; strings
        are words of characters. Other words are lists or tuples of symbols.
    format : str, optional
        "lines", "characters" and "tokens" (a word a line), "pautomac" and "spice", "jsonl", "csv",
        or "xes". By default the ending of the name decides, before ``.gz`` or ``.zst``.
    alphabet : Alphabet or iterable of symbols, optional
        By default the symbols of the corpus, sorted.
    case, event, time : str
        The columns of a CSV file or a frame; also the attributes of XES, and the fields of JSON
        objects that are an event each, or, as ``event``, have a list of them. The defaults are
        those of pm4py, or of JSON "session", "event" and "time". Events of a case are sorted by
        time if there is such a column.
    skip_bad : bool
        Whether to leave out what cannot be read, and count it in `left_out`.

    Raises
    ------
    InputError
        If there is no word. `FileFormatError`, with the file and the line, if something cannot be
        read; most of it is found only when the words are read.

    Notes
    -----
    Of "lines", symbols are characters side by side if no line has a blank, else they stand between
    blanks; "characters" and "tokens" say which. An empty line is the empty word. A word that
    ``pdfalearn sample`` marks as cut has not ended: `score` and `refit` leave out its end.

    Examples
    --------
    >>> corpus = Corpus(["ab", "abba"])
    >>> corpus.alphabet.symbols, len(corpus), list(corpus)
    (('a', 'b'), 2, [('a', 'b'), ('a', 'b', 'b', 'a')])
    >>> corpus.encode().symbols.tolist()
    [0, 1, 0, 1, 1, 0]
    """

    def __init__(
        self,
        source: CorpusLike,
        *,
        format: str | None = None,  # noqa: A002
        alphabet: Alphabet | Iterable[Symbol] | None = None,
        case: str = _DEFAULTS.case,
        event: str = _DEFAULTS.event,
        time: str | None = _DEFAULTS.time,
        skip_bad: bool = False,
    ) -> None:
        if format is not None and format not in _READERS:
            raise InputError(f"format {format!r} is not one of {', '.join(_READERS)}")
        if alphabet is not None and not isinstance(alphabet, Alphabet):
            alphabet = Alphabet(alphabet)
        columns = Columns(case, event, time)
        unit, left_out = "word", 0
        if isinstance(source, Frame):
            unit = "case"
            source, left_out = read_frame(source, columns, skip_bad=skip_bad)
        sources, words = _split_source(source, unit)
        given = _Given(sources, words, format, alphabet, columns, bool(skip_bad), left_out)
        _fill(self, given)
        self._check_not_empty()

    _given: _Given
    _left_out: dict[Source, int]
    _kept: dict[Source, list[Part]]

    def __reduce__(self) -> tuple[object, ...]:
        return _fill, (None, self._given)

    def __eq__(self, other: object) -> bool:
        return self._given == other._given if isinstance(other, Corpus) else NotImplemented

    def __hash__(self) -> int:
        return hash((self._given.sources, self._given.format, self._given.columns))

    def __repr__(self) -> str:
        given = self._given
        if given.words is None:
            names = [one.name for one in given.sources]
            what = repr(names[0]) if len(names) == 1 else shorten(repr(names), _SHOWN)
        else:
            what = shorten(repr(list(given.words.words[:_SHOWN])), _SHOWN)
        options: dict[str, object] = {"format": given.format, "alphabet": given.alphabet}
        options["skip_bad"] = given.skip_bad or None
        for key, value in given.columns._asdict().items():
            options[key] = None if value == getattr(_DEFAULTS, key) else value
        texts = [f", {key}={value!r}" for key, value in options.items() if value is not None]
        return f"Corpus({what}{''.join(texts)})"

    @property
    def name(self) -> str:
        """What the words are, as it stands in certificates."""
        given = self._given
        if given.words is not None:
            return f"words of a corpus of {len(given.words)}"
        first, count = given.sources[0].title, len(given.sources)
        return f"words of the corpus {first}" + (f" and {count - 1} more" if count > 1 else "")

    @property
    def left_out(self) -> int:
        """How many lines, cases or events could not be read and were left out so far."""
        return self._given.left_out + sum(self._left_out.values())

    def split(self, count: int) -> list[Corpus]:
        """Split it into about this many corpora: into its files, and plain texts into parts.

        A corpus in memory, or of one file that is compressed or not a text of lines, stays whole.
        """
        given = self._given
        if given.words is not None:
            return [self]
        whole = given._replace(has_blanks=self._has_blanks)
        sizes = [source.size for source in given.sources]
        parts = []
        for source, size in zip(given.sources, sizes, strict=True):
            pieces = round(count * size / max(1, sum(sizes)))
            is_divisible = self._format_of(source) in _OF_LINES and source.is_plain
            parts += source.split(pieces if is_divisible else 1)
        return [_fill(None, whole._replace(sources=(part,))) for part in parts]

    @cached_property
    def alphabet(self) -> Alphabet:
        """The symbols: those that were given, or else those of the words, sorted."""
        if self._given.alphabet is not None:
            return self._given.alphabet
        are_joined, symbols = self._is_joined(None), set[Symbol]()
        for part in self._parts():
            symbols |= part.find_symbols(are_joined=are_joined)
        if not symbols:
            raise InputError(f"the {self.name} have no symbols: give an alphabet")
        return alphabet_of(symbols)

    def encode(self, alphabet: Alphabet | None = None) -> Words:
        """Return all words over an alphabet, by default its own."""
        return self.encode_with_cuts(alphabet).words

    def encode_with_cuts(
        self, alphabet: Alphabet | None = None, others: Others | None = None
    ) -> RecordedWords:
        """Return all words as `read` does: also which of them were cut and have not ended."""
        parts = [RecordedWords(NO_WORDS, np.zeros(0, dtype=bool)), *self.read(alphabet, others)]
        symbols = np.concatenate([part.words.symbols for part in parts])
        lengths = np.concatenate([part.words.lengths for part in parts])
        return RecordedWords(
            Words(symbols, offsets_of(lengths)), np.concatenate([part.is_cut for part in parts])
        )

    def batches(self, alphabet: Alphabet | None = None) -> Iterator[Words]:
        """Read the words over an alphabet, by default its own, a batch at a time."""
        return (part.words for part in self.read(alphabet))

    def read(
        self, alphabet: Alphabet | None = None, others: Others | None = None
    ) -> Iterator[RecordedWords]:
        """Read the words as `batches` does, with which of them were cut.

        With `Others`, events that the alphabet does not have are counted there, and their code is
        its size; without it they are an error.
        """
        alphabet = self.alphabet if alphabet is None else alphabet
        if self._given.words is not None:
            alphabet.list_words(self._given.words.words)  # no strings unless of characters
        coder = Coder(alphabet, are_joined=self._is_joined(alphabet), others=others)
        return (part.encode(coder) for part in self._parts())

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[tuple[Symbol, ...]]:
        alphabet = self.alphabet
        for words in self.batches():
            yield from alphabet.decode_words(words)

    @cached_property
    def _length(self) -> int:
        return sum(map(len, self._parts()))

    def _parts(self) -> Iterator[Part]:
        given = self._given
        if given.words is not None:
            yield given.words
        for source in given.sources:
            bad = BadInput(source, given.skip_bad)
            if source in self._kept:
                yield from self._kept[source]
                continue
            form, has_words = self._format_of(source), False
            parts: Iterable[Part] = _READERS[form](source, bad, given.columns)
            if form == "csv":  # which is in memory anyway, as its cases are mixed
                parts = self._kept[source] = list(parts)
                self._left_out[source] = bad.count
            try:
                for part in parts:
                    has_words = has_words or len(part) > 0
                    yield part
            except FileFormatError as error:
                if not (given.skip_bad and has_words):
                    raise
                bad.cut(error)
            self._left_out[source] = max(bad.count, self._left_out.get(source, 0))

    def _check_not_empty(self) -> None:
        """Refuse a corpus without words; a file is read no further than its first words.

        Of a table only the header is read, as all its cases may begin anywhere.
        """
        given = self._given
        if given.sources and all(self._format_of(source) == "csv" for source in given.sources):
            for source in given.sources:
                next(read_csv(source, BadInput(source, given.skip_bad), given.columns))
        elif not any(map(len, self._parts())):
            raise InputError(f"there are no {self.name}: a corpus needs a word at least")

    def _is_joined(self, alphabet: Alphabet | None) -> bool:
        """Return whether symbols stand side by side in lines, over an alphabet or unknown ones."""
        given = self._given
        if given.format in ("characters", "tokens"):
            return given.format == "characters"
        if alphabet is not None and not are_characters(alphabet):
            return False
        return (alphabet is not None and " " in alphabet) or not self._has_blanks

    @cached_property
    def _has_blanks(self) -> bool:
        if self._given.has_blanks is not None:
            return self._given.has_blanks
        given = self._given
        texts = [source for source in given.sources if self._format_of(source) in _OF_LINES]
        return any(
            part.has_blanks()
            for source in texts
            for part in read_lines(source, BadInput(source, given.skip_bad), given.columns)
        )

    def _format_of(self, source: Source) -> str:
        name, form = source.plain_name, self._given.format
        return form or next((kind for end, kind in _ENDINGS.items() if name.endswith(end)), "lines")


class _Given(NamedTuple):
    """What a corpus was made of."""

    sources: tuple[Source, ...]
    words: ListedPart | None
    format: str | None
    alphabet: Alphabet | None
    columns: Columns
    skip_bad: bool
    # How many rows of a frame were.
    left_out: int = 0
    # Whether a line has a blank, where that is known of a corpus of which this is a part.
    has_blanks: bool | None = None


def _fill(corpus: Corpus | None, given: _Given) -> Corpus:
    """Fill a corpus, or a new one, which is not read."""
    made = Corpus.__new__(Corpus) if corpus is None else corpus
    made.__dict__.update(_given=given, _left_out={}, _kept={})
    return made


def as_corpus(words: CorpusLike) -> Corpus:
    """Return a corpus, or the one that is made of words or files."""
    return words if isinstance(words, Corpus) else Corpus(words)


def is_corpus(thing: object) -> TypeGuard[CorpusLike]:
    """Return whether a thing is words; a name of a file might as well be an automaton's."""
    return isinstance(thing, Corpus | list | tuple) or hasattr(thing, "itertuples")


def join_corpora(a: Corpus, b: Corpus) -> Corpus:
    """Return the words of both; files stay files if they are read in the same way."""
    given, other = a._given, b._given
    alphabet = None
    if given.alphabet is not None and other.alphabet is not None:
        alphabet = alphabet_of({*given.alphabet, *other.alphabet})
    if given[2:3] + given[4:] == other[2:3] + other[4:] and not (given.words or other.words):
        sources = (*given.sources, *other.sources)
        return _fill(None, given._replace(sources=sources, alphabet=alphabet))
    return Corpus([*a, *b], alphabet=alphabet)


def count_prefixes(
    words: CorpusLike, alphabet: Alphabet | Iterable[Symbol] | None = None
) -> tuple[Alphabet, PrefixTree]:
    """Return the alphabet of words, if none is given, and the tree of their prefixes."""
    corpus = words if isinstance(words, Corpus) else Corpus(words, alphabet=alphabet)
    symbols = corpus.alphabet if alphabet is None else alphabet
    symbols = symbols if isinstance(symbols, Alphabet) else Alphabet(symbols)
    recorded = corpus.encode_with_cuts(symbols)
    return symbols, PrefixTree.of(recorded.words, len(symbols), recorded.is_cut)


def _split_source(source: CorpusLike, unit: str) -> tuple[tuple[Source, ...], ListedPart | None]:
    """Return the files of a corpus, or its words."""
    if isinstance(source, Corpus):
        raise InputError("this is a corpus already; give a path or words")
    if isinstance(source, str | os.PathLike):
        return tuple(list_sources(source)), None
    if not is_iterable(source) or isinstance(source, bytes | dict):
        raise InputError(f"a corpus is a path, words or a frame, not {described(source)}")
    items: tuple[Any, ...] = tuple(source)
    if items and all(isinstance(one, os.PathLike) for one in items):
        return tuple(file for one in items for file in list_sources(one)), None
    if items and all(map(_names_file, items)):
        raise InputError(
            f"these are names of files, as {shorten(items[0], _SHOWN)}, and strings of a list are "
            "words: Corpus([Path(name) for name in names]) reads the files"
        )
    return (), _list_words(items, unit)


def _names_file(item: object) -> bool:
    """Return whether a string has the form of a file's name, and there is such a file."""
    return isinstance(item, str) and not {".", "/", "\\"}.isdisjoint(item) and isfile(item)  # noqa: PTH113


def _list_words(given: Iterable[Word], unit: str) -> ListedPart:
    """Check words of a list."""
    arrays = (tuple(word.tolist()) if isinstance(word, np.ndarray) else word for word in given)
    words = tuple(tuple(word) if isinstance(word, list) else word for word in arrays)
    for number, word in enumerate(words, 1):
        if not isinstance(word, Sequence) or isinstance(word, bytes):
            raise InputError(
                f"{unit} {number} of a corpus is {described(word)}, not a sequence of symbols"
            )
    return ListedPart("the corpus", unit, range(1, len(words) + 1), words)
