"""The observation tree: every word that has been looked at, with the model's answer."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet, WordTree, shorten
from pdfalearn.budgets import Budget
from pdfalearn.equivalence import Relation, checked_keys
from pdfalearn.errors import ModelError
from pdfalearn.models import FEW, Interrupts, LanguageModel, QueryCost, check_members
from pdfalearn.observations.answers import Answers
from pdfalearn.observations.asking import Asker
from pdfalearn.observations.audits import Audits
from pdfalearn.observations.metering import Counts, Meter
from pdfalearn.observations.nodes import EMPTY, UNDEFINED, UNKNOWN, Nodes, NodeTable, Suffixes
from pdfalearn.typing import Floats, Integers
from pdfalearn.words import Words, offsets_of, run_words

if TYPE_CHECKING:
    from pdfalearn.stores import AnswerStore


# Tables of distributions that are looked at one by one have at most this many numbers.
_TABLE = 2**20

UNBOUNDED = Budget()

__all__ = ["EMPTY", "FEW", "UNDEFINED", "UNKNOWN", "Counts", "Nodes", "ObservationTree"]


class ObservationTree:
    """The tree of words; learners and oracles ask a model by nothing else.

    A node is a word; node 0 is the empty one. Nodes are made freely; the model is asked only for
    classes, and for each word at most once. What is opened checks its answers. A class is a
    number; `UNDEFINED` is that of undefined words, `UNKNOWN` that of words that were not asked for.

    The code that makes a tree closes it: ``with ObservationTree(…) as tree``.

    Parameters
    ----------
    model : LanguageModel
        The model to ask.
    equivalence : Equivalence or Tolerance
        When two distributions are in the same class. A similarity has no classes: then those that
        are equal share one.
    budget : Budget
        How much may be asked.
    interrupts : Interrupts, optional
        What holds a Ctrl-C back while nothing may be left half done.

    Examples
    --------
    >>> import numpy as np
    >>> from pdfalearn import Quantization
    >>> from pdfalearn.datasets import figure_1
    >>> from pdfalearn.models import AutomatonModel
    >>> with ObservationTree(AutomatonModel(figure_1()), Quantization(10)) as tree:
    ...     nodes = np.array([0, tree.node([0]), tree.node([0, 0])])
    ...     tree.asked_classes(nodes).tolist()
    [0, 1, 1]
    """

    def __init__(
        self,
        model: LanguageModel,
        equivalence: Relation,
        budget: Budget = UNBOUNDED,
        interrupts: Interrupts | None = None,
    ) -> None:
        check_members(model)
        self.model = model
        self.equivalence = equivalence
        self.budget = budget
        self.alphabet: Alphabet = model.alphabet
        self.query_cost: QueryCost = model.cost
        self._symbols = len(model.alphabet)
        self.nodes = NodeTable(self._symbols)
        """The words: of each node its parent, its last symbol, its class and its row."""
        self.suffixes = Suffixes()
        """The suffixes that words are followed by, as numbers."""
        self.answers = Answers(equivalence, self._symbols + 1)
        """The different distributions, and their classes."""
        self.meter = Meter(budget, self.query_cost, self.nodes)
        """What the budget still allows."""
        self.counts = self.meter.counts
        """What has been asked."""
        interrupts = interrupts or Interrupts()
        self.audits = Audits(model, equivalence, self.nodes, self.answers, self.meter, interrupts)
        """What asks for words a second time."""
        self.asker = Asker(model, self.nodes, self.answers, self.meter, self.audits, interrupts)
        self.ask = self.asker.ask
        """Asks for those of an array of nodes that are not known: `Asker.ask`, in ``asking.py``."""
        self.classes_of = self.answers.classes_of
        """Returns the classes that distributions are in, below `UNKNOWN` where there is none."""
        # A trace of one class has the number of that class, so that suffixes of at most one symbol
        # need no table. Only traces of the same length can be compared.
        self._trace_numbers: dict[bytes, int] = {}

    def __enter__(self) -> ObservationTree:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> list[str]:
        """Close the model, after which nothing is asked; return notes on what went wrong."""
        self.meter.is_closed = True
        return self.asker.close()

    # Words

    def word(self, node: int) -> tuple[object, ...]:
        """Return a node's word."""
        return self.alphabet.decode(self.nodes.word(node))

    def word_tree(self, nodes: Nodes) -> WordTree:
        """Return the words of nodes, and no more of the tree than they need."""
        size = self.nodes.size
        return WordTree.above(self.nodes.parents[:size], self.nodes.last_symbols[:size], nodes)

    def node(self, codes: Sequence[int], start: int = 0) -> int:
        """Return the node of a word, or of a word that goes on from another one's node."""
        return self.nodes.walk(start, list(codes))[-1] if len(codes) else start

    def descend(self, nodes: Nodes, suffixes: Nodes) -> Nodes:
        """Return the nodes to which the suffixes lead, one suffix for each node."""
        if len(nodes) < FEW:
            pairs = zip(nodes.tolist(), suffixes.tolist(), strict=True)
            descend, table = self.nodes.descend_one, self.suffixes
            return np.array([descend(*pair, table) for pair in pairs], dtype=np.int64)
        return self.nodes.descend(nodes, suffixes, self.suffixes)

    def path(self, words: Words) -> Nodes:
        """Return the nodes of all prefixes of every word.

        Word ``i`` of length k has k + 1 entries, the first of them, the empty word's, at
        ``offsets[i] + i``. Below an undefined word there may be nothing but that word again.
        """
        return run_words(words, 0, self.nodes.step, self.nodes.walk)

    # Classes and distributions

    def tables(self, numbers: Integers | None = None) -> Iterator[Floats]:
        """Yield the different distributions, or some of them, in tables that are not large."""
        if numbers is None:
            numbers = np.arange(self.answers.size)
        size = max(1, _TABLE // self.answers.width)
        for begin in range(0, max(1, len(numbers)), size):
            yield self.answers.dense(numbers[begin : begin + size])

    def rows(self, nodes: NDArray[np.integer]) -> Floats:
        """Return the distributions of nodes that have been asked for, as a table."""
        return self.answers.dense(self.nodes.rows[nodes])

    def class_keys(self) -> NDArray[np.generic]:
        """Return what the relation makes of every class, such as its quantization vector."""
        examples = np.unique(self.answers.classes[: self.answers.size], return_index=True)[1]
        tables = self.tables(examples)
        return np.concatenate([checked_keys(self.answers.equivalence, one) for one in tables])

    def classes(self, nodes: Nodes, suffixes: Nodes) -> Integers:
        """Return the class after every node's word and a suffix, asking for those not known."""
        return self.asked_classes(self.descend(nodes, suffixes))

    def asked_classes(self, nodes: Nodes) -> Integers:
        """Return the classes of nodes, asking for those not known."""
        self.ask(nodes)
        return self.nodes.classes[nodes].astype(np.int64)

    def distributions(self, nodes: Nodes) -> Floats:
        """Return the distributions of nodes, asking for those not known; NaN where undefined."""
        self.ask(nodes)
        is_defined = self.nodes.classes[nodes] != UNDEFINED
        defined = nodes[is_defined]
        rows = self.answers.rows(self.nodes.rows[defined].astype(np.int64))
        if rows.rest is not None and rows.rest.any():
            word = shorten(self.word(int(defined[int((rows.rest > 0).argmax())])))
            raise ModelError(
                f"the model's answer to the word {word} leaves open how a part of the probability "
                "is spread, and here all of it is needed; wrap the model in TopK"
            )
        table = np.full((len(nodes), self._symbols + 1), np.nan)
        table[is_defined] = rows.to_dense()
        return table

    def traces(self, nodes: Nodes, suffixes: Nodes) -> Nodes:
        """Return the number of the trace of every node's word by a suffix, asking if need be.

        A trace is the classes after every prefix of the suffix but the empty one; by the empty
        suffix it is the class of the word.
        """
        if len(nodes) < FEW:
            return self._traces_of_few(nodes.tolist(), suffixes.tolist())
        lengths = self.suffixes.arrays()[2][suffixes]
        offsets = offsets_of(np.maximum(lengths, 1))
        path = np.repeat(nodes, np.diff(offsets))
        steps = self.nodes.steps_down(nodes, suffixes, self.suffixes)
        for step, (places, here) in enumerate(steps):
            path[offsets[places] + step] = here
        self.ask(path[offsets[1:] - 1])
        self.ask(path)
        classes = self.nodes.classes[path]
        numbers = classes[offsets[1:] - 1].astype(np.int64)
        longer = (np.diff(offsets) > 1).nonzero()[0]
        traces, known = classes.tobytes(), self._trace_numbers
        begins, ends = (4 * offsets[longer]).tolist(), (4 * offsets[longer + 1]).tolist()
        numbers[longer] = [
            known.setdefault(traces[begin:end], len(known))
            for begin, end in zip(begins, ends, strict=True)
        ]
        return numbers

    def _traces_of_few(self, nodes: list[int], suffixes: list[int]) -> Nodes:
        """Do what `traces` does one by one; without it a chain takes 15 times as long."""
        ways = self._ways(nodes, suffixes)
        self.ask(np.array([way[-1] for way in ways]))
        class_at = self.nodes.class_at
        classes = [[class_at[node] for node in way] for way in ways]
        if any(UNKNOWN in trace for trace in classes):
            self.ask(np.array(list(chain.from_iterable(ways))))
            classes = [[class_at[node] for node in way] for way in ways]
        return np.array([self._number_trace(trace) for trace in classes], dtype=np.int64)

    def _ways(self, nodes: list[int], suffixes: list[int]) -> list[list[int]]:
        """Return the nodes that each trace is about."""
        walk, word = self.nodes.walk, self.suffixes.word
        return [walk(*way) or [way[0]] for way in zip(nodes, map(word, suffixes), strict=True)]

    def _number_trace(self, classes: list[int]) -> int:
        """Return the number of a trace; that of one class has the number of the class."""
        if len(classes) == 1:
            return classes[0]
        known = self._trace_numbers
        return known.setdefault(array("i", classes).tobytes(), len(known))

    def known_trace(self, node: int, suffix: int) -> int | None:
        """Return the number of the trace of a node's word by a suffix; None if it is not known."""
        classes = self.nodes.known_classes(node, suffix, self.suffixes)
        return None if classes is None else self._number_trace(classes)

    def known_class(self, node: int, suffix: int) -> int | None:
        """Return the class after a node's word and a suffix; None if it is not known."""
        end = self.nodes.descend_one(node, suffix, self.suffixes)  # this may move the columns
        class_ = self.nodes.class_at[end]
        return None if class_ == UNKNOWN else class_

    def known_labels(self, nodes: Nodes, suffixes: Nodes, *, traces: bool) -> Nodes:
        """Label pairs of words that suffixes tell apart, with traces or classes, without asking.

        The first words of all pairs stand before the second ones. The class after a whole suffix is
        known. A class on the way that is not known of both words counts as undefined of both, so
        that the traces part where classes do that are known.
        """
        ways = self._ways(nodes.tolist(), np.tile(suffixes, 2).tolist())
        found = [self.nodes.classes[way if traces else way[-1:]] for way in ways]
        for left, right in zip(found, found[len(suffixes) :], strict=False):
            unknown = (left == UNKNOWN) | (right == UNKNOWN)
            left[unknown] = right[unknown] = UNDEFINED
        return np.array([self._number_trace(trace.tolist()) for trace in found], dtype=np.int64)

    @property
    def all_traces(self) -> tuple[bytes, ...]:
        """The traces of two and more classes in the order of their numbers, as int32."""
        return tuple(self._trace_numbers)

    def successors(self, nodes: Nodes) -> tuple[Nodes, Nodes]:
        """Return the successors of words that have been asked for.

        Returns
        -------
        places, successors : array of int
            Of word i the successor by symbol j is at the place i · symbols + j. Those that are
            known to be impossible are left out.
        """
        places = self._possible_places(nodes)
        if places is None:
            return np.arange(len(nodes) * self._symbols), self.nodes.successors(nodes)
        words, symbols = np.divmod(places, self._symbols)
        return places, self.nodes.step(nodes[words], symbols)

    def successor_logs(self, nodes: Nodes) -> tuple[Nodes, Floats]:
        """Return where `successors` would be, and the logarithms of their symbols' probabilities.

        Nodes are not made for them. The logarithms are to the base 2; that of 0 is -inf.
        """
        places = self._possible_places(nodes)
        with np.errstate(divide="ignore"):
            logs: Floats = np.log2(self.rows(nodes)[:, 1:]).reshape(-1)
        return (np.arange(len(logs)), logs) if places is None else (places, logs[places])

    def _possible_places(self, nodes: Nodes) -> Nodes | None:
        """Return the places of successors that may be possible; None if all may be."""
        self.meter.check_seconds()
        if not self.answers.exclude_some:
            return None
        possible = self.answers.possible_symbols(self.nodes.rows[nodes].astype(np.int64))
        return None if possible is None else possible[0] * self._symbols + possible[1]

    # Asking

    def ask_path(self, words: Words) -> Nodes:
        """Return what `path` returns, after asking for every prefix that is not known yet."""
        path = self.path(words)
        # Whole words first: with them come the answers to all prefixes where these are free.
        self.ask(path[words.ends])
        self.ask(path)
        return path

    def record(
        self, store: AnswerStore, key: str, audit: int = 1, *, is_replayed: bool = False
    ) -> None:
        """Take answers from a store as if they were asked for, and write all new ones into it.

        A few of the stored words are asked again, to catch a store of another model; none if
        ``audit`` is 0. If ``is_replayed``, stored answers count for the budget, so that the same
        words are asked for as without a store.
        """
        stored = store.answers(key, self.alphabet)
        self.asker.record(stored, key, may_ask=audit > 0, is_replayed=is_replayed)
