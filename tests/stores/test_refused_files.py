"""Files that are not stores, and stores that cannot be used: clear errors, and nothing is lost."""

from __future__ import annotations

import gc
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from pdfalearn.errors import DamagedStoreError, StoreError
from pdfalearn.stores import AnswerStore, _sqlite
from pdfalearn.stores.answers import ModelAnswers
from pdfalearn.words import Words
from tests.stores.given import ALPHABET, Batch, arrays_of, listed, read, some, stored
from tests.support import mostly_slow, without_privileges


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return stored(tmp_path / "answers.db", some(1))


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everyone may enter and write to."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        yield Path(folder)
        Path(folder).chmod(0o777)


def fails_to_open(path: Path, message: str, *, read_only: bool) -> None:
    with pytest.raises(StoreError, match=message) as caught:
        AnswerStore(path, read_only=read_only)
    assert str(caught.value).startswith(f"{path}: ")
    assert "; " in str(caught.value), "no remedy"


def verified(path: Path, *, read_only: bool) -> int:
    with AnswerStore(path, read_only=read_only) as store:
        return store.verify().answers


BOTH_WAYS = pytest.mark.parametrize("read_only", [True, False])


@BOTH_WAYS
@pytest.mark.parametrize("content", [b"hello\n", b"{}" * 5000, b"SQLite format 3\0", b"\0" * 4096])
def test_other_files_are_refused_and_left_alone(
    content: bytes, read_only: bool, tmp_path: Path
) -> None:
    path = tmp_path / "other.db"
    path.write_bytes(content)
    fails_to_open(path, "not a store of answers; name another", read_only=read_only)
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


