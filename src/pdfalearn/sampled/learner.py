"""Learn an automaton from samples alone: draw, count, compare, and draw where that is open."""

from __future__ import annotations

import os
import time
from typing import get_args

import numpy as np

from pdfalearn.alphabet import WordTree
from pdfalearn.checks import check_integer, check_share
from pdfalearn.displays import LearningLine, Wanted, show_progress
from pdfalearn.equivalence import Tolerance
from pdfalearn.errors import InputError, ModelError
from pdfalearn.models import run_long
from pdfalearn.pdfa import PDFA
from pdfalearn.results import (
    Certificate,
    History,
    Kind,
    LearningInterrupted,
    Progress,
    Result,
    Statistics,
)
from pdfalearn.sampled.counted_tree import CountedTree, Test
from pdfalearn.sampled.hypothesis import Balance, Hypothesis, weigh_words
from pdfalearn.sampled.samples import Codes, Draw, Drawer, Samples

DEFAULT_GAP = 0.1
# One sample in this many is drawn before anything is compared, and at least 100 are.
_FIRST, _FEWEST = 8, 100
# Each round draws one sample for this many that there are, after at most 32 prefixes.
_PART, _PREFIXES = 8, 32
# After a prefix at least this many are drawn, and at most as many as its counts are already.
_LEAST_DRAWN = 16


def learn_samples(
    samples: Samples,
    *,
    max_samples: int,
    alpha: float = 0.05,
    gap: float = DEFAULT_GAP,
    reach: float = 0.01,
    test: Test = "exact",
    store: str | os.PathLike[str] | None = None,
    progress: Wanted[Progress] = None,
) -> Result:
    """Learn an automaton from a model that tells only samples, and say how it may be wrong.

    Words are drawn, and what came next is counted after every prefix. Two prefixes become two
    states if what follows them certainly differs. Where a likely prefix may be merged or not,
    more continuations of it are drawn, or of the state's access word, until that is decided.

    Parameters
    ----------
    samples : Samples
        The model.
    max_samples : int
        How many continuations may be drawn, those in the store included. Learning ends sooner if
        all is decided.
    alpha : float
        The probability of any error in all comparisons together: of states that are in truth
        one, and of words that were found to be near their state and are not.
    gap : float
        A word is near its state if the probability of no symbol, nor that of the end, differs by
        more than this from that after the state's access word. After a suffix behind both it may
        differ by more, as it matters less: by this divided by how likely the automaton makes the
        suffix. Half of it takes four times as many samples.
    reach : float
        Transitions that at least this share of words, by the automaton, take are compared. Rarer
        ones are evidence, but no samples are spent on them.
    test : str
        "exact": bands of probabilities by the binomial distributions, which are narrow near 0 and
        1; "hoeffding": by Hoeffding's bound.
    store : path, optional
        A file that keeps all that was drawn: a run that was killed goes on where it stopped.
    progress : bool, "log" or callable, optional
        As in `learn`; "words asked" are continuations.

    Returns
    -------
    Result
        Rows are shares of all that was drawn after the words of a state; what no draw did has
        probability 0. The certificate is "tested" if all is decided and "stopped" if samples ran
        out before; it says what hangs in the balance.

    Raises
    ------
    ModelError
        If ``draw`` returns something else than continuations.
    LearningInterrupted
        On Ctrl-C: a `KeyboardInterrupt` with what was learnt so far.

    Notes
    -----
    Both kinds of error are bounded by bands that hold at all times and for all prefixes together,
    so that it costs nothing to look after each draw. Tappler, Aichernig, Bacci, Eichlseder and
    Larsen (L*-based learning of Markov decision processes, 2021) test with Hoeffding's bound,
    too, each time anew; and red-blue merging is that of ALERGIA (Carrasco and Oncina, 1994).

    Examples
    --------
    >>> import random
    >>> source = random.Random(1)
    >>> def draw(prefix, count):  # half of all words end; an a is followed by a b, and a b by an a
    ...     other = {"a": "b", "b": "a"}
    ...     words = []
    ...     for _ in range(count):
    ...         word, last = [], prefix[-1] if prefix else "b"
    ...         while source.random() < 0.5:
    ...             last = other[last]
    ...             word.append(last)
    ...         words.append(word)
    ...     return words
    >>> result = learn_samples(Samples(draw, "ab"), max_samples=20_000)
    >>> result.pdfa.transitions.tolist(), result.access_words, result.certificate.kind
    ([[1, -1], [-1, 0]], [(), ('a',)], 'tested')
    """
    max_samples = check_integer(max_samples, "max_samples", 1, 2**53)
    alpha, gap = check_share(alpha, "alpha"), check_share(gap, "gap")
    reach = check_share(reach, "reach")
    if test not in get_args(Test):
        raise InputError(f"test is {test!r}, not one of {', '.join(get_args(Test))}")
    shown = show_progress(progress, LearningLine, may_be_endless=False)
    with (
        run_long(shown, LearningInterrupted) as interrupts,
        Drawer.opened(samples, interrupts, store) as drawer,
    ):
        tree = CountedTree(len(samples.alphabet), alpha, test)
        run = Run(samples, drawer, tree, max_samples, gap, reach)
        interrupts.salvage = run.salvage
        while (found := run.go_on()) is None:
            if interrupts.progress is not None:
                interrupts.report(interrupts.progress, run.progress())
        return found


