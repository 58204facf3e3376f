"""Times of day and dates that an LLM writes, with digits as symbols under a guide.

Run with ``python -m examples.llm_dates [FOLDER]``; a folder gets the pictures. Needs
``pip install 'pdfalearn[llm-demo]'``.
"""

from __future__ import annotations

from typing import NamedTuple

from examples.llms import (
    LLM,
    enumerated,
    picture,
    print_learnt,
    print_likeliest,
    print_states,
    smollm_in_memory,
)
from pdfalearn import ModelWords, PACOracle


class Texts(NamedTuple):
    """What the LLM is to write."""

    symbols: str
    guide: str
    prompt: str
    length: int
    """Of the longest word."""


KINDS = {
    "times": Texts("0123456789:", "([01][0-9]|2[0-3]):[0-5][0-9]", "The train leaves at ", 5),
    "dates": Texts(
        "0123456789-",
        "20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])",
        'The meeting is on the following day.\n{"date": "',
        10,
    ),
}


def show(llm: LLM) -> None:
    """Print both kinds."""
    for name in KINDS:
        show_kind(llm, name)


def show_kind(llm: LLM, name: str) -> None:
    """Print what one kind of texts costs, and how likely they are."""
    symbols, guide, prompt, length = KINDS[name]
    print(f"### {name}: {prompt!r}\n")
    model = llm.guided(symbols, guide, prompt, ends="rest")
    tree, cost = enumerated(model)
    sampled = PACOracle(epsilon=0.05, delta=0.05, sampler=ModelWords(length), seed=1)
    automata = print_learnt(model, tree, cost, {2: sampled, 4: sampled})
    print_states(tree)
    print_likeliest(tree, 6)
    picture(automata[2], f"llm-{name}")


if __name__ == "__main__":
    show(smollm_in_memory())
