"""Every code block of the README and of docs/ runs as it is printed.

The ``python`` and ``console`` blocks of a document run in order, in one folder that holds nothing
but a copy of examples/; its ``python`` blocks share one namespace. A ``text`` block right behind a
``python`` block is what that prints. In a ``console`` block a line ``$ command`` must exit with 0,
or with 1 where it ends in ``# exit 1``. The lines below it, if there are any, are what it prints. A
line ``…`` stands for any number of lines. In a document that says ``<!-- trained here -->``
decimals may differ by a tenth, as other machines train other networks; in one that says
``<!-- figures of Python 3.11 -->`` outputs are compared with that version only. What sets up or
fetches (make, pip, git, an environment) is not run. A document that says ``<!-- needs package -->``
is skipped where the package is not installed, and one that says ``<!-- needs program name -->``
where the program is not.
"""

from __future__ import annotations

import io
import os
import platform
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stdout
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

from tests.support import mostly_slow, need_module, need_program
from tools.blocks import Block, blocks_of

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
QUICK = [ROOT / "docs" / "index.md", ROOT / "docs" / "explanation" / "learning.md"]
DOCUMENTS.sort(key=lambda path: path not in QUICK)
SHOWING = [ROOT / "README.md", ROOT / "docs" / "index.md", *(ROOT / "docs/tutorial").glob("*.md")]
"""The documents that show all that they print."""
SEARCHED = {
    "anomal": 2,
    "checkpoint": 2,
    "CSV": 3,
    "ε-machine": 1,
    "idden Markov": 1,
    "Omit-Zero": 2,
    "n-gram": 2,
    "PDFA": 10,
}
"""Words that people search for, and how many documents at least have them."""
NOT_RUN = re.compile(r"(make|pip|git|source|python3 -m venv)\b")
REPOSITORY = (
    r"https://(?:raw\.githubusercontent|github)\.com/pdfalearn/pdfalearn/(?:blob/|raw/)?main/"
)
DECIMAL = re.compile(r"\d+\.\d+")
UNTESTED_NAMES = {"bash", "sh", "shell", "py", "pycon"}


class Command(NamedTuple):
    text: str
    exit_code: int
    output: list[str]


def commands_of(text: str) -> Iterator[Command]:
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, _, output = re.sub(r"\\\n", "", part).partition("\n")
        comment = re.search(r"\s+# exit (\d+)$", line)
        code = int(comment[1]) if comment else 0
        yield Command(line[: comment.start()] if comment else line, code, output.split("\n"))


def run_python(
    block: Block, module: ModuleType, folder: Path, where: str = "", tolerance: float = 0
) -> None:
    # The lines above keep the numbers of a traceback those of the document.
    path = folder / f"line_{block.line}.py"
    path.write_text("\n" * block.line + block.text, encoding="utf-8")
    printed = io.StringIO()
    with redirect_stdout(printed):
        SourceFileLoader(module.__name__, str(path)).exec_module(module)
    if block.output is not None:
        check_output(block.output, printed.getvalue(), where, tolerance)


def check_output(expected: str, output: str, where: str, tolerance: float) -> None:
    is_shown = matches(expected.strip("\n"), output, tolerance)
    assert is_shown, f"{where} printed:\n{output}\nnot:\n{expected}"


def run_command(command: Command, folder: Path, where: str = "", tolerance: float = 0) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    settings = {"PATH": path, "PYTHONUTF8": "1", "COLUMNS": "80"}
    done = subprocess.run(
        ["bash", "-c", command.text],
        cwd=folder,
        env=os.environ | settings,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=300,
    )
    where = f"{where}: $ {command.text}"
    assert done.returncode == command.exit_code, f"{where} exit code {done.returncode}"
    expected = "\n".join(command.output).strip("\n")
    if expected:
        check_output(expected, done.stdout, where, tolerance)


def matches(expected: str, output: str, tolerance: float = 0) -> bool:
    """Return whether an output is as shown, up to a tolerance for its decimals."""
    lines = [line.rstrip() for line in expected.split("\n")]
    decimals = [text for line in lines for text in DECIMAL.findall(line)] if tolerance else []
    pattern = "".join(r"(?:.*\n)*?" if line == "…" else re.escape(line) + "\n" for line in lines)
    for text in decimals:
        pattern = pattern.replace(re.escape(text), f"({DECIMAL.pattern})", 1)
    printed = "".join(f"{line.rstrip()}\n" for line in output.strip("\n").split("\n"))
    found = re.fullmatch(pattern, printed)
    return found is not None and all(
        abs(float(one) - float(other)) <= tolerance * max(1, float(one))
        for one, other in zip(decimals, found.groups(), strict=True)
    )


def check_written_pictures(text: str, beside: Path, folder: Path) -> None:
    """Check that a document that writes its own pictures and pages has written all of them."""
    for name in re.findall(r"\]\(([\w-]+\.(?:svg|html))\)", text):
        assert (beside / name).exists() or f'"{name}"' not in text or (folder / name).exists(), name


