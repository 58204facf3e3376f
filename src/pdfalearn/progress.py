"""What the argument ``progress`` of long functions means, and the words that tell of progress."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal, TypeVar

from pdfalearn.errors import InputError
from pdfalearn.registry import offered
from pdfalearn.text import described

Told = TypeVar("Told")

Wanted = Callable[[Told], None] | bool | Literal["log"] | None
"""What ``progress`` may be."""

LABELS = {
    "states": "states",
    "words": "words asked",
    "stored_words": "words taken from the store",
    "audited_words": "words asked again (audit)",
    "largest_difference": "largest difference in the audit",
    "words_drawn": "words drawn",
    "held_out_words": "of these held out",
    "distributions": "distributions read",
    "symbols": "symbols asked",
    "cost": "cost",
    "equivalence_queries": "equivalence queries",
    "training_divergence": "training divergence",
    "held_out_divergence": "held-out divergence",
}
"""What figures are called, on the way and in the end."""


def counted(count: int, name: str) -> str:
    """Write how many there are of something whose name is in the plural.

    Examples
    --------
    >>> counted(1, "states"), counted(1234, "words asked"), counted(1, "equivalence queries")
    ('1 state', '1,234 words asked', '1 equivalence query')
    """
    if count != 1:
        return f"{count:,} {name}"
    one = name.replace("queries", "query").replace("words", "word").replace("symbols", "symbol")
    return f"1 {one.replace('states', 'state')}"


def displayed(
    progress: object, kind: str, **facts: Any
) -> AbstractContextManager[Callable[..., None] | None]:
    """Return a context in which progress is shown; it gives what to call with news, or None.

    Parameters
    ----------
    progress : callable, bool, "log" or None
        What the user has given: a callable is called itself; True shows a line that is renewed, in
        a terminal or in a cell of a notebook, and "log" writes a line every few seconds.
    kind : str
        What is going on, such as "learning".
    **facts
        What the display of this kind needs to know.

    Examples
    --------
    >>> with displayed(print, "learning") as report:
    ...     report("news")
    news
    >>> displayed(3, "learning")
    Traceback (most recent call last):
    ...
    pdfalearn.errors.InputError: progress 3 is not True, False, "log" or a function to call
    """
    if progress is None or progress is False:
        return nullcontext()
    if callable(progress):
        return nullcontext(progress)
    if progress is not True and not (isinstance(progress, str) and progress == "log"):
        raise InputError(
            f'progress {described(progress)} is not True, False, "log" or a function to call'
        )
    show = offered("progress", kind)
    if show is None:
        raise InputError(f"there is no display for {kind}; give a function to call")
    shown: AbstractContextManager[Callable[..., None]] = show(progress, **facts)
    return shown
