"""Languages over text as automata over the bytes of UTF-8."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from pdfalearn.alphabet import Alphabet
from pdfalearn.checks import check_tables_fit
from pdfalearn.errors import InputError
from pdfalearn.languages.dfa import DFA
from pdfalearn.languages.kinds import HasLength, LanguageLike, Not, language_dfa
from pdfalearn.languages.labelled import LabelledDFA, label_languages
from pdfalearn.languages.regex import named_characters
from pdfalearn.text import described
from pdfalearn.typing import Codes, Integers

_ASCII = frozenset(map(chr, range(128)))
_BYTES = 256
# How bytes begin and go on in UTF-8: the bytes that may come first, and then second, for each
# length, as ranges of first bytes with the bounds of the second one. What is too long, or would be
# half of a pair of UTF-16, is not in it.
_SEQUENCES = [
    (0xC2, 0xDF, 0x80, 0xBF, 2),
    (0xE0, 0xE0, 0xA0, 0xBF, 3),
    (0xE1, 0xEC, 0x80, 0xBF, 3),
    (0xED, 0xED, 0x80, 0x9F, 3),
    (0xEE, 0xEF, 0x80, 0xBF, 3),
    (0xF0, 0xF0, 0x90, 0xBF, 4),
    (0xF1, 0xF3, 0x80, 0xBF, 4),
    (0xF4, 0xF4, 0x80, 0x8F, 4),
]
_FLAGS = re.compile(r"\(\?([aiLmsux]+)\)")


def label_texts(
    languages: Sequence[LanguageLike],
    *,
    by_beginning: bool = False,
    is_lasting: bool = False,
    stops: Sequence[bytes] = (),
) -> LabelledDFA:
    r"""Return the automaton over 256 bytes of several languages of texts.

    Every character that no language names is treated like any other of these, so that the
    whole of Unicode is one more column. Bytes that are not UTF-8 match nothing, but may stand where
    it is settled already that a text counts.

    Parameters
    ----------
    languages : sequence of str, DFA, Language, or iterable of str
        Regular expressions, automata over characters, or texts.
    by_beginning, is_lasting : bool
        As for `label_languages`.
    stops : sequence of bytes
        A text ends before the first of these that is complete in it, whatever stands behind.

    Examples
    --------
    >>> dfa = label_texts([r"(?i)[^a-z]+", "né.*"])
    >>> state = dfa.initial
    >>> for byte in "né日".encode():
    ...     state = dfa.table[state, byte]
    >>> dfa.members[dfa.labels[state]].tolist()
    [False, True]
    """
    named = _ASCII.union(*map(_characters_in, languages))
    other = next(c for c in map(chr, range(0xE000, 0x110000)) if c not in named)
    alphabet = Alphabet([*sorted(named), other], terminal="end")
    dfas = [language_dfa(language, alphabet) for language in languages]
    labelled = label_languages(dfas, by_beginning=by_beginning, is_lasting=is_lasting)
    spelt = _spell_bytes(labelled, alphabet)
    return _end_at_stops(spelt, stops) if stops else spelt


def cut_at_stop(text: bytes, stops: Sequence[bytes]) -> tuple[bytes, bool]:
    r"""Return a text up to the first stop that is complete in it, and whether there is one.

    Of several that are complete at once, the longest is cut off.

    Examples
    --------
    >>> cut_at_stop(b"yes.\n\nQ: ", [b"\n", b".\n", b"Q:"])
    (b'yes', True)
    """
    ends = [text.find(stop) + len(stop) for stop in stops if stop in text]
    if not ends:
        return text, False
    text = text[: min(ends)]
    return text[: -max(len(stop) for stop in stops if text.endswith(stop))], True


def _end_at_stops(dfa: LabelledDFA, stops: Sequence[bytes]) -> LabelledDFA:
    """Return the automaton of texts that end before a stop.

    Its states are pairs: the longest end of what was read that begins a stop, and the state of the
    languages before it. Behind a stop a label holds whatever comes.
    """
    begun = sorted({stop[:size] for stop in stops for size in range(len(stop))})
    numbers = {text: number for number, text in enumerate(begun)}
    size, kinds = len(dfa.table), len(dfa.members)
    check_tables_fit(
        8 * size * len(begun) * _BYTES,
        f"the {size:,} states of the languages and {len(begun):,} beginnings of stops",
        "use simpler expressions, or shorter stops",
    )

    def follow(text: bytes) -> Integers:
        states = np.arange(size)
        for byte in text:
            states = dfa.table[states, byte]
        return states

    table = np.empty((len(begun), size, _BYTES), dtype=np.int64)
    labels = np.empty((len(begun), size), dtype=np.int64)
    sinks, clear = len(begun) * size, numbers[b""] * size
    for text, number in numbers.items():
        states = follow(text)
        labels[number] = dfa.labels[states]
        table[number] = clear + dfa.table[states]
        for byte in set(b"".join(stops)):
            read = text + bytes([byte])
            kept, is_over = cut_at_stop(read, stops)
            if is_over:
                table[number, :, byte] = sinks + dfa.labels[follow(kept)]
                continue
            pending = next(read[at:] for at in range(len(read) + 1) if read[at:] in numbers)
            before = follow(read[: len(read) - len(pending)])
            table[number, :, byte] = numbers[pending] * size + before
    ends = np.repeat(sinks + np.arange(kinds)[:, None], _BYTES, axis=1)
    flat = np.concatenate([table.reshape(-1, _BYTES), ends])
    reached, new = _reachable(flat, clear + dfa.initial)
    all_labels = np.append(labels.ravel(), np.arange(kinds))[reached]
    return LabelledDFA(
        new[flat[reached]].astype(np.int32), all_labels, dfa.members, 0, dfa.is_lasting
    ).collapse()


def containing(pattern: str) -> str:
    """Return the expression of texts that begin with anything up to a match.

    Examples
    --------
    >>> containing("(?i)ocean")
    '(?s:.)*(?i:ocean)'
    """
    flags = _FLAGS.match(pattern)
    rest = pattern[flags.end() :] if flags else pattern
    return f"(?s:.)*(?{flags[1] if flags else ''}:{rest})"


def _characters_in(language: LanguageLike) -> frozenset[str]:
    """Return the characters that a language names, which it may tell from all others."""
    if isinstance(language, str):
        return named_characters(language)
    if isinstance(language, DFA):
        symbols: Iterable[object] = language.alphabet
    elif isinstance(language, Not):
        return _characters_in(language.language)
    elif isinstance(language, HasLength):
        return frozenset()
    elif hasattr(language, "word"):
        symbols = language.word
    elif isinstance(language, Iterable) and not isinstance(language, type | Mapping):
        symbols = [c for text in language for c in text]
    else:
        raise InputError(
            f"{described(language)} is not a language of texts; give a regular expression, texts, "
            "or a DFA over characters"
        )
    characters = set[str]()
    for one in symbols:
        if not isinstance(one, str) or len(one) != 1:
            raise InputError(
                f"the language {described(language)} has the symbol {one!r}, and texts are made of "
                "single characters"
            )
        characters.add(one)
    return frozenset(characters)


def _spell_bytes(dfa: LabelledDFA, alphabet: Alphabet) -> LabelledDFA:
    """Return the automaton over bytes of one over characters, whose last column is all others.

    Its states are those of the other, each as often as a character may be begun.
    """
    dfa = dfa.label_sure()[0].collapse()
    _, sure = dfa.label_sure()
    rows = _decoding_rows(dfa.table, alphabet)
    size, begun = len(dfa.table), len(rows)
    check_tables_fit(
        4 * size * begun * _BYTES,
        f"the {size:,} states of the languages and {begun:,} beginnings of characters",
        "use simpler expressions",
    )
    # Entries of a row: a column of characters, -1 for what is not UTF-8, or ~n for the row n.
    # Where a language is sure whatever follows, it stays so; the first states are those of labels.
    table = np.repeat(np.tile(sure, (begun, 1))[:, :, None], _BYTES, axis=2)
    for number, row in enumerate(rows):
        ends = row >= 0
        table[number][:, ends] = dfa.table[:, row[ends]]
        goes_on = row < -1
        table[number][:, goes_on] = (~row[goes_on]) * size + np.arange(size)[:, None]
    # What is settled stays so, whatever the bytes.
    sinks = dfa.decided >= 0
    table[:, sinks] = sinks.nonzero()[0][None, :, None]
    labels = np.concatenate([dfa.labels, np.tile(sure, begun - 1)])
    labels[(np.arange(begun)[:, None] * size + sinks.nonzero()[0]).ravel()] = np.tile(
        dfa.labels[sinks], begun
    )
    flat = table.reshape(begun * size, _BYTES)
    reached, numbers = _reachable(flat, dfa.initial)
    spelt = LabelledDFA(
        numbers[flat[reached]].astype(np.int32), labels[reached], dfa.members, 0, dfa.is_lasting
    )
    return spelt.collapse()


def _decoding_rows(table: Codes, alphabet: Alphabet) -> list[Integers]:
    """Return where each byte leads from the beginnings of characters; the empty one is row 0."""
    # Columns that lead to the same states from everywhere need not be told apart.
    first, same = np.unique(table, axis=1, return_index=True, return_inverse=True)[1:]
    column_of = dict(zip(alphabet.symbols, first[same.ravel()].tolist(), strict=True))
    other = int(first[same.ravel()][-1])
    rows: list[Integers] = [np.full(_BYTES, -1)]
    known: dict[bytes, int] = {}
    for character, column in column_of.items():
        if ord(str(character)) < 128:
            rows[0][ord(str(character))] = column
    paths: dict[bytes, dict[bytes, int]] = {}
    for character, column in column_of.items():
        code = ord(str(character))
        if code >= 128 and column != other and not 0xD800 <= code < 0xE000:
            spelled = str(character).encode()
            paths.setdefault(spelled[:1], {})[spelled[1:]] = column

    def number(row: Integers) -> int:
        """Return the number of a row, which is added if it is new."""
        key = row.tobytes()
        if key not in known:
            known[key] = len(rows)
            rows.append(row)
        return known[key]

    def follow(low: int, high: int, left: int, special: Mapping[bytes, int]) -> int:
        """Return the row of what may follow: a byte within bounds, and others behind it."""
        row = np.full(_BYTES, -1)
        inner: dict[int, dict[bytes, int]] = {}
        for path, column in special.items():
            inner.setdefault(path[0], {})[path[1:]] = column
        usual = other if left == 1 else ~follow(0x80, 0xBF, left - 1, {})
        row[low : high + 1] = usual
        for byte, paths_after in inner.items():
            row[byte] = (
                paths_after[b""] if left == 1 else ~follow(0x80, 0xBF, left - 1, paths_after)
            )
        return number(row)

    for begin, end, low, high, length in _SEQUENCES:
        for byte in range(begin, end + 1):
            special = paths.get(bytes([byte]), {})
            rows[0][byte] = ~follow(low, high, length - 1, special)
    return rows


def _reachable(table: Integers, initial: int) -> tuple[Integers, Integers]:
    """Return the states that are reached, the initial one first, and the number of each state."""
    numbers = np.full(len(table), -1)
    numbers[initial] = 0
    parts, waiting, size = [np.array([initial])], np.array([initial]), 1
    while len(waiting):
        after = np.unique(table[waiting])
        waiting = after[numbers[after] < 0]
        numbers[waiting] = size + np.arange(len(waiting))
        size += len(waiting)
        parts.append(waiting)
    return np.concatenate(parts), numbers
