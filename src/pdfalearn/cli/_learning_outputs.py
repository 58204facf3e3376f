"""The files that learning writes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pdfalearn
from pdfalearn.cli._output import print_line

if TYPE_CHECKING:
    from pdfalearn import PDFA, Result


_WHOLE = (".zip", ".html")
"""The endings of files that hold all of a run, or show it."""


class Outputs(NamedTuple):
    """Where the PDFA and the classification tree are to be written, if at all."""

    pdfa: Path | None
    """A file of the automaton, or by its ending of the whole run."""
    tree: Path | None

    @property
    def is_whole(self) -> bool:
        """Whether the whole run is written."""
        return self.pdfa is not None and self.pdfa.name.lower().endswith(_WHOLE)

    def check(self, needed: Iterable[str | Path]) -> None:
        """Refuse before learning what would fail, or overwrite what is needed, after it."""
        outputs = [path.resolve() for path in (self.pdfa, self.tree) if path]
        inputs = {Path(path).resolve() for path in needed}
        if len(set(outputs)) < len(outputs) or inputs.intersection(outputs):
            raise pdfalearn.InputError(
                "-o and --tree have to be files of their own, other than the target, the store and "
                "a corpus"
            )
        if self.pdfa is not None:
            kind = pdfalearn.Result if self.is_whole else pdfalearn.PDFA
            pdfalearn.check_can_save(self.pdfa, kind)
        if self.tree is not None:
            pdfalearn.check_can_save(self.tree, pdfalearn.TreeNode)

    def write(self, result: Result) -> None:
        """Write what has been learnt, the automaton first."""
        if self.pdfa is not None:
            save_pdfa(result.pdfa, self.pdfa, result if self.is_whole else None)
        if self.tree is not None:
            pdfalearn.save_tree(result.tree, self.tree)

    def print_names(self) -> None:
        """Print the names of the files that were written."""
        if self.pdfa is not None:
            print_line(f"{self.pdfa}: the {'whole run' if self.is_whole else 'learnt PDFA'}")
        if self.tree is not None:
            print_line(f"{self.tree}: the classification tree")

    def interruption_text(self, result: Result | None, store: Path | None) -> str:
        """Return the text that says after Ctrl-C what was saved, and where."""
        lost = "nothing" if store is None else "no automaton"
        if result is None:
            text = f"interrupted before the first answer: {lost} was saved"
        elif self.pdfa is None:
            text = f"interrupted: {lost} was saved, as no -o was given"
        else:
            text = f"interrupted: {self.pdfa} holds the hypothesis so far, of {_states(result)}"
        if store is None:
            return text
        return f"{text}; {store} holds all answers: start again to go on"


def _states(result: Result) -> str:
    count = len(result.pdfa)
    return "1 state" if count == 1 else f"{count:,} states"


def save_pdfa(pdfa: PDFA, path: Path, run: Result | None = None) -> None:
    """Save a PDFA, or the run that it is of; where that fails, the PDFA is saved as .npz."""
    try:
        pdfalearn.save(pdfa if run is None else run, path)
    except pdfalearn.InputError as error:
        instead = path.with_name(f"{path.name}.npz")
        pdfalearn.save(pdfa, instead)
        raise pdfalearn.InputError(f"{path}: {error}; saved as {instead} instead") from error
