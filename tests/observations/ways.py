"""The two ways of an observation tree with words: one after the other, or all at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from pdfalearn.models import batch
from pdfalearn.observations import asking, tree


@contextmanager
def one_by_one(few: bool) -> Iterator[None]:
    """Have trees and batches take any number of words for few, or for many."""
    border = 10**9 if few else 0
    with (
        patch.object(tree, "FEW", border),
        patch.object(asking, "FEW", border),
        patch.object(batch, "FEW", border),
    ):
        yield
