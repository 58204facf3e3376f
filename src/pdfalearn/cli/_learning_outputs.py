"""What has been learnt and what it has cost, for people and for scripts, and the files of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from statistics import median_low
from typing import TYPE_CHECKING, NamedTuple

import pdfalearn
from pdfalearn.cli._output import print_line
from pdfalearn.text import LABELS, shortened, symbol_text

if TYPE_CHECKING:
    from pdfalearn import PDFA, Certificate, Result
    from pdfalearn.equivalence import Relation
    from pdfalearn.results import Statistics

_NEAR = 1e-6
"""By more than this a network in float32 hardly differs from one batch to the next."""


_SHOWN = 5
"""At most this many unresolved transitions are shown."""


def title_of(target: str, equivalence: Relation) -> str:
    """Return what was learnt from, and how."""
    if isinstance(equivalence, pdfalearn.equivalence.Rounded):
        whole = title_of(target, equivalence.equivalence)
        return f"{whole}, rounded to {equivalence.decimals} decimals"
    if isinstance(equivalence, pdfalearn.Tolerance):
        return f"{target}, learnt within {equivalence.tolerance:g}"
    if isinstance(equivalence, pdfalearn.Quantization):
        return f"{target}, learnt at kappa {equivalence.kappa}"
    return f"{target}, learnt exactly"


def facts_of(result: Result) -> dict[str, str]:
    """Return the rows of the table."""
    from pdfalearn.results import cost_texts

    statistics = result.statistics
    batches = _batches(statistics)
    return {
        LABELS["states"]: f"{len(result.pdfa):,}",
        **cost_texts(statistics),
        "batches": "{count:,} (median size {median:,}, largest {largest:,})".format(**batches),
        **_near_boundary(result),
        **outside_facts(result.certificate),
        **_unresolved(result),
        **_growth(result),
        "certificate": str(result.certificate),
    }


def _unresolved(result: Result) -> dict[str, str]:
    """Name some transitions that lead to the best match so far; nothing if there are none."""
    count = len(result.unresolved)
    if not count:
        return {}
    symbols = result.pdfa.alphabet.symbols
    named = [
        f"{state} by {shortened(symbol_text(symbols[symbol]), 20)}"
        for state, symbol in result.unresolved[:_SHOWN].tolist()
    ]
    more = ", …" if count > _SHOWN else ""
    return {"unresolved transitions": f"{count:,}: from {', '.join(named)}{more}"}


def _growth(result: Result) -> dict[str, str]:
    """Return the line that says that no end was in sight; nothing if one was."""
    if not result.certificate.details.get("is_growing"):
        return {}
    return {"end": "not in sight, states grew with the questions; 'pdfalearn distill' may help"}


def _near_boundary(result: Result) -> dict[str, str]:
    """Return how many probabilities might fall into another class; nothing without bounds."""
    if not result.has_boundaries:
        return {}
    count = result.near_boundary(_NEAR)
    return {f"probabilities within {_NEAR:g} of a boundary": f"{count:,}"}


def outside_facts(certificate: Certificate) -> dict[str, str]:
    """Return how much mass was outside of the alphabet; nothing if the model has none."""
    outside = certificate.details.get("outside")
    if not isinstance(outside, dict):
        return {}
    text = "{mean:.4g} on average, {largest:.4g} at most".format(**outside)
    unknown = outside["unknown"]
    unasked = f"; unknown for {unknown:,} distributions that were not asked" if unknown else ""
    return {"mass outside of the alphabet": text + unasked}


def object_of(result: Result, with_access_words: bool) -> dict[str, object]:
    """Return the members of the JSON object."""
    members = {
        "certificate": certificate_object(result.certificate),
        "states": len(result.pdfa),
        "near_boundary": result.near_boundary(_NEAR) if result.has_boundaries else None,
        "statistics": {**vars(result.statistics), "batches": _batches(result.statistics)},
        "history": [vars(progress) for progress in result.history],
        "notes": result.notes,
    }
    return {**members, "access_words": result.access_words} if with_access_words else members


def certificate_object(certificate: Certificate) -> dict[str, object]:
    """Return the members of a certificate's JSON object."""
    words = {"kind": certificate.kind, "statement": certificate.statement}
    return {**words, **certificate.details}


def _batches(statistics: Statistics) -> dict[str, object]:
    """Sum up the sizes of all batches: one for each word is too long a list to print."""
    sizes = statistics.batches
    return {
        "count": len(sizes),
        "median": median_low(sizes) if sizes else 0,
        "largest": max(sizes, default=0),
        "sizes": sorted(Counter(sizes).items()),
    }


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
            raise pdfalearn.errors.InputError(
                "-o and --tree have to be files of their own, other than the target, the store and "
                "a corpus"
            )
        if self.pdfa is not None:
            kind = pdfalearn.Result if self.is_whole else pdfalearn.PDFA
            pdfalearn.io.check_can_save(self.pdfa, kind)
        if self.tree is not None:
            pdfalearn.io.check_can_save(self.tree, pdfalearn.results.TreeNode)

    def write(self, result: Result) -> None:
        """Write what has been learnt, the automaton first."""
        if self.pdfa is not None:
            save_pdfa(result.pdfa, self.pdfa, result if self.is_whole else None)
        if self.tree is not None:
            pdfalearn.io.save_tree(result.tree, self.tree)

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
    except pdfalearn.errors.InputError as error:
        instead = path.with_name(f"{path.name}.npz")
        pdfalearn.save(pdfa, instead)
        raise pdfalearn.errors.InputError(f"{path}: {error}; saved as {instead} instead") from error
