"""Samples from what is open of an exploration: exact conditional ones, and estimates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.random import Generator

from pdfalearn.alphabet import Word
from pdfalearn.checks import check_integer, check_share, make_generator
from pdfalearn.errors import InputError, ModelError
from pdfalearn.exploring.frontier import TAIL, Frontier
from pdfalearn.exploring.likeliest import spell_words
from pdfalearn.exploring.live_questions import Left
from pdfalearn.results import Bounds
from pdfalearn.typing import Flags, Floats, Integers

if TYPE_CHECKING:
    from pdfalearn.budgets import Budget
    from pdfalearn.exploring.asking import LiveRun

# This share of the calls tells what a sample costs.
_PILOT_SHARE = 1 / 16
# How fast exploring closes is measured over this share of the calls that are left at first.
_WINDOW = 1 / 16
# A walk goes on for certain while it stands for at least this much.
_LEAST_WEIGHT = 1 / 4
_MOST_AT_ONCE = 1024
# At most this many prefixes are explored at once: what that brought is looked at each time.
_MOST_EXPLORED = 64
# The first walks get about 1/128 of the calls, if each takes one.
_FIRST = 128
# When at most this many walks are left, all are drawn at once.
_FEW = 4
_DRAWING_CALLS = 100_000
# The variance is guessed at first as if this much of a 0 and of a 1 had been seen.
_GUESSED = 0.3
# At most this share of the capital is bet, so that one value cannot lose all of it.
_MOST_BET = 0.97
_HALVINGS = 40
ROUNDING = 1e-12
"""Bounds are moved outward by this."""


class Draws(NamedTuple):
    """Answers that were drawn, each independently of the others.

    Examples
    --------
    >>> from pdfalearn import explore
    >>> from pdfalearn.datasets import figure_1
    >>> explore(figure_1(), "a", gap=0.01).sample(2).words
    [('a',), ('a',)]
    """

    words: list[Word]
    """Words, or texts of an LLM."""
    are_whole: list[bool]
    """Which of them ended; the others are cut where they were sure to match, whatever follows."""
    calls: int
    """How many distributions were asked for."""
    rejected: int
    """How many others were drawn that did not match."""


class Ends(NamedTuple):
    """Where walks from open prefixes came to an end."""

    labels: Integers
    """What was settled, or is neither text nor end, or longer than is looked at."""
    nodes: Integers
    columns: Integers
    """The column of the row of each node with which it was settled."""
    values: Floats
    """How likely an event was on the way, without what the way was drawn for."""
    weights: Floats
    """What the rest of the way stands for."""


def estimate(
    run: LiveRun, rows: Sequence[int], event: Flags, calls: int, confidence: float, seed: int
) -> Bounds:
    """Return bounds that hold with some confidence; see `Exploration.estimate`."""
    calls = check_integer(calls, "calls", 1)
    risk, random = 1 - check_share(confidence, "confidence"), make_generator(seed)
    frontier = run.frontier
    may = find_open(frontier, event)
    if run.counts_certain:  # what can come to nothing else is certain, though it is open
        may &= find_open(frontier, ~event)
    ends_at = frontier.calls + calls
    _explore_while_worth(run, rows, may, ends_at)
    low, items, weights = _open_to(frontier, rows, event, may)
    low += _gap(frontier, rows, find_open(frontier, event) & ~may)
    open_mass = float(weights.sum())
    if open_mass <= 0 or frontier.calls >= ends_at:
        high = low + _gap(frontier, rows, may)
        return Bounds(max(0.0, low - ROUNDING), min(1.0, high + ROUNDING), _HOLDS, 1.0, ())
    untold = _gap(frontier, rows, may) - open_mass

    least, most, stakes = list[float](), list[float](), list[float]()
    begun = frontier.calls
    while (left := ends_at - frontier.calls) > 0:
        done = len(least)
        can_follow = int(left * done / max(frontier.calls - begun, 1))
        if frontier.calls - begun < (ends_at - begun) * _PILOT_SHARE:
            count = max(1, done, left // _FIRST)
        else:  # half of what is left, so that what is seen tells how to bet on the others
            count = can_follow // 2 if can_follow > _FEW else max(1, can_follow)
        count = min(count, _MOST_AT_ONCE)
        stake = choose_stake(np.array(least), done + max(count, can_follow), risk)
        drawn = _draw_items(frontier, items, weights, count, random)
        ends = _walk(frontier, *drawn, random, lambda: frontier.calls >= ends_at, event)
        # The last walks, which the calls may not suffice for, may all match or none of them.
        least += ends.values.tolist()
        most += np.where(ends.labels < 0, ends.values + ends.weights, ends.values).tolist()
        stakes += [stake] * count
    share_low, share_high = bound_mean(least, most, stakes, risk)
    high = low + open_mass * share_high + untold
    low += open_mass * share_low
    return Bounds(max(0.0, low - ROUNDING), min(1.0, high + ROUNDING), _HOLDS, confidence, ())


def choose_stake(values: Floats, count: int, risk: float) -> float:
    """Return what to bet on the next values, if there will be this many in all."""
    weight = len(values) + _GUESSED
    mean = (values.sum() + _GUESSED / 2) / weight
    variance = (((values - mean) ** 2).sum() + _GUESSED / 4) / weight
    return float(np.sqrt(2 * np.log(2 / risk) / (count * variance)))


def bound_mean(
    least: Sequence[float] | Floats,
    most: Sequence[float] | Floats,
    stakes: Sequence[float] | Floats,
    risk: float,
) -> tuple[float, float]:
    """Return an interval that misses the mean with at most this risk.

    Whoever bets on values above a number that is not below their mean wins nothing on average,
    whatever the stakes are, if each was chosen before its value was seen. So the capital comes to
    2/risk with a probability of at most risk/2 (Ville), at any time; and likewise below. Of values
    that are known in part only, both ends are given. It is the interval of Waudby-Smith and Ramdas,
    "Estimating means of bounded random variables by betting" (2024), section 4.

    Examples
    --------
    >>> low, high = bound_mean([0.25] * 100, [0.25] * 100, [1.0] * 100, 0.05)
    >>> round(low, 3), round(high, 3)
    (0.212, 0.288)
    """
    bets = np.asarray(stakes)
    low = _bound_below(np.asarray(least), bets, risk / 2)
    return low, max(low, 1 - _bound_below(1 - np.asarray(most), bets, risk / 2))


def _bound_below(values: Floats, stakes: Floats, risk: float) -> float:
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        mean = (low + high) / 2
        # The capital falls as the mean grows, as less is bet and won.
        gains = np.log1p(np.minimum(stakes, _MOST_BET / mean) * (values - mean))
        if np.cumsum(gains).max(initial=0.0) >= -np.log(risk):
            low = mean
        else:
            high = mean
    return low


_HOLDS = "the model as it computes"


def _explore_while_worth(run: LiveRun, rows: Sequence[int], may: Flags, ends_at: int) -> None:
    """Explore while a call lowers the gap by a larger share than half of one in those left."""
    frontier, batch = run.frontier, min(run.batch, _MOST_EXPLORED)
    closed = np.ones(len(run.prompts), dtype=bool)
    closed[list(rows)] = False
    window = max(batch // 2, int((ends_at - frontier.calls) * _WINDOW))
    seen = [(frontier.calls, _gap(frontier, rows, may))]
    while (left := ends_at - frontier.calls) > 0:
        if not frontier.step(closed, min(batch, left), 0.0 if not run.is_large else 1e-7):
            return
        seen.append((frontier.calls, _gap(frontier, rows, may)))
        while len(seen) > 2 and seen[1][0] <= frontier.calls - window:
            seen.pop(0)
        (first, before), (last, after) = seen[0], seen[-1]
        if last - first >= window and 1 - after / max(before, 1e-300) < (last - first) / (2 * left):
            return


def find_open(frontier: Frontier, event: Flags) -> Flags:
    """Return the states of the languages from which an event may be reached."""
    return np.asarray(frontier.reading.dfa.reach[:, event].any(axis=1))


def _gap(frontier: Frontier, rows: Sequence[int], states: Flags) -> float:
    """Return how much is open or untold in some states of the languages."""
    return float(frontier.open_masses[list(rows), 0][:, states].sum() / len(rows))


def _open_to(
    frontier: Frontier, rows: Sequence[int], event: Flags, states: Flags
) -> tuple[float, Integers, Floats]:
    """Return what is settled as an event, and the items in some states with their masses."""
    low = float(frontier.settled[list(rows), 0][:, : len(event)][:, event].sum() / len(rows))
    items = frontier.items
    places = (states[items.states] & np.isin(items.prompts, rows)).nonzero()[0]
    return low, places, items.masses[places, 0] / len(rows)


def _draw_items(
    frontier: Frontier, items: Integers, weights: Floats, count: int, random: Generator
) -> tuple[Integers, Integers]:
    """Draw open prefixes by their mass; return their nodes, and whether they are tails."""
    drawn = items[random.choice(len(items), count, p=weights / weights.sum())]
    table = frontier.items
    kinds, where = np.unique(drawn, return_inverse=True)
    nodes, symbols = table.parents[kinds].copy(), table.symbols[kinds]
    new = symbols >= 0
    prompts = table.prompts[kinds]
    nodes[new] = frontier.add_nodes(nodes[new], symbols[new])
    frontier.node_prompts[nodes], frontier.node_states[nodes] = prompts, table.states[kinds]
    return nodes[where], (symbols == TAIL)[where]


def _walk(
    frontier: Frontier,
    nodes: Integers,
    are_tails: Integers,
    random: Generator,
    is_over: Callable[[], bool] = lambda: False,
    event: Flags | None = None,
) -> Ends:
    """Let the model go on from nodes until something is settled; all walks go step by step.

    Where it is over before, labels are -1. To value an event, what a row settles counts with its
    probability, and the walk goes on for what is open (Rao and Blackwell). When that stands for
    little, it goes on by chance as the model does; where that ends, what ends there counts.
    """
    reading, count = frontier.reading, len(nodes)
    labels, columns = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    values, weights = np.zeros(count), np.ones(count)
    nodes, active = nodes.copy(), np.arange(count)
    while len(active):
        frontier.interrupts.check()
        if is_over():
            labels[active] = -1
            break
        if event is not None:  # of longer words the model cannot be asked
            at = nodes[active]
            is_short = frontier.depths[at] <= frontier.longest[frontier.node_prompts[at]]
            labels[active[~is_short]], active = -1, active[is_short]
        here = np.unique(nodes[active])
        going = list[Integers]()
        for begin in range(0, len(here), 64):
            asked = here[begin : begin + 64]
            table, rests, untold = frontier.ask(asked)[0]
            if (untold > 0).any() or (rests is not None and rests.any()):
                raise ModelError(
                    "the model does not tell how likely all symbols are, so no answer can be drawn "
                    "from it; explore it only, or wrap it in TopK"
                )
            mine = active[np.isin(nodes[active], asked)]
            places = np.searchsorted(asked, nodes[mine])
            for place in np.unique(places).tolist():
                walks = mine[places == place]
                node = int(asked[place])
                after = frontier.map_of(node)
                row = table[place]
                if are_tails[walks[0]]:  # what was opened before is not drawn from a tail
                    opened = frontier.find_opened(node)
                    row = np.where(after.settled > reading.control, row, 0.0)
                    row[1 + opened[opened >= 0]] = 0.0
                if not row.any():  # what seemed to be left of a tail is rounding
                    labels[walks] = reading.control if event is None else -1
                    continue
                is_split, ending = False, 0.0
                if event is not None:
                    kinds = np.bincount(after.settled, row, reading.control + 2) / row.sum()
                    match, follows = float(kinds[: len(event)][event].sum()), float(kinds[-1])
                    follows *= len(after.live) > 0
                    weight = weights[walks[0]]  # all walks that are here came the same way
                    if is_split := weight * follows >= _LEAST_WEIGHT:
                        values[walks] += weight * match
                        weights[walks] *= follows
                        row = np.where(after.settled > reading.control, row, 0.0)
                    else:
                        ending = weight * match / (1 - follows)
                cumulative = np.cumsum(row)
                drawn = np.searchsorted(
                    cumulative, random.random(len(walks)) * cumulative[-1], side="right"
                )
                columns[walks] = np.minimum(drawn, len(row) - 1)
                labels[walks] = after.settled[columns[walks]]
                if not is_split:
                    has_ended = (labels[walks] <= reading.control) | (len(after.live) == 0)
                    values[walks[has_ended]] += ending
                if len(after.live):  # else what is open is cut
                    going.append(walks[labels[walks] > reading.control])
        active = np.concatenate(going) if going else active[:0]
        are_tails = np.zeros(count, dtype=bool)
        if len(active):
            _step(frontier, nodes, columns, active)
    return Ends(labels, nodes, columns, values, weights)


def _step(frontier: Frontier, nodes: Integers, columns: Integers, active: Integers) -> None:
    """Move walks to the nodes behind their columns."""
    width = 2**32
    keys, where = np.unique(nodes[active] * width + columns[active] - 1, return_inverse=True)
    parents, symbols = keys // width, (keys % width).astype(np.int32)
    new = frontier.add_nodes(parents, symbols)
    for place, (parent, symbol) in enumerate(zip(parents.tolist(), symbols.tolist(), strict=True)):
        after = frontier.reading.map(int(frontier.node_states[parent]))
        frontier.node_states[new[place]] = after.targets[int(np.searchsorted(after.live, symbol))]
    frontier.node_prompts[new] = frontier.node_prompts[parents]
    nodes[active] = new[where]


def draw_matching(
    run: LiveRun, rows: Sequence[int], event: Flags, count: int, seed: int, budget: Budget | None
) -> Draws:
    """Draw answers among those of an event; see `Exploration.sample`."""
    count = check_integer(count, "count", 0)
    random, frontier = make_generator(seed), run.frontier
    may = find_open(frontier, event)
    left, begun, rejected = Left(frontier, budget, _DRAWING_CALLS), frontier.calls, 0

    def is_over() -> bool:
        run.report()
        return left.bound() is not None

    if frontier.untold[list(rows), 0].any():
        why = "its context is too short" if frontier.too_long.any() else "it did not tell all"
        raise InputError(f"nothing can be drawn of the model: {why}; within=20 looks at less")
    accepted: list[tuple[int, int]] = []
    # Settled mass is drawn by the node behind which it was settled, then by the column.
    settled = frontier.node_settled[: frontier.size, 0, : len(event)][:, event].sum(axis=1)
    settled = np.where(np.isin(frontier.node_prompts[: frontier.size], rows), settled, 0.0)
    low = float(settled.sum())
    while len(accepted) < count:
        _, items, weights = _open_to(frontier, rows, event, may)
        open_mass = float(weights.sum() * len(rows))
        if low + open_mass <= 0:
            raise _too_few(len(accepted), count)
        share = low / (low + open_mass)
        tries = min(_MOST_AT_ONCE, int((count - len(accepted)) / max(share, 0.01)) + 1)
        is_settled = random.random(tries) < share
        drawn = np.full((tries, 2), -1)
        if is_settled.any():
            nodes = random.choice(len(settled), is_settled.sum(), p=settled / low)
            drawn[is_settled] = _draw_settled(frontier, nodes, event, random)
        if not is_settled.all():
            ends = _walk(
                frontier,
                *_draw_items(frontier, items, weights, int((~is_settled).sum()), random),
                random,
                is_over,
            )
            if (ends.labels < 0).any():  # to leave these out would be a bias
                raise _too_few(len(accepted), count)
            is_match = np.append(event, [False, False])[ends.labels]
            found = np.stack([ends.nodes, ends.columns], axis=1)
            drawn[~is_settled] = np.where(is_match[:, None], found, -1)
        # In the order in which they were drawn, and no more than are needed: so there is no bias.
        matching = (drawn[:, 0] >= 0).nonzero()[0][: count - len(accepted)]
        last = int(matching[-1]) if len(accepted) + len(matching) == count else tries - 1
        rejected += int((drawn[: last + 1, 0] < 0).sum())
        accepted += [(node, column) for node, column in drawn[matching].tolist()]
    where = np.array(accepted, dtype=np.int64).reshape(-1, 2)
    words = spell_words(frontier, run.alphabet, where[:, 0], where[:, 1] - 1)
    return Draws(words, (where[:, 1] == 0).tolist(), frontier.calls - begun, rejected)


def _too_few(found: int, count: int) -> InputError:
    return InputError(
        f"only {found} of {count} answers that match were found within the budget; explore "
        "further and draw from that, as explore(…, gap=…).sample(…, budget=…)"
    )


def _draw_settled(frontier: Frontier, nodes: Integers, event: Flags, random: Generator) -> Integers:
    """Draw with which column behind nodes an event was settled; return pairs of both."""
    drawn = np.stack([nodes, np.zeros(len(nodes), dtype=np.int64)], axis=1)
    # Where only the end settles a match, nothing has to be asked.
    matches = np.append(event, [False, False])
    has_more = [matches[frontier.map_of(node).settled[1:]].any() for node in np.unique(nodes)]
    different = np.unique(nodes)[has_more]
    for begin in range(0, len(different), 64):
        asked = different[begin : begin + 64]
        for node, row in zip(asked.tolist(), frontier.ask(asked)[0].columns, strict=True):
            cumulative = np.cumsum(np.where(matches[frontier.map_of(node).settled], row, 0.0))
            here = (nodes == node).nonzero()[0]
            chances = random.random(len(here)) * cumulative[-1]
            drawn[here, 1] = np.searchsorted(cumulative, chances, side="right")
    return drawn
