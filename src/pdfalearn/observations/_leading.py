"""Lead a model to words: handles, and what becomes of them."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pdfalearn.errors import InputError, ModelError
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.observations._nodes import NO_HANDLE, Nodes, NodeTable
from pdfalearn.words import Words, offsets_of

_LEAST_CAPACITY = 3
_ON_THE_WAY = -3
"""Stands where a word is about to have a handle."""


class Ways(NamedTuple):
    """The nodes along ways down, at least one each, and where each way begins."""

    path: Nodes
    offsets: Nodes


_Rest = TypeVar("_Rest", covariant=True)


class Led(NamedTuple, Generic[_Rest]):
    """Where a model was led to."""

    path: Nodes
    """The nodes that had no handle before and have one now, or are known to be undefined."""
    handles: Nodes
    """Their handles."""
    rest: _Rest
    """Those of the given nodes that are still to be led to."""
    is_whole: bool
    """Whether all of the given nodes are on the path, and none is undefined."""


class Leader:
    """Keeps the handles of nodes, and extends them from their nearest ancestors that have one.

    Parameters
    ----------
    model : LanguageModel
        The model; no more of its handles than its capacity are ever alive.
    nodes : NodeTable
        The words.
    """

    def __init__(self, model: LanguageModel, nodes: NodeTable) -> None:
        if model.capacity is not None and model.capacity < _LEAST_CAPACITY:
            raise InputError(
                f"the model's capacity is {model.capacity}; it needs {_LEAST_CAPACITY} or more"
            )
        self._model = model
        self._nodes = nodes
        self._live = 1
        self.symbols = 0
        """How many symbols the model has been led through."""
        self.symbols_again = 0
        """And how many in asking for words again."""
        nodes.handles[0] = model.start()
        if nodes.handles[0] < 0:
            raise ModelError("the model says that the empty word is undefined")
        self.has_released = False
        """Whether a word may have an answer and no handle any more."""
        self._live_nodes: list[int] = []
        """Where the model's capacity is bounded: the nodes with handles, the oldest first."""

    def lead(self, nodes: Nodes, ways: Ways | None = None) -> Led[Nodes]:
        """Lead a model that has room for the handles of all words to as many as can be at once.

        Parameters
        ----------
        nodes : array of int
            Different nodes.
        ways : Ways, optional
            If it is known: the way to each of them from a word that has a handle.
        """
        table = self._nodes
        path = nodes
        is_new = table.handles[nodes] == NO_HANDLE
        are_new = bool(is_new.all())
        if not are_new:
            path = nodes[is_new]
        starts = table.handles[table.parents[path]]
        if starts.min(initial=0) >= 0:  # as with successors of words that the model was led to
            offsets, rest = np.arange(len(path) + 1), path[:0]
        elif ways is not None and are_new and (known := self._known(ways)) is not None:
            path, offsets, starts = known
            rest = path[:0]
        else:
            path, lengths, bases, rest = self._paths(path)
            offsets, starts = offsets_of(lengths), table.handles[bases]
        if not len(path):
            return Led(path, path, rest, is_whole=False)
        handles, are_defined = self._along(path, offsets, starts)
        # Words below undefined ones are no part of the path.
        is_whole = are_new and are_defined and len(offsets) - 1 == len(nodes)
        return Led(path, handles, rest, is_whole)

    def lead_on(self, nodes: Nodes, successors: Nodes) -> Led[Nodes] | None:
        """Lead a model from nodes to all their successors, which are new; None if it cannot be."""
        starts = np.repeat(self._nodes.handles[nodes], self._nodes.symbols)
        if starts.min() < 0 or not self.has_room:
            return None
        offsets = np.arange(len(successors) + 1)
        handles, are_defined = self._along(successors, offsets, starts)
        return Led(successors, handles, successors[:0], are_defined)

    def _known(self, ways: Ways) -> tuple[Nodes, Nodes, Nodes] | None:
        """Give what has no handle of ways, and those before; None if it is not that easy."""
        table, (path, offsets) = self._nodes, ways
        is_new = table.handles[path] == NO_HANDLE
        if not is_new.all():
            lengths = np.add.reduceat(is_new, offsets[:-1], dtype=np.int64)
            offsets, path = offsets_of(lengths[lengths > 0]), path[is_new]
        parents = table.parents[path]
        begins = offsets[:-1]
        starts = table.handles[parents[begins]]
        follows = np.ones(len(path), dtype=bool)
        follows[begins] = False
        follows = follows.nonzero()[0]
        # Ways may run into one another, begin at undefined words, or have had handles further on.
        is_easy = (
            starts.min() >= 0
            and (parents[follows] == path[follows - 1]).all()
            and len(table.different(path)) == len(path)
        )
        return (path, offsets, starts) if is_easy else None

    @property
    def has_room(self) -> bool:
        """Whether the handles of all words can be alive at once."""
        return self._model.capacity is None or self._model.capacity > self._nodes.size + 1

    def lead_few(self, nodes: list[int]) -> Led[list[int]]:
        """Do what `lead` does, for few words: less to set up, more for each."""
        table = self._nodes
        handle_at, parent = table.handle_at, table.parent
        path: list[int] = []
        offsets, bases, rest = [0], [], []
        is_bounded, may_release, is_whole = self._model.capacity is not None, True, True
        for place, node in enumerate(nodes):
            steps: list[int] = []
            above = node
            while handle_at[above] == NO_HANDLE:
                steps.append(above)
                above = parent[above]
            if not steps:
                may_release = is_whole = False  # its handle is about to be used
                continue
            base = handle_at[above]
            if base == _ON_THE_WAY:
                rest.append(node)
                continue
            if base < 0:
                table.mark_undefined(np.array(steps))
                is_whole = False
                continue
            room = len(steps)
            if is_bounded:
                room = self._room(len(steps), above, len(path), may_release=may_release)
            is_cut = room < len(steps)
            if is_cut:
                rest += nodes[place:]
                if not may_release:
                    break
                steps = steps[-room:]
            may_release = False
            for step in steps:
                handle_at[step] = _ON_THE_WAY
            path += reversed(steps)
            offsets.append(len(path))
            bases.append(base)
            if is_cut:
                break
        led = np.array(path, dtype=np.int64)
        if not path:
            return Led(led, led, rest, is_whole=False)
        handles, are_defined = self._along(led, np.array(offsets), np.array(bases))
        is_whole = is_whole and are_defined and not rest
        return Led(led, handles, [n for n in rest if handle_at[n] == NO_HANDLE], is_whole)

    def _along(self, path: Nodes, offsets: Nodes, starts: Nodes) -> tuple[Nodes, bool]:
        """Extend handles along paths; note and give those of the path, and if all are defined."""
        table = self._nodes
        words = Words(table.last_symbols[path], offsets)
        try:
            handles, are_defined = self._extended(starts, words, path)
        except BaseException:
            table.handles[path] = NO_HANDLE
            raise
        self.symbols += len(path)
        self._live += len(path)
        table.handles[path] = handles
        if not are_defined:
            lost = path[handles < 0]
            self._lose(lost)
            self._live -= len(lost)
        if self._model.capacity is not None:
            self._live_nodes += path[handles >= 0].tolist()
        return handles, are_defined

    def _extended(self, handles: Nodes, words: Words, path: Nodes) -> tuple[Nodes, bool]:
        """Extend, and refuse an answer that cannot be right; say also if all are defined."""
        given = np.asarray(self._model.extend(handles, words))
        count = len(words.symbols)
        if given.shape != (count,) or given.dtype.kind not in "iu":
            raise ModelError(
                f"extend gave an array of {given.dtype} of shape {given.shape} for words of "
                f"{count} symbols in all; it has to give an integer for each"
            )
        answer = given.astype(np.int64)
        are_defined = bool(answer.min() >= 0)
        if not are_defined:
            first = np.zeros(count, dtype=bool)
            first[words.offsets[:-1][words.lengths > 0]] = True
            risen = (answer[1:] >= 0) & (answer[:-1] < 0) & ~first[1:]
            if risen.any():
                codes = self._nodes.word(int(path[int(risen.argmax()) + 1]))
                word = self._model.alphabet.decode(codes)
                raise ModelError(f"the word {word} is defined, but a prefix of it is not")
        return answer, are_defined

    def _lose(self, nodes: Nodes) -> None:
        """Note that words are undefined; refuse that for words that had an answer."""
        answered = self._nodes.rows[nodes] >= 0
        if answered.any():
            codes = self._nodes.word(int(nodes[answered.argmax()]))
            raise ModelError(
                f"the word {self._model.alphabet.decode(codes)} was defined, and now the model "
                "says that it is not; is anything in it random?"
            )
        self._nodes.mark_undefined(nodes)

    def release_all(self) -> None:
        """Give all handles back to the model, which will not be asked any more."""
        live = (self._nodes.handles[: self._nodes.size] >= 0).nonzero()[0]
        self._model.release(self._nodes.handles[live])
        self._nodes.handles[live] = NO_HANDLE

    def distributions_again(self, words: list[list[int]]) -> list[NDArray[np.float64] | None]:
        """Ask for words from the start, as if they were new; None where one is undefined."""
        needed = 1 + sum(map(len, words))
        if self._model.capacity is not None and self._model.capacity - self._live < needed:
            return [self._again_in_steps(codes) for codes in words]
        start = self._model.start()
        batch = Words.of(words)
        self.symbols_again += len(batch.symbols)
        handles = np.asarray(self._model.extend(np.full(len(words), start), batch))
        empty = batch.lengths == 0
        ends = np.where(empty, start, np.append(handles, start)[batch.offsets[1:] - 1])
        defined = ends >= 0
        rows = iter(self._rows(ends[defined]))
        self._model.release(np.append(handles[handles >= 0], start))
        return [next(rows) if is_defined else None for is_defined in defined.tolist()]

    def _again_in_steps(self, codes: list[int]) -> NDArray[np.float64] | None:
        """Ask for one word from the start with two handles at a time."""
        self._room(2, 0, 0, may_release=True)
        handle = np.array([self._model.start()])
        for symbol in codes:
            longer = self._model.extend(handle, Words.of([[symbol]]))
            self.symbols_again += 1
            self._model.release(handle)
            handle = longer
            if handle[0] < 0:
                return None
        (row,) = self._rows(handle)
        self._model.release(handle)
        return row

    def _rows(self, handles: Nodes) -> list[NDArray[np.float64]]:
        """Ask for rows; an answer of another length stands, whole, in the place of every row."""
        answer = np.asarray(self._model.distributions(handles))
        if not answer.ndim or len(answer) != len(handles):
            return [answer] * len(handles)
        return list(map(np.asarray, answer))

    def _room(self, needed: int, base: int, taken: int, *, may_release: bool) -> int:
        """Say how many more handles may live; if it may, release others where they are too few."""
        capacity = self._model.capacity
        if capacity is None:
            return needed
        if capacity - self._live < needed and may_release:
            self._release(max(needed, capacity // 2), base)
        return capacity - self._live - taken

    def _release(self, count: int, base: int) -> None:
        """Release the oldest handles, access words' last; never the root's or the base's."""
        kept, live = self._nodes.kept, [node for node in self._live_nodes if node != base]
        in_turn = [node for node in live if not kept[node]] + [node for node in live if kept[node]]
        released = np.array(in_turn[:count], dtype=np.int64)
        self._model.release(self._nodes.handles[released])
        self._nodes.handles[released] = NO_HANDLE
        self.has_released = True
        self._live -= len(released)
        handle_at = self._nodes.handle_at
        self._live_nodes = [node for node in self._live_nodes if handle_at[node] >= 0]

    def _paths(self, nodes: Nodes) -> tuple[Nodes, Nodes, Nodes, Nodes]:
        """Find paths to nodes from their nearest ancestors that have handles, all at once.

        Paths that run into one another are told by claims: who comes second has to wait.

        Returns
        -------
        path, lengths, bases, rest : array of int
            The paths one after the other, how long each is and from which node it goes down; and
            the nodes that have to wait.
        """
        table = self._nodes
        lengths = np.zeros(len(nodes), dtype=np.int64)
        late = np.zeros(len(nodes), dtype=bool)
        bases = np.zeros(len(nodes), dtype=np.int64)
        steps: list[tuple[Nodes, Nodes]] = []
        active, here = np.arange(len(nodes)), nodes
        while len(active):
            free = table.claims[here] < 0
            table.claims[here[free]] = active[free]
            wins = table.claims[here] == active
            late[active[~wins]] = True
            active, here = active[wins], here[wins]
            steps.append((active, here))
            lengths[active] += 1
            above = table.parents[here].astype(np.int64)
            bases[active] = above
            onwards = table.handles[above] == NO_HANDLE
            active, here = active[onwards], above[onwards]
        undefined = ~late & (table.handles[bases] < 0)
        taken = ~late & ~undefined
        ends = np.cumsum(np.where(taken, lengths, 0))
        path = np.empty(int(ends[-1]) if len(ends) else 0, dtype=np.int64)
        for distance, (active, here) in enumerate(steps):
            table.claims[here] = -1
            kept = taken[active]
            path[ends[active[kept]] - 1 - distance] = here[kept]
            lost = undefined[active]
            if lost.any():
                table.mark_undefined(here[lost])
        return path, lengths[taken], bases[taken], nodes[late]
