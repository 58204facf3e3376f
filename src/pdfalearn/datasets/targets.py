"""Random targets, as the paper's experiments draw them (§4)."""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator

from pdfalearn.checks import check_integer, check_number, make_generator
from pdfalearn.errors import InputError
from pdfalearn.pdfa import PDFA
from pdfalearn.reachability import reachable_in, reachable_part
from pdfalearn.typing import Codes, Floats

# How many automata ``exact_size`` rejects before it gives up.
_MOST_TRIES = 100_000


def random_pdfa(
    size: int,
    symbols: int = 2,
    *,
    distributions: int | None = None,
    zero_probability: float = 0.0,
    undefined: bool = False,
    exact_size: bool = False,
    seed: int,
) -> PDFA:
    """Draw a random PDFA over the symbols "0", "1", … by Nicaud's method.

    Parameters
    ----------
    size : int
        The nominal number of states: the actual one is spread around it.
    symbols : int
        The number m of symbols. For m = 1 the automaton is a tail of ``size`` states whose last
        edge goes to a random one.
    distributions : int, optional
        Draw only this many distributions, and give every state one of them (experiment 5).
    zero_probability : float
        The chance of each symbol, in each distribution, to have probability 0; the terminal keeps
        its own.
    undefined : bool
        Remove the transitions of symbols with probability 0, and the states that are then out of
        reach: the automaton may become much smaller than its nominal size.
    exact_size : bool
        Draw again until there are exactly ``size`` states.
    seed : int
        Same seed, same automaton, on any machine.

    Notes
    -----
    Nicaud (2014), after Carayol and Nicaud (2012): a complete random automaton of n·m/ρ states,
    ρ = m + W₀(-m·e^(-m)), has about n reachable ones. Those are kept, in breadth-first order.
    Distributions are uniform on the simplex: the gaps between sorted uniform draws.

    Examples
    --------
    >>> random_pdfa(100, seed=1)
    PDFA(104 states, alphabet=('0', '1'), initial=0)
    """
    size = check_integer(size, "size", 1)
    symbols = check_integer(symbols, "symbols", 1)
    if distributions is not None:
        distributions = check_integer(distributions, "distributions", 1)
    zero_probability = check_number(zero_probability, "zero_probability", 0, 0.999999)
    random = make_generator(seed)
    for _ in range(_MOST_TRIES if exact_size else 1):
        transitions = _random_transitions(size, symbols, random)
        if exact_size and not undefined and len(transitions) != size:
            continue
        probabilities = _random_distributions(
            len(transitions), symbols, distributions, zero_probability, random
        )
        if undefined:
            transitions = np.where(probabilities[:, 1:] > 0, transitions, -1)
        pdfa = PDFA(
            alphabet=[str(symbol) for symbol in range(symbols)],
            transitions=transitions,
            probabilities=probabilities,
        )
        pdfa = reachable_part(pdfa) if undefined else pdfa
        if not exact_size or len(pdfa) == size:
            return pdfa
    raise InputError(
        f"none of {_MOST_TRIES} random automata has exactly {size} states; "
        "leave out exact_size, or ask for fewer zeros"
    )


def _random_transitions(size: int, symbols: int, random: Generator) -> Codes:
    """Draw transitions, all of whose states are reachable, breadth first from state 0."""
    if symbols == 1:
        tail = np.arange(1, size + 1, dtype=np.int32)
        tail[-1] = _random_integers(size, (1,), random)[0]
        return tail[:, None]
    from scipy.special import lambertw

    rho = symbols + lambertw(-symbols * math.exp(-symbols)).real
    states = max(1, round(size * symbols / rho))
    complete = _random_integers(states, (states, symbols), random)
    part = reachable_in(complete, 0)
    return part.numbers(states)[complete[part.states]]


def _random_distributions(
    states: int, symbols: int, distributions: int | None, zero_probability: float, random: Generator
) -> Floats:
    rows = _uniform_on_simplex(distributions or states, symbols, random)
    if zero_probability:
        rows[:, 1:][random.random((len(rows), symbols)) < zero_probability] = 0.0
        rows /= rows.sum(axis=1, keepdims=True)  # exact in any order: multiples of 2⁻⁵³ up to 1
    if distributions is None:
        return rows
    return rows[_random_integers(distributions, (states,), random)]


def _uniform_on_simplex(count: int, symbols: int, random: Generator) -> Floats:
    """Draw points of the simplex; each sums to exactly 1, as the gaps are exact differences."""
    cuts = np.zeros((count, symbols + 2))
    cuts[:, 1:-1] = np.sort(random.random((count, symbols)), axis=1)
    cuts[:, -1] = 1.0
    return np.diff(cuts, axis=1)


def _random_integers(bound: int, shape: tuple[int, ...], random: Generator) -> Codes:
    """Draw integers below a bound from ``random.random`` alone, the same on every NumPy."""
    return (random.random(shape) * bound).astype(np.int32)
