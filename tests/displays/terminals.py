"""Run a script whose standard output and error are a terminal."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time

_TIME_LIMIT = 60.0


def shown_by(
    script: str, *, interrupt_after: str | None = None, **settings: str
) -> tuple[int, str]:
    """Return a script's exit code and all that its terminal was sent.

    If a text is given to interrupt after, Ctrl-C is pressed when the terminal shows it.
    """
    terminal, end = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "200"} | settings
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdin=end, stdout=end, stderr=end, env=environment
    )
    os.close(end)
    shown, deadline = "", time.monotonic() + _TIME_LIMIT
    try:
        while (text := _read(terminal)) and time.monotonic() < deadline:
            shown += text
            if interrupt_after is not None and interrupt_after in shown:
                process.send_signal(signal.SIGINT)
                interrupt_after = None
        return process.wait(timeout=_TIME_LIMIT), shown
    finally:
        process.kill()
        os.close(terminal)


def _read(terminal: int) -> str:
    try:
        return os.read(terminal, 2**16).decode(errors="replace")
    except OSError:  # the script has ended
        return ""
