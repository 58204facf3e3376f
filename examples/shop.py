"""Sessions in a shop, of which only samples are known.

pdfalearn learn shop.py:samples --max-words 40000 --store drawn.jsonl
"""

from __future__ import annotations

import random
from collections.abc import Hashable

from pdfalearn.sampled import Samples

source = random.Random(1)  # noqa: S311


def go_on(prefix: tuple[Hashable, ...]) -> list[str]:
    """Draw the rest of a session: only what is in the cart can be paid."""
    changes = [symbol for symbol in prefix if symbol != "look"]
    is_full, rest = changes[-1:] == ["add"], []
    while source.random() < 0.7:
        symbol = source.choice(["look", "pay"] if is_full else ["look", "look", "look", "add"])
        is_full = symbol == "add" or (is_full and symbol == "look")
        rest.append(symbol)
    return rest


def draw(prefix: tuple[Hashable, ...], count: int) -> list[list[str]]:
    """Draw so many of them."""
    return [go_on(prefix) for _ in range(count)]


samples = Samples(draw, ["add", "look", "pay"])
