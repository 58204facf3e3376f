"""The page of two automata: how far they are apart, and where they part."""

from __future__ import annotations

from pdfalearn.pdfa import PDFA
from pdfalearn.viewing.automaton import automaton_data, automaton_title
from pdfalearn.viewing.core import MOST_TRANSITIONS
from pdfalearn.viewing.page import Part
from pdfalearn.viewing.pair_data import comparison_data


def pair_title(a: PDFA, b: PDFA) -> str:
    """Return how the page of two automata is called if nobody says."""
    return f"PDFA of {len(a):,} and of {len(b):,} states"


def pair_parts(a: PDFA, b: PDFA) -> list[Part]:
    """Return the parts of the page of two automata."""
    compared = comparison_data(a, b)
    automata = [automaton_data(pdfa, most_transitions=MOST_TRANSITIONS // 2) for pdfa in (a, b)]
    names = [automaton_title(a), automaton_title(b)]
    return [Part("pair", "Where they differ", compared | {"automata": automata, "names": names})]
