"""The targets of the paper's experiments are learnt with the published sizes."""

from __future__ import annotations

import pytest

from pdfalearn import PDFA, Quantization, learn, load
from tests.learners.checks import assert_is_quotient
from tests.support import paper_data

ONE_STATE_FEWER = {"d10-4", "d16-0"}


def targets(pattern: str) -> list[tuple[str, PDFA]]:
    """The targets of an experiment by name."""
    paths = sorted((paper_data() / "paper-targets").glob(f"{pattern}.json.gz"))
    return [(path.name.removesuffix(".json.gz"), load(path)) for path in paths]


@pytest.mark.parametrize(
    ("experiment", "count"), [("exp1", 21), ("exp2", 35), ("exp4", 15), ("exp5", 40)]
)
def test_fast_quant_learns_all_at_kappa_1000(experiment: str, count: int) -> None:
    found = targets(f"{experiment}/*")
    assert len(found) == count
    for name, target in found:
        result = learn(target, equivalence=Quantization(1000))
        assert len(result.pdfa) == len(target) - (name in ONE_STATE_FEWER), name
        assert_is_quotient(result.pdfa, target, Quantization(1000))


@pytest.mark.parametrize("kappa", [10, 100, 500, 1000, 2000, 3000])
def test_fast_quant_learns_experiment_3_at_every_kappa(kappa: int) -> None:
    found = targets("exp3/*")
    assert len(found) == 7
    for name, target in found:
        result = learn(target, equivalence=Quantization(kappa))
        assert len(result.pdfa) == len(target), name
        assert_is_quotient(result.pdfa, target, Quantization(kappa))


@pytest.mark.parametrize("pattern", ["exp1/n100-[01]", "exp2/m2-0", "exp2/m4-0", "exp3/n300-0"])
def test_the_papers_quant_learns_some(pattern: str) -> None:
    for name, target in targets(pattern):
        learnt = learn(target, equivalence=Quantization(1000), learner="quant-paper").pdfa
        assert len(learnt) == len(target), name
        assert_is_quotient(learnt, target, Quantization(1000))
