"""Files larger than memory: score and refit, by format and by number of processes.

    python -m benchmarks.corpora.large_files [SYMBOLS [TEXT [FOLDER]]]

Two files of each format have SYMBOLS in all, 10^8 by default; slow formats a tenth. TEXT chooses
the formats whose names have it. Memory is the peak of the largest process.
"""

from __future__ import annotations

import gzip
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.support import in_a_process, peak_gigabytes, print_header, print_row
from pdfalearn import PDFA, Alphabet, Corpus, refit, score
from pdfalearn.datasets import random_pdfa

TITLES = ("format", "", "processes", "symbols", "seconds", "CPU seconds", "symbols a second", "MiB")
# Words that are drawn; a file repeats them.
_DRAWN = 20_000
_MOST_LENGTH = 500
_SLOWER = 10
_HEADER = "case:concept:name,concept:name\n"


class Format(NamedTuple):
    """A format: the ending of its files, the names of events, and how words are written."""

    ending: str
    names: Callable[[int], str]
    write: Callable[[Sequence[Sequence[str]], int], str]
    share: int = 1


def _write_lines(words: Sequence[Sequence[str]], _: int) -> str:
    return "".join(f"{' '.join(word)}\n" for word in words)


def _write_characters(words: Sequence[Sequence[str]], _: int) -> str:
    return "".join(f"{''.join(word)}\n" for word in words)


def _write_json(words: Sequence[Sequence[str]], _: int) -> str:
    return "".join(f"{json.dumps(word)}\n" for word in words)


def _write_xes(words: Sequence[Sequence[str]], _: int) -> str:
    event = '<event><string key="concept:name" value="{}"/></event>'
    events = ("".join(event.format(symbol) for symbol in word) for word in words)
    return "".join(f"<trace>{one}</trace>\n" for one in events)


def _write_csv(words: Sequence[Sequence[str]], turn: int) -> str:
    cases = ((f"{turn}-{number}", word) for number, word in enumerate(words))
    return "".join(f"{case},{symbol}\n" for case, word in cases for symbol in word)


def _letters(code: int) -> str:
    return chr(ord("a") + code)


def _long_names(code: int) -> str:
    return f"event_number_{code}"


FORMATS = {
    "lines, characters": Format(".txt", _letters, _write_characters),
    "lines, numbers": Format(".txt", str, _write_lines),
    "lines, names of 15 bytes": Format(".txt", _long_names, _write_lines),
    "lines, numbers, gzip": Format(".txt.gz", str, _write_lines),
    "JSON lines": Format(".jsonl", str, _write_json, _SLOWER),
    "CSV": Format(".csv", str, _write_csv, _SLOWER),
    "XES": Format(".xes", str, _write_xes, _SLOWER),
}


def _make_pdfa(form: Format) -> PDFA:
    pdfa = random_pdfa(100, 20, seed=1)
    return PDFA(
        alphabet=Alphabet(map(form.names, range(20))),
        transitions=pdfa.transitions,
        probabilities=pdfa.probabilities,
        initial=pdfa.initial,
    )


def _write_file(path: Path, form: Format, symbols: int, seed: int) -> None:
    """Write words of the automaton until there are this many symbols."""
    drawn = _make_pdfa(form).sample(_DRAWN, seed, _MOST_LENGTH).words
    words = [[str(symbol) for symbol in word] for word in drawn]
    length = sum(map(len, words))
    compressed = path.suffix == ".gz"
    opened = gzip.open(path, "wb", 1) if compressed else path.open("wb")  # noqa: SIM115
    with opened as stream:
        stream.write({".csv": _HEADER, ".xes": "<log>\n"}.get(form.ending, "").encode())
        for turn in range(max(1, round(symbols / length))):
            stream.write(form.write(words, turn).encode())
        stream.write(b"</log>\n" if form.ending == ".xes" else b"")


def measure(name: str, verb: str, paths: list[Path], processes: int) -> tuple[float, float, float]:
    """Score or refit; return seconds, those of processors, and the peak of memory."""
    form, corpus = FORMATS[name], Corpus(paths)
    pdfa = _make_pdfa(form)
    before, began = os.times(), time.perf_counter()
    if verb == "score":
        found = score(pdfa, corpus, processes=processes)
        assert not found.unknown, found.unknown_events  # noqa: S101
    else:
        refit(pdfa, corpus, processes=processes)
    seconds, after = time.perf_counter() - began, os.times()
    spent = sum(after[:4]) - sum(before[:4])
    others = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**10
    peak = max(peak_gigabytes() * 2**10, others if processes > 1 else 0.0)
    return seconds, spent, peak


def rows(symbols: int, text: str, folder: Path) -> Iterator[list[object]]:
    """Measure every format, on files that are written before and removed afterwards."""
    chosen = {name: form for name, form in FORMATS.items() if text in name}
    for number, (name, form) in enumerate(chosen.items()):
        paths = [folder / f"{number}-{part}{form.ending}" for part in "ab"]
        for seed, path in enumerate(paths):
            _write_file(path, form, symbols // form.share // 2, seed)
        batches = Corpus(paths).batches(_make_pdfa(form).alphabet)
        count = sum(len(batch.symbols) for batch in batches)
        for verb in ("score", "refit"):
            for processes in (1, 2):
                seconds, spent, peak = in_a_process(measure, name, verb, paths, processes)
                speed = f"{count / seconds:,.0f}"
                yield [name, verb, processes, f"{count:,}", seconds, spent, speed, round(peak)]
        for path in paths:
            path.unlink()


def main(symbols: str = "1e8", text: str = "", folder: str | None = None) -> None:
    """Print the table."""
    print_header(TITLES)
    with TemporaryDirectory(dir=folder) as made:
        for row in rows(int(float(symbols)), text, Path(made)):
            print_row(row)


if __name__ == "__main__":
    main(*sys.argv[1:])
