"""Automata that know the last symbols of a word: a start for models that forget."""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdfalearn.distilling.evidence import Evidence, Floats, Numbers
from pdfalearn.distilling.machines import Machine

_LONGEST = 10
"""Contexts have at most this many symbols."""
_PRIOR_WEIGHT = 0.2
"""The rows of contexts are drawn to those one symbol shorter as if so many words had shown them."""


class _Contexts(NamedTuple):
    """All contexts that words show, the shorter ones first; context 0 is the empty one."""

    parents: Numbers
    """Of each, the one without its first symbol."""
    prefixes: Numbers
    """Of each, the one without its last symbol; -1 of those that have none."""
    last_symbols: Numbers
    rows: Floats
    gains: Floats


def context_machine(evidence: Evidence, most: int) -> Machine:
    """Return the automaton of the contexts that bring most, each with the mean of its answers.

    A context is the last symbols of a word, with a mark for its beginning. A transition leads to
    the longest suffix of context and symbol that is a context, so that unseen ones lead somewhere
    sensible too.

    Parameters
    ----------
    evidence : Evidence
        What the model answered.
    most : int
        How many contexts there may be.
    """
    contexts = _all_contexts(evidence)
    kept = _best(contexts, most)
    return _machine(contexts, kept, evidence.width)


def _all_contexts(evidence: Evidence) -> _Contexts:
    """Collect contexts, one symbol longer in each pass; rows are drawn to those one shorter."""
    sums, weights = evidence.sums(np.zeros(len(evidence), dtype=np.int64), 1)
    rows = sums / weights[:, None]
    parents, prefixes = np.full(1, -1), np.full(1, -1)
    lasts = np.full(1, -1)
    gains = np.full(1, np.inf)
    first_symbols = evidence.symbols.copy()
    first_symbols[0] = evidence.width  # the mark
    ancestors = np.arange(len(evidence))  # the node whose last symbol comes next
    before = np.zeros(len(evidence), dtype=np.int64)  # each node's context of this length, or -1
    for _ in range(_LONGEST + 1):
        active = ((before >= 0) & (ancestors >= 0)).nonzero()[0]
        if not len(active):
            break
        keys = before[active] * (evidence.width + 1) + first_symbols[ancestors[active]]
        different, groups = np.unique(keys, return_inverse=True)
        nodes_group = np.full(len(evidence), -1)
        nodes_group[active] = groups
        count = len(different)
        above = different // (evidence.width + 1)
        sums, weights = evidence.sums(nodes_group, count)
        means = sums / weights[:, None]
        gains = np.append(gains, _gains(means, rows[above], weights))
        shrunk = (sums + _PRIOR_WEIGHT * rows[above]) / (weights + _PRIOR_WEIGHT)[:, None]
        size = len(rows)
        examples = np.zeros(count, dtype=np.int64)
        shown = (nodes_group >= 0).nonzero()[0]
        examples[nodes_group[shown]] = shown
        is_begin = evidence.parents[examples] == examples
        of_parents = before[evidence.parents[examples]]
        parents = np.append(parents, above)
        prefixes = np.append(prefixes, np.where(is_begin, -1, of_parents))
        lasts = np.append(lasts, np.where(is_begin, -1, evidence.symbols[examples]))
        rows = np.concatenate((rows, shrunk))
        before = np.where(nodes_group >= 0, nodes_group + size, -1)
        is_mark = ancestors == 0
        ancestors = np.where(is_mark | (ancestors < 0), -1, evidence.parents[ancestors])
    return _Contexts(parents, prefixes, lasts, rows, gains)


def _gains(means: Floats, above: Floats, weights: Floats) -> Floats:
    """Return what the model's answers gain in nats by the means of contexts one symbol longer."""
    ratios = np.where(means > 0, means, 1.0) / np.where(means > 0, above, 1.0)
    return np.asarray(weights * (means * np.log(ratios)).sum(axis=1))


def _best(contexts: _Contexts, most: int) -> NDArray[np.bool_]:
    """Choose contexts by their gains, each after its suffix and its prefix."""
    kept = np.zeros(len(contexts.parents), dtype=bool)
    kept[0] = True
    chosen = kept.tolist()
    parents, prefixes = contexts.parents.tolist(), contexts.prefixes.tolist()
    starts = [c for c in range(1, len(parents)) if parents[c] == 0 and prefixes[c] < 0]
    count = 1
    children: dict[int, list[int]] = {}
    for context in range(1, len(parents)):
        children.setdefault(parents[context], []).append(context)
    gains = contexts.gains.tolist()
    heap = [(-gains[child], child) for child in children.get(0, [])]
    heap += [(-np.inf, start) for start in starts]
    heapq.heapify(heap)
    while heap and count < most:
        _, context = heapq.heappop(heap)
        wanted = [context]
        while wanted and count < most:
            top = wanted[-1]
            needs = [n for n in (parents[top], prefixes[top]) if n >= 0 and not chosen[n]]
            if needs:
                wanted.extend(needs)
                continue
            wanted.pop()
            if not chosen[top]:
                chosen[top] = True
                count += 1
                for child in children.get(top, []):
                    heapq.heappush(heap, (-gains[child], child))
    return np.array(chosen)


def _machine(contexts: _Contexts, kept: NDArray[np.bool_], width: int) -> Machine:
    """Return the automaton of chosen contexts; the one of the beginning comes first."""
    chosen = kept.nonzero()[0]
    numbers = np.full(len(kept), -1)
    numbers[chosen] = np.arange(len(chosen))
    parents = numbers[contexts.parents[chosen]]
    prefixes = numbers[contexts.prefixes[chosen]]
    prefixes[contexts.prefixes[chosen] < 0] = -1
    lasts = contexts.last_symbols[chosen]
    transitions = np.zeros((len(chosen), width), dtype=np.int32)
    by_prefix = np.argsort(prefixes, kind="stable")
    starts = np.searchsorted(prefixes[by_prefix], np.arange(len(chosen) + 1))
    for context in range(len(chosen)):
        if context:
            transitions[context] = transitions[parents[context]]
        longer = by_prefix[starts[context] : starts[context + 1]]
        transitions[context, lasts[longer]] = longer
    is_begin = (prefixes < 0) & (parents == 0)
    is_begin[0] = False
    first = int(is_begin.argmax()) if is_begin.any() else 0
    order = np.concatenate(([first], np.delete(np.arange(len(chosen)), first)))
    places = np.empty(len(chosen), dtype=np.int32)
    places[order] = np.arange(len(chosen), dtype=np.int32)
    rows = contexts.rows[chosen][order]
    return Machine(places[transitions[order]], rows, rows)
