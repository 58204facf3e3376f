"""Storm's exact engine judges probabilities of languages, bounded ones, and expected lengths."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pdfalearn import PDFA, probability, save
from pdfalearn.analysis import length
from pdfalearn.errors import InputError
from pdfalearn.io.other_programs import write_drn
from pdfalearn.languages import HasLength
from pdfalearn.languages.dfa import trim_dfa
from pdfalearn.languages.kinds import intersection, language_dfa
from tests import storm
from tests.analysis.test_bounds_by_storm import random_case
from tests.support import mostly_slow

STEPS = 4


@pytest.mark.parametrize("seed", mostly_slow(range(10)))
def test_answers_are_those_of_storm(seed: int, tmp_path: Path) -> None:
    random, compared = np.random.default_rng(seed), 0
    for _ in range(40):
        pdfa, dfa, _ = random_case(random, [1])
        if trim_dfa(dfa) is None:
            continue
        product = storm.Product(pdfa, dfa)
        with (tmp_path / "x.drn").open("wb") as stream:
            write_drn(product.pdfa, stream)
        storm.add_labels(tmp_path / "x.drn", product.labels)
        formulas = ['P=? [F "yes"]', f'P=? [F<={STEPS} "yes"]', 'R=? [F "end"]']
        whole, short, steps = map(float, storm.exact(tmp_path / "x.drn", *formulas))
        assert probability(pdfa, dfa) == pytest.approx(whole, abs=1e-9)
        # The step into "yes" is one more than the word has symbols.
        both = intersection(
            language_dfa(dfa, pdfa.alphabet), language_dfa(HasLength(most=STEPS - 1), pdfa.alphabet)
        )
        at_most = 0.0 if both is None else probability(pdfa, both)
        assert at_most == pytest.approx(short, abs=1e-9)
        assert length(pdfa).mean == pytest.approx(steps - 2, rel=1e-9, abs=1e-9)
        if whole > 0:
            shares = probability(pdfa, HasLength(most=STEPS - 1), given=dfa)
            assert shares == pytest.approx(short / whole, abs=1e-9)
        else:
            with pytest.raises(InputError, match="has probability 0"):
                probability(pdfa, HasLength(), given=dfa)
        compared += 1
    assert compared > 20


def test_loops_near_one(tmp_path: Path) -> None:
    rows = [[1e-6, 1 - 1e-6, 0.0], [2**-20, 0.5, 0.5 - 2**-20]]
    pdfa = PDFA(alphabet="ab", transitions=[[0, 1], [1, 0]], probabilities=rows)
    save(pdfa, tmp_path / "x.drn")
    (steps,) = storm.exact(tmp_path / "x.drn", 'R=? [F "end"]')
    assert length(pdfa).mean == pytest.approx(float(steps) - 1, rel=1e-9)
