"""A real n-gram model, beside the program that it was made for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from examples.phone_trigram import write_arpa
from pdfalearn import PDFA, FunctionModel, Quantization, distinguish, learn, quotient
from pdfalearn.io import Ngram, read_arpa
from pdfalearn.oracles import ExactOracle
from tests.io.ngrams import SlowModel
from tests.support import need_module


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_module("pocketsphinx")
    path = tmp_path_factory.mktemp("phones") / "phones.arpa"
    write_arpa(path)
    return path


@pytest.fixture(scope="module")
def trigram(path: Path) -> Ngram:
    return read_arpa(path)


@pytest.fixture(scope="module")
def pdfa(trigram: Ngram) -> PDFA:
    return trigram.pdfa


def random_words(pdfa: PDFA, count: int) -> list[tuple[str, ...]]:
    """Words that need not be likely."""
    random = np.random.default_rng(1)
    symbols = [str(symbol) for symbol in pdfa.alphabet]
    lengths = random.integers(0, 6, size=count)
    return [tuple(random.choice(symbols, size=length).tolist()) for length in lengths]


def test_facts(trigram: Ngram) -> None:
    assert trigram.order == 3
    assert len(trigram.pdfa.alphabet) == 40
    assert trigram.pdfa.terminal == "</s>"
    assert len(trigram.pdfa) == 1507
    assert 5e-4 < trigram.largest_correction < 1e-3


def test_how_far_the_contexts_are_from_1(path: Path) -> None:
    """As the file has them, with contexts that no word reaches."""
    slow = SlowModel(path.read_text())
    words = {gram[0] for gram in slow.probabilities if len(gram) == 1} - {"<s>"}
    contexts = [gram for gram in slow.probabilities if len(gram) < 3 and "</s>" not in gram]
    sums = [sum(slow.probability(context, word) for word in words) for context in contexts]
    gaps = np.abs(np.array(sums) - 1)
    counts = [int((gaps < bound).sum()) for bound in (1e-6, 1e-3)]
    assert [len(gaps), *counts] == [1513, 4, 1513]


def test_the_automaton_says_what_the_program_says(pdfa: PDFA) -> None:
    """Both round logarithms to base 10 to about 1e-4."""
    package = need_module("pocketsphinx")
    config, logarithms = package.Config(), package.LogMath()
    file = package.get_model_path("en-us/en-us-phone.lm.bin")
    model = package.NGramModel(config, logarithms, file)
    words = random_words(pdfa, 300)
    rows = np.array(
        [
            [
                logarithms.exp(model.prob([symbol, *("<s>", *word)[:-3:-1]]))
                for symbol in (pdfa.terminal, *pdfa.alphabet)
            ]
            for word in words
        ]
    )
    rows /= rows.sum(axis=1, keepdims=True)
    assert np.abs(np.log10(pdfa.next_distributions(words)) - np.log10(rows)).max() < 2e-4


def test_the_automaton_says_what_the_file_says(path: Path, pdfa: PDFA) -> None:
    slow = SlowModel(path.read_text())
    words = random_words(pdfa, 300)
    symbols = [str(symbol) for symbol in pdfa.alphabet]
    rows = np.array([slow.row(word, symbols) for word in words])
    rows /= rows.sum(axis=1, keepdims=True)
    assert np.allclose(pdfa.next_distributions(words), rows, rtol=1e-9, atol=0)


@pytest.mark.slow
@pytest.mark.parametrize("kappa", [10, 100, 1000])
def test_learning_it_as_a_black_box_gives_its_quotient(kappa: int, pdfa: PDFA) -> None:
    equivalence = Quantization(kappa)
    model = FunctionModel(pdfa.next_distributions, pdfa.alphabet)
    learnt = learn(
        model, equivalence=equivalence, oracle=ExactOracle(pdfa, equivalence=equivalence)
    ).pdfa
    smaller = quotient(pdfa, equivalence=equivalence)
    assert len(learnt) == len(smaller)
    assert np.array_equal(
        quotient(learnt, equivalence=equivalence).transitions, smaller.transitions
    )
    assert distinguish(learnt, pdfa, equivalence=equivalence) is None
