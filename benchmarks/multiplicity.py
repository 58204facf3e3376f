"""Weighted automata learnt from probabilities of words, and what learners of words and rows cost.

Run with ``python -m benchmarks.multiplicity``; with names of tables for only those. The table of
questions needs the paper's targets in ``--data FOLDER``.
"""

from __future__ import annotations

import argparse
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import numpy as np
from scipy.sparse.linalg import LinearOperator, gmres

from benchmarks.support import print_header, print_row
from pdfalearn import PDFA, Budget, Quantization, distinguish, learn, load
from pdfalearn.datasets import random_pdfa
from pdfalearn.models import PFA, WFA, WordProbabilities
from pdfalearn.multiplicity import (
    RankError,
    l2_distance,
    learn_wfa,
    shortest_difference,
    spectral_wfa,
)
from pdfalearn.oracles import ExactOracle

SIZES = (5, 10, 20, 40, 60)
RIGHT = 1e-6
"""An automaton is learnt if its l2 distance over all words is below this."""
KAPPA = 997
"""Ratios are rounded: with 1000, decimals of the paper's targets would lie on boundaries."""
PAPER: tuple[str, ...] = ("exp1/n100-0", "exp1/n200-0", "exp1/n300-0", "exp2/m8-0", "exp2/m16-0")
PAPER += ("exp2/m32-0", "exp5/d2-0", "exp5/d8-0", "exp5/d16-0", "exp4/n1000-0")
Code = tuple[int, ...]


def random_pfa(size: int, seed: int, successors: float | None = None) -> PFA:
    """Draw a PFA over two symbols whose weights are uniform before they are normalised.

    With a number of successors, a state and a symbol have as many of them on average, at least one;
    else all states are successors.
    """
    random = np.random.default_rng(seed)
    tables = random.random((size, 1 + 2 * size))
    if successors is not None:
        kept = random.random((size, 2, size)) < (successors - 1) / size
        kept[np.arange(size)[:, None], [0, 1], random.integers(size, size=(size, 2))] = True
        tables[:, 1:] *= kept.reshape(size, -1)
    tables /= tables.sum(axis=1, keepdims=True)
    initial = random.random(size)
    return PFA(
        "01",
        initial=initial / initial.sum(),
        matrices=tables[:, 1:].reshape(size, 2, size).transpose(1, 0, 2),
        ends=tables[:, 0],
    )


KINDS: dict[str, Callable[[int, int], PDFA | PFA]] = {
    "PDFA": lambda size, seed: random_pdfa(size, exact_size=True, seed=seed),
    "PFA, 2 successors": lambda size, seed: random_pfa(size, seed, 2),
    "PFA, all successors": lambda size, seed: random_pfa(size, seed),
}


def distance(wfa: WFA, target: PDFA | PFA) -> float:
    """Compute the l2 distance over all words in another way than the library does.

    X = e·eᵀ + Σ A·X·Aᵀ is solved as a linear system; rounding leaves about 1e-8.
    """
    other = PFA.from_pdfa(target) if isinstance(target, PDFA) else target
    size = len(wfa) + len(other)
    matrices = np.zeros((len(wfa.matrices), size, size))
    matrices[:, : len(wfa), : len(wfa)] = wfa.matrices
    matrices[:, len(wfa) :, len(wfa) :] = other.matrices
    ends = np.concatenate((wfa.ends, -other.ends))
    initial = np.concatenate((wfa.initial, other.initial))

    def left(flat: np.ndarray) -> np.ndarray:
        table = flat.reshape(size, size)
        passed = (matrices @ table @ matrices.transpose(0, 2, 1)).sum(axis=0)
        return np.asarray((table - passed).ravel())

    system = LinearOperator((size**2, size**2), matvec=left, dtype=np.float64)
    found, failed = gmres(system, np.outer(ends, ends).ravel(), rtol=1e-14, atol=0, maxiter=200)
    square = float(initial @ found.reshape(size, size) @ initial)
    residual = np.abs(left(found) - np.outer(ends, ends).ravel()).max()
    if failed and residual > 1e-13:
        return np.inf
    return float(np.sqrt(abs(square)))


