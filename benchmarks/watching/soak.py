"""A million sessions in a file that is rotated, read by a program that is killed again and again.

``python -m benchmarks.watching.soak`` writes lines with garbage among them into a file that is
rotated, while ``pdfalearn monitor --follow --state --output`` reads it, is killed (SIGKILL) every
few seconds and started again. In the end every odd session has to have one alarm, and no other
session any.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.watching.served_log import GAP, THRESHOLD, service, write_lines

_LINES_AT_ONCE = 20_000
_ROTATE_EVERY = 300_000
_KILL_SECONDS = 1.5


def soak(sessions: int, folder: Path, *, kill_seconds: float = _KILL_SECONDS) -> dict[str, int]:
    """Run it, and return what was found."""
    model, log = folder / "model.json", folder / "app.log"
    service().save(model)
    log.touch()
    command = [sys.executable, "-m", "pdfalearn", "monitor", str(model), str(log)]
    command += ["--threshold", str(THRESHOLD), "--idle", str(GAP), "--save-every", "1"]
    command += ["--state", str(folder / "state.npz"), "-o", str(folder / "alarms.jsonl")]
    odd, kills, rotations, written = set[str](), 0, 0, 0
    lines = iter(write_lines(sessions, seed=1, odd=0.002, garbage=0.01))
    reader = _start(command)
    while not (folder / "state.npz").exists():  # what is written before is not its business
        time.sleep(0.1)
    begun = time.monotonic()
    while some := list(islice(lines, _LINES_AT_ONCE)):
        _append(log, some, written)
        written += len(some)
        odd.update(name for name in map(_name, some) if name.startswith("x"))
        if written // _ROTATE_EVERY > rotations:
            rotations += 1
            log.rename(folder / f"app.log.{rotations}")
            log.touch()
        if time.monotonic() - begun > kill_seconds:
            os.kill(reader.pid, signal.SIGKILL)
            reader.wait()
            kills += 1
            reader, begun = _start(command), time.monotonic()
    os.kill(reader.pid, signal.SIGKILL)
    reader.wait()
    command.remove("--follow")
    subprocess.run(command, check=True, capture_output=True)
    alarms = Counter(json.loads(line)["session"] for line in _lines(folder / "alarms.jsonl"))
    return {
        "sessions": sessions,
        "lines": written,
        "rotations": rotations,
        "kills": kills + 1,
        "odd sessions": len(odd),
        "alarms": alarms.total(),
        "lost": len(odd - alarms.keys()),
        "twice": sum(count > 1 for count in alarms.values()),
        "false": len(alarms.keys() - odd),
    }


def _start(command: list[str]) -> subprocess.Popen[bytes]:
    if "--follow" not in command:
        command.append("--follow")
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _append(log: Path, lines: list[str], written: int) -> None:
    """Append lines in two parts, the first of which ends within a line."""
    text = "".join(lines).encode() + (b"\xff\xfe no text\n" if written % 3 == 0 else b"")
    with log.open("ab", buffering=0) as stream:
        cut = len(text) // 2
        stream.write(text[:cut])
        stream.write(text[cut:])


def _name(line: str) -> str:
    return line.partition("req=")[2].partition(" ")[0]


def _lines(path: Path) -> Iterator[str]:
    with path.open() as stream:
        yield from stream


def main(sessions: int = 1_000_000) -> None:
    """Print what was found."""
    with TemporaryDirectory() as name:
        for label, figure in soak(sessions, Path(name)).items():
            print(f"{label}: {figure:,}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
