"""Scores of corpora, and a monitor of a running sequence."""

from __future__ import annotations

from math import inf, isnan
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, distill
from pdfalearn.analysis import score, surprisals
from pdfalearn.datasets import random_pdfa
from pdfalearn.errors import FileFormatError, InputError
from tests.analysis.brute import automata
from tests.support import examples

WORDS = st.lists(st.text("ab", max_size=6), max_size=20)


def exactly(pdfa: PDFA) -> PDFA:
    rows = pdfa.probabilities / pdfa.probabilities.sum(axis=1, keepdims=True)
    return PDFA(
        alphabet="ab", transitions=pdfa.transitions, probabilities=rows, initial=pdfa.initial
    )


@examples(80)
@given(pdfa=automata(), words=WORDS)
def test_scores_are_sums_over_the_possible_words(pdfa: PDFA, words: list[str]) -> None:
    result = score(pdfa, iter(words))
    logs = exactly(pdfa).log_probabilities(words)
    possible = logs > -inf
    assert (result.words, result.impossible) == (len(words), int((~possible).sum()))
    assert result.symbols == sum(map(len, words))
    assert result.log_probability == pytest.approx(logs[possible].sum(), rel=1e-12, abs=1e-12)
    positions = sum(len(word) + 1 for word, ok in zip(words, possible, strict=True) if ok)
    if positions:
        expected = np.exp(-logs[possible].sum() / positions)
        assert result.perplexity == pytest.approx(expected, rel=1e-12)
    else:
        assert isnan(result.perplexity)
    for one in result.first_impossible:
        word = words[one.number - 1]
        assert pdfa.prefix_probability(word[: one.position]) > 0
        assert one.symbol == (word[one.position] if one.position < len(word) else "$")
        longer = word[: one.position + 1]
        is_end = one.position == len(word)
        assert (pdfa.probability(word) if is_end else pdfa.prefix_probability(longer)) == 0


@examples(100)
@given(pdfa=automata(), word=st.text("ab", max_size=8))
def test_surprises_add_up(pdfa: PDFA, word: str) -> None:
    values = surprisals(pdfa, word)
    assert len(values) == len(word) + 1
    assert -values.sum() == pytest.approx(exactly(pdfa).log_probability(word), rel=1e-12, abs=1e-12)


@examples(80)
@given(
    pdfa=automata(),
    words=st.lists(st.tuples(st.text("abxy", max_size=6), st.booleans()), min_size=1, max_size=20),
    other=st.sampled_from([0.0, 1e-6, 0.25]),
)
def test_unknown_events_and_cut_words_are_as_in_slow_python(
    tmp_path_factory: pytest.TempPathFactory,
    pdfa: PDFA,
    words: list[tuple[str, bool]],
    other: float,
) -> None:
    path = tmp_path_factory.mktemp("words") / "words.txt"
    path.write_text("".join(f"{word} (cut)\n" if cut else f"{word}\n" for word, cut in words))
    rows, total, impossible = exactly(pdfa).probabilities, 0.0, 0
    for word, cut in words:
        state, chances = pdfa.initial, []
        for symbol in word:
            code = "ab".find(symbol)
            chances.append(rows[state, code + 1] if code >= 0 else other)
            if chances[-1] == 0:
                break
            state = pdfa.transitions[state, code] if code >= 0 else state
        else:
            chances += [] if cut else [rows[state, 0]]
        impossible += 0.0 in chances
        total += 0.0 if 0.0 in chances else float(np.log(chances).sum())
    result = score(pdfa, path, other=other)
    assert (result.words, result.impossible) == (len(words), impossible)
    assert result.log_probability == pytest.approx(total, rel=1e-9, abs=1e-9)
    text = "".join(word for word, _ in words)
    assert dict(result.unknown_events) == {x: text.count(x) for x in "xy" if x in text}
    assert result.unknown == text.count("x") + text.count("y")
    assert (result.cut, result.other) == (sum(cut for _, cut in words), other)


def test_a_file_is_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pdfa = random_pdfa(30, 2, seed=1)
    words = pdfa.sample(1000, seed=2).words
    path = tmp_path / "words.txt"
    path.write_text("".join("".join(map(str, word)) + "\n" for word in words))
    whole = score(pdfa, words)
    monkeypatch.setattr("pdfalearn.analysis.scoring._BATCH", 7)
    monkeypatch.setattr("pdfalearn.corpora.sources._BLOCK", 70)
    for source in (path, iter(words)):
        result = score(pdfa, source)
        assert result.log_probability == pytest.approx(whole.log_probability, rel=1e-12)
        assert (result.words, result.symbols) == (whole.words, whole.symbols)
        assert result.first_impossible == whole.first_impossible


def test_bad_lines_are_named(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    with pytest.raises(InputError, match="a corpus is a path, words or a frame, not 7"):
        score(random_pdfa(3, 2, seed=1), 7)  # type: ignore[arg-type]
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(FileFormatError, match="not a text in UTF-8"):
        score(random_pdfa(3, 2, seed=1), path)


def test_of_a_frontier_the_best_is_scored() -> None:
    words = ["ab", "b"] * 50
    frontier = distill(words, sizes=[1, 2], seed=1)
    assert score(frontier, words) == score(frontier.best, words)
