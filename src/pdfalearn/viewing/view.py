"""Pages of things: which class is shown by which parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pdfalearn.errors import InputError
from pdfalearn.pdfa import PDFA, pdfa_remedy
from pdfalearn.text import described
from pdfalearn.viewing.automaton import automaton_parts, automaton_title
from pdfalearn.viewing.page import Page, Part, page_of

_SHOWN: dict[type, tuple[Callable[[Any], str], Callable[[Any], list[Part]]]] = {
    PDFA: (automaton_title, automaton_parts),
}
"""How the things of a class are called if nobody says, and of what their page is made."""


def view(thing: object, *, title: str | None = None) -> Page:
    """Make an interactive page of an automaton: one file that needs no network.

    Parameters
    ----------
    thing : PDFA
        What to look at.
    title : str, optional
        The title of the page; if not given, it names the kind and the size.

    Returns
    -------
    Page
        ``page.save("view.html")`` writes it; in a notebook it shows itself.

    Raises
    ------
    InputError
        If the thing is none of these.

    Examples
    --------
    >>> from pdfalearn import figure_1
    >>> view(figure_1()).title
    'PDFA of 2 states over 1 symbol'
    """
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
