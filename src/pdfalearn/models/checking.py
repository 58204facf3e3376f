"""What a model and its sessions return, checked for its form."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pdfalearn.alphabet import Alphabet
from pdfalearn.checks import checked_integer
from pdfalearn.errors import InputError, ModelError
from pdfalearn.models.cost import QueryCost
from pdfalearn.models.protocol import Handles, LanguageModel, Mask, Session
from pdfalearn.rows import Rows
from pdfalearn.words import Words

LEAST_ROOM = 3
"""A session that bounds its handles has room for the empty word, a word, and what follows it."""


class Members(NamedTuple):
    """What a model says about itself."""

    alphabet: Alphabet
    fingerprint: str | None
    cost: QueryCost


def checked_model_members(model: LanguageModel) -> Members:
    """Return what a model says about itself; refuse what is wrong."""
    alphabet = _member(model, "alphabet", "set it to an Alphabet")
    if not isinstance(alphabet, Alphabet):
        raise _wrong(model, "alphabet", alphabet, "set it to an Alphabet")
    fingerprint = _member(model, "fingerprint", "set it to a text, or to None")
    if not (fingerprint is None or (isinstance(fingerprint, str) and fingerprint)):
        raise _wrong(
            model, "fingerprint", fingerprint, "set it to a text that is not empty, or to None"
        )
    cost = _member(model, "cost", "set it to a QueryCost")
    if not isinstance(cost, QueryCost):
        raise _wrong(
            model, "cost", cost, "set it to a QueryCost, such as QueryCost(word=1, prefix=1)"
        )
    return Members(alphabet, fingerprint, cost)


def checked_session(model: LanguageModel) -> Session:
    """Open a session; refuse anything that is not a session."""
    session: object = model.open()
    if isinstance(session, Session):
        return session
    raise ModelError(
        f"{type(model).__name__}.open returned {_short(session)}: it has to return an object of a "
        "subclass of Session"
    )


def checked_shared(session: Session) -> bool:
    """Return whether a session's handles are shared by words."""
    shared = _member(session, "shared", "set it to True or False")
    if not isinstance(shared, bool | np.bool_):
        raise _wrong(session, "shared", shared, "set it to True or False")
    return bool(shared)


def checked_room(session: Session) -> int | None:
    """Return for how many handles a session has room, None if for any number."""
    remedy = f"set it to None, or to the most handles that may be alive, at least {LEAST_ROOM}"
    room = _member(session, "room", remedy)
    if room is None:
        return None
    try:
        return checked_integer(room, "room", LEAST_ROOM, 2**62)
    except InputError as error:
        raise _wrong(session, "room", room, remedy) from error


def checked_start(session: Session) -> int:
    """Have a session begin with the empty word; return the handle."""
    given = session.start()
    remedy = "it has to return a handle of the empty word, an integer from 0 on"
    try:
        handle = checked_integer(given, "handle", -1, 2**63 - 1)
    except InputError as error:
        raise ModelError(
            f"{type(session).__name__}.start returned {_short(given)}: {remedy}"
        ) from error
    if handle < 0:
        raise ModelError(
            f"{type(session).__name__}.start returned -1: the empty word is undefined, which it "
            f"must not be; {remedy}"
        )
    return handle


def checked_extension(
    given: object, words: Words, named: Callable[[int], str] = "word {} of the batch".format
) -> Handles:
    """Return what a session's `extend` has returned for words; refuse a wrong form.

    ``named`` writes the name of a word, which is given by its place in the batch.
    """
    count = len(words.symbols)
    if not isinstance(given, np.ndarray) or given.dtype != np.int64 or given.shape != (count,):
        given = _as_handles(given, count)
    if not count or (least := int(given.min())) >= 0:
        return given
    if least < -1:
        name = named(_place_of(int(given.argmin()), words))
        raise ModelError(
            f"extend returned the handle {least} in {name}: a handle is 0 or more, or -1 where the "
            "word is undefined"
        )
    back = _first_back(given, words)
    if back is not None:
        raise ModelError(
            f"extend returned -1 and then a handle again in {named(_place_of(back, words))}: what "
            "goes on from an undefined word is undefined, so return -1 from the first -1 on"
        )
    return given


def checked_rows(given: object, count: int, width: int) -> Rows:
    """Return what a session's `read` has returned; refuse a wrong form.

    Callers, who know the words, check whether the rows are distributions.
    """
    if not isinstance(given, Rows):
        raise ModelError(
            f"read returned {_short(given)}: it has to return Rows, such as Rows.dense(table)"
        )
    if given.is_plain(count, width):
        return given
    wrong = _wrong_shape(given, count, width)
    if wrong is not None:
        raise ModelError(
            f"read returned {wrong}: for {count} words it has to return {count} rows of {width} "
            "columns, the terminal first, then every symbol"
        )
    return given


