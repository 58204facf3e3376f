"""The data of an automaton's page."""

from __future__ import annotations

from pdfalearn.pdfa import PDFA
from pdfalearn.viewing.page import Part


def automaton_title(pdfa: PDFA) -> str:
    """Return how the page of an automaton is called if nobody says."""
    states, symbols = len(pdfa), len(pdfa.alphabet)
    return (
        f"PDFA of {states:,} state{'s' * (states != 1)} "
        f"over {symbols:,} symbol{'s' * (symbols != 1)}"
    )


def automaton_parts(pdfa: PDFA) -> list[Part]:
    """Return the parts of an automaton's page."""
    return [Part("automaton", "", automaton_data(pdfa))]


def automaton_data(pdfa: PDFA) -> dict[str, object]:
    """Return what the panel of an automaton shows."""
    return {"states": len(pdfa)}
