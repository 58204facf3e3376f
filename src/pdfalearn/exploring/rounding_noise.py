"""What rounding alone moves in the answers of live models, measured by asking again."""

from __future__ import annotations

from typing import cast

import numpy as np

from pdfalearn.exploring.asking import LiveRun, close_all
from pdfalearn.exploring.recording import Baseline
from pdfalearn.models import LanguageModel, open_model
from pdfalearn.typing import Codes, Floats, Integers

# This many of the likeliest prefixes are asked again to see what rounding does, in such batches.
_ASKED_AGAIN = 24
_SIZES = (1, 7)
_EXACTLY = 1e-12


def measure_noise(run: LiveRun) -> tuple[float, float]:
    """Return how far rounding moves classes and answers, as measured.

    The likeliest prefixes are asked again of models that are opened anew, alone and a few at a
    time. With these rows the tree has other masses: below a prefix that is likelier now, all is.
    Moves within a class cancel out, as they do in its bounds.
    What is not asked again counts by the share of those that are. Of a file, which cannot be asked,
    the noise is taken to be the other model's.
    """
    frontier = run.frontier
    likely = frontier.node_masses[: frontier.size].max(axis=1)
    count = max(_ASKED_AGAIN, 4 * len(run.prompts))
    nodes = np.sort(np.argsort(-likely, kind="stable")[:count])
    nodes = nodes[likely[nodes] > 0]
    live = [n for n, model in enumerate(run.models) if not isinstance(model, Baseline)]
    if not len(nodes):
        return 0.0, 0.0
    calls, opened = frontier.calls, frontier.models
    noise = np.zeros((len(run.models), 2))
    try:
        for size in _SIZES:
            frontier.models = [open_model(cast("LanguageModel", run.models[n])) for n in live]
            parts = [frontier.ask(nodes[at : at + size]) for at in range(0, len(nodes), size)]
            for place, number in enumerate(live):
                rows = np.concatenate([part[place].columns for part in parts])
                moved = _move(run, number, nodes, rows)
                noise[number] = np.maximum(noise[number], moved)
            close_all(frontier.models)
    finally:
        frontier.models, frontier.calls = opened, calls
    classes, answers = (noise[live].sum(axis=0) * len(run.models) / len(live)).tolist()
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
