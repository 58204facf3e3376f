"""What a model says about undefined words has to agree with its distributions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet, shortened
from pdfalearn.errors import ModelError
from pdfalearn.models.protocol import Mask
from pdfalearn.observations._answers import Answers
from pdfalearn.observations._nodes import UNDEFINED, UNKNOWN, Nodes, NodeTable


class Consistency:
    """Refuses answers that contradict each other, and finds undefined words without asking.

    Parameters
    ----------
    alphabet : Alphabet
        The symbols.
    nodes : NodeTable
        The words.
    answers : Answers
        The distributions.
    note : callable
        Called with nodes that turned out to be undefined.
    """

    def __init__(
        self,
        alphabet: Alphabet,
        nodes: NodeTable,
        answers: Answers,
        note: Callable[[list[int]], None],
    ) -> None:
        self._alphabet = alphabet
        self._nodes = nodes
        self._answers = answers
        self._note = note
        self._unchecked: dict[int, list[tuple[int, bool]]] = {}
        """Of nodes without an answer: symbols after which words are known to be undefined, or
        defined, which the answer has to agree with."""

    def rule_out(self, nodes: Nodes) -> Nodes:
        """Note which words are undefined as sparse rows do not list a symbol; return the others.

        The first symbol after the longest prefix that has an answer decides.
        """
        if not self._answers.is_sparse:
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
        listed = self._lists(parents[known], table.last_symbols[here[known]])
        lost = np.zeros(len(nodes), dtype=bool)
        lost[known[~listed]] = True
        lost |= table.classes[parents] == UNDEFINED
        if lost.any():
            for node in nodes[lost]:
                self._mark_path_undefined(int(node))
        return nodes[~lost]

    def _mark_path_undefined(self, node: int) -> None:
        path = []
        while self._nodes.class_at[node] == UNKNOWN:
            path.append(node)
            node = self._nodes.parent[node]
        if path:
            self._nodes.mark_undefined(np.array(path))
            self._note(path)

    def _lists(self, nodes: Nodes, symbols: NDArray[np.integer]) -> Mask:
        """Return whether sparse rows list a symbol each, or leave open what they do not list."""
        if not len(nodes):
            return np.zeros(0, dtype=bool)
        numbers, places = np.unique(self._nodes.rows[nodes], return_inverse=True)
        rows = self._answers.rows(numbers.astype(np.int64))
        if rows.columns is None:
            raise TypeError("dense rows list everything")
        listed = rows.row_numbers * rows.width + rows.columns
        wanted = places * rows.width + symbols + 1
        found = np.searchsorted(listed, wanted)
        is_listed = listed[np.minimum(found, len(listed) - 1)] == wanted
        return np.asarray(is_listed | (rows.rests[places] > 0))

    def check_undefined(self, nodes: list[int]) -> None:
        """Refuse undefined words whose last symbol has a positive probability."""
        for node in nodes:
            self._check_or_note(node, is_defined=False)

    def check_defined(self, nodes: Nodes) -> None:
        """Refuse defined words whose last symbol a sparse row excludes."""
        nodes = nodes[nodes > 0]
        parents = self._nodes.parents[nodes].astype(np.int64)
        classes = self._nodes.classes[parents]
        known = (classes >= 0).nonzero()[0]
        wrong = ~self._lists(parents[known], self._nodes.last_symbols[nodes[known]])
        for node in nodes[known[wrong]].tolist():
            self._check_or_note(node, is_defined=True)
        for node in nodes[classes == UNKNOWN].tolist():
            self._check_or_note(node, is_defined=True)

    def _check_or_note(self, node: int, *, is_defined: bool) -> None:
        parent, symbol = self._nodes.parent[node], self._nodes.last_symbol[node]
        if self._nodes.class_at[parent] == UNKNOWN:
            self._unchecked.setdefault(parent, []).append((symbol, is_defined))
        elif self._nodes.class_at[parent] != UNDEFINED:
            self.check_agrees(parent, symbol, is_defined=is_defined)

    def check_agrees(self, node: int, symbol: int, *, is_defined: bool) -> None:
        """Refuse a word that is defined, or not, against the distribution before its end."""
        word, name = shortened(self._word(node)), self._alphabet.symbols[symbol]
        here = np.array([node])
        if is_defined:
            if self._answers.is_sparse and not self._lists(here, np.array([symbol]))[0]:
                raise ModelError(
                    f"after the word {word} the model does not list the symbol {name!r}, and says "
                    "that nothing is left, but the word is defined with it; list the symbol with "
                    "probability 0, or say that the word is undefined"
                )
            return
        row = self._answers.rows(self._nodes.rows[here].astype(np.int64)).to_dense()[0]
        probability = float(row[symbol + 1])
        if probability > 0:
            raise ModelError(
                f"after the word {word} the model gives the symbol {name!r} probability "
                f"{probability}, but says that the word is undefined with it"
            )

    def check_late(self, nodes: Nodes) -> None:
        """Do the checks that had to wait for the answers of nodes."""
        if not self._unchecked:
            return
        for node in self._unchecked.keys() & set(nodes.tolist()):
            for symbol, is_defined in self._unchecked.pop(node):
                self.check_agrees(node, symbol, is_defined=is_defined)

    def _word(self, node: int) -> tuple[object, ...]:
        return self._alphabet.decode(self._nodes.word(node))
