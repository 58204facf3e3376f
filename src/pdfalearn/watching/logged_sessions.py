"""The sessions of logs of raw lines, and the templates of their lines."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np

from pdfalearn.checks import check_number
from pdfalearn.corpora import BadInput, list_sources
from pdfalearn.errors import InputError
from pdfalearn.extras import import_extra
from pdfalearn.typing import Floats, Integers
from pdfalearn.watching.log_lines import MASKS, OTHER_EVENT, WILDCARD, LogReader
from pdfalearn.watching.open_sessions import Clock

_Coded = tuple[list[str | None], list[int], Floats | None]


@dataclass(frozen=True)
class LoggedSessions:
    r"""The sessions of a log, in the order in which they begin.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "app.log")
    ...     _ = path.write_text("user ann in\nuser bob in\nuser ann out\n")
    ...     found = read_log(path, LogReader(("user <*> in",), session="user (.*) "))
    >>> found.names, found.words
    (['ann', 'bob'], [('user <*> in', 'other'), ('user <*> in',)])
    """

    names: list[str]
    words: list[tuple[str, ...]]
    lines: int
    outside: int
    """How many lines have no session."""
    left_out: int
    """How many could not be read."""
    at_edges: frozenset[int]
    """The numbers of the sessions within which the log may begin or end, if there is a ``gap``."""

    def whole_words(self) -> list[tuple[str, ...]]:
        """Return the words but those at the edges, unless there are no others."""
        whole = [word for number, word in enumerate(self.words) if number not in self.at_edges]
        return whole or self.words


def learn_log(
    source: str | os.PathLike[str] | Iterable[os.PathLike[str]],
    *,
    session: str | None = None,
    gap: float | None = None,
    masks: Iterable[str] = MASKS,
    time_format: str | None = None,
    similarity: float = 0.4,
    skip_bad: bool = False,
) -> tuple[LogReader, LoggedSessions]:
    r"""Find the templates of a log's lines by Drain, and read its sessions by them.

    Parameters
    ----------
    source : path, or iterable of paths
        Files of raw lines, plain or compressed; a pattern of names; or "-".
    session, gap, masks, time_format
        As in `LogReader`.
    similarity : float
        The share of words that lines of a template have in common.
    skip_bad : bool
        Whether to leave out lines that are not UTF-8.

    Raises
    ------
    MissingExtraError
        Without the package drain3: ``pip install 'pdfalearn[logs]'``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "app.log")
    ...     _ = path.write_text("user ann in at 9:30\nuser bob in at 10:15\n")
    ...     reader, found = learn_log(path, session="user (.*) in")
    >>> reader.templates, found.names
    (('user <*> in at <*>',), ['ann', 'bob'])
    """
    drain = import_extra("drain3.drain", "templates of lines").Drain(
        sim_th=check_number(similarity, "similarity", 0, 1), param_str=WILDCARD, max_children=100
    )
    first = LogReader((), tuple(masks), session, gap, time_format)
    numbers: dict[str, int] = {}

    def number_lines(lines: Sequence[str]) -> _Coded:
        sessions, masked, times = first.prepare(lines)
        for line, name in zip(masked, sessions, strict=True):
            if name is not None and line not in numbers:
                numbers[line] = len(numbers)
                drain.add_log_message(line)
        return sessions, [numbers.get(line, -1) for line in masked], times

    rows = _collect(_read_blocks(source, skip_bad), number_lines)
    found = {" ".join(one.log_template_tokens) for one in drain.clusters} - {OTHER_EVENT}
    reader = LogReader(tuple(sorted(found)), first.masks, session, gap, time_format)
    return reader, rows.cut([reader.find(line) for line in numbers], gap)


def read_log(
    source: str | os.PathLike[str] | Iterable[os.PathLike[str]],
    reader: LogReader,
    *,
    skip_bad: bool = False,
) -> LoggedSessions:
    r"""Read the sessions of a log by templates that are known.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "app.log")
    ...     _ = path.write_text("user ann in\nuser bob in\n")
    ...     read_log(path, LogReader(("user <*> in",), session="user (.*) ")).names
    ['ann', 'bob']
    """
    events = [*reader.templates, OTHER_EVENT]
    codes = {event: code for code, event in enumerate(events)}

    def code_lines(lines: Sequence[str]) -> _Coded:
        sessions, found, times = reader.parse(lines)
        return sessions, [codes[event] for event in found], times

    return _collect(_read_blocks(source, skip_bad), code_lines).cut(events, reader.gap)


class _Rows(NamedTuple):
    """The lines of a log, as arrays; those without a session have the session -1."""

    names: list[str]
    sessions: Integers
    codes: Integers
    times: Floats
    left_out: int

    def cut(self, events: Sequence[str], gap: float | None) -> LoggedSessions:
        """Put the events of each session together, and cut them where they were silent."""
        clock = Clock()
        times, _ = clock.move(self.times, inf)
        order = np.argsort(self.sessions, kind="stable")
        order = order[np.searchsorted(self.sessions[order], 0) :]
        sessions, codes = self.sessions[order], self.codes[order]
        is_begin = np.diff(sessions, prepend=-1) != 0
        if gap is not None:
            is_begin |= np.diff(times[order], prepend=0.0) > gap
        begins = np.flatnonzero(is_begin)
        ends = np.append(begins[1:], len(order))
        names, words, at_edges = list[str](), list[tuple[str, ...]](), set[int]()
        for place in np.argsort(order[begins]).tolist():  # in the order of their first lines
            if gap is not None:
                first, last = times[order[[begins[place], ends[place] - 1]]]
                if first - times[0] <= gap or clock.now - last <= gap:
                    at_edges.add(len(words))
            part = codes[begins[place] : ends[place]].tolist()
            words.append(tuple([events[code] for code in part]))
            names.append(self.names[int(sessions[begins[place]])])
        lines = len(self.sessions)
        outside = lines - len(order)
        return LoggedSessions(names, words, lines, outside, self.left_out, frozenset(at_edges))


def _collect(
    blocks: Iterator[tuple[list[str], BadInput]], read: Callable[[Sequence[str]], _Coded]
) -> _Rows:
    numbers: dict[str | None, int] = {}
    parts = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
    bad_inputs: dict[int, BadInput] = {}
    for lines, bad in blocks:
        bad_inputs[id(bad)] = bad
        sessions, codes, times = read(lines)
        coded = [-1 if one is None else numbers.setdefault(one, len(numbers)) for one in sessions]
        clock = np.zeros(len(lines)) if times is None else times
        parts.append((np.array(coded, np.int64), np.array(codes, np.int64), clock))
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    left_out = sum(bad.count for bad in bad_inputs.values())
    if not (columns[0] >= 0).any():
        lines_read = f"{len(columns[0]):,} lines"
        raise InputError(
            f"no line of the log has a session ({lines_read} were read); mend session= (--session)"
        )
    names = [str(name) for name in numbers]
    return _Rows(names, columns[0], columns[1], columns[2], left_out)


def _read_blocks(
    source: str | os.PathLike[str] | Iterable[os.PathLike[str]], skip_bad: bool
) -> Iterator[tuple[list[str], BadInput]]:
    given = [source] if isinstance(source, str | os.PathLike) else source
    for one in given:
        for file in list_sources(one):
            bad = BadInput(file, skip_bad)
            for _, text in file.blocks(bad):
                yield text.removesuffix("\n").split("\n"), bad
