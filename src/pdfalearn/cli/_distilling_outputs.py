"""What distilling prints and writes: a table and facts for people, an object for scripts."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pdfalearn
from pdfalearn.cli._learning_outputs import certificate_object, outside_facts, save_pdfa
from pdfalearn.cli._output import print_facts, print_figures, print_line
from pdfalearn.text import LABELS

if TYPE_CHECKING:
    from pdfalearn import Alphabet, Frontier
    from pdfalearn.results import Point

_ARCHIVE = ".zip"
_WHOLE = (_ARCHIVE, ".html")
"""The endings of files that hold all of a frontier, or show it."""


class Output(NamedTuple):
    """Where the frontier is to be written, or one of its automata, if at all."""

    path: Path | None
    sizes: list[int]
    """The sizes that were asked for; if it is one, then that automaton is written."""

    @property
    def is_whole(self) -> bool:
        """Whether the whole frontier is written."""
        return self.path is not None and self.path.name.lower().endswith(_WHOLE)

    def check(self, needed: Iterable[str | Path]) -> None:
        """Refuse before distilling what would fail, or overwrite what is needed, after it."""
        if self.path is None:
            return
        if self.path.resolve() in {Path(path).resolve() for path in needed}:
            raise pdfalearn.errors.InputError(
                "-o has to be a file of its own, other than the model, the store and the corpus"
            )
        pdfalearn.io.check_can_save(
            self.path, pdfalearn.Frontier if self.is_whole else pdfalearn.PDFA
        )

    def check_symbols(self, alphabet: Alphabet) -> None:
        """Refuse before distilling symbols that a frontier's file cannot hold."""
        from pdfalearn.io import check_symbols

        if self.path is not None and self.path.name.lower().endswith(_ARCHIVE):
            check_symbols((*alphabet, alphabet.terminal))

    def write(self, frontier: Frontier) -> None:
        """Write what has been found."""
        if self.path is None:
            return
        if self.is_whole:
            pdfalearn.save(frontier, self.path)
        elif len(self.sizes) == 1:
            save_pdfa(frontier.at_most(self.sizes[0]), self.path)
        else:
            save_pdfa(frontier.best, self.path)

    def print_name(self) -> None:
        """Print the names of the files that were written."""
        if self.path is not None:
            print_line(f"{self.path}: {self._content}")

    @property
    def _content(self) -> str:
        if self.is_whole:
            return "the frontier"
        if len(self.sizes) == 1:
            return f"the automaton of at most {_states(self.sizes[0])}"
        return "the best automaton"

    def interruption_text(self, frontier: Frontier | None, store: Path | None) -> str:
        """Return the text that says after Ctrl-C what was saved, and where."""
        lost = "nothing" if store is None else "no automaton"
        if frontier is None:
            text = f"interrupted before there was anything to measure: {lost} was saved"
        elif self.path is None:
            text = f"interrupted: {lost} was saved, as no -o was given"
        else:
            text = f"interrupted: {self.path} holds {self._content} so far"
        if store is None:
            return text
        return f"{text}; {store} holds all answers: start again to go on"


def print_frontier(title: str, frontier: Frontier) -> None:
    """Print the table of a frontier, and what it means in words."""
    from pdfalearn.results import FRONTIER_HEADER as HEADER
    from pdfalearn.results import frontier_cells as cells_of

    print_figures(title, HEADER, cells_of(frontier))
    print_facts("in words", facts_of(frontier))


def facts_of(frontier: Frontier) -> dict[str, str]:
    """Return the rows of the table below the table."""
    details, best = frontier.certificate.details, _states(len(frontier.best))
    knee = "none: nowhere does the curve bend much"
    if frontier.knee is not None:
        knee = f"{_states(frontier.knee)}: there the curve of training divergences bends most"
    facts = {
        "best": f"{best}: the smallest that is not worse than any by more than a standard error",
        "knee": knee,
        "perplexity of the model": f"{frontier.model_perplexity:.6g}",
        **{label: _text(details[name]) for name, label in _SHOWN.items() if details.get(name)},
    }
    outside = outside_facts(frontier.certificate)
    return facts | outside | {"certificate": str(frontier.certificate)}


_SHOWN = {
    "words_drawn": LABELS["words_drawn"],
    "held_out_words": LABELS["held_out_words"],
    "symbols_asked": LABELS["symbols"],
    "stored_words": LABELS["stored_words"],
    "audited_words": LABELS["audited_words"],
    "largest_difference": LABELS["largest_difference"],
    "cost": LABELS["cost"],
}
"""Figures of the certificate that are shown if they are not 0."""


def object_of(frontier: Frontier) -> dict[str, object]:
    """Return the members of the JSON object."""
    return {
        "best": len(frontier.best),
        "knee": frontier.knee,
        "points": [_point_object(point) for point in frontier],
        "sizes": frontier.sizes,
        "model_perplexity": frontier.model_perplexity,
        "certificate": certificate_object(frontier.certificate),
        "notes": frontier.notes,
    }


def _point_object(point: Point) -> dict[str, object]:
    figures = {name: value for name, value in vars(point).items() if name != "pdfa"}
    return {
        name: value if math.isfinite(value) else None if math.isnan(value) else "inf"
        for name, value in figures.items()
    }


def _states(count: int) -> str:
    return "1 state" if count == 1 else f"{count:,} states"


def _text(value: object) -> str:
    return f"{value:,.6g}" if isinstance(value, float) else f"{value:,}"
