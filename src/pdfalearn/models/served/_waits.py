"""How long to wait before a request that failed is sent again."""

from __future__ import annotations

import math
import time
from email.utils import parsedate_to_datetime

_FIRST_WAIT, _LONGEST_WAIT = 0.05, 10.0
"""Seconds before a failed request is sent again; they double each time."""
LONG_WAIT = 5.0
"""A wait of this many seconds or more is explained to the user."""


class Waits:
    """The waits of one request.

    Parameters
    ----------
    patience : float
        The seconds from the first fault on during which the request is sent again.

    Examples
    --------
    >>> waits = Waits(patience=60)
    >>> waits.next(), waits.next(), waits.next(least=3), waits.next(least=100)
    (0.05, 0.1, 3, None)
    """

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._deadline = math.inf
        self._wait = _FIRST_WAIT

    def next(self, least: float = 0.0) -> float | None:
        """Return the seconds to wait now, at least this many; None if patience does not last."""
        now = time.monotonic()
        self._deadline = min(self._deadline, now + self._patience)
        wait = max(self._wait, least)
        self._wait = min(2 * self._wait, _LONGEST_WAIT)
        return wait if now + wait < self._deadline else None


def seconds_of(given: str | None) -> float:
    """Read a Retry-After, which is a number of seconds or a date; 0 if it says nothing.

    Examples
    --------
    >>> seconds_of("2.5"), seconds_of("Wed, 21 Oct 2015 07:28:00 GMT"), seconds_of("soon")
    (2.5, 0.0, 0.0)
    """
    if given is None:
        return 0.0
    try:
        seconds = float(given)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(given).timestamp() - time.time()
        except ValueError:
            return 0.0
    return max(0.0, seconds) if math.isfinite(seconds) else 0.0
