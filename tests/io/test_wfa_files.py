"""Automata that are not deterministic in files: our own, PAutomaC's, and on the command line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, load, save
from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.io import load_model, load_pdfa
from pdfalearn.io.pautomac import read_pautomac
from pdfalearn.models import PFA, WFA
from pdfalearn.multiplicity import minimise_wfa
from tests.cli.program import error_of, run, run_json
from tests.io.samples import ENDINGS
from tests.support import examples, paper_data

DETERMINISTIC = {6, 7, 9, 11, 13, 16, 18, 24}
MODEL = """I: (state)
\t(0) 0.25
\t(2) 0.75
F: (state)
\t(2) 0.5
S: (state,symbol)
\t(0,1) 1.0
\t(2,0) 0.2
\t(2,1) 0.8
T: (state,symbol,state)
\t(0,1,0) 0.9
\t(0,1,2) 0.1
\t(2,0,0) 1.0
\t(2,1,0) 0.5
\t(2,1,2) 0.5
"""
EXPECTED = PFA(
    ["0", "1"],
    initial=[0.25, 0.75],
    matrices=[[[0.0, 0.0], [0.5 * 0.2, 0.0]], [[0.9, 0.1], [0.5 * 0.8 * 0.5, 0.5 * 0.8 * 0.5]]],
    ends=[0, 0.5],
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pfa")


@examples(40)
@given(states=st.integers(1, 5), symbols=st.integers(1, 4), seed=st.integers(0, 10**6))
def test_all_comes_back_to_the_last_bit(states: int, symbols: int, seed: int, folder: Path) -> None:
    random = np.random.default_rng(seed)
    tables = random.dirichlet(np.full(1 + symbols * states, 0.1), size=states)
    matrices = tables[:, 1:].reshape(states, symbols, states).transpose(1, 0, 2)
    names = ["a", 'b"', 7, "\ud800"][:symbols]
    initial = random.dirichlet(np.ones(states))
    pfa = PFA(names, initial=initial, matrices=matrices, ends=tables[:, 0])
    wfa = WFA(names, initial=-initial, matrices=3 * matrices, ends=-tables[:, 0])
    for ending in ENDINGS:
        for saved in (pfa, wfa):
            save(saved, folder / f"x{ending}")
            loaded = load(folder / f"x{ending}")
            assert loaded == saved
            assert type(loaded) is type(saved)
            assert load_model(folder / f"x{ending}") == saved


def test_where_a_pdfa_is_needed(tmp_path: Path) -> None:
    save(EXPECTED, tmp_path / "x.json")
    with pytest.raises(InputError, match=r"x\.json: the automaton is not deterministic"):
        load_pdfa(tmp_path / "x.json")
    with pytest.raises(InputError, match=r"cannot save a file of this ending.*\.json\.gz, \.npz"):
        save(EXPECTED, tmp_path / "x.svg")


BAD = {
    "has the key|is not JSON": lambda text: text[:-20],
    "an object with the keys": lambda text: text.replace('"ends"', '"end"'),
    "initial sums to 0.5": lambda text: text.replace("[0.25,0.75]", "[0.25,0.25]"),
    "a part of initial is 'often', not a finite number": lambda text: text.replace(
        "[0.25,", '["often",'
    ),
    "a part of ends is '0.5', not a finite number": lambda text: text.replace("0.5]}", '"0.5"]}'),
    "a part of ends is True, not a finite number": lambda text: text.replace("0.5]}", "true]}"),
    "a part of ends is 10{17}.*, not a finite number": lambda text: text.replace(
        "0.5]}", f"{10**400}]}}"
    ),
    "a part of initial is 1, not a list": lambda text: text.replace("[0.25,0.75]", "1"),
    "matrices is not an array of numbers": lambda text: text.replace("[0.1,0.0]", "[0.1]"),
    "key 'accepting' is missing; a DFA needs": lambda text: text.replace('"pfa"', '"dfa"'),
    "its format is 'nfa', not 'pdfa'": lambda text: text.replace('"pfa"', '"nfa"'),
    "version 2 is newer": lambda text: text.replace('"version":1', '"version":2'),
    "neither a string nor an integer": lambda text: text.replace('["0","1"]', '["0",1.5]'),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_files(message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    save(EXPECTED, path)
    text = BAD[message](path.read_text())
    assert text != path.read_text()
    path.write_text(text)
    with pytest.raises(FileFormatError, match=message):
        load(path)


def test_a_wfa_is_no_pfa(tmp_path: Path) -> None:
    odd = WFA("a", initial=[1], matrices=[[[-0.5]]], ends=[1.5])
    save(odd, tmp_path / "x.json")
    text = (tmp_path / "x.json").read_text()
    (tmp_path / "x.json").write_text(text.replace('"wfa"', '"pfa"'))
    with pytest.raises(FileFormatError, match="matrices has entries that are not probabilities"):
        load(tmp_path / "x.json")
    (tmp_path / "x.json").write_text(text.replace("-0.5", "1e999"))
    with pytest.raises(FileFormatError, match="a part of matrices is inf, not a finite number"):
        load(tmp_path / "x.json")
    with pytest.raises(InputError, match="cannot save a file of this ending"):
        save(odd, tmp_path / "x.dot")


def test_bad_archives(tmp_path: Path) -> None:
    save(EXPECTED, tmp_path / "x.npz")
    with np.load(tmp_path / "x.npz") as archive:
        arrays = dict(archive)
    for name, other, message in (
        ("matrices", arrays["matrices"][:3], "it needs 3 dimensions"),
        ("initial", np.empty(0), "initial has the shape"),
        ("ends", arrays["ends"][:1], "and 1"),
        ("header", np.frombuffer(b"{}", np.uint8), "an object with the keys"),
    ):
        np.savez(tmp_path / "bad.npz", **{**arrays, name: other})
        with pytest.raises(FileFormatError, match=message):
            load(tmp_path / "bad.npz")


def test_a_model_of_pautomac(tmp_path: Path) -> None:
    path = tmp_path / "1.pautomac_model.txt"
    path.write_text(MODEL)
    loaded = load(path)
    assert loaded.alphabet == EXPECTED.alphabet
    assert loaded.initial.tolist() == EXPECTED.initial.tolist()
    assert loaded.matrices == pytest.approx(EXPECTED.matrices, abs=1e-15)
    assert loaded.ends.tolist() == EXPECTED.ends.tolist()


BAD_MODELS = {
    ("(0) 0.25", "(0) 0.2"): "line 2: the probabilities that words begin in states do not",
    ("(0,1,2) 0.1", "(0,1,2) 0.3"): "line 11: state 0, symbol 1: T: has 1.2, not 1",
    ("(2,0) 0.2", "(2,0) 0.1"): "line 5: state 2: its weights sum to 0.95, not to 1",
    ("\t(2,0,0) 1.0\n", ""): "line 8: state 2, symbol 0 has a probability, but no successor",
    ("(2,1,2) 0.5", "(9,1,2) 0.5"): "line 15: state 9 is unknown",
}


@pytest.mark.parametrize("bad", BAD_MODELS, ids=list(BAD_MODELS.values()))
def test_bad_models(bad: tuple[str, str], tmp_path: Path) -> None:
    path = tmp_path / "x.pautomac"
    path.write_text(MODEL.replace(*bad))
    with pytest.raises(FileFormatError, match=BAD_MODELS[bad]):
        load(path)


def test_the_models_of_the_competition() -> None:
    models = sorted((paper_data() / "pautomac").glob("*.model.gz"))
    if not models:
        pytest.skip("no pautomac in the folder of the data")
    for path in models:
        number = int(path.name.partition(".")[0])
        with gzip.open(path) as stream:
            model = read_pautomac(stream)  # type: ignore[arg-type]
        assert isinstance(model, PDFA if number in DETERMINISTIC else PFA)
        words = [line.split()[1:] for line in _lines(path.with_name(f"{number}.test.gz"))]
        solution = np.array(_lines(path.with_name(f"{number}.solution.gz")), dtype=float)
        found = np.exp(model.log_probabilities(words))
        assert found / found.sum() == pytest.approx(solution / solution.sum(), rel=1e-9)


def _lines(path: Path) -> list[str]:
    with gzip.open(path, "rt") as stream:
        return [line for line in stream.read().splitlines()[1:] if line.strip()]


@pytest.mark.slow
def test_the_command_line_takes_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("1.pautomac_model.txt").write_text(MODEL)
    lines = run("sample", "1.pautomac_model.txt", "--count", 20, "--seed", 3).stdout.splitlines()
    words = load("1.pautomac_model.txt").sample(20, seed=3).words
    assert lines == ["".join(map(str, word)) for word in words]
    run("learn", "1.pautomac_model.txt", "--kappa", 10, "--max-words", 300, "-o", "learnt.json")
    run("distill", "1.pautomac_model.txt", "--symbols", 500, "-o", "distilled.json")
    figures = run_json("evaluate", "1.pautomac_model.txt", "learnt.json", "--words", 50)
    assert figures["over_prefixes"]["l1"] < 0.2
    for command in (["info"], ["convert", "-o", "x.npz"], ["draw", "-o", "x.dot"]):
        error = error_of(command[0], "1.pautomac_model.txt", *command[1:])
        assert "is an automaton that is not deterministic, and here a deterministic one" in error
    assert json.loads(Path("learnt.json").read_text())["format"] == "pdfa"
    save(minimise_wfa(load("1.pautomac_model.txt")), "wfa.npz")
    run("distill", "wfa.npz", "--symbols", 500, "-o", "distilled.json")
    assert "is an automaton that is not deterministic" in error_of("info", "wfa.npz")
