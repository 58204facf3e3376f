"""Recorded words: as people have them in files, and as trees of their prefixes."""

from typing import TYPE_CHECKING

from pdfalearn.doors import open_door

if TYPE_CHECKING:
    from pdfalearn.corpora.prefix_trees import PrefixTree as PrefixTree
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
