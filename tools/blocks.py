"""The code blocks of a document in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class Block(NamedTuple):
    """A block between fences, with the number of lines above it.

    What a ``python`` block prints is the ``text`` block right behind it, where there is one.
    """

    language: str
    text: str
    line: int
    output: str | None = None


_FENCED = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```\s*$", re.DOTALL | re.MULTILINE)


def blocks_of(text: str) -> Iterator[Block]:
    """Yield the blocks of a document that name their language."""
    found = list(_FENCED.finditer(text))
    outputs = {
        code: output[2]
        for code, output in enumerate(found[1:])
        if (found[code][1], output[1]) == ("python", "text")
        and not text[found[code].end() : output.start()].strip()
    }
    for place, match in enumerate(found):
        if place - 1 not in outputs:
            line = text.count("\n", 0, match.start(2))
            yield Block(match[1], match[2], line, outputs.get(place))
