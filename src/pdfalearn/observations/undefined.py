"""Undefined words: ruled out by what is known, and refused where answers contradict each other."""

from __future__ import annotations

import numpy as np

from pdfalearn.alphabet import Alphabet, shorten
from pdfalearn.errors import ModelError
from pdfalearn.observations.answers import Answers
from pdfalearn.observations.nodes import UNDEFINED, UNKNOWN, Nodes, NodeTable
from pdfalearn.typing import Flags


class UndefinedWords:
    """Notes which words are undefined."""

    def __init__(self, alphabet: Alphabet, nodes: NodeTable, answers: Answers) -> None:
        self._alphabet = alphabet
        self._nodes = nodes
        self._answers = answers
        # Of nodes without an answer: symbols after which words are known to be undefined, or
        # defined, which the answer has to agree with.
        self._unchecked: dict[int, list[tuple[int, bool]]] = {}

    def rule_out(self, nodes: Nodes) -> Nodes:
        """Note which words are undefined as what is known says so; return the others.

        The first symbol after the longest prefix that has an answer decides.
        """
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

    def note(self, nodes: Nodes) -> None:
        """Note words that the model says are undefined; refuse that where it cannot be."""
        if nodes[0] == 0:
            raise ModelError(
                "the model says that the empty word is undefined: its row is None or only NaN"
            )
        table = self._nodes
        table.mark_undefined(nodes)
        parents = table.parents[nodes].astype(np.int64)
        known = (table.classes[parents] >= 0).nonzero()[0]
        if len(known):
            rows = self._answers.dense(table.rows[parents[known]].astype(np.int64))
            wrong = rows[np.arange(len(rows)), table.last_symbols[nodes[known]] + 1] > 0
            if wrong.any():
                node = int(nodes[known[wrong.argmax()]])
                self._check_agrees(table.parent[node], table.last_symbol[node], is_defined=False)
        self._check_later(nodes[table.classes[parents] == UNKNOWN], is_defined=False)

    def check_defined(self, nodes: Nodes) -> None:
        """Refuse defined words that their parents, or the rows of these, exclude."""
        table, given, nodes = self._nodes, nodes, nodes[nodes > 0]
        parents = table.parents[nodes].astype(np.int64)
        classes = table.classes[parents]
        if (classes == UNDEFINED).any():
            word = self._word(int(nodes[(classes == UNDEFINED).argmax()]))
            raise ModelError(f"the word {word} is defined, but a prefix of it is not")
        known = (classes >= 0).nonzero()[0]
        wrong = self._excluded(parents[known], nodes[known])
        for node in nodes[known[wrong]].tolist():
            self._check_agrees(table.parent[node], table.last_symbol[node], is_defined=True)
        self._check_later(nodes[classes == UNKNOWN], is_defined=True)
        if self._unchecked:  # what had to wait for these answers
            for node in self._unchecked.keys() & set(given.tolist()):
                for symbol, is_defined in self._unchecked.pop(node):
                    self._check_agrees(node, symbol, is_defined=is_defined)

    def _check_later(self, nodes: Nodes, *, is_defined: bool) -> None:
        """Check words against the rows of their parents when these are answered."""
        parent, last_symbol = self._nodes.parent, self._nodes.last_symbol
        for node in nodes.tolist():
            self._unchecked.setdefault(parent[node], []).append((last_symbol[node], is_defined))

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
        return shorten(self._alphabet.decode(self._nodes.word(node)))
