"""The sessions of logs of raw lines, and the templates of their lines."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np

from pdfalearn.checks import check_number
from pdfalearn.corpora import list_names
from pdfalearn.errors import InputError
from pdfalearn.extras import import_extra
from pdfalearn.text import count_text
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
    return _parse_log(source, LogReader((), tuple(masks), session, gap, time_format), drain)


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
    return _parse_log(source, reader)[1]


def _parse_log(
    source: LogLike, reader: LogReader, drain: Any = None
) -> tuple[LogReader, LoggedSessions]:
    """Read all lines; with Drain, find their templates first."""
    undecodable, first = 0, ""
    names, masked = dict[str | None, int](), dict[str, int]()
    # The session of each line, -1 if it has none, its place among those that are masked, its time.
    parts = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
    sources = [source] if isinstance(source, str | os.PathLike) else source
    for file in (Follower(name) for one in sources for name in list_names(one)):
        for lines in file.blocks():
            sessions, texts, times = reader.prepare(lines)
            for name, line, text in zip(sessions, lines, texts, strict=True):
                if name is not None and text not in masked:
                    first = first if masked else line
                    masked[text] = len(masked)
                    if drain is not None:
                        drain.add_log_message(text)
            coded = [-1 if one is None else names.setdefault(one, len(names)) for one in sessions]
            codes = [masked.get(text, -1) for text in texts]
            clock = np.zeros(len(lines)) if times is None else times
            parts.append((np.array(coded, np.int64), np.array(codes, np.int64), clock))
        undecodable += file.undecodable
    owners, places, times = (np.concatenate(column) for column in zip(*parts, strict=True))
    if not names:
        count = f"{count_text(len(owners), 'lines')} were read" if len(owners) else "it is empty"
        raise InputError(f"no line of the log has a session ({count}); mend session= (--session)")
    if np.isnan(times[owners >= 0]).all():
        raise InputError(reader.undated_text(first))
    if drain is not None:
        templates = {" ".join(one.log_template_tokens) for one in drain.clusters} - {OTHER_EVENT}
        reader = replace(reader, templates=tuple(sorted(templates)))
    found = [reader.find(text) for text in masked]
    known = [str(name) for name in names], owners, [found[one] for one in places.tolist()], times
    return reader, _group_events(*known, reader.gap, undecodable)


def _group_events(
    names: list[str],
    owners: Integers,
    events: list[str],
    times: Floats,
    gap: float | None,
    undecodable: int,
) -> LoggedSessions:
    """Put the events of each session together, and cut them where they were silent."""
    undated, clock = int(np.isnan(times[owners >= 0]).sum()), Clock()
    times, _ = clock.move(times, inf)
    order = np.argsort(owners, kind="stable")
    order = order[np.searchsorted(owners[order], 0) :]
    is_begin = np.diff(owners[order], prepend=-1) != 0
    if gap is not None:
        is_begin |= np.diff(times[order], prepend=0.0) > gap
    sessions = np.split(order, np.flatnonzero(is_begin)[1:])
    sessions.sort(key=lambda lines: int(lines[0]))  # in the order of their first lines
    at_edges = (
        number
        for number, lines in enumerate(sessions if gap is not None else ())
        if times[lines[0]] - times[0] <= gap or clock.now - times[lines[-1]] <= gap
    )
    return LoggedSessions(
        [names[int(owners[lines[0]])] for lines in sessions],
        [tuple([events[line] for line in lines.tolist()]) for lines in sessions],
        len(owners),
        len(owners) - len(order),
        undecodable,
        undated,
        frozenset(at_edges),
    )
