"""Packages that only some functions need, which are extras of this one."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from pdfalearn.errors import MissingExtraError


def import_exchange(name: str, needed_for: str) -> ModuleType:
    """Import a package of the extra ``exchange``, or say what needs it and how to install it.

    Examples
    --------
    >>> import_exchange("no_package", "graphs")
    Traceback (most recent call last):
    pdfalearn.errors.MissingExtraError: graphs need the package no_package, which is not \
installed: pip install 'pdfalearn[exchange]'
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"{needed_for} need the package {name}, which is not installed: "
            "pip install 'pdfalearn[exchange]'"
        ) from error


def import_matplotlib(name: str) -> ModuleType:
    """Import a module of matplotlib, or say how to install it."""
    try:
        import_module("matplotlib")
        return import_module(f"matplotlib.{name}")
    except ImportError as error:
        raise MissingExtraError(
            "a plot needs matplotlib: pip install 'pdfalearn[report]'"
        ) from error
