"""Bounds over all models that classes allow, beside the interval engine of Storm.

Run with ``python -m benchmarks.bounds``; needs the extra ``bench``. Sizes may be given:
``python -m benchmarks.bounds 1000,10000``. Storm reads the chain that `save_intervals` writes and
iterates to its default precision of 1e-6; ours are proved. Reading the file is not counted.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.support import median_seconds, print_header, print_row
from pdfalearn import PDFA, Quantization
from pdfalearn.analysis import length_bounds, probability_bounds
from pdfalearn.analysis import save_intervals as save
from pdfalearn.datasets import random_pdfa
from pdfalearn.languages import Contains

KAPPA = 1000
TITLES = ["states", "symbols", "P(language)", "length", "Storm's length", "ratio", "differ by"]
SIZES = [1_000, 10_000, 100_000]


def storm_lengths(pdfa: PDFA) -> tuple[float, tuple[float, float]]:
    """Return the seconds that Storm takes for the least and the greatest length, and these."""
    import stormpy

    storm: Any = stormpy
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "chain.drn")
        save(pdfa, path, equivalence=Quantization(KAPPA))
        model = storm.build_model_from_drn[storm.Interval](str(path))
    (formula,) = storm.parse_properties('R=? [F "end"]')
    modes = storm.UncertaintyResolutionMode
    begin = perf_counter()
    least, greatest = (
        storm.model_checking(model, formula, uncertainty_resolution_mode=mode)
        for mode in (modes.MINIMIZE, modes.MAXIMIZE)
    )
    seconds = perf_counter() - begin
    (initial,) = model.initial_states
    return seconds, (
        float(least.get_value(initial)) - 1,
        float(greatest.get_value(initial)) - 1,
    )


def target(size: int, symbols: int) -> PDFA:
    """Draw an automaton without small probabilities: Storm wants intervals that begin above 0."""
    drawn = random_pdfa(size, symbols, seed=1)
    return PDFA(
        alphabet=drawn.alphabet,
        transitions=drawn.transitions,
        probabilities=0.9 * drawn.probabilities + 0.1 / (symbols + 1),
    )


def row(size: int, symbols: int) -> list[str]:
    """Measure one automaton."""
    pdfa, equivalence = target(size, symbols), Quantization(KAPPA)
    language = Contains(pdfa.alphabet.symbols[:2])
    asked = median_seconds(lambda: probability_bounds(pdfa, language, equivalence=equivalence))
    own = median_seconds(lambda: length_bounds(pdfa, equivalence=equivalence))
    theirs, lengths = storm_lengths(pdfa)
    bounds = length_bounds(pdfa, equivalence=equivalence)
    differ = max(abs(bounds.low - lengths[0]), abs(bounds.high - lengths[1]))
    times = [f"{asked:.2f} s", f"{own:.2f} s", f"{theirs:.2f} s", f"{theirs / own:.1f}"]
    return [f"{len(pdfa):,}", str(symbols), *times, f"{differ:.1g}"]


def main() -> None:
    """Print a table."""
    sizes = [int(part) for part in sys.argv[1].split(",")] if len(sys.argv) > 1 else SIZES
    print_header(TITLES)
    for size in sizes:
        print_row(row(size, 2))
    print_row(row(1_000, 20))


if __name__ == "__main__":
    main()
