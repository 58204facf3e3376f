"""Words, files of words and languages, as they are given on the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

import pdfalearn
from pdfalearn.cli._output import print_aside
from pdfalearn.errors import InputError
from pdfalearn.text import count_text, symbol_text

if TYPE_CHECKING:
    from pdfalearn import Alphabet, Corpus
    from pdfalearn.cli._chosen import Chosen
    from pdfalearn.languages import LanguageLike
    from pdfalearn.watching import LoggedSessions, Watch

STANDARD_INPUT = "-"
# What is said about words that were read, beside how many there are.
NOTED = ("cut", "unknown", "unknown_events", "left_out")
_TAKEN = "pdfalearn.standard_input"


def read_corpus(given: str | Path | tuple[str, ...], **settings: Any) -> Corpus:
    """Make a corpus of a file of words or several, or of the standard input."""
    names = given if isinstance(given, tuple) else (str(given),)
    if STANDARD_INPUT in names:
        _take_standard_input()
    return pdfalearn.Corpus([Path(name) for name in names], **settings)


class Recorded(NamedTuple):
    """Words that were read for an automaton, with the names of their sessions if they have any."""

    corpus: Corpus
    names: list[str] | None = None
    notes: tuple[str, ...] = ()


def read_watch(name: str) -> Watch:
    """Read an automaton with how its log is read, and its thresholds, where its file has them."""
    from pdfalearn.cli._chosen import read_automaton

    if name.lower().endswith((".json", ".json.gz")) and Path(name).exists():
        return pdfalearn.watching.Watch.load(name)
    return pdfalearn.watching.Watch(read_automaton(name))


def read_words(
    watch: Watch, chosen: Chosen, names: tuple[str, ...], *, are_whole: bool = False
) -> Recorded:
    """Read the words of files; raw lines by the templates of the automaton's file.

    Whole ones are only those that were not cut at an edge of the log.
    """
    if watch.reader is None or chosen.format is not None:
        return Recorded(chosen.make_corpus(names))
    if STANDARD_INPUT in names:
        _take_standard_input()
    found = pdfalearn.watching.read_log(map(Path, names), watch.reader)
    words = found.whole_words() if are_whole else found.words
    return Recorded(pdfalearn.Corpus(words), found.names, log_notes(found, are_whole=are_whole))


def note_raw_lines(chosen: Chosen, names: Iterable[str], remedy: str) -> None:
    """Note at once that lines are read as words, where files are named as logs."""
    if chosen.format is None and any(".log" in Path(name).suffixes for name in names):
        print_aside(f"note: a line is read as a word; for raw lines {remedy}")


def log_notes(found: LoggedSessions, *, are_whole: bool) -> tuple[str, ...]:
    """Return what is to be said about a log that was read."""
    first = f"{count_text(found.lines, 'lines')}, {count_text(len(found.words), 'sessions')}"
    at_edges = len(found.words) - len(found.whole_words()) if are_whole else 0
    more = {
        "lines without a session": found.outside,
        "lines without a time": found.undated,
        "lines that are not UTF-8, read with replacements": found.undecodable,
        "sessions left out, as the log may begin or end within them": at_edges,
    }
    return (first, *(f"{text}: {count:,}" for text, count in more.items() if count))


def note_lines(read: dict[str, Any]) -> list[str]:
    """Return what is to be said about words that were read: what was cut, unknown or left out."""
    notes = []
    if read.get("cut"):
        notes.append(f"cut, so that no end is counted: {count_text(read['cut'], 'words')}")
    if read.get("unknown"):
        texts = [f"{symbol_text(event)} ({count:,})" for event, count in read["unknown_events"]]
        notes.append(f"events unknown to the automaton: {read['unknown']:,}: {', '.join(texts)}")
    if read.get("left_out"):
        notes.append(f"left out, as it could not be read: {read['left_out']:,}")
    return notes


def _take_standard_input() -> None:
    """Take the standard input, which a command can read only once."""
    context = click.get_current_context().find_root()
    if context.meta.get(_TAKEN):
        raise click.UsageError("The standard input can be read only once: give - only once.")
    context.meta[_TAKEN] = True
    if sys.stdin is None:
        raise click.UsageError("There is no standard input to read: name a file instead of -.")


def word_of(text: str, alphabet: Alphabet) -> tuple[object, ...]:
    """Return the word of an argument, which is as 'pdfalearn sample' prints it."""
    try:
        return alphabet.decode(pdfalearn.io.WordNotation(alphabet).codes(text))
    except KeyError as error:
        raise InputError(
            f"the word {text!r}: symbol {error.args[0]!r} is not in the alphabet"
        ) from error


def language_of(text: str, form: str, alphabet: Alphabet | None) -> LanguageLike:
    """Return the language that an argument and the option --as describe; of texts without one."""
    if form == "regex":
        language: LanguageLike = regex_or_dfa(text)
        return language
    word, kinds = text if alphabet is None else word_of(text, alphabet), pdfalearn.languages
    makers: dict[str, Callable[[Any], LanguageLike]]
    makers = {"begins": kinds.BeginsWith, "ends": kinds.EndsWith, "contains": kinds.Contains}
    return [word] if form == "word" else makers[form](word)


def regex_or_dfa(text: Any) -> Any:
    """Return the DFA of a file in JSON; any other text is a regular expression, None is none."""
    if not str(text).lower().endswith((".json", ".json.gz")) or not Path(text).is_file():
        return text
    loaded = pdfalearn.load(text)
    if isinstance(loaded, pdfalearn.languages.DFA):
        return loaded
    raise InputError(
        f"{text} does not hold a DFA, which a language or a guide is made of: 'pdfalearn support' "
        "learns one of what a model may say"
    )


def parse_alphabet(text: str) -> list[str]:
    """Return the symbols of --alphabet: characters side by side, or separated by blanks."""
    if " " in text:
        return text.split()
    forms = "symbols are characters side by side, as in ab, or separated by blanks, as in 'yes no'"
    # A comma in the middle is hardly ever a symbol; as one it can be given between blanks.
    if "," in text and all(text.split(",")):
        meant = text.replace(",", " ")
        raise InputError(
            f"--alphabet {text}: {forms}, not by commas: write '{meant}', or, if the comma itself "
            f"is a symbol, '{text.replace(',', ' , ')}'"
        )
    twice = next((symbol for symbol in text if text.count(symbol) > 1), None)
    if twice is not None:
        raise InputError(f"--alphabet {text}: {twice!r} is there twice; {forms}")
    return list(text)
