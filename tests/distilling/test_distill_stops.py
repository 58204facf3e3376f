"""What ends distilling: budgets, Ctrl-C and a model that dies."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.distilling.black_boxes import BlackBox
from benchmarks.distilling.going_on import count_different
from pdfalearn import Budget, Exact, Frontier, FunctionModel, LanguageModel, distill
from pdfalearn.alphabet import Symbol
from pdfalearn.datasets import random_pdfa
from pdfalearn.distilling.sampling import Sampling, check_sampler
from pdfalearn.errors import InputError
from pdfalearn.learners import ObservationTree
from pdfalearn.models import QueryCost, Rows
from pdfalearn.results import DistillingInterrupted, DistillingProgress
from pdfalearn.samplers import ModelWords
from pdfalearn.stores import AnswerStore
from tests.models.watched import Codes, WatchedModel
from tests.support import mostly_slow

TARGET = random_pdfa(40, 3, seed=3)
SMALL = Budget(max_symbols=150)
FEW = [1, 2, 4]
PHASES = ["words", "questions", "automata", "measuring"]


def watched(cost: QueryCost | None = None) -> WatchedModel:
    return WatchedModel(BlackBox(TARGET), cost=cost)


@pytest.mark.parametrize("audit", [0, 16])
@pytest.mark.parametrize("symbols", mostly_slow([150, 151, 400]))
def test_no_symbol_beyond_the_budget(symbols: int, audit: int) -> None:
    model = watched()
    frontier = distill(model, budget=Budget(max_symbols=symbols), sizes=FEW, audit=audit)
    assert 0.85 * symbols < model.symbols <= symbols
    assert not model.open_count
    details = frontier.certificate.details
    assert details["audited_words"] == 0 or audit
    assert details["answers"] == len(set(model.asked))
    if not audit:
        assert details["symbols_asked"] == model.symbols
        assert details["words_asked"] == len(model.asked) == len(set(model.asked))


@pytest.mark.slow
def test_a_bound_on_words() -> None:
    model = watched()
    frontier = distill(model, budget=Budget(max_words=200), sizes=FEW)
    assert 180 < len(model.asked) <= 200
    assert frontier.certificate.details["answers"] == len(set(model.asked))


@pytest.mark.slow
def test_a_bound_on_cost() -> None:
    unit = QueryCost(call=5, word=1, symbol=2)
    model = watched(cost=unit)
    frontier = distill(model, budget=Budget(max_cost=2000), sizes=FEW, audit=0)
    calls, words = len(model.batches), len(model.asked)
    cost = unit.total(calls=calls, words=words, symbols=model.symbols)
    assert 1000 < cost <= 2000
    assert frontier.certificate.details["cost"] == pytest.approx(cost)


def test_a_bound_on_cost_ends_words_that_are_all_known() -> None:
    def only_a(words: list[tuple[Symbol, ...]]) -> list[list[float]]:
        return [[1.0, 0.0] if word else [0.0, 1.0] for word in words]

    frontier = distill(FunctionModel(only_a, "a"), budget=Budget(max_cost=300), sizes=[1, 2])
    assert len(frontier.best) == 2
    assert frontier.certificate.details["words_drawn"] == 300


@pytest.mark.slow
def test_a_bound_on_seconds() -> None:
    def slow(words: list[tuple[Symbol, ...]]) -> list[list[float]]:
        time.sleep(0.002 * len(words))
        return [[0.2, 0.5, 0.3] for _ in words]

    start = time.monotonic()
    frontier = distill(FunctionModel(slow, "ab"), budget=Budget(max_seconds=0.8), sizes=FEW)
    assert time.monotonic() - start < 5
    assert 10 < int(str(frontier.certificate.details["answers"])) <= 400


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.2, 1.0])
def test_the_search_keeps_to_the_seconds_too(seconds: float) -> None:
    """Every word has an answer of its own, so that there is much to search."""

    def fading(words: list[tuple[Symbol, ...]]) -> list[list[float]]:
        memory = [
            sum((0.3 if s == "a" else -0.3) * 0.7**k for k, s in enumerate(w[::-1])) for w in words
        ]
        return [[0.1, 0.45 + 0.4 * value, 0.45 - 0.4 * value] for value in memory]

    start = time.process_time()
    frontier = distill(FunctionModel(fading, "ab"), budget=Budget(max_seconds=seconds))
    assert time.process_time() - start < 1.5 * seconds + 0.5
    assert len(frontier) > 1


def test_a_budget_that_holds_out_too_few_words() -> None:
    endless = FunctionModel(lambda words: [[0, 0.5, 0.5]] * len(words), "ab")
    with pytest.raises(InputError, match="a larger budget, or ModelWords of a smaller max_length"):
        distill(endless, budget=Budget(max_symbols=60))


@pytest.mark.parametrize(
    ("budget", "length"),
    [(Budget(max_cost=6000), 40), (Budget(max_cost=60), 20), (Budget(max_seconds=0), 100)],
)
def test_where_words_are_cut_without_a_bound_on_symbols(budget: Budget, length: int) -> None:
    sampler = check_sampler(None, budget, QueryCost(word=1, symbol=2))
    assert isinstance(sampler, ModelWords)
    assert sampler.max_length == length


def test_a_budget_that_ends_in_the_first_words_says_how_long_they_are() -> None:
    endless = FunctionModel(lambda words: [[0, 1.0]] * len(words), "a")
    complaint = "holds out 0 words, .* with 300 symbols a word it takes about 6020 symbols"
    with pytest.raises(InputError, match=complaint):
        distill(endless, budget=Budget(max_symbols=60), sampler=ModelWords(300))


class DyingModel(WatchedModel):
    """Fails after some batches."""

    def __init__(self, inner: LanguageModel, batches: int) -> None:
        super().__init__(inner)
        self._left = batches

    def answered(self, batch: list[Codes], rows: Rows) -> Rows:
        if not self._left:
            self.batches.pop()
            raise OSError("the connection is lost")
        self._left -= 1
        return rows


def with_store(model: LanguageModel, folder: Path, symbols: int = 250) -> Frontier:
    budget, store = Budget(max_symbols=symbols), folder / "store"
    return distill(model, budget=budget, sizes=[1, 4], seed=2, store=store, model_id="it", audit=0)


@pytest.fixture(scope="module")
def run_in_one_piece() -> tuple[WatchedModel, Frontier]:
    model, budget = watched(), Budget(max_symbols=250)
    return model, distill(model, budget=budget, sizes=[1, 4], seed=2, audit=0)


@pytest.mark.parametrize("share", mostly_slow([0.5, 0, 0.05, 0.95]))
def test_a_run_that_was_killed_goes_on(
    share: float, tmp_path: Path, run_in_one_piece: tuple[WatchedModel, Frontier]
) -> None:
    in_one_piece, whole = run_in_one_piece
    batches = int(share * len(in_one_piece.batches))
    dying, second = DyingModel(BlackBox(TARGET), batches), watched()
    with pytest.raises(OSError, match="the connection is lost"):
        with_store(dying, tmp_path)
    again = with_store(second, tmp_path)
    assert replace(again, certificate=whole.certificate) == whole
    assert set(dying.asked) | set(second.asked) == set(in_one_piece.asked)
    audited = again.certificate.details["audited_words"]
    assert len(dying.asked) + len(second.asked) - len(set(in_one_piece.asked)) == audited
    changing = {"words_asked", "symbols_asked", "cost", "stored_words", "audited_words"}
    kept = whole.certificate.details.keys() - changing - {"largest_difference"}
    details = again.certificate.details
    assert {name: details[name] for name in kept} == {
        name: whole.certificate.details[name] for name in kept
    }
    assert details["stored_words"] == len(dying.asked)


@pytest.mark.slow
def test_a_run_that_was_killed_goes_on_under_a_bound_on_cost(tmp_path: Path) -> None:
    bound, store, cost = Budget(max_cost=450), tmp_path / "store", QueryCost(word=1, prefix=1)
    whole = distill(watched(cost), budget=bound, sizes=[1, 4], seed=2, audit=0)
    dying = DyingModel(BlackBox(TARGET), 10)
    for model in (dying, watched()):
        model.cost = cost
        with suppress(OSError):
            again = distill(
                model, budget=bound, sizes=[1, 4], seed=2, audit=0, store=store, model_id="it"
            )
    assert again.certificate.details["stored_words"] == len(dying.asked) > 5
    assert again.points == whole.points


@pytest.mark.slow
def test_a_second_run_asks_nothing_but_the_audit(tmp_path: Path) -> None:
    first, second = watched(), watched()
    whole, again = with_store(first, tmp_path), with_store(second, tmp_path)
    assert replace(again, certificate=whole.certificate) == whole
    assert len(second.asked) == again.certificate.details["audited_words"]


def drawn_with_store(folder: Path, seed: int) -> int:
    """Draw words until a small budget is spent; return how many there are."""
    budget = Budget(max_symbols=100)
    with (
        ObservationTree(BlackBox(TARGET), Exact(), budget) as observations,
        AnswerStore(folder / f"store-{seed}") as store,
    ):
        observations.record(store, "it")
        sampling = Sampling(observations, ModelWords(20), seed, held_out=6)
        sampling.draw_until(1.0)
    return sampling.words


@pytest.mark.slow
def test_a_budget_ends_words_at_the_same_place_with_stored_answers(tmp_path: Path) -> None:
    for seed in range(3):
        assert drawn_with_store(tmp_path, seed) == drawn_with_store(tmp_path, seed)


class Fuse:
    """Interrupts at the first report of a phase, or some reports later."""

    def __init__(self, phase: str, reports: int = 0) -> None:
        self._phase = phase
        self._left = reports
        self.is_burnt = False

    def __call__(self, progress: DistillingProgress) -> None:
        if progress.phase != self._phase or self.is_burnt:
            return
        if not self._left:
            self.is_burnt = True
            raise KeyboardInterrupt
        self._left -= 1


@pytest.mark.parametrize(("phase", "reports"), [*((phase, 0) for phase in PHASES), ("automata", 4)])
def test_an_interrupt_in_every_phase(phase: str, reports: int) -> None:
    model, fuse = watched(), Fuse(phase, reports)
    with pytest.raises(DistillingInterrupted) as caught:
        distill(model, budget=SMALL, sizes=FEW, progress=fuse)
    assert fuse.is_burnt
    assert not model.open_count
    frontier = caught.value.frontier
    if phase == "words":
        assert frontier is None
        return
    assert frontier is not None
    assert frontier.certificate.details["interrupted"] is True
    assert "stopped by hand" in str(frontier.certificate)
    assert frontier.points[0].divergence >= 0


def test_an_interrupt_after_many_words_still_gives_a_frontier() -> None:
    with pytest.raises(DistillingInterrupted) as caught:
        distill(watched(), budget=SMALL, sizes=FEW, progress=Fuse("words", 25))
    assert caught.value.frontier is not None


def test_a_callback_that_goes_on_interrupting() -> None:
    def stop(progress: DistillingProgress) -> None:
        if progress.phase == "measuring":
            raise KeyboardInterrupt

    frontier = None
    try:
        distill(watched(), budget=SMALL, sizes=FEW, progress=stop)
    except DistillingInterrupted as interrupt:
        frontier = interrupt.frontier
    except KeyboardInterrupt:
        pytest.fail("there is no frontier")
    assert frontier is not None


def test_an_interrupt_in_the_model() -> None:
    class Interrupted(WatchedModel):
        def answered(self, batch: list[Codes], rows: Rows) -> Rows:
            if len(self.batches) > 25:
                raise KeyboardInterrupt
            return rows

    model = Interrupted(BlackBox(TARGET))
    with pytest.raises(DistillingInterrupted) as caught:
        distill(model, budget=SMALL, sizes=FEW)
    assert caught.value.frontier is not None
    assert not model.open_count


def test_progress_is_told_in_order() -> None:
    told: list[DistillingProgress] = []
    frontier = distill(watched(), budget=SMALL, sizes=FEW, progress=told.append)
    phases = [progress.phase for progress in told]
    assert set(phases) == set(PHASES)
    assert phases[0] == "words"
    assert phases[-1] == "measuring"
    for field in ("words", "symbols", "cost"):
        figures = [getattr(progress, field) for progress in told]
        assert figures == sorted(figures)
    assert all(0 <= progress.share <= 1 for progress in told)
    assert {point.states for point in frontier} <= {progress.states for progress in told}
    last = {progress.states: progress for progress in told if progress.states is not None}
    assert set(last) == set(FEW)
    for point in frontier:  # contexts may be better, and rows are drawn to others
        told_last = last[point.states].held_out_divergence
        assert told_last == pytest.approx(point.divergence, rel=0.2)


def test_a_failing_callback_is_an_error() -> None:
    model = watched()

    def fail(progress: DistillingProgress) -> None:
        raise LookupError(progress.phase)

    with pytest.raises(LookupError, match="words"):
        distill(model, budget=SMALL, progress=fail)
    assert not model.open_count


@pytest.mark.slow
def test_a_run_that_was_stopped_anywhere_goes_on_to_the_same_frontier() -> None:
    """With any prices, budgets and samplers; a few of the cases of the benchmark."""
    count, different = count_different(8)
    assert count >= 6
    assert not different
