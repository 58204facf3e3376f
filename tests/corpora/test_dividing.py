"""Parts of a corpus add up to the whole, in this process, in others, and on a cluster."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, Alphabet, Corpus, refit, score
from pdfalearn.corpora import StepCounts, count_steps
from pdfalearn.corpora.dividing import map_parts
from pdfalearn.datasets import random_pdfa
from pdfalearn.errors import FileFormatError, InputError
from tests.support import need_module

TARGET = random_pdfa(8, 3, seed=2)


@given(
    words=st.lists(st.text("ab", max_size=4), min_size=1, max_size=30),
    count=st.integers(1, 40),
    end=st.sampled_from(["\n", "\r\n", ""]),
)
def test_a_text_is_split_at_lines(
    tmp_path_factory: pytest.TempPathFactory, words: list[str], count: int, end: str
) -> None:
    path = tmp_path_factory.mktemp("split") / "words.txt"
    text = (end or "\n").join(words) + end
    if not text:
        return
    path.write_text(text, newline="")
    corpus = Corpus(path, alphabet="ab")
    parts = corpus.split(count)
    assert [word for part in parts for word in part] == list(corpus)
    numbers = [one.number for part in parts for one in part._parts()]  # type: ignore[attr-defined]
    lengths = [len(one) for part in parts for one in part._parts()]
    assert numbers == [1 + sum(lengths[:place]) for place in range(len(numbers))]


def write_words(folder: Path) -> list[Path]:
    """Write words of the target into files of three kinds; some are cut, some have other events."""
    words = ["".join(map(str, word)) for word in TARGET.sample(900, seed=1, max_length=20).words]
    words[7] += " (cut)"
    words[400] = "0x1"
    texts = ["".join(f"{word}\n" for word in words[part::3]).encode() for part in range(3)]
    paths = [folder / "a.txt", folder / "b.txt.gz", folder / "c.txt"]
    for path, text in zip(paths, texts, strict=True):
        path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return paths


@pytest.mark.slow
def test_processes_change_nothing(tmp_path: Path) -> None:
    assert_same(Corpus(write_words(tmp_path)), {"processes": 2})


def assert_same(corpus: Corpus, workers: dict[str, object]) -> None:
    alone, together = score(TARGET, corpus), score(TARGET, corpus, **workers)  # type: ignore[arg-type]
    assert together.log_probability == pytest.approx(alone.log_probability, rel=1e-12)
    for name in ("words", "symbols", "impossible", "first_impossible", "unknown_events", "cut"):
        assert getattr(together, name) == getattr(alone, name), name
    assert (alone.unknown, alone.cut, alone.words) == (1, 1, 900)
    counts = count_steps(TARGET, corpus, **workers)  # type: ignore[arg-type]
    assert counts == count_steps(TARGET, corpus)
    assert refit(TARGET, counts) == refit(TARGET, corpus)


def test_a_cluster_changes_nothing(tmp_path: Path) -> None:
    distributed = need_module("distributed")
    options = {"n_workers": 1, "threads_per_worker": 2, "dashboard_address": None}
    with (
        distributed.LocalCluster(**options, processes=False) as cluster,
        distributed.Client(cluster) as client,
    ):
        assert_same(Corpus(write_words(tmp_path)), {"scheduler": client})


@pytest.mark.slow
def test_errors_of_other_processes_are_raised_here(tmp_path: Path) -> None:
    paths = write_words(tmp_path)
    with pytest.raises(InputError, match="ended with code 3"):
        map_parts(_Ending(), Corpus(paths), processes=2)
    paths[2].write_bytes(b"0 1\n" * 299_999 + b"\xff\n")  # the first blank is found before
    with pytest.raises(FileFormatError, match=r"c.txt, line 300000: byte 1"):
        score(TARGET, Corpus([paths[2], paths[0]]), processes=2)
    assert score(TARGET, Corpus(paths, skip_bad=True)).left_out == 1
    with pytest.raises(InputError, match="processes 0"):
        score(TARGET, Corpus(paths), processes=0)


def test_the_alphabet_decides_in_parts_as_in_the_whole(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("login\nlogout\n")
    for part in (Corpus(path), *Corpus(path).split(1)):
        assert list(part.encode(Alphabet(["login", "logout"]))) == [[0], [1]]


class _Ending:
    """Ends the process that calls it."""

    def __reduce__(self) -> tuple[object, ...]:
        return exec, ("import os; os._exit(3)",)

    def __call__(self, corpus: Corpus) -> int:
        return len(corpus)


@given(
    words=st.lists(st.lists(st.sampled_from("012x"), max_size=6), min_size=1, max_size=20),
    seed=st.integers(0, 99),
)
def test_counts_are_those_of_slow_python(words: list[list[str]], seed: int) -> None:
    pdfa = random_pdfa(5, 3, seed=seed)
    expected, cut = np.zeros(pdfa.probabilities.shape), 0
    for word in words:
        state = pdfa.initial
        for symbol in word:
            if symbol == "x":
                cut += 1
                break
            expected[state, int(symbol) + 1] += 1
            state = pdfa.transitions[state, int(symbol)]
        else:
            expected[state, 0] += 1
    counts = count_steps(pdfa, words)
    assert np.array_equal(counts.table, expected)
    assert (counts.words, counts.cut, counts.unknown) == (
        *(len(words), cut),
        sum(word.count("x") for word in words),
    )
    if counts.symbols or not counts.unknown:
        rows = expected + pdfa.probabilities
        fitted = refit(pdfa, words)
        order = [pdfa.initial, *np.delete(np.arange(len(pdfa)), pdfa.initial)]
        assert np.allclose(fitted.probabilities, (rows / rows.sum(axis=1)[:, None])[order])


def test_counts_of_another_automaton_are_refused() -> None:
    counts = count_steps(TARGET, ["01"])
    assert isinstance(counts, StepCounts)
    with pytest.raises(InputError, match="of another automaton"):
        refit(random_pdfa(9, 2, seed=1), counts)
    with pytest.raises(InputError, match="do not show where transitions could lead"):
        refit(TARGET, counts, transitions=True)
    assert isinstance(refit(TARGET, ["01x", "2"], transitions=True), PDFA)
    with pytest.raises(InputError, match="cut before their first symbol"):
        refit(TARGET, ["x"], transitions=True)
