"""Fit automata that need not be deterministic to recorded words, by expectation-maximisation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from pdfalearn.alphabet import Alphabet, Symbol
from pdfalearn.arrays import one_thread
from pdfalearn.checks import check_integer, check_number, make_generator
from pdfalearn.corpora import CorpusLike, PrefixTree, count_prefixes
from pdfalearn.displays import RunsLine, show_progress
from pdfalearn.errors import InputError
from pdfalearn.models import PFA
from pdfalearn.passive.first_weights import (
    FLOOR,
    Weights,
    cluster_weights,
    draw_weights,
    normalise,
)
from pdfalearn.typing import Floats, Integers, Singles

# Every move counts as if it had been seen this often, so that none becomes impossible.
_PRIOR = 1e-6
# Probabilities of a symbol are at least this while logarithms are taken: float32 ends at 1e-38.
_LEAST = np.float32(1e-30)
# Rounds end when one raises the mean log-probability of a word by less than this.
_CONVERGED = 1e-5
# A step is that of EM to the power of at most this, 1.2 times as much as the last one: half as many
# rounds for the same probability. Where the probability falls, the plain step is taken instead.
_GROWTH, _LONGEST_STEP = 1.2, 3.0
# Rounds end when this many have not raised the probability of the words held out.
_PATIENCE = 8
# What was chosen by words held out is fitted to all words in this many rounds more.
_LAST_ROUNDS = 4
# Rounds in which the shares of members are found.
_SHARE_ROUNDS = 50
# A round keeps two tables of this many numbers of 4 bytes at most: 1 GiB.
_MOST_ENTRIES = 2**27
# A teacher has this many members of this many states, if nothing else is said.
_MEMBERS, _STATES = 4, 70
# All rounds of a teacher together may multiply as many pairs of numbers: 20 s of one core. Members
# are fewer where each would have fewer rounds than the middle one of these; two remain, one of them
# drawn by chance.
_TEACHER_PRODUCTS = 3.6e11
_TEACHER_ROUNDS = 30, 60, 120
# Where there are many symbols a teacher has fewer states: its moves are at most this many numbers.
_MOST_MOVES = 2**25


def fit_pfa(
    words: CorpusLike,
    states: int,
    *,
    alphabet: Alphabet | Iterable[Symbol] | None = None,
    members: int = 1,
    rounds: int = 200,
    held_out: float = 0.1,
    seed: int = 0,
    progress: Callable[[int, int], None] | bool | None = None,
) -> PFA:
    """Fit a PFA to words by expectation-maximisation (Baum and Welch).

    Parameters
    ----------
    words : Corpus or iterable of words
        What was recorded.
    states : int
        How many states the automaton has.
    alphabet : Alphabet or iterable of symbols, optional
        The symbols; those of the words, sorted, if not given.
    members : int
        This many automata are fitted and mixed, each with these states: the result has
        ``members * states``. A mixture predicts better, as members err differently.
    rounds : int
        At most this many rounds for each.
    held_out : float
        The share of the words by which rounds are ended: when the rounds no longer raise the
        probability of these. With 0, when that of the words themselves hardly rises any more.
    seed : int
        Seed of the automata to begin with, and of the words held out.
    progress : bool or callable, optional
        Called with the number of rounds done and at most to do; True shows a line.

    Returns
    -------
    PFA
        A local optimum: another seed may find a better one. After Ctrl-C it is the automaton so
        far.

    Notes
    -----
    A round passes once down and once up the tree of the words' prefixes, all prefixes of a length
    and a last symbol at once. Its time is that of prefixes · states², however often words occur.

    Examples
    --------
    >>> pfa = fit_pfa(["ab"] * 50 + ["b"] * 50, 3, seed=1)
    >>> [round(pfa.probability(word), 1) for word in ("ab", "b", "a")]
    [0.5, 0.5, 0.0]
    """
    symbols, tree = count_prefixes(words, alphabet)
    states, members = check_integer(states, "states", 1), check_integer(members, "members", 1)
    rounds = check_integer(rounds, "rounds", 1)
    share = check_number(held_out, "held_out", 0, 0.5)
    random = make_generator(seed)
    with show_progress(progress, RunsLine, label="fitting") as report:

        def note(done: int) -> None:
            if report is not None:
                report(done, members * rounds)

        weights = _fit_members(tree, states, members, rounds, share, random, note, salvages=True)
    return make_pfa(weights, symbols)


def train_teacher(
    tree: PrefixTree,
    seed: int = 0,
    *,
    states: int = _STATES,
    members: int = _MEMBERS,
    note: Callable[[int, int, int], None] | None = None,
) -> Weights:
    """Fit a mixture to the words of a tree, for whoever learns from its predictions.

    The larger the tree, the fewer rounds and members, so that the time is about the same. ``note``
    is called with the rounds done, those of a member, and the number of members.
    """
    most = _TEACHER_PRODUCTS / (3.0 * len(tree) * states**2)
    low, enough, high = _TEACHER_ROUNDS
    members = min(members, max(2, int(most / enough)))
    states = min(states, max(2, int((_MOST_MOVES / tree.width) ** 0.5 / members)))
    rounds = int(np.clip(most / members, low, high))

    def note_rounds(done: int) -> None:
        if note is not None:
            note(done, rounds, members)

    random = make_generator(seed)
    return _fit_members(tree, states, members, rounds, 0.1, random, note_rounds, salvages=False)


def predict_rows(weights: Weights, tree: PrefixTree) -> Floats:
    """Return the distribution after every prefix of a tree."""
    rows = forward_vectors(weights, tree)[0].astype(np.float64) @ weights.emissions
    return np.asarray(rows / rows.sum(axis=1, keepdims=True))


def predict_words(weights: Weights, tree: PrefixTree) -> tuple[Floats, Floats]:
    """Return the probability of each prefix's last symbol, and that a word ends there."""
    vectors, shares = forward_vectors(weights, tree)
    return shares.astype(np.float64), vectors.astype(np.float64) @ weights.ends


