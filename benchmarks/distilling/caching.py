"""Where networks are kept that were trained or fetched."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """Return the folder named by ``PDFALEARN_CACHE``, or one in the user's cache; make it."""
    named = os.environ.get("PDFALEARN_CACHE")
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = Path(named) if named else base / "pdfalearn"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
