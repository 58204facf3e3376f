"""The LLMs and programs that the command line can name."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import pdfalearn
from pdfalearn.cli._output import print_aside
from pdfalearn.errors import FileFormatError, InputError

if TYPE_CHECKING:
    from pdfalearn import LanguageModel

    Vocabulary = dict[str, str | list[int]]
    from collections.abc import Iterable

LOCAL, SERVED, PROGRAM = "hf:", "served:", "command:"
"""What the names of such models begin with."""

_TOKENS = re.compile(r"\s*\[[\s\d,]*\]\s*", re.ASCII)


def is_llm(name: str) -> bool:
    """Return whether a name is that of an LLM."""
    return name.startswith((LOCAL, SERVED))


def is_program(name: str) -> bool:
    """Return whether a name is that of a program."""
    return name.startswith(PROGRAM)


def make_llm(name: str, options: dict[str, Any]) -> LanguageModel:
    """Make a model of ``hf:FOLDER`` or ``served:URL#MODEL`` and the options that were given."""
    if "vocabulary" not in options:
        raise InputError("an LLM needs --vocabulary FILE, which says what its symbols are")
    symbols = _read_vocabulary(options.pop("vocabulary"))
    if "ends" in options:
        options["ends"] = _ends(options["ends"])
    with _warnings_as_notes():
        if name.startswith(LOCAL):
            folder = name.removeprefix(LOCAL)
            if not folder:
                raise InputError(f"{name} is not of the form hf:FOLDER, as in hf:my_llm")
            return pdfalearn.TransformerModel(folder, None, symbols, **options)
        url, _, model = name.removeprefix(SERVED).partition("#")
        if not (url and model):
            # It does not repeat the name, which may hold a secret.
            form = "served:URL#MODEL, as in served:http://127.0.0.1:8000#my-model"
            raise InputError(f"a served model is named {form}")
        return pdfalearn.ServedModel(url, model, symbols, **options)


def _read_vocabulary(path: Path) -> Vocabulary:
    """Read the symbols of an LLM's words with their texts or tokens; empty lines are left out."""
    from pdfalearn.io import WordLines

    read = WordLines.read(path)
    symbols: Vocabulary = {}
    for number, line in enumerate(read.lines, 1):
        if not line:
            continue
        name, tab, text = line.partition("\t")
        if not (name and (text or not tab)):
            raise FileFormatError(
                f"{read.name}, line {number}: a name, a tab, and a text or tokens are needed"
            )
        if name in symbols:
            raise FileFormatError(f"{read.name}, line {number}: the symbol {name!r} is there twice")
        symbols[name] = _text_or_tokens(text) if tab else name
    if not symbols:
        raise FileFormatError(f"{read.name} is empty; write a symbol a line")
    return symbols


def _ends(given: tuple[str, ...]) -> str | list[str | int]:
    if given == ("rest",):
        return "rest"
    if "rest" in given:
        raise InputError("--ends rest are all tokens that no symbol begins with: give no other end")
    read = [_text_or_tokens(end) for end in given]
    return [end for one in read for end in ([one] if isinstance(one, str) else one)]


def _text_or_tokens(text: str) -> str | list[int]:
    """Read tokens, as in [12, 7]; anything else is a text."""
    if not _TOKENS.fullmatch(text):
        return text
    try:
        tokens: list[int] = json.loads(text)
    except ValueError as error:
        raise InputError(f"{text} is not a list of tokens, as in [12, 7]") from error
    return tokens


@contextmanager
def _warnings_as_notes() -> Iterator[None]:
    """Print each warning that is raised while a model is made as a note of one line."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in caught:
        print_aside(f"note: {warning.message}")


def make_program(name: str, symbols: Iterable[str]) -> LanguageModel:
    """Make a model of ``command:`` and a program, which ends if this process is asked to end."""
    model = pdfalearn.ProgramModel(name.removeprefix(PROGRAM), symbols)
    # Programs are in process groups of their own, which no signal to this process reaches.
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, _end_with_programs)
    return model


def _end_with_programs(number: int, _frame: FrameType | None) -> None:
    from pdfalearn.models import end_all

    end_all()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
