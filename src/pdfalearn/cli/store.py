"""``pdfalearn store``: look after stores of answers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

import pdfalearn
from pdfalearn.cli import _options as options
from pdfalearn.cli._output import json_text, print_json, print_line, print_table
from pdfalearn.text import shortened

if TYPE_CHECKING:
    from pdfalearn.stores import AnswerStore


@click.group(
    invoke_without_command=True,
    epilog=options.examples(
        "pdfalearn store info answers.db",
        "pdfalearn store verify answers.db",
        "pdfalearn store compact answers.db",
        "pdfalearn store export answers.db -o answers.jsonl",
    ),
)
@click.pass_context
def store(context: click.Context) -> None:
    """Look after files with the answers of models.

    A store keeps what models have answered, so that a run that was stopped goes on without asking
    anything twice. One file holds the answers of many models, each under its own key.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@store.command(
    epilog=options.examples(
        "pdfalearn store info answers.db", "pdfalearn store info answers.db --json"
    )
)
@click.argument("file", type=options.FILE)
@options.json_option
def info(file: Path, as_json: bool) -> None:
    """List the models of a store and what it holds of each.

    Each word has one answer, whichever run has stored it. Times are in UTC.
    """
    with pdfalearn.stores.AnswerStore(file, read_only=True) as opened:
        models = opened.models()
    facts = [
        asdict(model) | {"alphabet": model.alphabet.symbols, "terminal": model.alphabet.terminal}
        for model in models
    ]
    if as_json:
        print_json({"file": str(file), "bytes": _size(file), "models": facts})
        return
    rows = [
        [
            shortened(model.key, 80),
            *(f"{n:,}" for n in (len(model.alphabet), model.answers, model.bytes)),
            _time_text(model.first),
            _time_text(model.last),
        ]
        for model in models
    ]
    title = f"{file}: {_size(file):,} bytes"
    header = ("model", "symbols", "answers", "bytes", "first", "last")
    print_table(title, header, rows)


@store.command(
    epilog=options.examples(
        "pdfalearn store verify answers.db", "pdfalearn store verify answers.db --json"
    )
)
@click.argument("file", type=options.FILE)
@options.json_option
@click.pass_context
def verify(context: click.Context, file: Path, as_json: bool) -> None:
    """Check that a store holds what was written to it.

    SQLite's own structures, the checksum of every answer, and whether its word and distribution can
    be right. The exit code is 0 for yes and 1 for no.
    """
    try:
        with pdfalearn.stores.AnswerStore(file, read_only=True) as opened:
            counts, damage = opened.verify()._asdict(), None
    except pdfalearn.errors.DamagedStoreError as error:
        counts, damage = {}, str(error)
    if as_json:
        print_json({"file": str(file), "whole": damage is None, "damage": damage, **counts})
    elif damage is None:
        checked = ", ".join(f"{name} {count:,}" for name, count in counts.items())
        print_line(f"yes: {file} is whole: structure, checksums and content ({checked})", "green")
    else:
        print_line(f"no: {damage}", "red")
    context.exit(0 if damage is None else 1)


@store.command(
    epilog=options.examples(
        "pdfalearn store compact answers.db", "pdfalearn store compact answers.db --json"
    )
)
@click.argument("file", type=options.FILE)
@options.json_option
def compact(file: Path, as_json: bool) -> None:
    """Keep equal distributions once, whichever run has stored them, and give the space back."""
    with pdfalearn.stores.AnswerStore(file, read_only=True) as opened:
        opened.models()  # a file that is missing or no store is not to be made one
    before = _size(file)
    with pdfalearn.stores.AnswerStore(file) as opened:
        opened.compact()
    after = _size(file)
    if as_json:
        print_json({"file": str(file), "bytes_before": before, "bytes_after": after})
    else:
        print_line(f"{file}: {before:,} bytes before, {after:,} bytes after")


@store.command(
    epilog=options.examples(
        "pdfalearn store export answers.db",
        "pdfalearn store export answers.db --key my-model-v1 -o answers.jsonl",
    )
)
@click.argument("file", type=options.FILE)
@click.option("--key", metavar="KEY", help="Which model, if there are several.")
@options.output_option("Where to write, instead of the standard output.", required=False)
def export(file: Path, key: str | None, output: Path | None) -> None:
    """Print the answers of a model, one JSON object a line.

    Each has the word as a list of symbols, and its distribution, terminal first, to the last bit;
    null if the word is undefined.
    """
    if output is not None and output.resolve() == file.resolve():
        raise pdfalearn.errors.InputError("-o would overwrite the store; name another file")
    with pdfalearn.stores.AnswerStore(file, read_only=True) as opened:
        chosen = _chosen_key(opened, key)
        with _stream(output) as stream:
            for word, row in opened.answers(chosen) if chosen else ():
                answer = {"word": word, "distribution": None if row is None else row.tolist()}
                stream.write(json_text(answer).encode() + b"\n")


def _chosen_key(opened: AnswerStore, key: str | None) -> str | None:
    """Return the key of the only model, or the one that was asked for; None in an empty store."""
    keys = [model.key for model in opened.models()]
    if key in keys or (key is None and len(keys) <= 1):
        return key or next(iter(keys), None)
    known = shortened(", ".join(map(repr, keys)), 400) or "none"
    problem = "choose a model by --key" if key is None else f"there is no model {key!r}"
    raise pdfalearn.errors.InputError(f"{opened.path}: {problem}; there are {known}")


@contextmanager
def _stream(output: Path | None) -> Iterator[BinaryIO]:
    if output is None:
        yield sys.stdout.buffer
        return
    from pdfalearn.files import replacing

    with replacing(output) as stream:
        yield stream


def _time_text(time: str) -> str:
    return time.removesuffix("+00:00").replace("T", " ")


def _size(file: Path) -> int:
    """Return the bytes of a store with its write-ahead log."""
    files = [file, file.with_name(f"{file.name}-wal")]
    return sum(part.stat().st_size for part in files if part.exists())
