"""Files of an automaton with all that is needed to watch: how lines are read, and thresholds."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.files import check_name, show_name
from pdfalearn.io import load_pdfa, load_watching, save_watching
from pdfalearn.pdfa import PDFA
from pdfalearn.watching.calibrating import Thresholds
from pdfalearn.watching.log_lines import LogReader

_ENDINGS = (".json", ".json.gz")


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
        members = {name: part.members() for name, part in parts.items() if part is not None}
        check_can_watch(path)
        save_watching(self.pdfa, members, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Watch:
        """Read a file; one without the rest has only an automaton."""
        pdfa, name = load_pdfa(path), check_name(path)
        members: dict[str, Any] = load_watching(path) if name.lower().endswith(_ENDINGS) else {}
        try:
            lines, thresholds = members.get("lines"), members.get("thresholds")
            reader = None if lines is None else LogReader.of_members(lines)
            limits = None if thresholds is None else Thresholds.of_members(thresholds)
        except InputError as error:
            raise FileFormatError(f"{show_name(name)}: {error}") from error
        return cls(pdfa, reader, limits)


def check_can_watch(path: str | os.PathLike[str]) -> None:
    """Refuse a file that cannot hold templates or thresholds."""
    name = check_name(path)
    if not name.lower().endswith(_ENDINGS):
        raise InputError(
            f"{show_name(name)}: templates and thresholds are saved with the automaton in "
            f"{' or '.join(_ENDINGS)}"
        )
