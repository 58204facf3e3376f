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


def measure_noise(run: LiveRun) -> tuple[float, float]:
    """Return how far rounding moves classes and answers, as measured.

    The likeliest prefixes are asked again of models that are opened anew, alone and a few at a
    time. With these rows the tree has other masses: below a prefix that is likelier now, all is.
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
        frontier.models = [opened[n] for n in live]
        before = frontier.ask(nodes)
        for size in _SIZES:
            frontier.models = [open_model(cast("LanguageModel", run.models[n])) for n in live]
            parts = [frontier.ask(nodes[at : at + size]) for at in range(0, len(nodes), size)]
            for place, number in enumerate(live):
                rows = np.concatenate([part[place].columns for part in parts])
                moved = _move(run, number, nodes, before[place].columns, rows)
                noise[number] = np.maximum(noise[number], moved)
            close_all(frontier.models)
    finally:
        frontier.models, frontier.calls = opened, calls
    classes, answers = (noise[live].sum(axis=0) * len(run.models) / len(live)).tolist()
    return classes, answers


def _move(
    run: LiveRun, model: int, nodes: Integers, before: Floats, after: Floats
) -> tuple[float, float]:
    """Return how far classes and answers move behind any prompt if nodes have other rows."""
    frontier, items, count = run.frontier, run.frontier.items, len(run.prompts)
    size, kinds = frontier.size, run.frontier.reading.control + 2
    masses = frontier.node_masses[:size, model]
    place_of = np.full(size, -1)
    place_of[nodes] = np.arange(len(nodes))

    def factors(parents: Integers, symbols: Codes) -> Floats:
        """Return how much likelier symbols are now."""
        places, columns = place_of[parents], 1 + np.maximum(symbols, 0)
        old, new = before[places, columns], after[places, columns]
        known = (places >= 0) & (symbols >= 0) & (old > 0)
        return np.where(known, new / np.where(known, old, 1.0), 1.0)

    ratios = np.ones(size)
    own = factors(frontier.parents[:size], frontier.symbols[:size])
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
        settled = frontier.map_of(node).settled
        apart = masses[node] * (ratios[node] * after[place] - before[place])
        apart[settled == kinds - 1] = 0.0  # these are open items, or nodes
        classes[prompts[node]] += np.bincount(settled, apart, kinds)
        answers[prompts[node]] += np.abs(apart).sum()
    gone = ratios[items.parents] * factors(items.parents, items.symbols) - 1
    gone = gone * items.masses[:, model]
    np.add.at(classes[:, -1], items.prompts, gone)
    np.add.at(answers, items.prompts, np.abs(gone))
    share = masses.sum() / max(masses[nodes].sum(), 1e-300)
    apart_most = float(np.abs(classes).sum(axis=1).max()), float(answers.max())
    return share * apart_most[0] / 2, share * apart_most[1] / 2
