"""The picture of the floors shows the floors as they are."""

from __future__ import annotations

from tools.floors_picture import PICTURE, picture


def test_the_picture_of_the_floors_is_not_stale() -> None:
    drawn = PICTURE.read_text("utf-8")
    assert drawn == picture(), "draw it again: python -m tools.floors_picture"
