"""Doctests that need an extra skip where it is not installed."""

from __future__ import annotations

import pytest

from tests.support import need_module

EXPRESSIONS = (
    *("Draws", "Drift", "Exploration", "Likely", "Step", "SymbolReading", "drift", "explore"),
    *("label_texts", "named_characters", "Baseline", "Estimate"),
    *("pdfalearn.exploring.any_model.probability", "pdfalearn.samplers.drawing.sample"),
)
NEEDED = {
    **dict.fromkeys(EXPRESSIONS, "interegular"),
    "Answers": "transformers",
    "pdfalearn.models.answers.Answers.join": "transformers",
    "TokenReading": "transformers",
    "learn_log": "drain3",
    "Report": "matplotlib",
    "write_report": "matplotlib",
    "RecurrentModel": "torch",
    "StepNetwork": "torch",
    "ServedModel": "httpx",
    "TransformerModel": "transformers",
    "from_pretrained": "transformers",
    "WLStar": "sklearn",
}
"""The package that the example of a public name needs; names that others share are whole."""


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Look the package of a doctest up by its name, or by the last part of it."""
    if isinstance(item, pytest.DoctestItem):
        package = NEEDED.get(item.name) or NEEDED.get(item.name.rpartition(".")[2])
        if package is not None:
            need_module(package)
