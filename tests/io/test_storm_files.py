"""Chains in Storm's DRN format and programs in PRISM's language: Storm reads both."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from pdfalearn import PDFA, save
from pdfalearn.datasets import chain, figure_3
from pdfalearn.errors import InputError
from pdfalearn.io.other_programs import write_intervals
from tests import storm
from tests.io.samples import odd_pdfas
from tests.strategies import pdfas
from tests.support import examples


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("storm")


def steps_to_the_end(pdfa: PDFA) -> tuple[list[float], float, float]:
    """P(length ≤ 0, 1, 2, 3), P(a word ends) and the expected number of steps, all solved for."""
    moves = np.zeros((len(pdfa), len(pdfa)))
    states, symbols = (pdfa.probabilities[:, 1:] > 0).nonzero()
    places = (states, pdfa.transitions[states, symbols])
    np.add.at(moves, places, pdfa.probabilities[states, symbols + 1])
    ends, at_most = np.zeros(len(pdfa)), []
    for _ in range(4):
        ends = pdfa.probabilities[:, 0] + moves @ ends
        at_most.append(float(ends[pdfa.initial]))
    # Only states that can end take part, and only those are counted that must.
    can_end = np.linalg.matrix_power(moves + np.eye(len(pdfa)), 64) @ pdfa.probabilities[:, 0] > 0
    inner = moves[np.ix_(can_end, can_end)]
    solved = np.zeros(len(pdfa))
    solved[can_end] = np.linalg.solve(
        np.eye(int(can_end.sum())) - inner, pdfa.probabilities[can_end, 0]
    )
    total = float(solved[pdfa.initial])
    if total < 1 - 1e-9:
        return at_most, total, np.inf
    reached = np.linalg.matrix_power(moves + np.eye(len(pdfa)), 64)[pdfa.initial] > 0
    part = moves[np.ix_(reached, reached)]
    visits = np.linalg.solve(np.eye(len(part)) - part, np.ones(len(part)))
    return at_most, total, float(visits[int(reached[: pdfa.initial].sum())])


@pytest.mark.slow
@examples(60)
@given(pdfa=pdfas(max_states=5))
def test_storm_computes_what_the_automaton_says(pdfa: PDFA, folder: Path) -> None:
    save(pdfa, folder / "x.drn")
    save(pdfa, folder / "x.pm")
    formulas = [f'P=? [F<={steps} "end"]' for steps in (1, 2, 3, 4)]
    formulas += ['P=? [F "end"]', 'R{"steps"}=? [F "end"]']
    at_most, total, steps = steps_to_the_end(pdfa)
    for values in (
        storm.exact(folder / "x.drn", *formulas),
        storm.exact_of_program(folder / "x.pm", *formulas),
    ):
        assert [float(value) for value in values[:4]] == pytest.approx(at_most, abs=1e-12)
        assert float(values[4]) == pytest.approx(total, abs=1e-9)
        assert float(values[5]) == pytest.approx(steps, rel=1e-9)


@examples(60)
@given(pdfa=odd_pdfas())
def test_any_symbols(pdfa: PDFA, folder: Path) -> None:
    save(pdfa, folder / "odd.drn")
    storm.exact(folder / "odd.drn", 'P=? [F<=1 "end"]')
    texts = [str(symbol) for symbol in (*pdfa.alphabet, pdfa.terminal)]
    if len(set(texts)) < len(texts):
        with pytest.raises(InputError, match="are both written"):
            save(pdfa, folder / "odd.pm")
        return
    save(pdfa, folder / "odd.pm")
    labels = re.findall('label "(last_[^"]*)"', (folder / "odd.pm").read_text())
    formulas = [f'P=? [F<=1 "{label}"]' for label in labels]
    values = storm.exact_of_program(folder / "odd.pm", *formulas)
    expected = pdfa.probabilities[pdfa.initial, 1:]
    assert [float(value) for value in values] == pytest.approx(expected.tolist(), abs=1e-15)


def test_a_label_for_every_symbol(tmp_path: Path) -> None:
    save(figure_3(), tmp_path / "x.pm")
    formulas = ['P=? [F "end" & "last_1"]', 'P=? [F "end" & "last_0"]', 'P=? [F "last_1"]']
    ones, zeros, ever = map(float, storm.exact_of_program(tmp_path / "x.pm", *formulas))
    assert ones + zeros == pytest.approx(1, abs=1e-12)
    assert ones > zeros
    assert ones < ever < 1


def test_what_is_not_ascii_stays_out_of_programs(tmp_path: Path) -> None:
    pdfa = PDFA(alphabet=["é*/"], transitions=[[0]], probabilities=[[0.5, 0.5]])
    save(pdfa, tmp_path / "x.pm")
    assert (tmp_path / "x.pm").read_bytes().isascii()


def test_long_programs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^a PRISM program of 1,001 states .* save as \.drn"):
        save(chain(1001), tmp_path / "x.pm")
    save(chain(1001), tmp_path / "x.drn")
    assert [path.name for path in tmp_path.iterdir()] == ["x.drn"]


def test_intervals(tmp_path: Path) -> None:
    pdfa = figure_3()
    lows, highs = pdfa.probabilities * 0.9, np.minimum(pdfa.probabilities * 1.1, 1)
    with (tmp_path / "x.drn").open("wb") as stream:
        write_intervals(pdfa, lows, highs, stream)
    storm.add_labels(tmp_path / "x.drn", {"last": np.arange(4) == 3})
    least, greatest = storm.interval_values(tmp_path / "x.drn", 'P=? [F<=2 "end"]')
    assert (least, greatest) == pytest.approx((0.09, 0.11), abs=1e-12)
    least, greatest = storm.interval_values(tmp_path / "x.drn", 'P=? [F<=2 "last"]')
    # At least 0.09 end and at least 0.27 go elsewhere, and at most 0.11 and 0.33.
    assert (least, greatest) == pytest.approx((0.56, 0.64), abs=1e-12)
