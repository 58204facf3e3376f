"""Eight corpora of different kinds, coded, with words that no learner sees."""

from __future__ import annotations

import gzip
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.corpora.kept_results import DATA
from benchmarks.corpora.rivals import split_words
from pdfalearn import Corpus
from pdfalearn.corpora import CorpusLike
from pdfalearn.words import Words

# The share of the words that no learner sees.
UNSEEN = 0.2
# At most this many words are taken, those of the test with them.
MOST = 25_000
_DICTIONARY = Path("/usr/share/dict/american-english")
_PHONE_WORDS, _PHONE_LENGTH = 10_000, 300


class Coded(NamedTuple):
    """Words to learn from and words to test with, as codes of symbols."""

    learnt: Words
    unseen: Words
    width: int


def read_pautomac(number: int) -> CorpusLike:
    """Return the words to learn from of a problem."""
    return Corpus(str(DATA / "pautomac" / f"{number}.train.gz"))


def read_log(name: str) -> list[tuple[str, ...]]:
    """Return the normal sessions of a log: a line is an identifier, a comma and events."""
    paths = [path for path in (DATA / "logs").glob(f"{name}_*.gz") if "abnormal" not in path.name]
    texts = (gzip.decompress(path.read_bytes()).decode() for path in sorted(paths))
    lines = [line for text in texts for line in text.splitlines()]
    return [tuple(line.split(",", 1)[1].split()) for line in lines]


def read_dictionary() -> list[str]:
    """Return the words of Debian's wamerican, which is fetched if it is not installed."""
    if _DICTIONARY.exists():
        return _DICTIONARY.read_text().split()
    with TemporaryDirectory() as folder:
        subprocess.run(["apt-get", "download", "-q", "wamerican"], cwd=folder, check=True)
        [package] = Path(folder).glob("wamerican*.deb")
        subprocess.run(["dpkg-deb", "-x", package, folder], check=True)
        return Path(folder, *_DICTIONARY.parts[1:]).read_text().split()


def draw_phones() -> list[tuple[object, ...]]:
    """Draw words of the trigram of phones that the package pocketsphinx brings."""
    from benchmarks.distilling.networks import phone_trigram

    drawn = phone_trigram().sample(_PHONE_WORDS, seed=1, max_length=_PHONE_LENGTH)
    return [word for word, is_cut in zip(*drawn, strict=True) if not is_cut]


CORPORA: dict[str, Callable[[], CorpusLike]] = {
    **{f"PAutomaC {number}": partial(read_pautomac, number) for number in (3, 9, 14)},
    "wamerican": read_dictionary,
    "HDFS": partial(read_log, "hdfs"),
    "OpenStack": partial(read_log, "openstack"),
    "Hadoop": partial(read_log, "hadoop"),
    "phones": draw_phones,
}


def code_corpus(name: str) -> Coded:
    """Read a corpus, and leave out the words of the test by chance; the alphabet is of all."""
    given = CORPORA[name]()
    corpus = given if isinstance(given, Corpus) else Corpus(given)
    words = corpus.encode()
    if len(words) > MOST:
        words = split_words(words, MOST / len(words), seed=2)[1]
    learnt, unseen = split_words(words, UNSEEN, seed=3)
    return Coded(learnt, unseen, len(corpus.alphabet))
