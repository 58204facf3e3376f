"""Whether tables fit into memory."""

from __future__ import annotations

import re
from pathlib import Path

from pdfalearn.errors import InputError

ASSUMED_MEMORY = 4 * 2**30
"""The bytes that count as available where the system does not say how many are."""

_COPIES = 3
"""While tables are made and checked, memory holds about this many copies of them."""


def check_fits(states: int, symbols: int) -> None:
    """Refuse a PDFA of this many states and symbols if its tables do not fit into memory."""
    check_tables_fit(
        states * (8 * (symbols + 1) + 4 * symbols),
        f"{states:,} states and {symbols:,} symbols",
        "prune the model, or take a machine with more memory",
    )


def check_tables_fit(size: int, what: str, remedy: str) -> None:
    """Refuse tables of this many bytes if they do not fit into memory."""
    available = available_memory()
    if _COPIES * size > available:
        raise InputError(
            f"{what} need {_gibibytes(size)} of tables, and {_COPIES} times that to make them, but "
            f"{_gibibytes(available)} of memory are available; {remedy}"
        )


def available_memory() -> int:
    """Return the bytes of memory that Linux says are available, and a guess elsewhere."""
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:
        return ASSUMED_MEMORY
    match = re.search(r"^MemAvailable: *(\d+) kB$", text, re.MULTILINE)
    return int(match[1]) * 1024 if match else ASSUMED_MEMORY


def _gibibytes(count: int) -> str:
    return f"{count / 2**30:,.3g} GiB"
