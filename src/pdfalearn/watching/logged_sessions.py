"""The sessions of logs of raw lines, and the templates of their lines."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from math import inf
from typing import NamedTuple

import numpy as np

from pdfalearn.checks import check_number
from pdfalearn.corpora import list_names
from pdfalearn.errors import InputError
from pdfalearn.extras import import_extra
from pdfalearn.typing import Floats, Integers
from pdfalearn.watching.following import Follower
from pdfalearn.watching.log_lines import MASKS, OTHER_EVENT, WILDCARD, LogReader
from pdfalearn.watching.open_sessions import Clock

LogLike = str | os.PathLike[str] | Iterable[os.PathLike[str]]


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
    undecodable: int
    """How many are not UTF-8; what is wrong in them is replaced."""
    undated: int
    """How many lines of a session have no time, if there is a ``gap``."""
    at_edges: frozenset[int]
    """The numbers of the sessions within which the log may begin or end, if there is a ``gap``."""

    def whole_words(self) -> list[tuple[str, ...]]:
        """Return the words but those at the edges, unless there are no others."""
        whole = [word for number, word in enumerate(self.words) if number not in self.at_edges]
        return whole or self.words


def learn_log(
    source: LogLike,
    *,
    session: str | None = None,
    gap: float | None = None,
    masks: Iterable[str] = MASKS,
    time_format: str | None = None,
    similarity: float = 0.4,
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
    reader = LogReader((), tuple(masks), session, gap, time_format)
    rows = _collect(source, reader, drain.add_log_message)
    found = {" ".join(one.log_template_tokens) for one in drain.clusters} - {OTHER_EVENT}
    reader = replace(reader, templates=tuple(sorted(found)))
    return reader, rows.cut(reader)


def read_log(source: LogLike, reader: LogReader) -> LoggedSessions:
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
    return _collect(source, reader, lambda _: None).cut(reader)


class _Rows(NamedTuple):
    """The lines of a log, as arrays; those without a session have the session -1."""

    names: list[str]
    masked: list[str]
    undecodable: int
    sessions: Integers
    codes: Integers
    """The places of lines among those that are masked."""
    times: Floats

    def cut(self, reader: LogReader) -> LoggedSessions:
        """Put the events of each session together, and cut them where they were silent."""
        events, gap, clock = [reader.find(line) for line in self.masked], reader.gap, Clock()
        undated = int(np.isnan(self.times[self.sessions >= 0]).sum())
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
        outside, edges = len(self.sessions) - len(order), frozenset(at_edges)
        return LoggedSessions(
            names, words, len(self.sessions), outside, self.undecodable, undated, edges
        )


def _collect(source: LogLike, reader: LogReader, note_line: Callable[[str], object]) -> _Rows:
    """Read all lines, and call a function with each masked one that is new."""
    files = list[Follower]()
    names, masked, first = dict[str | None, int](), dict[str, int](), ""
    parts = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
    for lines in _read_blocks(source, files):
        sessions, texts, times = reader.prepare(lines)
        for name, line, text in zip(sessions, lines, texts, strict=True):
            if name is not None and text not in masked:
                first = first if masked else line
                masked[text] = len(masked)
                note_line(text)
        coded = [-1 if one is None else names.setdefault(one, len(names)) for one in sessions]
        codes = [masked.get(text, -1) for text in texts]
        clock = np.zeros(len(lines)) if times is None else times
        parts.append((np.array(coded, np.int64), np.array(codes, np.int64), clock))
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    if not names:
        lines_read = f"{len(columns[0]):,} lines"
        raise InputError(
            f"no line of the log has a session ({lines_read} were read); mend session= (--session)"
        )
    if np.isnan(columns[2][columns[0] >= 0]).all():
        raise InputError(reader.undated_text(first))
    undecodable = sum(file.undecodable for file in files)
    return _Rows([str(name) for name in names], list(masked), undecodable, *columns)


def _read_blocks(source: LogLike, files: list[Follower]) -> Iterator[list[str]]:
    """Yield the lines of files, one after the other, and note the files."""
    for one in [source] if isinstance(source, str | os.PathLike) else source:
        for name in list_names(one):
            files.append(Follower(name))
            yield from files[-1].blocks()