class Run:
    """One run, round by round."""

    def __init__(
        self,
        samples: Samples,
        drawer: Drawer,
        tree: CountedTree,
        max_samples: int,
        gap: float,
        reach: float,
    ) -> None:
        self._alphabet, self._drawer, self._tree = samples.alphabet, drawer, tree
        self._most, self._gap, self._reach = max_samples, gap, reach
        self._begin, self._process = time.monotonic(), time.process_time()
        self._batches: list[int] = []
        self._history: list[Progress] = []
        self._contradictions: list[int] = []
        self._states = 0
        for drawn in drawer.kept:
            self._add(drawn)
        self._stored = tree.samples

    def _add(self, drawn: Draw) -> None:
        self._tree.add(drawn)
        self._batches.append(len(drawn.words))

    def _draw(self, prefix: Codes, count: int) -> None:
        for drawn in self._drawer.draw(prefix, min(count, self._most - self._tree.samples)):
            self._add(drawn)

    def go_on(self) -> Result | None:
        """Compare what was drawn, and draw where that is open; at the end return the result."""
        tree = self._tree
        # Whole words come first: they show which prefixes are likely at all.
        first = min(self._most, max(_FEWEST, self._most // _FIRST))
        if tree.samples < first:
            self._draw((), first - tree.samples)
        if not tree.counts[0].any():
            raise ModelError(
                f"of {tree.samples:,} continuations of the empty word all were cut before the "
                "first symbol, so that there is no automaton at all"
            )
        hypothesis, balance = self.compare()
        self._history.append(self.progress())
        self._contradictions.append(len(balance.contradictions))
        if not balance.wanted or tree.samples >= self._most:
            return self._make_result(hypothesis, balance, "stopped" if balance.wanted else "tested")
        ordered = sorted(balance.wanted.items(), key=lambda item: (-item[1], item[0]))[:_PREFIXES]
        # Batches grow with all that was drawn, so that there are few rounds.
        total, batch = sum(weight for _, weight in ordered), tree.samples / _PART
        for word, weight in ordered:
            # What is known of a word is doubled at most, as one look may decide it.
            known = int(tree.counts[tree.last_node(word)].sum())
            self._draw(word, max(_LEAST_DRAWN, min(known, round(batch * weight / total))))
        return None

    def compare(self) -> tuple[Hypothesis, Balance]:
        """Make states of what was drawn, and find what hangs in the balance."""
        hypothesis = Hypothesis(self._tree)
        self._states = len(hypothesis.reds)
        return hypothesis, weigh_words(hypothesis, self._gap, self._reach)

    def salvage(self) -> Result | None:
        """Return what was learnt until an interrupt, if anything was drawn."""
        if not self._tree.counts[0].any():
            return None
        return self._make_result(*self.compare(), "interrupted")

    def progress(self) -> Progress:
        """Return how far learning has come."""
        return Progress(
            states=self._states,
            words=self._tree.samples - self._stored,
            distributions=len(self._tree),
            symbols=self._tree.steps,
            cost=0.0,
            equivalence_queries=len(self._history),
            learning_seconds=time.monotonic() - self._begin,
            equivalence_seconds=0.0,
        )

    def _make_result(self, hypothesis: Hypothesis, balance: Balance, kind: Kind) -> Result:
        tree, reds = self._tree, np.array(hypothesis.reds)
        statistics = Statistics(
            **vars(self.progress()),
            batches=tuple(self._batches),
            stored_words=self._stored,
            audited_words=0,
            largest_difference=0.0,
            learning_process_seconds=time.process_time() - self._process,
            equivalence_process_seconds=0.0,
            tree_depth=0,
            inner_nodes=0,
            structure_size=len(tree),
            counterexamples=tuple(self._contradictions),
            longest_counterexamples=(0,) * len(self._contradictions),
        )
        moves, rows = hypothesis.transitions, hypothesis.rows
        return Result(
            pdfa=PDFA(alphabet=self._alphabet, transitions=moves, probabilities=rows),
            statistics=statistics,
            history=History(self._history),
            certificate=self._certify(balance, kind),
            equivalence=Tolerance(self._gap),
            kept_words=WordTree.above(np.array(tree.parents), np.array(tree.symbols), reds),
            kept_tree=None,
            kept_distances=None,
            unresolved=np.empty((0, 2), dtype=np.int64),
        )

    def _certify(self, balance: Balance, kind: Kind) -> Certificate:
        tree, risk = self._tree, f"{self._tree.alpha:g}"
        count, contradictions = balance.transitions, len(balance.contradictions)
        texts = [
            f"{tree.samples:,} samples; with probability at least 1 - {risk}, any two of the "
            f"{self._states:,} states differ, and {balance.decided:,} of the {count:,} transitions "
            f"that at least a share {self._reach:g} of words, by this automaton, take (those to "
            "access words are not counted) lead to the right state: after them and any suffix that "
            f"could be drawn, no probability is further than {self._gap:g}, divided by how likely "
            "the automaton makes the suffix, from that after the state's access word"
        ]
        if balance.decided < count:
            texts.append(
                f"the others hang in the balance, {balance.open_share:.2%} of what words take"
            )
        if contradictions:
            texts.append(
                f"{contradictions:,} words differ from their state, so that something before them "
                "was merged wrongly: allow more samples"
            )
        details = {
            "alpha": tree.alpha,
            "gap": self._gap,
            "reach": self._reach,
            "test": tree.test,
            "samples": tree.samples,
            "stored_samples": self._stored,
            "prefixes": len(tree),
            "compared_words": len(balance.near),
            "left_out_words": balance.left_out,
            "transitions": count,
            "decided": balance.decided,
            "open_share": balance.open_share,
            "contradictions": contradictions,
        }
        return Certificate(kind, "; ".join(texts), details)
