"""Models that break the protocol, one way each."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

from pdfalearn import PDFA, Alphabet, FunctionModel
from pdfalearn.models.batch import Batch
from pdfalearn.models.protocol import LanguageModel
from pdfalearn.rows import Rows
from tests.testing.keeping import Keeping, OpenedKeeping

TARGET = PDFA(
    alphabet="abc",
    transitions=[[1, 0, -1], [2, 0, 1], [2, 1, 0]],
    probabilities=[[0.2, 0.5, 0.3, 0], [0, 0.25, 0.25, 0.5], [0.5, 0.125, 0.125, 0.25]],
)
"""After the empty word c is undefined; nothing ends after a."""
Breaking = Callable[[], LanguageModel]
BROKEN: dict[str, tuple[str, Breaking]] = {}


def broken(culprit: str) -> Callable[[Breaking], Breaking]:
    """Note a function that makes a model, and what is to be said about that."""

    def noted(make: Breaking) -> Breaking:
        BROKEN[make.__name__] = culprit, make
        return make

    return noted


def own(**members: Any) -> LanguageModel:
    """Make a model that keeps states and has other members."""
    made: LanguageModel = type("Own", (Keeping,), members)(TARGET)
    return made


def opened(room: int | None = None, **members: Any) -> Keeping:
    """Make a model whose opened models have other members."""
    made, kind = Keeping(TARGET, room), type("Changed", (OpenedKeeping,), members)

    def open() -> LanguageModel:  # noqa: A001
        made.opened.append(kind(made))
        return made.opened[-1]

    made.open = open  # type: ignore[method-assign]
    return made


def function(answer: Callable[[tuple[Any, ...]], Any], **members: Any) -> LanguageModel:
    """Make a model of a function of one word over a and b."""
    model = FunctionModel(lambda words: [answer(word) for word in words], "ab")
    vars(model).update(members)
    return model


def answering(answer: Callable[[Batch], Any]) -> LanguageModel:
    """Make a model over a, b and c that keeps nothing."""
    model = LanguageModel()
    model.alphabet = Alphabet("abc")
    model.answer = answer  # type: ignore[method-assign, assignment]
    return model


def rows_of(rows: Rows) -> LanguageModel:
    """Make a model over a, b and c that has the same row after every word."""
    return answering(lambda batch: rows.take(np.zeros(batch.count, dtype=np.int64)))


def sparse(columns: list[int], values: list[float], **more: Any) -> LanguageModel:
    """Make a model that has the same sparse row after every word."""
    return rows_of(Rows.sparse(4, [0, len(columns)], columns, values, **more))


def raising(error: BaseException) -> Callable[..., Any]:
    """Return a function that raises an error, whatever it is given."""

    def call(*_: object) -> None:
        raise error

    return call


def bare(**members: Any) -> LanguageModel:
    """Make a model that has nothing but some members."""
    made: LanguageModel = type("Own", (LanguageModel,), members)()
    return made


def changing() -> property:
    """Return a member that is another text each time."""
    numbers = count()
    return property(lambda _: f"run {next(numbers)}")


EVEN = np.full(4, 0.25)

BROKEN |= {
    # What a model says about itself
    "no alphabet": ("Own has no alphabet: set it to an Alphabet", bare),
    "a text as alphabet": ("Own.alphabet is 'ab'", lambda: bare(alphabet="ab")),
    "a number as fingerprint": ("Own.fingerprint is 7: set it", lambda: own(fingerprint=7)),
    "a fingerprint that fails": (
        "Own has fingerprint that raised OSError: gone",
        lambda: own(fingerprint=property(raising(OSError("gone")))),
    ),
    "a fingerprint that changes": (
        "Own.fingerprint was 'run 0' and is 'run 1' now: it has to stay",
        lambda: own(fingerprint=changing()),
    ),
    "a fingerprint that changes by asking": (
        r"Own.fingerprint was '0' and is '\d+' now",
        lambda: own(fingerprint=property(lambda self: str(len(getattr(self, "opened", ()))))),
    ),
    "a number as cost": ("Own.cost is 1.0: set it to a QueryCost", lambda: own(cost=1.0)),
    "a text as flag": ("Own.full_support is 'no': set", lambda: own(full_support="no")),
    # What it opens and closes
    "nothing opened": (
        "Own.open returned None: it has to return a LanguageModel",
        lambda: own(open=lambda self: None),
    ),
    "open fails": ("Own: open raised OSError: gone", lambda: own(open=raising(OSError("gone")))),
    "close fails": (
        "Keeping: close raised OSError: already gone",
        lambda: opened(close=raising(OSError("already gone"))),
    ),
    "no method answer": (
        r"Own: answer raised NotImplementedError: Own has no .*asked about the empty word",
        lambda: bare(alphabet=Alphabet("ab")),
    ),
    # Rows that are not distributions
    "nothing returned": (
        r"answer to the word \(\): it is .*; return a distribution for each",
        lambda: answering(lambda batch: None),
    ),
    "rows without the terminal": (
        r"shape \(1, 3\), not \(1, 4\): .* 4 columns, the terminal first",
        lambda: answering(lambda batch: np.full((batch.count, 3), 1 / 3)),
    ),
    "one row for all": (
        r"the array for \d+ words has shape \(1, 4\), not",
        lambda: answering(lambda batch: [EVEN]),
    ),
    "rows for words on the way": (
        r"the array for \d+ words has shape \(\d+, 4\), not",
        lambda: answering(lambda batch: [EVEN for _ in batch.ids]),
    ),
    "one word without its axis": (
        r"array of shape \(4,\)",
        lambda: answering(lambda batch: np.full((batch.count, 4), 0.25).squeeze()),
    ),
    "a sum that is not 1": (
        r"answer to the word \('b', 'b'\): \[0.2, 0.3, 0.4\] sums to 0.9.* 1 as their sum",
        lambda: function(lambda word: [0.2, 0.3, 0.4 if word == ("b", "b") else 0.5]),
    ),
    "not a number": (
        r"answer to the word \('a',\): \[nan, 0.3, 0.5\] has NaN",
        lambda: function(lambda word: [float("nan") if word == ("a",) else 0.2, 0.3, 0.5]),
    ),
    "negative numbers": (
        r"\[-0.1, 0.6, 0.5\] has NaN or negative",
        lambda: function(lambda word: [-0.1, 0.6, 0.5] if len(word) > 3 else [0, 0.5, 0.5]),
    ),
    "no terminal in sparse rows": ("not list the terminal", lambda: sparse([1, 2], [0.5, 0.5])),
    "columns that descend": ("not ascending", lambda: sparse([0, 2, 1], [0.2, 0.3, 0.5])),
    "columns beyond": ("lists a column beyond 3", lambda: sparse([0, 1, 4], [0.2, 0.3, 0.5])),
    "a small rest": ("does not sum to 1", lambda: sparse([0, 1], [0.2, 0.3], rest=[0.3])),
    "a negative rest": ("NaN or negative", lambda: sparse([0, 1], [0.5, 1.0], rest=[-0.5])),
    "a rest of nothing": (
        "ceiling too low",
        lambda: sparse([0, 1, 2, 3], [0.5, 0, 0, 0], rest=[0.5]),
    ),
    "a low ceiling": ("too low", lambda: sparse([0], [0.5], rest=[0.5], ceiling=[0.1])),
    "much outside": (
        "the mass outside of the alphabet is not from 0 to 1",
        lambda: rows_of(Rows.dense(EVEN[None], outside=np.array([1.5]))),
    ),
    # What is undefined or impossible
    "the empty word is undefined": (
        "FunctionModel: the empty word is undefined",
        lambda: function(lambda word: [0.2, 0.3, 0.5] if word else None),
    ),
    "undefined in spite of its probability": (
        r"gives the symbol 'b' probability 0.5, but the word \('b',\) is undefined: give",
        lambda: function(lambda word: None if "b" in word else [0.2, 0.3, 0.5]),
    ),
    "words that come back": (
        r"the word \(.*\) is defined, but the word \(.*'b',?\) is undefined: what goes on",
        lambda: function(lambda word: None if word[-1:] == ("b",) else [0.5, 0.5, 0.0]),
    ),
    "defined though it is not listed": (
        r"says that the symbol 'c' is impossible, but the word .*'c',?\) is defined: list",
        lambda: sparse([0, 1, 2], [0.2, 0.3, 0.5]),
    ),
    "defined though it is impossible": (
        r"says that the symbol 'c' is impossible, but the word .*'c',?\) is defined: list",
        lambda: rows_of(
            Rows.dense(np.array([[0.5, 0.5, 0, 0]]), impossible=np.array([[False, False, True]]))
        ),
    ),
    "likely and impossible": (
        "gives the symbol 'c' probability 0.25, and says that no word goes on with it",
        lambda: rows_of(Rows.dense(EVEN[None], impossible=np.array([[False, False, True]]))),
    ),
    "full support without a symbol": (
        "is never followed by the symbol 'b', but full_support",
        lambda: function(lambda word: [0.5, 0.5, 0.0], full_support=True),
    ),
}


@broken(r"the word \(.*'c',?\) is undefined, but full_support says .*: set it to False")
def full_support_with_undefined_words() -> LanguageModel:
    def answer(batch: Batch) -> Rows:
        rest, columns = np.full(batch.count, 0.5), np.tile([0, 1], batch.count)
        offsets, values = 2 * np.arange(batch.count + 1), np.full(2 * batch.count, 0.25)
        undefined = np.array([2 in word for word in batch.words])
        return Rows.sparse(4, offsets, columns, values, rest=rest, undefined=undefined)

    model = answering(answer)
    model.full_support = True
    return model


# Answers that differ from one time to the next


@broken("when asked twice: an answer must not depend on chance .*dropout")
def dropout() -> LanguageModel:
    numbers = np.random.default_rng(1)

    def answer(word: tuple[Any, ...]) -> list[float]:
        noise = 0.01 * numbers.random()
        return [0.2, 0.3 + noise, 0.5 - noise]

    return function(answer)


@broken("in a batch of 7: an answer must not depend on the other words")
def batch_normalisation() -> LanguageModel:
    def answers(words: list[tuple[Any, ...]]) -> list[list[float]]:
        noise = 0.1 if len(words) == 7 else 0.0
        return [[0.2, 0.3 + noise, 0.5 - noise] for _ in words]

    return FunctionModel(answers, "ab")


@broken(r"gives the symbol 'a' probability 0.[23], but 0.[23] .*(another id|alone|batch of)")
def answers_in_the_order_of_length() -> LanguageModel:
    def answers(words: list[tuple[Any, ...]]) -> list[list[float]]:
        return [[0.1, 0.2, 0.7] if len(word) % 2 else [0.1, 0.3, 0.6] for word in sorted(words)]

    return FunctionModel(answers, "ab")


@broken("rows changed after answer returned them: return a copy")
def one_array_for_all_answers() -> LanguageModel:
    table = np.empty((1000, 4))

    def answer(batch: Batch) -> Rows:
        table[: batch.count] = [
            [0.1, 0.2, 0.3, 0.4] if len(word) % 2 else EVEN for word in batch.words
        ]
        return Rows.dense(table[: batch.count])

    return answering(answer)


@broken("answer changed the arrays of its batch: work on copies .*asked about")
def ids_are_overwritten() -> LanguageModel:
    def answer(self: OpenedKeeping, batch: Batch) -> Rows:
        rows = OpenedKeeping.answer(self, batch)
        batch.ids[:] = 0
        return rows

    return opened(answer=answer)


@broken("answer changed the arrays of its batch: work on copies")
def words_are_overwritten() -> LanguageModel:
    def answer(batch: Batch) -> Any:
        batch.words.symbols[:] = 0
        return [EVEN for _ in batch.words]

    return answering(answer)


@broken("answer raised KeyError: .*asked about the word|of a freshly opened model: what")
def parents_have_to_be_known() -> LanguageModel:
    def answer(self: OpenedKeeping, batch: Batch) -> Rows:
        if len(self.counts) < 9:  # in the first run, all but the long word go on from known ones
            self.counts.append(batch.count)
            self.lead(batch)
            return self.rows([self.states[word] for word in batch.wanted_ids.tolist()])
        return OpenedKeeping.answer(self, batch)

    return opened(answer=answer)


@broken("of a freshly opened model: what a model keeps is a cache only, .*batch.reaching")
def unknown_parents_are_the_empty_word() -> LanguageModel:
    def lead(self: OpenedKeeping, batch: Batch) -> None:
        for parent in batch.parents.tolist():
            self.states.setdefault(parent, TARGET.initial)
        OpenedKeeping.lead(self, batch)

    def answer(self: OpenedKeeping, batch: Batch) -> Rows:
        self.lead(batch)
        return self.rows([self.states[word] for word in batch.wanted_ids.tolist()])

    return opened(answer=answer, lead=lead)


@broken("when asked for alone: .* on what was asked before|in a batch of")
def states_get_lost() -> LanguageModel:
    def answer(self: OpenedKeeping, batch: Batch) -> Rows:
        rows = OpenedKeeping.answer(self, batch)
        if len(self.counts) > 12:  # after the first run
            self.states = dict.fromkeys(self.states, 2) | {0: TARGET.initial}
        return rows

    return opened(answer=answer)


@broken(r"under another id, with others on the way: ids are numbers of this run only")
def answers_by_id() -> LanguageModel:
    return answering(
        lambda batch: [[0.1, 0.2, 0.3, 0.4] if word % 2 else EVEN for word in batch.wanted_ids]
    )


@broken(r"under another id, with others on the way: .* rows belong to the wanted words")
def rows_of_the_first_words() -> LanguageModel:
    def answer(batch: Batch) -> Any:
        rows = [
            [0.1, 0.2, 0.3, 0.4] if len(batch.path(place)[0]) % 2 else EVEN
            for place in range(len(batch.ids))
        ]
        return rows[: batch.count]

    return answering(answer)


@broken("while another opened model is asked, or was closed: what changes belongs to what open")
def states_in_the_model_itself() -> LanguageModel:
    model = Keeping(TARGET)
    states = OpenedKeeping(model).states

    def open() -> LanguageModel:  # noqa: A001
        made = OpenedKeeping(model)
        made.states = states
        if not model.room:
            states.clear()
            states[0] = TARGET.initial
        return made

    model.open = open  # type: ignore[method-assign]
    return model


@broken("while another opened model is asked, or was closed")
def closing_one_closes_all() -> LanguageModel:
    def close(self: OpenedKeeping) -> None:
        self.closed = 1
        for other in self.owner.opened:
            if not other.closed:
                other.states = dict.fromkeys(other.states, 2)

    return opened(close=close)


@broken(r"the answer to the word .* is a row, but \"undefined\" (when|of|in|under|while)")
def words_are_undefined_at_times() -> LanguageModel:
    def answer(self: OpenedKeeping, batch: Batch) -> Rows:
        rows = OpenedKeeping.answer(self, batch)
        if len(self.owner.opened) > 1 and rows.undefined is not None:
            rows.undefined |= batch.words.lengths == 2
        return rows

    return opened(answer=answer)


@broken(r"calls the symbol 'c' (possible, but not|impossible, but possible) of a freshly opened")
def impossible_at_times() -> LanguageModel:
    def answer(self: OpenedKeeping, batch: Batch) -> Rows:
        rows = OpenedKeeping.answer(self, batch)
        if len(self.owner.opened) > 1:
            rows.impossible = np.zeros((batch.count, 3), dtype=bool)
            rows.impossible[:, 2] = rows.values[:, 3] == 0
        return rows

    return opened(answer=answer)


@broken(r"answer raised ValueError: too long .*asked about the word .*32 in all")
def long_words_fail() -> LanguageModel:
    def answer(word: tuple[Any, ...]) -> list[float]:
        if len(word) > 20:
            raise ValueError("too long")
        return [0.2, 0.3, 0.5]

    return function(answer)
