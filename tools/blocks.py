"""The code blocks of a document in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class Block(NamedTuple):
    """A block between fences, with the number of lines above it."""

    language: str
    text: str
    line: int


def blocks_of(text: str) -> Iterator[Block]:
    """Yield the blocks of a document that name their language."""
    for match in re.finditer(r"^```(\w+)[^\n]*\n(.*?)^```\s*$", text, re.DOTALL | re.MULTILINE):
        yield Block(match[1], match[2], text.count("\n", 0, match.start(2)))
