"""A program in any language, asked over pipes, as a language model of whole words."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from pdfalearn.alphabet import Alphabet, Symbol, shorten
from pdfalearn.checks import check_integer, check_number
from pdfalearn.errors import InputError
from pdfalearn.models._processes import FaultError, Program, excerpt
from pdfalearn.models.batch import Batch
from pdfalearn.models.opened import BadAnswerError
from pdfalearn.models.protocol import EVERY_WORD, LanguageModel, QueryCost, attach_answers
from pdfalearn.row_checks import BadRowError
from pdfalearn.rows import Rows
from pdfalearn.text import described
from pdfalearn.typing import Integers
from pdfalearn.words import Words

_DAY = 86400.0
_NUMBER = 64  # no number takes more bytes than this in an answer, with what stands around it
_BESIDE = 2**16  # no answer has more bytes than this beside its numbers
_MOST_NUMBERS = 2**20  # an answer has at most this many numbers, so that its length is bounded


class ProgramModel(LanguageModel):
    """A program that reads words and writes distributions, as a language model.

    It gets a line of JSON for each batch, ``{"words": [["a", "b"], []]}``, and answers with one
    line, ``{"rows": [[0.5, 0.2, 0.3], [0.1, 0.4, 0.5]]}``: for each word the probability of the
    terminal, then those of the symbols in the order of the alphabet; null for a word that is
    undefined. It is started when it is first asked, without a shell, in the current folder, and
    kept running until `close`, or until the model is forgotten or Python ends. Its standard input
    then ends, and the program should, too; else it is terminated.

    Parameters
    ----------
    command : str, or sequence of str
        The program and its arguments. A text is split as a shell would split it.
    alphabet : iterable of str, or Alphabet
        The symbols, which have to be texts.
    terminal : hashable
        The terminal symbol, unless the alphabet has one already.
    fingerprint : str, optional
        A name for all that decides the program's answers; a store needs one to keep them.
    cost : QueryCost
        What asking costs; if not given, every word as much, whatever its length.
    timeout : float
        The seconds that the program may take for a batch, its start included.
    tries : int
        How often a batch is asked before the program is given up on. A program that ends, takes too
        long, or answers anything but a row for each word is started again.
    batch : int
        The most words in a line. There are fewer where the alphabet is large.

    Examples
    --------
    >>> half = '''while read line; do echo '{"rows": [[0.5, 0.5]]}'; done'''
    >>> with ProgramModel(["sh", "-c", half], "a") as model:
    ...     model.answer(Batch.of([[0, 0]])).to_dense()
    array([[0.5, 0.5]])
    """

    def __init__(
        self,
        command: str | Sequence[str],
        alphabet: Iterable[str] | Alphabet,
        terminal: Symbol = "$",
        *,
        fingerprint: str | None = None,
        cost: QueryCost = EVERY_WORD,
        timeout: float = 120.0,
        tries: int = 3,
        batch: int = 1024,
    ) -> None:
        timeout = check_number(timeout, "timeout", 0.001, _DAY)
        tries = check_integer(tries, "tries", 1)
        batch = check_integer(batch, "batch", 1)
        if not isinstance(alphabet, Alphabet):
            alphabet = Alphabet(alphabet, terminal)
        _check_texts(alphabet)
        self.alphabet = alphabet
        self.fingerprint = fingerprint
        self.cost = cost
        self._width = len(alphabet) + 1
        self._batch = min(batch, max(1, _MOST_NUMBERS // self._width))
        self._program = Program(parse_command(command), timeout, tries)

    def __repr__(self) -> str:
        return f"ProgramModel({list(self._program.command)!r}, {self.alphabet!r})"

    def __enter__(self) -> ProgramModel:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the program; it is started again if it is asked again."""
        self._program.close()

    def answer(self, batch: Batch) -> Rows:
        """Ask the program for what may follow words, in lines of at most ``batch`` words.

        Where it fails, the rows of the lines before are attached to the error.
        """
        rows = [Rows.dense(np.empty((0, self._width)))]
        words, done = batch.words, 0
        try:
            while done < len(words):
                part = words.part(done, min(done + self._batch, len(words)))
                rows.append(self._ask(part, batch.wanted_ids[done:]))
                done += len(part)
        except BaseException as error:
            attach_answers(error, batch.wanted_ids[:done], Rows.join(rows))
            raise
        return Rows.join(rows)

    def _ask(self, words: Words, ids: Integers) -> Rows:
        texts = {"words": self.alphabet.decode_words(words)}
        line = json.dumps(texts, ensure_ascii=False).encode() + b"\n"
        count, width = len(words), self._width
        most = _NUMBER * count * width + _BESIDE
        try:
            return self._program.ask(line, most, lambda answer: parse_rows(answer, count, width))
        except BadRowError as error:
            (codes,) = words.part(error.place, error.place + 1)
            word = shorten(self.alphabet.decode(codes))
            raise BadAnswerError(word, str(error), int(ids[error.place])) from error


