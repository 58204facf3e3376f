"""What tests of pictures share."""

from __future__ import annotations

import html
import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

from pdfalearn import PDFA

SIGNATURES = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}

EVIL = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "</svg></text><script>alert(1)</script>",
    "]]><script>",
    "\\N",
    'a", URL="javascript:alert(1)',
    "&lt;b&gt;",
    "javascript:alert(1)",
    "${7*7}`\u2028",
]
"""Texts that would run, or change what is shown, where they are not escaped."""


def one_state(*alphabet: object) -> PDFA:
    width = len(alphabet)
    rows = [[0, *[1 / width] * width]]
    return PDFA(alphabet=alphabet, transitions=[[0] * width], probabilities=rows)


def bigram(letters: str = "abcdefghijklmnopqrstuvwxyz '") -> PDFA:
    """A dense bigram of characters: every character may follow every other one."""
    size = len(letters)
    weights = np.random.default_rng(1).gamma(0.3, size=(size, size + 1)) + 1e-4
    rows = weights / weights.sum(axis=1, keepdims=True)
    return PDFA(alphabet=letters, transitions=[list(range(size))] * size, probabilities=rows)


def texts_of(svg: str) -> list[str]:
    """The lines of text of a picture, as a reader sees them."""
    return [html.unescape(text) for text in re.findall("<text[^>]*>(.*?)</text>", svg, re.DOTALL)]


def fake_dot(folder: Path, program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a program of one's own in the place of Graphviz's."""
    path = folder / "dot"
    command = shlex.join([sys.executable, "-c", program])  # a folder's name may have blanks
    path.write_text(f"#!/bin/sh\nexec {command}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
