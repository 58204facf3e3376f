"""Logs of raw lines: which event a line is, by templates, and which session it belongs to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, lru_cache, partial
from math import inf, nan
from typing import Any, NamedTuple

import numpy as np

from pdfalearn.checks import check_number
from pdfalearn.errors import InputError
from pdfalearn.text import shorten
from pdfalearn.typing import Floats

WILDCARD = "<*>"
OTHER_EVENT = "other"
"""The event of a line that no template fits."""
MASKS = (
    # Numbers, hexadecimal ones too, and several of them as in dates and addresses. It begins with
    # plain characters, as the search for these is fast; what stands before comes second.
    r"[0-9A-Fa-f](?:(?<![0-9A-Za-z].)[A-Fa-f]*\d|(?<=\d))[0-9A-Fa-f]*"
    r"(?:[.:,-]?[0-9A-Fa-f]*\d[0-9A-Fa-f]*)*",
    # Names of months and days.
    r"[FJMASONDTW](?<!\w.)(?:an|eb|ar|pr|ay|un|ul|ug|ep|ct|ov|ec|on|ue|ed|hu|ri|at)\b",
)
"""What is replaced by ``<*>`` if nobody says otherwise."""
ONE_SESSION = "log"
"""The session of every line if none has an identifier."""

# At most this many masked lines are kept with their templates: most lines come again.
_MOST_KEPT = 2**17
# Times as most logs have them, and seconds.
_ISO = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,6})?(?:Z|[+-]\d\d:?\d\d)?"
_EPOCH = r"\b\d{9,10}(?:\.\d+)?\b"
_DIRECTIVES = {
    **dict.fromkeys("ymHMS", r"\d\d"),
    "d": r"[ \d]?\d",  # as in "Nov  8"
    "Y": r"\d{4}",
    "f": r"\d{1,6}",
    "b": "[A-Za-z]{3}",
    "j": r"\d{3}",
    "z": r"(?:Z|[+-]\d\d:?\d\d)",
    "%": "%",
}


class ParsedLines(NamedTuple):
    """What lines are; a line without a session belongs to None."""

    sessions: list[str | None]
    events: list[str]
    times: Floats | None


@dataclass(frozen=True)
class LogReader:
    """How the lines of a log are read: templates, masks and sessions.

    Parameters
    ----------
    templates : tuple of str
        The events: lines with ``<*>`` for each word that differs. A line that none of them fits is
        the event "other". Where several fit, words that are the same count from the left.
    masks : tuple of str
        Regular expressions; what they match is replaced by ``<*>`` first.
    session : str, optional
        A regular expression: its first group, or all of it, is the session's identifier. A line
        without it belongs to no session.
    gap : float, optional
        After this many seconds of silence a session has ended. Without an identifier all lines are
        of one session at a time.
    time_format : str, optional
        How times are written, as in ``"%d/%b/%Y:%H:%M:%S"``, or "epoch" for seconds; by default as
        in ISO 8601. Without a zone it is UTC, and without a year this one.

    Examples
    --------
    >>> reader = LogReader(("user <*> in", "user <*> out"), session="user (.*) ")
    >>> reader.parse(["user ann in", "user bob out", "disk full"])[:2]
    (['ann', 'bob', None], ['user <*> in', 'user <*> out', 'other'])
    """

    templates: tuple[str, ...]
    masks: tuple[str, ...] = MASKS
    session: str | None = None
    gap: float | None = None
    time_format: str | None = None

    def __post_init__(self) -> None:
        if self.gap is not None:
            check_number(self.gap, "gap", 0, inf)
        elif self.session is None:
            raise InputError(
                "what is a session of the log? Give session= (--session), a regular expression of "
                "its identifier, or gap= (--gap), the seconds of silence that end it"
            )
        # What is wrong is said at once.
        _ = self._patterns, self._times, self._tree

    def parse(self, lines: Sequence[str]) -> ParsedLines:
        """Return the session, the event and, if they are needed, the time of each line."""
        sessions, masked, times = self.prepare(lines)
        known = self._known
        events = [known.get(line) or self.find(line) for line in masked]
        return ParsedLines(sessions, events, times)

    def undated_text(self, line: str) -> str:
        """Return what is to be said if no line has a time, with one of them."""
        form = "in ISO 8601" if self.time_format is None else f"as {self.time_format!r} says"
        return (
            f"sessions end by silence, and no line has a time {form}, as {shorten(repr(line), 80)} "
            "shows: distill with their time_format= (--time-format)"
        )

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str] | None, list[re.Pattern[str]]]:
        session = None if self.session is None else _compile(self.session, "session")
        return session, [_compile(mask, "mask") for mask in self.masks]

    @cached_property
    def _times(self) -> tuple[re.Pattern[str], Any]:
        form = self.time_format
        if form is None:
            return re.compile(_ISO), read_time
        if form == "epoch":
            return re.compile(_EPOCH), float
        parts = re.split("%(.)", form)
        try:
            texts = [_DIRECTIVES[one] if i % 2 else re.escape(one) for i, one in enumerate(parts)]
        except KeyError as error:
            known = " ".join(f"%{one}" for one in _DIRECTIVES)
            message = f"time_format {form!r}: %{error.args[0]} is not one of {known}"
            raise InputError(message) from error
        return re.compile("".join(texts)), partial(read_time, form=form)

    @cached_property
    def _known(self) -> dict[str, str]:
        """The templates of masked lines that came lately."""
        return {}

    @cached_property
    def _tree(self) -> dict[Any, Any]:
        """The templates by their number of words, then word by word; the leaf is the template."""
        tree: dict[Any, Any] = {}
        for template in self.templates:
            words = template.split()
            node = tree.setdefault(len(words), {})
            for word in words:
                node = node.setdefault(word, {})
            node[None] = template
        return tree

    def prepare(self, lines: Sequence[str]) -> tuple[list[str | None], list[str], Floats | None]:
        """Return the sessions of lines, the lines with masks, and their times."""
        pattern, masks = self._patterns
        times = None if self.gap is None else self._find_times(lines)
        sessions: list[str | None] = [ONE_SESSION] * len(lines)
        texts = list(lines)
        if pattern is not None:
            group = min(1, pattern.groups)
            for number, match in enumerate(map(pattern.search, lines)):
                begin, end = match.span(group) if match else (-1, -1)
                if begin < 0:
                    sessions[number] = None
                    continue
                line = lines[number]
                sessions[number] = line[begin:end]
                texts[number] = f"{line[:begin]}{WILDCARD}{line[end:]}"
        for mask in masks:
            # All lines at once, which is much faster, unless the mask reaches over their ends.
            text = mask.sub(WILDCARD, "\n".join(("", *texts, "")))
            if text.count("\n") == len(texts) + 1:
                texts = text.split("\n")[1:-1]
            else:
                texts = [mask.sub(WILDCARD, line) for line in texts]
        return sessions, texts, times

    def _find_times(self, lines: Sequence[str]) -> Floats:
        pattern, read = self._times
        found = map(pattern.search, lines)
        return np.array([read(match[0]) if match else nan for match in found], dtype=np.float64)

    def find(self, masked: str) -> str:
        """Return the template of a masked line, and keep it for the next one."""
        words = masked.split()
        node = self._tree.get(len(words))
        found = (None if node is None else _walk(node, words)) or OTHER_EVENT
        if len(self._known) >= _MOST_KEPT:
            self._known.clear()
        self._known[masked] = found
        return found


def _walk(node: dict[Any, Any], words: list[str]) -> str | None:
    """Return the template that fits words; what is the same comes first."""
    waiting = [(node, 0)]
    while waiting:
        node, place = waiting.pop()
        if place == len(words):
            template: str = node[None]
            return template
        # The last one is looked at first.
        keys = dict.fromkeys((WILDCARD, words[place]))
        waiting += [(node[key], place + 1) for key in keys if key in node]
    return None


def _compile(text: str, what: str) -> re.Pattern[str]:
    try:
        return re.compile(text, re.MULTILINE)
    except re.error as error:
        shown = shorten(repr(text), 80)
        raise InputError(f"the {what} {shown} is not a regular expression: {error}") from error


@lru_cache(4096)
def read_time(text: str, form: str | None = None) -> float:
    """Return the seconds of a time, as in ISO 8601 or of a form; NaN if it only looks like one."""
    if form is not None and "%y" not in form.lower():  # as syslog writes it
        text, form = f"{datetime.now(UTC).year} {text}", f"%Y {form}"
    try:
        moment = datetime.fromisoformat(text) if form is None else datetime.strptime(text, form)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return nan
