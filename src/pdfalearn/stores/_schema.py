"""The tables of a store, and the check that a file has these and nothing else."""

from __future__ import annotations

import sqlite3

_TABLES = {
    "models": """CREATE TABLE models (
        id INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,
        alphabet TEXT NOT NULL,
        begun TEXT NOT NULL
    )""",
    "batches": """CREATE TABLE batches (
        model INTEGER NOT NULL REFERENCES models (id),
        writer INTEGER NOT NULL,
        sequence INTEGER NOT NULL,
        written TEXT NOT NULL,
        checksum INTEGER NOT NULL,
        parents BLOB NOT NULL,
        symbols BLOB NOT NULL,
        nodes BLOB NOT NULL,
        numbers BLOB NOT NULL,
        rows BLOB NOT NULL,
        listed BLOB NOT NULL,
        PRIMARY KEY (model, writer, sequence)
    )""",
}

_INDICES = {"sqlite_autoindex_models_1": "models", "sqlite_autoindex_batches_1": "batches"}
"""What SQLite makes by itself for the keys of the tables."""

_OBJECTS = "SELECT type, name, tbl_name, sql FROM sqlite_master"


def create_tables(connection: sqlite3.Connection) -> None:
    """Make the tables of a new store."""
    for statement in _TABLES.values():
        connection.execute(statement)


def schema_fault(connection: sqlite3.Connection) -> str | None:
    """Return what a store's schema has too much or lacks; None if it is as it was made.

    Triggers, views and the like could run somebody else's code when answers are stored.
    """
    missing = {("table", name) for name in _TABLES} | {("index", name) for name in _INDICES}
    for kind, name, table, statement in connection.execute(_OBJECTS):
        if (kind, name) not in missing:
            return f"there is the {kind} {name!r}, which no store has"
        missing.remove((kind, name))
        if kind == "table" and _plain(statement) != _plain(_TABLES[name]):
            return f"the table {name!r} is not that of a store"
        if kind == "index" and (statement is not None or table != _INDICES[name]):
            return f"the index {name!r} is not that of a store"
    for kind, name in sorted(missing, reverse=True):  # tables before their indices
        return f"the {kind} {name!r} is missing"
    return None


def _plain(statement: object) -> str:
    """Return a statement without its layout."""
    return " ".join(str(statement).split())
