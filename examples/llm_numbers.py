"""What an LLM answers when it is asked for a random number, with and without a chat template.

Run with ``python -m examples.llm_numbers [FOLDER]``; a folder gets the pictures. Needs
``pip install 'pdfalearn[llm-demo]'``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from examples.llms import (
    LLM,
    enumerated,
    print_learnt,
    print_likeliest,
    print_states,
    small_picture,
    smollm_in_memory,
    text,
    words_of,
)

QUESTION = "Pick a random number between 1 and 100."
NUMBERS = "[1-9][0-9]{0,2}"
"""One to three digits: the LLM need not keep to what it is asked."""
PROMPTS: dict[str, dict[str, Any]] = {
    "prompt": {"prompt": f"{QUESTION}\nNumber: "},
    "chat": {"prompt": QUESTION, "chat": True},
}


def show(llm: LLM) -> None:
    """Print the answers to both prompts, and what they cost."""
    ends = [".", ",", "\n", llm.tokenizer.eos_token]
    for name, options in PROMPTS.items():
        print(f"### {name}: {options['prompt']!r}\n")
        model = llm.guided("0123456789", NUMBERS, ends=ends, **options)
        tree, cost = enumerated(model)
        print_learnt(model, tree, cost, {2: None, 4: None})
        print_states(tree)
        print_likeliest(tree, 8)
        words = words_of(tree)
        kept = np.array([int(text(word)) <= 100 for word in words])
        print(f"from 1 to 100: {tree.word_probabilities(words)[kept].sum():.3f}\n")
        small_picture(tree, 100, 6, f"llm-numbers-{name}")


if __name__ == "__main__":
    show(smollm_in_memory())
