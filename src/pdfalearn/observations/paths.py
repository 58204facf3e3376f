"""Ask for every prefix of many words."""

from __future__ import annotations

from itertools import accumulate, chain, pairwise

import numpy as np

from pdfalearn.observations.suffixes import EMPTY
from pdfalearn.observations.tree import Nodes, ObservationTree
from pdfalearn.words import Words

_FEW = 32
"""Below this many words at once, one word after the other is faster than array steps."""


def path_nodes(observations: ObservationTree, words: Words) -> Nodes:
    """Give the nodes of all prefixes of every word.

    Word ``i`` of length k has k + 1 entries, the first of them, the empty word's, at
    ``offsets[i] + i``. Below an undefined word there may be nothing but that word again.
    """
    table = observations.nodes
    if len(words) < _FEW:
        symbols, offsets = words.symbols.tolist(), words.offsets.tolist()
        ways = (
            accumulate(symbols[begin:end], table.step_one, initial=0)
            for begin, end in pairwise(offsets)
        )
        return np.array(list(chain.from_iterable(ways)), dtype=np.int64)
    begins = words.offsets[:-1] + np.arange(len(words))
    path = np.zeros(len(words.symbols) + len(words), dtype=np.int64)
    longest_first = np.argsort(-words.lengths, kind="stable")
    running = np.cumsum(np.bincount(words.lengths)[::-1])[::-1]  # running[k]: words of length >= k
    position = 0
    while position + 1 < len(running) and running[position + 1] >= _FEW:
        active = longest_first[: running[position + 1]]
        here = begins[active] + position
        symbols = words.symbols[words.offsets[active] + position]
        path[here + 1] = table.step(path[here], symbols)
        position += 1
    if position + 1 < len(running):
        for word in longest_first[: running[position + 1]].tolist():
            begin = int(begins[word]) + position
            symbols = words.symbols[words.offsets[word] + position : words.offsets[word + 1]]
            steps = accumulate(symbols.tolist(), table.step_one, initial=int(path[begin]))
            path[begin : begin + len(symbols) + 1] = list(steps)
    return path


def asked_path_nodes(observations: ObservationTree, words: Words) -> Nodes:
    """Give what `path_nodes` gives, after asking for every prefix that is not known yet."""
    path, model = path_nodes(observations, words), observations.model
    size = max(1, len(path))
    if model.capacity is not None and not model.prefixes_free:
        size = max(1, model.capacity // 4)  # few enough that all of a part keep their handles
    is_end = np.zeros(len(path), dtype=bool)
    is_end[words.ends] = True
    is_end[size - 1 :: size] = True
    for begin in range(0, len(path), size):
        part = path[begin : begin + size]
        # Ends first: they lead the model to all prefixes, and may bring their answers along.
        for nodes in (part[is_end[begin : begin + size]], part):
            observations.classes(nodes, np.full(len(nodes), EMPTY))
    return path
