"""Files: JSON, NumPy archives, drawings, the formats of other programs, and lists of words."""

from typing import TYPE_CHECKING

from pdfalearn.doors import open_door

if TYPE_CHECKING:
    from pdfalearn.formats.arpa import Ngram as Ngram
    from pdfalearn.formats.arpa import read_arpa as read_arpa
    from pdfalearn.formats.dot import TIME_LIMIT as TIME_LIMIT
    from pdfalearn.formats.dot import check_can_draw as check_can_draw
    from pdfalearn.formats.dot import escaped_label as escaped_label
    from pdfalearn.formats.dot import list_label as list_label
    from pdfalearn.formats.dot import picture as picture
    from pdfalearn.formats.dot import picture_writers as picture_writers
    from pdfalearn.formats.dot import short_symbol_label as short_symbol_label
    from pdfalearn.formats.other_programs import to_frame as to_frame
    from pdfalearn.formats.other_programs import to_networkx as to_networkx
    from pdfalearn.formats.other_programs import write_intervals as write_intervals
    from pdfalearn.formats.pdfa_files import check_symbols as check_symbols
    from pdfalearn.formats.saving import check_can_save as check_can_save
    from pdfalearn.formats.saving import load as load
    from pdfalearn.formats.saving import load_pdfa as load_pdfa
    from pdfalearn.formats.saving import save as save
    from pdfalearn.formats.tree_files import MOST_LEAVES as MOST_LEAVES
    from pdfalearn.formats.tree_files import render_tree as render_tree
    from pdfalearn.formats.tree_files import save_tree as save_tree
    from pdfalearn.formats.word_files import WordLines as WordLines
    from pdfalearn.formats.word_files import WordNotation as WordNotation
    from pdfalearn.formats.word_files import encoded_lines as encoded_lines
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
