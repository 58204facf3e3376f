"""Try a model against all that the protocol asks of it."""

from __future__ import annotations

from pdfalearn.checks import checked_generator, checked_integer, checked_number
from pdfalearn.errors import ModelError
from pdfalearn.models.automaton import as_model
from pdfalearn.models.checking import Members, checked_model_members
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.pdfa import PDFA
from pdfalearn.testing import _trials
from pdfalearn.testing._lab import Lab

_TIMES = 7
"""On average over all words and trials, a word is asked at most this many times."""
_TRIALS = (
    _trials.batches_of_any_size,
    _trials.any_order,
    _trials.going_on,
    _trials.taking_turns,
    _trials.full_room,
    _trials.what_may_follow,
)


def check_model(
    model: LanguageModel | PDFA,
    *,
    words: int = 200,
    max_length: int = 8,
    seed: int = 0,
    tolerance: float = 1e-6,
) -> None:
    """Try a model against the protocol, and name the first thing that is wrong with it.

    Words are drawn along what the model says may follow, and a little beside that. They are asked
    for one by one and in batches, in any order, from the start and from their prefixes, in sessions
    that take turns, with handles released or the room full; the answers have to be distributions,
    and the same each time. A model that passes may still be wrong in what was not tried.

    Parameters
    ----------
    model : LanguageModel
        The model to try.
    words : int
        The most distributions that it is asked for, in all: this bounds what trying a model costs.
        About a seventh as many different words are tried.
    max_length : int
        The length of the words. One word is longer: four times as long, or longer than there is
        room for handles, if that is not much.
    seed : int
        Draws the words.
    tolerance : float
        By how much a probability may differ from one time to the next.

    Raises
    ------
    ModelError
        If anything is wrong. The message names the word, and what to do.

    Examples
    --------
    >>> from pdfalearn import FunctionModel
    >>> def function(words):
    ...     return [[0.5, 0.5] if len(word) < 3 else [0.5, 0.4] for word in words]
    >>> check_model(FunctionModel(function, "a"))  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
        ...
    pdfalearn.errors.ModelError: FunctionModel: the answer to the word ('a', 'a', 'a') is
    [0.5, 0.4], which sums to 0.9: divide it by its sum, if that is what you mean
    """
    words = checked_integer(words, "words", 2 * _TIMES)
    max_length = checked_integer(max_length, "max_length", 1)
    tolerance = checked_number(tolerance, "tolerance", 0, 1)
    random = checked_generator(seed)
    if not isinstance(model, LanguageModel):
        model = as_model(model)
    members = checked_model_members(model)
    _check_members(model, members)
    lab = Lab(model, members.alphabet, words // _TIMES, max_length, tolerance, random)
    lab.check_undefined()
    for trial in _TRIALS:
        trial(lab)
    _check_members(model, members)


def _check_members(model: LanguageModel, before: Members) -> None:
    """Refuse a model that says something else about itself than before."""
    for name, then, now in zip(before._fields, before, checked_model_members(model), strict=True):
        if then != now:
            raise ModelError(
                f"{type(model).__name__}.{name} was {then!r} and is {now!r} now: it has to stay as "
                "it is as long as the model is there"
            )
