from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from pdfalearn import PDFA, load, save
from pdfalearn.datasets import random_pdfa
from tests.io.foreign import PAUTOMAC
from tests.io.samples import complaint_about, load_bytes


def test_models_have_their_usual_names(tmp_path: Path) -> None:
    pdfa, path = random_pdfa(5, 2, seed=1), tmp_path / "6.pautomac_model.txt"
    save(pdfa, path)
    for name, data in (
        ("6.model", path.read_bytes()),
        ("6.model.gz", gzip.compress(path.read_bytes())),
    ):
        (tmp_path / name).write_bytes(data)
        assert load(tmp_path / name) == load(path)


@pytest.mark.parametrize("ending", [".pautomac", "1.pautomac_model.txt"])
def test_stopping_and_going_on(ending: str, tmp_path: Path) -> None:
    assert load_bytes(PAUTOMAC.encode(), ending, tmp_path) == PDFA(
        alphabet=["0", "3"],
        transitions=[[1, 0], [2, 2], [-1, -1]],
        probabilities=[[0.25, 0.75 * 0.2, 0.75 * 0.8], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]],
        initial=1,
    )


def text_of(pdfa: PDFA) -> str:
    """A PDFA as PAutomaC would write it; its symbols are the numbers 0, 1, …"""
    lines = ["I: (state)", f"\t({pdfa.initial}) 1.0", "F: (state)"]
    lines += [f"\t({q}) {row[0]!r}" for q, row in enumerate(pdfa.probabilities.tolist()) if row[0]]
    emissions, moves = ["S: (state,symbol) "], ["T: (state,symbol,state) "]
    for state, (stop, *row) in enumerate(pdfa.probabilities.tolist()):
        for symbol, probability in enumerate(row):
            if probability:
                emissions.append(f"\t({state},{symbol}) {probability / (1 - stop)!r}")
            if pdfa.transitions[state, symbol] >= 0:
                moves.append(f"\t({state},{symbol},{pdfa.transitions[state, symbol]}) 1.0")
    return "\n".join([*lines, *emissions, *moves, ""])


@pytest.mark.parametrize("seed", range(3))
def test_random_models(seed: int, tmp_path: Path) -> None:
    target = random_pdfa(50, 5, zero_probability=0.4, undefined=True, seed=seed)
    loaded = load_bytes(text_of(target).encode(), ".pautomac", tmp_path)
    assert loaded.alphabet == target.alphabet
    assert loaded.initial == target.initial
    assert (loaded.transitions == target.transitions).all()
    assert loaded.probabilities == pytest.approx(target.probabilities, abs=1e-12)


BAD = {
    ("I: (state)\n\t(1) 1.0\n", ""): "section I: is missing",
    ("S: (state,symbol) \n", ""): r"line 6: '\(0,0\) 0.2' is not an entry \(state\) PROBABILITY",
    ("\n\t(2) 1.0", ""): "line 12: state 2 is unknown: it is not in F: nor S:",
    ("\t(1) 1.0", "\t(7) 1.0"): "line 2: state 7 is unknown",
    ("(0,3,0)", "(0,3,9)"): "line 12: state 9 is unknown",
    ("\t(1) 1.0", "\t(1) 0.5"): "line 2: the probabilities that words begin in states do not",
    ("\t(1) 1.0", ""): "words begin in no state",
    ("\t(1,3,2) 1.0", "\t(1,3,2) 0.5"): "line 13: state 1, symbol 3: T: has 0.5, not 1",
    ("\t(1,3,2) 1.0\n", ""): "line 9: state 1, symbol 3 has a probability, but no successor in T:",
    ("0.8", "0.7"): "line 4: state 0: its weights sum to 0.925, not to 1",
    ("(2) 1.0", "(2) 0.9"): "line 5: state 2: its weights sum to 0.9, not to 1",
    ("\t(1,3) 1.0", "\t(1,3) 0.5"): "line 9: state 1: its weights sum to 0.5",
    ("0.25", "1.25"): "line 4: 1.25 is not a probability",
    ("0.25", "-0.25"): "line 4: -0.25 is not a probability",
    ("0.25", "nan"): "line 4: nan is not a probability",
    ("0.25", "often"): "line 4: 'often' is not a number",
    ("(0,3) 0.8", "(0,3)"): r"line 8: '\(0,3\)' is not an entry \(state,symbol\) PROBABILITY",
    ("(0,3) 0.8", "(0) 0.8"): r"line 8: '\(0\) 0.8' is not an entry",
    ("(0,3) 0.8", "(0,-3) 0.8"): r"line 8: '\(0,-3\) 0.8' is not an entry",
    ("(0,3) 0.8", "(0,0) 0.8"): "line 8: this entry is already on line 7; keep one",
    ("F: (state)", "I: (state)"): "line 3: section I: is already there",
    ("I: (state)", "J: (state)"): r"line 1: 'J: \(state\)' where a section such as I: belongs",
}


@pytest.mark.parametrize("bad", BAD, ids=list(BAD.values()))
def test_bad_files(bad: tuple[str, str], tmp_path: Path) -> None:
    text = PAUTOMAC.replace(*bad, 1)
    assert text != PAUTOMAC
    assert re.search(BAD[bad], complaint_about(text.encode(), ".pautomac", tmp_path))


def test_an_empty_file(tmp_path: Path) -> None:
    assert "section I: is missing" in complaint_about(b"", ".pautomac", tmp_path)


def test_the_data_of_the_competition_are_no_models(tmp_path: Path) -> None:
    (tmp_path / "1.pautomac.train").write_text("2 3\n2 0 1\n1 2\n")
    with pytest.raises(ValueError, match="cannot load a file of this ending"):
        load(tmp_path / "1.pautomac.train")
