"""Progress in a cell of a notebook, by a real kernel."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import need_module

LEARNING = """
import sys, time
from pdfalearn import Budget, FunctionModel, distill, learn
from pdfalearn.datasets import random_pdfa
assert "matplotlib" not in sys.modules
inner = random_pdfa(30, seed=1)
def answer(words):
    time.sleep(0.02)
    return inner.next_distributions(words)
model = FunctionModel(answer, inner.alphabet)
"""
LEARN = "states = len(learn(model, progress=True).pdfa)"
DISTILL = "frontier = distill(model, budget=Budget(max_symbols=300), progress=True)"


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> list[list[dict[str, Any]]]:
    """Run a notebook; give what each of its cells shows in the end."""
    need_module("ipykernel")
    nbformat, nbclient = need_module("nbformat"), need_module("nbclient")
    cells = [nbformat.v4.new_code_cell(source) for source in (LEARNING, LEARN, DISTILL)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    folder = str(tmp_path_factory.mktemp("notebook"))
    nbclient.NotebookClient(
        notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": folder}}
    ).execute()
    return [cell["outputs"] for cell in notebook.cells]


@pytest.mark.slow
def test_one_line_is_renewed_and_the_last_one_stays(outputs: list[list[dict[str, Any]]]) -> None:
    first, learning, distilling = outputs
    assert first == []
    for cell, told in ((learning, "learning: 29 states, "), (distilling, "distilling: measuring")):
        (output,) = cell
        assert output["output_type"] == "display_data"
        assert output["data"]["text/plain"].startswith(told)
        assert [*output["data"]] == ["text/plain"]


def test_outside_of_notebooks_nothing_of_them_is_imported(tmp_path: Path) -> None:
    script = (
        "import sys; from pdfalearn import learn; from pdfalearn.datasets import figure_3; "
        "learn(figure_3(), progress=True); "
        "sys.exit('IPython' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], cwd=tmp_path).returncode == 0
