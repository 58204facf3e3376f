"""Automata to learn: random targets and named examples."""

from typing import TYPE_CHECKING

from pdfalearn.doors import open_door

if TYPE_CHECKING:
    from pdfalearn.datasets.examples import chain as chain
    from pdfalearn.datasets.examples import combination_lock as combination_lock
    from pdfalearn.datasets.examples import figure_1 as figure_1
    from pdfalearn.datasets.examples import figure_2 as figure_2
    from pdfalearn.datasets.examples import figure_3 as figure_3
    from pdfalearn.datasets.examples import reber as reber
    from pdfalearn.datasets.examples import tomita as tomita
    from pdfalearn.datasets.targets import random_pdfa as random_pdfa
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
