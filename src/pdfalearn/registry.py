"""What higher floors offer for things of lower ones: how to show, save and load them.

A lower floor never imports a higher one. It looks up a function here by name. `pdfalearn/__init__`
has registered where the function is; its module is imported at the first use.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

_OFFERS: dict[tuple[str, str], str] = {}


def offer(verb: str, kind: str, place: str) -> None:
    """Note where a function is.

    Parameters
    ----------
    verb : str
        What it does, such as "picture", "save" or "load".
    kind : str
        The name of the class that it does this for, or the ending of a file.
    place : str
        Its module and its name, as in "pdfalearn.viewing.drawing:default_picture".
    """
    _OFFERS[verb, kind] = place


def offered(verb: str, kind: str) -> Callable[..., Any] | None:
    """Return the function that does something for a kind of thing, or None if there is none.

    Examples
    --------
    >>> offer("length", "str", "builtins:len")
    >>> offered("length", "str")("abc"), offered("length", "nothing")
    (3, None)
    """
    place = _OFFERS.get((verb, kind))
    if place is None:
        return None
    module, name = place.split(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function


def offered_for(verb: str, cls: type) -> Callable[..., Any] | None:
    """Return the function for things of a class, or of one above it, or None if there is none.

    Examples
    --------
    >>> offer("length", "int", "builtins:len")
    >>> offered_for("length", bool)("abc"), offered_for("length", float)
    (3, None)
    """
    functions = (offered(verb, above.__name__) for above in cls.__mro__)
    return next((function for function in functions if function is not None), None)


def kinds(verb: str) -> list[str]:
    """Return the kinds of things for which something is offered."""
    return [kind for offered_verb, kind in _OFFERS if offered_verb == verb]


def shown(verb: str, thing: object) -> Any:
    """Return what the function for a thing's class, or for one above it, makes of the thing."""
    function = offered_for(verb, type(thing))
    return None if function is None else function(thing)
