"""A vLLM server on loopback with a small LLM; `make test-served` installs what it needs."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from examples.smollm import smollm

NAME = "smollm"
_MOST_SECONDS = 600
_OPTIONS = ["--served-model-name", NAME, "--dtype", "float32", "--enforce-eager"]
_OPTIONS += ["--block-size", "32", "--max-model-len", "512"]
_ENVIRONMENT = {
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",  # the core may be taken, as by this program
    "VLLM_NO_USAGE_STATS": "1",
    "HF_HUB_OFFLINE": "1",
}


class VLLM:
    """A server that can be killed and started again on the same port.

    Parameters
    ----------
    folder : Path
        The model's folder.
    log : Path
        Where the server writes what it does.
    most_logprobs : int
        How many tokens of a row it tells at most; -1 for all.
    """

    def __init__(self, folder: Path, log: Path, most_logprobs: int = 128) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._folder, self._log, self._most_logprobs = folder, log, most_logprobs
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server; `wait` waits until it answers."""
        python = os.environ["PDFALEARN_VLLM_PYTHON"]
        command = [python, "-m", "vllm.entrypoints.openai.api_server", "--model", str(self._folder)]
        command += ["--host", "127.0.0.1", "--port", str(self.port), *_OPTIONS]
        command += ["--max-logprobs", str(self._most_logprobs)]
        settings = _ENVIRONMENT | {"OMP_NUM_THREADS": str(max(1, (os.cpu_count() or 1) - 1))}
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                command, env=os.environ | settings, stdout=log, stderr=log, start_new_session=True
            )

    def wait(self) -> None:
        """Wait until the server answers."""
        assert self._process is not None
        end = time.monotonic() + _MOST_SECONDS
        while time.monotonic() < end:
            assert self._process.poll() is None, self._log.read_text()[-3000:]
            try:
                with urlopen(f"{self.url}/health", timeout=5):  # noqa: S310
                    return
            except OSError:
                time.sleep(1)
        pytest.fail(f"vLLM does not answer: {self._log.read_text()[-3000:]}")

    def run(self) -> Iterator[VLLM]:
        """Start the server, and kill it in the end."""
        self.start()
        try:
            self.wait()
            yield self
        finally:
            self.kill()

    def kill(self) -> None:
        """Kill the server and what it started, which is a group of processes of its own."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None


@pytest.fixture(scope="session")
def folder() -> Path:
    """The folder of the LLM, which is fetched at first."""
    return smollm()


@pytest.fixture(scope="module")
def server(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[VLLM]:
    """The server, which is killed in the end."""
    yield from VLLM(folder, tmp_path_factory.mktemp("vllm") / "log.txt").run()
