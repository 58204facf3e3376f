"""Small models of the causal classes of transformers: right, computed whole, or refused."""

import os
from typing import Any

import numpy as np
import pytest

from tests.models.networks import needed_torch
from tests.support import mostly_slow, need_module

WRONG_ONCE = (
    "gpt_neo",
    "mpt",
    "bart",
    "plbart",
    "bigbird_pegasus",
    "camembert",
    "xlm-roberta-xl",
    "roformer",
)
"""Types whose answers were wrong where many words shared a sequence."""
SOME = 6


def types() -> list[str]:
    """Return all types of models where PDFALEARN_ALL_CLASSES is 1, else some and the known ones."""
    from benchmarks.causal_classes import model_types

    every = sorted(model_types())
    if os.environ.get("PDFALEARN_ALL_CLASSES") == "1":
        return every
    others = np.random.default_rng(22).choice(every, SOME, replace=False).tolist()
    return list(dict.fromkeys([*WRONG_ONCE, *others]))


def pytest_generate_tests(metafunc: Any) -> None:
    if metafunc.function is test_answers_are_right_or_refused:
        need_module("transformers")
        metafunc.parametrize("model_type", mostly_slow(types(), quick=2))


@pytest.mark.filterwarnings("ignore")  # of models that are made, not asked
def test_answers_are_right_or_refused(model_type: str) -> None:
    from benchmarks.causal_classes import judge

    needed_torch()
    verdict = judge(model_type)
    assert verdict.verdict in {"kept", "re-encoded", "refused", "not built"}, verdict
    if model_type in WRONG_ONCE:
        assert verdict.verdict == ("kept" if model_type == "gpt_neo" else "re-encoded")
    if verdict.verdict == "re-encoded":
        assert verdict.note, "it has to be said"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
@pytest.mark.parametrize(
    ("model_type", "keeps"), [("llama", True), ("phimoe", True), ("gpt_neo", True), ("bart", False)]
)
def test_coarse_rounding_is_told_from_wrong_answers(
    model_type: str, keeps: bool, precision: str
) -> None:
    from benchmarks.causal_classes import PROMPT, SYMBOLS, tiny_model
    from pdfalearn import TransformerModel

    network = tiny_model(model_type).to(getattr(needed_torch(), precision))
    model = TransformerModel(network, None, SYMBOLS, prompt=PROMPT, ends=[0, 2])
    assert model.keeps == keeps
