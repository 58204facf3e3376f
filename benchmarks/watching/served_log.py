"""A log of a service, of any size: raw lines of sessions that are mixed, some of them odd."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from pdfalearn import PDFA
from pdfalearn.watching import LogReader, Watch

LOGIN, PAGE, LOGOUT = ("<*> req=<*> login", "<*> req=<*> page <*>", "<*> req=<*> logout")
GAP = 600.0
"""Seconds of silence that end a session."""
THRESHOLD = 8.0
_BEGIN = 1.79e9
_OPEN = 1000
# So many seconds pass with each line.
_STEP = 0.01


def service() -> Watch:
    """Return an automaton of the usual sessions, and how their lines are read."""
    reader = LogReader((LOGIN, PAGE, LOGOUT), session=r"req=(\w+)", gap=GAP, time_format="epoch")
    pdfa = PDFA(
        alphabet=[LOGIN, PAGE, LOGOUT],
        transitions=[[1, -1, -1], [-1, 1, 2], [-1, -1, -1]],
        probabilities=[[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.6, 0.4], [1.0, 0.0, 0.0, 0.0]],
    )
    return Watch(pdfa, reader)


def write_lines(
    sessions: int, seed: int, *, odd: float = 0.0, garbage: float = 0.0
) -> Iterator[str]:
    """Yield the lines of sessions, of which this share is odd; their names begin with x.

    An odd one has an event of no template, a page after its end, or no end. Names of others come
    again. Behind the last one, time goes on until every session has ended.
    """
    random, time, number = Random(seed), _BEGIN, 0  # noqa: S311
    names, left = [""] * _OPEN, [list[str]() for _ in range(_OPEN)]
    while number < sessions or any(left):
        place = int(random.random() * _OPEN)
        if not left[place]:
            if number == sessions:
                left[place] = []
                if not any(left):
                    break
                continue
            names[place], left[place] = _session(number, random, odd)
            number += 1
        time += _STEP
        yield f"{time:.2f} req={names[place]} {left[place].pop()}\n"
        if random.random() < garbage:
            yield random.choice(("garbage\n", "\x00\x01\n", "\n", "{half of a line\n"))
    for number in range(2**15):
        time += GAP / 2**13
        event = ("login", "logout")[number % 2]
        yield f"{time:.2f} req=tail{number // 2} {event}\n"


def _session(number: int, random: Random, odd: float) -> tuple[str, list[str]]:
    """Return the name of a session and its events, the last one first."""
    pages = 0
    while random.random() < 0.6:
        pages += 1
    events = ["logout", *(f"page {random.randrange(100)}" for _ in range(pages)), "login"]
    if random.random() >= odd:
        return f"s{number % 400_000}", events
    kind = number % 3
    if kind == 0:
        events.insert(1, "panic of the kernel")
    elif kind == 1:
        events.insert(0, "page 7")
    else:
        del events[0]
    return f"x{number}", events
