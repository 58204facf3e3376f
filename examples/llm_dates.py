"""Times of day and dates that an LLM writes, with digits as symbols under a guide.

Run with ``python -m examples.llm_dates [FOLDER]``; a folder gets the pictures. Needs
``pip install '.[llm-demo]'``.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from examples.llms import (
    LLM,
    enumerated,
    picture_in,
    print_learnt,
    print_likeliest,
    print_states,
    run,
    small_picture,
)
from pdfalearn.oracles import PACOracle
from pdfalearn.samplers import ModelWords


class Texts(NamedTuple):
    """What the LLM is to write."""

    prompt: str
    symbols: str
    guide: str
    ends: tuple[str, ...]
    longest: int
    """The symbols of the longest word."""
    drawn: int
    """The states of the picture."""


KINDS = {
    "times": Texts(
        "The train leaves at ",
        "0123456789:",
        "([01][0-9]|2[0-3]):[0-5][0-9]",
        (".", ",", "\n", " "),
        longest=5,
        drawn=9,
    ),
    "dates": Texts(
        'The meeting is on the following day.\n{"date": "',
        "0123456789-",
        "20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])",
        ('"',),
        longest=10,
        drawn=13,
    ),
}


def show(llm: LLM, pictures: Path | None = None) -> None:
    """Print both kinds."""
    for name in KINDS:
        show_kind(llm, pictures, name)


def show_kind(llm: LLM, pictures: Path | None, name: str) -> None:
    """Print what one kind of texts costs, and how likely they are."""
    kind = KINDS[name]
    print(f"### {name}: {kind.prompt!r}\n")
    model = llm.guided(kind.symbols, kind.guide, kind.prompt, ends=kind.ends)
    tree, cost = enumerated(model)
    sampled = PACOracle(epsilon=0.05, delta=0.05, sampler=ModelWords(kind.longest), seed=1)
    print_learnt(model, tree, cost, {2: sampled, 4: sampled})
    print_states(tree)
    print_likeliest(tree, 6)
    small_picture(tree, 10, kind.drawn, picture_in(pictures, f"llm-{name}"))


if __name__ == "__main__":
    run(show)
