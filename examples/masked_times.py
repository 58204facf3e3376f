"""Masking against conditioning: times of day from a model of characters.

A model of characters is fitted on the spot to times, costs and years. Held to times of day symbol
by symbol, as constrained decoding does, it finds other times likely than it does by itself: each
symbol is chosen without a look at how many words can still be completed. Conditioning is exact.
Run with ``python -m examples.masked_times``; it needs ``pip install '.[regex]'``.
"""

from __future__ import annotations

import numpy as np

from pdfalearn import PDFA, Alphabet, Guided, learn, most_likely, probability, refit
from pdfalearn.analysis import condition, distances

ALPHABET = Alphabet("0123456789:.")
TIMES = "([01][0-9]|2[0-3]):[0-5][0-9]"
EVERY_TIME = [f"{hour:02}:{minute:02}" for hour in range(24) for minute in range(60)]


def corpus(count: int, seed: int) -> list[str]:
    """Draw times of day, most of them in working hours, costs, and years."""
    random = np.random.default_rng(seed)
    texts = []
    for form, a, b in random.random((count, 3)).tolist():
        if form < 0.3:
            hour, minute = int(8 + 10 * a) if b < 0.9 else int(24 * a), 5 * int(12 * b)
            texts.append(f"{hour:02}:{minute:02}")
        elif form < 0.8:
            texts.append(f"{int(300 * a * a)}.{int(100 * b):02}")
        else:
            texts.append(f"{1990 + int(40 * a)}")
    return texts


def characters() -> PDFA:
    """Fit a model that knows the last two characters."""
    size = len(ALPHABET) + 1
    # State i·size + j: the last character is j - 1, the one before it i - 1; 0 is the beginning.
    onwards = (np.arange(size**2) % size)[:, None] * size + np.arange(1, size)
    rows = np.full((size**2, size), 1 / size)
    start = PDFA(alphabet=ALPHABET, transitions=onwards, probabilities=rows)
    return refit(start, corpus(4_000, seed=1))


def main() -> None:
    """Print how likely times are, masked and conditioned, and how far the two are apart."""
    model = characters()
    exact, masked = condition(model, TIMES), learn(Guided(model, TIMES)).pdfa
    masses, others = exact.word_probabilities(EVERY_TIME), masked.word_probabilities(EVERY_TIME)
    print(f"| P(time of day) | {probability(model, TIMES):.4f} |")
    print(f"| total variation | {np.abs(masses - others).sum() / 2:.4f} |")
    bounds = distances(exact, masked)
    low, high = bounds.total_variation_low, bounds.total_variation_high
    print(f"| its bounds | {low:.4f} to {high:.4f} |\n")
    for hours in ("0[0-9]", "1[0-9]", "2[0-3]"):
        shares = [probability(one, f"{hours}:[0-5][0-9]") for one in (exact, masked)]
        print(f"| {hours} | {shares[0]:.3f} | {shares[1]:.3f} |")
    print()
    for one in most_likely(exact, 3):
        text = "".join(map(str, one.word))
        print(f"| {text} | {one.probability:.4f} | {masked.probability(text):.4f} |")


if __name__ == "__main__":
    main()
