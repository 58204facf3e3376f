"""Corpora: files as they are printed, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import Alphabet, Corpus, Quantization
from pdfalearn.alphabet import Symbol, Word
from pdfalearn.datasets import random_pdfa
from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.io.word_files import WordNotation
from pdfalearn.models import AutomatonModel
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.samplers import CorpusWords
from tests.cli.program import run

CHARACTERS = st.one_of(st.characters(codec="utf-8"), st.sampled_from(" '\"\\nx1b\n\t(cut)\x1b"))
SYMBOLS = st.one_of(
    CHARACTERS,
    st.text(CHARACTERS, max_size=3),
    st.integers(0, 99),
    st.sampled_from(["(cut)", " (cut)", "'a", "b'", "a b", "\\n", "''", "' '"]),
)
ALPHABETS = st.one_of(
    st.lists(SYMBOLS, min_size=1, max_size=7, unique_by=str),
    st.lists(CHARACTERS, min_size=1, unique=True),
).filter(lambda symbols: "$" not in symbols)


@given(ALPHABETS, st.data())
def test_what_is_printed_is_read_again(symbols: list[Symbol], data: st.DataObject) -> None:
    alphabet = Alphabet(symbols)
    notation = WordNotation(alphabet)
    words = data.draw(st.lists(st.lists(st.sampled_from(symbols), max_size=5)))
    cut = [data.draw(st.booleans()) for _ in words]
    lines = [notation.line(word, is_cut=mark) for word, mark in zip(words, cut, strict=True)]
    assert all(line.replace("\t(cut)", "").isprintable() for line in lines)
    read = notation.read_block("".join(f"{line}\n" for line in lines))
    assert alphabet.decode_words(read.words) == [tuple(word) for word in words]
    assert read.is_cut.tolist() == cut
    assert read.unknown == []


@pytest.mark.parametrize("text", ["ab\n\nabba\n", "ab\r\n\r\nabba", "\ufeffab\n\nabba (cut)\n"])
def test_lines_are_words(text: str, tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text(text, encoding="utf-8", newline="")
    alphabet = Alphabet("ab")
    words = alphabet.decode_words(Corpus(path).encode(alphabet))
    assert words == [("a", "b"), (), ("a", "b", "b", "a")]


@pytest.mark.parametrize(
    ("symbols", "line", "word"),
    [
        (["up", "down"], "up down  up", ("up", "down", "up")),
        (["up", "down"], " up\tdown (cut)", ("up", "down")),
        (["up", "(cut)"], "up (cut)", ("up", "(cut)")),
        (["a b", "a"], "'a b' a 'a b'", ("a b", "a", "a b")),
        ([1, 12], "12 1", (12, 1)),
        (" (cut)", "t (cut)", tuple("t (cut)")),
        ("ab", " (cut)", ()),
        ("ab", "ab\t(cut)", ("a", "b")),
        ("ab ", "a b (cut)", ("a", " ", "b")),
        (" (cut)", "t (cut)\t(cut)", tuple("t (cut)")),
        (["up", "(cut)"], "up (cut)\t(cut)", ("up", "(cut)")),
        ("\\n", r"\n\\", ("\\", "n", "\\", "\\")),
        ("\\n\n", r"\n\\n\\", ("\n", "\\", "n", "\\")),
        ("\\nx\n", r"\x", ("\\", "x")),
        (["'a", "b'", "a b"], "'a b' b' 'a", ("a b", "b'", "'a")),
        (["'a", "b'", "a b"], "\"'a\" b'", ("'a", "b'")),
    ],
)
def test_words_are_read_by_their_alphabet(
    symbols: list[Symbol], line: str, word: tuple[Symbol, ...]
) -> None:
    alphabet = Alphabet(symbols)
    assert alphabet.decode(WordNotation(alphabet).codes(line)) == word


def test_what_the_command_prints_is_a_corpus(tmp_path: Path) -> None:
    target, words = tmp_path / "target.json", tmp_path / "words.txt"
    run("random", 30, "--seed", 1, "-o", target)
    words.write_text(run("sample", target, "--max-length", 1, "--seed", 0).stdout)
    assert "(cut)" in words.read_text()
    pdfa = random_pdfa(30, seed=1)
    observations = ObservationTree(AutomatonModel(pdfa), Quantization(10))
    drawn = CorpusWords(Corpus(words)).draw(200, pdfa, observations, np.random.default_rng(1))
    assert set(pdfa.alphabet.decode_words(drawn)) == set(pdfa.sample(10, 0, 1).words)
    assert observations.counts.words == 0


def written(path: Path, text: str) -> Corpus:
    path.write_text(text, encoding="utf-8")
    return Corpus(str(path))


@pytest.mark.parametrize(
    ("symbols", "text", "line", "symbol"),
    [
        ("ab", "ab\nabcba\n", 2, "c"),
        ("ab", "a b\nab\n", 2, "ab"),
        (["up", "down"], "up\n\nup left down\n", 3, "left"),
        (["up", "down"], "updown\n", 1, "updown"),
        (["a b", "c"], "c 'a b' a c\n", 1, "a"),
    ],
)
def test_unknown_symbols_are_named_with_their_line(
    symbols: list[str], text: str, line: int, symbol: str, tmp_path: Path
) -> None:
    corpus = written(tmp_path / "words.txt", text)
    with pytest.raises(FileFormatError) as caught:
        CorpusWords(corpus).unreachable_symbols(Alphabet(symbols))
    assert str(caught.value).endswith(
        f"words.txt, line {line}: symbol {symbol!r} is not in the alphabet"
    )


def test_unknown_symbols_of_a_list_are_named_with_their_word() -> None:
    with pytest.raises(InputError, match=r"word 2: symbol 'c' is not in the alphabet"):
        CorpusWords(Corpus(["ab", "ac"])).unreachable_symbols(Alphabet("ab"))


def test_an_empty_corpus_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there are no words of the corpus .*words.txt"):
        written(tmp_path / "words.txt", "")
    with pytest.raises(InputError, match="there are no words of a corpus of 0"):
        Corpus([])


def test_files_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes(b"ab\n\xff\n")
    with pytest.raises(
        FileFormatError, match=r"words.txt, line 2: byte 1 of the line is not a text in UTF-8"
    ):
        Corpus(path)
    with pytest.raises(FileNotFoundError):
        Corpus(tmp_path / "none.txt")


@pytest.mark.parametrize("words", [None, 3, b"ab\0"])
def test_what_is_no_corpus_is_refused(words: list[Word]) -> None:
    with pytest.raises(InputError):
        CorpusWords(Corpus(words)).unreachable_symbols(Alphabet("ab"))


def test_symbols_that_are_written_alike_are_refused(tmp_path: Path) -> None:
    corpus = written(tmp_path / "words.txt", "1 1\n")
    with pytest.raises(InputError, match="the symbols 1 and '1' are both written 1"):
        CorpusWords(corpus).unreachable_symbols(Alphabet([1, "1"]))


def test_a_corpus_serves_one_alphabet_after_the_other() -> None:
    corpus = Corpus(["ab"])
    assert CorpusWords(corpus).unreachable_symbols(Alphabet("ab")) == []
    assert CorpusWords(corpus).unreachable_symbols(Alphabet("cba")) == ["c"]
    assert CorpusWords(corpus).unreachable_symbols(Alphabet("ab")) == []
