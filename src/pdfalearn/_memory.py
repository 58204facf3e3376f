"""Whether the tables of a PDFA fit into memory."""

from __future__ import annotations

import re
from pathlib import Path

from pdfalearn.errors import InputError

ASSUMED_MEMORY = 4 * 2**30
"""The bytes that count as available where the system does not say how many are."""

_COPIES = 3
"""While a PDFA is made and checked, its tables are there about so many times."""


def check_fits(states: int, symbols: int) -> None:
    """Refuse a PDFA of so many states and symbols if there is no room for its tables."""
    tables = states * (8 * (symbols + 1) + 4 * symbols)
    available = available_memory()
    if _COPIES * tables > available:
        raise InputError(
            f"{states:,} states and {symbols:,} symbols need {_gibibytes(tables)} of tables, and "
            f"{_COPIES} times that to make them, but {_gibibytes(available)} of memory are "
            "available; prune the model, or take a machine with more memory"
        )


def available_memory() -> int:
    """Give the bytes of memory that Linux says are available, and a guess elsewhere."""
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:
        return ASSUMED_MEMORY
    match = re.search(r"^MemAvailable: *(\d+) kB$", text, re.MULTILINE)
    return int(match[1]) * 1024 if match else ASSUMED_MEMORY


def _gibibytes(count: int) -> str:
    return f"{count / 2**30:,.3g} GiB"
