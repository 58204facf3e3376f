"""Work on the parts of a corpus, by processes of this machine or by the workers of a cluster."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar, Union

from pdfalearn.checks import check_integer
from pdfalearn.corpora.corpus import Corpus
from pdfalearn.errors import InputError
from pdfalearn.extras import import_extra

if TYPE_CHECKING:
    from distributed import Client

Scheduler = Union[str, "Client"]
Tally = TypeVar("Tally")

_PROGRAM = "import sys; sys.path[:] = {!r}; from pdfalearn.corpora.dividing import serve; serve()"


def map_parts(
    function: Callable[[Corpus], Tally],
    corpus: Corpus,
    processes: int = 1,
    scheduler: Scheduler | None = None,
) -> list[Tally]:
    """Call a function of the package with each part of a corpus; return what it returns, in order.

    Parameters
    ----------
    function : callable
        A function of a module, or a partial one, that can be pickled.
    corpus : Corpus
        The words. Its files are the parts, and plain texts are split further.
    processes : int
        How many processes work at a time; with 1 it is this one.
    scheduler : str or distributed.Client, optional
        A Dask cluster whose workers do it, and find the files under the same names.

    Examples
    --------
    >>> map_parts(len, Corpus(["a", "b"]))
    [2]
    """
    processes = check_integer(processes, "processes", 1, 4096)
    if scheduler is not None:
        return _map_on_cluster(function, corpus, scheduler)
    if processes == 1 or len(parts := corpus.split(processes)) == 1:
        return [function(corpus)]
    running: list[subprocess.Popen[bytes]] = []
    with ThreadPoolExecutor(processes) as pool:
        futures = [pool.submit(_call_elsewhere, function, part, running) for part in parts]
        try:
            return [future.result() for future in futures]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in running:
                process.kill()
            raise


def _call_elsewhere(
    function: Callable[[Corpus], Tally], part: Corpus, running: list[subprocess.Popen[bytes]]
) -> Tally:
    """Call a function in a new process, which does not import the user's program again."""
    process = subprocess.Popen(  # noqa: S603 (this Python, and a module of ours)
        [sys.executable, "-c", _PROGRAM.format(sys.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"OMP_NUM_THREADS": "1", **os.environ},
    )
    running.append(process)
    answer, _ = process.communicate(pickle.dumps((function, part), protocol=5))
    if process.returncode:
        raise InputError(
            f"a process that read {part!r} ended with code {process.returncode}; if memory was "
            "short, give fewer processes"
        )
    found: Tally | Exception = pickle.loads(answer)  # noqa: S301 (of a process of ours)
    if isinstance(found, Exception):
        raise found
    return found


def serve() -> None:
    """Do what another process asks for by the standard input, and answer."""
    function, part = pickle.load(sys.stdin.buffer)  # noqa: S301 (of the process that began this)
    answer = sys.stdout.buffer
    try:
        found = function(part)
    except (InputError, OSError, ImportError, MemoryError) as error:
        found = error
    answer.write(pickle.dumps(found, protocol=5))


def _map_on_cluster(
    function: Callable[[Corpus], Tally], corpus: Corpus, scheduler: Scheduler
) -> list[Tally]:
    distributed = import_extra("distributed", "schedulers")
    is_address = isinstance(scheduler, str)
    client: Any = distributed.Client(scheduler, set_as_default=False) if is_address else scheduler
    try:
        threads = sum(client.nthreads().values())
        parts = corpus.split(max(1, threads))
        found: list[Tally] = client.gather(client.map(function, parts, pure=False))
        return found
    finally:
        if is_address:
            client.close()
