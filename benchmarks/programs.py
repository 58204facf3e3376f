"""Words a second through the pipe of a program, beside the same function in this process.

python -m benchmarks.programs
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np

from benchmarks.support import in_turns, print_header, print_row
from pdfalearn import FunctionModel, LanguageModel, ProgramModel
from pdfalearn.models import Batch
from pdfalearn.samplers import Words

PROGRAM = Path(__file__).parents[1] / "examples" / "programs" / "parity.py"
LENGTH = 10


def parity(words: list[tuple[object, ...]]) -> list[list[float]]:
    """Answer as the program does."""
    return [[0.0, 0.5, 0.5] if word.count("b") % 2 else [0.4, 0.3, 0.3] for word in words]


def rates(batch: int, words: int, runs: int) -> tuple[float, float]:
    """Return the words a second of the program and of the function, in batches of a size."""
    asked = Words.of(np.random.default_rng(0).integers(0, 2, (words, LENGTH)).tolist())
    parts = [Batch.of(asked.part(begin, begin + batch)) for begin in range(0, words, batch)]
    with ProgramModel([sys.executable, str(PROGRAM)], "ab", batch=batch) as program:
        program.answer(parts[0])  # it is started before it is timed
        models: Sequence[LanguageModel] = (program, FunctionModel(parity, "ab"))
        jobs = [lambda model=model: [model.answer(part) for part in parts] for model in models]
        (piped, rows), (inside, same) = in_turns(jobs, runs)
    for one, other in zip(rows, same, strict=True):
        assert np.array_equal(one.to_dense(), np.array(other))  # noqa: S101
    return words / piped, words / inside


@click.command()
@click.option("--words", default=16384, help="How many words of ten symbols are asked.")
@click.option("--runs", default=5, help="How often; the median counts.")
def main(words: int, runs: int) -> None:
    """Print a table with a row for each size of batches."""
    print_header(
        ["words in a batch", "program, words/s", "function, words/s", "function / program"]
    )
    for batch in (1, 16, 256, 1024, 4096):
        piped, inside = rates(batch, min(words, 2048 * batch), runs)
        print_row([batch, round(piped), round(inside), inside / piped])


if __name__ == "__main__":
    main()
