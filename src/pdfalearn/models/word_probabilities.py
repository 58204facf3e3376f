"""A function that tells probabilities of whole words or of prefixes, as a language model."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from pdfalearn.alphabet import Alphabet, Symbol, Word, shorten
from pdfalearn.checks import SUM_TOLERANCE
from pdfalearn.errors import InputError, ModelError
from pdfalearn.models.batch import Batch
from pdfalearn.models.protocol import LanguageModel, QueryCost
from pdfalearn.rows import Rows
from pdfalearn.text import described
from pdfalearn.typing import Flags, Floats

Code = tuple[int, ...]
# The function gets at most this many words at once.
_PART = 4096
# What is smaller has lost digits, or is 0 because it was smaller still.
_SMALLEST = 1e-290


class WordProbabilities(LanguageModel):
    """A function from a batch of words to one number each, as a language model.

    The number is the probability that a word drawn from the model begins with this one, or that it
    is this one. Of prefixes, the ratios are distributions: a row costs at most as many questions as
    there are symbols, and one more. Of whole words they are not, as a prefix sums infinitely many
    of them: such a function cannot be asked for rows, and `learn_wfa` learns from it.

    Parameters
    ----------
    function : callable
        Takes a list of words, each a tuple of symbols, and returns as many numbers.
    alphabet : iterable of hashable, or Alphabet
        The symbols.
    terminal : hashable
        The terminal symbol, unless the alphabet has one already.
    prefixes : bool
        Whether numbers are about prefixes; else they are about whole words.
    logs : bool
        Whether numbers are natural logarithms of probabilities, and -inf for 0. Long words need it.
    fingerprint : str, optional
        A name for all that decides the function's answers; a store needs one to keep them.

    Examples
    --------
    >>> from pdfalearn import learn
    >>> model = WordProbabilities(lambda words: [0.5 ** len(w) for w in words], "a", prefixes=True)
    >>> learn(model).pdfa.probabilities.tolist(), model.asked
    ([[0.5, 0.5]], 43)
    """

    def __init__(
        self,
        function: Callable[[list[tuple[Symbol, ...]]], ArrayLike],
        alphabet: Iterable[Symbol] | Alphabet,
        terminal: Symbol = "$",
        *,
        prefixes: bool,
        logs: bool = False,
        fingerprint: str | None = None,
    ) -> None:
        if not callable(function):
            raise InputError(f"{function!r} is not a function; it has to take a list of words")
        if not isinstance(alphabet, Alphabet):
            alphabet = Alphabet(alphabet, terminal)
        self.alphabet = alphabet
        self.prefixes, self.logs, self.fingerprint = bool(prefixes), bool(logs), fingerprint
        self.cost = QueryCost(word=len(alphabet) + 1, prefix=len(alphabet) + 1)
        self._function = function
        self._known: dict[Code, float] = {}
        self._counts = [0]  # shared with what was opened

    def __repr__(self) -> str:
        name = getattr(self._function, "__name__", type(self._function).__name__)
        return f"WordProbabilities({name}, {self.alphabet!r}, prefixes={self.prefixes})"

    @property
    def asked(self) -> int:
        """How many questions the function was asked: words, one by one."""
        return self._counts[0]

    def word_probabilities(self, words: Iterable[Word]) -> Floats:
        """Return what the function tells of words, as probabilities; it is asked once for each."""
        codes = [tuple(word) for word in self.alphabet.encode_words(words)]
        return self.values(codes)

    def values(self, codes: Sequence[Code]) -> Floats:
        """Do the same for words as integers."""
        self._ask(codes)
        found = np.array([self._known[code] for code in codes], dtype=np.float64)
        return np.exp(found) if self.logs else found

    def open(self) -> WordProbabilities:
        """Return what remembers the answers of one run; refuse if only whole words are known."""
        if not self.prefixes:
            raise InputError(
                "the function tells only whole words, and the distribution after a word needs sums "
                "over infinitely many of them: give a function of prefixes (prefixes=True), or "
                "learn_wfa, whose automaton is a language model"
            )
        opened = copy.copy(self)
        opened._known = {}
        return opened

    def answer(self, batch: Batch) -> Rows:
        """Return the ratios of the probabilities of words and of those one symbol longer.

        Raises
        ------
        ModelError
            If the function's numbers cannot be probabilities of prefixes; the message names a word.
        """
        if not self.prefixes:
            self.open()
        words = [tuple(word) for word in batch.words]
        width = len(self.alphabet)
        longer = [(*word, symbol) for word in words for symbol in range(width)]
        self._ask([*words, *longer])
        here = np.array([self._known[word] for word in words])
        rows = np.zeros((len(words), width + 1))
        after = np.array([self._known[word] for word in longer]).reshape(-1, width)
        undefined = np.asarray(here == (-np.inf if self.logs else 0.0))
        self._check_size(here, words, undefined)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.exp(after - here[:, None]) if self.logs else after / here[:, None]
        rows[:, 1:] = np.where(undefined[:, None], 0.0, ratios)
        rows[:, 0] = 1 - rows[:, 1:].sum(axis=1)
        if (wrong := rows[:, 0] < -SUM_TOLERANCE).any():
            place = int(wrong.argmax())
            raise ModelError(
                f"the words one symbol longer than {self._name(words[place])} have together "
                f"{1 - rows[place, 0]:.9g} times its probability; prefixes cannot have more than it"
            )
        over = rows[:, 0] < 0
        rows[over, 0] = 0.0
        rows[over] /= rows[over].sum(axis=1, keepdims=True)
        impossible = rows[:, 1:] == 0
        return Rows.dense(rows, undefined=undefined, impossible=impossible)

    def _check_size(self, here: Floats, words: list[Code], undefined: Flags) -> None:
        if not self.logs and (lost := ~undefined & (here < _SMALLEST)).any():
            place = int(lost.argmax())
            raise ModelError(
                f"the word {self._name(words[place])} has the probability {here[place]:g}, too "
                "small for ratios; give logarithms (logs=True)"
            )

    def _ask(self, codes: Iterable[Code]) -> None:
        """Ask for what is not known; what was answered is kept even if a later part fails."""
        new = [code for code in dict.fromkeys(codes) if code not in self._known]
        for begin in range(0, len(new), _PART):
            part = new[begin : begin + _PART]
            words = [self.alphabet.decode(code) for code in part]
            self._counts[0] += len(part)
            given = self._check(self._function(words), words)
            self._known.update(zip(part, given.tolist(), strict=True))
        if self.prefixes:
            self._check_prefixes(new)

    def _check(self, given: ArrayLike, words: list[tuple[Symbol, ...]]) -> Floats:
        """Return the function's answer as an array; refuse what are no probabilities."""
        try:
            array = np.asarray(given)
            numbers = array.astype(np.float64) if array.dtype.kind in "iuf" else None
        except (TypeError, ValueError):
            numbers = None
        if numbers is None or numbers.shape != (len(words),):
            raise ModelError(
                f"for {len(words)} words, the first of them {shorten(words[0])}, the function "
                f"returned {described(given)}, not as many numbers"
            )
        low, high = (-np.inf, SUM_TOLERANCE) if self.logs else (0.0, 1 + SUM_TOLERANCE)
        if (wrong := ~((numbers >= low) & (numbers <= high))).any():
            place = int(wrong.argmax())
            kind = "the logarithm of a probability" if self.logs else "a probability"
            name = shorten(words[place])
            raise ModelError(
                f"the function gives the word {name} {numbers[place]:g}, which is not {kind}"
            )
        return numbers

    def _check_prefixes(self, new: Sequence[Code]) -> None:
        """Refuse numbers that grow along a word, or do not begin with 1."""
        one = 0.0 if self.logs else 1.0
        for code in new:
            value = self._known[code]
            above = self._known.get(code[:-1], np.inf) if code else one
            slack = SUM_TOLERANCE * (1 if self.logs else above if above < np.inf else 1)
            if value > above + slack or (not code and value < one - slack):
                what = "every word begins with it" if not code else "its prefix has less"
                kind = "logarithm" if self.logs else "probability"
                raise ModelError(
                    f"the word {self._name(code)} has the {kind} {value:.9g}, but {what}: "
                    f"{above:.9g}; a function of whole words needs prefixes=False"
                )

    def _name(self, code: Code) -> str:
        return shorten(self.alphabet.decode(code))
