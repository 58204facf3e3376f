"""The targets of the paper's experiments, where they are at hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pdfalearn import PDFA, Quantization, distinguish, load, quotient
from pdfalearn.equivalence import is_weakly_minimal
from tests.support import paper_data

ONE_STATE_FEWER = {"d10-4", "d16-0"}


def targets(experiment: str) -> Iterator[tuple[str, PDFA]]:
    for path in sorted((paper_data() / "paper-targets" / experiment).glob("*.json.gz")):
        yield Path(path.stem).stem, load(path)


def test_there_are_118() -> None:
    assert len(list((paper_data() / "paper-targets").glob("exp*/*.json.gz"))) == 118


@pytest.mark.parametrize("experiment", ["exp1", "exp2", "exp3", "exp4", "exp5"])
def test_quotients_at_kappa_1000_have_the_published_sizes(experiment: str) -> None:
    equivalence = Quantization(1000)
    for name, target in targets(experiment):
        smaller = quotient(target, equivalence=equivalence)
        assert len(smaller) == len(target) - (name in ONE_STATE_FEWER), name
        assert distinguish(target, smaller, equivalence=equivalence) is None, name


@pytest.mark.parametrize("kappa", [10, 100, 500, 1000, 2000, 3000])
def test_experiment_3_keeps_all_states_at_every_kappa(kappa: int) -> None:
    for name, target in targets("exp3"):
        assert is_weakly_minimal(target, equivalence=Quantization(kappa)), name
