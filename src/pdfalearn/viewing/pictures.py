"""A picture that Graphviz draws: in files, as text, and in notebooks."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import BinaryIO

from pdfalearn.files.named import check_can_write, write_named
from pdfalearn.formats.dot import TIME_LIMIT, check_can_draw, picture, picture_writers

_REMEDY = "draw fewer states or a higher least probability, or allow a longer time_limit"


@dataclass(frozen=True)
class Picture:
    """A picture of an automaton, which shows itself in a notebook; `draw` makes them.

    Examples
    --------
    >>> import tempfile
    >>> from pdfalearn import draw, figure_3
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     picture = draw(figure_3(), f"{folder}/figure.dot")
    >>> picture.states, picture.note, picture.dot[:7]
    (4, '', 'digraph')
    """

    states: int
    """How many states it shows."""
    note: str
    """What is left out, as it stands in the picture; empty if nothing is."""
    dot: str = field(repr=False)
    """The picture in Graphviz's language."""
    time_limit: float = field(default=TIME_LIMIT, repr=False)
    """Seconds that Graphviz may take."""

    @cached_property
    def svg(self) -> str:
        """The picture as SVG, drawn by Graphviz."""
        return self.rendered("svg").decode()

    def _repr_svg_(self) -> str:
        return self.svg

    def rendered(self, kind: str) -> bytes:
        """Let Graphviz draw the picture.

        Parameters
        ----------
        kind : {"svg", "png", "pdf"}
            The kind of picture.
        """
        name = f"a picture of {self.states} state{'s' * (self.states != 1)}"
        return picture(self.dot, kind, name=name, remedy=_REMEDY, time_limit=self.time_limit)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to a file: ``.svg``, ``.png``, ``.pdf``, or ``.dot`` for its text.

        Parameters
        ----------
        path : str or os.PathLike
            The file. ``.dot`` does not need Graphviz.
        """
        write_named(self, path, _WRITERS)


def check_can_save_picture(path: str | os.PathLike[str]) -> None:
    """Raise now what `Picture.save` would raise later."""
    check_can_write(path, _WRITERS)
    check_can_draw(path)


def _write_dot(drawn: Picture, stream: BinaryIO) -> None:
    stream.write(drawn.dot.encode())


_WRITERS: dict[str, Callable[[Picture, BinaryIO], None]] = {
    **picture_writers(Picture.rendered),
    ".dot": _write_dot,
}
ENDINGS = tuple(_WRITERS)
"""The endings of pictures' files."""
