"""The tutorial runs as it is printed, by a real kernel."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import pdfalearn
from tests.support import need_module, need_program

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial" / "weather.ipynb"
SOURCE = Path(pdfalearn.__file__).parents[1]


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """The cells of the tutorial that have code, after they were run."""
    need_program("dot")
    need_module("ipykernel")
    nbformat, nbclient = need_module("nbformat"), need_module("nbclient")
    notebook = nbformat.read(TUTORIAL, 4)
    client = nbclient.NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path_factory.mktemp("tutorial"))}},
    )
    client.execute(env=os.environ | {"PYTHONPATH": str(SOURCE)})
    return [cell for cell in notebook.cells if cell["cell_type"] == "code"]


def data_of(cell: Any) -> dict[str, str]:
    (output,) = cell["outputs"]
    data: dict[str, str] = output["data"]
    return data


def test_nothing_is_stored_in_it() -> None:
    nbformat = need_module("nbformat")
    notebook = nbformat.read(TUTORIAL, 4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


@pytest.mark.slow
def test_every_cell_shows_what_it_should(cells: list[Any]) -> None:
    model, result, picture, question, frontier = cells
    assert model["outputs"] == []
    assert "<pre>pac: with probability" in data_of(result)["text/html"]
    assert "data:image/svg+xml" in data_of(result)["text/html"]
    assert "Weather" in data_of(picture)["image/svg+xml"]
    assert 0 < float(data_of(question)["text/plain"]) < 1
    assert "best" in data_of(frontier)["text/html"]
    for cell in cells[1:]:
        assert len(data_of(cell)["text/plain"]) < 200
