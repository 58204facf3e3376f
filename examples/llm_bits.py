"""Random bits as an LLM writes them: an unbounded language, which is distilled.

Exact learning finds more states here the longer it asks. Distilling finds the nearest automaton of
each size. All beginnings of words of up to eight bits can be asked, so the automata are held
against these.

Run with ``python -m examples.llm_bits [FOLDER]``; a folder gets the picture. Needs
``pip install '.[llm-demo]'``.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from benchmarks.support import print_header, print_row
from examples.llms import LLM, counted, enumerated, outside, print_states, run, words_of
from pdfalearn import PDFA, Budget, Guided, Quantization, TransformerModel, distill, learn, save
from pdfalearn.oracles import PACOracle
from pdfalearn.samplers import ModelWords

PROMPT = "Random bits: "
LONGEST = 16
"""Words are cut there."""
BOUNDS = (50, 100, 200)
"""How many words exact learning may ask."""
SYMBOLS = 400
"""How many symbols distilling may ask."""
SIZES = (1, 2, 3, 4, 6, 8)
ALL_TO = 8
"""All words of up to this many bits are asked."""


def show(llm: LLM, pictures: Path | None = None) -> None:
    """Print how exact learning grows, and what distilling finds."""
    print(f"### {PROMPT!r}\n")
    model = llm.asked("01", PROMPT, ends="rest")
    print_growth(model)
    tree, cost = enumerated(Guided(model, f"[01]{{0,{ALL_TO}}}"))
    print(f"enumeration: {cost}\n")
    print_states(tree)
    budget = Budget(max_symbols=SYMBOLS)
    with counted(model) as cost:
        frontier = distill(model, budget=budget, sampler=ModelWords(LONGEST), sizes=SIZES)
    cost.words = outside(frontier)["distributions"]
    print(f"distilling: {cost}\n")
    print_header(["states", "divergence a symbol", "from", "to", f"total variation, {ALL_TO} bits"])
    for point in frontier:
        figures = [point.divergence, point.low, point.high, cut_variation(tree, point.pdfa)]
        print_row([point.states, *figures])
    print(f"\nbest: {len(frontier.best)} states; knee: {frontier.knee}\n")
    if pictures is not None:
        save(frontier.at_most(4), pictures / "llm-bits.svg")


def print_growth(model: TransformerModel) -> None:
    """Print how many states exact learning has found when it is stopped."""
    print_header(["words", "states, κ = 100", "seconds"])
    oracle = PACOracle(epsilon=0.05, delta=0.05, sampler=ModelWords(LONGEST), seed=1)
    for bound in BOUNDS:
        started = time.perf_counter()
        budget = Budget(max_words=bound)
        result = learn(model, equivalence=Quantization(100), oracle=oracle, budget=budget)
        seconds = time.perf_counter() - started
        print_row([result.statistics.words, len(result.pdfa), seconds])
    print()


def cut_variation(tree: PDFA, pdfa: PDFA) -> float:
    """Return the total variation of words that are cut where a tree ends."""
    words = words_of(tree)
    is_cut = np.array([len(word) == ALL_TO for word in words])
    whole, begun = pdfa.word_probabilities(words), pdfa.prefix_probabilities(words)
    found = np.where(is_cut, begun, whole)
    return float(np.abs(tree.word_probabilities(words) - found).sum()) / 2


if __name__ == "__main__":
    run(show)
