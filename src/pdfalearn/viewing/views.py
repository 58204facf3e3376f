"""Pages of things: which class is shown by which parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pdfalearn.errors import InputError
from pdfalearn.pdfa import PDFA, checked_pdfa, pdfa_remedy
from pdfalearn.results import Frontier, Result
from pdfalearn.text import described
from pdfalearn.viewing.automaton import automaton_parts, automaton_title
from pdfalearn.viewing.frontier import frontier_parts, frontier_title
from pdfalearn.viewing.page import Page, Part, page_of
from pdfalearn.viewing.pair import pair_parts, pair_title
from pdfalearn.viewing.result import result_parts, result_title

_SHOWN: dict[type, tuple[Callable[[Any], str], Callable[[Any], list[Part]]]] = {
    PDFA: (automaton_title, automaton_parts),
    Result: (result_title, result_parts),
    Frontier: (frontier_title, frontier_parts),
}
"""How the things of a class are called if nobody says, and of what their page is made."""


def view(thing: object, other: PDFA | None = None, *, title: str | None = None) -> Page:
    """Make an interactive page: one file that needs no network.

    Parameters
    ----------
    thing : PDFA, Result or Frontier
        What to look at.
    other : PDFA, optional
        A second automaton over the same symbols: the page shows where the two differ.
    title : str, optional
        The title of the page; if not given, it names the kind and the size.

    Returns
    -------
    Page
        ``page.save("view.html")`` writes it; in a notebook it shows itself.

    Raises
    ------
    InputError
        If the thing is none of these, or if the symbols of two automata differ.

    Examples
    --------
    >>> from pdfalearn.datasets import figure_1
    >>> view(figure_1()).title
    'PDFA of 2 states over 1 symbol'
    >>> view(figure_1(), figure_1(0.25)).title
    'PDFA of 2 and of 2 states'
    """
    if other is not None:
        a, b = checked_pdfa(thing, "thing"), checked_pdfa(other, "other")
        return page_of(pair_title(a, b) if title is None else str(title), pair_parts(a, b))
    name, parts = _shown_as(thing)
    return page_of(name(thing) if title is None else str(title), parts(thing))


def _shown_as(thing: object) -> tuple[Callable[[Any], str], Callable[[Any], list[Part]]]:
    """Find how the things of a class, or of one above it, are shown."""
    for above in type(thing).__mro__:
        if above in _SHOWN:
            return _SHOWN[above]
    kinds = ", ".join(cls.__name__ for cls in _SHOWN)
    raise InputError(
        f"there is no page of {described(thing)}; what has one: {kinds}; {pdfa_remedy(thing)}"
    )
