"""Pictures of automata for print and for talks."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import pairwise

from pdfalearn.alphabet import Word
from pdfalearn.checks import checked_integer, checked_number
from pdfalearn.errors import InputError
from pdfalearn.formats.dot import TIME_LIMIT
from pdfalearn.pdfa import PDFA, checked_pdfa
from pdfalearn.text import described, short_word_text
from pdfalearn.viewing.choosing import chosen
from pdfalearn.viewing.picture_texts import DIRECTIONS, Style, picture_text
from pdfalearn.viewing.pictures import Picture, check_can_save_picture


def draw(
    pdfa: PDFA,
    path: str | os.PathLike[str] | None = None,
    *,
    most_states: int | None = None,
    least: float | None = None,
    digits: int = 2,
    direction: str = "right",
    word: Word | None = None,
    marked: Iterable[int] = (),
    title: str = "",
    time_limit: float = TIME_LIMIT,
) -> Picture:
    """Draw a picture of an automaton that can be read, whatever its size; needs Graphviz.

    A state shows its number and, in a double ring, its terminal probability. The darker a state,
    the more words visit it; the wider an edge, the more words take it. All symbols between two
    states share an edge. What is left out is said below the picture, and in each state behind "…".

    Parameters
    ----------
    pdfa : PDFA
        The automaton.
    path : str or os.PathLike, optional
        Where to write the picture: ``.svg``, ``.pdf``, ``.png``, or ``.dot`` for its text, which
        does not need Graphviz. `save` writes complete files in ``.dot``, to be loaded again.
    most_states : int, optional
        How many states to draw at most: those that words visit most. By default all up to 60, and
        of more at most 30 that carry most of the visits.
    least : float, optional
        The least probability of an edge; the likeliest to and from a state are drawn anyway.
        With 0 every transition is drawn, also those of probability 0, which are dashed. By default
        all that are possible, and where these are many, so few that the picture can be read.
    digits : int
        Significant digits of probabilities, 1 to 6.
    direction : {"right", "down"}
        Where the picture grows to.
    word : sequence of symbols, optional
        A word whose way stands out; its states are drawn in any case.
    marked : iterable of int
        States that stand out; they are drawn in any case.
    title : str
        What stands above the picture.
    time_limit : float
        Seconds that Graphviz may take.

    Returns
    -------
    Picture
        It shows itself in a notebook; ``svg`` is its text, and ``note`` what is left out.

    Raises
    ------
    InputError
        If an argument is wrong, the word is undefined, or Graphviz takes too long.
    MissingExtraError
        If Graphviz is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from pdfalearn import random_pdfa
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     draw(random_pdfa(150, seed=1), f"{folder}/large.dot", most_states=10)
    Picture(states=10, note='10 of 158 states, 0.918 of the visits')
    """
    pdfa = checked_pdfa(pdfa, "pdfa")
    if path is not None:
        check_can_save_picture(path)
    way = _way(pdfa, word)
    marks = _checked_marks(pdfa, marked)
    style = Style(
        digits=checked_integer(digits, "digits", 1, 6),
        direction=_checked_direction(direction),
        marked=marks | frozenset(way),
        way=frozenset(pairwise(way)),
        title=_checked_title(title),
    )
    part = chosen(
        pdfa,
        most_states=None if most_states is None else checked_integer(most_states, "most_states", 1),
        least=None if least is None else checked_number(least, "least", 0, 1),
        always=style.marked,
        way=style.way,
    )
    limit = checked_number(time_limit, "time_limit", 0, 1e6)
    picture = Picture(len(part.edges.states), part.note, picture_text(part, style), limit)
    if path is None:
        picture.svg  # noqa: B018  now, so that errors come from here and not from a notebook
    else:
        picture.save(path)
    return picture


def default_picture(pdfa: PDFA) -> Picture:
    """Describe the picture that `save` writes; it is drawn later."""
    part = chosen(pdfa)
    return Picture(len(part.edges.states), part.note, picture_text(part, Style()))


def _way(pdfa: PDFA, word: Word | None) -> list[int]:
    """Return the states of a word's run, or refuse an undefined word."""
    if word is None:
        return []
    (codes,) = pdfa.alphabet.encode_words([word])
    way = [pdfa.initial]
    for length, code in enumerate(codes, 1):
        way.append(int(pdfa.table[way[-1], code]))
        if way[-1] < 0:
            symbols = [pdfa.alphabet.symbols[code] for code in codes[:length]]
            shown = short_word_text(symbols, joined=False)
            raise InputError(f"the word is undefined after {shown}; draw a word that is defined")
    return way


def _checked_marks(pdfa: PDFA, given: Iterable[int]) -> frozenset[int]:
    if not isinstance(given, Iterable):
        raise InputError(f"marked {described(given)} is not a list of states")
    return frozenset(pdfa.checked_state(state, "marked state") for state in given)


def _checked_direction(given: str) -> str:
    if not isinstance(given, str) or given not in DIRECTIONS:
        names = " or ".join(map(repr, DIRECTIONS))
        raise InputError(f"direction {described(given)} is not {names}")
    return given


def _checked_title(given: str) -> str:
    if not isinstance(given, str):
        raise InputError(f"title {described(given)} is not a string")
    return given
