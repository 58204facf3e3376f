"""What the model inside a wrapper returns; refused where it breaks the protocol."""

from __future__ import annotations

import numpy as np

from pdfalearn.alphabet import shortened
from pdfalearn.checks import checked_integer
from pdfalearn.errors import InputError, ModelError
from pdfalearn.models.protocol import Handles, LanguageModel, Mask, Session
from pdfalearn.row_checks import BadRowError, given_rows
from pdfalearn.rows import Rows
from pdfalearn.words import Words


def opened(model: LanguageModel) -> Session:
    """Begin a conversation."""
    session = model.open()
    if not isinstance(session, Session):
        raise ModelError(f"{model!r}: open gave {_what(session)}; it has to give a Session")
    return session


def started(session: Session) -> int:
    """Return the handle of the empty word; -1 if that is undefined."""
    handle = session.start()
    try:
        return checked_integer(handle, "the handle", -1, 2**63 - 1)
    except InputError as error:
        raise ModelError(
            f"start gave {_what(handle)}; it has to give the handle of the empty word, an integer "
            "from 0 on"
        ) from error


def extended(session: Session, handles: Handles, words: Words) -> Handles:
    """Return a handle for every symbol; -1 where that is undefined."""
    given: object = session.extend(handles, words)
    if (
        not isinstance(given, np.ndarray)
        or given.shape != words.symbols.shape
        or given.dtype.kind not in "iu"
    ):
        raise ModelError(
            f"extend gave {_what(given)} for words of {len(words.symbols)} symbols in all; it has "
            "to give an array of integers, one for each symbol"
        )
    return given.astype(np.int64, copy=False)


def rows_read(session: Session, handles: Handles, symbols: int) -> Rows:
    """Return the distributions after the words of handles."""
    rows = given_rows(session.read(handles), len(handles), symbols + 1)
    if not _fit_together(rows):
        raise BadRowError(
            "the parts of its Rows do not fit together: offsets begin with 0, ascend, and end with "
            "the number of columns and of values; all else has a number for each row"
        )
    return rows


def _fit_together(rows: Rows) -> bool:
    """Return whether the arrays of rows have the shapes that they have to have."""
    count, offsets, columns = len(rows), rows.offsets, rows.columns
    beside = (rows.rest, rows.ceiling, rows.undefined, rows.outside)
    if any(part is not None and part.shape != (count,) for part in beside):
        return False
    if offsets is None or columns is None:
        return offsets is columns is None
    return bool(
        offsets[0] == 0
        and (offsets[1:] >= offsets[:-1]).all()
        and columns.shape == rows.values.shape == (offsets[-1],)
    )


def possible_after(session: Session, handles: Handles, symbols: int) -> Mask | Words | None:
    """Return which symbols may follow, as far as the model knows."""
    given: object = session.possible(handles)
    if given is None:
        return None
    if isinstance(given, Words) and len(given) == len(handles):
        return given
    shape = len(handles), symbols
    if isinstance(given, np.ndarray) and given.shape == shape and given.dtype.kind == "b":
        return given
    raise ModelError(
        f"possible gave {_what(given)} for {len(handles)} handles; it has to give an array of bool "
        f"of shape {shape}, as many Words, or None"
    )


def _what(given: object) -> str:
    """Describe something that is wrong."""
    if isinstance(given, np.ndarray):
        return f"an array of {given.dtype} of shape {given.shape}"
    if isinstance(given, Words):
        return f"{len(given)} Words"
    if isinstance(given, list | tuple):
        return f"the {type(given).__name__} {shortened(given)}"
    return repr(given)
