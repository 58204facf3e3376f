"""AT&T text that OpenFst's own programs compile."""

from __future__ import annotations

import math
import subprocess
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given

from pdfalearn import PDFA, save
from pdfalearn.datasets import figure_3, random_pdfa
from pdfalearn.errors import InputError
from tests.io.samples import odd_pdfas
from tests.strategies import pdfas
from tests.support import examples, need_program


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_program("fstcompile")
    return tmp_path_factory.mktemp("openfst")


def run(*command: str, folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, check=True)
    assert not done.stderr
    return done.stdout.decode()


def compiled(pdfa: PDFA, folder: Path) -> list[list[str]]:
    """What OpenFst prints of what it has compiled, as fields."""
    save(pdfa, folder / "x.att")
    save(pdfa, folder / "x.syms")
    options = ["--acceptor", "--isymbols=x.syms", "--keep_state_numbering"]
    run("fstcompile", *options, "--arc_type=log64", "x.att", "x.fst", folder=folder)
    text = run("fstprint", *options[:2], "x.fst", folder=folder)
    return [line.split("\t") for line in text.splitlines()]


def assert_same(pdfa: PDFA, lines: list[list[str]]) -> None:
    """Every arc and end, and no other, with weights to the digits that OpenFst prints."""
    names = {str(symbol): code for code, symbol in enumerate(pdfa.alphabet)}
    seen = 0
    for fields in lines:
        weight = float(fields[-1]) if len(fields) in (2, 4) else 0.0
        state, column = int(fields[0]), 0
        if len(fields) >= 3:
            text = "" if fields[2] == "%" else unquote(fields[2], errors="surrogatepass")
            column = names[text] + 1
            assert int(fields[1]) == pdfa.transitions[state, column - 1]
        expected = -math.log(pdfa.probabilities[state, column])
        assert weight == pytest.approx(expected, rel=1e-5, abs=1e-5)
        seen += 1
    assert seen == (pdfa.probabilities > 0).sum()


@examples(40)
@given(pdfa=pdfas())
def test_openfst_reads_every_transition(pdfa: PDFA, folder: Path) -> None:
    lines = compiled(pdfa, folder)
    assert int(lines[0][0]) == pdfa.initial
    assert_same(pdfa, lines)


@examples(60)
@given(pdfa=odd_pdfas())
def test_any_symbols(pdfa: PDFA, folder: Path) -> None:
    texts = [str(symbol) for symbol in (*pdfa.alphabet, pdfa.terminal)]
    if len(set(texts)) < len(texts):
        with pytest.raises(InputError, match="are both written"):
            save(pdfa, folder / "x.att")
        return
    assert_same(pdfa, compiled(pdfa, folder))


def test_all_words_have_probability_1(folder: Path) -> None:
    compiled(random_pdfa(30, seed=1), folder)
    distances = run("fstshortestdistance", "--reverse", "--delta=1e-9", "x.fst", folder=folder)
    (total,) = [float(v) for s, v in map(str.split, distances.splitlines()) if s == "0"]
    assert total == pytest.approx(0, abs=1e-5)


def test_arcs_of_the_standard_type_are_single_precision(folder: Path) -> None:
    compiled(figure_3(), folder)
    options = ["--acceptor", "--isymbols=x.syms", "--keep_state_numbering"]
    run("fstcompile", *options, "x.att", "y.fst", folder=folder)
    assert "arc type                                          standard" in run(
        "fstinfo", "y.fst", folder=folder
    )


def test_no_symbol_is_the_empty_one(tmp_path: Path) -> None:
    pdfa = PDFA(alphabet=["<eps>", 7], transitions=[[0, 0]], probabilities=[[0.5, 0.25, 0.25]])
    save(pdfa, tmp_path / "x.syms")
    assert (tmp_path / "x.syms").read_text() == "<eps>\t0\n%3Ceps%3E\t1\n7\t2\n"