def ranks(runs: int, _seconds: float, _data: Path) -> None:
    """Random targets over two symbols: learnt, refused, wrong (l2 distance of 1e-6 and more)."""
    titles = ["target", "states", "runs", "rank", "learnt", "refused", "wrong", "largest distance"]
    titles += ["equivalence queries", "words", "s"]
    print_header([*titles, "spectral: learnt", "refused", "too small a block", "words"])
    for kind, draw in KINDS.items():
        for size in SIZES:
            count = runs if size <= 20 else max(1, runs // 2)
            print_row([kind, size, count, *_shares([draw(size, seed) for seed in range(count)])])


def _shares(targets: Sequence[PDFA | PFA]) -> Iterator[object]:
    """Learn targets in both ways; yield the cells of their row."""
    started = time.process_time()
    learnt = []
    for target in targets:
        try:
            learnt.append((learn_wfa(target), target))
        except RankError:
            continue
    seconds = (time.process_time() - started) / len(targets)
    if any(one.equivalence_queries > one.rank for one, _ in learnt):
        raise RuntimeError("there were more equivalence queries than the rank")
    distances = [distance(one.wfa, target) for one, target in learnt]
    wrong = sum(not each < RIGHT for each in distances)
    yield from (_range([one.rank for one, _ in learnt]), len(learnt) - wrong)
    yield from (len(targets) - len(learnt), wrong, f"{max(distances, default=np.nan):.1e}")
    yield _range([one.equivalence_queries for one, _ in learnt])
    yield from (f"{median([one.words for one, _ in learnt] or [0]):g}", seconds)
    length = int(np.ceil(np.log2(max(len(target) for target in targets)))) + 1
    blocks = []
    for target in targets:
        try:
            one = spectral_wfa(target, length=length)
            blocks.append((distance(one.wfa, target), one.words))
        except RankError:
            continue
    right = sum(each < RIGHT for each, _ in blocks)
    yield from (right, len(targets) - len(blocks), len(blocks) - right)
    yield f"{median([words for _, words in blocks] or [0]):g}"


def _range(numbers: Sequence[int]) -> str:
    return f"{min(numbers)} to {max(numbers)}" if numbers else ""


def counted(target: PDFA) -> WordProbabilities:
    """Return a model that tells the probabilities of prefixes and counts."""
    return WordProbabilities(target.prefix_probabilities, target.alphabet, prefixes=True)


def quant(target: PDFA) -> tuple[int, int, int]:
    """Learn by QuaNT from ratios: states, questions, equivalence queries."""
    model, by = counted(target), Quantization(KAPPA)
    oracle = ExactOracle(target, equivalence=by)
    result = learn(model, equivalence=by, oracle=oracle, audit=0, budget=Budget())
    return len(result.pdfa), model.asked, result.statistics.equivalence_queries


def observation_table(target: PDFA, *, is_linear: bool) -> tuple[int, int, int]:
    """Learn by a table of probabilities of words: states, questions, equivalence queries.

    Rows are states if no other is a multiple of them (Feng, Han, Kwiatkowska and Parker), or if
    they are linearly independent (Kaznatcheev and Panangaden); the suffixes of counterexamples
    become columns. The equivalence query is exact, as QuaNT's. A word of probability 0 is no state.
    """
    model, width = counted(target), len(target.alphabet)
    symbols = [(symbol,) for symbol in range(width)]
    prefixes: list[Code] = [()]
    suffixes: list[Code] = [()] if is_linear else [(), *symbols]
    pfa = PFA.from_pdfa(target) if is_linear else None
    for queries in range(1, 10_000):
        rows = _close(model, prefixes, suffixes, is_linear, len(target))
        if len(prefixes) > len(target):
            raise RankError("rounding makes more rows independent than there are states")
        if pfa is not None:
            found = _linear_difference(model, pfa, prefixes, suffixes, rows)
        else:
            found = _difference(target, model, prefixes, suffixes, rows)
        if found is None:
            return len(prefixes), model.asked, queries
        ends = [()] if is_linear else symbols
        new = [found[begin:] + end for begin in range(len(found) + 1) for end in ends]
        new = [suffix for suffix in dict.fromkeys(new) if suffix not in set(suffixes)]
        if not new:
            raise RankError("a counterexample adds nothing to the table")
        suffixes += new
    raise RankError("the table does not learn the target")


def _row(model: WordProbabilities, prefix: Code, suffixes: list[Code]) -> np.ndarray:
    """Return a row of the table, divided by its first cell, the prefix alone; 0 if that is 0."""
    values = model.values([prefix + suffix for suffix in suffixes])
    return values / values[0] if values[0] else values


def _close(
    model: WordProbabilities,
    prefixes: list[Code],
    suffixes: list[Code],
    is_linear: bool,
    most: int,
) -> np.ndarray:
    """Add prefixes until every row of a continuation is one of theirs, or a sum of them."""
    rows = np.array([_row(model, prefix, suffixes) for prefix in prefixes])
    basis = np.linalg.qr(rows.T)[0].T if is_linear else rows
    place = 0
    while place < len(prefixes) <= most:
        words = [(*prefixes[place], symbol) for symbol in range(len(model.alphabet))]
        model.values([word + suffix for word in words for suffix in suffixes])  # in one batch
        for word in words:
            row = _row(model, word, suffixes)
            if is_linear:
                rest = row - basis.T @ (basis @ row)
                rest -= basis.T @ (basis @ rest)
                is_new = (size := np.linalg.norm(rest)) > 1e-9 * np.linalg.norm(row)
            else:
                is_new = bool(row[0]) and np.abs(rows - row).max(axis=1).min() > 1e-9
            if is_new:
                prefixes.append(word)
                rows = np.vstack((rows, row))
                basis = np.vstack((basis, rest / size)) if is_linear else rows
        place += 1
    return rows


def _difference(
    target: PDFA,
    model: WordProbabilities,
    prefixes: list[Code],
    suffixes: list[Code],
    rows: np.ndarray,
) -> Code | None:
    """Return a word after which the automaton of a table and the target differ."""
    width = len(target.alphabet)
    table = [
        [
            int(np.abs(rows - _row(model, (*prefix, symbol), suffixes)).max(axis=1).argmin())
            for symbol in range(width)
        ]
        for prefix in prefixes
    ]
    moves = np.clip(rows[:, 1 : width + 1], 0, 1)
    stops = np.maximum(1 - moves.sum(axis=1), 0)
    probabilities = np.column_stack((stops, moves))
    possible = np.where(moves > 0, table, -1)
    hypothesis = PDFA(alphabet=target.alphabet, transitions=possible, probabilities=probabilities)
    word = distinguish(hypothesis, target, equivalence=Quantization(KAPPA))
    return None if word is None else tuple(target.alphabet.encode(word).tolist())


def _linear_difference(
    model: WordProbabilities,
    target: PFA,
    prefixes: list[Code],
    suffixes: list[Code],
    rows: np.ndarray,
) -> Code | None:
    """Return a word for which the weighted automaton of a table is wrong."""
    inverse = np.linalg.pinv(rows, rcond=1e-12)
    first = model.values(prefixes)
    matrices = []
    for symbol in range(len(model.alphabet)):
        words = [(*prefix, symbol) for prefix in prefixes]
        scales = (model.values(words) / first)[:, None]
        matrices.append(
            scales * np.array([_row(model, word, suffixes) for word in words]) @ inverse
        )
    initial, ends = np.eye(len(prefixes))[0], np.ones(len(prefixes))
    wfa = WFA(model.alphabet, initial=initial, matrices=matrices, ends=ends)
    exact = with_ends(target, target.prefix_weights)
    whole = with_ends(wfa, wfa.ends - wfa.matrices.sum(axis=0) @ wfa.ends)
    apart = np.inf
    # Values of a badly conditioned automaton are small differences of large terms.
    for tolerance in (1e-6, 1e-9, 1e-12):
        if (word := shortest_difference(exact, wfa, tolerance=tolerance)) is not None:
            return tuple(model.alphabet.encode(word).tolist())
        if (apart := l2_distance(whole, target)) < RIGHT:
            return None
    raise RankError(f"{len(prefixes)} rows, l2 distance {apart:.1e}")


def with_ends(wfa: WFA, ends: np.ndarray) -> WFA:
    """Return the automaton with another final vector."""
    return WFA(wfa.alphabet, initial=wfa.initial, matrices=wfa.matrices, ends=ends)


def block(target: PDFA) -> tuple[int, int, int]:
    """Learn by `learn_wfa`: rank, questions, equivalence queries."""
    learnt = learn_wfa(target, budget=Budget())
    return learnt.rank, learnt.words, learnt.equivalence_queries


LEARNERS: dict[str, Callable[[PDFA], tuple[int, int, int]]] = {
    "QuaNT from ratios": quant,
    "table, multiples of rows": lambda target: observation_table(target, is_linear=False),
    "table, independent rows": lambda target: observation_table(target, is_linear=True),
    "learn_wfa": block,
}


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise TimeoutError after this many seconds of the processor."""

    def stop(_signal: int, _frame: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def questions(_runs: int, seconds: float, data: Path) -> None:
    """Questions to a function of prefixes on random targets and the paper's, κ=997."""
    print_header(["target", "states", "symbols", "learner", "size", "questions", "queries", "s"])
    targets = {f"random, n={size}": random_pdfa(size, seed=1) for size in (10, 20, 40)}
    for name in PAPER:
        path = data / "paper-targets" / f"{name}.json.gz"
        targets |= {name: load(path)} if path.exists() else {}
    for name, whole in targets.items():
        # No probability tells what follows a word whose own is 0.
        possible = np.where(whole.probabilities[:, 1:] > 0, whole.transitions, -1)
        rows = whole.probabilities
        target = PDFA(alphabet=whole.alphabet, transitions=possible, probabilities=rows)
        for learner, run in LEARNERS.items():
            started = time.process_time()
            try:
                with limited(seconds):
                    cells: tuple[object, ...] = run(target)
            except RankError as error:
                cells = (f"refused: {error}"[:60], "", "")
            except TimeoutError:
                cells = ("did not end", "", "")
            taken = time.process_time() - started
            print_row([name, len(target), len(target.alphabet), learner, *cells, taken])


TABLES: dict[str, Callable[[int, float, Path], None]] = {"ranks": ranks, "questions": questions}


def main(words: Sequence[str] | None = None) -> None:
    """Print the tables that the words of the command line ask for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.multiplicity")
    parser.add_argument("tables", nargs="*", metavar="table", help=", ".join(TABLES))
    parser.add_argument("--runs", type=int, default=20, help="targets a row, half of it from 40 on")
    parser.add_argument(
        "--seconds", type=float, default=120, help="of the processor for a learner of questions"
    )
    parser.add_argument("--data", type=Path, default=Path(), help="the folder of the paper's data")
    arguments = parser.parse_args(words)
    for name in arguments.tables:
        if name not in TABLES:
            parser.error(f"there is no table {name!r}; there are {', '.join(TABLES)}")
    for name in arguments.tables or TABLES:
        print(f"\n{name}: {TABLES[name].__doc__}\n")
        TABLES[name](arguments.runs, arguments.seconds, arguments.data)


if __name__ == "__main__":
    main()
