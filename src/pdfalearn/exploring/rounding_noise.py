"""What rounding alone moves in the answers of live models, measured by asking again."""

from __future__ import annotations

from typing import cast

import numpy as np

from pdfalearn.exploring.asking import LiveRun, close_all
from pdfalearn.exploring.live_questions import Left
from pdfalearn.exploring.prefixes import Told
from pdfalearn.exploring.recording import Baseline
from pdfalearn.models import LanguageModel, open_model
from pdfalearn.typing import Codes, Floats, Integers

# This many of the likeliest prefixes are asked again to see what rounding does, in such batches.
_ASKED_AGAIN = 24
_SIZES = (7, 1)
_EXACTLY = 1e-12


class Noise:
    """How far rounding moves classes and answers, as measured.

    The likeliest prefixes are asked again of models that are opened anew, a few at a time and
    alone. With these rows the tree has other masses: below a prefix that is likelier now, all is.
    Moves within a class cancel out, as they do in its bounds.
    What is not asked again counts by the share of those that are. Of a file, which cannot be asked,
    the noise is taken to be the other model's.
    """

    def __init__(self, run: LiveRun) -> None:
        self._run = run
        self._live = [n for n, model in enumerate(run.models) if not isinstance(model, Baseline)]
        self._nodes = np.zeros(0, dtype=np.int64)
        self._told: dict[int, list[list[Told]]] = {}
        self.calls = 0
        """How many distributions each model was asked for again."""

    def measure(self, left: Left) -> None:
        """Ask again, at least once and until the time is up."""
        run, frontier = self._run, self._run.frontier
        likely = frontier.node_masses[: frontier.size].max(axis=1)
        count = max(_ASKED_AGAIN, 4 * len(run.prompts))
        nodes = np.argsort(-likely, kind="stable")[:count]
        self._nodes = nodes = nodes[likely[nodes] > 0]
        for size in _SIZES:
            opened, told = frontier.models, self._told.setdefault(size, [])
            frontier.models = [open_model(cast("LanguageModel", run.models[n])) for n in self._live]
            try:
                for begin in range(0, len(nodes), size):
                    if self.calls and left.is_late:
                        break
                    told.append(frontier.ask(again := nodes[begin : begin + size]))
                    self.calls += len(again)
                    run.report()
                    frontier.interrupts.check()
            finally:
                close_all(frontier.models)
                frontier.models = opened

    def bounds(self) -> tuple[float, float]:
        """Return how far classes and answers move, as far as that was measured; else 0."""
        noise = np.zeros((len(self._run.models), 2))
        for told in filter(None, self._told.values()):
            for place, number in enumerate(self._live):
                rows = np.concatenate([part[place].columns for part in told])
                moved = _move(self._run, number, self._nodes[: len(rows)], rows)
                noise[number] = np.maximum(noise[number], moved)
        live = noise[self._live]
        classes, answers = (live.sum(axis=0) * len(noise) / len(live)).tolist()
        return classes, answers


def _move(run: LiveRun, model: int, nodes: Integers, rows: Floats) -> tuple[float, float]:
    """Return how far classes and answers move behind any prompt if nodes have other rows."""
    frontier, items, count = run.frontier, run.frontier.items, len(run.prompts)
    size, kinds = frontier.size, run.frontier.reading.control + 2
    masses = frontier.node_masses[:size, model]
    place_of = np.full(size, -1)
    place_of[nodes] = np.arange(len(nodes))

    def factors(parents: Integers, symbols: Codes, before: Floats, least: int = 0) -> Floats:
        """Return how much likelier symbols are now behind their parents."""
        places = place_of[parents]
        known = (places >= 0) & (symbols >= least) & (before > 0)
        new = masses[parents] * rows[places, 1 + np.maximum(symbols, -1)]
        return np.where(known, new / np.where(known, before, 1.0), 1.0)

    ratios = np.ones(size)
    own = factors(frontier.parents[:size], frontier.symbols[:size], masses)
    for depth in range(1, int(frontier.depths[:size].max(initial=0)) + 1):
        here = ((frontier.depths[:size] == depth) & (masses > 0)).nonzero()[0]
        ratios[here] = ratios[frontier.parents[here]] * own[here]
    prompts = frontier.node_prompts[:size]
    moved = (ratios - 1)[:, None] * frontier.node_settled[:size, model]
    moved[nodes] = 0.0
    asked = np.flatnonzero(masses)
    classes, answers = np.zeros((count, kinds)), np.zeros(count)
    np.add.at(classes, prompts[asked], moved[asked])
    np.add.at(answers, prompts[asked], np.abs(moved[asked]).sum(axis=1))
    for place, node in enumerate(nodes.tolist()):
        after = frontier.map_of(node)
        apart = np.bincount(after.settled, ratios[node] * masses[node] * rows[place], kinds)
        apart -= frontier.node_settled[node, model]
        if len(after.live):
            apart[-1] = 0.0  # these are open items, or nodes
        classes[prompts[node]] += apart
    for found in (frontier.found, frontier.other):
        here = place_of[found.nodes] >= 0
        before = found.masses[here, model]
        gone = factors(found.nodes[here], found.symbols[here], before, least=-1)
        gone = (ratios[found.nodes[here]] * gone - 1) * before
        np.add.at(answers, prompts[found.nodes[here]], np.abs(gone))
    before = items.masses[:, model]
    gone = ratios[items.parents] * factors(items.parents, items.symbols, before) - 1
    np.add.at(classes[:, -1], items.prompts, gone * before)
    np.add.at(answers, items.prompts, np.abs(gone * before))
    share = float(masses.sum() / max(masses[nodes].sum(), 1e-300))
    most = float(np.abs(classes).sum(axis=1).max()), float(answers.max())
    # What the sums of masses are off by is not the model's noise.
    of_classes, of_answers = (share * one / 2 if one > _EXACTLY else 0.0 for one in most)
    return of_classes, of_answers
