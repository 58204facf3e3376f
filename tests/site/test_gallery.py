"""The gallery's documents write what they show."""

from __future__ import annotations

import pytest

from tools import gallery

pytestmark = pytest.mark.slow


def test_what_blocks_write_is_kept_by_name() -> None:
    text = """
```python
from pathlib import Path

import pdfalearn

Path("a.svg").write_text("one")
Path("left-out.txt").write_text("two")
```

```python
Path("b.html").write_text(str(len(pdfalearn.__all__) > 0))
```
"""
    assert list(gallery.made_by(text, "x.md")) == [("a.svg", b"one"), ("b.html", b"True")]


def test_a_document_without_blocks_makes_nothing() -> None:
    assert list(gallery.made_by("# Words only", "x.md")) == []


def test_a_block_that_fails_ends_the_build_with_its_document() -> None:
    with pytest.raises(RuntimeError, match=r"docs/gallery/x\.md do not run(.|\n)*no such thing"):
        list(gallery.made_by("```python\nraise ValueError('no such thing')\n```\n", "x.md"))
