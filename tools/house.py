"""Measure the size and the shape of the package: files, lines, names, and the way of a question.

``python tools/house.py`` prints a table for the package beside this folder, ``--root FOLDER`` for
another checkout, and two of them for both side by side, the first one as the one before. ``--json``
prints the figures for programs. ``tests/test_house.py`` holds the limits.

How things are counted, over all Python files in ``src/pdfalearn``:

code, docstrings, comments
    A line of a docstring is a line of the string with which a module, a class or a function begins,
    blank ones included. A line of code has any other token; so a string below an attribute is code
    (and counted once more in a row of its own). Comments are counted, also those behind code.
files over 400 lines, under 60 lines
    Lines of all kinds. Of the short ones, ``__init__.py`` and ``__main__.py`` are not counted.
modules with one importer
    Modules that exactly one other module of the same room imports, and no module of another room,
    and that define no public name. Imports anywhere in a file count, those in functions and for
    type checkers too. A name imported from a front door (an ``__init__.py`` that exports it) is
    imported from the module where it comes from; the front door itself is no importer of what it
    exports. Rooms are the folders and modules right below the package.
names used for several modules
    Names that two or more modules have, without leading underscores and without ``__init__``.
public names
    ``pdfalearn.__all__``; in all, also the names that the public rooms (``PUBLIC_ROOMS``) export.
lines of docstring for each public name
    The docstring of a public name and, of a class, those of its public members that it defines, on
    average over all public names.
functions named by a participle
    Functions whose name without underscores begins with a participle: ``joined``, ``checked_rows``.
functions, files, rooms and depth of a call
    See ``tools/house_runs.py``.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import os
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

PACKAGE = "pdfalearn"
PUBLIC_ROOMS = (
    "models",
    "oracles",
    "samplers",
    "learners",
    "analysis",
    "languages",
    "metrics",
    "datasets",
    "io",
    "errors",
    "testing",
    "equivalence",
    "results",
    "stores",
    "viewing",
    "watching",
    "experiments",
    "exploring",
    "corpora",
    "passive",
    "multiplicity",
)
"""Rooms whose front doors are public besides the package itself."""
LONG, SHORT = 400, 60
RUNS = ("names", "showing", "shell", "learn", "distill")
"""What ``house_runs.py`` measures in a process of its own."""

Figures = dict[str, float]

_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
_PARTICIPLE = re.compile(
    r"\w+ed|begun|bound|broken|built|chosen|cut|drawn|found|given|grown|held|hung|kept|known|laid|"
    r"learnt|led|left|lost|made|met|put|read|said|seen|sent|shown|spelt|spent|split|stuck|taken|"
    r"told|written"
)


def measure(root: Path, runs: Sequence[str] | None = None) -> Figures:
    """Return all figures of a checkout, in the order in which they are printed.

    Parameters
    ----------
    root : Path
        The folder of the checkout; its ``src`` is measured.
    runs : sequence of str, optional
        Which calls to run, by their names in ``house_runs.py``; all if not given.
    """
    sources = root / "src"
    files = sorted((sources / PACKAGE).rglob("*.py"))
    if not files:
        raise SystemExit(f"there is no package {PACKAGE} in {sources}")
    trees = {_module_of(path, sources): ast.parse(path.read_text("utf-8")) for path in files}
    figures = count_lines(files)
    figures["modules with one importer"] = len(modules_with_one_importer(trees))
    figures["names used for several modules"] = len(shared_names(trees))
    figures["functions named by a participle, %"] = share_of_participles(trees.values())
    for name in RUNS if runs is None else runs:
        figures |= run_in(root, name)
    return figures


def run_in(root: Path, name: str) -> Figures:
    """Run a call of ``house_runs.py`` in a process of its own, with the sources of a checkout."""
    script = str(Path(__file__).with_name("house_runs.py"))
    command = [sys.executable, "-P", script, name, *(PUBLIC_ROOMS if name == "names" else ())]
    paths = {"PYTHONPATH": str(root.resolve() / "src"), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(  # noqa: S603 (our own file)
        command, env={**os.environ, **paths}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{name} failed in {root}:\n{done.stderr}")
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    return figures


def count_lines(files: Sequence[Path]) -> Figures:
    """Return how many files and lines of each kind there are."""
    counts: Counter[str] = Counter()
    for path in files:
        text = path.read_text(encoding="utf-8")
        lines = len(text.splitlines())
        counts["lines in all"] += lines
        counts["over"] += lines > LONG
        counts["under"] += lines < SHORT and not path.name.startswith("__")
        counts.update(_kinds_of_lines(text))
    code = counts["lines of code"]
    return {
        "files": len(files),
        "lines in all": counts["lines in all"],
        "lines of code": code,
        "of these, lines of strings below attributes": counts["strings"],
        "lines of docstrings": counts["lines of docstrings"],
        "comments": counts["comments"],
        "comments for 100 lines of code": round(100 * counts["comments"] / code, 2),
        f"files over {LONG} lines": counts["over"],
        f"files under {SHORT} lines": counts["under"],
    }


def _kinds_of_lines(text: str) -> Counter[str]:
    docstrings: set[int] = set()
    strings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        statements = getattr(node, "body", None)
        for place, statement in enumerate(statements if isinstance(statements, list) else ()):
            if _is_string(statement):
                lines = range(statement.lineno, statement.end_lineno + 1)
                (strings if place else docstrings).update(lines)
    code: set[int] = set()
    comments = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        comments += token.type == tokenize.COMMENT
        if token.type not in _NO_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    sizes = {"lines of code": code - docstrings, "lines of docstrings": docstrings}
    counts = Counter({name: len(lines) for name, lines in sizes.items()})
    return counts + Counter({"strings": len(strings), "comments": comments})


def _is_string(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _module_of(path: Path, sources: Path) -> str:
    parts = path.relative_to(sources).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


class Imports:
    """Which modules of the package import which.

    Parameters
    ----------
    trees : dict of str to ast.Module
        The modules of the package by their full names.
    """

    def __init__(self, trees: dict[str, ast.Module]) -> None:
        self._trees = trees
        names = set(trees)
        self._doors = {name for name in names if any(n.startswith(name + ".") for n in names)}
        self.exports = {door: dict(_exports(trees[door])) for door in self._doors}
        self.importers: dict[str, set[str]] = {name: set() for name in trees}
        for name, tree in trees.items():
            for module, imported in _imports(tree):
                if self.exports.get(name, {}).get(imported) != module:
                    self._note(name, self.origin(module, imported))

    def origin(self, module: str, name: str) -> str:
        """Return the module of the package that a name comes from, through all front doors."""
        while self.exports.get(module, {}).get(name, module) != module:
            module = self.exports[module][name]
        inner = f"{module}.{name}"
        return inner if inner in self._trees else module

    def _note(self, importer: str, module: str) -> None:
        while module and module not in self._trees:
            module = module.rpartition(".")[0]
        if module and module != importer:
            self.importers[module].add(importer)


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the module and the name of everything that is imported, anywhere in a file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)


def _exports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the names that a front door exports, by an alias or ``__all__``, and their modules."""
    listed = {
        element.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
        for element in getattr(node.value, "elts", ())
        if isinstance(element, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if alias.asname == alias.name or alias.name in listed:
                    yield alias.name, node.module


def modules_with_one_importer(trees: dict[str, ast.Module]) -> list[str]:
    """Return the modules with one importer, in the same room, and without a public name."""
    imports = Imports(trees)
    doors = [PACKAGE, *(f"{PACKAGE}.{room}" for room in PUBLIC_ROOMS)]
    public = {
        imports.origin(module, name)
        for door in doors
        for name, module in imports.exports.get(door, {}).items()
    }
    return [
        name
        for name, importers in imports.importers.items()
        if len(importers) == 1
        and name not in public
        and _room_of(name) == _room_of(next(iter(importers)))
    ]


def _room_of(module: str) -> str:
    return ".".join(module.split(".")[:2])


def shared_names(modules: Iterable[str]) -> list[str]:
    """Return the names that several modules have; packages have theirs by their folders' names."""
    all_modules = list(modules)
    parents = {name.rpartition(".")[0] for name in all_modules}
    names = Counter(
        name.rpartition(".")[2].lstrip("_") for name in all_modules if name not in parents
    )
    return sorted(name for name, count in names.items() if count > 1)


def share_of_participles(trees: Iterable[ast.Module]) -> float:
    """Return the percentage of functions and methods whose names begin with a participle."""
    names = [
        node.name.strip("_").partition("_")[0]
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("__")
    ]
    participles = [name for name in names if _PARTICIPLE.fullmatch(name)]
    return round(100 * len(participles) / len(names), 1)


def format_table(columns: dict[str, Figures]) -> str:
    """Return a Markdown table of the figures of one checkout or several."""
    names = list(dict.fromkeys(name for figures in columns.values() for name in figures))
    width = max(map(len, names))
    lines = [f"| {'':{width}} | {' | '.join(columns)} |"]
    lines.append(f"| {'-' * width} | {' | '.join('-' * (len(c) - 1) + ':' for c in columns)} |")
    for name in names:
        cells = (
            f"{figures[name]:{len(column)},}" if name in figures else " " * len(column)
            for column, figures in columns.items()
        )
        lines.append(f"| {name:{width}} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(words: Sequence[str] | None = None) -> None:
    """Print the figures that the words of the command line ask for."""
    parser = argparse.ArgumentParser(prog="python tools/house.py", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--root", action="append", type=Path, help="a checkout; may be repeated")
    parser.add_argument("--json", action="store_true", help="print the figures for programs")
    arguments = parser.parse_args(words)
    roots: list[Path] = arguments.root or [Path(__file__).parents[1]]
    titles = ["before", "after"] if len(roots) == 2 else [root.resolve().name for root in roots]
    columns = {title: measure(root) for title, root in zip(titles, roots, strict=True)}
    text = json.dumps(columns, indent=2) if arguments.json else format_table(columns)
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main()
