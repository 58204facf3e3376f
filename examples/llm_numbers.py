"""What an LLM answers when it is asked for a random number, with and without a chat template.

Run with ``python -m examples.llm_numbers [FOLDER]``; a folder gets the pictures. Needs
``pip install '.[llm-demo]'``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

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
from pdfalearn import probability

QUESTION = "Pick a random number between 1 and 100."
NUMBERS = "[1-9][0-9]{0,2}"
"""One to three digits: the LLM need not keep to what it is asked."""
WANTED = "[1-9][0-9]?|100"
PROMPTS: dict[str, dict[str, Any]] = {
    "prompt": {"prompt": f"{QUESTION}\nNumber: "},
    "chat": {"prompt": QUESTION, "chat": True},
}


def show(llm: LLM, pictures: Path | None = None) -> None:
    """Print the answers to both prompts, and what they cost."""
    ends = [".", ",", "\n", llm.tokenizer.eos_token]
    for name, options in PROMPTS.items():
        print(f"### {name}: {options['prompt']!r}\n")
        model = llm.guided("0123456789", NUMBERS, ends=ends, **options)
        tree, cost = enumerated(model)
        print_learnt(model, tree, cost, {2: None, 4: None})
        print_states(tree)
        print_likeliest(tree, 8)
        print(f"from 1 to 100: {probability(tree, WANTED):.3f}\n")
        small_picture(tree, 100, 6, picture_in(pictures, f"llm-numbers-{name}"))


if __name__ == "__main__":
    run(show)
