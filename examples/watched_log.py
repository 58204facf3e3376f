"""Logs of raw lines to watch: two usual days of a service, and one with odd sessions among them.

``python -m examples.watched_log`` writes monday.log, tuesday.log and today.log: the sessions of a
web service, drawn on the spot, mixed as they come. Among those of today some are odd, as their
names say: ten are stolen, without a login; ten guess passwords; ten met a disk that fails. With
``--sessions FILE`` and ``--odd FILE`` the sessions come from files instead, a session a line, as
the public logs of HDFS, OpenStack and Hadoop are handed on: an identifier, a comma, and the numbers
of its events.
"""

from __future__ import annotations

import argparse
import gzip
import heapq
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from pdfalearn import PDFA, Alphabet

Session = tuple[str, list[str]]
EVENTS = Alphabet(["login", "refused", "page", "search", "save", "error", "logout"])
TEXTS = {
    "login": "login of user {name} from 10.0.{number}.{number}",
    "refused": "wrong password of {name}",
    "page": "GET /page/{number} took {number} ms",
    "search": "search for {name} found {number} documents",
    "save": "saving document {number}",
    "error": "disk error {number}, will try again",
    "logout": "logout of {name}",
}
_AWAY, _TRYING, _INSIDE, _EDITING, _DONE = range(5)


def service(refused: float, error: float) -> PDFA:
    """Return how sessions go if passwords are refused, and if saving fails, so often."""
    moves = {
        _AWAY: {"login": (1 - refused, _INSIDE), "refused": (refused, _TRYING)},
        _TRYING: {"login": (0.9 - refused, _INSIDE), "refused": (refused + 0.1, _TRYING)},
        _INSIDE: {
            "page": (0.5, _INSIDE),
            "search": (0.2, _INSIDE),
            "save": (0.1, _EDITING),
            "logout": (0.2, _DONE),
        },
        _EDITING: {"page": (1 - error, _INSIDE), "error": (error, _EDITING)},
        _DONE: {},
    }
    transitions = [[-1] * len(EVENTS) for _ in moves]
    rows = [[0.0] * (len(EVENTS) + 1) for _ in moves]
    rows[_DONE][0] = 1.0
    for state, ways in moves.items():
        for event, (chance, after) in ways.items():
            transitions[state][EVENTS.index(event)] = after
            rows[state][EVENTS.index(event) + 1] = chance
    return PDFA(alphabet=EVENTS, transitions=transitions, probabilities=rows)


def draw_sessions(count: int, seed: int, refused: float, error: float, name: str) -> list[Session]:
    """Draw sessions of the service, each with a name."""
    words = service(refused, error).sample(count, seed=seed).words
    return [(f"{name}{number:x}", list(map(str, word))) for number, word in enumerate(words, 4096)]


def read_sessions(path: Path, name: str) -> list[Session]:
    """Read sessions of numbered events; letters stand for the digits, which a template masks."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as stream:
        rows = [line.partition(",")[2].split() for line in stream]
    letters = str.maketrans("0123456789", "ghijklmnop")
    return [
        (f"{name}{number:x}", [f"event-{event.translate(letters)}" for event in row])
        for number, row in enumerate(rows, 4096)
    ]


def raw_lines(sessions: Iterable[Session], day: datetime, seed: int) -> Iterator[str]:
    """Mix sessions as they come, a line each event."""
    random, time, events = Random(seed), day, list[tuple[datetime, str, str]]()  # noqa: S311
    for name, session in sessions:
        time += timedelta(seconds=random.expovariate(0.2))
        moment = time
        for event in session:
            moment += timedelta(seconds=min(random.expovariate(0.1), 60.0))
            heapq.heappush(events, (moment, name, event))
    while events:
        moment, name, event = heapq.heappop(events)
        user = random.choice(("ann", "bob", "zoë"))
        text = TEXTS.get(event, event).format(name=user, number=random.randrange(100))
        yield f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond // 1000:03} session={name} {text}\n"


def main() -> None:
    """Write the three logs."""
    parser = argparse.ArgumentParser(description="Write logs of raw lines to watch.")
    parser.add_argument("--sessions", type=Path, help="usual sessions, for three days")
    parser.add_argument("--odd", type=Path, help="odd sessions, a hundred of them for today")
    given = parser.parse_args()
    if given.sessions is None:
        days = [draw_sessions(2_000, seed, 0.05, 0.02, "s") for seed in (11, 12, 13)]
        stolen = draw_sessions(10, 4, 0.0, 0.02, "stolen")
        odd = [(name, session[1:]) for name, session in stolen]
        odd += draw_sessions(10, 5, 0.85, 0.02, "guessed")
        disk = draw_sessions(1_000, 6, 0.05, 0.9, "disk")
        odd += [one for one in disk if "error" in one[1]][:10]
    else:
        usual = read_sessions(given.sessions, "s")
        Random(1).shuffle(usual)  # noqa: S311
        third = len(usual) // 3
        days = [usual[place * third : (place + 1) * third] for place in range(3)]
        odd = [] if given.odd is None else read_sessions(given.odd, "odd")
        odd = Random(1).sample(odd, min(100, len(odd)))  # noqa: S311
    today = days[2] + odd
    Random(2).shuffle(today)  # noqa: S311
    for number, (name, sessions) in enumerate(
        (("monday", days[0]), ("tuesday", days[1]), ("today", today))
    ):
        day = datetime(2026, 11, 16 + number, 8, tzinfo=UTC)
        Path(f"{name}.log").write_text("".join(raw_lines(sessions, day, number)), encoding="utf-8")


if __name__ == "__main__":
    main()
