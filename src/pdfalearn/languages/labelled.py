"""Several languages as one automaton, whose states tell which of them a word is in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pdfalearn.arrays import reaching
from pdfalearn.checks import check_tables_fit
from pdfalearn.errors import InputError
from pdfalearn.languages.dfa import DFA
from pdfalearn.typing import Codes, Flags, Integers

_MOST_LANGUAGES = 62
_MOST_STATES = 2**20
OPEN = -1
"""Of a state from which a word may still come to have one label or another."""


@dataclass(frozen=True)
class LabelledDFA:
    """A complete automaton over columns; the label of a state says which languages a word is in.

    Label 0 is that of words that are in no language.

    Examples
    --------
    >>> from pdfalearn.alphabet import Alphabet
    >>> from pdfalearn.languages import BeginsWith
    >>> both = label_languages([BeginsWith(w).dfa(Alphabet("ab")) for w in ("a", "ab")])
    >>> both.members.tolist()
    [[False, False], [True, False], [True, True]]
    >>> state = both.initial
    >>> for column in (0, 1):
    ...     state = both.table[state, column]
    >>> int(both.labels[state])
    2
    """

    table: Codes
    """The successor of every state and column."""
    labels: Integers
    """The label of a word that ends in each state."""
    members: Flags
    """A row for each label: which of the languages it means."""
    initial: int
    is_lasting: bool
    """Whether a label holds once it can no longer change, although the word has not ended."""

    @cached_property
    def reach(self) -> Flags:
        """For every state the labels that words may still come to have, its own included."""
        sources = np.repeat(np.arange(len(self.table)), self.table.shape[1])
        successors = self.table.ravel()
        kinds = range(len(self.members))
        return np.stack([reaching(sources, successors, self.labels == k) for k in kinds], axis=1)

    @cached_property
    def decided(self) -> Integers:
        """For every state the label that is settled there, or `OPEN`.

        That a word is in no language is settled whether it ends or not; that it is in one, where
        whole words count, only at its end.
        """
        label = np.where(self.reach.sum(axis=1) == 1, self.reach.argmax(axis=1), OPEN)
        return label if self.is_lasting else np.where(label == 0, label, OPEN)

    def label_sure(self) -> tuple[LabelledDFA, Integers]:
        """Return for every state the label of what all words that come through it have in common.

        That may be a new label, which is added. Where a label does not last it is 0.

        Examples
        --------
        >>> from pdfalearn.alphabet import Alphabet
        >>> from pdfalearn.languages import BeginsWith
        >>> dfas = [BeginsWith(word).dfa(Alphabet("ab")) for word in ("a", "ab")]
        >>> both, sure = label_languages(dfas, by_beginning=True).label_sure()
        >>> both.members[sure[both.table[both.initial, 0]]].tolist()
        [True, False]
        """
        if not self.is_lasting:
            return self, np.zeros_like(self.labels)
        sure = ~np.any(self.reach[:, :, None] & ~self.members, axis=1)
        members, labels = self.members, np.zeros_like(self.labels)
        for kind in np.unique(sure, axis=0):
            if not (members == kind).all(axis=1).any():
                members = np.concatenate([members, kind[None]])
            label = int((members == kind).all(axis=1).argmax())
            labels[(sure == kind).all(axis=1)] = label
        return replace(self, members=members), labels

    def collapse(self) -> LabelledDFA:
        """Return an automaton with one state for all in which the same label is settled."""
        settled = self.decided
        # The first states are those of labels, the others keep their order.
        numbers = np.where(settled >= 0, settled, 0)
        is_open = settled < 0
        sinks = len(self.members)
        numbers[is_open] = sinks + np.arange(np.count_nonzero(is_open))
        table = np.repeat(np.arange(sinks)[:, None], self.table.shape[1], axis=1)
        table = np.concatenate([table, numbers[self.table[is_open]]])
        labels = np.concatenate([np.arange(sinks), self.labels[is_open]])
        begin = int(numbers[self.initial])
        return LabelledDFA(table.astype(np.int32), labels, self.members, begin, self.is_lasting)


def label_languages(
    dfas: Sequence[DFA], *, by_beginning: bool = False, is_lasting: bool = False
) -> LabelledDFA:
    """Return the automaton of several languages over one alphabet.

    Parameters
    ----------
    dfas : sequence of DFA
        The languages.
    by_beginning : bool
        Whether a word counts as soon as it begins with a word of a language.
    is_lasting : bool
        Whether words count as soon as they match whatever follows, although they have not ended, as
        those that begin with a word always do.

    Examples
    --------
    >>> from pdfalearn.alphabet import Alphabet
    >>> from pdfalearn.languages import BeginsWith
    >>> label_languages([BeginsWith("a").dfa(Alphabet("ab"))], by_beginning=True).decided.tolist()
    [0, 1, -1]
    """
    if len(dfas) > _MOST_LANGUAGES:
        raise InputError(
            f"{len(dfas)} languages are too many for one question: {_MOST_LANGUAGES} are the most"
        )
    table, initial = np.zeros((1, len(dfas[0].alphabet)), dtype=np.int64), 0
    sets = np.zeros(1, dtype=np.int64)  # the languages that a word is in, as bits
    for number, dfa in enumerate(dfas):
        other, ends = _complete(dfa, by_beginning=by_beginning)
        lefts, rights, table = _pair(table, initial, other, dfa.initial)
        sets = sets[lefts] | (ends[rights].astype(np.int64) << number)
        initial = 0
    kinds, labels = np.unique(np.append(sets, 0), return_inverse=True)
    members = (kinds[:, None] >> np.arange(len(dfas)) & 1).astype(bool)
    made = LabelledDFA(
        table.astype(np.int32), labels[:-1], members, initial, by_beginning or is_lasting
    )
    return made.collapse()


def _complete(dfa: DFA, *, by_beginning: bool) -> tuple[Integers, Flags]:
    """Return the table of a DFA with one state more, for words that are lost."""
    table = np.where(dfa.table < 0, len(dfa), dfa.table).astype(np.int64)
    ends = np.append(dfa.accepting, False)
    if by_beginning:
        table[ends] = ends.nonzero()[0][:, None]
    return table, ends


def _pair(
    left: Integers, left_initial: int, right: Integers, right_initial: int
) -> tuple[Integers, Integers, Integers]:
    """Return the pairs of states that words reach, breadth first, and the table between them."""
    width = len(right)
    keys = np.array([left_initial * width + right_initial], dtype=np.int64)
    waiting, rows = keys, list[Integers]()
    while len(waiting):
        after = left[waiting // width] * width + right[waiting % width]
        rows.append(after)
        waiting = np.setdiff1d(after, keys)
        keys = np.concatenate([keys, waiting])
        check_tables_fit(
            keys.itemsize * len(keys) * left.shape[1],
            f"the {len(keys):,} states of all languages together",
            "ask about fewer languages at a time",
        )
        if len(keys) > _MOST_STATES:
            raise InputError(
                f"the languages together have more than {_MOST_STATES:,} states; ask about fewer "
                "at a time"
            )
    order = np.argsort(keys)
    table = order[np.searchsorted(keys, np.concatenate(rows), sorter=order)]
    return keys // width, keys % width, table
