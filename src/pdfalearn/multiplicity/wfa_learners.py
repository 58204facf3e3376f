"""A learner of weighted automata that asks for words and makes equivalence queries."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

import numpy as np

from pdfalearn.alphabet import shorten
from pdfalearn.budgets import Budget, BudgetReached, keep_deadline
from pdfalearn.checks import check_integer, check_number, check_share, make_generator
from pdfalearn.displays import LearningLine, Wanted, show_progress
from pdfalearn.errors import InputError
from pdfalearn.models import PFA, WFA, Interrupts, WordProbabilities, run_long
from pdfalearn.multiplicity.hankel import (
    ERROR,
    AskedFunction,
    Block,
    Code,
    LearntWFA,
    Square,
    describe_block,
    most_wrong,
)
from pdfalearn.multiplicity.weighted import RankError, l2_distance, shortest_difference
from pdfalearn.pdfa import PDFA
from pdfalearn.results import Certificate, Kind, LearningInterrupted, Progress
from pdfalearn.text import described
from pdfalearn.words import Words, offsets_of

# Columns beside those of the square block show whether rows are missing: this many at first, and
# twice as many, up to the rank, where half of them do.
_GUARDS = 16
# Where the rank cannot be decided, other rows are chosen this often before it is refused.
_TRIES = 3
_DEFAULT = Budget(max_states=500)
_BOUNDS = "max_words, max_seconds, max_states or max_equivalence_queries"


def learn_wfa(
    target: WordProbabilities | WFA | PDFA,
    *,
    budget: Budget = _DEFAULT,
    error: float = ERROR,
    tolerance: float = 1e-6,
    max_length: int = 20,
    epsilon: float = 0.01,
    delta: float = 0.01,
    seed: int = 0,
    progress: Wanted[Progress] = None,
) -> LearntWFA:
    """Learn a weighted automaton from values of words, by the algorithm of Beimel and others.

    Parameters
    ----------
    target : WordProbabilities, WFA, PFA or PDFA
        What tells the probabilities of words or of prefixes. Of an automaton, equivalence is
        decided by Tzeng's method and by the l2 distance over all words; of a function, random
        words are asked for.
    budget : Budget
        Bounds on words, seconds, equivalence queries and states, which are the rank. Where one is
        reached, the automaton so far is returned, and its certificate is "stopped". The empty
        word and those of one symbol are always asked for.
    error : float
        Values are right but for at most this share of them; a function that rounds to six digits
        needs 1e-6.
    tolerance : float
        A hypothesis is right for a word if it is wrong by at most this share of the terms that it
        sums, and as a whole if the l2 distance is at most this.
    max_length, epsilon, delta, seed
        Of random words, all lengths up to the first are equally likely, and all symbols. The
        certificate is that at most a share ε of such words is wrong, with probability 1 - δ.
    progress : bool, "log" or callable, optional
        As in `learn`; states are the rank so far.

    Raises
    ------
    RankError
        If the rank cannot be decided from values with this error, or a counterexample or the
        distance shows that the automaton is not accurate enough.
    LearningInterrupted
        On Ctrl-C: a `KeyboardInterrupt` with what was learnt so far.

    Notes
    -----
    Beimel, Bergadano, Bshouty, Kushilevitz and Varricchio (2000): the hypothesis is made of a block
    of the Hankel matrix with as many rows and columns as its rank, and the prefixes and suffixes of
    every counterexample raise the rank, so that there are at most as many equivalence queries as
    the rank, and one more if the empty word has the value 0. Here a block is also extended before,
    by all prefixes one symbol longer and by some suffixes that begin with one symbol more, until
    its rank does not grow; rows and columns are chosen by QR with pivoting. The words of these
    rows are those that the matrices are made of: nearly all that is asked for is needed.

    Examples
    --------
    >>> model = WordProbabilities(lambda words: [0.5 ** len(w) for w in words], "a", prefixes=True)
    >>> learnt = learn_wfa(model)
    >>> learnt.wfa, learnt.certificate.kind
    (WFA(1 state, alphabet=('a',)), 'pac')
    >>> float(learnt.wfa.word_probabilities(["aa"])[0].round(12))
    0.125
    """
    function = AskedFunction(target)
    check_number(error, "error", 0, 0.1, is_open=True)
    check_number(tolerance, "tolerance", 0, 1, is_open=True)
    _check_budget(budget)
    sampler = _Sampler(
        function,
        check_integer(max_length, "max_length", 0, 10**6),
        check_share(epsilon, "epsilon"),
        check_share(delta, "delta"),
        tolerance,
        make_generator(seed),
    )
    shown = show_progress(progress, LearningLine, may_be_endless=False)
    with run_long(shown, LearningInterrupted) as interrupts:
        run = _Run(function, sampler, budget, error, interrupts)
        seconds = math.inf if budget.max_seconds is None else budget.max_seconds
        run.begin()
        with keep_deadline(time.monotonic() + seconds, seconds):
            try:
                return run.learn(target)
            except BudgetReached as end:
                return run.stop(end)


def _check_budget(budget: Budget) -> None:
    if not isinstance(budget, Budget):
        raise InputError(f"budget is {described(budget)}, not a Budget")
    for name, given in vars(budget).items():
        if name.startswith("max_") and name not in _BOUNDS and given is not None:
            raise InputError(f"the budget has {name}, which is not counted here; give {_BOUNDS}")


@dataclass
class _Run:
    """One run: the square block so far, and how it was found."""

    _function: AskedFunction
    _sampler: _Sampler
    _budget: Budget
    _error: float
    _interrupts: Interrupts
    # All has been asked for that the automaton of these prefixes and columns is made of. The
    # columns are those of the square block, and some more: rounding errors are the smaller.
    _square: Square = field(default_factory=lambda: Square([], []))
    _columns: list[Code] = field(default_factory=lambda: [()])
    _queries: int = 0
    _found: list[Code] = field(default_factory=list)
    _begin: float = field(default_factory=time.monotonic)

    def begin(self) -> None:
        """Ask for the empty word and those of one symbol: there is an automaton from then on."""
        self._function.interrupts, self._function.report = self._interrupts, self._report
        if self._function.ask([(), *self._function.symbols])[0, 0]:
            self._square = Square([()], [()])
        self._interrupts.salvage = self._salvage

    def learn(self, target: WordProbabilities | WFA | PDFA) -> LearntWFA:
        """Learn until no counterexample is found."""
        function, budget, rank = self._function, self._budget, -1
        if budget.max_words is not None:
            function.max_words = budget.max_words
        prefixes: list[Code] = [()]
        suffixes: list[Code] = [()]
        while True:
            self._close(prefixes, suffixes)
            prefixes, suffixes = self._square
            if self._found and len(prefixes) <= rank:
                raise RankError(
                    f"the word {shorten(function.alphabet.decode(self._found[-1]))} shows that the "
                    f"rank is above {rank}, but no singular value is large enough to tell: values "
                    "of more digits (a smaller error) may"
                )
            rank = len(prefixes)
            wfa, details, wrong = self._hypothesis()
            # Words that were asked for already may refute it, which saves a query.
            if wrong is None:
                if self._queries == budget.max_equivalence_queries:
                    raise BudgetReached("max_equivalence_queries", self._queries)
                self._queries += 1
                wrong = self._sampler.counterexample(wfa, self._queries)
                self._report()
            if wrong is None:
                wfa = function.of_whole_words(wfa)
                return self._result(wfa, self._sampler.certificate(wfa, target, details))
            self._found.append(wrong)
            prefixes = [*prefixes, *(wrong[:end] for end in range(len(wrong) + 1))]
            suffixes = [*suffixes, *(wrong[begin:] for begin in range(len(wrong) + 1))]

    def stop(self, end: BudgetReached) -> LearntWFA:
        """Return what was learnt until a bound was reached."""
        bound = {"bound": end.bound, "limit": end.limit}
        return self._stop_with("stopped", f"{end.bound} = {end.limit:,} was reached", bound)

    def _salvage(self) -> LearntWFA:
        return self._stop_with("interrupted", "stopped by hand", {})

    def _stop_with(self, kind: Kind, why: str, more: dict[str, object]) -> LearntWFA:
        wfa, details, _ = self._hypothesis()
        statement = (
            f"{why}; the newest hypothesis has rank {details['rank']}: on the words asked for it "
            f"is wrong by a share of up to {details['residual']:.3g}, and others were not tested"
        )
        wfa = self._function.of_whole_words(wfa)
        return self._result(wfa, Certificate(kind, statement, details | more))

    def _result(self, wfa: WFA, certificate: Certificate) -> LearntWFA:
        return LearntWFA(wfa, certificate, self._function.count, self._queries, self._found)

    def _hypothesis(self) -> tuple[WFA, dict[str, object], Code | None]:
        """Return the automaton so far, and a word asked for that refutes it."""
        function, rank = self._function, len(self._square.prefixes)
        block = Block.of(function, self._square.prefixes, self._columns)
        wfa = block.automaton(function, rank)
        wrong, residual = most_wrong(function, wfa, function.words)
        details = describe_block(block, rank, self._error, residual)
        return wfa, details, wrong if residual > self._sampler.tolerance else None

    def _close(self, prefixes: list[Code], suffixes: list[Code]) -> None:
        """Extend the square block until one symbol more on either side does not raise its rank."""
        guards, chosen, tries = _GUARDS, self._square, _TRIES
        most = math.inf if self._budget.max_states is None else self._budget.max_states
        while True:
            block, has_more = self._ask_around(prefixes, suffixes, guards)
            self._square, self._columns = chosen, chosen.suffixes
            rank, found = len(chosen.prefixes), block.rank(self._error)
            if found <= rank:
                try:
                    block.rank(self._error, is_final=True)
                    self._columns = block.suffixes
                    return
                except RankError:
                    # What is weak in some columns may be clear in more, or beside other rows.
                    if has_more:
                        guards *= 4
                        continue
                    if not tries:
                        raise
                    tries -= 1
                    chosen = block.choose(found, Square([], []))
            elif rank == most:
                raise BudgetReached("max_states", most)
            elif has_more and guards < min(rank, 2 * (found - rank) + 1):
                guards *= 2  # there may be much more
                continue
            else:
                guards, chosen = _GUARDS, block.choose(int(min(found, most)), chosen)
            prefixes, suffixes = chosen

    def _ask_around(
        self, prefixes: list[Code], suffixes: list[Code], guards: int
    ) -> tuple[Block, bool]:
        """Return the block with one symbol more, and whether there are more columns than asked."""
        longer = (prefix + one for prefix in prefixes for one in self._function.symbols)
        rows = dict.fromkeys([(), *prefixes, *longer])
        columns = dict.fromkeys([(), *suffixes])
        earlier = {one + suffix for suffix in suffixes for one in self._function.symbols}
        extra = sorted(earlier.difference(columns))
        # Those whose values are largest.
        order = np.argsort(-np.abs(self._function.ask(extra)[:, 0]), kind="stable")
        kept = [extra[place] for place in order[:guards]]
        return Block.of(self._function, [*rows], [*columns, *kept]), len(kept) < len(extra)

    def _report(self) -> None:
        self._interrupts.check()
        if self._interrupts.progress is not None:
            progress = Progress(
                states=len(self._square.prefixes),
                words=self._function.count,
                distributions=0,
                symbols=0,
                cost=0.0,
                equivalence_queries=self._queries,
                learning_seconds=time.monotonic() - self._begin,
                equivalence_seconds=0.0,
            )
            self._interrupts.report(self._interrupts.progress, progress)


@dataclass(frozen=True)
class _Sampler:
    """Answers equivalence queries: exactly for automata, and else by random words."""

    function: AskedFunction
    longest: int
    epsilon: float
    delta: float
    tolerance: float
    random: np.random.Generator

    def counterexample(self, wfa: WFA, query: int) -> Code | None:
        """Return a word for which the automaton is wrong, or None."""
        exact, alphabet = self.function.exact, self.function.alphabet
        if exact is not None:
            word = shortest_difference(exact, wfa, tolerance=self.tolerance)
            return None if word is None else tuple(alphabet.encode(word).tolist())
        count = math.ceil((-math.log(self.delta) + query * math.log(2)) / self.epsilon)
        offsets = offsets_of(self.random.integers(self.longest + 1, size=count))
        symbols = self.random.integers(len(alphabet), size=offsets[-1], dtype=np.int32)
        words = sorted(map(tuple, Words(symbols, offsets)), key=len)
        word, error = most_wrong(self.function, wfa, words)
        return word if error > self.tolerance else None

    def certificate(
        self, wfa: WFA, target: WordProbabilities | WFA | PDFA, details: dict[str, object]
    ) -> Certificate:
        """Certify what the last query has shown; refuse an automaton that is too far away."""
        known = f"rank {details['rank']}, smallest singular value {details['smallest']:.3g}"
        if isinstance(target, WordProbabilities):
            what = "prefixes" if self.function.is_of_prefixes else "words"
            statement = (
                f"with probability at least 1 - {self.delta}, the values of at most a share "
                f"{self.epsilon} of uniform {what} of up to {self.longest} symbols are wrong by "
                f"more than {self.tolerance:g} of their terms; "
            )
            return Certificate("pac", statement + known, details)
        distance = l2_distance(wfa, target)
        # Squares of probabilities converge; those of any values need not.
        if distance > self.tolerance and (distance < math.inf or isinstance(target, PDFA | PFA)):
            raise RankError(
                f"no single word shows a difference, but all words together have the l2 distance "
                f"{distance:.3g}, above the tolerance {self.tolerance:g}: {known}"
            )
        statement = f"equal to the target: the l2 distance, extrapolated, is {distance:.3g}; "
        if distance == math.inf:
            statement = "equal to the target after every word; the squares do not converge; "
        return Certificate("exact", statement + known, details | {"distance": distance})
