"""``pdfalearn store``: look after stores of answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import pdfalearn
from pdfalearn.cli._chosen import Chosen
from pdfalearn.cli._commands import command, group
from pdfalearn.cli._options import option
from pdfalearn.cli._output import Answer, Line, Table, Verbatim, json_text
from pdfalearn.errors import DamagedStoreError, InputError
from pdfalearn.text import shorten

if TYPE_CHECKING:
    from pdfalearn.stores import AnswerStore


@group()
def store() -> None:
    """Look after files with the answers of models.

    A store keeps what models have answered, so that a run that was stopped goes on without asking
    anything twice. One file holds the answers of many models, each under its own key.

    Examples
    --------
    $ pdfalearn store info answers.db
    $ pdfalearn store verify answers.db
    $ pdfalearn store export answers.db -o answers.jsonl
    """


@command("FILE", into=store)
def info(chosen: Chosen) -> Answer:
    """List the models of a store and what it holds of each.

    Each word has one answer, whichever run has stored it. Times are in UTC.

    Examples
    --------
    $ pdfalearn store info answers.db
    """
    with pdfalearn.stores.AnswerStore(chosen.file, read_only=True) as opened:
        models = opened.models()
    described = [
        asdict(model) | {"alphabet": model.alphabet.symbols, "terminal": model.alphabet.terminal}
        for model in models
    ]
    rows = [
        (
            shorten(model.key, 80),
            len(model.alphabet),
            model.answers,
            model.bytes,
            *(time.removesuffix("+00:00").replace("T", " ") for time in (model.first, model.last)),
        )
        for model in models
    ]
    size = _size(chosen.file)
    header = ("model", "symbols", "answers", "bytes", "first", "last")
    return Answer(
        {"file": chosen.file, "bytes": size, "models": described},
        [Table(f"{chosen.file}: {size:,} bytes", header, rows)],
    )


@command("FILE", into=store)
def verify(chosen: Chosen) -> Answer:
    """Check that a store holds what was written to it.

    SQLite's own structures, the checksum of every answer, and whether its word and distribution can
    be right. The exit code is 0 for yes and 1 for no.

    Examples
    --------
    $ pdfalearn store verify answers.db
    """
    try:
        with pdfalearn.stores.AnswerStore(chosen.file, read_only=True) as opened:
            counts = opened.verify()._asdict()
    except DamagedStoreError as error:
        members = {"file": chosen.file, "whole": False, "damage": str(error)}
        return Answer(members, [Line(f"no: {error}", "red")], exit_code=1)
    checked = ", ".join(f"{name} {count:,}" for name, count in counts.items())
    line = f"yes: {chosen.file} is whole: structure, checksums and content ({checked})"
    members = {"file": chosen.file, "whole": True, "damage": None, **counts}
    return Answer(members, [Line(line, "green")])


@command(
    "FILE key", option("output", "Where to write, instead of the standard output."), into=store
)
def export(chosen: Chosen) -> Answer:
    """Print the answers of a model, one JSON object a line.

    Each has the word as a list of symbols, and its distribution, terminal first, to the last bit;
    null if the word is undefined. With --json all are in one object; those in the file of -o are
    counted there.

    Examples
    --------
    $ pdfalearn store export answers.db
    $ pdfalearn store export answers.db --key my-model-v1 -o answers.jsonl
    """
    path: Path | None = chosen.output
    if path is not None and path.resolve() == Path(chosen.file).resolve():
        raise InputError("-o would overwrite the store; name another file")
    with pdfalearn.stores.AnswerStore(chosen.file, read_only=True) as opened:
        key = _choose_key(opened, chosen.key)
    members = {"file": chosen.file, "key": key, "output": path}
    answers = _answers(chosen.file, key)
    if path is not None:
        return Answer({**members, "answers": _write(answers, path)}, [])
    if chosen.json:
        return Answer({**members, "answers": list(answers)}, [])
    return Answer(members, [Verbatim(f"{json_text(answer)}\n" for answer in answers)])


def _choose_key(opened: AnswerStore, key: str | None) -> str | None:
    """Return the key of the only model, or the one that was asked for; None in an empty store."""
    keys = [model.key for model in opened.models()]
    if key in keys or (key is None and len(keys) <= 1):
        return key or next(iter(keys), None)
    known = shorten(", ".join(map(repr, keys)), 400) or "none"
    problem = "choose a model by --key" if key is None else f"there is no model {key!r}"
    raise InputError(f"{opened.path}: {problem}; there are {known}")


def _answers(file: str, key: str | None) -> Iterator[dict[str, object]]:
    """Read the answers of a model one by one: a store may be larger than the memory."""
    with pdfalearn.stores.AnswerStore(file, read_only=True) as opened:
        for word, row in opened.answers(key) if key else ():
            yield {"word": word, "distribution": None if row is None else row.tolist()}


def _write(answers: Iterator[dict[str, object]], path: Path) -> int:
    """Write answers to a file, one a line, and return their number."""
    from pdfalearn.files import replacing

    count = 0
    with replacing(path) as stream:
        for answer in answers:
            stream.write(json_text(answer).encode() + b"\n")
            count += 1
    return count


def _size(file: str) -> int:
    """Return the bytes of a store with its write-ahead log."""
    parts = [Path(file), Path(f"{file}-wal")]
    return sum(part.stat().st_size for part in parts if part.exists())
