"""Words in, automata out: what is counted, chosen, measured and said."""

from __future__ import annotations

import warnings
from itertools import product
from math import comb, exp, log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from pdfalearn import (
    PDFA,
    Alphabet,
    Budget,
    Corpus,
    Exact,
    Frontier,
    distill,
    divergence,
    load,
    quotient,
    save,
    view,
)
from pdfalearn.corpora import RecordedWords
from pdfalearn.datasets import figure_3, random_pdfa, reber
from pdfalearn.distilling import from_words
from pdfalearn.distilling.estimates import estimate_mean
from pdfalearn.distilling.recorded import (
    Candidate,
    HeldOutWords,
    MeasuredCandidate,
    Recorded,
    choose_best,
    estimate_rows,
)
from pdfalearn.errors import InputError
from pdfalearn.passive import alergia, mdi, smooth_rows
from pdfalearn.results import DistillingInterrupted, DistillingProgress
from pdfalearn.results.recommendations import standard_error
from pdfalearn.words import Words
from tests.support import examples

WORDS = figure_3().sample(200, seed=5).words
FEW = [1, 2, 4, 8]


def record(words: list[tuple[int, ...]], cut: list[bool] | None = None) -> RecordedWords:
    """Return words as they are read, some of them cut."""
    return RecordedWords(Words.of(words), np.array(cut or [False] * len(words), dtype=bool))


