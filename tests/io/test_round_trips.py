from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from pdfalearn import PDFA, load, save
from pdfalearn.datasets import random_pdfa
from tests.io.samples import ENDINGS, SMALL, bytes_of, load_bytes, odd_pdfas
from tests.support import paper_data

endings = pytest.mark.parametrize("ending", ENDINGS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("round_trips")


@endings
@given(pdfa=odd_pdfas())
def test_what_is_loaded_equals_what_was_saved(pdfa: PDFA, ending: str, folder: Path) -> None:
    loaded = load_bytes(bytes_of(pdfa, ending, folder), ending, folder)
    assert loaded == pdfa
    assert loaded.probabilities.tobytes() == pdfa.probabilities.tobytes()
    assert [type(s) for s in loaded.alphabet] == [type(s) for s in pdfa.alphabet]


@pytest.mark.slow
@endings
def test_a_large_pdfa(ending: str, tmp_path: Path) -> None:
    pdfa = random_pdfa(10**6 if ending == ".npz" else 10**4, 3, zero_probability=0.3, seed=1)
    save(pdfa, tmp_path / f"large{ending}")
    assert load(tmp_path / f"large{ending}") == pdfa


@pytest.mark.slow
def test_all_targets_of_the_paper(tmp_path: Path) -> None:
    paths = sorted(paper_data().glob("paper-targets/*/*.json.gz"))
    assert len(paths) == 118
    for path in paths:
        pdfa = load(path)
        document = json.loads(gzip.decompress(path.read_bytes()))
        assert pdfa.transitions.tolist() == document["transitions"]
        assert pdfa.probabilities.tolist() == document["probabilities"]
        assert load_bytes(bytes_of(pdfa, ".json", tmp_path), ".json", tmp_path) == pdfa


def test_json_has_one_row_a_line(tmp_path: Path) -> None:
    assert bytes_of(SMALL, ".json", tmp_path).decode().splitlines() == [
        '{"format":"pdfa","version":1,"alphabet":["a","b\\"",7],"terminal":"$","initial":1,',
        '"transitions":[',
        "[1,0,-1],",
        "[1,1,0]],",
        '"probabilities":[',
        "[0.1,0.2,0.7,0.0],",
        "[0.25,0.25,0.25,0.25]]}",
    ]


def test_json_of_any_layout_is_read(tmp_path: Path) -> None:
    document = json.loads(bytes_of(SMALL, ".json", tmp_path))
    text = json.dumps(dict(reversed(document.items())), indent=4)
    for data in (text.encode(), text.encode("utf-8-sig")):
        assert load_bytes(data, ".json", tmp_path) == SMALL


@endings
def test_the_same_pdfa_gives_the_same_bytes(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = bytes_of(SMALL, ending, tmp_path)
    monkeypatch.setattr("time.time", lambda: 2e9)
    assert bytes_of(SMALL, ending, tmp_path) == first
    assert b"bytes_of" not in first


def test_an_archive_is_readable_with_numpy(tmp_path: Path) -> None:
    save(SMALL, tmp_path / "small.npz")
    with np.load(tmp_path / "small.npz", allow_pickle=False) as arrays:
        assert (arrays["transitions"] == SMALL.transitions).all()
        assert (arrays["probabilities"] == SMALL.probabilities).all()
        assert json.loads(arrays["header"].tobytes())["alphabet"] == ["a", 'b"', 7]
