"""Files of an automaton with all that is needed to watch: how lines are read, and thresholds."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.files import check_name, show_name
from pdfalearn.io import load_pdfa, load_watching, save_watching
from pdfalearn.pdfa import PDFA
from pdfalearn.watching.log_lines import LogReader
from pdfalearn.watching.thresholds import Thresholds

_ENDINGS = (".json", ".json.gz")
_VERSION = 1
Part = TypeVar("Part")


@dataclass(frozen=True)
class Watch:
    """An automaton, how the lines of its log are read, and above which scores sessions are odd.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from pdfalearn.datasets import figure_1
    >>> watch = Watch(figure_1(), LogReader(("user <*> in",), session="user (.*) "))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     watch.save(pathlib.Path(folder, "model.json"))
    ...     Watch.load(pathlib.Path(folder, "model.json")) == watch
    True
    """

    pdfa: PDFA
    reader: LogReader | None = None
    thresholds: Thresholds | None = None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all of it to a file in .json or .json.gz, which other programs load as a PDFA."""
        parts = {"lines": self.reader, "thresholds": self.thresholds}
        members = {
            name: {"version": _VERSION, **asdict(part)}
            for name, part in parts.items()
            if part is not None
        }
        check_can_watch(path)
        save_watching(self.pdfa, members, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Watch:
        """Read a file; one without the rest has only an automaton."""
        pdfa, name = load_pdfa(path), check_name(path)
        members: dict[str, Any] = load_watching(path) if name.lower().endswith(_ENDINGS) else {}
        try:
            reader = _read("lines", LogReader, members, "distill the log again")
            return cls(pdfa, reader, _read("thresholds", Thresholds, members, "calibrate again"))
        except InputError as error:
            raise FileFormatError(f"{show_name(name)}: {error}") from error


def _read(
    name: str, make: Callable[..., Part], members: dict[str, Any], remedy: str
) -> Part | None:
    """Make a part of what a file holds of it; None if it has none."""
    if name not in members:
        return None
    given = {k: tuple(v) if isinstance(v, list) else v for k, v in members[name].items()}
    if (version := given.pop("version", None)) != _VERSION:
        raise FileFormatError(
            f"its {name} are of version {version!r}, and this program reads version {_VERSION}: "
            f"{remedy}, or use the program that wrote it"
        )
    try:
        return make(**given)
    except (TypeError, ValueError, AttributeError) as error:
        raise FileFormatError(f"its {name} are damaged ({error}): {remedy}") from error


def check_can_watch(path: str | os.PathLike[str]) -> None:
    """Refuse a file that cannot hold templates or thresholds."""
    name = check_name(path)
    if not name.lower().endswith(_ENDINGS):
        raise InputError(
            f"{show_name(name)}: templates and thresholds are saved with the automaton in "
            f"{' or '.join(_ENDINGS)}"
        )
