"""Run the command line in a process of its own whose standard error is a terminal."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

TIME_LIMIT = 60.0


class Program:
    """A running program, and what it has written to its terminal so far."""

    def __init__(self, *arguments: object, folder: Path, **settings: str) -> None:
        self._terminal, end = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pdfalearn", *map(str, arguments)],
            cwd=folder,
            env=os.environ | settings,
            stdout=subprocess.PIPE,
            stderr=end,
            encoding="utf-8",
        )
        os.close(end)
        self.shown = ""

    def wait_for(self, text: str) -> None:
        """Read the terminal until a text is there."""
        self.wait_for_pattern(re.escape(text))

    def wait_for_pattern(self, pattern: str) -> None:
        """Read the terminal until a regular expression is found there."""
        deadline = time.monotonic() + TIME_LIMIT
        while not re.search(pattern, self.shown):
            assert time.monotonic() < deadline, self.shown
            assert self._read(), self.shown

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        self.process.send_signal(signal.SIGINT)

    def hang_up(self) -> None:
        """Close the terminal."""
        os.close(self._terminal)

    def finish(self) -> tuple[int, str]:
        """Wait for the end; return the exit code and the standard output."""
        output, _ = self.process.communicate(timeout=TIME_LIMIT)
        return self.process.returncode, output

    def finish_reading(self) -> tuple[int, str]:
        """Do what `finish` does, and read all that the terminal shows."""
        while self._read():
            pass
        self.hang_up()
        return self.finish()

    def _read(self) -> bool:
        try:
            text = os.read(self._terminal, 2**16).decode(errors="replace")
        except OSError:  # the program has closed its end
            return False
        self.shown += text
        return bool(text)
