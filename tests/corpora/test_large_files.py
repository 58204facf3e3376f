"""Files larger than memory: words are read and forgotten."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from pdfalearn.datasets import random_pdfa

# The address space may grow by this much while words are read, and by less than all words take.
ROOM = 40 * 2**20
PROGRAM = """
import resource, sys
from pathlib import Path
from pdfalearn import Corpus, refit, score
from pdfalearn.datasets import random_pdfa

path, room = Path(sys.argv[1]), int(sys.argv[2])
pdfa = random_pdfa(30, 2, seed=3)
score(pdfa, ["01"]), refit(pdfa, ["01"])
pages = int(Path("/proc/self/statm").read_text().split()[0])
limit = pages * resource.getpagesize() + room
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
corpus = Corpus(path)
print(score(pdfa, corpus).symbols, len(refit(pdfa, corpus)), len(corpus))
try:
    corpus.encode(pdfa.alphabet)
except MemoryError:
    print("too large")
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no /proc")
def test_files_are_read_in_bounded_memory(tmp_path: Path) -> None:
    pdfa = random_pdfa(30, 2, seed=3)
    words = pdfa.sample(1000, seed=1, max_length=100).words
    block = "".join(f"{''.join(map(str, word))}\n" for word in words).encode()
    symbols = sum(map(len, words))
    times, path = 4_000_000 // symbols, tmp_path / "words.txt.gz"
    with gzip.open(path, "wb", 1) as stream:
        for _ in range(times):
            stream.write(block)
    command = [sys.executable, "-c", PROGRAM, str(path), str(ROOM)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == f"{times * symbols} {len(pdfa)} {times * 1000}\ntoo large\n"
