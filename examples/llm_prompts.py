"""Two prompts that differ in one word, compared exactly over a closed set of phrases.

Run with ``python -m examples.llm_prompts [FOLDER]``; a folder gets the picture. Needs
``pip install 'pdfalearn[llm-demo]'``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.support import print_header, print_row
from examples.llms import (
    LLM,
    enumerated,
    print_learnt,
    print_states,
    small_picture,
    smollm_in_memory,
    text,
    words_of,
)
from pdfalearn import PDFA, AllWordsOracle, divergence

PROMPTS = ("My brother is", "My sister is")
ADJECTIVES = (
    *(" kind", " strict", " smart", " nice", " young"),
    *(" strong", " friendly", " honest", " beautiful", " busy"),
)
VERY, AND = " very", " and"
LONGEST = 5
"""The symbols of the longest phrase."""
SHOWN = 8


def show(llm: LLM) -> None:
    """Print what the phrases cost, and where the prompts differ most."""
    adjective = f"({VERY})?({'|'.join(ADJECTIVES)})"
    guide = f"{adjective}({AND}{adjective})?"
    automata = []
    for prompt in PROMPTS:
        print(f"### {prompt!r}\n")
        model = llm.guided([*ADJECTIVES, VERY, AND], guide, prompt, ends=["."])
        tree, cost = enumerated(model)
        every_phrase = AllWordsOracle(LONGEST)
        automata.append(print_learnt(model, tree, cost, {100: every_phrase})[100])
        print_states(tree)
        small_picture(tree, 100, 5, f"llm-prompts-{prompt.split()[1]}")
    print_differences(words_of(tree), *automata)


def print_differences(words: Sequence[tuple[str, ...]], first: PDFA, second: PDFA) -> None:
    """Print how far two automata are apart, and the phrases that differ most."""
    shares = np.array([first.word_probabilities(words), second.word_probabilities(words)])
    gaps = np.abs(shares[0] - shares[1])
    print(f"### {len(words):,} phrases under both prompts\n")
    print(f"total variation: {gaps.sum() / 2:.4f}")
    forward = divergence(first, second).forward.per_word
    print(f"divergence: {forward:.4f} nats a phrase\n")
    print_header(["phrase", *PROMPTS, "ratio"])
    for place in np.argsort(-gaps, kind="stable")[:SHOWN]:
        one, other = shares[:, place]
        print_row([text(words[place]), f"{one:.4f}", f"{other:.4f}", f"{one / other:.2f}"])
    print()


if __name__ == "__main__":
    show(smollm_in_memory())
