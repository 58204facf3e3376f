"""Red-blue merging in plain Python, written apart from the package: what the learners must equal.

An automaton is a dictionary of nodes: a node has counts by symbol (None is the end) and children by
symbol. Everything is copied and merged for real before a criterion looks at it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from math import inf, log, sqrt

from scipy.stats import chi2

Word = tuple[int, ...]


class Node:
    """A node: how often it was left by each symbol or the end, and where each symbol leads."""

    def __init__(self) -> None:
        self.counts: Counter[int | None] = Counter()
        self.children: dict[int, Node] = {}
        self.access: Word | None = None  # of a red node: the word by which it became red

    @property
    def total(self) -> int:
        return sum(self.counts.values())


def build_tree(words: list[Word]) -> Node:
    root = Node()
    for word in words:
        node = root
        for symbol in word:
            node.counts[symbol] += 1
            node = node.children.setdefault(symbol, Node())
        node.counts[None] += 1
    return root


def all_nodes(root: Node) -> list[Node]:
    seen, queue = {id(root)}, [root]
    for node in queue:
        for child in node.children.values():
            if id(child) not in seen:
                seen.add(id(child))
                queue.append(child)
    return queue


def follow(root: Node, word: Word) -> Node:
    for symbol in word:
        root = root.children[symbol]
    return root


def fold(target: Node, source: Node) -> None:
    target.counts.update(source.counts)
    for symbol, child in source.children.items():
        if symbol in target.children:
            fold(target.children[symbol], child)
        else:
            target.children[symbol] = child


def merge(root: Node, red: Word, blue: Word) -> Node:
    """Return a copy of the automaton in which the blue node is merged into the red one."""
    root = deepcopy(root)
    target, source = follow(root, red), follow(root, blue)
    follow(root, blue[:-1]).children[blue[-1]] = target
    fold(target, source)
    return root


Choice = Callable[[Node, list[Word], Word], Word | None]


def learn(words: list[Word], choose: Choice, *, largest: bool = False) -> dict[Word, Node]:
    """Return the red nodes of the result by their access words."""
    root = build_tree(words)
    root.access = ()
    while True:
        reds = {n.access: n for n in all_nodes(root) if n.access is not None}
        blues = [
            (*word, symbol)
            for word, node in reds.items()
            for symbol, child in node.children.items()
            if child.access is None
        ]
        if not blues:
            return reds
        blue = min(blues, key=shortlex)
        if largest:
            blue = min(blues, key=lambda w: (-follow(root, w).total, *shortlex(w)))
        red = choose(root, sorted(reds, key=shortlex), blue)
        if red is None:
            follow(root, blue).access = blue
        else:
            root = merge(root, red, blue)


def shortlex(word: Word) -> tuple[int, Word]:
    return len(word), word


def hoeffding(epsilon: float) -> Choice:
    def differ(left: Node, right: Node) -> bool:
        bound = (sqrt(1 / left.total) + sqrt(1 / right.total)) * sqrt(0.5 * log(2 / epsilon))
        return any(
            abs(left.counts[s] / left.total - right.counts[s] / right.total) > bound
            for s in {*left.counts, *right.counts}
        )

    def agree(left: Node, right: Node) -> bool:
        return not differ(left, right) and all(
            agree(left.children[s], right.children[s])
            for s in left.children.keys() & right.children.keys()
        )

    def choose(root: Node, reds: list[Word], blue: Word) -> Word | None:
        return next((r for r in reds if agree(follow(root, r), follow(root, blue))), None)

    return choose


def log_likelihood(root: Node) -> float:
    return sum(
        count * log(count / node.total)
        for node in all_nodes(root)
        for count in node.counts.values()
    )


def divergence_increment(alpha: float, words: int) -> Choice:
    def choose(root: Node, reds: list[Word], blue: Word) -> Word | None:
        for red in reds:
            merged = merge(root, red, blue)
            rise = (log_likelihood(root) - log_likelihood(merged)) / log(2) / words
            if rise < alpha * (len(all_nodes(root)) - len(all_nodes(merged))):
                return red
        return None

    return choose


def ratio_test(alpha: float) -> Choice:
    """The test with ``least`` 0: whole automata are compared before and after."""

    def parameters(root: Node) -> int:
        return sum(len(+node.counts) for node in all_nodes(root))

    def choose(root: Node, reds: list[Word], blue: Word) -> Word | None:
        best, most = None, -inf
        for red in reds:
            merged = merge(root, red, blue)
            ratio = 2 * (log_likelihood(root) - log_likelihood(merged))
            lost = parameters(root) - parameters(merged)
            value = float(chi2.sf(max(ratio, 0.0), max(lost, 1)))
            if value > most + 1e-9:
                best, most = red, value
        return best if most >= alpha else None

    return choose
