"""A line to a program and a line back, within bounds on time and length; the rows in it."""

from __future__ import annotations

import json
import math
import os
import time
from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector

import numpy as np

from pdfalearn.models.program.processes import Process
from pdfalearn.row_checks import BadRowError
from pdfalearn.rows import Rows
from pdfalearn.text import described, escaped, shortened

_CHUNK = 2**16
_ONE_LINE = "a program answers each line with one line, and writes all else to its standard error"
_NUMBER = 64
"""No number takes more bytes than this in an answer, with what stands between numbers."""
_BESIDE = 2**16
"""No answer has more bytes than this beside its numbers."""


class FaultError(Exception):
    """A program did not answer as it should; it may if it is started again."""


def excerpt(text: bytes | bytearray) -> str:
    r"""Write the beginning and the end of what a program wrote.

    Examples
    --------
    >>> excerpt(b"Loading the model\n10 %")
    "'Loading the model\\n10 %'"
    """
    ends = text if len(text) <= 400 else text[:200] + b"..." + text[-200:]
    shown = shortened(escaped(ends.decode("utf-8", "replace").strip()), 120)
    return f"'{shown}'"


class Exchange:
    """One line to a program, and the line that answers it.

    Writing and reading go on at once, so that neither side waits for the other for ever.

    Parameters
    ----------
    process : Process
        The program.
    line : bytes
        What to write, with the end of the line.
    most : int
        The most bytes that the answer may have.
    """

    def __init__(self, process: Process, line: bytes, most: int) -> None:
        self._process = process
        self._unwritten = memoryview(line)
        self._came = bytearray()
        self._most = most

    def run(self, seconds: float) -> bytes:
        """Return the answer without the end of its line, or raise a `FaultError`."""
        deadline = time.monotonic() + seconds
        self._refuse_what_is_there()
        with DefaultSelector() as selector:
            selector.register(self._process.output, EVENT_READ)
            selector.register(self._process.input, EVENT_WRITE)
            while True:
                left = deadline - time.monotonic()
                ready = selector.select(left) if left > 0 else []
                if not ready:
                    raise FaultError(self._silence(seconds))
                for key, _ in ready:
                    if key.fileobj is self._process.output:
                        if self._read():
                            return bytes(self._came)
                    elif not self._write():
                        selector.unregister(self._process.input)

    def _refuse_what_is_there(self) -> None:
        """Refuse lines that were written before anything was asked: answers would be shifted."""
        try:
            chunk = os.read(self._process.output.fileno(), _CHUNK)
        except BlockingIOError:
            return
        if not chunk:
            raise FaultError(self._ended())
        raise FaultError(f"it wrote {excerpt(chunk)} without being asked; {_ONE_LINE}")

    def _write(self) -> bool:
        """Write as much as the pipe takes; return whether there is more to write."""
        try:
            count = os.write(self._process.input.fileno(), self._unwritten[:_CHUNK])
        except BlockingIOError:
            return True
        except BrokenPipeError:  # how it ended is told when its output ends
            return False
        self._unwritten = self._unwritten[count:]
        return len(self._unwritten) > 0

    def _read(self) -> bool:
        """Read what is there; return whether the line is complete."""
        try:
            chunk = os.read(self._process.output.fileno(), _CHUNK)
        except BlockingIOError:
            return False
        if not chunk:
            raise FaultError(self._ended())
        line, end, more = chunk.partition(b"\n")
        self._came += line
        if len(self._came) > self._most:
            raise FaultError(
                f"it wrote a line of more than {self._most:,} bytes, {excerpt(self._came)}, which "
                "cannot be the answer"
            )
        if end and (more or self._unwritten):
            when = "more than one line" if more else "a line before it was asked all"
            raise FaultError(f"it wrote {when}, {excerpt(self._came + end + more)}; {_ONE_LINE}")
        return bool(end)

    def _ended(self) -> str:
        how = self._process.exit_text() or "it closed its standard output"
        return f"{how}, in the middle of the line {excerpt(self._came)}" if self._came else how

    def _silence(self, seconds: float) -> str:
        so_far = f"; so far it wrote {excerpt(self._came)}" if self._came else ""
        return (
            f"it did not answer within {seconds:g} s{so_far}. If it has answered, it has to flush "
            "its standard output after each line; if it needs longer, give a larger timeout, or a "
            "smaller batch"
        )


def most_bytes(count: int, width: int) -> int:
    """Return the most bytes that the answer to a number of words may have."""
    return _NUMBER * count * width + _BESIDE


def read_rows(line: bytes, count: int, width: int) -> Rows:
    """Read the answer to a number of words.

    Raises
    ------
    FaultError
        If the line is not an answer at all, which may pass.
    BadRowError
        If one of its rows cannot be a distribution.

    Examples
    --------
    >>> rows = read_rows(b'{"rows": [[0.5, 0.5], null]}', 2, 2)
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
    has_flags = b"true" in line or b"false" in line  # NumPy would take them for numbers
    if has_flags and not all(_is_row(row, width) for row in given):
        raise _bad_row(given, width)
    return _rows(given, width)


def _rows(given: list[object], width: int) -> Rows:
    nothing = [0.0] * width
    try:
        table = np.asarray([nothing if row is None else row for row in given])
    except ValueError:  # rows of different lengths
        table = np.empty(0)
    is_table = table.shape == (len(given), width) and table.dtype.kind in "iuf"
    if not is_table or not np.isfinite(table).all():
        raise _bad_row(given, width)
    values = table.astype(np.float64, copy=False)
    undefined = np.array([row is None for row in given])
    if not undefined.any():
        return Rows(width, values)
    values[undefined] = np.nan
    return Rows(width, values, undefined=undefined)


def _bad_row(given: list[object], width: int) -> BadRowError:
    place = next(place for place, row in enumerate(given) if not _is_row(row, width))
    return BadRowError(
        f"the program wrote {described(given[place])}, but a row is a list of {width} numbers, the "
        "terminal's and then each symbol's, or null where the word is undefined",
        place,
    )


def _is_row(row: object, width: int) -> bool:
    if row is None:
        return True
    return isinstance(row, list) and len(row) == width and all(map(_is_number, row))


def _is_number(value: object) -> bool:
    if isinstance(value, int):
        return not isinstance(value, bool) and abs(value) < 2**63
    return isinstance(value, float) and math.isfinite(value)
