"""Run with ``python -m benchmarks.replicas``, or with the names of some tables after it.

Needs ``pip install '.[torch]'``.
"""

from __future__ import annotations

import sys

from benchmarks.replicas.simulation import simulate
from benchmarks.replicas.throughput import burning, learning, network, overhead, sleeping

_TABLES = {
    table.__name__: table for table in (sleeping, burning, overhead, network, learning, simulate)
}


def main() -> None:
    """Print the tables that are named, or all."""
    for name in sys.argv[1:] or _TABLES:
        print(f"\n{(_TABLES[name].__doc__ or '').splitlines()[0]}\n", flush=True)
        _TABLES[name]()


if __name__ == "__main__":
    main()
