"""Languages that questions are about: everything that a user may give becomes a DFA."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet, Word, shorten
from pdfalearn.chains import walk_pairs
from pdfalearn.checks import check_integer, check_tables_fit
from pdfalearn.errors import InputError
from pdfalearn.languages.dfa import DFA, complement, over_alphabet, trim_dfa
from pdfalearn.languages.regex import regex_dfa
from pdfalearn.text import described, is_iterable


class Language(ABC):
    """A set of words that is described without an alphabet.

    Examples
    --------
    >>> from pdfalearn import probability
    >>> from pdfalearn.datasets import figure_1
    >>> from pdfalearn.languages import DFA
    >>> class EvenLength(Language):
    ...     def dfa(self, alphabet):
    ...         table = [[1] * len(alphabet), [0] * len(alphabet)]
    ...         return DFA(alphabet=alphabet, transitions=table, accepting=[True, False])
    >>> round(probability(figure_1(), EvenLength()), 6)
    0.333333
    """

    @abstractmethod
    def dfa(self, alphabet: Alphabet) -> DFA:
        """Return a DFA of the words over an alphabet."""


LanguageLike = str | DFA | Language | Iterable[Word]
"""A regular expression, a DFA, a `Language`, or words."""


@dataclass(frozen=True)
class BeginsWith(Language):
    """The words that begin with a word.

    Examples
    --------
    >>> BeginsWith("ab").dfa(Alphabet("ab")).accepts("abba")
    True
    """

    word: Word

    def dfa(self, alphabet: Alphabet) -> DFA:
        """Return a chain of states that ends in one that is never left."""
        codes = alphabet.encode(self.word)
        size = len(codes)
        transitions = np.full((size + 1, len(alphabet)), -1)
        transitions[np.arange(size), codes] = np.arange(1, size + 1)
        transitions[size] = size
        return _accept_last(alphabet, transitions)


@dataclass(frozen=True)
class EndsWith(Language):
    """The words that end with a word.

    Examples
    --------
    >>> EndsWith("ab").dfa(Alphabet("ab")).accepts("aab")
    True
    """

    word: Word

    def dfa(self, alphabet: Alphabet) -> DFA:
        """Return the automaton of Knuth, Morris and Pratt."""
        return _accept_last(alphabet, _match_prefixes(self.word, alphabet))


@dataclass(frozen=True)
class Contains(Language):
    """The words in which the symbols of a word occur one after the other.

    Examples
    --------
    >>> Contains("ab").dfa(Alphabet("ab")).accepts("aaba")
    True
    """

    word: Word

    def dfa(self, alphabet: Alphabet) -> DFA:
        """Return the automaton of Knuth, Morris and Pratt, which stays where it has found it."""
        transitions = _match_prefixes(self.word, alphabet)
        transitions[-1] = len(transitions) - 1
        return _accept_last(alphabet, transitions)


@dataclass(frozen=True)
class HasLength(Language):
    """The words with ``least`` to ``most`` symbols; ``most`` None is any number.

    Examples
    --------
    >>> HasLength(most=2).dfa(Alphabet("ab")).accepts("ab")
    True
    """

    least: int = 0
    most: int | None = None

    def dfa(self, alphabet: Alphabet) -> DFA:
        """Return a chain of states that counts."""
        least = check_integer(self.least, "the least length", 0)
        size = least
        if self.most is not None:
            size = check_integer(self.most, "the greatest length", least)
        check_tables_fit(
            np.dtype(np.int64).itemsize * (size + 1) * len(alphabet),
            f"the {size + 1:,} states that count to {size:,} and {len(alphabet):,} symbols",
            "ask about shorter words",
        )
        successors = np.arange(1, size + 2)
        successors[-1] = size if self.most is None else -1
        return DFA(
            alphabet=alphabet,
            transitions=np.repeat(successors[:, None], len(alphabet), axis=1),
            accepting=np.arange(size + 1) >= least,
        )


@dataclass(frozen=True)
class Not(Language):
    """The words that are not in a language.

    Examples
    --------
    >>> Not(Contains("aa")).dfa(Alphabet("ab")).accepts("aba")
    True
    """

    language: LanguageLike

    def dfa(self, alphabet: Alphabet) -> DFA:
        """Return the complement."""
        return complement(_dfa_of(self.language, alphabet))  # which may be empty


def language_dfa(language: LanguageLike, alphabet: Alphabet) -> DFA:
    """Return the DFA of a language, in any of the forms that a user may give, over an alphabet.

    Every state is reached by a word and reaches an accepting state; the first one is initial. A
    language is refused if it has no words, a symbol that is not in the alphabet, or an expression
    that does not parse or grows too large.

    Examples
    --------
    >>> language_dfa(["ab", "abba"], Alphabet("ab"))
    DFA(5 states, 2 symbols, initial=0)
    >>> language_dfa(HasLength(most=3), Alphabet("ab")).accepts("abab")
    False
    """
    useful = trim_dfa(_dfa_of(language, alphabet))
    if useful is None:
        has_blanks = isinstance(language, str) and " " in language
        is_parted = has_blanks and not any(" " in str(one) for one in alphabet)
        raise InputError(
            f"the language {described(language)} is empty: it has no word of the symbols "
            f"{shorten(alphabet.symbols)}"
            + ("; in an expression symbols stand side by side, without blanks" * is_parted)
            + ("; for a word of them give a list of one word (--as word)" * is_parted)
        )
    return useful


def intersection(first: DFA, second: DFA) -> DFA | None:
    """Return a DFA of the words that two over the same symbols accept; None if there is none.

    Examples
    --------
    >>> short, long = HasLength(most=3), HasLength(least=2)
    >>> both = intersection(short.dfa(Alphabet("a")), long.dfa(Alphabet("a")))
    >>> both.accepts("aaa"), both.accepts("a")
    (True, False)
    """
    ways, others = first.table >= 0, second.table >= 0
    walk = walk_pairs(
        first,
        second,
        lambda lefts, rights: ways[lefts] & others[rights],
        remedy="ask about languages of fewer states",
    )
    transitions = np.full((len(walk.lefts), len(first.alphabet)), -1)
    transitions[walk.sources, walk.symbols] = walk.successors
    accepting = first.accepting[walk.lefts] & second.accepting[walk.rights]
    return trim_dfa(DFA(alphabet=first.alphabet, transitions=transitions, accepting=accepting))


def _dfa_of(language: LanguageLike, alphabet: Alphabet) -> DFA:
    if isinstance(language, str):
        return regex_dfa(language, alphabet)
    if isinstance(language, DFA):
        return over_alphabet(language, alphabet, "language", "automaton")
    if isinstance(language, Language):
        return language.dfa(alphabet)
    if is_iterable(language) and not isinstance(language, type):
        return _words_dfa(language, alphabet)
    remedy = "give a regular expression, a DFA, a set of words, or a Language such as BeginsWith"
    if isinstance(language, re.Pattern):
        remedy = "give its attribute pattern, a string"
    raise InputError(f"{described(language)} is not a language; {remedy}")


def _words_dfa(words: Iterable[Word], alphabet: Alphabet) -> DFA:
    """Return the tree of the words' prefixes."""
    # Of each node and symbol the next node; node 0 is the empty word.
    nodes: dict[tuple[int, int], int] = {}
    ends = []
    for codes in alphabet.encode_words(words):
        node = 0
        for code in codes:
            node = nodes.setdefault((node, code), len(nodes) + 1)
        ends.append(node)
    transitions = np.full((len(nodes) + 1, len(alphabet)), -1)
    if nodes:
        sources, codes_of = np.array(list(nodes)).T
        transitions[sources, codes_of] = np.arange(1, len(nodes) + 1)
    accepting = np.zeros(len(transitions), dtype=bool)
    accepting[ends] = True
    return DFA(alphabet=alphabet, transitions=transitions, accepting=accepting)


def _match_prefixes(word: Word, alphabet: Alphabet) -> NDArray[np.int64]:
    """Return where each symbol leads from the longest prefix of the word that was just read."""
    codes = alphabet.encode(word).tolist()
    transitions = np.zeros((len(codes) + 1, len(alphabet)), dtype=np.int64)
    border = 0
    # The border is the state of the longest proper suffix: a mismatch goes on as from there.
    for place, code in enumerate(codes):
        transitions[place] = transitions[border] if place else 0
        transitions[place, code] = place + 1
        border = int(transitions[border, code]) if place else 0
    transitions[-1] = transitions[border]
    return transitions


def _accept_last(alphabet: Alphabet, transitions: NDArray[np.int64]) -> DFA:
    accepting = np.arange(len(transitions)) == len(transitions) - 1
    return DFA(alphabet=alphabet, transitions=transitions, accepting=accepting)
