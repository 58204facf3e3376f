"""Plain English: docstrings begin as those of every API do."""

import ast
import re
from pathlib import Path

import pytest

FOLDERS = ("src", "tests", "tests_served", "benchmarks", "examples")
FILES = [
    path
    for folder in FOLDERS
    for path in sorted((Path(__file__).parents[1] / folder).rglob("*.py"))
]
UNUSUAL = {"Give", "Gives", "Say", "Says", "Tell", "Tells"}
"""First words for which there is a usual one: return, yield, print, ask."""
RIDDLES = re.compile(
    r"(?<![Tt]here )\bis no (?!longer\b|more\b)|\b[Ss]o many\b|\b[Ww]hom\b|\b[Ii]n the mean\b"
)
"""Phrases with a plainer form: "is not a", "at most this many", "the model", "on average"."""
FILE_AS_NAME = re.compile(r"\[[\w/-]+\.md\]\(")
"""A link that shows the name of a file; the title of the page says more."""
DOCUMENTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def docstrings(path: Path) -> list[tuple[ast.AST, str]]:
    """Return the functions and classes of a file that have a docstring, with it."""
    nodes = [
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, DOCUMENTED)
    ]
    return [(node, text) for node in nodes if (text := ast.get_docstring(node))]


def returns_nothing(node: ast.AST) -> bool:
    """Return whether a function is annotated to return None."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.returns is None:
        return False
    return ast.unparse(node.returns) == "None"


def test_there_are_files() -> None:
    assert len(FILES) > 500


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_begin_with_usual_verbs(folder: str) -> None:
    root = Path(__file__).parents[1]
    found = [
        f"{path.relative_to(root)}: {text.splitlines()[0]}"
        for path in FILES
        if path.is_relative_to(root / folder)
        for node, text in docstrings(path)
        if text.split()[0] in UNUSUAL or (text.startswith("Return ") and returns_nothing(node))
    ]
    assert found == []


def lines_with(pattern: re.Pattern[str], paths: list[Path]) -> list[str]:
    """Return the lines of files in which a pattern is found, with their places."""
    return [
        f"{path}:{number}: {line.strip()}"
        for path in paths
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if pattern.search(line)
    ]


def test_the_package_and_its_pages_have_no_riddles() -> None:
    root = Path(__file__).parents[1]
    paths = [
        root / "README.md",
        *(root / "docs").rglob("*.md"),
        *(root / "src").rglob("*.py"),
        *(root / "src").rglob("*.js"),
    ]
    assert lines_with(RIDDLES, paths) == []


def test_links_of_pages_are_named_by_what_they_lead_to() -> None:
    root = Path(__file__).parents[1]
    assert lines_with(FILE_AS_NAME, list((root / "docs").rglob("*.md"))) == []