@pytest.mark.parametrize(
    "document",
    mostly_slow(DOCUMENTS, len(QUICK)),
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_every_block_of_a_document_runs(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks_folder, folder = tmp_path / "blocks", tmp_path / "folder"
    blocks_folder.mkdir()
    folder.mkdir()
    shutil.copytree(ROOT / "examples", folder / "examples")
    monkeypatch.chdir(folder)
    module = ModuleType("document")
    monkeypatch.setitem(sys.modules, "document", module)
    text = document.read_text(encoding="utf-8")
    for package in re.findall(r"<!-- needs (\w+) -->", text):
        need_module(package)
    for program in re.findall(r"<!-- needs program (\w+) -->", text):
        need_program(program)
    tolerance = 0.1 if "<!-- trained here -->" in text else 0
    versions = re.findall(r"<!-- figures of Python ([\d.]+) -->", text)
    is_checked = not versions or platform.python_version().startswith(f"{versions[0]}.")
    for block in blocks_of(text):
        where = f"{document.name}, line {block.line}"
        assert block.language not in UNTESTED_NAMES, f"{where}: call it python or console"
        if block.language == "python":
            shown = block if is_checked else block._replace(output=None)
            run_python(shown, module, blocks_folder, where, tolerance)
        elif block.language == "console":
            for command in commands_of(block.text):
                if not NOT_RUN.match(command.text):
                    compared = command if is_checked else command._replace(output=[])
                    run_command(compared, folder, where, tolerance)
    check_written_pictures(text, document.parent, folder)


def test_blocks_and_commands_are_found() -> None:
    text = (
        "x\n\n```python\na = 1\n```\n\n```console\n$ one \\\n  two  # exit 3\nout\n$ three\n```\n"
        "```python\nprint(a)\n```\n\n```text\n1\n```\n\nelse\n\n```text\nmore\n```\n"
    )
    python, console, shown, more = blocks_of(text)
    assert python == Block("python", "a = 1\n", 3)
    assert (shown.text, shown.output) == ("print(a)\n", "1\n")
    assert (more.language, more.output) == ("text", None)
    first, second = commands_of(console.text)
    assert first == Command("one   two", 3, ["out", ""])
    assert second.text == "three"


@pytest.mark.parametrize(
    ("expected", "is_match"),
    [
        ("a\nb\nc", True),
        ("a\n…", True),
        ("…\nc", True),
        ("a\n…\nb\n…\nc", True),
        ("a\nb", False),
        ("…\nb", False),
        ("a\nb\nC", False),
    ],
)
def test_output_is_compared_line_by_line(expected: str, is_match: bool) -> None:
    assert matches(expected, "a\nb  \nc\n") is is_match


def test_decimals_of_what_is_trained_may_differ() -> None:
    expected = "3 states\n…\n  0.71 and 0.2\n…"
    assert matches(expected, "3 states\nx\n  0.68 and 0.21\n", tolerance=0.1)
    assert not matches(expected, "3 states\n  0.51 and 0.21\n", tolerance=0.1)
    assert not matches(expected, "4 states\n  0.71 and 0.2\n", tolerance=0.1)
    assert not matches(expected, "3 states\nx\n  0.68 and 0.21\n")


@pytest.mark.parametrize("path", SHOWING, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_newcomers_read_shows_all_that_it_prints(path: Path) -> None:
    blocks = list(blocks_of(path.read_text("utf-8")))
    python = [block for block in blocks if block.language == "python" and "print(" in block.text]
    assert [f"line {block.line}" for block in python if block.output is None] == []
    commands = [
        one for block in blocks if block.language == "console" for one in commands_of(block.text)
    ]
    silent = [one.text for one in commands if not any(one.output) and "> " not in one.text]
    assert [text for text in silent if not NOT_RUN.match(text)] == []


def test_a_wrong_shown_output_is_noticed(tmp_path: Path) -> None:
    module = ModuleType("document")
    run_python(Block("python", "print(1 + 1)", 0, "2\n"), module, tmp_path)
    with pytest.raises(AssertionError, match="printed"):
        run_python(Block("python", "print(1 + 1)", 0, "3\n"), module, tmp_path)


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        (Command("false", 0, []), "exit code 1"),
        (Command("true", 1, []), "exit code 0"),
        (Command("echo one", 0, ["two"]), "printed"),
    ],
)
def test_a_wrong_document_is_noticed(command: Command, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=complaint):
        run_command(command, tmp_path)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere_and_nothing_is_left_to_fill_in(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"^(TABLE|TBD)$", text, re.MULTILINE)
    for link in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert (path.parent / link).exists() or is_written(path.parent / link), link
    for link in re.findall(REPOSITORY + r"([^)#\s]+)", text):
        assert (ROOT / link).exists(), link


def is_written(file: Path) -> bool:
    """Return whether a block of a document beside the file writes it."""
    texts = [path.read_text(encoding="utf-8") for path in file.parent.glob("*.md")]
    return any(f'"{file.name}"' in block.text for text in texts for block in blocks_of(text))


def test_links_of_the_readme_lead_to_files_and_are_whole_in_a_package() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
    assert len(links) > 10
    assert [link for link in links if not (ROOT / link.partition("#")[0]).exists()] == []
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    hook = settings["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    for each in hook["substitutions"]:
        text = re.sub(each["pattern"], each["replacement"], text)
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert [link for link in links if not link.startswith("https://")] == []


@pytest.mark.parametrize("word", SEARCHED)
def test_words_that_people_search_for_are_on_pages(word: str) -> None:
    pages = [path for path in DOCUMENTS if word in path.read_text("utf-8")]
    assert len(pages) >= SEARCHED[word], f"{word!r} is on {len(pages)} pages"


def test_pictures_of_the_readme_are_small() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    pictures = re.findall(r"\]\(([\w./-]+\.(?:png|svg))\)", text)
    assert len(pictures) == 2
    assert all((ROOT / picture).stat().st_size < 150_000 for picture in pictures)
