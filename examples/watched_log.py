"""Anomalies in a log: an automaton learnt from a service's usual sessions watches new ones.

Sessions of a web service are drawn on the spot. An automaton is fitted to the usual ones, and a
`Monitor` follows others, event by event: usual sessions stay within a few standard deviations;
those of a program that guesses passwords, or of a disk that fails now and then, do not. Run with
``python -m examples.watched_log``.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from pdfalearn import PDFA, Alphabet, Monitor, refit

EVENTS = Alphabet(["login", "refused", "page", "search", "save", "error", "logout"])
_AWAY, _TRYING, _INSIDE, _EDITING = range(4)


def service(refused: float, error: float) -> PDFA:
    """Return how sessions go if passwords are refused, and if saving fails, so often."""
    moves = {
        _AWAY: {"login": (0.9 - refused, _INSIDE), "refused": (refused, _TRYING), "": (0.1, _AWAY)},
        _TRYING: {
            "login": (0.9 - refused, _INSIDE),
            "refused": (refused, _TRYING),
            "": (0.1, _AWAY),
        },
        _INSIDE: {
            "page": (0.5, _INSIDE),
            "search": (0.2, _INSIDE),
            "save": (0.2, _EDITING),
            "logout": (0.1, _AWAY),
        },
        _EDITING: {"page": (1 - error, _INSIDE), "error": (error, _INSIDE)},
    }
    transitions = [[-1] * len(EVENTS) for _ in moves]
    rows = [[0.0] * (len(EVENTS) + 1) for _ in moves]
    for state, ways in moves.items():
        for event, (chance, after) in ways.items():
            if not event:
                rows[state][0] = chance
                continue
            transitions[state][EVENTS.index(event)] = after
            rows[state][EVENTS.index(event) + 1] = chance
    return PDFA(alphabet=EVENTS, transitions=transitions, probabilities=rows)


def after_last_event() -> PDFA:
    """Return an automaton that knows the last event only, and finds all next ones as likely."""
    size = len(EVENTS) + 1
    onwards = np.tile(np.arange(1, size), (size, 1))
    return PDFA(alphabet=EVENTS, transitions=onwards, probabilities=np.full((size, size), 1 / size))


def learnt() -> PDFA:
    """Fit the automaton to 2,000 usual sessions."""
    return refit(after_last_event(), service(0.05, 0.02).sample(2_000, seed=1).words)


def watched(usual: PDFA, sessions: list[tuple[Hashable, ...]]) -> Monitor:
    """Follow sessions, one after the other."""
    monitor = Monitor(usual)
    for session in sessions:
        for event in (*session, usual.terminal):
            monitor.observe(event)
    return monitor


def main() -> None:
    """Print how far three logs are from what is usual."""
    usual = learnt()
    logs = {
        "usual": service(0.05, 0.02),
        "guessed passwords": service(0.4, 0.02),
        "failing disk": service(0.05, 0.2),
    }
    for name, source in logs.items():
        monitor = watched(usual, source.sample(100, seed=7).words)
        print(f"| {name} | {monitor.observed} | {monitor.deviation:.1f} |")


if __name__ == "__main__":
    main()