def checked_possible(given: object, count: int, symbols: int) -> Mask | Words | None:
    """Return what a session's `possible` has returned; refuse a wrong form."""
    if given is None:
        return None
    if isinstance(given, Words):
        codes = given.symbols
        in_range = not len(codes) or (codes.dtype.kind in "iu" and codes.min() >= 0)
        if len(given) == count and in_range and not (len(codes) and codes.max() >= symbols):
            return given
        what = f"{len(given)} lists of symbols, or codes that are not below {symbols}"
    elif isinstance(given, np.ndarray) and given.dtype == bool:
        if given.shape == (count, symbols):
            return given
        what = f"a mask of shape {given.shape}"
    else:
        what = _short(given)
    raise ModelError(
        f"possible returned {what}: for {count} words it has to return an array of bool of shape "
        f"({count}, {symbols}), Words that list the symbols of each, or None"
    )


def close_quietly(session: Session) -> str | None:
    """Close a session, whatever happens; return a line about what went wrong, if anything did."""
    try:
        session.close()
    except BaseException as error:  # what was learnt counts for more than how the model ends
        return f"{_innermost(session)}.close raised {error_text(error)}"
    return None


def _innermost(session: Session) -> str:
    """Return the class of the session inside of all wrappers, whose code answers."""
    while isinstance(inner := getattr(session, "inner", None), Session):
        session = inner
    return type(session).__name__


def error_text(error: BaseException) -> str:
    """Write an error in one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _wrong_shape(rows: Rows, count: int, width: int) -> str | None:
    """Return which array of rows does not have the shape or the type that it needs."""
    if rows.width != width:
        return f"rows of {rows.width} columns"
    if rows.offsets is None or rows.columns is None:
        needed: list[tuple[str, tuple[int, ...], str]] = [("values", (count, width), "iuf")]
    else:
        wrong = _wrong_array(rows, "offsets", (count + 1,), "iu")
        if wrong is not None:
            return wrong
        if rows.offsets[0] != 0 or (np.diff(rows.offsets) < 0).any():
            return "offsets that do not ascend from 0"
        listed = (int(rows.offsets[-1]),)
        needed = [("values", listed, "iuf"), ("columns", listed, "iu")]
    beside = {"rest": "iuf", "ceiling": "iuf", "undefined": "b", "outside": "iuf"}
    needed += [(name, (count,), kinds) for name, kinds in beside.items()]
    return next(filter(None, (_wrong_array(rows, *array) for array in needed)), None)


def _wrong_array(rows: Rows, name: str, shape: tuple[int, ...], kinds: str) -> str | None:
    array = getattr(rows, name)
    if array is None:
        return None
    if not isinstance(array, np.ndarray):
        return f"rows whose {name} are {_short(array)}, not an array"
    if array.shape != shape:
        return f"rows whose {name} have shape {array.shape}, not {shape}"
    if array.size and array.dtype.kind not in kinds:
        return f"rows whose {name} are an array of {array.dtype}"
    return None


def _as_handles(given: object, count: int) -> Handles:
    try:
        handles = np.asarray(given)
    except (TypeError, ValueError) as error:
        raise ModelError(_not_handles(_short(given), count)) from error
    if handles.shape != (count,):
        shape = f"an array of shape {handles.shape}" if handles.ndim else _short(given)
        raise ModelError(_not_handles(shape, count))
    if count and handles.dtype.kind not in "iu":
        raise ModelError(_not_handles(f"an array of {handles.dtype}", count))
    return handles.astype(np.int64)


def _not_handles(what: str, count: int) -> str:
    return (
        f"extend returned {what}: for words of {count} symbols together it has to return an array "
        f"of int of shape ({count},), a handle for every symbol"
    )


def _first_back(handles: Handles, words: Words) -> int | None:
    """Return the first symbol after which a word is defined that was undefined before it."""
    back = handles >= 0
    back[1:] &= handles[:-1] < 0
    back[words.offsets[:-1][words.lengths > 0]] = False
    return int(back.argmax()) if back.any() else None


def _place_of(symbol: int, words: Words) -> int:
    """Return the place of the word that a symbol of a batch stands in."""
    return int(np.searchsorted(words.offsets, symbol, side="right")) - 1


def _member(owner: object, name: str, remedy: str) -> object:
    try:
        return getattr(owner, name)
    except Exception as error:
        lacks = isinstance(error, AttributeError) and not hasattr(type(owner), name)
        what = f"has no {name}" if lacks else f"has {name} that raised {error_text(error)}"
        raise ModelError(f"{type(owner).__name__} {what}: {remedy}") from error


def _wrong(owner: object, name: str, given: object, remedy: str) -> ModelError:
    return ModelError(f"{type(owner).__name__}.{name} is {_short(given)}: {remedy}")


def _short(given: object) -> str:
    text = " ".join(repr(given).split())
    return text if len(text) <= 80 else f"{text[:70]}… (a {type(given).__name__})"
