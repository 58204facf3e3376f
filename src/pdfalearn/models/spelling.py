"""How symbols are spelled in the tokens of a language model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet, Symbol
from pdfalearn.checks import check_integer
from pdfalearn.errors import InputError
from pdfalearn.frozen import Frozen
from pdfalearn.rows import Rows
from pdfalearn.text import described, is_iterable
from pdfalearn.typing import Floats, Integers
from pdfalearn.words import Words

Path = tuple[int, ...]
Ends: TypeAlias = tuple[int, ...] | Literal["rest"]
Texts: TypeAlias = Iterable[str] | Mapping[Symbol, str | Sequence[int]]


class TokenTrie:
    """The beginnings of token sequences of which none begins another.

    An *inner node* is a beginning of a sequence that is not the whole of it; the root is (). Behind
    a node stand the tokens that end a sequence there, then those that lead to other nodes.

    Examples
    --------
    >>> trie = TokenTrie([(5,), (6, 7), (6, 8)])
    >>> trie.prefixes
    ((), (6,))
    >>> [tokens.tolist() for tokens in trie.tokens], [ends.tolist() for ends in trie.symbols]
    ([[5, 6], [7, 8]], [[0], [1, 2]])
    >>> trie.children
    (range(1, 2), range(2, 2))
    """

    prefixes: tuple[Path, ...]
    """The inner nodes, each after its parent, those of one parent side by side."""
    symbols: tuple[Integers, ...]
    """Of every node the symbols whose last token stands behind it."""
    children: tuple[range, ...]
    """Of every node the nodes that are one token longer."""
    tokens: tuple[Integers, ...]
    """Of every node the tokens behind it: those of its symbols, then those of its children."""

    def __init__(self, paths: Sequence[Path]) -> None:
        inner = {path[:length] for path in paths for length in range(len(path))}
        self.prefixes = tuple(sorted(inner, key=lambda prefix: (len(prefix), prefix)))
        ending: dict[Path, list[int]] = {prefix: [] for prefix in self.prefixes}
        leading: dict[Path, list[int]] = {prefix: [] for prefix in self.prefixes}
        for symbol, path in enumerate(paths):
            ending[path[:-1]].append(symbol)
        for prefix in self.prefixes[1:]:
            leading[prefix[:-1]].append(prefix[-1])
        self.symbols = tuple(np.array(symbols, dtype=np.int64) for symbols in ending.values())
        bounds = np.cumsum([1, *map(len, leading.values())]).tolist()
        self.children = tuple(range(begin, end) for begin, end in pairwise(bounds))
        self.tokens = tuple(
            np.array([paths[symbol][-1] for symbol in symbols] + leading[prefix], dtype=np.int64)
            for prefix, symbols in ending.items()
        )


class Spelling(Frozen):
    """How symbols are spelled in tokens: each symbol has one sequence of tokens, its *spelling*.

    The probability of a symbol is the product of the conditional probabilities of its tokens. The
    distribution over symbols and terminal is divided by its sum; the mass that was missing
    from 1 is *outside*. It stands beside each row, or is a symbol of its own.

    Parameters
    ----------
    symbols : mapping of hashable to sequence of int
        The symbols with their tokens, in the order of the alphabet. The tokens of one symbol
        may not begin those of another, as a word could then be read in two ways.
    ends : sequence of int, or "rest"
        The tokens that end a word. "rest" means all tokens that no symbol begins with.
    terminal : hashable
        The terminal symbol.
    outside : hashable, optional
        The name of one more symbol, the last of the alphabet, that has the mass outside. A word
        that goes on with it is over: after it comes nothing but the terminal.

    Examples
    --------
    >>> spelling = Spelling({"yes": [5], "no": [6, 7]}, ends=[2])
    >>> spelling.prefixes, [ids.tolist() for ids in spelling.wanted]
    (((), (6,)), [[5, 6, 2], [7]])
    >>> rows = spelling.rows([np.log([[0.3, 0.2, 0.1]]), np.log([[0.5]])])
    >>> rows.values.round(2), rows.outside.round(2)
    (array([[0.2, 0.6, 0.2]]), array([0.5]))
    """

    alphabet: Alphabet
    """The symbols in the order given, then ``outside`` if it is one."""
    tokens: tuple[Path, ...]
    """The tokens of every symbol, without ``outside``."""
    ends: Ends
    """The tokens that end a word, or "rest"."""
    outside: Symbol | None
    """The symbol that has the mass outside; None if that stands beside the rows."""
    prefixes: tuple[Path, ...]
    """The beginnings of spellings, () first, each after those that it begins with. To answer a
    word, a model is read after all of them."""
    wanted: tuple[Integers, ...]
    """Of every prefix the tokens whose log-probabilities `rows` needs; those at the root are at
    last the ends, unless these are "rest"."""
    _trie: TokenTrie
    _table: Words

    def __init__(
        self,
        symbols: Mapping[Symbol, Sequence[int]],
        ends: Sequence[int] | Literal["rest"],
        *,
        terminal: Symbol = "$",
        outside: Symbol | None = None,
    ) -> None:
        alphabet = Alphabet([*symbols, *([] if outside is None else [outside])], terminal)
        tokens = tuple(_check_path(symbol, path) for symbol, path in symbols.items())
        _check_beginnings(tokens, alphabet)
        trie = TokenTrie(tokens)
        checked = _check_ends(ends, trie, alphabet)
        last = np.array([] if isinstance(checked, str) else checked, dtype=np.int64)
        self.__dict__.update(
            alphabet=alphabet,
            tokens=tokens,
            ends=checked,
            outside=outside,
            prefixes=trie.prefixes,
            wanted=(np.concatenate([trie.tokens[0], last]), *trie.tokens[1:]),
            _trie=trie,
            _table=Words.of(tokens),
        )

    @classmethod
    def of_texts(
        cls,
        texts: Texts,
        encode: Callable[[str], Sequence[int]],
        ends: Sequence[int] | Literal["rest"],
        *,
        unknown: int | None = None,
        terminal: Symbol = "$",
        outside: Symbol | None = None,
    ) -> Spelling:
        """Spell texts with the tokens that a tokenizer writes them in, the canonical ones.

        Parameters
        ----------
        texts : iterable of str, or mapping
            The symbols. A mapping gives symbols names other than their texts: its values are
            texts, or tokens that are taken as they are.
        encode : callable
            Returns the tokens of a text, without any that begin or end a text.
        ends : sequence of int, or "rest"
            As for the class.
        unknown : int, optional
            The token that a tokenizer writes for what it does not know.
        terminal, outside
            As for the class.

        Examples
        --------
        >>> Spelling.of_texts(["ab", "c"], encode=lambda text: [ord(c) for c in text], ends=[0])
        Spelling(2 symbols in 3 tokens, ends=(0,))
        """
        paths = {
            symbol: _encode_text(text, encode, unknown) if isinstance(text, str) else text
            for symbol, text in _name_texts(texts).items()
        }
        return cls(paths, ends, terminal=terminal, outside=outside)

    def __repr__(self) -> str:
        count, total = len(self.tokens), len(self._table.symbols)
        return f"Spelling({count:,} symbols in {total:,} tokens, ends={self.ends!r})"

    @property
    def fingerprint(self) -> str:
        """A hash of symbols, terminal, tokens, ends and outside."""
        parts = (self.alphabet.symbols, self.alphabet.terminal, self.tokens, self.ends)
        return sha256(repr((*parts, self.outside)).encode()).hexdigest()

    def spelled(self, words: Words) -> Words:
        """Return the tokens of words that do not hold ``outside``.

        Examples
        --------
        >>> spelling = Spelling({"yes": [5], "no": [6, 7]}, ends=[2])
        >>> list(spelling.spelled(Words.of([(1, 0, 1), (), (0,)])))
        [[6, 7, 5, 6, 7], [], [5]]
        """
        symbols = self._table.take(words.symbols)
        return Words(symbols.symbols, symbols.offsets[words.offsets])

    def rows(self, logs: Sequence[Floats]) -> Rows:
        """Return the distributions of words.

        Parameters
        ----------
        logs : sequence of array of float, each of shape (words, len(wanted[i]))
            For every prefix i the log-probabilities of its wanted tokens after the word and the
            prefix. They are over the model's whole vocabulary.
        """
        with np.errstate(invalid="ignore", divide="ignore"):
            table = self.log_masses(logs)
            total = np.logaddexp.reduce(table, axis=1)
            outside = np.fmax(-np.expm1(total), 0.0)  # 0 also for NaN, which the row shows itself
            if self.outside is not None:
                np.log(outside, out=table[:, -1])
                return Rows.dense(np.exp(table))
            return Rows.dense(np.exp(table - total[:, None]), outside=outside)

    def log_masses(self, logs: Sequence[Floats]) -> Floats:
        """Return the logarithms of the masses of terminal and symbols, which `rows` divides by.

        The parameter is that of `rows`; the mass outside is not in the table.
        """
        trie = self._trie
        table = np.full((len(logs[0]), len(self.alphabet) + 1), -np.inf)
        reached: dict[int, Floats] = {}
        for node, given in enumerate(logs):
            here = given + reached.pop(node)[:, None] if node else given
            symbols = trie.symbols[node]
            table[:, 1 + symbols] = here[:, : len(symbols)]
            for column, child in enumerate(trie.children[node], len(symbols)):
                reached[child] = here[:, column]
        begun = len(trie.tokens[0])
        if self.ends == "rest":
            table[:, 0] = np.log(np.maximum(1 - np.exp(logs[0][:, :begun]).sum(axis=1), 0.0))
        else:
            table[:, 0] = np.logaddexp.reduce(logs[0][:, begun:], axis=1)
        return table

    def answered(self, words: Words, ask: Callable[[Words], Rows]) -> Rows:
        """Ask for words, but not for those that went on with ``outside``: these are over.

        A word that ends with ``outside`` is followed by the terminal; where that comes earlier, the
        word is undefined.
        """
        over = self.over(words)
        if not over.any():
            return ask(words)
        ended = np.eye(1, len(self.alphabet) + 1).repeat(np.count_nonzero(over), axis=0)
        parts = [Rows.dense(ended, undefined=self.over(words, before_last=True)[over])]
        if not over.all():
            parts.append(ask(words.take((~over).nonzero()[0])))
        order = np.argsort(np.argsort(~over, kind="stable"), kind="stable")
        return Rows.join(parts).take(order)

    def over(self, words: Words, *, before_last: bool = False) -> NDArray[np.bool_]:
        """Return which words hold ``outside``, or hold it before their last symbol."""
        if self.outside is None:
            return np.zeros(len(words), dtype=bool)
        is_outside = words.symbols == len(self.tokens)
        if before_last:
            is_outside[words.offsets[1:][words.lengths > 0] - 1] = False
        counts = np.concatenate([[0], np.cumsum(is_outside)])
        return np.diff(counts[words.offsets]) > 0


def _name_texts(texts: Texts) -> Mapping[Symbol, str | Sequence[int]]:
    if isinstance(texts, Mapping):
        return texts
    if not is_iterable(texts):
        raise InputError(f"the symbols are {texts!r}; give texts, or a mapping of names to texts")
    named: dict[Symbol, str | Sequence[int]] = {}
    for text in texts:
        if not isinstance(text, str):
            raise InputError(
                f"the symbol {text!r} is not a text; give a mapping of symbols to their tokens"
            )
        if text in named:
            raise InputError(f"the text {text!r} is twice among the symbols; leave one out")
        named[text] = text
    return named


def check_text(text: str) -> str:
    """Refuse a text that no tokenizer takes.

    Examples
    --------
    >>> check_text("κ")
    'κ'
    """
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise InputError(
            f"the text {described(text)} has half a character (a lone surrogate), which no "
            "tokenizer knows; give tokens instead"
        )
    return text


def _encode_text(text: str, encode: Callable[[str], Sequence[int]], unknown: int | None) -> Path:
    if not text:
        raise InputError("a symbol's text is empty, so that no token spells it; leave it out")
    path = tuple(encode(check_text(text)))
    if not path:
        raise InputError(f"the tokenizer has no token for the text {text!r}; leave it out")
    if unknown is not None and unknown in path:
        raise InputError(
            f"the tokenizer does not know the text {text!r}: it writes its unknown token {unknown}"
        )
    return path


def _check_path(symbol: Symbol, path: Sequence[int]) -> Path:
    if isinstance(path, str) or not hasattr(path, "__len__") or not len(path):
        raise InputError(f"symbol {symbol!r} has {path!r} as its tokens; give it one or more ids")
    return tuple(check_integer(token, f"token of symbol {symbol!r}", 0) for token in path)


def _check_beginnings(tokens: Sequence[Path], alphabet: Alphabet) -> None:
    """Refuse spellings of which one begins another: in order, it stands right before such a one."""
    ordered = sorted(zip(tokens, alphabet.symbols, strict=False), key=lambda pair: pair[0])
    for (path, first), (later, second) in pairwise(ordered):
        if path == later:
            raise InputError(
                f"symbols {first!r} and {second!r} have the same tokens; leave one out"
            )
        if later[: len(path)] == path:
            raise InputError(
                f"symbol {first!r} begins symbol {second!r}: tokens {list(path)} and "
                f"{list(later)}; words could be read in two ways, so leave one out"
            )


def _check_ends(ends: object, trie: TokenTrie, alphabet: Alphabet) -> Ends:
    if ends == "rest":
        return "rest"
    if isinstance(ends, str) or not isinstance(ends, Sequence) or not len(ends):
        raise InputError(f"ends are {ends!r}: give the tokens that end a word, or 'rest'")
    checked = tuple(check_integer(token, "end token", 0) for token in ends)
    if len(set(checked)) < len(checked):
        raise InputError(f"ends {list(checked)} hold a token twice; leave one out")
    begun = set(checked).intersection(trie.tokens[0].tolist())
    if begun:
        raise InputError(
            f"the end token {min(begun)} begins a symbol of {alphabet}; a token does either"
        )
    return checked
