"""Best-first expansion of the tree of a model's prefixes times the automaton of languages."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pdfalearn.arrays import grown
from pdfalearn.exploring.prefixes import (
    Found,
    Items,
    Opened,
    Told,
    add_likeliest,
    ask_model,
    find_likely,
    keep_likely,
    sum_kinds,
    tell_children,
)
from pdfalearn.exploring.readings import Reading, StateMap
from pdfalearn.exploring.recording import RecordedRows
from pdfalearn.models import Batch, Interrupts, LanguageModel, Lineage
from pdfalearn.typing import Codes, Flags, Floats, Integers

WHOLE, TAIL = -1, -2
"""Instead of a symbol: an item that is a node itself, or all that is left of one."""
# Asked together are prefixes at least this share as likely as the likeliest: a full batch of less
# likely ones closes hardly more, and takes as long.
_LEAST_SHARE = 1 / 16
# Asking for this many more takes about as long as asking at all.
_FEWEST = 16
# The rows of a batch take at most this many bytes.
_MOST_BYTES = 2**26
# At most this many open prefixes are kept, each of some 60 bytes; unlikely ones go back to tails.
_MOST_OPEN = 2**20
_EXACTLY = 1e-12
_OF_NODES = ("parents", "symbols", "node_settled", "node_masses")


class Frontier:
    """What is settled and what is open of the words of one model or several, behind prompts.

    Masses have a place for each model. For every prompt and model, what is settled, open and
    untold adds up to 1, which is checked after each step.
    """

    def __init__(
        self,
        models: Sequence[LanguageModel],
        reading: Reading,
        prompts: Sequence[Sequence[int]],
        deepest: int | None,
        count: int = 1,
        most_open: int = _MOST_OPEN,
        *,
        only_ends: bool = False,
        longest: float = np.inf,
    ) -> None:
        self.models = models
        """Opened; those that were closed are opened by who explores."""
        self.reading, self._most_open = reading, most_open
        self.deepest = np.inf if deepest is None else deepest
        # Whether all that counts behind the deepest prefixes is that they end there.
        self._only_ends = only_ends
        self._count, kinds = count, reading.control + 2
        self.settled = np.zeros((len(prompts), count, kinds))
        """By label; then control tokens, and words that are longer than is looked at."""
        self.untold = np.zeros((len(prompts), count, len(reading.dfa.table)))
        """What models did not tell how it is shared among symbols, by state of the languages."""
        self.longest = longest - np.array([len(word) for word in prompts])
        """How many symbols may stand behind each prompt, so that all models can be asked."""
        self.too_long = np.zeros((len(prompts), count))
        """How much of what is untold would need longer words."""
        self.differences = np.zeros(len(prompts))
        """Of two models: half the sum of all differences between prefixes that are settled."""
        self.unclear = np.zeros(len(prompts))
        """How much more: all that both have behind what settles, or where files only have sums."""
        self.found, self.other = Found(count), Found(count)
        """Prefixes that settle a match, and those that settle that there is none."""
        self.items = Items(count)
        self.interrupts = Interrupts()
        """Lets a Ctrl-C through only while a model answers, or between two steps."""
        self.calls = self.steps = 0
        """How many rows of a prefix were asked for, and how often some were."""
        # Nodes: the prefixes that were asked for, and those that lead to them.
        self.size = 1
        self.parents, self.symbols = np.zeros(64, dtype=np.int64), np.zeros(64, dtype=np.int32)
        self.depths = np.zeros(64, dtype=np.int32)
        self.node_prompts = np.full(64, -1, dtype=np.int32)
        self.node_states = np.zeros(64, dtype=np.int32)
        self.node_settled = np.zeros((64, count, kinds))
        """What was settled right behind each node."""
        self.node_masses = np.zeros((64, count))
        """How likely each node is that was asked for."""
        self._seen = np.zeros(64, dtype=bool)
        self._opened: Floats | None = None  # sums of what is open, until a step changes it
        self.roots = [self._add_path(word) for word in prompts]
        """The node of each prompt."""
        ones = np.ones((1, count))
        for number, node in enumerate(self.roots):
            self.depths[node] = 0
            if (label := int(reading.dfa.decided[reading.dfa.initial])) >= 0:
                self.settled[number, :, label] = 1.0  # whatever the model answers
                self.unclear[number] = 1.0
                self.node_settled[node, :, label] = 1.0
                self.node_prompts[node], self.node_states[node] = number, reading.dfa.initial
                continue
            where = (node, WHOLE, reading.dfa.initial, number)
            self.items.add(*(np.array([value]) for value in where), ones, np.ones(1))

    def _add_path(self, word: Sequence[int]) -> int:
        """Return the node of a prompt, whose symbols are not counted."""
        node = 0
        for symbol in word:
            here = slice(1, self.size)
            same = (self.parents[here] == node) & (self.symbols[here] == symbol)
            if same.any():
                node = 1 + int(same.argmax())
            else:
                node = int(self.add_nodes(np.array([node]), np.array([symbol]))[0])
                self.node_prompts[node] = -1
        return node

    def add_nodes(self, parents: Integers, symbols: Codes) -> Integers:
        """Add prefixes and return their numbers."""
        new = np.arange(self.size, self.size + len(parents))
        self.size += len(parents)
        for name in (*_OF_NODES, "depths", "node_prompts", "node_states", "_seen"):
            setattr(self, name, grown(getattr(self, name), self.size, 0))
        self.parents[new], self.symbols[new] = parents, symbols
        self.depths[new] = self.depths[parents] + 1
        return new

    @property
    def open_masses(self) -> Floats:
        """What is open or untold, for each prompt, model and state of the languages."""
        if self._opened is None:
            items, states = self.items, len(self.reading.dfa.table)
            keys, size = items.prompts * np.int64(states) + items.states, len(self.settled) * states
            table = np.array([np.bincount(keys, masses, size) for masses in items.masses.T])
            table = table.reshape(self._count, -1, states).transpose(1, 0, 2)
            self._opened = table + self.untold
        return self._opened

    def step(self, closed: Flags, batch: int, floor: float, enough: float = np.inf) -> bool:
        """Ask for the likeliest open prefixes; return False if nothing is left to ask.

        Prompts that are ``closed`` are no longer of interest. At most ``batch`` prefixes are asked
        for, and only as many as have the mass ``enough``, and a few; what is less likely than
        ``floor`` goes into the tails.
        """
        tops = self.items.tops
        if closed.any():
            tops = np.where(closed[self.items.prompts], 0.0, tops)
        best = tops.max(initial=0.0)
        if best <= 0:
            return False
        width = 1 + len(self.models[0].alphabet)
        batch = max(1, min(batch, _MOST_BYTES // (8 * width * len(self.models))))
        places = (tops >= best * _LEAST_SHARE).nonzero()[0]
        places = places[np.argsort(-tops[places], kind="stable")[:batch]]
        count = 1 + int(np.searchsorted(np.cumsum(tops[places]), enough))
        places = np.sort(places[: max(_FEWEST, count)])
        asked = self.items.take(places)
        nodes, is_new = asked.parents.copy(), asked.symbols >= 0
        nodes[is_new] = self.add_nodes(asked.parents[is_new], asked.symbols[is_new])
        self.node_prompts[nodes], self.node_states[nodes] = asked.prompts, asked.states
        # If it raises, nothing has changed but for some unused numbers.
        told, self._opened = self.ask(nodes, asked.symbols == TAIL), None
        self.items.remove(places)
        self._note_floor(floor)
        self._settle(asked, nodes, told, floor)
        self.steps += 1
        if len(self.items) > self._most_open:
            self._prune()
        self.check()
        return True

    def _note_floor(self, floor: float) -> None:
        for found in (self.found, self.other):
            found.floor = max(found.floor, floor)

    def map_of(self, node: int) -> StateMap:
        """Return what every column does behind a node; where words are cut, all of them settle."""
        return self._map(int(self.node_states[node]), bool(self._is_cut(np.array([node]))[0]))

    def _is_cut(self, nodes: Integers) -> Flags:
        return np.asarray(self.depths[nodes] >= self.deepest)

    def _map(self, state: int, is_cut: bool) -> StateMap:
        after = self.reading.map(state)
        if not is_cut:
            return after
        settled = after.settled.copy()
        if self._only_ends:
            goes_on = (settled > 0) & (settled != self.reading.control)
            settled[1:][goes_on[1:]] = self.reading.control + 1
        else:
            settled[1 + after.live] = self.reading.cuts[after.targets]
        return StateMap(settled, after.live[:0], after.targets[:0])

    def ask(self, nodes: Integers, whole: Flags | None = None) -> list[Told]:
        """Return what each model tells of nodes; of those that are wanted whole, all columns."""
        wanted = np.unique(nodes)
        ids, above = [wanted], self.parents[wanted]
        while len(above := np.unique(above[~self._seen[above]])):
            ids.append(above)
            above = self.parents[above[above > 0]]
        numbers = np.unique(np.concatenate(ids))
        lineage = Lineage(self.parents[: self.size], self.symbols[: self.size])
        batch = Batch.of_ids(numbers, np.isin(numbers, wanted), lineage)
        where = np.searchsorted(wanted, nodes)
        in_order = len(where) == len(wanted) and bool((np.diff(where) > 0).all())
        is_whole = np.ones(len(wanted), dtype=bool)
        if whole is not None:
            is_whole[where] = whole
        found = []
        for model in self.models:
            self.interrupts.is_calling = True
            try:
                if isinstance(model, RecordedRows):
                    states = self.node_states[wanted].astype(np.int64)
                    maps = {n: self.map_of(node) for n, node in enumerate(wanted.tolist())}
                    told = model.tell(batch, states, maps.__getitem__, is_whole)
                else:
                    told = ask_model(model, batch)
            finally:
                self.interrupts.is_calling = False
            found.append(told if in_order else told.take(where))
        self._seen[numbers] = True
        self.calls += len(wanted)
        return found

    def _settle(self, asked: Items, nodes: Integers, told: list[Told], floor: float) -> None:
        """Share the mass of nodes among what their rows settle, leave open, or do not tell."""
        is_cut, is_tail = self._is_cut(nodes), asked.symbols == TAIL
        is_last = self.depths[nodes] >= self.longest[asked.prompts]
        # Tails that are opened in this step leave out what is asked beside them.
        self.node_masses[nodes[~is_tail]] = asked.masses[~is_tail]
        # Item, model.
        listed = np.stack([one.columns.sum(axis=1) for one in told], axis=1)
        scales = asked.masses / (listed + np.stack([one.rest_sums for one in told], axis=1))
        (likely, columns, shares), unlikely = find_likely(told, scales, floor)
        kinds_of = np.stack([asked.states, is_cut, is_tail, is_last])
        keys, groups = np.unique(kinds_of, axis=1, return_inverse=True)
        size, order = self.settled.shape[2], np.argsort(groups.ravel()[likely], kind="stable")
        ends = np.searchsorted(groups.ravel()[likely[order]], np.arange(keys.shape[1] + 1))
        for number, (state, cut, tail, last) in enumerate(keys.T.tolist()):
            here, after = (groups.ravel() == number).nonzero()[0], self._map(state, bool(cut))
            at, masses, prompts = nodes[here], asked.masses[here], asked.prompts[here]
            if tail:
                self._open_tails(at, masses, tell_children(told, here, after), after, floor)
                continue
            sums = sum_kinds([one.columns for one in told], after.settled, size, here, listed)
            sums *= scales[here, :, None]
            missing = np.stack([one.untold[here] for one in told], axis=1) * scales[here]
            beyond = unlikely[here]
            if self._count == 2 or any(one.rests is not None for one in told):
                part = [one.take(here) for one in told]
                beyond += self._compare(part, scales[here], prompts, sums, after, cut)
            sums[:, :, -1] *= cut
            self.node_settled[at] = sums
            np.add.at(self.settled, prompts, sums)
            np.add.at(self.untold[:, :, state], prompts, missing)
            mine = order[ends[number] : ends[number + 1]]
            rows, column, share = np.searchsorted(here, likely[mine]), columns[mine], shares[mine]
            kinds = after.settled[column]
            for found, is_kind in ((self.found, kinds > 0), (self.other, kinds == 0)):
                found.note(at[rows], column, kinds, share, is_kind & (kinds < self.reading.control))
            if not cut:  # what is left is open; so rounding does not add up
                left = np.maximum(masses - sums.sum(axis=2) - missing, 0.0)
                if last:
                    np.add.at(self.untold[:, :, state], prompts, left)
                    np.add.at(self.too_long, prompts, left)
                    continue
                (live,) = (kinds > self.reading.control).nonzero()
                opened = rows[live], np.searchsorted(after.live, column[live] - 1), share[live]
                opened = add_likeliest(opened, told, here, scales, after, floor, beyond)
                self._open(at, left, opened, after, beyond)

    def _compare(
        self,
        told: list[Told],
        scales: Floats,
        prompts: Codes,
        sums: Floats,
        after: StateMap,
        cut: bool,
    ) -> Floats:
        """Note how far the rows of two models are apart; add to sums what files do not list.

        Files list likely columns only. Returns how likely one may be that leaves a question open
        and is not listed.
        """
        settled, last = after.settled, self.reading.control + cut
        # Item, model, column or kind.
        shares = np.stack([one.columns for one in told], axis=1) * scales[:, :, None]
        none = np.zeros((len(scales), sums.shape[2]))
        rests = [none if one.rests is None else one.rests for one in told]
        unlisted = np.stack(rests, axis=1) * scales[:, :, None]
        sums += unlisted
        listed = np.where(shares > 0, shares, 1.0)
        least = np.minimum(listed.min(axis=2), unlisted[:, :, :-1].max(axis=2))
        self._note_floor(float(least.max(initial=0.0)))
        if self._count == 2:
            is_whole = unlisted.sum(axis=2) == 0
            known = np.all((shares > 0) | is_whole[:, :, None], axis=1)
            each = np.where(known, np.abs(shares[:, 0] - shares[:, 1]), 0.0)
            apart = each[:, settled <= last].sum(axis=1)
            left, here = np.where(known[:, None], 0.0, shares), np.arange(len(scales))
            tables = list(left.transpose(1, 0, 2))
            unclear = sum_kinds(tables, settled, sums.shape[2], here, left.sum(axis=2)) + unlisted
            unclear = unclear[:, :, : last + 1]
            apart += np.abs(unclear[:, 0] - unclear[:, 1]).sum(axis=1)
            np.add.at(self.differences, prompts, apart / 2)
            both = np.where(known, shares.min(axis=1), 0.0)
            behind = after.mass_behind(both, self.reading.control, cut)
            np.add.at(self.unclear, prompts, behind + unclear.min(axis=1).sum(axis=1))
        live = listed[:, :, 1 + after.live].min(axis=2, initial=1.0).max(axis=1)
        return np.asarray(np.minimum(unlisted[:, :, -1].max(axis=1), live))

    def _open_tails(
        self, nodes: Integers, masses: Floats, children: Floats, after: StateMap, floor: float
    ) -> None:
        """Open what is left of nodes, without what was opened of them before."""
        for place, node in enumerate(nodes.tolist()):
            children[place][:, np.isin(after.live, self.find_opened(node))] = 0.0
        state = int(self.node_states[nodes[0]])
        total = children.sum(axis=2)
        missing = np.where(total > 0, 0.0, masses)
        np.add.at(self.untold[:, :, state], self.node_prompts[nodes], missing)
        children *= np.divide(masses, total, out=np.zeros_like(total), where=total > 0)[:, :, None]
        opened, unlikely = keep_likely(children, floor)
        self._open(nodes, masses - missing, opened, after, unlikely)

    def find_opened(self, node: int) -> Codes:
        """Return the symbols of what was opened behind a node that has a tail."""
        here = slice(1, self.size)
        # Nodes on the way to prompts are those of no prompt.
        was_asked = self.node_masses[here].any(axis=1) & (self.parents[here] == node)
        was_asked &= self.node_prompts[here] == self.node_prompts[node]
        items = self.items
        return np.concatenate([self.symbols[here][was_asked], items.symbols[items.parents == node]])

    def _open(
        self, nodes: Integers, left: Floats, opened: Opened, after: StateMap, beyond: Floats
    ) -> None:
        """Add what may follow nodes to what is open; all else that is left stays in their tails.

        Of that no single symbol is likelier than ``beyond``.
        """
        rows, places, masses = opened
        prompts = self.node_prompts[nodes]
        follows = after.live[places], after.targets[places], prompts[rows]
        self.items.add(nodes[rows], *follows, masses, masses.max(axis=1))
        for model in range(self._count):
            left[:, model] -= np.bincount(rows, masses[:, model], len(nodes))
        left = np.maximum(left, 0.0)
        tops = np.minimum(beyond, left.max(axis=1))
        has_tail = tops > 0
        if has_tail.any():
            at = nodes[has_tail]
            columns_of = (at, np.full(len(at), TAIL), self.node_states[at], prompts[has_tail])
            self.items.add(*columns_of, left[has_tail], tops[has_tail])

    def _prune(self) -> None:
        """Put the less likely of what is open back into tails of what it follows."""
        items, self._opened = self.items, None
        goes, gone = np.zeros(len(items), dtype=bool), len(items) - self._most_open // 2
        goes[np.argpartition(items.tops, gone)[:gone]] = True
        goes &= items.symbols >= 0
        # One tail for each node: those it has already are joined with what goes back.
        goes |= (items.symbols == TAIL) & np.isin(items.parents, items.parents[goes])
        places = goes.nonzero()[0]
        old = items.take(places)
        nodes, numbers = np.unique(old.parents, return_inverse=True)
        masses, tops = np.zeros((len(nodes), old.masses.shape[1])), np.zeros(len(nodes))
        np.add.at(masses, numbers, old.masses)
        np.maximum.at(tops, numbers, old.tops)
        items.remove(places)
        where = self.node_states[nodes], self.node_prompts[nodes]
        items.add(nodes, np.full(len(nodes), TAIL), *where, masses, tops)

    def check(self) -> None:
        """Make sure that for every prompt and model all masses add up to 1."""
        worst = float(np.abs(self.settled.sum(axis=2) + self.open_masses.sum(axis=2) - 1).max())
        if not worst <= _EXACTLY:
            raise AssertionError(f"all masses add up to 1 but for {worst:.3g}")