def make_pfa(weights: Weights, alphabet: Alphabet) -> PFA:
    """Make a PFA of what was fitted."""
    return PFA(alphabet, initial=weights.initial, matrices=weights.matrices, ends=weights.ends)


@one_thread
def _fit_members(
    tree: PrefixTree,
    states: int,
    members: int,
    rounds: int,
    share: float,
    random: np.random.Generator,
    note: Callable[[int], None],
    *,
    salvages: bool,
) -> Weights:
    """Fit automata one after the other and mix them; after Ctrl-C, what there is, if wanted."""
    if len(tree) * states > _MOST_ENTRIES:
        raise InputError(
            f"{len(tree):,} prefixes and {states} states need more than "
            f"{8 * _MOST_ENTRIES / 2**30:g} GiB; take at most "
            f"{_MOST_ENTRIES // len(tree)} states, or a sample of the words"
        )
    fitted, held = _hold_out(tree, share, random)
    found: list[Weights] = []
    try:
        for member in range(members):
            # Clusters are near after few rounds, chance may lead further: members differ.
            is_drawn = member % 2 == 1
            found.append(
                draw_weights(states, tree.width, random)
                if is_drawn
                else cluster_weights(fitted, states, random)
            )
            for done, weights in enumerate(_improve_often(found[-1], fitted, held, rounds), 1):
                found[-1] = weights
                note(member * rounds + done)
    except KeyboardInterrupt:
        if not (found and salvages):
            raise
        return _mix_weights(found, np.full(len(found), 1 / len(found)))
    shares = _share_members(found, tree, held)
    if held is not None:
        for place, weights in enumerate(found):
            *_, found[place] = _improve_often(weights, tree, None, _LAST_ROUNDS)
    return _mix_weights(found, shares)


def _share_members(members: Sequence[Weights], tree: PrefixTree, held: PrefixTree | None) -> Floats:
    """Return the shares of members under which words held out are likeliest, by EM."""
    shares = np.full(len(members), 1 / len(members))
    if held is None or len(members) == 1:
        return shares
    here = np.flatnonzero(held.ends)
    logs = np.array([_log_probabilities(member, tree)[here] for member in members])
    chances = np.exp(logs - logs.max(axis=0))
    for _ in range(_SHARE_ROUNDS):
        parts = shares[:, None] * chances
        counts = (parts / parts.sum(axis=0)) @ held.ends[here] + 1.0
        shares = counts / counts.sum()
    return shares


def _log_probabilities(weights: Weights, tree: PrefixTree) -> Floats:
    """Return ln P of every prefix of a tree as a whole word."""
    vectors, shares = forward_vectors(weights, tree)
    logs = np.log(shares, dtype=np.float64)
    for level, _ in tree.level_runs:
        logs[level] += logs[tree.parents[level]]
    ending = np.maximum(vectors @ weights.ends.astype(np.float32), _LEAST)
    return logs + np.log(ending, dtype=np.float64)


def _improve_often(
    weights: Weights, tree: PrefixTree, held: PrefixTree | None, rounds: int
) -> Iterator[Weights]:
    """Yield the best weights so far after each round: those of the words held out, if there are."""
    best, highest, since = weights, -np.inf, 0
    before, step, plain = -np.inf, 1.0, None
    for _ in range(rounds):
        new, score, test = improve(weights, tree, held)
        if plain is not None and not score > before:  # too long a step, or NaN
            weights, plain, step = plain, None, 1.0
            yield best
            continue
        has_converged = score < before + _CONVERGED
        before = score
        if held is None:
            best = new  # the plain step never lowers the probability
        elif test > highest:
            best, highest, since = weights, test, 0
        else:
            since += 1
        yield best
        if has_converged or since > _PATIENCE:
            return
        plain = new if step > 1 else None
        weights = _prolong(weights, new, step) if step > 1 else new
        step = min(step * _GROWTH, _LONGEST_STEP)


def _prolong(old: Weights, new: Weights, step: float) -> Weights:
    """Go further than from old to new weights, on logarithms."""
    further = (
        np.maximum(after, FLOOR) ** step * np.maximum(before, FLOOR) ** (1 - step)
        for before, after in zip(old, new, strict=True)
    )
    return normalise(*further)


