"""Lead a model to words: one session, its handles, and what becomes of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pdfalearn.alphabet import shortened
from pdfalearn.errors import ModelError
from pdfalearn.models.checking import (
    checked_extension,
    checked_room,
    checked_session,
    checked_shared,
    checked_start,
    close_quietly,
)
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.observations._nodes import NO_HANDLE, Nodes, NodeTable
from pdfalearn.row_checks import UndecidedError
from pdfalearn.words import Words, offsets_of

_ON_THE_WAY = -3
"""Stands where a word is about to have a handle."""


class Led(NamedTuple):
    """Where a model was led to."""

    path: Nodes
    """The nodes that had no handle before and have one now, or are known to be undefined."""
    handles: Nodes
    """Their handles."""
    rest: Nodes
    """Those of the given nodes that are still to be led to."""
    is_whole: bool
    """Whether all of the given nodes are on the path, and none is undefined."""


class Leader:
    """Keeps the handles of nodes, and extends them from their nearest ancestors that have one.

    Parameters
    ----------
    model : LanguageModel
        The model. A session with it is opened; no more handles are ever alive than it has room for.
    nodes : NodeTable
        The words.
    """

    def __init__(self, model: LanguageModel, nodes: NodeTable) -> None:
        self._model = model
        self._nodes = nodes
        self._is_closed = False
        self.session = checked_session(model)
        self.is_shared = checked_shared(self.session)
        """Whether words share handles, and with them answers."""
        self.room = None if self.is_shared else checked_room(self.session)
        """The most handles that may be alive at once; None if any number may."""
        self._live = 1
        self.symbols = 0
        """How many symbols the model has been led through."""
        self.has_released = False
        """Whether a word may have an answer and no handle any more."""
        self._live_nodes: list[int] = []
        """Where there is a bound: the nodes with handles, the oldest first."""

    def start(self) -> None:
        """Take the handle of the empty word, unless it has one."""
        if self._nodes.handles[0] == NO_HANDLE:
            self._nodes.handles[0] = checked_start(self.session)

    def close(self) -> str | None:
        """End the session, once; return a note if that went wrong."""
        if self._is_closed:
            return None
        self._is_closed = True
        self._nodes.handles[: self._nodes.size] = NO_HANDLE
        return close_quietly(self.session)

    @property
    def has_room(self) -> bool:
        """Whether the handles of all words can be alive at once."""
        return self.room is None or self.room > self._nodes.size + 1

    def is_next_to(self, nodes: list[int]) -> bool:
        """Return whether all of the nodes are one symbol longer than words that have handles."""
        handle_at, parent = self._nodes.handle_at, self._nodes.parent
        return self.room is None and all(handle_at[parent[node]] >= 0 for node in nodes if node)

    def lead(self, nodes: Nodes) -> Led:
        """Lead a model that has room for the handles of all words; return which have to wait."""
        table = self._nodes
        is_new = table.handles[nodes] == NO_HANDLE
        are_new = bool(is_new.all())
        path = nodes if are_new else nodes[is_new]
        starts = table.handles[table.parents[path]]
        if starts.min(initial=0) >= 0:  # as with successors of words that the model was led to
            offsets, rest = np.arange(len(path) + 1), path[:0]
        else:
            path, lengths, bases, rest = self._paths(path)
            offsets, starts = offsets_of(lengths), table.handles[bases]
        if not len(path):
            return Led(path, path, rest, is_whole=False)
        handles, are_defined = self._along(path, offsets, starts)
        # Words below undefined ones are not on the path.
        is_whole = are_new and are_defined and len(offsets) - 1 == len(nodes)
        return Led(path, handles, rest, is_whole)

    def lead_few(self, nodes: list[int]) -> Led:
        """Do what `lead` does word by word; handles are released where there is no room."""
        table = self._nodes
        handle_at, parent = table.handle_at, table.parent
        path: list[int] = []
        offsets, bases, rest = [0], [], []
        may_release = is_whole = True
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
            room = self._room_for(len(steps), above, len(path), may_release=may_release)
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
        handles, are_defined = led, False
        if path:
            handles, are_defined = self._along(led, np.array(offsets), np.array(bases))
        waiting = np.array([n for n in rest if handle_at[n] == NO_HANDLE], dtype=np.int64)
        return Led(led, handles, waiting, is_whole and are_defined and not rest)

    def _along(self, path: Nodes, offsets: Nodes, starts: Nodes) -> tuple[Nodes, bool]:
        """Extend handles along paths; note and return those of the path, and if all are defined."""
        table = self._nodes
        words = Words(table.last_symbols[path], offsets)
        try:
            handles = checked_extension(self.session.extend(starts, words), words)
        except UndecidedError as error:
            table.handles[path] = NO_HANDLE
            here = int(offsets[error.place]) + (error.length or 0)
            word = shortened(self._word(int(table.parents[path[here]])))
            raise ModelError(f"the model's answer to the word {word}: {error}") from error
        except BaseException:
            table.handles[path] = NO_HANDLE
            raise
        table.handles[path] = handles
        are_defined = bool(handles.min() >= 0)
        live = path
        if not are_defined:
            self._lose(path, handles)
            live = path[handles >= 0]
        # What was cut off or is undefined, the model was not led through.
        self.symbols += len(live)
        self._live += len(live)
        if self.room is not None:
            self._live_nodes += live.tolist()
        return handles, are_defined

    def _lose(self, path: Nodes, handles: Nodes) -> None:
        """Note that words are undefined; refuse that for words that had an answer."""
        risen = (
            (handles[1:] >= 0) & (handles[:-1] < 0) & (self._nodes.parents[path[1:]] == path[:-1])
        )
        if risen.any():
            word = self._word(int(path[int(risen.argmax()) + 1]))
            raise ModelError(f"the word {word} is defined, but a prefix of it is not")
        lost = path[handles < 0]
        answered = self._nodes.rows[lost] >= 0
        if answered.any():
            raise ModelError(
                f"the word {self._word(int(lost[answered.argmax()]))} was defined, and now the "
                "model says that it is not; is anything in it random?"
            )
        self._nodes.mark_undefined(lost)

    def give_up(self, nodes: Nodes) -> None:
        """Release the handles of words that turned out to be undefined."""
        handles = self._nodes.handles[nodes]
        self._nodes.handles[nodes] = NO_HANDLE
        if not self.is_shared:
            self._live -= len(nodes)
            if self.room is not None:
                lost = set(nodes.tolist())
                self._live_nodes = [node for node in self._live_nodes if node not in lost]
            self.session.release(handles)

    def _word(self, node: int) -> tuple[object, ...]:
        return self._model.alphabet.decode(self._nodes.word(node))

    def _room_for(self, needed: int, base: int, taken: int, *, may_release: bool) -> int:
        """Return how many more handles may live, after releasing others if that may be."""
        if self.room is None:
            return needed
        if self.room - self._live < needed and may_release:
            self._release(max(needed, self.room // 2), base)
        return self.room - self._live - taken

    def _release(self, count: int, base: int) -> None:
        """Release the oldest handles, access words' last; never the root's or the base's."""
        kept, live = self._nodes.kept, [node for node in self._live_nodes if node != base]
        in_turn = [node for node in live if not kept[node]] + [node for node in live if kept[node]]
        released = np.array(in_turn[:count], dtype=np.int64)
        handles = self._nodes.handles[released]
        self._nodes.handles[released] = NO_HANDLE
        self.has_released = True
        self._live -= len(released)
        handle_at = self._nodes.handle_at
        self._live_nodes = [node for node in self._live_nodes if handle_at[node] >= 0]
        self.session.release(handles)

    def _paths(self, nodes: Nodes) -> tuple[Nodes, Nodes, Nodes, Nodes]:
        """Find paths to nodes from their nearest ancestors that have handles, all at once.

        Paths may meet. Each node is claimed by the first path; the second one has to wait.

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
            if not wins.all():
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