def _check_texts(alphabet: Alphabet) -> None:
    """Refuse symbols that cannot be written as JSON texts in UTF-8."""
    for symbol in alphabet.symbols:
        if not isinstance(symbol, str):
            raise InputError(
                f"the symbol {described(symbol)} is not a text, and a program gets symbols as "
                "texts; make texts of them, as with map(str, symbols)"
            )
        try:
            symbol.encode()
        except UnicodeEncodeError as error:
            raise InputError(
                f"the symbol {symbol!r} cannot be written in UTF-8 ({error.reason}); name it "
                "otherwise"
            ) from error


def parse_rows(line: bytes, count: int, width: int) -> Rows:
    """Read the answer to a number of words.

    Raises
    ------
    FaultError
        If the line is not an answer at all, which may pass.
    BadRowError
        If one of its rows cannot be a distribution.

    Examples
    --------
    >>> rows = parse_rows(b'{"rows": [[0.5, 0.5], null]}', 2, 2)
    >>> rows.undefined.tolist()
    [False, True]
    """
    try:
        body = json.loads(line.decode())
    except (ValueError, RecursionError):
        body = None
    given = body.get("rows") if isinstance(body, dict) else None
    if not isinstance(given, list):
        raise FaultError(
            f'it answered {excerpt(line)}, which is not of the form {{"rows": [[0.5, …], …]}}; '
            "only answers may be written to the standard output, all else to the standard error"
        )
    if len(given) != count:
        raise FaultError(f"it answered {count} words with {len(given)} rows; each word needs one")
    try:
        table = np.asarray([[0.0] * width if row is None else row for row in given])
    except ValueError:  # rows of different lengths
        table = np.empty((0, 0))
    is_table = table.shape == (count, width) and table.dtype.kind in "iuf"
    has_flags = b"true" in line or b"false" in line  # NumPy would take them for numbers
    if has_flags or not is_table or not np.isfinite(table).all():
        for place, row in enumerate(given):
            if not _is_row(row, width):
                raise BadRowError(
                    f"the program wrote {described(row)}, but a row is a list of {width} numbers, "
                    "the terminal's and then each symbol's, or null where the word is undefined",
                    place,
                )
    values = table.astype(np.float64, copy=False)
    undefined = np.array([row is None for row in given])
    if not undefined.any():
        return Rows(width, values)
    values[undefined] = np.nan
    return Rows(width, values, undefined=undefined)


def _is_row(row: object, width: int) -> bool:
    if not isinstance(row, list) or len(row) != width or not set(map(type, row)) <= {int, float}:
        return row is None
    numbers = np.asarray(row)  # of objects, if an integer is too large
    return numbers.dtype.kind in "iuf" and bool(np.isfinite(numbers).all())


def parse_command(given: str | Sequence[str]) -> tuple[str, ...]:
    """Return a program and its arguments, or say that there is no such program.

    Examples
    --------
    >>> parse_command("sh -c 'echo $0'")
    ('sh', '-c', 'echo $0')
    """
    if not hasattr(os, "waitid"):
        raise InputError("programs as models need Linux, or another system with POSIX's waitid")
    command = _split_command(given)
    if shutil.which(command[0]) is None:
        raise InputError(_missing(command[0]))
    return command


def _split_command(given: object) -> tuple[str, ...]:
    if isinstance(given, str):
        try:
            parts = tuple(shlex.split(given))
        except ValueError as error:
            raise InputError(f"the command {described(given)} is not one ({error})") from error
    elif isinstance(given, Sequence) and all(isinstance(part, str) for part in given):
        parts = tuple(given)
    else:
        parts = ()
    if not parts or not parts[0] or "\0" in "".join(parts):
        raise InputError(
            f"the command is {described(given)}; give a program and its arguments, as in "
            "'./model --fast' or ['./model', '--fast']"
        )
    return parts


def _missing(name: str) -> str:
    path = Path(name)
    if path.is_dir():
        return f"the program {described(name)} is a folder; name the file of a program"
    if not path.is_file():
        return f"there is no program {described(name)}; give its path, such as ./model"
    if os.sep not in name:
        return f"the program {described(name)} is not installed; call the file here ./{name}"
    return (
        f"the file {described(name)} is not executable; chmod +x it, or name its interpreter, as "
        f"in 'python3 {path.name}'"
    )
