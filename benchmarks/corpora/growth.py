"""Time and memory of distilling words of a random automaton, by the number of symbols.

Run with ``python -m benchmarks.corpora.growth --results FILE``; ``--symbols 1e5,1e6`` says how
many. Words are read from a file; writing it does not count.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.corpora.kept_results import KeptResults, Record
from benchmarks.corpora.structure import lengthen_words
from benchmarks.support import Growth, print_header, print_row
from pdfalearn import PDFA, Corpus, distill
from pdfalearn.analysis import entropy
from pdfalearn.datasets import random_pdfa
from pdfalearn.metrics import directed_divergence

STATES, SYMBOLS = 20, 8
# Words that are drawn and written at once.
_DRAWN = 1_000
_MOST_LENGTH = 10_000


def make_target() -> PDFA:
    """Return the automaton; its words have about a hundred symbols."""
    return lengthen_words(random_pdfa(STATES, SYMBOLS, exact_size=True, seed=1))


def write_words(target: PDFA, symbols: int, path: Path) -> None:
    """Write words of the automaton, one a line, until there are this many symbols."""
    written, seed = 0, 0
    with path.open("w") as stream:
        while written < symbols:
            for word in target.sample(_DRAWN, seed, _MOST_LENGTH).words:
                if written >= symbols:
                    break
                stream.write(" ".join(map(str, word)) + "\n")
                written += len(word)
            seed += 1


def distill_file(path: Path) -> Record:
    """Return what distilling a file finds: states, and the divergence of the target from it."""
    target = make_target()
    best = distill(Corpus(path, format="tokens")).best
    divergence = directed_divergence(target, best).per_symbol
    return {"states": len(best), "divergence": divergence, "entropy": entropy(target).per_symbol}


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corpora.growth")
    parser.add_argument("--symbols", default="1e5,3e5,1e6,3e6,1e7")
    parser.add_argument("--results", type=Path)
    options = parser.parse_args(arguments)
    results, growth, target = KeptResults(options.results), Growth(), make_target()
    print_header(["symbols", "processor s", "growth", "GB", "states of best", "divergence"])
    for symbols in (round(float(text)) for text in options.symbols.split(",")):
        with TemporaryDirectory() as folder:
            path, key = Path(folder, "words.txt"), f"{symbols}"
            if key not in results:
                write_words(target, symbols, path)
            record = results.compute_elsewhere(key, distill_file, path)
        seconds, found = record["seconds"], record["value"]
        figures = [seconds, growth.to(symbols, seconds), record["gigabytes"], found["states"]]
        print_row([f"{symbols:,}", *figures, found["divergence"]])


if __name__ == "__main__":
    main()
