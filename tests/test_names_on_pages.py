"""Pages name what is there: classes, functions, members, options, and the way of a word."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from functools import cache
from pathlib import Path
from types import FrameType

import click
import pytest

from pdfalearn import FunctionModel, Quantization, learn
from pdfalearn.cli import cli

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture.md"
FOLDERS = ("src", "tools", "examples", "benchmarks")
PAGES = [
    path
    for path in (ROOT / "docs").rglob("*.md")
    if path != PAGE and "coming-from" not in path.parts
]
ELSEWHERE = {
    *dir(builtins),
    "concurrent.futures",
    "panels",
    "OMP_NUM_THREADS",
    "PDFALEARN_API_KEY",
    "PDFALStarLearner",
    "apply_chat_template",
    "last__5f_",
    "load_automaton_from_file",
    "logprob_token_ids",
    "max_model_len",
    "save_pretrained",
}
"""Names of Python, of other programs, of the environment, and in files and scripts."""
OPTIONS_OF_OTHERS = {"--arc_type", "--block-size", "--results"}


def names_on(text: str) -> set[str]:
    """Return what stands in backticks and looks like a name: `Rows.shared`, `learn(model)`."""
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    quoted = re.findall(r"`([^`\n]+)`", prose)
    found = (re.fullmatch(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(\(.*\))?", one) for one in quoted)
    names = {match[1] for match in found if match}
    return {name for name in names if not name.endswith((".py", ".js", ".md", ".svg", ".css"))}


class Definitions:
    """All names that some sources define, and the members of their classes."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self.names: set[str] = set()
        self.members: defaultdict[str, set[str]] = defaultdict(set)
        for path in paths:
            self.names |= {path.stem, *path.relative_to(ROOT).parts}
            tree = ast.parse(path.read_text(encoding="utf-8"))
            self.names |= set(defined_in(tree))
            for node in ast.walk(tree):
                if isinstance(node, ast.ClassDef):
                    bases = {part.id for base in node.bases for part in names_in(base)}
                    self.members[node.name] |= {*defined_in(node), *(f"<{one}" for one in bases)}

    def has(self, name: str) -> bool:
        """Return whether a name is defined; with dots, as a member of a class or of a module."""
        first, *rest = name.split(".")
        if not rest or first not in self.members:
            return all(part in self.names for part in (first, *rest))
        members = self.members[first]
        above = [one[1:] for one in members if one.startswith("<")]
        return rest[0] in members or any(
            self.has(f"{base}.{rest[0]}") for base in above if base in self.members
        )


@cache
def definitions() -> Definitions:
    """Return all that the project's code defines."""
    return Definitions(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))


def names_in(node: ast.AST) -> Iterator[ast.Name]:
    return (part for part in ast.walk(node) if isinstance(part, ast.Name))


def defined_in(tree: ast.AST) -> Iterator[str]:
    """Yield functions, classes, parameters, variables and attributes that are set."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def test_every_name_on_the_page_is_defined() -> None:
    known = definitions()
    names = names_on(PAGE.read_text(encoding="utf-8")) - ELSEWHERE
    assert len(names) > 60
    assert sorted(name for name in names if not known.has(name)) == []


def test_names_of_the_package_on_other_pages_are_defined() -> None:
    known = definitions()
    missing = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in PAGES
        for name in names_on(path.read_text(encoding="utf-8")) - ELSEWHERE
        if is_unmistakable(name) and not known.has(name)
    }
    assert sorted(missing) == []


def is_unmistakable(name: str) -> bool:
    """Return whether a name cannot be a plain word: `PACOracle`, `asked_classes`."""
    return "." not in name and ("_" in name or bool(re.match(r"[A-Z]+[a-z]+[A-Z]|[A-Z]{2}", name)))


def test_options_on_pages_exist() -> None:
    known = set(options_of(cli)) | OPTIONS_OF_OTHERS
    missing = set()
    for path in [PAGE, *PAGES, ROOT / "README.md"]:
        text = re.sub(r"\\\n", "", path.read_text(encoding="utf-8"))
        quoted = re.findall(r"`(--[a-z][^`]*|pdfalearn [^`]*)`", text)
        typed = re.findall(r"^(?:\$ |    )?(?:cd \w+ && )?(pdfalearn .*)$", text, re.MULTILINE)
        for option in re.findall(r"(?<!\S)--[a-z_-]+", "\n".join([*quoted, *typed])):
            if option not in known:
                missing.add(f"{path.relative_to(ROOT)}: {option}")
    assert sorted(missing) == []


def options_of(command: click.Command) -> Iterator[str]:
    """Yield the options of a command and of those below it."""
    yield "--help"
    for parameter in command.params:
        yield from (*parameter.opts, *parameter.secondary_opts)
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from options_of(below)


def test_names_are_found_and_missed() -> None:
    text = "`Rows.shared`, `learn(model)`, `a b`, `x.py`\n```python\n`no`\n```\n`Rows.shred` `lern`"
    known = definitions()
    assert names_on(text) == {"Rows.shared", "learn", "Rows.shred", "lern"}
    assert [name for name in sorted(names_on(text)) if not known.has(name)] == [
        "Rows.shred",
        "lern",
    ]


def steps_on(text: str) -> list[list[str]]:
    """Return the functions that each numbered step of the way of a word calls."""
    section = text.partition("## The way of a word\n")[2].partition("\n## ")[0]
    steps = re.findall(r"^\d+\. (.*?)(?=^\d+\. |^$|\Z)", section, re.DOTALL | re.MULTILINE)
    return [re.findall(r"`([A-Za-z_.]+)\(\)`", step) for step in steps]


def calls_of_learning() -> list[str]:
    """Return what a run calls, in order, by the names of functions with their classes."""
    calls: list[str] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            calls.append(frame.f_code.co_qualname)

    def weather(words: list[tuple[Hashable, ...]]) -> list[list[float]]:
        return [[0.1, 0.2, 0.7] if word[-1:] == ("rain",) else [0.1, 0.7, 0.2] for word in words]

    model = FunctionModel(weather, ["sun", "rain"])
    sys.setprofile(note)
    try:
        learn(model, equivalence=Quantization(10))
    finally:
        sys.setprofile(None)
    return calls


def test_the_way_of_a_word_is_the_one_that_a_run_takes() -> None:
    steps = steps_on(PAGE.read_text(encoding="utf-8"))
    assert 8 <= len(steps) <= 12
    assert all(steps)
    calls = calls_of_learning()
    missing = [name for step in steps for name in step if name not in calls]
    assert missing == []
    place = 0
    for name in (name for step in steps for name in step):
        assert name in calls[place:], f"{name} is called before the step above it"
        place = calls.index(name, place) + 1
