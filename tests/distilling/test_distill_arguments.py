"""Bad input to distilling, and questions that a frontier refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pdfalearn import Alphabet, Budget, Corpus, Frontier, FunctionModel, distill
from pdfalearn.datasets import figure_3
from pdfalearn.distilling.starting import check_sizes
from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.samplers import UniformWords

SMALL = Budget(max_symbols=200)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"budget": 200}, "budget 200 is not a Budget, such as Budget"),
        ({"budget": None}, "None is not a Budget"),
        ({"budget": Budget()}, "asking would never end; give max_symbols"),
        ({"budget": Budget(max_states=9)}, "asking would never end"),
        ({"budget": Budget(max_symbols=49)}, "max_symbols=49 is too small .* at least 50"),
        ({"budget": Budget(max_words=10)}, "max_words=10 is too small"),
        (
            {"budget": Budget(max_cost=9)},
            "max_cost bounds nothing, as the model has no cost; give",
        ),
        ({"budget": Budget(max_words=99, max_states=2)}, r"max_states is .* learning; .* sizes=\["),
        ({"budget": Budget(max_cost=9, max_word_length=3)}, "max_cost bounds nothing"),
        (
            {"budget": Budget(max_words=99, max_word_length=3)},
            "max_word_length .* sampler=ModelWords",
        ),
        ({"sizes": []}, "sizes is empty; give at least one"),
        ({"sizes": "16"}, "sizes is '16', not a list of integers"),
        ({"sizes": 16}, "sizes is 16, not a list of integers"),
        ({"sizes": [2.5]}, "a size"),
        ({"sizes": [True]}, "a size"),
        ({"sizes": ["2"]}, "a size"),
        ({"sizes": [4, 0]}, "a size"),
        ({"sizes": [-3]}, "a size"),
        ({"sampler": ["01", "0"]}, r"sampler=\['01', '0'\] is not a sampler, such as"),
        ({"sampler": "corpus.txt"}, "not a sampler"),
        ({"sampler": Corpus(["01", "0x"])}, "'x'"),
        ({"seed": -1}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"audit": -1}, "audit"),
    ],
)
def test_bad_arguments(options: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        distill(figure_3(), **{"budget": SMALL, **options})  # type: ignore[arg-type]


def test_what_is_not_a_model() -> None:
    with pytest.raises(InputError, match="neither a PDFA nor a LanguageModel"):
        distill(3, budget=SMALL)  # type: ignore[arg-type]


def test_a_corpus_file_with_unknown_symbols(tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt"
    path.write_text("01\n0x\n", encoding="utf-8")
    with pytest.raises(FileFormatError, match="x"):
        distill(figure_3(), budget=SMALL, sampler=Corpus(path))


def test_a_store_needs_an_fingerprint(tmp_path: Path) -> None:
    model = FunctionModel(lambda words: [[0.5, 0.5]] * len(words), Alphabet("a"))
    with pytest.raises(InputError, match="model_id"):
        distill(model, budget=SMALL, store=tmp_path / "store")


@pytest.fixture(scope="module")
def frontier() -> Frontier:
    return distill(figure_3(), budget=SMALL, sizes=[2, 4], sampler=UniformWords(5))


def test_sizes_that_a_frontier_lacks(frontier: Frontier) -> None:
    with pytest.raises(InputError, match="no automaton of at most 1 states; the smallest has 2"):
        frontier.at_most(1)
    with pytest.raises(InputError, match="states"):
        frontier.at_most(0)
    with pytest.raises(InputError, match="states"):
        frontier.point(2.5)  # type: ignore[arg-type]
    assert len(frontier.at_most(3)) == 2


def test_numpy_integers_and_generators_are_sizes() -> None:
    for sizes in [np.array([4, 2, 2]), (size for size in (2, 4)), {2, 4}, range(2, 5, 2)]:
        assert check_sizes(sizes) == [2, 4]
