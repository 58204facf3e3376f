"""Words from several samplers."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pdfalearn.alphabet import Alphabet, Symbol
from pdfalearn.errors import InputError
from pdfalearn.observations.tree import ObservationTree
from pdfalearn.pdfa import PDFA
from pdfalearn.samplers.drawing import Sampler
from pdfalearn.words import Words, offsets_of, prefixes_of


class Mixture:
    """Words from several samplers, each word from one of them.

    Parameters
    ----------
    parts : iterable of (Sampler, float)
        The samplers, each with a positive weight; weights are divided by their sum.

    Examples
    --------
    >>> from pdfalearn import UniformWords
    >>> print(Mixture([(UniformWords(5), 3), (UniformWords(9), 1)]).name)
    a mixture of 0.75 × uniform words of up to 5 symbols and 0.25 × uniform words of up to 9 symbols
    """

    def __init__(self, parts: Iterable[tuple[Sampler, float]]) -> None:
        try:
            pairs = [(sampler, weight) for sampler, weight in parts]
        except (TypeError, ValueError) as error:
            raise InputError(f"{parts!r} are not pairs of a sampler and a weight") from error
        if not pairs:
            raise InputError("a mixture needs at least one sampler")
        for sampler, weight in pairs:
            _check_weight(sampler, weight)
        self._samplers = [sampler for sampler, _ in pairs]
        weights = np.array([weight for _, weight in pairs], dtype=np.float64)
        self._shares = weights / weights.sum()

    @property
    def name(self) -> str:
        """What the words are."""
        pairs = zip(self._shares.tolist(), self._samplers, strict=True)
        return f"a mixture of {' and '.join(f'{share:g} × {part.name}' for share, part in pairs)}"

    def draw(
        self,
        count: int,
        hypothesis: PDFA,
        observations: ObservationTree,
        random: np.random.Generator,
    ) -> Words:
        """Draw which sampler each word comes from, then the words of each."""
        choices = random.choice(len(self._shares), size=count, p=self._shares)
        counts = np.bincount(choices, minlength=len(self._shares)).tolist()
        drawn = [
            sampler.draw(count, hypothesis, observations, random)
            for sampler, count in zip(self._samplers, counts, strict=True)
        ]
        lengths = np.concatenate([words.lengths for words in drawn])
        symbols = np.concatenate([words.symbols for words in drawn])
        places = np.argsort(np.argsort(choices, kind="stable"), kind="stable")
        return prefixes_of(Words(symbols, offsets_of(lengths)), places, lengths[places])

    def unreachable_symbols(self, alphabet: Alphabet) -> list[Symbol]:
        """Return the symbols that none of the samplers reaches."""
        missing = [set(sampler.unreachable_symbols(alphabet)) for sampler in self._samplers]
        return [symbol for symbol in alphabet if all(symbol in part for part in missing)]


def _check_weight(sampler: object, weight: object) -> None:
    if not hasattr(sampler, "draw"):
        raise InputError(f"{sampler!r} is not a sampler, such as UniformWords(max_length=20)")
    if isinstance(weight, bool) or not isinstance(weight, int | float | np.number):
        raise InputError(f"weight {weight!r} is not a number")
    if not 0 < weight < np.inf:
        raise InputError(f"weight {weight!r} is not positive")