def _hold_out(
    tree: PrefixTree, share: float, random: np.random.Generator
) -> tuple[PrefixTree, PrefixTree | None]:
    """Divide the words of a tree by chance; both parts keep all its prefixes."""
    if not share:
        return tree, None
    parts = [tree.ends, _count_cuts(tree)]
    held = [random.binomial(np.rint(part).astype(np.int64), share).astype(float) for part in parts]
    if not 0 < held[0].sum() < tree.ends.sum():
        return tree, None
    rest = [np.maximum(part - taken, 0) for part, taken in zip(parts, held, strict=True)]
    return _count_again(tree, *rest), _count_again(tree, *held)


def _count_cuts(tree: PrefixTree) -> Floats:
    """Return how many words were cut at each prefix: they neither end there nor go on."""
    going = np.bincount(tree.parents[1:], tree.passes[1:], minlength=len(tree))
    return np.maximum(tree.passes - tree.ends - going, 0)


def _count_again(tree: PrefixTree, ends: Floats, cuts: Floats) -> PrefixTree:
    """Return a tree with other numbers of words, of which some may be 0."""
    passes = ends + cuts
    for above, level in zip(tree.levels[-2::-1], tree.levels[:0:-1], strict=True):
        parents = tree.parents[level] - above.start
        passes[above] += np.bincount(parents, passes[level], minlength=above.stop - above.start)
    return replace(tree, passes=passes, ends=ends)


def _mix_weights(members: Sequence[Weights], shares: Floats) -> Weights:
    """Mix automata: words begin in one of them, by these shares, and stay there."""
    if len(members) == 1:
        return members[0]
    sizes: Integers = np.cumsum([0, *(len(member.initial) for member in members)])
    matrices = np.zeros((len(members[0].matrices), sizes[-1], sizes[-1]))
    for begin, end, member in zip(sizes, sizes[1:], members, strict=False):
        matrices[:, begin:end, begin:end] = member.matrices
    pairs = zip(shares.tolist(), members, strict=True)
    initial = np.concatenate([share * member.initial for share, member in pairs])
    return Weights(initial, matrices, np.concatenate([member.ends for member in members]))


def forward_vectors(weights: Weights, tree: PrefixTree) -> tuple[Singles, Singles]:
    """Return where the automaton may be after every prefix, and each last symbol's probability.

    Each vector is divided by its sum, which is the probability of the last symbol.
    """
    vectors = np.empty((len(tree), len(weights.initial)), dtype=np.float32)
    vectors[0] = weights.initial
    shares = np.ones(len(tree), dtype=np.float32)
    matrices = weights.matrices.astype(np.float32)
    for level, runs in tree.level_runs:
        for begin, end, symbol in runs:
            np.matmul(vectors[tree.parents[begin:end]], matrices[symbol], out=vectors[begin:end])
        shares[level] = np.maximum(vectors[level].sum(axis=1), _LEAST)
        vectors[level] /= shares[level, None]
    return vectors, shares


def improve(
    weights: Weights, tree: PrefixTree, held: PrefixTree | None = None
) -> tuple[Weights, float, float]:
    """Do one round; also return the mean log-probability of a word before it.

    Going up, ``later`` sums over the words through a prefix what each says about the state there:
    its probability from the state on, divided by that from the forward vector on. The product of
    both vectors is then the expected number of words that are in each state (the E-step).

    The last number is the mean for words held out, a tree of the same prefixes; else 0.
    """
    vectors, shares = forward_vectors(weights, tree)
    ends, matrices = weights.ends.astype(np.float32), weights.matrices.astype(np.float32)
    ending = np.maximum(vectors @ ends, _LEAST)
    logs = np.log(shares, dtype=np.float64), np.log(ending, dtype=np.float64)
    score, test = (
        0.0 if each is None else float(each.passes @ logs[0] + each.ends @ logs[1]) / each.passes[0]
        for each in (tree, held)
    )
    said = (tree.ends / ending).astype(np.float32)
    later: Singles = said[:, None] * ends
    ended = (said @ vectors) * weights.ends
    if (cuts := _count_cuts(tree)).any():
        later += cuts.astype(np.float32)[:, None]  # what follows a cut is certain in any state
    moves = np.zeros_like(weights.matrices)
    for level, runs in reversed(tree.level_runs):
        later[level] /= shares[level, None]
        for begin, end, symbol in runs:
            # Within a run every parent has one child: nothing is added to the same row twice.
            parents = tree.parents[begin:end]
            moves[symbol] += vectors[parents].T @ later[begin:end]
            later[parents] += later[begin:end] @ matrices[symbol].T
    moves = moves * weights.matrices + _PRIOR
    ended += _PRIOR
    visits = ended + moves.sum(axis=(0, 2))
    begun = vectors[0] * later[0].astype(np.float64) + _PRIOR
    new = Weights(begun / begun.sum(), moves / visits[None, :, None], ended / visits)
    return new, float(score), float(test)
