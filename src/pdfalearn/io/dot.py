"""Graphviz's drawings and pictures, and labels in them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from functools import partial
from typing import BinaryIO, TypeVar

from pdfalearn.alphabet import Symbol
from pdfalearn.errors import InputError, MissingExtraError
from pdfalearn.files import check_name
from pdfalearn.pdfa import PDFA
from pdfalearn.text import escaped, shorten

MOST_ITEMS = 8
"""Lists of symbols or numbers are cut after this many."""

MOST_CHARACTERS = 32
"""Pictures leave out the middle of longer symbols."""

_Item = TypeVar("_Item")

_ESCAPES = str.maketrans({'"': '\\"', "\\": "\\\\", "&": "&amp;"})


def escape_label(text: str) -> str:
    """Write a line of any text in the DOT language, so that it is seen as it is."""
    return escaped(text).translate(_ESCAPES)


def short_symbol_label(symbol: Symbol) -> str:
    """Show a symbol in a picture, quoted where it could be mistaken, without a long one's middle.

    Examples
    --------
    >>> short_symbol_label("a" * 1000), short_symbol_label("a,b")
    ('aaaaaaaaaaaaaaa...aaaaaaaaaaaaaaa', "'a,b'")
    """
    text = shorten(str(symbol), MOST_CHARACTERS)
    plain = text.isprintable() and text.strip() == text and text and not set(text) & set(",/")
    return (text if plain else repr(text)).translate(_ESCAPES)


def list_label(
    items: Sequence[_Item],
    separator: str,
    *,
    show: Callable[[_Item], str] = str,
    most: int = MOST_ITEMS,
) -> str:
    """Show a list; of a long one the end is left out, and the label says how much that is."""
    if len(items) <= most:
        return separator.join(map(show, items))
    left_out = len(items) - most + 1
    return separator.join([*map(show, items[: most - 1]), f"…{left_out} more"])


TIME_LIMIT = 30.0
"""Seconds that Graphviz may take for a picture."""

_OPTIONS = {"svg": ["-Tsvg"], "png": ["-Tpng", "-Gdpi=144"], "pdf": ["-Tpdf"]}

_Drawn = TypeVar("_Drawn")


def graphviz() -> str:
    """Find Graphviz's program, or say how to install it."""
    program = shutil.which("dot")
    if program is None:
        raise MissingExtraError(
            "drawings need Graphviz's program dot, which is not installed: "
            "apt-get install graphviz (Debian), brew install graphviz (macOS)"
        )
    return program


def picture(text: str, kind: str, *, name: str, remedy: str, time_limit: float) -> bytes:
    """Draw what a text in the DOT language describes, as "svg", "png" or "pdf".

    Errors call it ``name``, and advise the ``remedy`` when it takes more seconds than allowed.
    """
    if kind not in _OPTIONS:
        raise InputError(f"{kind!r} is not a kind of picture; use 'svg', 'png' or 'pdf'")
    try:
        done = subprocess.run(  # noqa: S603 (no part of the command comes from the caller)
            [graphviz(), *_OPTIONS[kind]],
            input=text.encode(),
            capture_output=True,
            timeout=time_limit,
            check=True,
        )
    except subprocess.TimeoutExpired as error:
        raise InputError(
            f"Graphviz did not finish {name} in {time_limit:g} seconds; {remedy}"
        ) from error
    except subprocess.CalledProcessError as error:
        complaint = error.stderr.decode(errors="replace").strip().partition("\n")[0]
        raise InputError(f"Graphviz could not draw {name}: {complaint}") from error
    return done.stdout


def picture_writers(
    render: Callable[[_Drawn, str], bytes],
) -> dict[str, Callable[[_Drawn, BinaryIO], None]]:
    """Make a writer for the ending of every kind of picture."""

    def write(kind: str, drawn: _Drawn, stream: BinaryIO) -> None:
        stream.write(render(drawn, kind))

    return {f".{kind}": partial(write, kind) for kind in _OPTIONS}


def check_can_draw(path: str | os.PathLike[str]) -> None:
    """Refuse the name of a picture where there is no Graphviz."""
    if check_name(path).lower().endswith(tuple(f".{kind}" for kind in _OPTIONS)):
        graphviz()


def write_dot(pdfa: PDFA, stream: BinaryIO) -> None:
    """Write the drawing that `draw` makes."""
    from pdfalearn.viewing import default_picture

    stream.write(default_picture(pdfa).dot.encode())
