"""Two models compared: where do dates part that were asked for in two ways?

Two models of characters are fitted on the spot, to dates as two prompts bring them: one is asked
for dates, the other for dates in America. Both are automata, so that their distance is exact, and
so is where it arises. Run with ``python -m examples.two_prompts``.
"""

from __future__ import annotations

import numpy as np

from pdfalearn import PDFA, Alphabet, divergence, refit
from pdfalearn.analysis import Differences, differences, distances

ALPHABET = Alphabet("0123456789/")
SIZE = 11
"""Places in a date, and its end."""


def dates(count: int, seed: int, american: float) -> list[str]:
    """Draw dates such as 24/12/2025, some of them with the month first."""
    random = np.random.default_rng(seed)
    texts = []
    for a, b, c, form in random.random((count, 4)).tolist():
        day, month, year = 1 + int(28 * a), 1 + int(12 * b), 2020 + int(10 * c)
        first, second = (month, day) if form < american else (day, month)
        texts.append(f"{first:02}/{second:02}/{year}")
    return texts


def by_place() -> PDFA:
    """Return an automaton that knows the place in a date and the character before it."""
    size = len(ALPHABET) + 1
    # State place·size + last: the last character is last - 1, and 0 is the beginning.
    places = np.minimum(np.arange(SIZE * size) // size + 1, SIZE - 1)
    onwards = places[:, None] * size + np.arange(1, size)
    rows = np.full((SIZE * size, size), 1 / size)
    return PDFA(alphabet=ALPHABET, transitions=onwards, probabilities=rows)


def compared() -> tuple[PDFA, PDFA, Differences]:
    """Fit both models, and find where they part."""
    start = by_place()
    plain, american = (refit(start, dates(5_000, seed=1, american=share)) for share in (0.1, 0.8))
    return plain, american, differences(plain, american, 4)


def main() -> None:
    """Print the distances, and the prefixes after which the models part."""
    plain, american, found = compared()
    far = distances(plain, american)
    print(f"| Hellinger | {far.hellinger:.3f} |")
    print(f"| total variation | {far.total_variation_low:.3f} to {far.total_variation_high:.3f} |")
    print(f"| KL per date | {divergence(plain, american).forward.per_word:.3f} |\n")
    for one in found.prefixes:
        prefix = "".join(map(str, one.prefix)) or "(the beginning)"
        chances = f"{one.probability_a:.3f} | {one.probability_b:.3f}"
        print(f"| {prefix} | {one.symbol} | {one.share:.3f} | {chances} |")


if __name__ == "__main__":
    main()
