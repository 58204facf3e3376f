"""A learner of weighted automata that asks for words and makes equivalence queries."""

from __future__ import annotations

import math

import numpy as np

from pdfalearn.alphabet import shorten
from pdfalearn.checks import check_integer, check_number, check_share, make_generator
from pdfalearn.errors import InputError
from pdfalearn.models import PFA, WFA, WordProbabilities
from pdfalearn.multiplicity.hankel import (
    ERROR,
    AskedFunction,
    Block,
    Code,
    LearntWFA,
    describe_block,
    most_wrong,
)
from pdfalearn.multiplicity.weighted import RankError, l2_distance, shortest_difference
from pdfalearn.pdfa import PDFA
from pdfalearn.results import Certificate
from pdfalearn.words import Words, offsets_of

# While a block is closed it has at most this many columns for each that is needed, and some more.
_COLUMNS, _MORE_COLUMNS = 2, 64


def learn_wfa(
    target: WordProbabilities | WFA | PDFA,
    *,
    error: float = ERROR,
    tolerance: float = 1e-6,
    max_rank: int = 500,
    max_length: int = 20,
    epsilon: float = 0.01,
    delta: float = 0.01,
    seed: int = 0,
) -> LearntWFA:
    """Learn a weighted automaton from values of words, by the algorithm of Beimel and others.

    Parameters
    ----------
    target : WordProbabilities, WFA, PFA or PDFA
        What tells the probabilities of words or of prefixes. Of an automaton, equivalence is
        decided by Tzeng's method and by the l2 distance over all words; of a function, random
        words are asked for.
    error : float
        Values are right but for at most this share of them; a function that rounds to six digits
        needs 1e-6.
    tolerance : float
        A hypothesis is right for a word if it is wrong by at most this share of the terms that it
        sums, and as a whole if the l2 distance is at most this.
    max_rank : int
        Learning is given up at a higher rank.
    max_length, epsilon, delta, seed
        Of random words, all lengths up to the first are equally likely, and all symbols. The
        certificate is that at most a share ε of such words is wrong, with probability 1 - δ.

    Raises
    ------
    RankError
        If the rank cannot be decided from values with this error, or a counterexample or the
        distance shows that the automaton is not accurate enough.

    Notes
    -----
    Beimel, Bergadano, Bshouty, Kushilevitz and Varricchio (2000): the hypothesis is made of a block
    of the Hankel matrix with as many rows and columns as its rank, and the prefixes and suffixes of
    every counterexample raise the rank, so that there are at most as many equivalence queries as
    the rank, and one more if the empty word has the value 0. Here a block is also extended before,
    by all prefixes one symbol longer and suffixes beginning with one symbol more, until its rank
    does not grow; of all these, rows and columns are chosen anew by QR with pivoting.

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
    check_integer(max_rank, "max_rank", 1)
    sampler = _Sampler(function, max_length, epsilon, delta, tolerance, seed)
    prefixes: list[Code] = [()]
    suffixes: list[Code] = [()]
    found: list[Code] = []
    rank, queries = 0, 0
    while True:
        block = _close(function, prefixes, suffixes, error, max_rank)
        if found and len(block.prefixes) <= rank:
            raise RankError(
                f"the word {shorten(function.alphabet.decode(found[-1]))} shows that the rank is "
                f"above {rank}, but no singular value is large enough to tell: values of more "
                "digits (a smaller error) may"
            )
        rank = len(block.prefixes)
        wfa = block.automaton(function, rank)
        # Words that were asked for already may refute it, which saves a query.
        wrong, residual = most_wrong(function, wfa, function.words)
        if residual <= tolerance:
            queries += 1
            counterexample = sampler.counterexample(wfa, queries)
            if counterexample is None:
                break
            wrong = counterexample
        found.append(wrong)
        prefixes = [*block.prefixes, *(wrong[:end] for end in range(len(wrong) + 1))]
        suffixes = [*block.suffixes, *(wrong[begin:] for begin in range(len(wrong) + 1))]
    details = describe_block(block, rank, error, residual)
    wfa = function.of_whole_words(wfa)
    certificate = sampler.certificate(wfa, target, details)
    return LearntWFA(wfa, certificate, function.count, queries, found)


def _close(
    function: AskedFunction,
    prefixes: list[Code],
    suffixes: list[Code],
    error: float,
    max_rank: int,
) -> Block:
    """Return a square block of full rank that one more symbol on either side does not raise."""
    symbols = [(symbol,) for symbol in range(len(function.alphabet))]
    rank = -1
    while True:
        longer = [*prefixes, *(prefix + one for prefix in prefixes for one in symbols)]
        earlier = [one + suffix for suffix in suffixes for one in symbols]
        most = _COLUMNS * len(suffixes) + _MORE_COLUMNS
        if len(earlier) > most:  # those whose values are largest
            order = np.argsort(-np.abs(function.ask(earlier)[:, 0]), kind="stable")
            earlier = [earlier[place] for place in order[:most]]
        columns = [*suffixes, *earlier]
        block = Block.of(function, list(dict.fromkeys(longer)), list(dict.fromkeys(columns)))
        before, rank = rank, block.rank(error)
        if rank > max_rank:
            raise InputError(f"the rank is above max_rank = {max_rank:,}; give a higher one")
        prefixes, suffixes = block.choose(rank)
        if rank <= before:
            block.rank(error, is_final=True)
            return Block.of(function, prefixes, suffixes)


class _Sampler:
    """Answers equivalence queries: exactly for automata, and else by random words."""

    def __init__(
        self,
        function: AskedFunction,
        max_length: int,
        epsilon: float,
        delta: float,
        tolerance: float,
        seed: int,
    ) -> None:
        self._function = function
        self._longest = check_integer(max_length, "max_length", 0, 10**6)
        self._epsilon = check_share(epsilon, "epsilon")
        self._delta = check_share(delta, "delta")
        self._tolerance = tolerance
        self._random = make_generator(seed)

    def counterexample(self, wfa: WFA, query: int) -> Code | None:
        """Return a word for which the automaton is wrong, or None."""
        exact, alphabet = self._function.exact, self._function.alphabet
        if exact is not None:
            word = shortest_difference(exact, wfa, tolerance=self._tolerance)
            return None if word is None else tuple(alphabet.encode(word).tolist())
        count = math.ceil((-math.log(self._delta) + query * math.log(2)) / self._epsilon)
        offsets = offsets_of(self._random.integers(self._longest + 1, size=count))
        symbols = self._random.integers(len(alphabet), size=offsets[-1], dtype=np.int32)
        words = sorted(map(tuple, Words(symbols, offsets)), key=len)
        word, error = most_wrong(self._function, wfa, words)
        return word if error > self._tolerance else None

    def certificate(
        self, wfa: WFA, target: WordProbabilities | WFA | PDFA, details: dict[str, object]
    ) -> Certificate:
        """Certify what the last query has shown; refuse an automaton that is too far away."""
        known = f"rank {details['rank']}, smallest singular value {details['smallest']:.3g}"
        if isinstance(target, WordProbabilities):
            statement = (
                f"with probability at least 1 - {self._delta}, the values of at most a share "
                f"{self._epsilon} of uniform words of up to {self._longest} symbols are wrong; "
            )
            return Certificate("pac", statement + known, details)
        distance = l2_distance(wfa, target)
        # Squares of probabilities converge; those of any values need not.
        if distance > self._tolerance and (distance < math.inf or isinstance(target, PDFA | PFA)):
            raise RankError(
                f"no single word shows a difference, but all words together have the l2 distance "
                f"{distance:.3g}, above the tolerance {self._tolerance:g}: {known}"
            )
        statement = f"equal to the target: the l2 distance over all words is {distance:.3g}; "
        if distance == math.inf:
            statement = "equal to the target after every word; the squares do not converge; "
        return Certificate("exact", statement + known, details | {"distance": distance})