def make_machine(states: int, symbols: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    transitions = random.integers(states, size=(states, symbols)).astype(np.int32)
    return transitions, random.dirichlet(np.ones(symbols + 1), size=states)


words_of_codes = st.lists(
    st.lists(st.integers(0, 2), max_size=6).map(tuple), min_size=1, max_size=12
)


@given(words_of_codes, st.integers(1, 4), st.integers(0, 99), st.data())
def test_counts_and_losses_are_those_of_words_one_by_one(
    words: list[tuple[int, ...]], states: int, seed: int, data: st.DataObject
) -> None:
    transitions, rows = make_machine(states, 3, seed)
    rows[0, 1] = 0.0
    cut = data.draw(st.lists(st.booleans(), min_size=len(words), max_size=len(words)))
    counts, losses, impossible = np.zeros_like(rows), [], []
    for word, is_cut in zip(words, cut, strict=True):
        state, loss, wrong = 0, 0.0, 0
        steps = [symbol + 1 for symbol in word] + ([] if is_cut else [0])
        for column in steps:
            counts[state, column] += 1
            loss -= log(rows[state, column]) if rows[state, column] else 0.0
            wrong += rows[state, column] == 0
            state = transitions[state, column - 1] if column else state
        losses.append(loss)
        impossible.append(wrong)
    recorded = record(words, cut)
    assert Recorded(recorded, 3).count_rows(transitions).tolist() == counts.tolist()
    held_out = HeldOutWords(recorded, 3)
    found, infinite = held_out.losses(transitions, rows)
    assert found == pytest.approx(losses)
    assert infinite.tolist() == impossible
    assert held_out.lengths.tolist() == [
        len(word) + (not is_cut) for word, is_cut in zip(words, cut, strict=True)
    ]


def test_rows_are_counts_drawn_to_priors() -> None:
    counts = np.array([[1.0, 3.0, 0.0], [0.0, 0.0, 0.0]])
    priors = np.array([[0.0, 0.5, 0.5], [0.2, 0.8, 0.0]])
    smoothed = estimate_rows(counts, priors, 4.0, 0.3)
    prior = 0.7 * priors + 0.1
    assert smoothed == pytest.approx((counts + 4 * prior) / (counts + 4 * prior).sum(1)[:, None])
    # Without a share for what was never seen it stays impossible where words were seen.
    within = estimate_rows(counts, priors, 4.0, 0.0)
    assert within.tolist() == [[1 / 6, 5 / 6, 0.0], [0.2, 0.8, 0.0]]


@pytest.mark.slow
@pytest.mark.parametrize("target", [figure_3(), reber()], ids=["figure_3", "reber"])
def test_the_structure_of_a_known_automaton_is_found(target: PDFA) -> None:
    words = target.sample(1000, seed=1).words
    frontier = distill(words, seed=2, sizes=[*range(1, 9), 12])
    minimal = quotient(target, equivalence=Exact())
    assert len(frontier.best) == len(minimal)
    assert divergence(target, frontier.best).forward.per_symbol < 2e-3


def test_what_is_said_of_the_best_is_true() -> None:
    frontier = distill(Corpus(WORDS), sizes=FEW, seed=3, held_out=0.25)
    best = frontier.point(len(frontier.best))
    details = frontier.certificate.details
    assert details["word_count"] == 200
    assert details["held_out_words"] == 50
    assert details["held_out"] == 0.25
    assert details["unseen"] == 0.02
    assert frontier.is_of_words
    assert best.perplexity == pytest.approx(exp(best.divergence))
    assert best.cross_entropy == pytest.approx(best.divergence)
    plain = estimate_mean(frontier.kept_losses[frontier.points.index(best)], frontier.kept_lengths)
    assert best.low <= plain.low < best.divergence == plain.mean < plain.high <= best.high
    assert details["interval"] == [best.low, best.high]
    assert frontier.kept_lengths.sum() == details["held_out_positions"]
    assert "50 of 200" in frontier.certificate.statement
    # Rows were fitted to all words: each is a mean of what follows, drawn to others a little.
    pdfa, counts = frontier.best, np.zeros_like(frontier.best.probabilities)
    for word in WORDS:
        state = pdfa.initial
        for symbol in word:
            code = pdfa.alphabet.symbols.index(symbol)
            counts[state, code + 1] += 1
            state = int(pdfa.transitions[state, code])
        counts[state, 0] += 1
    means = counts / counts.sum(axis=1, keepdims=True)
    assert np.abs(pdfa.probabilities - means).max() < 0.05
    never = np.where(counts == 0, pdfa.probabilities, 0).sum(axis=1)
    mass = counts.sum(axis=1) @ never / counts.sum()
    assert details["unseen_mass"] == pytest.approx(mass)


@examples(60)
@given(st.integers(0, 10**6), st.integers(1, 7))
def test_the_best_is_chosen_by_held_out_words_and_by_those_to_learn_from(
    seed: int, count: int
) -> None:
    random = np.random.default_rng(seed)
    sizes = sorted(random.integers(1, 12, count).tolist())
    lengths = random.integers(1, 9, 30).astype(float)
    losses = random.gamma(20, 0.05, (count, 30)) * lengths * np.linspace(1.2, 1, count)[:, None]
    training = 2 - 0.1 * random.random(count).cumsum()
    taught = random.random(count) < 0.5
    recorded = Recorded(record([(0, 1, 2)] * 100), 3)
    found = [
        MeasuredCandidate(
            Candidate(size, np.zeros((size, 3), dtype=np.int32), np.ones((size, 4)), (), mark),
            *(1.0, loss, these, np.zeros(30)),
        )
        for size, mark, loss, these in zip(sizes, taught, training, losses, strict=True)
    ]
    words = random.random(30) < 0.8
    order = sorted(range(count), key=lambda place: (sizes[place], losses[place][words].sum()))
    best, least = order[0], losses[order[0]][words].sum()
    for place in order[1:]:
        if (lost := losses[place][words].sum()) >= least:
            continue
        least = lost
        more, edges = sizes[place] - sizes[best], 3 * sizes[place]
        gain = 400 * (training[best] - training[place]) - log(comb(edges, more))
        better = losses[best][words] - losses[place][words]
        is_sure = better.sum() / lengths[words].sum() > standard_error(-better, lengths[words])
        if better.sum() > 0 and (
            (gain > 0 and gain > 3 * more * log(sizes[place]))
            or (is_sure and (gain > 0 or taught[place]))
        ):
            best = place
    assert choose_best(found, words, recorded, lengths) is found[best]


def test_what_was_never_seen_is_unlikely_and_impossible_if_wanted() -> None:
    words = [("in", "out")] * 50 + [("in", "in", "out", "out")] * 50
    usual = distill(words, seed=1).best
    assert (usual.probabilities > 0).all()
    strict = distill(words, seed=1, unseen=0)
    assert strict.best.probability(("out",)) == 0
    assert strict.best.probability(("in", "out")) > 0.3


@pytest.mark.slow
def test_words_may_be_lists_files_and_frames(tmp_path: Path) -> None:
    path = tmp_path / "sessions.txt"
    path.write_text("\n".join(" ".join(map(str, word)) for word in WORDS) + "\n")
    from_file, from_list = (distill(words, sizes=FEW, seed=1) for words in (Corpus(path), WORDS))
    assert from_file.best.transitions.tolist() == from_list.best.transitions.tolist()
    assert str(path.name) in from_file.certificate.statement
    texts = ["ab" * (n % 4) for n in range(200)]
    assert distill(texts, sizes=[1], seed=1).best.alphabet.symbols == ("a", "b")
    wider = distill(Corpus(texts, alphabet="abc"), sizes=FEW, seed=1)
    assert wider.best.alphabet.symbols == ("a", "b", "c")
    assert 0 < wider.best.probability("c") < 0.02


def test_words_that_were_cut_have_not_ended(tmp_path: Path) -> None:
    path = tmp_path / "sessions.txt"
    path.write_text("\n".join(["a b a (cut)"] * 80 + ["a b a b a b (cut)"] * 80))
    frontier = distill(Corpus(path), seed=1)
    assert frontier.best.probabilities[:, 0].max() < 0.05
    assert frontier.certificate.details["words_cut"] == 160


@pytest.mark.slow
def test_same_seed_same_frontier_and_files_keep_it(tmp_path: Path) -> None:
    words = figure_3().sample(250, seed=5).words  # enough for a teacher
    frontier = distill(words, sizes=[1, 4, 12], seed=4)
    assert frontier == distill(words, sizes=[1, 4, 12], seed=4)
    save(frontier, tmp_path / "frontier.zip")
    assert load(tmp_path / "frontier.zip") == frontier
    page = view(frontier).html
    assert "cross-entropy" in page
    assert "cross-entropy" in frontier.table()
    assert "perplexity of the model" not in frontier.table()
    assert "cross-entropy" in frontier._repr_html_()


@pytest.mark.parametrize("after", [1, 3])
def test_an_interrupt_keeps_what_was_found(after: int) -> None:
    seen: list[DistillingProgress] = []

    def stop(progress: DistillingProgress) -> None:
        seen.append(progress)
        if len(seen) == after:
            raise KeyboardInterrupt

    with pytest.raises(DistillingInterrupted) as caught:
        distill(WORDS, sizes=FEW, seed=1, progress=stop)
    frontier = caught.value.frontier
    assert isinstance(frontier, Frontier)
    assert frontier.certificate.details["interrupted"]
    assert len(frontier.best) >= 1


def test_progress_tells_of_each_automaton() -> None:
    seen: list[DistillingProgress] = []
    distill(WORDS, seed=1, sizes=[1, 2, 4], progress=seen.append)
    assert {progress.states for progress in seen if progress.states} >= {1, 2, 4}
    assert seen[-1].phase == "measuring"
    shares = [progress.share for progress in seen]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0, 1)
    assert max(shares[:-1]) < 1


