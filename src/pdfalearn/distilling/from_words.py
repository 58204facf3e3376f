"""Distil recorded words: the best automaton of every size, chosen on words that are held out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pdfalearn.alphabet import Alphabet
from pdfalearn.arrays import one_thread
from pdfalearn.corpora import Corpus, RecordedWords
from pdfalearn.distilling.candidates import choose_on_halves
from pdfalearn.distilling.estimates import CONFIDENCE, estimate_mean
from pdfalearn.distilling.recorded import (
    TAUGHT_AT_LEAST,
    Candidate,
    HeldOutWords,
    MeasuredCandidate,
    Recorded,
    choose_best,
    choose_points,
    choose_unseen,
    estimate_rows,
    find_worst_loss,
    leave_one_out,
    propose_counted,
    propose_merged,
    propose_one_state,
    propose_taught,
    sum_up,
    take_first,
    take_words,
    warn_of_identifiers,
)
from pdfalearn.distilling.searching import default_sizes
from pdfalearn.distilling.settings import WordSettings
from pdfalearn.errors import InputError
from pdfalearn.models import Interrupts
from pdfalearn.passive import predict_rows, train_teacher
from pdfalearn.pdfa import PDFA
from pdfalearn.reachability import reachable_part
from pdfalearn.results import (
    Certificate,
    DistillingProgress,
    Frontier,
    Phase,
    Point,
    comparable,
    is_worse,
)
from pdfalearn.typing import Floats

# Automata are searched with words that have about this many prefixes; their rows and sizes are
# chosen with words of at most this many positions.
_STRUCTURE, _CHOOSING = 2**16, 2**22
# A teacher's automata are searched for up to this size: words need not support their rows.
_TAUGHT = 600
# A teacher is trained with more prefixes, and asked about more; criteria of merging, whose time
# grows faster than the prefixes, have fewer.
_TRAINING_STRUCTURE, _TAUGHT_STRUCTURE, _MERGED_STRUCTURE = 2**18, 2**17, 2**15
# Tables of this many prefixes times symbols fit into memory.
_MOST_CELLS = 2**24
# With fewer words there is no teacher: a tenth of them cannot tell whether it is any better.
_FOR_TEACHER = 200
# Intervals from fewer held-out words than this are too narrow rather often.
_FEW_WORDS = 200
# At most this many positions are held out.
_MOST_HELD_OUT = 2**20
# Larger automata are not searched for unless they are asked for, nor those above the first number
# with both fewer words and fewer positions for each state than these.
_AT_LEAST, _LARGEST, _WORDS_A_STATE, _POSITIONS_A_STATE = 120, 2_000, 40, 1_000
# Where the best is nearly as large as the largest, four times as large ones are searched for.
_NEARLY, _FURTHER = 0.9, 4
# At least this many words are needed: half of them to learn from, the others to hold out.
FEWEST = 4
# The best automaton is chosen without each of this many parts of the held-out words.
_TURNS = 5
# The phases, and the share of a run that is over, about, when each begins.
_PHASES: tuple[Phase, ...] = "automata", "merging", "teacher", "taught", "larger", "measuring"
_BEGINS = 0.0, 0.2, 0.3, 0.65, 0.8, 0.98, 1.0
# What there is still time for after a Ctrl-C: sizes, and prefixes to search with.
_QUICK, _QUICK_STRUCTURE = [64, 16, 4, 1], 2**12


@one_thread
def distill_words(corpus: Corpus, given: WordSettings) -> Frontier:
    """Find the best automaton of every size from recorded words; see `distill`."""
    with given.run_long() as interrupts:
        recorded = corpus.encode_with_cuts()
        run = WordsRun(corpus.name, corpus.alphabet, recorded, given, interrupts)
        interrupts.salvage = run.salvage
        return run.finish()


class WordsRun:
    """One run of distilling words, from the split to the frontier."""

    def __init__(
        self,
        name: str,
        alphabet: Alphabet,
        every: RecordedWords,
        wanted: WordSettings,
        interrupts: Interrupts,
    ) -> None:
        sizes, seed, held_out, unseen, settings, _ = wanted
        self._name, self._alphabet, self._all = name, alphabet, every
        self._seed, self._share = seed, held_out
        self._settings, self._interrupts = settings, interrupts
        self._progress: Callable[[DistillingProgress], None] | None = interrupts.progress
        count, self._width = len(every.words), len(self._alphabet)
        if count < FEWEST:
            raise InputError(
                f"{name}: there are too few to learn from some and to hold others out; "
                f"give at least {FEWEST}"
            )
        warn_of_identifiers(every.words, self._alphabet)
        order = np.random.default_rng(seed).permutation(count)
        held = min(max(FEWEST // 2, round(held_out * count)), count - FEWEST // 2)
        kept = take_first(take_words(every, order[:held]), _MOST_HELD_OUT)
        self._held_out = HeldOutWords(kept, self._width)
        # The words to choose with; those to search with are the first of them.
        self._training = take_first(take_words(every, order[held:]), _CHOOSING)
        self._recorded = Recorded(self._training, self._width)
        self._unseen = choose_unseen(self._recorded, self._held_out, unseen)
        possible = default_sizes(len(self._recorded.tree), self._width)
        self._possible = [size for size in possible if size <= _LARGEST]
        by_positions = int(self._recorded.positions) // _POSITIONS_A_STATE
        most = max(_AT_LEAST, len(self._training.words) // _WORDS_A_STATE, by_positions)
        self._asked = sizes or []
        self._sizes = sizes or [size for size in self._possible if size <= most]
        self._found: dict[int, MeasuredCandidate] = {}
        self._phase: Phase = "automata"
        self._steps, self._done, self._reported = 1, 0, 0.0

    def finish(self) -> Frontier:
        """Search, choose and measure to the end."""
        self._begin("automata", len(self._sizes))
        self._search(self._take_structure(_STRUCTURE), self._sizes)
        self._begin("merging", len(self._sizes))
        self._merge_prefixes()
        self._learn_from_teacher()
        self._search_further()
        frontier = self._make_frontier(is_interrupted=False)
        self._begin("measuring", 1, done=1)
        return frontier

    def salvage(self) -> Frontier | None:
        """Return what was found until an interrupt."""
        self._progress = None  # it may have raised the interrupt, and would do so again
        missing = [size for size in _QUICK if size not in self._found]
        if missing:
            self._search(self._take_structure(_QUICK_STRUCTURE), missing)
        return self._make_frontier(is_interrupted=True)

    def _search(self, structure: Recorded, sizes: Sequence[int]) -> None:
        """Search for automata of some sizes in what follows prefixes."""
        if larger := [size for size in sizes if size > 1]:
            for candidate in propose_counted(structure, larger, self._settings):
                self._consider(candidate)
        if 1 in sizes:
            self._consider(propose_one_state(self._recorded))

    def _search_further(self) -> None:
        """Search for larger automata while nearly the largest are the best."""
        while not self._asked and len(self._sizes) < len(self._possible):
            best, largest = min(self._found.values(), key=sum_up).candidate, self._sizes[-1]
            if best.is_taught or len(best.transitions) < _NEARLY * largest:
                return
            larger = [size for size in self._possible if 1 < size / largest <= _FURTHER]
            self._sizes = [*self._sizes, *larger]
            self._begin("larger", len(larger) + len(self._sizes))
            self._search(self._take_structure(_STRUCTURE), larger)
            self._merge_prefixes(self._sizes[-1])

    def _merge_prefixes(self, most: int = 0) -> None:
        """Merge prefixes by various criteria; make the best of these automata smaller."""
        structure = self._take_table(_MERGED_STRUCTURE)
        runs = list(propose_merged(structure, self._sizes, most, self._settings))
        losses = [self._consider(next(run)) for run in runs]
        for candidate in runs[int(np.argmin(losses))] if runs else ():
            self._consider(candidate)

    def _take_structure(self, most: int) -> Recorded:
        """Return words to learn from that have about this many prefixes."""
        known = len(self._recorded.tree)
        if known <= most:
            return self._recorded
        count = max(2, round(len(self._training.words) * most / known))
        return Recorded(take_words(self._training, np.arange(count)), self._width)

    def _take_table(self, most: int) -> Recorded:
        """Return words of about this many prefixes at most, fewer where there are many symbols."""
        return self._take_structure(min(most, max(2, _MOST_CELLS // self._width)))

    def _consider(self, candidate: Candidate) -> float:
        """Keep a candidate if it is the best of its size; return what held-out words lose."""
        found = self._measure(candidate)
        lost, size = sum_up(found), len(candidate.transitions)
        # Of sizes that were asked for, the next one; else an automaton may have any.
        places = [asked for asked in self._asked if asked >= size] if self._asked else [size]
        if places and size <= max(_LARGEST, *self._sizes):
            before = self._found.get(places[0])
            if before is None or lost < sum_up(before):
                self._found[places[0]] = found
        self._done += 1
        lengths = self._held_out.lengths
        held_out = float(found.losses.sum() / (lengths.sum() - found.infinite.sum()))
        self._report(
            states=size, training_divergence=found.training_loss, held_out_divergence=held_out
        )
        self._interrupts.check()
        return lost

    def _measure(self, candidate: Candidate) -> MeasuredCandidate:
        counts = self._recorded.count_rows(candidate.transitions)
        tables = [
            estimate_rows(counts, candidate.priors, strength, self._unseen)
            for strength in candidate.strengths
        ]
        measured = [self._held_out.losses(candidate.transitions, rows) for rows in tables]
        best, chosen = choose_on_halves([comparable(*each) for each in measured])
        losses, infinite = np.array(measured)[chosen, :, np.arange(len(chosen))].T
        strength = candidate.strengths[best]
        training = leave_one_out(counts, candidate.priors, strength, self._unseen) / counts.sum()
        return MeasuredCandidate(candidate, strength, float(training), losses, infinite)

    def _learn_from_teacher(self) -> None:
        """Search in what a teacher says, if it predicts held-out words better than counts do."""
        if len(self._training.words) < _FOR_TEACHER or max(self._sizes) < TAUGHT_AT_LEAST:
            return
        tree = self._take_structure(_TRAINING_STRUCTURE).tree
        teacher = train_teacher(tree, self._seed, note=self._note_training)
        taught = self._held_out.teacher_losses(teacher)
        best = min(self._found.values(), key=sum_up)
        difference = comparable(best.losses, best.infinite) - taught
        if is_worse(difference, self._held_out.lengths, 1):
            structure = self._take_table(_TAUGHT_STRUCTURE)
            rows = predict_rows(teacher, structure.tree)
            sizes = self._asked or [size for size in self._possible if size <= _TAUGHT]
            self._begin("taught", len(sizes))
            for candidate in propose_taught(structure, rows, sizes, self._settings):
                self._consider(candidate)

    def _note_training(self, done: int, rounds: int, members: int) -> None:
        """Report that rounds of a teacher's members are done; an interrupt ends the training."""
        member = min(members, done // rounds + 1), members
        self._begin("teacher", rounds * members, done, member=member)
        self._interrupts.check()

    def _make_frontier(self, *, is_interrupted: bool) -> Frontier:
        """Fit the rows of the automata to all words, and put the frontier together."""
        self._begin("measuring", 1)
        found = choose_points(self._found.values())
        counts = [np.zeros_like(each.candidate.priors) for each in found]
        for begin, end in self._all.words.parts(_CHOOSING):
            part = Recorded(take_words(self._all, np.arange(begin, end)), self._width)
            for sums, each in zip(counts, found, strict=True):
                sums += part.count_rows(each.candidate.transitions)
        points, masses = zip(*map(self._make_point, found, counts), strict=True)
        details = {
            "training_positions": int(self._recorded.positions),
            "is_taught": [each.candidate.is_taught for each in found],
        }
        frontier = Frontier(
            points=points,
            sizes=tuple(sorted(self._found)),
            certificate=Certificate("distilled", "", details),
            model_perplexity=None,
            kept_losses=np.array([each.losses for each in found]),
            kept_infinite=np.array([each.infinite for each in found]),
            kept_lengths=self._held_out.lengths,
        )
        frontier = self._widen_best(frontier, found)
        certificate = self._certify(frontier, found, masses, is_interrupted=is_interrupted)
        return replace(frontier, certificate=certificate)

    def _widen_best(self, frontier: Frontier, found: list[MeasuredCandidate]) -> Frontier:
        """Widen the interval of the best automaton by what the choice among sizes may flatter it.

        A part of the held-out words after the other is measured with what the others choose.
        """
        lengths = self._held_out.lengths
        losses, infinite, turns = *np.zeros((2, len(lengths))), np.arange(len(lengths)) % _TURNS
        for turn in range(_TURNS):
            here = turns == turn
            chosen = choose_best(self._found.values(), ~here, self._recorded, lengths)
            losses[here], infinite[here] = chosen.losses[here], chosen.infinite[here]
        place = frontier.points.index(frontier.point(len(frontier.best)))
        _, low, high = estimate_mean(losses, lengths - infinite)
        points, best = list(frontier.points), frontier.points[place]
        high = min(max(high, best.high), find_worst_loss(best.pdfa))
        points[place] = replace(best, low=min(low, best.low), high=high)
        return replace(frontier, points=tuple(points))

    def _make_point(self, found: MeasuredCandidate, counts: Floats) -> tuple[Point, float]:
        """Return an automaton fitted to all words, and its share for what was never seen."""
        candidate, lengths = found.candidate, self._held_out.lengths
        smoothing = candidate.priors, found.strength, self._unseen
        rows = estimate_rows(counts, *smoothing)
        transitions = np.where(rows[:, 1:] > 0, candidate.transitions, -1)
        pdfa = reachable_part(
            PDFA(alphabet=self._alphabet, transitions=transitions, probabilities=rows)
        )
        never = np.where(counts == 0, rows, 0.0).sum(axis=1)
        mean, low, high = estimate_mean(found.losses, lengths - found.infinite)
        learnt = estimate_rows(self._recorded.count_rows(candidate.transitions), *smoothing)
        l1, word_error_rate = self._held_out.measure(candidate.transitions, learnt)
        point = Point(
            states=len(pdfa),
            pdfa=pdfa,
            divergence=mean,
            low=low,
            high=min(high, find_worst_loss(pdfa)),
            infinite_share=float(found.infinite.sum() / lengths.sum()),
            l1=l1,
            word_error_rate=word_error_rate,
            perplexity=float(np.exp(mean)),
            training_divergence=found.training_loss,
            unseen_divergence=mean,
        )
        return point, float(counts.sum(axis=1) @ never / counts.sum())

    def _certify(
        self,
        frontier: Frontier,
        found: list[MeasuredCandidate],
        masses: Sequence[float],
        *,
        is_interrupted: bool,
    ) -> Certificate:
        best = frontier.point(len(frontier.best))
        mass = masses[place := frontier.points.index(best)]
        held_out, total = len(self._held_out.lengths), len(self._all.words)
        texts = [
            f"the automaton of {best.states:,} states has a cross-entropy of {best.divergence:.4g} "
            f"nats per symbol ({CONFIDENCE:.0%} interval {best.low:.4g} to {best.high:.4g}), a "
            f"perplexity of {best.perplexity:.4g}, on {held_out:,} of {total:,} "
            f"{self._name}, which were held out; its rows were then fitted to all words, and drawn "
            f"to usual rows as if {found[place].strength:g} words of each state had shown these; "
            f"so they give {mass:.2g} to what was never seen in its place"
        ]
        if best.infinite_share:
            texts.append(f"{best.infinite_share:.2%} of held-out symbols are impossible")
        if held_out < _FEW_WORDS:
            texts.append(
                f"intervals from fewer than {_FEW_WORDS} words are too narrow rather often: give "
                "more words to publish them"
            )
        if is_interrupted:
            texts.append("stopped by hand")
        details: dict[str, object] = {
            "source": "words",
            "words": self._name,
            "word_count": total,
            "words_cut": int(self._all.is_cut.sum()),
            "held_out": self._share,
            "held_out_words": held_out,
            "held_out_positions": int(self._held_out.lengths.sum()),
            "training_positions": int(self._recorded.positions),
            "unseen": self._unseen,
            "unseen_mass": mass,
            "smoothing": [each.strength for each in found],
            "is_taught": [each.candidate.is_taught for each in found],
            "confidence": CONFIDENCE,
            "best": best.states,
            "cross_entropy": best.divergence,
            "interval": [best.low, best.high],
            "perplexity": best.perplexity,
            "infinite_share": best.infinite_share,
            "knee": frontier.knee,
            "seed": self._seed,
            "interrupted": is_interrupted,
        }
        return Certificate("distilled", "; ".join(texts), details)

    def _begin(self, phase: Phase, steps: int, done: int = 0, **found: Any) -> None:
        """Report how many steps of a phase are done; their number is a guess."""
        self._phase, self._steps, self._done = phase, steps, done
        self._report(**found)

    def _report(self, **found: Any) -> None:
        """Report how far the run is, and what was found: members of the progress."""
        if self._progress is None:
            return
        place = _PHASES.index(self._phase)
        begin, end = _BEGINS[place : place + 2]
        share = begin + (end - begin) * min(1.0, self._done / self._steps)
        self._reported = max(self._reported, share)
        news = DistillingProgress(
            phase=self._phase,
            words=len(self._all.words),
            symbols=len(self._all.words.symbols),
            cost=0.0,
            share=self._reported,
            **found,
        )
        self._interrupts.report(self._progress, news)
