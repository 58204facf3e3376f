"""The picture of the floors and their table show the floors as they are."""

from __future__ import annotations

from tools.floors import floors_table
from tools.floors_picture import PAGE, PICTURE, page, picture

REMEDY = "write it again: python -m tools.floors_picture"


def test_the_picture_of_the_floors_is_not_stale() -> None:
    assert PICTURE.read_text("utf-8") == picture(), REMEDY


def test_the_table_of_the_floors_is_not_stale() -> None:
    assert PAGE.read_text("utf-8") == page(), REMEDY
    assert floors_table() in page()
