"""What was added is found and read again, to the last bit."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import Alphabet
from pdfalearn.errors import InputError, StoreError
from pdfalearn.rows import Rows
from pdfalearn.stores import AnswerStore
from pdfalearn.stores import answers as answers_module
from pdfalearn.stores._sqlite import APPLICATION
from pdfalearn.words import Words
from tests.stores.given import (
    ALPHABET,
    Batch,
    arrays_of,
    listed,
    new_path,
    read,
    some,
    spelled,
    stored,
)
from tests.strategies import distributions
from tests.support import examples

TINY = [0.0, -0.0, 5e-324, 2.2e-308]
"""What a zero of a distribution may be without anyone's noticing in its sum."""

words = st.lists(st.integers(0, 1), max_size=6).map(tuple)


@st.composite
def runs(draw: st.DrawFn) -> list[list[Batch]]:
    """What several runs add: different words, many of them with the same rows."""
    rows = draw(st.lists(distributions(3), min_size=1, max_size=3))
    palette = [[p or draw(st.sampled_from(TINY)) for p in row] for row in rows]
    answers = st.sampled_from([*palette, None])
    whole = draw(st.dictionaries(words, answers, max_size=20))
    made: list[list[Batch]] = []
    rest = list(whole.items())
    while rest:
        count = draw(st.integers(0, len(rest)))
        made.append([dict(rest[: count // 2]), dict(rest[count // 2 : count])])
        rest = rest[count:] if count else rest[1:]
    return made


@examples(50)
@given(runs(), st.integers(1, 600))
def test_what_was_added_is_read_in_its_order(given_runs: list[list[Batch]], most: int) -> None:
    with new_path() as path, pytest.MonkeyPatch.context() as patch:
        patch.setattr(answers_module, "_SHARED_BYTES", most)
        patch.setattr(answers_module, "_READ_BYTES", most)
        stored(path, *given_runs)
        batches = [batch for run in given_runs for batch in run]
        if any(batches):
            assert read(path) == listed(*batches)
            with AnswerStore(path) as store:
                assert store.verify().answers == sum(map(len, batches)) == store.models()[0].answers


@examples(50)
@given(runs(), st.lists(words, max_size=30), st.integers(1, 5))
def test_words_are_found(
    given_runs: list[list[Batch]], sought: list[tuple[int, ...]], at_once: int
) -> None:
    with new_path() as path, pytest.MonkeyPatch.context() as patch:
        patch.setattr(answers_module, "_AT_ONCE", at_once)
        stored(path, *given_runs)
        known = {word: row for run in given_runs for batch in run for word, row in batch.items()}
        with AnswerStore(path) as store:
            answers = store.answers("model", ALPHABET)
            places, rows = answers.find(Words.of(sought))
            assert places.tolist() == [i for i, word in enumerate(sought) if word in known]
            check_rows(rows, [known[sought[place]] for place in places])
            assert len(answers) == len(known)


def check_rows(rows: Rows, expected: list[object]) -> None:
    assert len(rows) == len(expected)
    undefined = np.zeros(len(rows), bool) if rows.undefined is None else rows.undefined
    assert undefined.tolist() == [row is None for row in expected]
    for row, values in zip(expected, rows.to_dense(), strict=True):
        assert row is None or repr(values.tolist()) == repr(row)


@pytest.mark.parametrize("symbols", [1, 256, 257, 65_536, 65_537])
def test_alphabets_of_any_size(symbols: int, tmp_path: Path) -> None:
    given_words = Words.of([(0, symbols - 1, symbols // 2), (), (symbols - 1,)])
    rows = Rows.sparse(symbols + 1, [0, 1, 2, 4], [0, 0, 0, symbols], [1, 1, 0.25, 0.75])
    with AnswerStore(tmp_path / "answers.db") as store:
        store.answers("model", Alphabet(range(symbols))).add(given_words, rows)
    with AnswerStore(tmp_path / "answers.db") as store:
        [(found_words, found)] = store.answers("model").batches()
        assert list(found_words) == list(given_words)
        check_same(found, rows)
        places, found = store.answers("model").find(given_words)
        assert places.tolist() == [0, 1, 2]
        check_same(found, rows)


def check_same(found: Rows, rows: Rows) -> None:
    """Compare rows of one form bit for bit, with all that is beside them."""
    assert (found.is_sparse, found.width, len(found)) == (rows.is_sparse, rows.width, len(rows))
    for name in ("values", "columns", "offsets", "undefined", "outside", "rests", "ceilings"):
        one, other = getattr(found, name), getattr(rows, name)
        assert (one is None) == (other is None), name
        assert one is None or one.tobytes() == other.astype(one.dtype).tobytes(), name


@st.composite
def any_rows(draw: st.DrawFn) -> Rows:
    """Dense or sparse rows, some with mass outside of the alphabet, open, or undefined."""
    count = draw(st.integers(1, 5))
    shares = st.sampled_from([0.0, 0.25, 1e-300, np.nan])
    outside = (
        draw(st.lists(shares, min_size=count, max_size=count)) if draw(st.booleans()) else None
    )
    beside = None if outside is None else np.array(outside)
    if draw(st.booleans()):
        table = draw(st.lists(distributions(9), min_size=count, max_size=count))
        return Rows.dense(np.array(table), outside=beside)
    offsets, columns, values, rests = [0], list[int](), list[float](), list[float]()
    for _ in range(count):
        others = sorted(draw(st.sets(st.integers(1, 8), max_size=6)))
        weights = draw(st.lists(st.integers(1, 9), min_size=8, max_size=8))[: len(others) + 1]
        rest = draw(st.integers(0, 9)) if len(others) < 8 else 0
        columns += [0, *others]
        values += [weight / (sum(weights) + rest) for weight in weights]
        rests.append(rest / (sum(weights) + rest))
        offsets.append(len(columns))
    # Two columns that are not listed can share what is left.
    lengths = np.diff(offsets)
    ceiling = np.where(lengths == 7, 0.9, 1.0) * np.array(rests)
    return Rows.sparse(
        9, offsets, columns, values, rest=rests if any(rests) else None,
        ceiling=ceiling if any(rests) else None, outside=beside,
    )  # fmt: skip


@examples(100)
@given(any_rows())
def test_rows_of_every_form_come_back_as_they_were(rows: Rows) -> None:
    given_words = Words.of([(1,) * length for length in range(len(rows))])
    with new_path() as path:
        with AnswerStore(path) as store:
            store.answers("model", Alphabet("abcdefgh")).add(given_words, rows)
        with AnswerStore(path) as store:
            places, found = store.answers("model").find(given_words)
            assert places.tolist() == list(range(len(rows)))
            check_same(found, rows)
            assert store.verify().answers == len(rows)


def test_dense_and_sparse_rows_of_one_model(tmp_path: Path) -> None:
    dense = np.array([[0.5, -0.0, 0.5, 0.0], [np.nan] * 4])
    sparse = Rows.sparse(4, [0, 2], [0, 3], [0.25, 0.5], rest=[0.25], outside=np.array([0.125]))
    with AnswerStore(tmp_path / "answers.db") as store:
        answers = store.answers("model", Alphabet("abc"))
        answers.add(Words.of([(), (1,)]), Rows.dense(dense, undefined=np.array([False, True])))
        answers.add(Words.of([(2,)]), sparse)
        places, found = answers.find(Words.of([(2,), (1,), (0,), ()]))
        assert places.tolist() == [0, 1, 3]
        assert found.is_sparse
        assert found.undefined is not None
        assert found.undefined.tolist() == [False, True, False]
        assert repr(found.to_dense()[[0, 2]].tolist()) == repr(
            [[0.25, 0.125, 0.125, 0.5], [0.5, -0.0, 0.5, 0.0]]
        )
        assert found.outside is not None
        assert found.outside[[0, 2]].tolist() == [0.125, 0.0]


def test_undefined_words_alone_take_no_memory(tmp_path: Path) -> None:
    alphabet, symbols = Alphabet(range(10**6)), 10**6
    given_words = Words.of([(word,) for word in range(1000)])
    nothing = Rows.sparse(symbols + 1, np.arange(1001), [0] * 1000, [1] * 1000)
    nothing.undefined = np.ones(1000, dtype=bool)
    with AnswerStore(tmp_path / "answers.db") as store:
        answers = store.answers("model", alphabet)
        answers.add(given_words, nothing)
        places, rows = answers.find(given_words)
    assert len(places) == 1000
    assert rows.undefined is not None
    assert rows.undefined.all()


def test_equal_rows_are_stored_once(tmp_path: Path) -> None:
    row = [0.5, 0.25, 0.25]
    batches = [{(0,) * i: row for i in range(k, k + 100)} for k in (0, 100)]
    path = stored(tmp_path / "answers.db", batches)
    with sqlite3.connect(path) as connection:
        query = "SELECT count(*) FROM answers WHERE typeof(row) = 'blob'"
        assert connection.execute(query).fetchone() == (1,)
    connection.close()
    assert read(path) == listed(*batches)


def test_zeros_of_two_signs_are_different_rows(tmp_path: Path) -> None:
    batch: Batch = {(0,): [0.5, 0.5, -0.0], (1,): [0.5, 0.5, 0.0]}
    path = stored(tmp_path / "answers.db", [batch])
    assert read(path) == listed(batch)


def test_a_sample_has_defined_words_alone(tmp_path: Path) -> None:
    batches = some(1, count=30)
    known = dict(item for batch in batches for item in batch.items())
    with AnswerStore(stored(tmp_path / "answers.db", batches)) as store:
        answers = store.answers("model")
        for count, seed in ((0, 0), (4, 0), (4, 1), (1000, 0)):
            sample, rows = answers.sample(count, seed)
            found = [tuple(word) for word in sample]
            assert len(set(found)) == len(found) == min(count, sum(map(bool, known.values())))
            check_rows(rows, [known[word] for word in found])
            again, _ = answers.sample(count, seed)
            assert list(again) == list(sample)
        assert list(answers.sample(4, 0)[0]) != list(answers.sample(4, 1)[0])
        assert len(store.answers("new", ALPHABET).sample(4, 0)[0]) == 0


def test_models_are_never_mixed(tmp_path: Path) -> None:
    path = stored(tmp_path / "answers.db", some(1), key="one")
    stored(path, some(1, count=1), some(2), some(3), key="two")
    stored(path, some(4), key="one")
    assert read(path, "one") == listed(*some(1), *some(4))
    assert read(path, "two") == listed(*some(1, count=1), *some(2), *some(3))
    with pytest.raises(StoreError, match="there is no model 'three' in it"):
        read(path, "three")


def test_models_are_described(tmp_path: Path) -> None:
    before = datetime.now(UTC).isoformat(timespec="seconds")
    path = stored(tmp_path / "answers.db", some(1), some(2, count=3))
    with AnswerStore(path) as store:
        answers = store.answers("other", Alphabet(["up", 7], terminal="end"))
        answers.add(*arrays_of({(): [1, 0, 0], (0,): None}))
        first, second = store.models()
    assert (first.key, first.alphabet, first.answers) == ("model", ALPHABET, 14)
    defined = sum(row is not None for batch in [*some(1), *some(2, 3)] for row in batch.values())
    lengths = sum(len(word) for batch in [*some(1), *some(2, 3)] for word in batch)
    assert first.bytes == lengths + 25 * defined
    assert before <= first.first <= first.last <= datetime.now(UTC).isoformat(timespec="seconds")
    assert (second.key, second.alphabet) == ("other", Alphabet(["up", 7], terminal="end"))
    assert second.answers == 2


def test_nothing_is_written_before_the_first_answers(tmp_path: Path) -> None:
    with AnswerStore(tmp_path / "answers.db") as store:
        answers = store.answers("model", ALPHABET)
        answers.add(*arrays_of({}))
        assert store.models() == []
        assert len(answers) == 0
        assert list(answers) == []
        places, rows = answers.find(Words.of([(), (1,)]))
        assert (len(places), len(rows), rows.width) == (0, 0, 3)
        answers.add(*arrays_of(some(1)[0]))
        assert [model.answers for model in store.models()] == [2]


def test_several_stores_take_turns(tmp_path: Path) -> None:
    with AnswerStore(tmp_path / "answers.db") as store, AnswerStore(store.path) as other:
        both = [store.answers("model", ALPHABET), other.answers("model", ALPHABET)]
        both.append(store.answers("model", ALPHABET))
        for batches in zip(some(1), some(2), some(3), strict=True):
            for answers, batch in zip(both, batches, strict=True):
                answers.add(*arrays_of(batch))
                for reader in both:
                    assert len(reader.find(Words.of(batch))[0]) == 2
        assert store.verify().answers == 24 == len(both[1])


def test_a_store_is_one_sqlite_file(tmp_path: Path) -> None:
    path = stored(tmp_path / "answers.db", some(1))
    assert list(tmp_path.iterdir()) == [path]
    with AnswerStore(path, read_only=True) as store:
        assert store.verify() == (1, 8)
    assert list(tmp_path.iterdir()) == [path]
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION,)
    assert connection.execute("PRAGMA user_version").fetchone() == (1,)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_names_of_files_may_be_strange(tmp_path: Path) -> None:
    for name in ("a b?mode=memory#%41.db", "ä.db", "'\".db", os.fsdecode(b"\xff.db")):
        path = stored(tmp_path / name, some(1))
        assert path.exists()
        assert read(path) == listed(*some(1))


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    link = tmp_path / "link.db"
    link.symlink_to("folder/answers.db")
    assert read(stored(link, some(1))) == listed(*some(1))
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["answers.db"]


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / "answers.db").touch()
    assert read(stored(tmp_path / "answers.db", some(1))) == listed(*some(1))


def test_another_alphabet_is_refused(tmp_path: Path) -> None:
    path = stored(tmp_path / "answers.db", some(1))
    with AnswerStore(path) as store:
        for alphabet in (Alphabet("ba"), Alphabet("ab", terminal="."), Alphabet("abc")):
            with pytest.raises(StoreError, match=r"'model' is there with .* a key of its own"):
                store.answers("model", alphabet)
        both = [store.answers("new", Alphabet("a")), store.answers("new", Alphabet("b"))]
        batch = arrays_of({(): [0.5, 0.5]}, symbols=1)
        both[0].add(*batch)
        with pytest.raises(StoreError, match="'new' is there with"):
            both[1].add(*batch)
        assert [model.key for model in store.models()] == ["model", "new"]


@pytest.mark.parametrize("key", ["", "two\nlines", "\ud800", "nul\0", 7, None])
def test_bad_keys(key: str, tmp_path: Path) -> None:
    with AnswerStore(tmp_path / "answers.db") as store:
        for alphabet in (ALPHABET, None):
            with pytest.raises(InputError, match="not a line of text"):
                store.answers(key, alphabet)


def test_symbols_that_files_cannot_hold(tmp_path: Path) -> None:
    message = r"\('a', 'tuple'\) cannot be in a file"
    with AnswerStore(tmp_path / "a.db") as store, pytest.raises(InputError, match=message):
        store.answers("model", Alphabet([("a", "tuple")]))


DENSE = np.array([[0.5, 0.25, 0.25], [1.0, 0.0, 0.0]])


@pytest.mark.parametrize(
    ("given_words", "rows", "message"),
    [
        ([(0,)], Rows.dense(DENSE), "1 words, but 2 rows"),
        ([(0,), (2,)], Rows.dense(DENSE), "symbols that are not from 0 to 1"),
        ([(0,), (-1,)], Rows.dense(DENSE), "symbols that are not from 0 to 1"),
        ([(0,), (1,)], Rows.dense(DENSE[:, :2]), r"shape \(2, 2\), not \(words, 3\)"),
        ([(0,), (1,)], Rows(3, DENSE[:, 0]), r"shape \(2,\), not"),
        ([(), (1,)], Rows.dense(DENSE * [[1], [1.1]]), r"word \('b',\): the row \[1\.1.* sums to"),
        ([(), (1,)], Rows.dense(DENSE * [[np.nan], [1]]), r"word \(\): the row .* has NaN"),
        ([(), (1,)], Rows.dense(DENSE - [[1, -1, 0], [0, 0, 0]]), r"word \(\): .* negative"),
        ([(), (1,)], Rows.dense(DENSE * [[np.inf], [1]]), r"word \(\): "),
        ([(1,)], Rows.sparse(3, [0, 1], [1], [1.0]), "does not list the terminal"),
        ([(1,)], Rows.sparse(3, [0, 2], [0, 3], [0.5, 0.5]), "column beyond"),
        ([(1,)], Rows.sparse(3, [0, 3], [0, 2, 2], [0.5, 0.25, 0.25]), "not ascending"),
        ([(1,)], Rows.sparse(3, [0, 2], [0, 2], [0.5, 0.25]), "does not sum to 1"),
        ([(1,)], Rows.sparse(3, [0, 2], [0, 2], [np.nan, 0.25]), "NaN"),
        ([(1,)], Rows.sparse(2, [0, 1], [0], [1.0]), "shape"),
    ],
)
def test_bad_batches_are_refused_and_leave_nothing(
    given_words: list[tuple[int, ...]], rows: Rows, message: str, tmp_path: Path
) -> None:
    first, second = some(1, count=2)
    with AnswerStore(tmp_path / "answers.db") as store:
        answers = store.answers("model", ALPHABET)
        answers.add(*arrays_of(first))
        with pytest.raises(InputError, match=message):
            answers.add(Words.of(given_words), rows)
        answers.add(*arrays_of(second))
    assert read(store.path) == listed(first, second)


def test_a_row_of_an_undefined_word_may_hold_anything(tmp_path: Path) -> None:
    with AnswerStore(tmp_path / "answers.db") as store:
        rows = Rows.dense(DENSE * [[np.inf], [1]], undefined=np.array([True, False]))
        store.answers("model", ALPHABET).add(Words.of([(0,), (1,)]), rows)
    assert read(store.path) == listed({(0,): None, (1,): [1.0, 0.0, 0.0]})


@pytest.mark.parametrize("is_new", [True, False])
def test_the_same_answer_again_is_ignored(is_new: bool, tmp_path: Path) -> None:
    old = spelled({"": (0.5, 0.5, -0.0), "ab": None})
    again = spelled({"b": (1.0, 0.0, 0.0), "": (0.5005, 0.4995, 0.0), "ab": None})
    with AnswerStore(tmp_path / "answers.db") as store:
        answers = store.answers("model", ALPHABET)
        answers.add(*arrays_of(old))
        if is_new:
            answers = store.answers("model", ALPHABET)
        answers.add(*arrays_of(again))
        answers.add(*arrays_of(again))
        assert store.verify().answers == 3
    assert read(store.path) == listed(old, spelled({"b": (1.0, 0.0, 0.0)}))


@pytest.mark.parametrize(
    ("one", "two"),
    [((0.5, 0.5, 0.0), (0.5, 0.498, 0.002)), ((0.5, 0.5, 0.0), None), (None, (1.0, 0.0, 0.0))],
)
def test_two_answers_to_one_word_are_refused(
    one: tuple[float, ...] | None, two: tuple[float, ...] | None, tmp_path: Path
) -> None:
    path = stored(tmp_path / "answers.db", [spelled({"": one, "ab": one})])
    before = read(path)
    message = r"'model' has given two different answers to the word \('a', 'b'\): .* model_id"
    with AnswerStore(path) as store:
        answers = store.answers("model", ALPHABET)
        with pytest.raises(StoreError, match=message):
            answers.add(*arrays_of(spelled({"": one, "b": two, "ab": two})))
        assert read(path) == before, "nothing of that batch is stored"
        answers.add(*arrays_of(spelled({"b": two})))
    assert read(path) == [*before, *listed(spelled({"b": two}))]


def test_a_word_twice_in_a_batch(tmp_path: Path) -> None:
    given_words = Words.of([(0,), (1,), (0,)])
    rows = Rows.dense(np.array([[0.5, 0.25, 0.25], [1.0, 0.0, 0.0], [0.5, 0.25, 0.25]]))
    with AnswerStore(tmp_path / "answers.db") as store:
        answers = store.answers("model", ALPHABET)
        answers.add(given_words, rows)
        assert len(answers) == 2
        other = store.answers("other", ALPHABET)
        with pytest.raises(StoreError, match=r"two different answers to the word \('a',\)"):
            other.add(given_words, rows.take(np.array([0, 0, 1])))
        assert [model.key for model in store.models()] == ["model"]


def test_sparse_rows_that_leave_open_whether_they_differ_are_the_same(tmp_path: Path) -> None:
    with AnswerStore(tmp_path / "answers.db") as store:
        answers = store.answers("model", Alphabet("abc"))
        open_row = Rows.sparse(4, [0, 1], [0], [0.5], rest=[0.5])
        other = Rows.sparse(4, [0, 2], [0, 1], [0.5, 0.25], rest=[0.25])
        answers.add(Words.of([(0,), (1,)]), Rows.join([open_row, open_row]))
        answers.add(Words.of([(0,), (1,)]), Rows.join([other, other]))
        wrong = Rows.sparse(4, [0, 2], [0, 1], [0.25, 0.5], rest=[0.25])
        with pytest.raises(StoreError, match=r"the word \('b',\)"):
            answers.add(Words.of([(0,), (1,)]), Rows.join([other, wrong]))


class Interrupting(dict[bytes, int]):
    """Numbers of words that are interrupted when they are filled."""

    def update(self, *_: object) -> None:
        raise KeyboardInterrupt


def test_an_interrupt_right_after_a_commit_loses_nothing(tmp_path: Path) -> None:
    """The answers do not know then that they are stored."""
    first, second = some(1, count=2)
    with AnswerStore(tmp_path / "answers.db") as store:
        answers = store.answers("model", ALPHABET)
        answers._numbers = Interrupting()
        with pytest.raises(KeyboardInterrupt):
            answers.add(*arrays_of(first))
        answers._numbers = {}
        assert len(answers.find(Words.of(first))[0]) == 2
        answers.add(*arrays_of(first))
        answers.add(*arrays_of(second))
        assert store.verify().answers == 4
    assert read(store.path) == listed(first, second)


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path / "answers.db")
    answers = store.answers("model", ALPHABET)
    store.close()
    store.close()
    batch = arrays_of(some(1)[0])
    uses: list[Callable[[], object]] = [
        store.models,
        store.verify,
        lambda: answers.add(*batch),
        lambda: answers.find(batch[0]),
        lambda: next(iter(answers)),
    ]
    for use in uses:
        with pytest.raises(InputError, match=r"answers\.db: the store is closed"):
            use()


def test_a_store_to_be_read_only_refuses_to_write(tmp_path: Path) -> None:
    path = stored(tmp_path / "answers.db", some(1))
    batch = arrays_of(some(2)[0])
    with AnswerStore(path, read_only=True) as store:
        answers = store.answers("model", ALPHABET)
        assert len(answers) == 8
        writes: list[Callable[[], None]] = [lambda: answers.add(*batch)]
        for write in writes:
            with pytest.raises(InputError, match="opened to be read only"):
                write()


@pytest.mark.parametrize("path", [7, b"answers.db", "nul\0"])
def test_what_is_no_path(path: str) -> None:
    with pytest.raises(InputError, match="is not a path"):
        AnswerStore(path)


def test_opening_a_model_reads_no_answers_of_others(tmp_path: Path) -> None:
    path = tmp_path / "answers.db"
    with AnswerStore(path) as store:
        for key in ("first", "second", "first"):
            store.answers(key, ALPHABET).add(*arrays_of(some(2)[key == "second"]))
    connection = sqlite3.connect(path)
    for query, given_numbers in (
        (answers_module._READ_WORDS, (0, 1)),
        (answers_module._READ_NEXT, (0, 1, 1)),
    ):
        plan = connection.execute(f"EXPLAIN QUERY PLAN {query}", given_numbers).fetchall()
        assert "(rowid>? AND rowid<?)" in plan[0][-1]
    numbers = [number for (number,) in connection.execute("SELECT id FROM answers")]
    connection.close()
    with AnswerStore(path) as store:
        counts = [len(store.answers(key)) for key in ("first", "second")]
        assert [model.answers for model in store.models()] == counts
        assert store.verify().answers == sum(counts)
    assert numbers == [*range(1, counts[0] + 1), *range(2**32 + 1, 2**32 + counts[1] + 1)]


def test_a_model_whose_first_answers_were_refused_has_none(tmp_path: Path) -> None:
    with AnswerStore(tmp_path / "answers.db") as store:
        for key in ("first", "second"):
            store.answers(key, ALPHABET).add(*arrays_of(some(1)[0]))
        refused = store.answers("third", ALPHABET)
        different = Rows.dense(np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]]))
        with pytest.raises(StoreError, match="two different answers"):
            refused.add(Words.of([(), ()]), different)
        assert list(refused) == []
        store.answers("fourth", ALPHABET).add(*arrays_of(some(1)[0]))
        refused.add(*arrays_of(some(2)[1]))
        assert len(list(refused)) == len(refused) == len(some(2)[1])
        assert store.verify().models == 4
