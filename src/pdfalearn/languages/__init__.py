"""Regular languages: regular expressions, DFA, and whatever else a user calls a language."""

from typing import TYPE_CHECKING

from pdfalearn.doors import open_door

if TYPE_CHECKING:
    from pdfalearn.languages.dfa import DFA as DFA
    from pdfalearn.languages.kinds import BeginsWith as BeginsWith
    from pdfalearn.languages.kinds import Contains as Contains
    from pdfalearn.languages.kinds import EndsWith as EndsWith
    from pdfalearn.languages.kinds import HasLength as HasLength
    from pdfalearn.languages.kinds import Language as Language
    from pdfalearn.languages.kinds import Not as Not

if TYPE_CHECKING:  # for other rooms of the package
    from pdfalearn.languages.byte_dfa import containing as containing
    from pdfalearn.languages.byte_dfa import cut_at_stop as cut_at_stop
    from pdfalearn.languages.byte_dfa import label_texts as label_texts
    from pdfalearn.languages.dfa import complement as complement
    from pdfalearn.languages.dfa import find_support as find_support
    from pdfalearn.languages.dfa import over_alphabet as over_alphabet
    from pdfalearn.languages.dfa import trim_dfa as trim_dfa
    from pdfalearn.languages.kinds import LanguageLike as LanguageLike
    from pdfalearn.languages.kinds import intersection as intersection
    from pdfalearn.languages.kinds import language_dfa as language_dfa
    from pdfalearn.languages.labelled import OPEN as OPEN
    from pdfalearn.languages.labelled import LabelledDFA as LabelledDFA
    from pdfalearn.languages.labelled import label_languages as label_languages
    from pdfalearn.languages.regex import regex_dfa as regex_dfa
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
