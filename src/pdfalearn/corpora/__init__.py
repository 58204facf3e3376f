"""Recorded words: as people have them in files, and as trees of their prefixes."""

from typing import TYPE_CHECKING

from pdfalearn.doors import open_door

if TYPE_CHECKING:
    from pdfalearn.corpora.corpus import Corpus as Corpus
    from pdfalearn.corpora.counting import StepCounts as StepCounts
    from pdfalearn.corpora.counting import count_steps as count_steps
    from pdfalearn.corpora.prefix_trees import PrefixTree as PrefixTree

if TYPE_CHECKING:  # for other rooms of the package
    from pdfalearn.corpora.corpus import FORMATS as FORMATS
    from pdfalearn.corpora.corpus import CorpusLike as CorpusLike
    from pdfalearn.corpora.corpus import as_corpus as as_corpus
    from pdfalearn.corpora.corpus import count_prefixes as count_prefixes
    from pdfalearn.corpora.corpus import is_corpus as is_corpus
    from pdfalearn.corpora.corpus import join_corpora as join_corpora
    from pdfalearn.corpora.counting import cut_at_unknown as cut_at_unknown
    from pdfalearn.corpora.dividing import Scheduler as Scheduler
    from pdfalearn.corpora.dividing import map_parts as map_parts
    from pdfalearn.corpora.sources import STANDARD_INPUT as STANDARD_INPUT
    from pdfalearn.corpora.sources import Source as Source
    from pdfalearn.corpora.sources import list_names as list_names
    from pdfalearn.corpora.symbol_codes import Others as Others
    from pdfalearn.corpora.symbol_codes import RecordedWords as RecordedWords
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
