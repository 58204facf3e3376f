"""How many events and lines a second a monitor takes, and how much memory open sessions need.

``python -m benchmarks.watching.speed`` prints seconds of processor time: a million events of a
thousand open sessions in batches of several sizes and one at a time; the memory of a million open
sessions, and how long they take to save; a file of raw lines, read by ``pdfalearn monitor``.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.support import print_header, print_row
from benchmarks.watching.served_log import THRESHOLD, service, write_lines
from pdfalearn import Monitor
from pdfalearn.datasets import random_pdfa
from pdfalearn.typing import Floats

_EVENTS, _OPEN = 10**6, 1_000
_SYMBOLS, _STATES = 30, 100


def time_batches() -> None:
    """Print events a second for each size of batches."""
    pdfa = random_pdfa(_STATES, _SYMBOLS, seed=1)
    random = np.random.default_rng(1)
    names = [f"session-{number}" for number in random.integers(0, _OPEN, _EVENTS)]
    columns = random.integers(0, 10 * _SYMBOLS, _EVENTS)
    symbols = [*pdfa.alphabet.symbols]
    events = [symbols[one % _SYMBOLS] if one else pdfa.terminal for one in columns.tolist()]
    times: Floats = np.arange(_EVENTS) / 1000.0
    print_header(["events in a batch", "events taken", "events a second", "µs for each"])
    for size, count in (
        (100_000, _EVENTS),
        (10_000, _EVENTS),
        (1000, _EVENTS),
        (100, 50_000),
        (1, 5_000),
    ):
        monitor = Monitor(pdfa, {"largest": 12.0}, events=symbols[:1], idle=3600.0)
        monitor.observe_many(names[:_OPEN], events[:_OPEN], times[:_OPEN])
        begin = time.process_time()
        for place in range(0, count, size):
            part = slice(place, place + size)
            monitor.observe_many(names[part], events[part], times[part])
        seconds = time.process_time() - begin
        print_row([size, count, f"{count / seconds:,.0f}", f"{1e6 * seconds / count:.2f}"])


def measure_memory() -> None:
    """Print the memory of a million open sessions."""
    pdfa = random_pdfa(_STATES, _SYMBOLS, seed=1)
    symbol = pdfa.alphabet.symbols[0]
    before = _resident()
    monitor = Monitor(pdfa, {"largest": 12.0}, idle=3600.0)
    for begin in range(0, 2_000_000, 100_000):
        names = [f"session-{number}" for number in range(begin, begin + 100_000)]
        monitor.observe_many(names, [symbol] * len(names), [begin / 1e6] * len(names))
        if begin == 900_000:
            print(f"\n{len(monitor):,} open sessions: {(_resident() - before) / 2**20:,.0f} MiB")
    grown = (_resident() - before) / 2**20
    print(f"after 2,000,000 sessions: {len(monitor):,} open, {grown:,.0f} MiB")
    with TemporaryDirectory() as folder:
        path, started = Path(folder, "state.npz"), time.process_time()
        monitor.save(path)
        saved = time.process_time()
        Monitor(pdfa, idle=3600.0).restore(path)
        restored = time.process_time() - saved
        seconds = f"{saved - started:.1f} s to save, {restored:.1f} s to restore"
        print(f"a file of {path.stat().st_size / 2**20:,.0f} MiB, {seconds}")


def _resident() -> int:
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * resource.getpagesize()


def time_a_file(sessions: int = 250_000) -> None:
    """Print lines a second of the command, start included, of a whole file and a growing one."""
    lines = list(write_lines(sessions, seed=1, odd=0.001))
    with TemporaryDirectory() as name:
        model, log = Path(name, "model.json"), Path(name, "app.log")
        service().save(model)
        command = [sys.executable, "-m", "pdfalearn", "monitor", str(model), str(log)]
        command += ["--threshold", str(THRESHOLD)]
        log.write_text("".join(lines))
        _print_speed("whole", lines, partial(subprocess.run, command, capture_output=True))
        log.write_text("")
        _print_speed("followed", lines, partial(_follow, [*command, "--follow"], log, lines))


def _follow(command: list[str], log: Path, lines: list[str]) -> None:
    """Write a log while it is followed; stop when the last line has raised its alarm."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        with log.open("a") as stream:
            for begin in range(0, len(lines), 20_000):
                stream.writelines(lines[begin : begin + 20_000])
                stream.flush()
            stream.write(f"{lines[-1].split()[0]} req=last panic of the kernel\n")
        for alarm in process.stdout or ():
            if b'"last"' in alarm:
                process.terminate()


def _print_speed(what: str, lines: list[str], run: Callable[[], object]) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    size = sum(map(len, lines)) / len(lines)
    speed = f"{len(lines) / seconds:,.0f} lines a second"
    print(f"{what}: {len(lines):,} raw lines of {size:.0f} bytes: {speed}")


def main() -> None:
    """Print all figures."""
    time_batches()
    measure_memory()
    time_a_file()


if __name__ == "__main__":
    main()
