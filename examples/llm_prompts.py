"""Two prompts that differ in one word, compared exactly over a closed set of phrases.

Run with ``python -m examples.llm_prompts [FOLDER]``; a folder gets the picture. Needs
``pip install '.[llm-demo]'``.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.support import print_header, print_row
from examples.llms import (
    LLM,
    enumerated,
    picture_in,
    print_learnt,
    print_states,
    run,
    small_picture,
    text,
)
from pdfalearn import PDFA, divergence
from pdfalearn.analysis import differences
from pdfalearn.oracles import AllWordsOracle

PROMPTS = ("My brother is", "My sister is")
ADJECTIVES = (
    *(" kind", " strict", " smart", " nice", " young"),
    *(" strong", " friendly", " honest", " beautiful", " busy"),
)
VERY, AND = " very", " and"
LONGEST = 5
"""The symbols of the longest phrase."""
SHOWN = 6


def show(llm: LLM, pictures: Path | None = None) -> None:
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
        small_picture(tree, 100, 5, picture_in(pictures, f"llm-prompts-{prompt.split()[1]}"))
    print_differences(*automata)


def print_differences(first: PDFA, second: PDFA) -> None:
    """Print how far two automata are apart, and the phrases that make most of the distance."""
    found = differences(first, second, SHOWN)
    forward = divergence(first, second).forward.per_word
    print(f"### {PROMPTS[0]!r} against {PROMPTS[1]!r}\n")
    print(f"Hellinger distance {found.squared_hellinger**0.5:.4f}, ", end="")
    print(f"divergence {forward:.4f} nats a phrase\n")
    print_header(["phrase", *PROMPTS, "share of the squared distance"])
    for one in found.words:
        shares = [f"{share:.4f}" for share in (one.probability_a, one.probability_b, one.share)]
        print_row([text(one.word), *shares])
    print()
    print_header(["after", "next", *PROMPTS, "share of the squared distance"])
    for place in found.prefixes:
        figures = (place.probability_a, place.probability_b, place.share)
        begun, following = text(place.prefix) or "(nothing)", text([place.symbol])
        print_row([begun, following, *(f"{share:.4f}" for share in figures)])
    print()


if __name__ == "__main__":
    run(show)