@BOTH_WAYS
@pytest.mark.parametrize(
    "script", ["CREATE TABLE t (x)", "PRAGMA application_id = 7", "PRAGMA user_version = 1"]
)
def test_files_of_other_applications(script: str, read_only: bool, tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute(script)
    connection.close()
    content = path.read_bytes()
    fails_to_open(path, "of something else; name another", read_only=read_only)
    assert path.read_bytes() == content


@BOTH_WAYS
def test_newer_formats(read_only: bool, path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    fails_to_open(path, "format 2 is newer than 1.*upgrade pdfalearn", read_only=read_only)


@BOTH_WAYS
@pytest.mark.parametrize("version", [0, -1])
def test_formats_that_there_never_were(version: int, read_only: bool, path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    fails_to_open(path, f"damaged.*format {version} does not exist", read_only=read_only)


@BOTH_WAYS
@pytest.mark.parametrize("share", [0.01, 0.5, 0.9])
def test_files_that_are_cut_off(share: float, read_only: bool, path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(DamagedStoreError, match=r"damaged or cut off.*restore it from a copy"):
        verified(path, read_only=read_only)


def test_files_that_are_missing(tmp_path: Path) -> None:
    fails_to_open(tmp_path / "none.db", "no such file; name a store", read_only=True)
    fails_to_open(tmp_path / "nowhere" / "new.db", "no such folder; make it", read_only=False)
    assert not list(tmp_path.iterdir())


def test_an_empty_file_has_nothing_to_read(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    fails_to_open(tmp_path / "empty.db", "empty, nothing was ever stored", read_only=True)


@BOTH_WAYS
def test_what_is_no_file(read_only: bool, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.db")
    for path in (tmp_path, tmp_path / "pipe.db", Path("/dev/null")):
        fails_to_open(path, "not a regular file; name another", read_only=read_only)


def test_a_lock_that_lasts_too_long(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sqlite, "BUSY_SECONDS", 0.1)
    with AnswerStore(path) as store:
        answers = store.answers("model", ALPHABET)
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        fails_to_open(path, "another process uses it.*wait", read_only=False)
        [first] = some(2, count=1)
        with pytest.raises(StoreError, match="another process uses it"):
            answers.add(*arrays_of(first))
        assert read(path) == listed(*some(1)), "reading does not wait for a writer"
        other.execute("ROLLBACK")
        other.close()
        answers.add(*arrays_of(first))
    assert read(path) == listed(*some(1), first)


def test_a_file_that_may_not_be_written(open_folder: Path) -> None:
    path = stored(open_folder / "answers.db", some(1))
    path.chmod(0o444)
    with without_privileges():
        fails_to_open(path, "may not be written to; check the permissions", read_only=False)
        assert read(path) == listed(*some(1))


def test_a_full_disk_keeps_what_was_written(path: Path) -> None:
    batches = some(2, count=400)
    with AnswerStore(path) as store:
        with store._file.reading() as connection:
            (pages,) = connection.execute("PRAGMA page_count").fetchone()
            connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        answers = store.answers("model", ALPHABET)
        rest = iter(batches)
        with pytest.raises(StoreError, match=r"answers\.db: the disk is full; make room") as caught:
            add_all(answers, rest)
        written = 400 - len(list(rest)) - 1
        cause = caught.value.__cause__
        assert isinstance(cause, sqlite3.Error)
        assert cause.sqlite_errorname == "SQLITE_FULL"
        assert 0 < written < 400
        assert read(path) == listed(*some(1), *batches[:written])
        with store._file.reading() as connection:
            connection.execute("PRAGMA max_page_count = 1000000")
        add_all(answers, batches[written:])
        assert store.verify().answers == 808
    assert read(path) == listed(*some(1), *batches)


def add_all(answers: ModelAnswers, batches: Iterable[Batch]) -> None:
    for batch in batches:
        answers.add(*arrays_of(batch))


LIMITED = """
import resource, sys
from pdfalearn.errors import StoreError
from pdfalearn.stores import AnswerStore
from tests.stores.given import ALPHABET, arrays_of, endless_batches

resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
store = AnswerStore(sys.argv[1])
answers = store.answers("limited", ALPHABET)
for place, batch in enumerate(endless_batches(3)):
    try:
        answers.add(*arrays_of(batch))
    except StoreError as error:
        print(place, error, sep=": ")
        break
"""


@pytest.mark.slow
def test_a_system_that_refuses_to_write_more(path: Path) -> None:
    command = [sys.executable, "-c", LIMITED, str(path)]
    done = subprocess.run(
        command, cwd=Path(__file__).parents[2], capture_output=True, encoding="utf-8", check=True
    )
    written, message = done.stdout.split(": ", maxsplit=1)
    assert message.startswith(f"{path}: the disk")
    assert read(path, "limited") == listed(*some(3, count=int(written)))
    with AnswerStore(path, read_only=True) as store:
        assert store.verify() == (2, 8 + 2 * int(written))


@pytest.mark.parametrize(
    "script",
    [
        "DROP TABLE answers",
        "DELETE FROM models",
        "UPDATE models SET alphabet = '[]'",
        "UPDATE models SET alphabet = '{'",
        """UPDATE models SET alphabet = '{"symbols": ["a", "a"], "terminal": "$"}'""",
        """UPDATE models SET alphabet = '{"symbols": ["b", "a"], "terminal": "$"}'""",
        "UPDATE models SET key = 'another'",
        "UPDATE models SET id = 2",
        "UPDATE models SET id = 1 << 62",
        "UPDATE answers SET row = CAST(x'00' || row AS BLOB)",
        "UPDATE answers SET row = x'00' || row",
        "UPDATE answers SET row = NULL WHERE id = 3",
        "UPDATE answers SET row = 1 WHERE id = 3",
        "UPDATE answers SET row = 99 WHERE id = 3",
        "UPDATE answers SET row = 3 WHERE id = 3",
        "UPDATE answers SET row = 'text' WHERE id = 3",
        "UPDATE answers SET word = 'text' WHERE id = 3",
        "UPDATE answers SET word = (SELECT word FROM answers WHERE id = 1) WHERE id = 3",
        "UPDATE answers SET time = 7 WHERE id = 3",
        "UPDATE answers SET checksum = checksum + 1",
        "UPDATE answers SET id = id + (5 << 32)",
        "UPDATE answers SET id = 99 WHERE id = 3",
        "DELETE FROM answers WHERE id = 1",
        "PRAGMA user_version = -1",
    ],
)
def test_meddling_is_noticed(script: str, path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute(script)
    connection.commit()
    connection.close()
    with pytest.raises(DamagedStoreError, match="damaged or cut off"):
        verified(path, read_only=True)


FOREIGN = {
    "CREATE TRIGGER evil AFTER INSERT ON answers BEGIN DELETE FROM models; END": "trigger 'evil'",
    "CREATE VIEW evil AS SELECT * FROM models": "view 'evil'",
    "CREATE TABLE evil (x)": "table 'evil'",
    "CREATE INDEX evil ON models (alphabet)": "index 'evil'",
    "ANALYZE": "table 'sqlite_stat1'",
    "ALTER TABLE models ADD COLUMN evil TEXT": "table 'models' is not that",
    "ALTER TABLE models ADD COLUMN evil GENERATED ALWAYS AS (abs(id))": "table 'models' is not",
    "ALTER TABLE models RENAME COLUMN alphabet TO letters": "table 'models' is not that",
    "ALTER TABLE models RENAME TO moulds": "table 'moulds' is not that",
    "DROP TABLE answers": "table 'answers' is missing",
    "DROP TABLE models; CREATE VIEW models AS SELECT 1 AS id, 'a' AS key": "view 'models'",
    "DROP TABLE models; CREATE TABLE models (id, key, alphabet)": "table 'models' is not",
    'DROP TABLE answers; CREATE TABLE "a\x1b" (x)': r"table 'a\\x1b'",
}


@BOTH_WAYS
@pytest.mark.parametrize("script", mostly_slow(FOREIGN, 4))
def test_other_schemas_are_refused_and_left_alone(script: str, read_only: bool, path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.close()
    content = path.read_bytes()
    fails_to_open(path, f"({FOREIGN[script]}).*; restore it from a copy", read_only=read_only)
    assert path.read_bytes() == content


@BOTH_WAYS
def test_the_schema_is_not_trusted(read_only: bool, path: Path) -> None:
    with AnswerStore(path, read_only=read_only) as store, store._file.reading() as connection:
        assert connection.execute("PRAGMA trusted_schema").fetchone() == (0,)


def test_the_layout_of_the_schema_does_not_matter(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("UPDATE sqlite_master SET sql = replace(sql, '        ', '  ')")
    connection.commit()
    connection.close()
    assert verified(path, read_only=True) == 8


def test_a_damaged_answer_is_named(path: Path) -> None:
    stored(path, some(2), some(3))
    connection = sqlite3.connect(path)
    connection.execute(
        "UPDATE answers SET row = CAST(substr(row, 1, 24) || x'00' AS BLOB) WHERE id = 11"
    )
    connection.commit()
    connection.close()
    named = r"model 'model', answer 11: its checksum is wrong; restore"
    damaged = Words.of(some(2)[1])
    uses: list[Callable[[AnswerStore], object]] = [
        lambda store: list(store.answers("model")),
        lambda store: store.answers("model").find(damaged),
        lambda store: store.answers("model").sample(1000, 0),
        lambda store: store.answers("model").add(*arrays_of(some(2)[1])),
        lambda store: store.verify(),
    ]
    for use in uses:
        with AnswerStore(path) as store, pytest.raises(DamagedStoreError, match=named):
            use(store)
    with AnswerStore(path) as store:
        whole = Words.of([word for batch in some(3) for word in batch])
        assert len(store.answers("model").find(whole)[0]) == 8


def test_an_answer_that_is_gone_is_named(path: Path) -> None:
    words, _ = arrays_of(some(1)[1])
    with AnswerStore(path) as store:
        answers = store.answers("model")
        assert len(answers) == 8
        connection = sqlite3.connect(path)
        connection.execute("DELETE FROM answers WHERE id = 3")
        connection.commit()
        connection.close()
        with pytest.raises(DamagedStoreError, match="'model', answer 3: it is missing"):
            answers.find(words)


@pytest.mark.slow
def test_connections_are_closed_whatever_happens(path: Path, tmp_path: Path) -> None:
    def descriptors() -> set[str]:
        names = set()
        for link in Path("/proc/self/fd").iterdir():
            with suppress(FileNotFoundError):  # of another thread, and closed by now
                names.add(str(link.readlink()))
        return names

    other = tmp_path / "other.db"
    other.write_bytes(b"hello\n")
    with AnswerStore(path) as store:
        assert any(name.startswith(str(path)) for name in descriptors())
        next(iter(store.answers("model")))
        next(store.answers("model").batches())
    for bad in (other, tmp_path / "none.db"):
        fails_to_open(bad, "store", read_only=True)
    gc.collect()
    assert not any(name.startswith(str(tmp_path)) for name in descriptors())
