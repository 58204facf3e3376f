"""How much learning may cost."""

from __future__ import annotations

from dataclasses import dataclass

from pdfalearn.checks import checked_integer, checked_number

_LARGEST = 2**62


@dataclass(frozen=True)
class Budget:
    """Bounds on what learning may cost; None where a cost is not bounded.

    Reaching a bound is not an error: learning stops and returns the automaton learnt so far.
    The empty word is always asked, so that there is a state.

    Parameters
    ----------
    max_words : int, optional
        Membership queries: words asked of the model.
    max_symbols : int, optional
        Symbols that the model is led through.
    max_cost : float, optional
        What asking costs in all, by the model's own `QueryCost`.
    max_seconds : float, optional
        Seconds from the start of learning on; looked at before each batch of words.
    max_states : int, optional
        States of the automaton.
    max_word_length : int, optional
        The length of the words asked.
    max_equivalence_queries : int, optional
        Equivalence queries; 0 takes the first hypothesis.
    max_bytes : int, optional
        The memory that the words and their answers take; looked at before each batch of words.

    Examples
    --------
    >>> from pdfalearn import learn, random_pdfa
    >>> result = learn(random_pdfa(100, seed=1), budget=Budget(max_states=1))
    >>> len(result.pdfa), result.certificate.details["bound"]
    (1, 'max_states')
    """

    max_words: int | None = None
    max_symbols: int | None = None
    max_cost: float | None = None
    max_seconds: float | None = None
    max_states: int | None = None
    max_word_length: int | None = None
    max_equivalence_queries: int | None = None
    max_bytes: int | None = None

    def __post_init__(self) -> None:
        least = {"max_words": 1, "max_states": 1}
        for name, given in vars(self).items():
            if given is None:
                continue
            if name in ("max_seconds", "max_cost"):
                object.__setattr__(self, name, checked_number(given, name, 0, 1e15))
            else:
                checked = checked_integer(given, name, least.get(name, 0), _LARGEST)
                object.__setattr__(self, name, checked)

    @property
    def bounds_questions(self) -> bool:
        """Whether there is a bound on how much is asked in all, which may end learning anywhere."""
        bounds = (self.max_words, self.max_symbols, self.max_cost, self.max_seconds)
        return any(bound is not None for bound in bounds)

    @property
    def bounds_words(self) -> bool:
        """Whether there is a bound that is checked for every word."""
        return self.bounds_questions or self.max_word_length is not None


class BudgetReached(Exception):  # noqa: N818 (reaching a bound is not an error)
    """A bound is reached: what is asked next would go beyond it."""

    def __init__(
        self,
        bound: str,
        limit: float,
        where: tuple[object, ...] | None = None,
        *,
        is_default: bool = False,
    ) -> None:
        super().__init__(f"{bound}={limit} is reached")
        self.is_default = is_default
        """Whether nobody gave that bound."""
        self.bound = bound
        self.limit = limit
        self.where = where
        """The word that could not be asked any more, if it was a word."""
