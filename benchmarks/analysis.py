"""Questions to large automata, beside the model checker Storm, and scores of corpora, beside KenLM.

Run with ``python -m benchmarks.analysis``; needs the extra ``bench`` for Storm and KenLM, which are
left out where they are not installed. The sizes of the automata and the number of symbols to score
may be given: ``python -m benchmarks.analysis 10000,100000 1000000``.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any, TypeVar

from benchmarks.metrics import changed
from benchmarks.support import (
    Growth,
    in_a_process,
    peak_gigabytes,
    print_header,
    print_row,
)
from examples.phone_trigram import write_arpa
from pdfalearn import PDFA, divergence, most_likely, probability, score
from pdfalearn.analysis import distances, entropy, length
from pdfalearn.analysis.probabilities import Product
from pdfalearn.datasets import random_pdfa
from pdfalearn.io import read_arpa
from pdfalearn.io.word_files import WordNotation
from pdfalearn.languages import Contains
from pdfalearn.languages.kinds import language_dfa

Answer = TypeVar("Answer")

LANGUAGE = Contains("01")
TITLES = ["question", "states", "symbols", "seconds", "growth"]
SCORE_TITLES = ["scored by", "symbols", "seconds", "symbols a second", "peak GB"]


def questions(pdfa: PDFA) -> dict[str, Callable[[], object]]:
    """Return what is asked, by name."""
    alphabet = pdfa.alphabet.symbols
    other, language = changed(pdfa, 2), Contains(alphabet[:2])
    return {
        "P(language)": lambda: probability(pdfa, language),
        "expected length": lambda: length(pdfa).mean,
        "entropy": lambda: entropy(pdfa).per_word,
        "divergence": lambda: divergence(pdfa, other),
        "distances": lambda: distances(pdfa, other),
        "1,000 likeliest words": lambda: list(most_likely(pdfa, 1000)),
    }


def asked(
    states: int, symbols: int, growths: dict[str, Growth], runs: int = 3
) -> Iterator[list[object]]:
    """Time every question to a random automaton, in seconds of the processor."""
    pdfa = random_pdfa(states, symbols, seed=1)
    for name, question in questions(pdfa).items():
        seconds = median(_timed({name: question})[name][1] for _ in range(runs))
        growth = growths.setdefault(name, Growth()).to(states * symbols, seconds)
        yield [name, f"{states:,}", symbols, seconds, growth]


def beside_storm(states: int, turns: int = 3) -> Iterator[list[object]]:
    """Ask both what Storm can be asked too, in turns; the median of each figure."""
    import stormpy

    pdfa = random_pdfa(states, 2, seed=1)
    product = Product.of(pdfa, language_dfa(LANGUAGE, pdfa.alphabet))
    entropies = entropy(pdfa).by_state[product.walk.lefts].tolist()
    ours, theirs = [], []
    for _ in range(turns):
        ours.append(_timed(asked_of_storm(pdfa)))
        theirs.append(_timed(storm_questions(stormpy, product, entropies)))
    for name, (answer, _) in ours[0].items():
        assert abs(answer - theirs[0][name][0]) < 1e-3 * max(1.0, answer), name  # noqa: S101
    for owner, found in (("pdfalearn", ours), ("Storm", theirs)):
        for name in found[0]:
            yield [f"{owner}: {name}", f"{states:,}", 2, median(one[name][1] for one in found), ""]
        total = median(sum(seconds for _, seconds in one.values()) for one in found)
        yield [f"{owner}, in total", f"{states:,}", 2, total, ""]


def _timed(questions: dict[str, Callable[[], Answer]]) -> dict[str, tuple[Answer, float]]:
    """Return the answer to every question, and the seconds of the processor that it took."""
    found = {}
    for name, question in questions.items():
        begin = process_time()
        answer = question()
        found[name] = answer, process_time() - begin
    return found


def asked_of_storm(pdfa: PDFA) -> dict[str, Callable[[], float]]:
    """Return those of our questions that Storm can answer too."""
    return {
        "P(language)": lambda: probability(pdfa, LANGUAGE),
        "expected length": lambda: length(pdfa).mean,
        "entropy": lambda: entropy(pdfa).per_word,
    }


def storm_questions(
    stormpy: Any, product: Product, entropies: list[float]
) -> dict[str, Callable[[], float]]:
    """Return the same for Storm, which gets the chain and what is gained in each of its places."""
    model: list[Any] = []

    def build() -> float:
        model.append(storm_chain(stormpy, product, entropies))
        return 0.0

    return {
        "built from Python": build,
        "P(language)": lambda: _checked(stormpy, model[0], 'P=? [F "yes"]'),
        "expected length": lambda: _checked(stormpy, model[0], 'R{"steps"}=? [F "end"]') - 1,
        "entropy": lambda: _checked(stormpy, model[0], 'R{"entropy"}=? [F "end"]'),
    }


def storm_chain(stormpy: Any, product: Product, entropies: list[float]) -> Any:
    """Build the chain of a product in Storm, row by row: words end in one of two more states."""
    size, walk = len(product), product.walk
    builder = stormpy.datastructures.SparseMatrixBuilder[float](rows=size + 2, columns=size + 2)
    rows: list[dict[int, float]] = [{} for _ in range(size)]
    edges = zip(
        walk.sources.tolist(), walk.successors.tolist(), product.weights.tolist(), strict=True
    )
    for source, successor, weight in edges:
        rows[source][successor] = rows[source].get(successor, 0.0) + weight
    endings = zip(product.endings.tolist(), product.accepting.tolist(), strict=True)
    for place, (ending, accepting) in enumerate(endings):
        row = rows[place]
        row[size if accepting else size + 1] = ending
        for successor in sorted(row):
            builder.add_next_value(place, successor, row[successor])
    for place in (size, size + 1):
        builder.add_next_value(place, place, 1.0)
    labels = stormpy.models.StateLabeling(size + 2)
    for name, places in (("init", [0]), ("yes", [size]), ("end", [size, size + 1])):
        labels.add_label(name)
        for place in places:
            labels.add_label_to_state(name, place)
    gains = {
        "steps": [1.0] * size + [0.0] * 2,
        "entropy": [*entropies, 0.0, 0.0],
    }
    rewards = {
        name: stormpy.models.SparseRewardModel[float](optional_state_reward_vector=values)
        for name, values in gains.items()
    }
    parts = stormpy.models.SparseModelComponents[float](
        transition_matrix=builder.build(), state_labeling=labels, reward_models=rewards
    )
    return stormpy.models.SparseDtmc[float](parts)


def _checked(stormpy: Any, model: Any, formula: str) -> float:
    (parsed,) = stormpy.parse_properties(formula)
    return float(stormpy.model_checking(model, parsed, only_initial_states=True).get_value(0))


def scored_file(pdfa: PDFA, path: Path) -> tuple[int, float, float]:
    """Score a file; return the symbols, the seconds, and the peak of memory."""
    begin = perf_counter()
    result = score(pdfa, path)
    return result.symbols, perf_counter() - begin, peak_gigabytes()


def scored_one_by_one(pdfa: PDFA, path: Path, words: int) -> tuple[int, float]:
    """Ask for the probability of the first words of a file, one after the other."""
    notation = WordNotation(pdfa.alphabet)
    with path.open(encoding="utf-8") as stream:
        lines = [next(stream).rstrip("\n") for _ in range(words)]
    batch = [pdfa.alphabet.decode(notation.codes(line)) for line in lines]
    begin = perf_counter()
    for word in batch:
        pdfa.probability(word)
    return sum(map(len, batch)), perf_counter() - begin


def scored_by_kenlm(arpa: Path, path: Path) -> tuple[int, float]:
    """Score a file with KenLM, line by line as it is used from Python."""
    import kenlm

    model, symbols = kenlm.Model(str(arpa)), 0
    begin = perf_counter()
    with path.open(encoding="utf-8") as stream:
        for line in stream:
            model.score(line.rstrip("\n"), bos=True, eos=True)
            symbols += line.count(" ") + 1
    return symbols, perf_counter() - begin


def write_words(pdfa: PDFA, path: Path, symbols: int) -> None:
    """Write words drawn from an automaton again and again, until there are this many symbols."""
    notation = WordNotation(pdfa.alphabet)
    words = [word for word in pdfa.sample(5_000, seed=3).words if word]
    text = "".join(f"{notation.line(word)}\n" for word in words)
    drawn = sum(map(len, words))
    with path.open("w", encoding="utf-8") as stream:
        for _ in range(max(1, symbols // drawn)):
            stream.write(text)


def score_rows(symbols: int) -> Iterator[list[object]]:
    """Score words of the phone trigram in all three ways."""
    with tempfile.TemporaryDirectory() as folder:
        arpa, few, many = (Path(folder, name) for name in ("phones.arpa", "few.txt", "many.txt"))
        write_arpa(arpa)
        text = arpa.read_text(encoding="utf-8")
        arpa.write_text(text[text.index("\\data\\") :], encoding="utf-8")  # KenLM wants no preface
        pdfa = read_arpa(arpa).pdfa
        write_words(pdfa, few, symbols // 10)
        write_words(pdfa, many, symbols)
        for path in (few, many):
            yield _score_row("score(pdfa, file)", *in_a_process(scored_file, pdfa, path))
        yield _score_row("a loop over probability", *scored_one_by_one(pdfa, few, 2_000))
        if _is_installed("kenlm"):
            yield _score_row("KenLM", *scored_by_kenlm(arpa, many))
        short = random_pdfa(1000, 2, seed=1)
        write_words(short, many, symbols)
        name = "short words: score(pdfa, file)"
        yield _score_row(name, *in_a_process(scored_file, short, many))
        name = "short words: a loop over probability"
        yield _score_row(name, *scored_one_by_one(short, many, 20_000))


def _score_row(name: str, symbols: int, seconds: float, peak: float | str = "") -> list[object]:
    return [name, f"{symbols:,}", seconds, f"{symbols / seconds:,.0f}", peak]


def _is_installed(name: str) -> bool:
    from importlib.util import find_spec

    return find_spec(name) is not None


def main(sizes: str = "10000,100000,1000000", symbols: str = "10000000") -> None:
    """Print both tables."""
    print_header(TITLES)
    growths: dict[str, Growth] = {}
    for states in map(int, sizes.split(",")):
        for row in asked(states, 2, growths):
            print_row(row)
        if _is_installed("stormpy"):
            for row in in_a_process(partial(_all_of, beside_storm), states):
                print_row(row)
    for row in asked(1000, 1000, {}):
        print_row(row)
    print()
    print_header(SCORE_TITLES)
    for row in score_rows(int(symbols)):
        print_row(row)


def _all_of(rows: Callable[[int], Iterator[list[object]]], size: int) -> list[list[object]]:
    return list(rows(size))


if __name__ == "__main__":
    main(*sys.argv[1:])
