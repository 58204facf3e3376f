"""QuaNT beside L_p* and WL*, and our L_p* beside its authors'.

Run with ``python -m benchmarks.rivals``, which leaves out the slowest rows; with ``--all`` for
these too; with names of tables for only those.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from statistics import median

import numpy as np

from benchmarks.authors import authors_lpstar
from benchmarks.support import in_turns, print_header, print_row
from pdfalearn import PDFA, Quantization, Result, Tolerance, learn
from pdfalearn.datasets import figure_3, random_pdfa
from pdfalearn.errors import MissingExtraError

KAPPA = 1000
LEARNERS = {"QuaNT": "quant", "L_p*": "lpstar", "WL*": "wlstar"}
SEEDS = (1, 2, 3, 4, 5)


def job(name: str, target: PDFA) -> Callable[[], Result]:
    """Return a job that learns a target by one of the three, with κ = 1000 or t = 1/κ."""
    equivalence = Quantization(KAPPA) if name == "QuaNT" else Tolerance(1 / KAPPA)
    return partial(learn, target, learner=LEARNERS[name], equivalence=equivalence, audit=0)


def medians(
    targets: Sequence[PDFA], names: Sequence[str], runs: int
) -> dict[str, tuple[float, float]]:
    """Return the median seconds and structure size of learners over targets, run in turns."""
    measured = [in_turns([job(name, target) for name in names], runs) for target in targets]
    for results in measured:
        sizes = [len(result.pdfa) for _, result in results]
        if len(set(sizes)) > 1:
            raise RuntimeError(f"the learners do not agree on the number of states: {sizes}")
    return {
        name: (
            median(results[place][0] for results in measured),
            median(results[place][1].statistics.structure_size for results in measured),
        )
        for place, name in enumerate(names)
    }


def present() -> list[str]:
    """Name the learners that can run here."""
    return [name for name in LEARNERS if name != "WL*" or find_spec("sklearn")]


def slope(sizes: Sequence[float], ratios: Sequence[float]) -> float:
    """Return the slope of the line that fits ratios over sizes best."""
    return float(np.polyfit(sizes, ratios, 1)[0])


def _compare(title: str, families: dict[str, list[PDFA]]) -> tuple[list[float], list[float]]:
    """Print a row for each family; return its median size and L_p*'s time over QuaNT's."""
    names = present()
    others = names[1:]
    titles = [title, "states", *(f"{name}, s" for name in names)]
    titles += [*(f"{name} / QuaNT" for name in others), "tree nodes"]
    print_header([*titles, *(f"{name} cells" for name in others)])
    sizes, ratios = [], []
    for label, targets in families.items():
        found = medians(targets, names, runs=9)
        sizes.append(median(map(len, targets)))
        speed_ups = [found[name][0] / found["QuaNT"][0] for name in others]
        ratios.append(speed_ups[0])
        seconds, structures = zip(*(found[name] for name in names), strict=True)
        print_row([label, f"{sizes[-1]:g}", *seconds, *speed_ups, *(f"{s:g}" for s in structures)])
    return sizes, ratios


def growth(everything: bool) -> None:
    """Random targets of n states, m=2, κ=1000, t=1/κ; medians over 5 targets."""
    sizes = (50, 100, 200, 300)
    targets = {f"{size}": [random_pdfa(size, seed=seed) for seed in SEEDS] for size in sizes}
    found, ratios = _compare("n", targets)
    print(f"\nL_p* / QuaNT over the number of states has the slope {slope(found, ratios):.2g}.")


def shared(everything: bool) -> None:
    """Random targets with d shared distributions, n=300, m=2, κ=1000, t=1/κ; 5 targets."""
    _compare(
        "d",
        {
            f"{count}": [random_pdfa(300, distributions=count, seed=seed) for seed in SEEDS]
            for count in (2, 4, 16)
        },
    )


def authors(everything: bool) -> None:
    """Our L_p* beside pymodelextractor's, m=2, t=0.001, on 3 targets; n≥200 only with --all."""
    titles = ["n", "states", "PDFALStarLearner, s", "L_p*, s", "QuaNT, s"]
    titles += ["PDFALStarLearner / L_p*", "goal", "PDFALStarLearner / QuaNT"]
    print_header(titles)
    sizes, ratios = [], []
    for size in (50, 100, 200, 300) if everything else (50, 100):
        targets = [random_pdfa(size, seed=seed) for seed in SEEDS[:3]]
        jobs = [authors_lpstar(target, 1 / KAPPA) for target in targets]
        measured = [in_turns([each], runs=1)[0] for each in jobs]
        if [states for _, states in measured] != list(map(len, targets)):
            raise RuntimeError(f"PDFALStarLearner has not found all states: {measured}")
        theirs = median(seconds for seconds, _ in measured)
        ours = medians(targets, ["QuaNT", "L_p*"], runs=3)
        sizes.append(median(map(len, targets)))
        ratios.append(theirs / ours["QuaNT"][0])
        cells = [size, f"{sizes[-1]:g}", theirs, ours["L_p*"][0], ours["QuaNT"][0]]
        goal = "at least 20" if size == 300 else ""
        print_row([*cells, theirs / ours["L_p*"][0], goal, ratios[-1]])
    fit = slope(sizes, ratios)
    print(f"\nPDFALStarLearner / QuaNT over the number of states has the slope {fit:.2g}.")


TABLES: dict[str, Callable[[bool], None]] = {
    "growth": growth,
    "shared": shared,
    "authors": authors,
}


def main(words: Sequence[str] | None = None) -> None:
    """Print the tables that the words of the command line ask for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rivals")
    parser.add_argument("tables", nargs="*", metavar="table", help=", ".join(TABLES))
    parser.add_argument("--all", action="store_true", help="the slowest rows too")
    arguments = parser.parse_args(words)
    for name in arguments.tables:
        if name not in TABLES:
            parser.error(f"there is no table {name!r}; there are {', '.join(TABLES)}")
    for name in present():
        job(name, figure_3())()  # what is imported at first use is not part of any time
    for name in arguments.tables or TABLES:
        print(f"\n{name}: {TABLES[name].__doc__}\n")
        try:
            TABLES[name](arguments.all)
        except MissingExtraError as error:
            print(f"Skipped: {error}")


if __name__ == "__main__":
    main()
