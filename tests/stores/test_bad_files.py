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

from pdfalearn import AnswerStore, DamagedStoreError, StoreError
from pdfalearn.stores import _connection
from pdfalearn.stores._connection import opened_alone
from pdfalearn.stores.writer import Writer
from tests.stores.parts import ALPHABET, Part, assert_same, read, some, stored
from tests.stores.writing import Writing
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
        return store.verify().batches


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
    connection.execute("PRAGMA user_version = 3")
    connection.close()
    fails_to_open(path, "format 3 is newer than 2.*upgrade pdfalearn", read_only=read_only)


@BOTH_WAYS
def test_older_formats(read_only: bool, path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 1")
    connection.close()
    fails_to_open(path, "format 1 is that of an older pdfalearn.*another", read_only=read_only)


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
    monkeypatch.setattr(_connection, "BUSY_SECONDS", 0.1)
    with AnswerStore(path) as store:
        writer = store.writer("model", ALPHABET)
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        fails_to_open(path, "another process uses it.*wait", read_only=False)
        [first] = some(2, count=1)
        with pytest.raises(StoreError, match="another process uses it"):
            writer.append(*first)
        assert len(read(path)) == 1, "reading does not wait for a writer"
        other.execute("ROLLBACK")
        other.close()
        writer.append(*first)
    assert_same(read(path)[1], [first])


def test_a_file_that_may_not_be_written(open_folder: Path) -> None:
    path = stored(open_folder / "answers.db", some(1))
    path.chmod(0o444)
    with without_privileges():
        fails_to_open(path, "may not be written to; check the permissions", read_only=False)
        assert_same(read(path)[0], some(1))


def test_a_folder_that_may_not_be_written(open_folder: Path) -> None:
    path = stored(open_folder / "answers.db", some(1))
    path.chmod(0o666)
    open_folder.chmod(0o555)
    with without_privileges():
        fails_to_open(path, "may not be written to; check the permissions", read_only=False)
        fails_to_open(open_folder / "new.db", "cannot be opened; check the perm", read_only=False)
        assert_same(read(path)[0], some(1))
        assert verified(path, read_only=True) == 4
    assert list(open_folder.iterdir()) == [path]


@pytest.mark.slow
def test_a_log_beside_a_store_in_a_folder_that_may_not_be_written(open_folder: Path) -> None:
    """What a killed writer has left is read too, or the store is refused; never half of it."""
    path = open_folder / "answers.db"
    with Writing(path, seed=1) as writing:
        writing.wait_for(3)
        count = writing.kill()
    for file in open_folder.iterdir():
        file.chmod(0o444)
    open_folder.chmod(0o555)
    with without_privileges():
        [segment] = read(path)
    assert_same(segment, some(1, count=len(segment.nodes) // 2))
    assert len(segment.nodes) // 2 >= count
    open_folder.chmod(0o777)
    path.with_name("answers.db-shm").unlink()
    open_folder.chmod(0o555)
    with without_privileges():
        fails_to_open(path, "cannot be opened; check the permissions", read_only=True)


def test_a_full_disk_keeps_what_was_written(path: Path) -> None:
    parts = some(2, count=400)
    with AnswerStore(path) as store:
        with store._file.reading() as connection:
            (pages,) = connection.execute("PRAGMA page_count").fetchone()
            connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        writer = store.writer("model", ALPHABET)
        rest = iter(parts)
        with pytest.raises(StoreError, match=r"answers\.db: the disk is full; make room") as caught:
            append_all(writer, rest)
        written = 400 - len(list(rest)) - 1
        cause = caught.value.__cause__
        assert isinstance(cause, sqlite3.Error)
        assert cause.sqlite_errorname == "SQLITE_FULL"
        assert 0 < written < 400
        assert_same(read(path)[1], parts[:written])
        with store._file.reading() as connection:
            connection.execute("PRAGMA max_page_count = 1000000")
        append_all(writer, parts[written:])
        assert store.verify().writers == 2
    assert_same(read(path)[1], parts)


def append_all(writer: Writer, parts: Iterable[Part]) -> None:
    for part in parts:
        writer.append(*part)


LIMITED = """
import resource, sys
from pdfalearn import AnswerStore, StoreError
from tests.stores.parts import ALPHABET, endless_parts

resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
store = AnswerStore(sys.argv[1])
writer = store.writer("limited", ALPHABET)
for place, part in enumerate(endless_parts(3)):
    try:
        writer.append(*part)
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
    assert_same(read(path, "limited")[0], some(3, count=int(written)))
    with AnswerStore(path, read_only=True) as store:
        assert store.verify().writers == 2


@pytest.mark.parametrize(
    "script",
    [
        "DROP TABLE batches",
        "DELETE FROM models",
        "UPDATE models SET alphabet = '[]'",
        "UPDATE models SET alphabet = '{'",
        """UPDATE models SET alphabet = '{"symbols": ["a", "a"], "terminal": "$"}'""",
        """UPDATE models SET alphabet = '{"symbols": ["b", "a"], "terminal": "$"}'""",
        "UPDATE models SET key = 'another'",
        "UPDATE batches SET rows = x'00' || rows",
        "UPDATE batches SET parents = 'text'",
        "UPDATE batches SET written = '2000-01-01T00:00:00+00:00' WHERE sequence = 2",
        "UPDATE batches SET checksum = checksum + 1",
        "UPDATE batches SET writer = 5",
        "UPDATE batches SET sequence = 9 WHERE sequence = 3",
        "DELETE FROM batches WHERE sequence = 1",
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
    "CREATE TRIGGER evil AFTER INSERT ON batches BEGIN DELETE FROM models; END": "trigger 'evil'",
    "CREATE VIEW evil AS SELECT * FROM models": "view 'evil'",
    "CREATE TABLE evil (x)": "table 'evil'",
    "CREATE INDEX evil ON models (alphabet)": "index 'evil'",
    "ANALYZE": "table 'sqlite_stat1'",
    "ALTER TABLE models ADD COLUMN evil TEXT": "table 'models' is not that",
    "ALTER TABLE models ADD COLUMN evil GENERATED ALWAYS AS (abs(id))": "table 'models' is not",
    "ALTER TABLE models RENAME COLUMN begun TO ended": "table 'models' is not that",
    "ALTER TABLE models RENAME TO moulds": "table 'moulds', which no store has",
    "DROP TABLE batches": "table 'batches' is missing",
    "DROP TABLE models; CREATE VIEW models AS SELECT 1 AS id, 'a' AS key": "view 'models'",
    "DROP TABLE models; CREATE TABLE models (id, key, alphabet, begun)": "table 'models' is not",
    'DROP TABLE batches; CREATE TABLE "a\x1b" (x)': r"table 'a\\x1b'",
}


@BOTH_WAYS
@pytest.mark.parametrize("script", mostly_slow(FOREIGN, 4))
def test_other_schemas_are_refused_and_left_alone(script: str, read_only: bool, path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.close()
    content = path.read_bytes()
    fails_to_open(path, f"({FOREIGN[script]}).*; restore it from a copy", read_only=read_only)
    with pytest.raises(DamagedStoreError):
        opened_alone(path)
    assert path.read_bytes() == content


def test_a_trigger_that_comes_while_a_store_is_open_is_found_by_compact(path: Path) -> None:
    trigger = next(iter(FOREIGN))
    with AnswerStore(path) as store:
        other = sqlite3.connect(path)
        other.executescript(trigger)
        other.close()
        with pytest.raises(DamagedStoreError, match="trigger 'evil'"):
            store.compact()


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
    assert verified(path, read_only=True) == 4


def test_a_damaged_batch_is_named(path: Path) -> None:
    stored(path, some(2), some(3))
    connection = sqlite3.connect(path)
    connection.execute("UPDATE batches SET nodes = numbers WHERE writer = 2 AND sequence = 1")
    connection.commit()
    connection.close()
    named = r"model 'model', writer 2, batch 1: its checksum is wrong; restore"
    uses: list[Callable[[AnswerStore], object]] = [
        lambda store: list(store.segments("model")),
        lambda store: list(store.answers("model")),
        lambda store: store.verify(),
        lambda store: store.compact(),
    ]
    for use in uses:
        with AnswerStore(path) as store, pytest.raises(DamagedStoreError, match=named):
            use(store)
    with AnswerStore(path) as store:
        assert_same(next(store.segments("model")), some(1))


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
        store.compact()
        next(store.segments("model"))
        next(store.answers("model"))
    for bad in (other, tmp_path / "none.db"):
        fails_to_open(bad, "store", read_only=True)
    gc.collect()
    assert not any(name.startswith(str(tmp_path)) for name in descriptors())
