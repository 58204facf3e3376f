"""Draw the floors of the package, from the list that a test checks: docs/floors.svg.

``python -m tools.floors_picture`` writes the picture, and the table in docs/architecture.md;
``tests/site/test_floors_picture.py`` fails when they are stale.
"""

from __future__ import annotations

import re
from pathlib import Path
from xml.sax.saxutils import escape

from tools.floors import FLOORS, floors_table

PICTURE = Path(__file__).parents[1] / "docs" / "floors.svg"
PAGE = PICTURE.with_name("architecture.md")
_TABLE = re.compile(r"^\| floor \|.*?(?=\n\n)", re.DOTALL | re.MULTILINE)

_WIDTH, _HEIGHT, _MARGIN, _GAP = 760, 30, 12, 6
_CHARACTER = 7.6
_COLOURS = ("#e7f3f1", "#d5e9e6", "#fdf1dd", "#fbe3da")
_HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
    'font-family="ui-monospace, monospace" font-size="13">'
)


def picture() -> str:
    """Return the picture: the highest floor on top, each with its rooms."""
    floors = [floor.rooms for floor in reversed(FLOORS)]
    height = 2 * _MARGIN + len(floors) * (_HEIGHT + _GAP) + 20
    lines = [_HEAD.format(width=_WIDTH, height=height)]
    lines.append("<title>The floors of pdfalearn: a room imports only from floors below</title>")
    lines.append(f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>')
    for place, rooms in enumerate(floors):
        lines += _floor(len(floors) - 1 - place, rooms, _MARGIN + place * (_HEIGHT + _GAP))
    text = "A room imports only from floors below its own; the lowest imports nothing of ours."
    lines.append(f'<text x="{_MARGIN}" y="{height - _MARGIN}" fill="#4a5261">{text}</text>')
    return "\n".join([*lines, "</svg>\n"])


def _floor(number: int, rooms: tuple[str, ...], top: int) -> list[str]:
    middle = top + _HEIGHT / 2 + 5
    lines = [f'<text x="{_MARGIN}" y="{middle}" fill="#4a5261">{number}</text>']
    left = 3.0 * _MARGIN
    for room in rooms:
        width = len(room) * _CHARACTER + 2 * _MARGIN
        lines.append(
            f'<rect x="{left:.1f}" y="{top}" width="{width:.1f}" height="{_HEIGHT}" rx="5" '
            f'fill="{_COLOURS[number * len(_COLOURS) // len(FLOORS)]}" stroke="#1d3557"/>'
        )
        lines.append(f'<text x="{left + _MARGIN:.1f}" y="{middle}">{escape(room)}</text>')
        left += width + _GAP
    return lines


def page() -> str:
    """Return the page of the architecture with the table as it has to be."""
    return _TABLE.sub(lambda _: floors_table(), PAGE.read_text(encoding="utf-8"), count=1)


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
