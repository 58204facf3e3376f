"""Write answers into the nodes, and refuse answers that contradict each other."""

from __future__ import annotations

import numpy as np

from pdfalearn.alphabet import Alphabet, shortened
from pdfalearn.arrays.growing import firsts
from pdfalearn.errors import ModelError
from pdfalearn.observations.answers import Answers
from pdfalearn.observations.nodes import UNDEFINED, UNKNOWN, Nodes, NodeTable
from pdfalearn.observations.planning import Counts
from pdfalearn.row_checks import UndecidedError
from pdfalearn.rows import Flags, Floats, Rows, SharedRows


class Notes:
    """Keeps what a model has answered: rows, classes, and which words are undefined.

    Parameters
    ----------
    alphabet : Alphabet
        The symbols.
    nodes : NodeTable
        The words.
    answers : Answers
        The distributions.
    counts : Counts
        What has been asked.
    """

    def __init__(
        self, alphabet: Alphabet, nodes: NodeTable, answers: Answers, counts: Counts
    ) -> None:
        self._alphabet = alphabet
        self._nodes = nodes
        self._answers = answers
        self._counts = counts
        self._table: Floats | None = None
        """The table of shared rows whose numbers among the answers are known."""
        self._number_of: Nodes = np.empty(0, dtype=np.int64)
        """The number of each of its rows; negative where it is not known."""
        self._some_undefined = False
        self._unchecked: dict[int, list[tuple[int, bool]]] = {}
        """Of nodes without an answer: symbols after which words are known to be undefined, or
        defined, which the answer has to agree with."""

    def note(self, nodes: Nodes, rows: Rows, whose: str = "model's") -> int:
        """Note the answers to words; return how many of them are undefined."""
        if rows.outside is not None:
            self._counts.note_outside(rows.outside)
        lost = 0
        if rows.undefined is not None and rows.undefined.any():
            self._note_undefined(nodes[rows.undefined])
            defined = (~rows.undefined).nonzero()[0]
            lost = len(nodes) - len(defined)
            nodes, rows = nodes[defined], rows.take(defined)
            if not len(nodes):
                return lost
        try:
            numbers = self._numbers(rows)
        except UndecidedError as error:
            word = self._word(int(nodes[error.place]))
            raise ModelError(f"the {whose} answer to the word {word}: {error}") from error
        table = self._nodes
        table.rows[nodes] = numbers
        table.classes[nodes] = self._answers.classes[numbers]
        if self._some_undefined or self._answers.exclude_some:
            self._check_defined(nodes)
        if self._unchecked:
            self._check_late(nodes)
        return lost

    def _numbers(self, rows: Rows) -> Nodes:
        """Return the numbers of rows among the answers; those of shared ones are looked up."""
        if not isinstance(rows, SharedRows):
            return self._answers.add(rows)
        if rows.table is not self._table:
            self._table = rows.table
            self._number_of = np.full(len(rows.table), -1, dtype=np.int64)
        numbers = self._number_of[rows.numbers]
        unread = (numbers < 0).nonzero()[0]
        if len(unread):
            shared = rows.numbers[unread]
            first = firsts(self._number_of, shared)
            new = shared[first]
            self._number_of[new] = self._answers.add(rows.take(unread[first]))
            numbers[unread] = self._number_of[shared]
        return numbers

    # Undefined words

    def rule_out(self, nodes: Nodes) -> Nodes:
        """Note which words are undefined as what is known says so; return the others.

        The first symbol after the longest prefix that has an answer decides.
        """
        if not (self._some_undefined or self._answers.exclude_some):
            return nodes
        table, here = self._nodes, nodes.copy()
        active = (here > 0).nonzero()[0]
        while len(active):
            above = table.parents[here[active]].astype(np.int64)
            onwards = (table.classes[above] == UNKNOWN) & (above > 0)
            here[active[onwards]] = above[onwards]
            active = active[onwards]
        parents = table.parents[here].astype(np.int64)
        known = ((here > 0) & (table.classes[parents] >= 0)).nonzero()[0]
        lost = np.zeros(len(nodes), dtype=bool)
        lost[known] = self._excluded(parents[known], here[known])
        lost |= (table.classes[parents] == UNDEFINED) & (here > 0)
        if lost.any():
            self._some_undefined = True
            for node in nodes[lost].tolist():
                self._mark_path_undefined(node)
        return nodes[~lost]

    def _mark_path_undefined(self, node: int) -> None:
        """Mark a word, and what leads to it from the last word that is known."""
        path, class_at, parent = [], self._nodes.class_at, self._nodes.parent
        while class_at[node] == UNKNOWN and class_at[parent[node]] in (UNKNOWN, UNDEFINED):
            path.append(node)
            node = parent[node]
        if class_at[node] == UNKNOWN:
            path.append(node)
        if path:
            self._nodes.mark_undefined(np.array(path))

    def _excluded(self, parents: Nodes, nodes: Nodes) -> Flags:
        """Return which words the rows of their parents exclude."""
        numbers = self._nodes.rows[parents].astype(np.int64)
        return self._answers.excludes(numbers, self._nodes.last_symbols[nodes])

    def _note_undefined(self, nodes: Nodes) -> None:
        """Note words that the model says are undefined; refuse that where it cannot be."""
        if nodes[0] == 0:
            raise ModelError("the model says that the empty word is undefined")
        table = self._nodes
        self._some_undefined = True
        table.mark_undefined(nodes)
        parents = table.parents[nodes].astype(np.int64)
        known = (table.classes[parents] >= 0).nonzero()[0]
        if len(known):
            rows = self._answers.dense(table.rows[parents[known]].astype(np.int64))
            wrong = rows[np.arange(len(rows)), table.last_symbols[nodes[known]] + 1] > 0
            if wrong.any():
                node = int(nodes[known[wrong.argmax()]])
                self._check_agrees(table.parent[node], table.last_symbol[node], is_defined=False)
        for node in nodes[table.classes[parents] == UNKNOWN].tolist():
            later = self._unchecked.setdefault(table.parent[node], [])
            later.append((table.last_symbol[node], False))

    def _check_defined(self, nodes: Nodes) -> None:
        """Refuse defined words that their parents, or the rows of these, exclude."""
        table, nodes = self._nodes, nodes[nodes > 0]
        parents = table.parents[nodes].astype(np.int64)
        classes = table.classes[parents]
        if (classes == UNDEFINED).any():
            word = self._word(int(nodes[(classes == UNDEFINED).argmax()]))
            raise ModelError(f"the word {word} is defined, but a prefix of it is not")
        known = (classes >= 0).nonzero()[0]
        wrong = self._excluded(parents[known], nodes[known])
        for node in nodes[known[wrong]].tolist():
            self._check_agrees(table.parent[node], table.last_symbol[node], is_defined=True)
        for node in nodes[classes == UNKNOWN].tolist():
            later = self._unchecked.setdefault(table.parent[node], [])
            later.append((table.last_symbol[node], True))

    def _check_late(self, nodes: Nodes) -> None:
        """Do the checks that had to wait for the answers of nodes."""
        for node in self._unchecked.keys() & set(nodes.tolist()):
            for symbol, is_defined in self._unchecked.pop(node):
                self._check_agrees(node, symbol, is_defined=is_defined)

    def _check_agrees(self, node: int, symbol: int, *, is_defined: bool) -> None:
        """Refuse a word that is defined, or not, against the distribution before its end."""
        number = self._nodes.rows[node : node + 1].astype(np.int64)
        if is_defined:
            if self._answers.excludes(number, np.array([symbol]))[0]:
                raise ModelError(
                    f"after the word {self._word(node)} the model says that no word goes on with "
                    f"the symbol {self._alphabet.symbols[symbol]!r}, by not listing it or by "
                    "marking it impossible, but the word is defined with it; give the symbol "
                    "probability 0, or say that the word is undefined"
                )
            return
        probability = float(self._answers.dense(number)[0, symbol + 1])
        if probability > 0:
            raise ModelError(
                f"after the word {self._word(node)} the model gives the symbol "
                f"{self._alphabet.symbols[symbol]!r} probability {probability}, but says that the "
                "word is undefined with it"
            )

    def _word(self, node: int) -> str:
        return shortened(self._alphabet.decode(self._nodes.word(node)))
