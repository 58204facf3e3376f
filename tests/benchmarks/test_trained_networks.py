"""Networks are trained on words of an automaton once, and read from a file then."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.distilling import networks
from benchmarks.distilling.answers import asked
from benchmarks.distilling.black_boxes import random_target
from benchmarks.distilling.measuring import divergence
from pdfalearn.testing import check_model
from tests.models.networks import needed_torch


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needed_torch()
    monkeypatch.setenv("PDFALEARN_CACHE", str(tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gru", "lstm"])
def test_the_same_network_is_trained_and_read(kind: str, tmp_path: Path) -> None:
    training = import_module("benchmarks.distilling.training")
    target = random_target(4, 2, seed=1)
    settings = {"hidden": 8, "words": 100, "steps": 3}
    network = training.trained(target, kind, **settings)
    (file,) = tmp_path.iterdir()
    written = file.stat().st_mtime_ns
    assert training.trained(target, kind, **settings).fingerprint == network.fingerprint
    assert file.stat().st_mtime_ns == written
    file.unlink()
    assert training.trained(target, kind, **settings).fingerprint == network.fingerprint
    assert training.trained(target, kind, seed=1, **settings).fingerprint != network.fingerprint
    check_model(network)


@pytest.mark.slow
def test_training_brings_a_network_near_its_target() -> None:
    training = import_module("benchmarks.distilling.training")
    target = networks.TARGETS["tomita-1"]()
    for steps, least, most in ((1, 0.05, 1.0), (100, 0.0, 0.01)):
        network = training.trained(target, "lstm", words=2000, steps=steps)
        assert least <= divergence(target, asked(network, 1000, seed=1)).total <= most


def test_examples_run() -> None:
    training = import_module("benchmarks.distilling.training")
    assert doctest.testmod(training).failed == 0
