"""Packages that only some functions need, which are extras; the axes of plots by one of them."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from pdfalearn.errors import InputError, MissingExtraError
from pdfalearn.text import described

# Dark enough to be seen on paper, and to differ from each other in grey.
COLOUR, MARK = "#1f4e79", "#b3261e"

_SIZE = (6.4, 4.0)


def check_installed(package: str, needed_for: str) -> None:
    """Refuse to go on without a package; say what needs it, and how to install it.

    Examples
    --------
    >>> check_installed("no_package", "graphs")
    Traceback (most recent call last):
    pdfalearn.errors.MissingExtraError: graphs need the package no_package, which is not \
installed: pip install no_package
    """
    if find_spec(package) is None:
        raise MissingExtraError(
            f"{needed_for} need the package {package}, which is not installed: "
            f"pip install {package}"
        )


def import_extra(module: str, needed_for: str) -> ModuleType:
    """Import a module of an extra, or say what needs it and how to install it."""
    check_installed(module.partition(".")[0], needed_for)
    return import_module(module)


def given_or_new_axes(axes: Any) -> Any:
    """Return the axes to draw on; new ones, of pyplot, where none are given.

    Those of pyplot are shown by notebooks, and by ``matplotlib.pyplot.show()`` elsewhere.

    Examples
    --------
    >>> given_or_new_axes(3)
    Traceback (most recent call last):
    pdfalearn.errors.InputError: axes 3 are not those of matplotlib
    """
    if axes is None:
        pyplot = import_extra("matplotlib.pyplot", "plots")
        return pyplot.subplots(figsize=_SIZE, layout="constrained")[1]
    if not hasattr(axes, "plot"):
        raise InputError(f"axes {described(axes)} are not those of matplotlib")
    return axes


def new_figure() -> Any:
    """Make a figure for a file, which no window or notebook shows."""
    return import_extra("matplotlib.figure", "plots").Figure(figsize=_SIZE, layout="constrained")


def finish(axes: Any, **labels: Any) -> Any:
    """Label axes, with a light grid and without a box around them."""
    axes.set(**labels)
    axes.grid(visible=True, color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    return axes


def write_numbers_in_full(axis: Any) -> None:
    """Label a logarithmic axis of counts with 1, 2, 3 and not with powers of ten."""
    from matplotlib.ticker import LogFormatter, StrMethodFormatter

    axis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axis.set_minor_formatter(LogFormatter(labelOnlyBase=False, minor_thresholds=(1.5, 0.5)))
