"""ARPA files that are none: one line with the number of the line, or the context."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from tests.io.samples import complaint_about
from tests.io.test_arpa import SMALL

BAD = {
    ("\\data\\", ""): r"there is no line \\data\\: not an ARPA file",
    ("\\end\\", ""): r"there is no line \\end\\: cut off",
    ("ngram 1=5", "ngram 1=4"): "line 7: there are 5 n-grams of order 1 below, but line 4 says 4",
    ("ngram 2=3", "ngram 2=4"): "line 14: there are 3 n-grams of order 2 below, but line 5 says 4",
    ("-99\ta </s>\n", ""): "line 14: there are 2 n-grams of order 2 below, but line 5 says 3",
    ("ngram 2=3", "ngram 3=3"): "line 5: 'ngram 3=3' where ngram 2=COUNT belongs",
    ("ngram 2=3", "ngram 2=many"): "line 5: 'ngram 2=many' where ngram 2=COUNT belongs",
    ("ngram 2=3", ""): r"line 14: '\\\\2-grams:' where \\end\\ belongs",
    ("ngram 2=3", "ngram 2=3\nngram 3=1"): r"line 20: '\\\\end\\\\' where \\3-grams: belongs",
    ("ngram 1=5\nngram 2=3", ""): r"line 3: \\data\\ without a line such as ngram 1=COUNT",
    ("\\2-grams:", "\\3-grams:"): r"line 14: '\\\\3-grams:' where \\2-grams: belongs",
    ("-0.30103\tb", "high\tb"): "line 11: 'high' is not a number",
    ("-0.30103\tb", "nan\tb"): "line 11: nan is not the logarithm of a probability",
    ("-0.30103\tb", "0.5\tb"): "line 11: 0.5 is not the logarithm of a probability",
    ("-0.17609126", "inf"): "line 8: inf is not the logarithm of a back-off weight",
    ("-0.17609126", "301"): "line 8: 301.0 is not the logarithm of a back-off weight",
    ("-0.30103\tb", "-0.30103"): "line 11: '-0.30103' is not a logarithm, an n-gram of order 1",
    ("a b", "a b\t-1"): "line 16: '-0.05799195 a b -1' is not a logarithm, an n-gram of order 2$",
    ("a b", "b"): "line 16: .* is not a logarithm, an n-gram of order 2$",
    ("-0.30103\tb", "-0.30103\ta"): "line 11: this n-gram is already there",
    ("a b", "<s> a"): "line 16: this n-gram is already there",
    ("-0.17609126", "-0.1"): "line 8: after the context '<s>' the probabilities sum to 1.0957",
    ("-0.05799195", "-0.1"): "line 10: after the context 'a' the probabilities sum to 0.9193",
    ("-0.30103\tb", "-0.2\tb"): "line 8: after the context of no word the .* sum to 1.13",
    ("-0.60205999\t", "-99\t"): "line 8: after the context of no word the probabilities sum to 0.5",
    ("-0.17609126", "300"): "line 8: after the context '<s>' the probabilities sum to 7.5e",
    ("\ta\t", "\tb\t"): "line 11: this n-gram is already there",
}


@pytest.mark.parametrize("bad", BAD, ids=list(BAD.values()))
@pytest.mark.parametrize("ending", [".arpa", ".arpa.gz"])
def test_bad_files(bad: tuple[str, str], ending: str, tmp_path: Path) -> None:
    text = SMALL.replace(*bad)
    assert text != SMALL
    data = text.encode() if ending == ".arpa" else gzip.compress(text.encode())
    assert re.search(BAD[bad], complaint_about(data, ending, tmp_path))


def test_no_symbols(tmp_path: Path) -> None:
    text = "\\data\\\nngram 1=1\n\\1-grams:\n0 </s>\n\\end\\\n"
    assert "the alphabet is empty" in complaint_about(text.encode(), ".arpa", tmp_path)


def test_no_n_grams(tmp_path: Path) -> None:
    text = "\\data\\\nngram 1=0\n\\1-grams:\n\\end\\\n"
    assert "the alphabet is empty" in complaint_about(text.encode(), ".arpa", tmp_path)


def test_weights_that_overflow(tmp_path: Path) -> None:
    text = "\\data\\\nngram 1=2\nngram 2=1\nngram 3=1\n\\1-grams:\n-0.3 a 300\n-0.3 </s>\n"
    text += "\\2-grams:\n-99 a a 300\n\\3-grams:\n-0.3 a a a\n\\end\\\n"
    complaint = complaint_about(text.encode(), ".arpa", tmp_path)
    assert "line 6: after the context 'a' the probabilities sum to 5.0" in complaint


def test_not_utf_8(tmp_path: Path) -> None:
    data = SMALL.replace("\tb", "\tè").encode("latin-1")
    assert "line 11: byte 159 of the file is not UTF-8" in complaint_about(data, ".arpa", tmp_path)


def test_damaged_gzip(tmp_path: Path) -> None:
    data = gzip.compress(SMALL.encode())[:-9]
    assert "not gzip, or damaged" in complaint_about(data, ".arpa.gz", tmp_path)
