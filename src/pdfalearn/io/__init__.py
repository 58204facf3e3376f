"""Files: JSON, NumPy archives, drawings, the formats of other programs, and lists of words."""

from typing import TYPE_CHECKING

from pdfalearn.doors import open_door

if TYPE_CHECKING:
    from pdfalearn.io.arpa import Ngram as Ngram
    from pdfalearn.io.arpa import read_arpa as read_arpa
    from pdfalearn.io.saving import check_can_save as check_can_save
    from pdfalearn.io.saving import load as load
    from pdfalearn.io.saving import load_pdfa as load_pdfa
    from pdfalearn.io.saving import save as save

if TYPE_CHECKING:  # for other rooms of the package
    from pdfalearn.io.dot import TIME_LIMIT as TIME_LIMIT
    from pdfalearn.io.dot import check_can_draw as check_can_draw
    from pdfalearn.io.dot import escape_label as escape_label
    from pdfalearn.io.dot import list_label as list_label
    from pdfalearn.io.dot import picture as picture
    from pdfalearn.io.dot import picture_writers as picture_writers
    from pdfalearn.io.dot import short_symbol_label as short_symbol_label
    from pdfalearn.io.other_programs import to_frame as to_frame
    from pdfalearn.io.other_programs import to_networkx as to_networkx
    from pdfalearn.io.other_programs import write_intervals as write_intervals
    from pdfalearn.io.pdfa_files import check_symbols as check_symbols
    from pdfalearn.io.saving import can_load as can_load
    from pdfalearn.io.saving import load_model as load_model
    from pdfalearn.io.saving import load_watching as load_watching
    from pdfalearn.io.saving import save_watching as save_watching
    from pdfalearn.io.tree_files import MOST_LEAVES as MOST_LEAVES
    from pdfalearn.io.tree_files import render_tree as render_tree
    from pdfalearn.io.word_files import WordLines as WordLines
    from pdfalearn.io.word_files import WordNotation as WordNotation
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
