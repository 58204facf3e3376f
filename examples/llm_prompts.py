"""Two prompts that differ in one word, compared exactly over a closed set of phrases.

Run with ``python -m examples.llm_prompts [FOLDER]``; a folder gets the picture. Needs
``pip install 'pdfalearn[llm-demo]'``.
"""

from __future__ import annotations

import numpy as np

from benchmarks.support import print_header, print_row
from examples.llms import (
    LLM,
    enumerated,
    picture,
    print_learnt,
    print_states,
    smollm_in_memory,
    text,
    variation,
    words_of,
)
from pdfalearn import PDFA, divergence

PROMPTS = ("My brother is", "My sister is")
ADJECTIVES = tuple(
    " kind, strict, smart, nice, young, strong, friendly, honest, beautiful, busy".split(",")
)
VERY, AND = " very", " and"
SHOWN = 8


def show(llm: LLM) -> None:
    """Print what the phrases cost, and where the prompts differ most."""
    adjective = f"({VERY})?({'|'.join(ADJECTIVES)})"
    guide = f"{adjective}({AND}{adjective})?"
    trees = []
    for prompt in PROMPTS:
        print(f"### {prompt!r}\n")
        model = llm.guided([*ADJECTIVES, VERY, AND], guide, prompt, ends=["."])
        tree, cost = enumerated(model)
        automaton = print_learnt(model, tree, cost, {4: None})[4]
        print_states(tree)
        picture(automaton, f"llm-prompts-{prompt.split()[1]}")
        trees.append(tree)
    print_differences(*trees)


def print_differences(first: PDFA, second: PDFA) -> None:
    """Print how far two automata are apart, and the phrases that differ most."""
    words = words_of(first)
    shares = np.array([first.word_probabilities(words), second.word_probabilities(words)])
    gaps = np.abs(shares[0] - shares[1])
    print(f"### {len(words):,} phrases under both prompts\n")
    print(f"total variation: {variation(first, second):.4f}")
    forward = divergence(first, second).forward.per_word
    print(f"divergence: {forward:.4f} nats a phrase\n")
    print_header(["phrase", *PROMPTS, "ratio"])
    for place in np.argsort(-gaps, kind="stable")[:SHOWN]:
        one, other = shares[:, place]
        print_row([text(words[place]), f"{one:.4f}", f"{other:.4f}", f"{one / other:.2f}"])
    print()


if __name__ == "__main__":
    show(smollm_in_memory())
