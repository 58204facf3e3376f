"""Arrays that grow, maps and numbers of integers and rows, union-find: below all other rooms."""

from typing import TYPE_CHECKING

from pdfalearn.doors import open_door

if TYPE_CHECKING:
    from pdfalearn.arrays.numbering import IntMap as IntMap
    from pdfalearn.arrays.numbering import RowNumbers as RowNumbers
    from pdfalearn.arrays.numbering import numbered_rows as numbered_rows
    from pdfalearn.arrays.passes import firsts as firsts
    from pdfalearn.arrays.passes import grown as grown
    from pdfalearn.arrays.passes import one_thread as one_thread
    from pdfalearn.arrays.passes import reaching as reaching
    from pdfalearn.arrays.passes import spelled as spelled
    from pdfalearn.arrays.union_find import UnionFind as UnionFind
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
