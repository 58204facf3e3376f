"""Programs that answer like PDFA and fail on purpose, and what is left of them."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from pdfalearn import PDFA, ProgramModel

FAULTY = Path(__file__).parent / "faulty.py"


class FaultyProgram:
    """The program of a PDFA in a folder, and its log."""

    def __init__(self, pdfa: PDFA, folder: Path, faults: str = "none") -> None:
        self.tables, self.log = folder / "tables.json", folder / f"log {faults}"
        self.pdfa = pdfa
        self.command = [sys.executable, "-I", "-S", *map(str, (FAULTY, self.tables, self.log))]
        self.command.append(faults)
        tables = {
            "symbols": pdfa.alphabet.symbols,
            "transitions": pdfa.transitions.tolist(),
            "probabilities": pdfa.probabilities.tolist(),
        }
        self.tables.write_text(json.dumps(tables), encoding="utf-8")
        self.log.write_text("")

    def model(self, **settings: Any) -> ProgramModel:
        return ProgramModel(self.command, self.pdfa.alphabet, **settings)

    def events(self) -> list[str]:
        """What was noted, without the processes."""
        return [line.split()[0] for line in self.log.read_text().splitlines()]

    def left(self, event: str = "") -> set[int]:
        """All processes that were started, or noted an event, and are still there."""
        lines = [line.split() for line in self.log.read_text().splitlines()]
        pids = {int(pid) for noted, pid in lines if event in noted}
        return {pid for pid in pids if self._is_there(pid)}

    def wait_for(self, event: str) -> None:
        """Wait until something is noted."""
        deadline = time.monotonic() + 60
        while event not in self.events():
            assert time.monotonic() < deadline, self.events()
            time.sleep(0.01)

    def check_end(self) -> None:
        """Check that no process is left, be it as a zombie.

        What the program has started itself may be there until init has seen that it was killed.
        """
        assert not self.left("start")
        self.wait_for_the_end()

    def wait_for_the_end(self) -> None:
        """Wait until none of the processes is left; those that hang would be there for minutes."""
        deadline = time.monotonic() + 10
        while self.left():
            assert time.monotonic() < deadline, self.events()
            time.sleep(0.01)

    def _is_there(self, pid: int) -> bool:
        try:
            stat = Path(f"/proc/{pid}/stat").read_text()
            command = Path(f"/proc/{pid}/cmdline").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return False
        is_zombie = stat.rpartition(")")[2].split()[0] == "Z"
        return is_zombie or str(self.log) in command  # else another process has the number now
