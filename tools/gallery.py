"""Make the pictures and pages of the gallery while the site is built.

The ``python`` blocks of each document of docs/gallery/ run in a folder of their own. What they
write there (.svg, .html) is put beside the document in the site. The same blocks run as tests.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.blocks import blocks_of

ROOT = Path(__file__).parents[1]
FOLDER = "gallery"
_KINDS = (".html", ".svg")


def on_files(files: Any, config: Any, **_: Any) -> Any:
    """Add what was made to the files of the site; MkDocs calls this once."""
    from mkdocs.structure.files import File

    for name, content in made_files():
        files.append(File.generated(config, f"{FOLDER}/{name}", content=content))
    return files


def made_files() -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of everything that the gallery's documents write."""
    for document in sorted((ROOT / "docs" / FOLDER).glob("*.md")):
        yield from made_by(document.read_text("utf-8"), document.name)


def made_by(text: str, name: str) -> Iterator[tuple[str, bytes]]:
    """Run the blocks of one document, and yield what they have written."""
    script = "\n".join(block.text for block in blocks_of(text) if block.language == "python")
    if not script:
        return
    with tempfile.TemporaryDirectory() as folder:
        _run(script, name, folder)
        for path in sorted(Path(folder).iterdir()):
            if path.suffix in _KINDS:
                yield path.name, path.read_bytes()


def _run(script: str, name: str, folder: str) -> None:
    paths = [str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", script],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONUTF8": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    if done.returncode != 0:
        raise RuntimeError(f"the blocks of docs/{FOLDER}/{name} do not run:\n{done.stderr}")
