"""Whether what is promised holds: false alarms after `calibrate`, and what is to come.

``python -m benchmarks.watching.promises`` draws automata, calibrates each with fresh words of its
own, and counts how many of 2,000 others are above the thresholds; then it compares the probability
of coming to an event, and of a language, with systems solved by elimination, and with all words.
"""

from __future__ import annotations

import sys

import numpy as np

from benchmarks.support import print_header, print_row
from pdfalearn import PDFA, calibrate, distill
from pdfalearn.alphabet import Symbol
from pdfalearn.datasets import random_pdfa
from pdfalearn.errors import InputError
from pdfalearn.languages import BeginsWith, Contains, EndsWith, Language
from pdfalearn.typing import Floats
from pdfalearn.watching import score_sessions
from pdfalearn.watching.reaching import event_probabilities, language_ahead
from pdfalearn.watching.session_scores import SCORES
from pdfalearn.watching.thresholds import TOLERANCE

# Words to calibrate with, and the rate that is asked.
CASES = ((50, 0.05), (99, 0.01), (999, 0.001))
_FRESH = 2_000


def draw_pdfa(states: int, symbols: int, seed: int) -> PDFA:
    """Draw an automaton whose words end soon."""
    drawn = random_pdfa(states, symbols, seed=seed)
    rows = drawn.probabilities.copy()
    rows[:, 0] += 0.15
    rows /= rows.sum(axis=1, keepdims=True)
    return PDFA(alphabet=drawn.alphabet, transitions=drawn.transitions, probabilities=rows)


def false_alarms(runs: int, count: int, rate: float, *, is_distilled: bool) -> dict[str, Floats]:
    """Return the share of fresh words above each threshold, in each run."""
    found: dict[str, list[float]] = {name: [] for name in SCORES}
    for seed in range(runs):
        source = draw_pdfa(8, 4, seed)
        used = source
        if is_distilled:  # one that is wrong, as those of real logs are
            words = source.sample(200, seed=3 * seed).words
            used = distill(words, sizes=[3], seed=1).best
        limits = calibrate(used, source.sample(count, seed=3 * seed + 1).words, rate)
        scores = score_sessions(used, source.sample(_FRESH, seed=3 * seed + 2).words)
        for name, shares in found.items():
            above = scores.values(name) > getattr(limits, name) + TOLERANCE
            shares.append(float(above.mean()))
    return {name: np.array(shares) for name, shares in found.items()}


def eliminate_event(pdfa: PDFA, event: Symbol) -> Floats:
    """Solve for the probabilities of coming to an event, with a dense matrix."""
    column = pdfa.alphabet.index(event)
    matrix = np.eye(len(pdfa))
    for state in range(len(pdfa)):
        for symbol, successor in enumerate(pdfa.transitions[state].tolist()):
            if symbol != column and pdfa.probabilities[state, symbol + 1] > 0:
                matrix[state, successor] -= pdfa.probabilities[state, symbol + 1]
    return np.asarray(np.linalg.solve(matrix, pdfa.probabilities[:, column + 1]))


def enumerate_language(pdfa: PDFA, language: Language, most: int) -> tuple[Floats, Floats]:
    """Add up the words up to a length that are in a language, by the state that they begin in.

    Return also what longer words could add.
    """
    dfa = language.dfa(pdfa.alphabet)
    sums, left = np.zeros(len(pdfa)), np.zeros(len(pdfa))
    for begin in range(len(pdfa)):
        layer = {(begin, dfa.initial): 1.0}
        for _ in range(most):
            after: dict[tuple[int, int], float] = {}
            for (state, place), mass in layer.items():
                if place >= 0 and dfa.accepting[place]:
                    sums[begin] += mass * pdfa.probabilities[state, 0]
                for symbol, successor in enumerate(pdfa.transitions[state].tolist()):
                    share = mass * pdfa.probabilities[state, symbol + 1]
                    if share > 0 and place >= 0 and dfa.transitions[place, symbol] >= 0:
                        key = (successor, int(dfa.transitions[place, symbol]))
                        after[key] = after.get(key, 0.0) + share
            layer = after
        left[begin] = sum(layer.values())
    return sums, left


def compare_reaching(count: int) -> tuple[float, float]:
    """Return the largest differences of event and language probabilities over many automata."""
    worst_event = worst_language = 0.0
    kinds = (Contains, BeginsWith, EndsWith)
    for seed in range(count):
        pdfa = draw_pdfa(2 + seed % 20, 2 + seed % 3, seed)
        event = pdfa.alphabet.symbols[seed % len(pdfa.alphabet)]
        found = event_probabilities(pdfa, event)
        worst_event = max(worst_event, float(np.abs(found - eliminate_event(pdfa, event)).max()))
        if seed % 5 == 0:
            language = kinds[seed % 3]((event, pdfa.alphabet.symbols[0]))
            sums, left = enumerate_language(pdfa, language, 200)
            table = language_ahead(pdfa, language).probabilities[:, 0]
            gaps = np.maximum(sums - table, table - sums - left)
            worst_language = max(worst_language, float(gaps.max()))
    return worst_event, worst_language


def main(runs: int = 200) -> None:
    """Print promised and measured rates, and the differences."""
    print(f"{runs} automata of 8 states each, {_FRESH:,} fresh words for each\n")
    print_header(
        ["automaton", "words", "promised", "score", "measured, mean", "± 2 errors", "largest"]
    )
    for is_distilled in (False, True):
        for count, rate in CASES:
            shares = false_alarms(runs, count, rate, is_distilled=is_distilled)
            for name, each in shares.items():
                error = 2 * each.std() / np.sqrt(len(each))
                cells = [f"{each.mean():.5f}", f"{error:.5f}", f"{each.max():.4f}"]
                kind = "distilled of 200" if is_distilled else "its own"
                print_row([kind, count, rate, name, *cells])
    refused = 0
    for count, rate in ((98, 0.01), (998, 0.001), (18, 0.05)):
        pdfa = draw_pdfa(8, 4, 0)
        try:
            calibrate(pdfa, pdfa.sample(count, seed=1).words, rate)
        except InputError as error:
            refused += 1
            print(f"\n{error}")
    print(f"\nrefused: {refused} of 3")
    events, languages = compare_reaching(500)
    print(f"coming to an event, 500 automata against elimination: {events:.2g}")
    print(f"languages, 100 automata against all words up to 200 symbols: {languages:.2g}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
