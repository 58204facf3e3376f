"""ARPA files mean what backing off means."""

from __future__ import annotations

import gzip
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, Alphabet, checks, load
from pdfalearn.analysis import reachable
from pdfalearn.errors import FileFormatError
from pdfalearn.io import read_arpa
from tests.io.ngrams import END, RandomModel, SlowModel
from tests.support import examples


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("arpa")


def words_up_to(symbols: list[str], length: int) -> list[tuple[str, ...]]:
    return [word for size in range(length + 1) for word in product(symbols, repeat=size)]


@examples(200)
@given(
    seed=st.integers(0, 2**32),
    order=st.integers(1, 4),
    words=st.sampled_from(["a", "ab", "abc"]),
    unknown=st.sampled_from(["", "", "<unk>", "<UNK>"]),
    digits=st.sampled_from([17, 17, 7]),
)
def test_every_word_goes_on_as_backing_off_says(
    seed: int, order: int, words: str, unknown: str, digits: int, folder: Path
) -> None:
    text = RandomModel(seed, order, words=words, unknown=unknown, digits=digits).text()
    path = folder / "random.arpa"
    path.write_text(text)
    ngram, slow = read_arpa(path), SlowModel(text)
    symbols = [str(symbol) for symbol in ngram.pdfa.alphabet]
    assert set(symbols) == slow.symbols() & {*words, unknown}
    rows = np.array([slow.row(word, symbols) for word in words_up_to(symbols, order)])
    sums = rows.sum(axis=1)
    found = ngram.pdfa.next_distributions(words_up_to(symbols, order))
    assert np.allclose(found, rows / sums[:, np.newaxis], rtol=1e-9, atol=1e-15)
    assert np.isclose(ngram.largest_correction, np.abs(sums - 1).max(), atol=1e-12)
    assert ngram.order == order
    assert ngram.pdfa.terminal == END
    assert len(reachable(ngram.pdfa).states) == len(ngram.pdfa)


SMALL = r"""Written by hand; what stands here does not matter.

\data\
ngram 1=5
ngram 2=3

\1-grams:
-99	<s>	-0.17609126
-0.60205999	</s>
-0.60205999	a	-0.30103
-0.30103	b
-99	<unk>

\2-grams:
-0.30103	<s> a
-0.05799195	a b
-99	a </s>

\end\
What stands here does not matter either.
"""

ROWS = {(): [1 / 6, 1 / 2, 1 / 3], ("a",): [0, 1 / 8, 7 / 8], ("b",): [1 / 4, 1 / 4, 1 / 2]}
"""After <s> a, and 2/3 of what came before; after a no end, b, and 1/2 of what came before."""


def write(text: str, path: Path) -> Path:
    path.write_bytes(text.encode("utf-8"))
    return path


def is_small(pdfa: PDFA) -> bool:
    rows = pdfa.next_distributions(ROWS)
    return len(pdfa) == 3 and np.allclose(rows, list(ROWS.values()), atol=1e-7)


def test_a_small_model(tmp_path: Path) -> None:
    ngram = read_arpa(write(SMALL, tmp_path / "small.arpa"))
    assert is_small(ngram.pdfa)
    assert ngram.pdfa.alphabet == Alphabet("ab", terminal="</s>")
    assert ngram.order == 2
    assert ngram.largest_correction < 1e-7


def test_load_gives_the_same_automaton(tmp_path: Path) -> None:
    path = write(SMALL, tmp_path / "small.ARPA")
    gzipped = tmp_path / "small.arpa.gz"
    gzipped.write_bytes(gzip.compress(SMALL.encode()))
    assert load(path) == load(gzipped) == read_arpa(path).pdfa == read_arpa(gzipped).pdfa


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\t", " "),
        ("\n", "\r\n"),
        ("\n-", "\n\n  -"),
        ("ngram 2=3", "ngram  2 = 3 "),
        ("-99", "-inf"),
        ("-99", "-1e400"),
        ("-99\t<s>", "0\t<s>"),  # as KenLM has it
        ("Written", "\ufeffWritten"),
        ("<unk>", "<UNK>"),
        ("-99\t<unk>", "-99\t<unk>\t0.0"),
        ("-99\t<unk>", "-99\t<unk>\t99.999"),
        ("-0.30103\tb", "-0.30103\tb\t0.0000"),
    ],
)
def test_variants_of_the_same(old: str, new: str, tmp_path: Path) -> None:
    text = SMALL.replace(old, new)
    assert text != SMALL
    assert is_small(load(write(text, tmp_path / "variant.arpa")))


