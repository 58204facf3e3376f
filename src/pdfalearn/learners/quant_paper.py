"""QuaNT to the letter (§3 of the paper): the readable reference, one word at a time.

The names of the paper stand in the docstrings. For speed there is `pdfalearn.learners.quant`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from pdfalearn.errors import OracleError
from pdfalearn.learners.protocol import Findings
from pdfalearn.observations import UNDEFINED, ObservationTree, Suffixes
from pdfalearn.pdfa import PDFA
from pdfalearn.results import NONE, KeptTree
from pdfalearn.typing import Integers
from pdfalearn.words import Words

Codes = tuple[int, ...]


@dataclass(eq=False)
class _Inner:
    """An inner node of T_{Acc,Dis}: a distinguishing string d, and arcs labelled with classes.

    A child is another inner node or a leaf, which is just its access string.
    """

    suffix: Codes
    parent: _Inner | None = None
    children: dict[int, _Inner | Codes] = field(default_factory=dict)


class PaperQuaNT:
    """The paper's learner, as printed.

    It goes beyond the paper in one rule: undefined words are a class of their own, which labels
    arcs like any other and never becomes a state.

    Parameters
    ----------
    observations : ObservationTree
        The observation tree to ask.

    Examples
    --------
    >>> from pdfalearn import learn
    >>> from pdfalearn.datasets import figure_3
    >>> len(learn(figure_3(), learner=PaperQuaNT).pdfa)
    4
    """

    def __init__(self, observations: ObservationTree) -> None:
        self.observations = observations
        self._symbols = range(len(observations.alphabet))
        self._root = _Inner(suffix=())
        # Acc: the access strings, each with the node above its leaf.
        self._leaf_parents: dict[Codes, _Inner] = {}
        self._transitions: dict[Codes, list[Codes | None]] = {}
        # Transitions whose state there was no room for: they lead to another one.
        self._guesses: set[tuple[Codes, int]] = set()
        # Whether all transitions come from sifting with the newest tree.
        self._is_built = False

    @property
    def size(self) -> int:
        """How many states have been discovered."""
        return len(self._leaf_parents)

    def start(self) -> None:
        """BuildSingleStatePDFA: one state q_λ with a loop for each symbol."""
        self._add_leaf(self._root, ())
        self._transitions[()] = [()] * len(self._symbols)
        defined = [self._class_of((symbol,)) != UNDEFINED for symbol in self._symbols]
        self._transitions[()] = [() if is_defined else None for is_defined in defined]

    def refine(self, counterexamples: Words) -> None:
        """Use the first counterexample γ to discover a new state, and build the automaton again."""
        symbols, offsets = counterexamples.symbols.tolist(), counterexamples.offsets.tolist()
        words = [tuple(symbols[begin:end]) for begin, end in pairwise(offsets)]
        for word in words:
            self._check_counterexample(word)
        ce = words[0]
        if not self.observations.meter.grant_states(self.size, 1):
            return
        self._is_built = False
        if len(self._leaf_parents) > 1 or self._class_of(ce) in (UNDEFINED, self._class_of(())):
            self._update_tree(ce)
        else:
            # InitializeTree(γ): the root λ has two children, λ and γ.
            self._add_leaf(self._root, ce)
        self._build_automaton()

    def _add_leaf(self, node: _Inner, access: Codes) -> None:
        node.children[self._class_of(access + node.suffix)] = access
        self._leaf_parents[access] = node

    def _sift(self, word: Codes) -> Codes | None:
        """Sift a word; sift-update: where there is no arc, it becomes an access string."""
        node = self._root
        while True:
            class_ = self._class_of(word + node.suffix)
            if class_ == UNDEFINED and node is self._root:
                return None
            child = node.children.get(class_)
            if child is None:
                if not self.observations.meter.grant_states(self.size, 1):
                    self._guesses.add((word[:-1], word[-1]))
                    return self._some_leaf(node)
                self._add_leaf(node, word)
                return word
            if not isinstance(child, _Inner):
                return child
            node = child

    def _build_automaton(self) -> None:
        """BuildAutomaton(T): τ(q_s, σ) = sift(s·σ), begun again whenever sift updates the tree."""
        while True:
            self._guesses = set()
            states = list(self._leaf_parents)
            self._transitions = {
                access: [self._sift((*access, symbol)) for symbol in self._symbols]
                for access in states
            }
            if len(self._leaf_parents) == len(states):
                self._is_built = True
                return

    def _some_leaf(self, node: _Inner) -> Codes:
        """Return a state below a node."""
        child = next(iter(node.children.values()))
        return self._some_leaf(child) if isinstance(child, _Inner) else child

    def _update_tree(self, ce: Codes) -> None:
        """UpdateTree(T, γ): split the leaf s_{j-1}, j the first place where sift and run part."""
        state: Codes = ()
        for j, symbol in enumerate(ce):
            run = self._transitions[state][symbol]
            known = len(self._leaf_parents)
            sifted = self._sift(ce[: j + 1])
            if len(self._leaf_parents) > known:
                return  # sift-update has discovered a class by itself
            if sifted != run:
                suffix = (symbol, *self._common_ancestor(sifted, run).suffix)
                self._split(state, suffix, new_access=ce[:j])
                return
            if sifted is None:
                return
            state = sifted

    def _split(self, access: Codes, suffix: Codes, *, new_access: Codes) -> None:
        """Replace the leaf s_{j-1} by an inner node γ_j·d with children s_{j-1} and γ[j-1]."""
        above = self._leaf_parents[access]
        inner = _Inner(suffix=suffix, parent=above)
        above.children[self._class_of(access + above.suffix)] = inner
        self._add_leaf(inner, access)
        self._add_leaf(inner, new_access)

    def _common_ancestor(self, left: Codes | None, right: Codes | None) -> _Inner:
        """Find the least common ancestor of two leaves; undefined words end below the root."""
        if left is None or right is None:
            return self._root
        above = self._ancestors(left)
        return next(node for node in self._ancestors(right) if node in above)

    def _ancestors(self, access: Codes) -> list[_Inner]:
        path = []
        node: _Inner | None = self._leaf_parents[access]
        while node is not None:
            path.append(node)
            node = node.parent
        return path

    def _check_counterexample(self, ce: Codes) -> None:
        state: Codes | None = ()
        for symbol in ce:
            state = None if state is None else self._transitions[state][symbol]
        if (UNDEFINED if state is None else self._class_of(state)) == self._class_of(ce):
            word = self.observations.alphabet.decode(ce)
            raise OracleError(f"the word {word} is not a counterexample to the hypothesis")

    def _class_of(self, word: Codes) -> int:
        """MQ(word), quantized."""
        return int(self.observations.asked_classes(np.array([self.observations.node(word)]))[0])

    def _nodes(self) -> Integers:
        return np.array([self.observations.node(access) for access in self._leaf_parents])

    def _states(self) -> dict[Codes, int]:
        return {access: state for state, access in enumerate(self._leaf_parents)}

    def hypothesis(self) -> PDFA:
        """Return the hypothesis: a state for each access string, in order of discovery."""
        numbers = self._states()
        not_sifted: list[Codes | None] = [()] * len(self._symbols)
        successors = [self._transitions.get(access, not_sifted) for access in self._leaf_parents]
        return PDFA(
            alphabet=self.observations.alphabet,
            transitions=[[-1 if to is None else numbers[to] for to in row] for row in successors],
            probabilities=self.observations.rows(self._nodes()),
        )

    def unresolved(self) -> Integers:
        """Return the transitions, as state * symbols + symbol, without a state of their own."""
        count = len(self._symbols)
        if not self._is_built:
            return np.arange(self.size * count)
        states = self._states()
        lost = sorted(states[access] * count + symbol for access, symbol in self._guesses)
        return np.array(lost, dtype=np.int64)

    def findings(self, states: int = 0) -> Findings:
        """Return the access strings and the tree, without the distributions of its first states."""
        paths = [self._ancestors(access) for access in self._leaf_parents]
        inner = len({node for path in paths for node in path})
        return Findings(
            access_words=self.observations.word_tree(self._nodes()),
            structure_size=inner + self.size,
            tree=self._tree(states),
            tree_depth=max(map(len, paths)),
            inner_nodes=inner,
        )

    def _tree(self, states: int) -> KeptTree:
        """Return the classification tree, without the distributions of the first states."""
        suffixes = Suffixes()
        state_of = self._states()
        nodes: list[tuple[int, int, _Inner | Codes]] = [(NONE, UNDEFINED, self._root)]
        for number, (_, _, node) in enumerate(nodes):  # the list grows in front of the loop
            if isinstance(node, _Inner):
                nodes += ((number, class_, child) for class_, child in node.children.items())
        table = np.array(
            [
                (parent, class_, suffixes.add_word(node.suffix), NONE)
                if isinstance(node, _Inner)
                else (parent, class_, NONE, state_of.get(node, NONE))
                for parent, class_, node in nodes
            ],
            dtype=np.int32,
        )
        parents, labels, inner, leaves = table.T.copy()
        return KeptTree(
            parents=parents,
            labels=labels,
            suffixes=inner,
            states=leaves,
            firsts=np.array(suffixes.firsts, dtype=np.int32),
            rests=np.array(suffixes.rests, dtype=np.int32),
            keys=self.observations.class_keys(),
            traces=None,
            distributions=self.observations.rows(self._nodes()[states:]),
        )