@pytest.mark.slow
def test_larger_automata_are_searched_for_where_the_largest_are_best(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(from_words, "_AT_LEAST", 6)
    words = ["abcdefghijklmnopqrst"[: 10 + n % 11] for n in range(60)]  # each symbol has its state
    seen: list[DistillingProgress] = []
    frontier = distill(words, progress=seen.append)
    assert len(frontier.best) >= 20
    assert {one.phase for one in seen} == {"automata", "merging", "larger", "measuring"}
    assert [one.share for one in seen] == sorted(one.share for one in seen)
    few = distill(words, sizes=range(1, 7), progress=seen.append)
    assert max(point.states for point in few) <= 6


def test_intervals_end_at_what_the_least_likely_symbol_loses() -> None:
    words = [*["a" * 20] * 6, "bbb", "ababababab", "ba", "aabbaabbaabb"]
    frontier = distill(words, sizes=[1, 2, 4], seed=0)  # two unlike words are held out
    for point in frontier:
        rows = point.pdfa.probabilities
        assert point.divergence <= point.high <= -np.log(rows[rows > 0].min()) + 1e-12


@pytest.mark.slow
def test_a_teacher_is_told_of_and_interrupted_with_one_thread_and_as_many_as_before() -> None:
    def stop(progress: DistillingProgress) -> None:
        if progress.member is not None:
            assert progress.phase == "teacher"
            members.append(progress.member)
            assert threads() == {1}
            if len(members) == 3:
                raise KeyboardInterrupt

    def threads() -> set[int]:
        libraries = [one for one in threadpool_info() if one["user_api"] == "blas"]
        return {one["num_threads"] for one in libraries}

    members: list[tuple[int, int]] = []
    words = ["ab" * (n % 7) + "c" * (n % 3) for n in range(400)]
    with threadpool_limits(2, "blas"):
        before = threads()
        with pytest.raises(DistillingInterrupted) as caught:
            distill(words, sizes=[1, 16], seed=1, progress=stop)
        assert threads() == before
    assert members == [(1, 4)] * 3
    assert caught.value.frontier is not None
    assert caught.value.frontier.certificate.details["interrupted"]


@pytest.mark.parametrize(
    ("words", "settings", "text"),
    [
        (WORDS, {"budget": Budget(max_symbols=100)}, "budget is for models"),
        (WORDS, {"store": "answers.db"}, "store is for models"),
        (WORDS, {"held_out": 0}, "held_out 0 is not a number above 0"),
        (WORDS, {"held_out": 1.5}, "held_out"),
        (WORDS, {"unseen": -1}, "unseen -1 is not a number from 0 to 1"),
        (["a", "b", "ab"], {}, "too few to learn from"),
        (["", "", "", ""], {}, "give an alphabet"),
        ([], {}, "needs a word"),
        ("sessions.txt", {}, "Corpus"),
        ([1, 2, 3, 4], {}, "word 1 of a corpus is 1, not a sequence"),
    ],
)
def test_wrong_arguments_are_named(words: object, settings: dict[str, object], text: str) -> None:
    with pytest.raises(InputError, match=text):
        distill(words, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "words",
    [
        [("a",)] * 4,
        [()] * 3 + [("a",)] * 3,
        [tuple(f"s{code}" for code in range(number, number + 5)) for number in range(60)],
        [word for length in range(4) for word in product("ab", repeat=length)] * 3,
        [("a",) * 45] * 6,
    ],
    ids=["one word", "mostly empty", "many symbols", "all short words", "long"],
)
def test_unusual_words_have_automata(words: list[tuple[str, ...]]) -> None:
    frontier = distill(words, seed=1)
    for point in frontier:
        assert point.pdfa.probabilities.sum(axis=1) == pytest.approx(1)
        assert np.isfinite(point.divergence)
    assert isinstance(frontier.best.alphabet, Alphabet)


def test_many_symbols_are_not_predicted_worse_than_by_chance() -> None:
    random = np.random.default_rng(1)
    words = [tuple(f"s{code}" for code in random.integers(1000, size=6)) for _ in range(50)]
    frontier = distill(words, sizes=[1, 2])
    assert frontier.points[0].divergence < log(len(frontier.best.alphabet) + 1)
    assert frontier.certificate.details["unseen"] == 0.9


def test_an_interrupt_after_large_automata_finds_small_ones_too() -> None:
    def stop(progress: DistillingProgress) -> None:
        if progress.states is not None:
            raise KeyboardInterrupt

    with pytest.raises(DistillingInterrupted) as caught:
        distill(WORDS, seed=1, progress=stop)
    assert caught.value.frontier is not None
    assert caught.value.frontier.points[0].states <= 4


def test_the_knee_needs_no_larger_sizes() -> None:
    words = reber().sample(1000, seed=1).words
    assert distill(words, sizes=range(1, 8)).knee == 6


def test_one_state_does_not_depend_on_the_sizes_asked() -> None:
    alone, together = (distill(WORDS, sizes=sizes).points[0] for sizes in ([1], [1, 5]))
    assert alone == together


@pytest.mark.slow
def test_ours_predicts_better_than_merging_at_its_size() -> None:
    source = random_pdfa(30, 4, exact_size=True, seed=7)
    words, fresh = (source.sample(count, seed=count).words for count in (1000, 4000))
    rivals = [smooth_rows(learnt, words) for learnt in (alergia(words, epsilon=0.5), mdi(words))]
    frontier = distill(words, sizes=[len(theirs) for theirs in rivals])
    for theirs in rivals:
        ours = frontier.at_most(len(theirs))
        assert ours.log_probabilities(fresh).sum() > theirs.log_probabilities(fresh).sum()


def test_identifiers_at_the_beginning_of_words_are_noticed() -> None:
    words = [[f"blk_{number},5", "22", "5"] for number in range(12)]
    with pytest.warns(
        UserWarning, match="12 of 14 symbols occur once, .* as 'blk_0,5'. Then"
    ) as all_:
        distill(words, sizes=[1])
    assert all_[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        distill([word[1:] for word in words], sizes=[1])
        distill(
            [word[:1] if number < 5 else word[1:] for number, word in enumerate(words)], sizes=[1]
        )
