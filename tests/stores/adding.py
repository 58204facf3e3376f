"""A process of its own that adds to a store; run as a program, it is that process."""

from __future__ import annotations

import subprocess
import sys
from itertools import islice
from pathlib import Path
from types import TracebackType

from pdfalearn.stores import AnswerStore
from tests.stores.given import ALPHABET, arrays_of, endless_batches

ROOT = Path(__file__).parents[2]


class Adding:
    """A process that adds small batches and says after each how many are stored.

    Parameters
    ----------
    path : Path
        The store.
    seed : int
        Which batches.
    count : int
        How many batches; it never ends by itself if this is not given.
    key : str
        Which model.
    """

    def __init__(
        self, path: Path, *, seed: int, count: int | None = None, key: str = "model"
    ) -> None:
        arguments = [str(path), key, str(seed), "" if count is None else str(count)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.stores.adding", *arguments],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        self._count = 0

    def __enter__(self) -> Adding:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.process.kill()
        self.process.communicate()

    def begin(self) -> None:
        """Let it open the store and add; it is ready when it has said so."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n", self.process.communicate()
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def wait_for(self, count: int) -> None:
        """Let it begin, and wait until this many batches are stored."""
        self.begin()
        assert self.process.stdout is not None
        while self._count < count:
            line = self.process.stdout.readline()
            assert line, self.process.communicate()
            self._count = int(line)

    def kill(self) -> int:
        """End it as a power failure would; return how many batches it has said are stored."""
        self.process.kill()
        assert self.process.stdout is not None
        output = self.process.stdout.read()  # communicate() would lose what readline() has buffered
        whole = output[: output.rfind("\n") + 1].split()
        return int(whole[-1]) if whole else self._count

    def finish(self) -> None:
        """Wait for its end, which must be a good one."""
        _, error = self.process.communicate(timeout=120)
        assert self.process.returncode == 0, error


def main(path: str, key: str, seed: str, count: str) -> None:
    """Print "ready", wait for a line, and add."""
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    with AnswerStore(path) as store:
        answers = store.answers(key, ALPHABET)
        batches = islice(endless_batches(int(seed)), int(count) if count else None)
        for number, batch in enumerate(batches, start=1):
            answers.add(*arrays_of(batch))
            sys.stdout.write(f"{number}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
