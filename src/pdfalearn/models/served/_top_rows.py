"""Sparse rows made of the likeliest tokens alone."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pdfalearn.models.served._answers import Logs, unlisted_most
from pdfalearn.models.spelling import Spelling
from pdfalearn.row_checks import BadRowError
from pdfalearn.rows import Floats, Rows
from pdfalearn.words import offsets_of


def top_rows(answers: Sequence[Sequence[Logs]], spelling: Spelling, top: int) -> Rows:
    """Make sparse rows of what a server lists after words.

    A symbol is listed if all of its tokens are. The others together may have at most what the
    server's own list leaves, and at most as much each as its least likely token; the ``rest`` is
    that bound, so that the listed probabilities are too low by a factor of at most 1 - rest. An end
    that is not listed counts as 0.

    Parameters
    ----------
    answers : sequence of sequence of Logs
        For every prefix of the spelling what is listed after each word.
    spelling : Spelling
        The tokens of symbols, and ends.
    top : int
        How many tokens the server was asked to list.
    """
    low = np.exp(spelling.log_masses(_tables(answers, spelling, None)))
    high = np.exp(spelling.log_masses(_tables(answers, spelling, top)))
    known = low.sum(axis=1)
    listed = high <= low
    listed[:, 0] = True
    bound = np.where(listed, 0.0, high)
    rest = np.minimum(bound.sum(axis=1), np.maximum(1 - known - _others(answers[0], spelling), 0.0))
    total = known + rest
    if not (total > 0).all():
        place = int((total > 0).argmin())
        raise BadRowError(f"no symbol and no end is among the {top} likeliest tokens", place)
    listed |= (rest == 0)[:, None]
    ceiling = np.maximum(bound.max(axis=1), (high - low)[:, 0])
    return Rows.sparse(
        low.shape[1],
        offsets_of(listed.sum(axis=1)),
        listed.nonzero()[1],
        (low / total[:, None])[listed],
        rest=rest / total,
        ceiling=ceiling / total,
        outside=np.maximum(1 - total, 0.0),
    )


def _tables(answers: Sequence[Sequence[Logs]], spelling: Spelling, top: int | None) -> list[Floats]:
    """Return log-probabilities of wanted tokens; one not listed has none, or the most it can."""
    tables = []
    for tokens, row in zip(spelling.wanted, answers, strict=True):
        wanted = tokens.tolist()
        table = np.empty((len(row), len(wanted)))
        for place, logs in enumerate(row):
            missing = -math.inf if top is None else unlisted_most(logs, top)
            table[place] = [logs.get(token, missing) for token in wanted]
        tables.append(table)
    return tables


def _others(row: Sequence[Logs], spelling: Spelling) -> Floats:
    """Return the mass of listed tokens that neither begin a symbol nor end a word."""
    wanted = set(spelling.wanted[0].tolist())
    return np.array(
        [sum(math.exp(log) for token, log in logs.items() if token not in wanted) for logs in row]
    )
