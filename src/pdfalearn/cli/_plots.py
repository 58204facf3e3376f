"""Plots in files."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from pdfalearn.extras import new_figure
from pdfalearn.files import check_can_write, write_named


def check_can_save_plot(path: Path) -> None:
    """Raise now what `save_plot` would raise later."""
    check_can_write(path, _WRITERS)
    new_figure()


def save_plot(draw: Callable[[Any], Any], path: Path) -> None:
    """Write a plot to a file: ``.svg``, ``.png`` or ``.pdf``.

    Parameters
    ----------
    draw : callable
        Draws on the axes that it is given.
    path : Path
        The file.
    """
    figure = new_figure()
    draw(figure.subplots())
    write_named(figure, path, _WRITERS)


def _write(kind: str, figure: Any, stream: BinaryIO) -> None:
    figure.savefig(stream, format=kind)


_WRITERS: dict[str, Callable[[Any, BinaryIO], None]] = {
    f".{kind}": partial(_write, kind) for kind in ("svg", "png", "pdf")
}
