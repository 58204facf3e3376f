"""Pictures by Graphviz."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from typing import BinaryIO, TypeVar

from pdfalearn.errors import InputError, MissingExtraError
from pdfalearn.files.named import check_name

TIME_LIMIT = 30.0
"""Seconds that Graphviz may take for a picture."""

_OPTIONS = {"svg": ["-Tsvg"], "png": ["-Tpng", "-Gdpi=144"], "pdf": ["-Tpdf"]}

PICTURES = tuple(f".{kind}" for kind in _OPTIONS)
"""The endings of pictures."""

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
    """Draw what a text in the DOT language describes.

    Parameters
    ----------
    text : str
        The description.
    kind : {"svg", "png", "pdf"}
        The kind of picture.
    name, remedy : str
        What errors call the thing that is drawn, and what they advise when it takes too long.
    time_limit : float
        Seconds that Graphviz may take.
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

    def writer(kind: str) -> Callable[[_Drawn, BinaryIO], None]:
        def write(drawn: _Drawn, stream: BinaryIO) -> None:
            stream.write(render(drawn, kind))

        return write

    return {f".{kind}": writer(kind) for kind in _OPTIONS}


def check_can_draw(path: str | os.PathLike[str]) -> None:
    """Refuse the name of a picture where there is no Graphviz."""
    if check_name(path).lower().endswith(PICTURES):
        graphviz()
