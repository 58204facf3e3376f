"""The floors of the package: the one list that a test checks, and that picture and page show."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pdfalearn

ROOT = Path(pdfalearn.__file__).parent


class Floor(NamedTuple):
    """Rooms and modules that do not know each other, and what they hold."""

    rooms: tuple[str, ...]
    holds: str


FLOORS = [
    Floor(
        ("doors", "typing"), "what a package exports, imported at first use; the types of arrays"
    ),
    Floor(
        ("arrays", "errors", "frozen", "text", "words"),
        "growing arrays, integer maps, union-find; errors; values that never change; "
        "texts for people; many words in two arrays, and run over tables",
    ),
    Floor(
        ("alphabet", "extras", "files", "rows"),
        "symbols, and words that share prefixes; packages that may be missing, and axes of plots; "
        "atomic writing and bounded reading; distributions, dense or sparse",
    ),
    Floor(
        ("checks", "packed_rows"),
        "arguments that are checked; rows as bytes",
    ),
    Floor(
        ("budgets", "pdfa", "row_checks"),
        "bounds on what may be asked; the automaton; distributions that are checked",
    ),
    Floor(("reachability",), "the states that words reach"),
    Floor(
        ("datasets", "equivalence"),
        "random and known automata; when distributions are the same, quotients, differences",
    ),
    Floor(
        ("chains", "results"),
        "walks through Markov chains and what is solved for on them; what comes out of long work, "
        "as values",
    ),
    Floor(
        ("displays", "io"),
        "progress; files of automata, runs, frontiers and words",
    ),
    Floor(
        ("corpora", "languages"),
        "recorded words: files of many kinds, and trees of prefixes; regular expressions and DFA",
    ),
    Floor(
        ("analysis", "models"),
        "questions to an automaton, over all of its words; the protocol of models, their kinds, "
        "and wrappers",
    ),
    Floor(
        ("multiplicity", "watching"),
        "weighted automata that are learnt from probabilities of words; sessions that are scored "
        "and followed, with alarms; logs of raw lines",
    ),
    Floor(
        ("stores", "testing", "viewing"),
        "answers that outlive the process; the conformance kit for models; pages, pictures and "
        "notebook output",
    ),
    Floor(
        ("exploring", "observations", "passive", "sampled"),
        "certain bounds on what live models answer; the tree of what was asked, behind one front "
        "door; learners that are given words; models that tell only samples, and their learner",
    ),
    Floor(
        ("learners", "samplers"),
        "QuaNT twice, L_p*, WL*; where sampled words come from",
    ),
    Floor(
        ("metrics", "oracles"),
        "how well one model predicts another; equivalence oracles",
    ),
    Floor(
        ("distilling", "learning"),
        "the best automaton of each size, simplifying, fitting; the loop and what stops it",
    ),
    Floor(
        ("experiments", "sweeping"),
        "the paper's experiments; several κ from one set of answers",
    ),
    Floor(("cli",), "commands, each a thin skin over the public names"),
]
"""From the lowest to the highest. A room imports only from the floors below its own."""

LATER = {
    ("pdfa", "io"): "`to_networkx`, `to_frame` and `PDFA.save`",
    ("pdfa", "analysis"): "`PDFA.score`",
    ("pdfa", "viewing"): "an automaton in a notebook",
    ("results", "viewing"): "results in a notebook",
    ("metrics", "distilling"): "`compare` of two corpora without an automaton",
    ("io", "languages"): "`load` and `save` of a DFA",
    ("io", "models"): "`load` of an automaton that is not deterministic, and `save`",
    ("io", "viewing"): "`save` to a drawing, a picture or a page",
}
"""What a function imports from a floor above when it is called, and what for: a value that is shown
or handed over does not need it before. There is no other way up."""


def room_of(path: Path) -> str:
    """Return the room of a file of the package; what starts the program is part of ``cli``."""
    first = path.relative_to(ROOT).parts[0].removesuffix(".py")
    return "cli" if first == "__main__" else first


def floors_table() -> str:
    """Return the floors as a table of Markdown, the highest on top."""
    lines = ["| floor | rooms and modules | what they hold |", "|---|---|---|"]
    for number, floor in reversed(list(enumerate(FLOORS))):
        lines.append(f"| {number} | {', '.join(map(_shown, floor.rooms))} | {floor.holds} |")
    return "\n".join(lines)


def _shown(room: str) -> str:
    return f"`{room}/`" if (ROOT / room / "__init__.py").exists() else f"`{room}`"