def test_what_goes_on_behind_the_end_or_back_to_the_start_is_dropped(tmp_path: Path) -> None:
    more = "-0.1\t</s> a\n0\t</s> <s>\n-0.1\tb <s>\n-0.1\t</s> d"
    text = SMALL.replace("ngram 2=3", "ngram 2=7").replace("-99\ta </s>", f"-99\ta </s>\n{more}")
    assert is_small(load(write(text, tmp_path / "more.arpa")))


def test_the_unknown_word_is_a_symbol_if_it_has_a_probability(tmp_path: Path) -> None:
    text = SMALL.replace("-0.30103\tb", "-0.60205999\tb").replace(
        "-99\t<unk>", "-0.60205999\t<unk>"
    )
    text = text.replace("-0.05799195", "-0.12493874")
    pdfa = load(write(text, tmp_path / "unknown.arpa"))
    assert pdfa.alphabet.symbols == ("a", "b", "<unk>")
    assert np.allclose(pdfa.next_distributions([["<unk>"]]), [0.25] * 4)
    assert np.allclose(pdfa.next_distributions([["a"]]), [0, 0.125, 0.75, 0.125])


def test_without_a_start_words_begin_in_the_empty_context(tmp_path: Path) -> None:
    pdfa = load(write(SMALL.replace("<s>", "c"), tmp_path / "no_start.arpa"))
    assert pdfa.alphabet.symbols == ("c", "a", "b")
    assert np.allclose(pdfa.next_distributions([[]]), [0.25, 0, 0.25, 0.5])


def test_without_an_end_words_never_stop(tmp_path: Path) -> None:
    text = SMALL.replace("</s>", "c")
    assert load(write(text, tmp_path / "no_end.arpa")).probabilities[:, 0].max() == 0


def test_words_are_cut_at_ascii_blanks_only(tmp_path: Path) -> None:
    text = SMALL.replace("a\t", "a\u00a0à\u2028\t").replace("<s> a", "<s> a\u00a0à\u2028")
    text = text.replace("\na ", "\na\u00a0à\u2028 ").replace("\ta ", "\ta\u00a0à\u2028 ")
    pdfa = load(write(text, tmp_path / "blanks.arpa"))
    assert pdfa.alphabet.symbols == ("a\u00a0à\u2028", "b")


def test_a_vocabulary_of_thousands(tmp_path: Path) -> None:
    words = [f"w{i}" for i in range(3000)]
    share = f"{-np.log10(len(words) + 1):.12f}"
    unigrams = [f"{share}\t{word}" for word in ["</s>", *words]] + ["-99\t<s>"]
    bigrams = [f"{share}\t{left}\t{right}" for left, right in pairwise(words[:51])]
    text = "\n".join(
        [
            f"\\data\\\nngram 1={len(unigrams)}\nngram 2={len(bigrams)}",
            "\\1-grams:",
            *unigrams,
            "\\2-grams:",
            *bigrams,
            "\\end\\",
        ]
    )
    pdfa = load(write(text, tmp_path / "large.arpa"))
    assert len(pdfa) == 51
    assert np.allclose(pdfa.probabilities, 1 / 3001)


def test_what_does_not_fit_into_memory_is_refused_before_it_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(SMALL, tmp_path / "small.arpa")
    needed = 3 * 3 * (8 * 3 + 4 * 2)
    monkeypatch.setattr(checks, "available_memory", lambda: needed)
    assert is_small(load(path))
    monkeypatch.setattr(checks, "available_memory", lambda: needed - 1)
    with pytest.raises(FileFormatError, match=r"3 states and 2 symbols need .* GiB of tables"):
        load(path)
