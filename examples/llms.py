"""What the showcases of LLMs have in common: the LLM, all of its words, and automata of them.

A showcase asks for every word that its guide allows (*enumeration*), so that what is learnt can be
held against the whole truth. Run all with ``python -m benchmarks.showcases``.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from benchmarks.support import print_header, print_row
from examples.smollm import smollm
from pdfalearn import (
    PDFA,
    Exact,
    Frontier,
    Guided,
    Quantization,
    Result,
    TransformerModel,
    distinguish,
    learn,
    most_likely,
    quotient,
    save,
    simplify,
)
from pdfalearn.learners import ObservationTree
from pdfalearn.oracles import EquivalenceOracle

KAPPAS = (2, 4, 10, 100, 1000)

Floats = NDArray[np.float64]


class LLM(NamedTuple):
    """A causal language model of Hugging Face with its tokenizer."""

    network: Any
    tokenizer: Any

    def guided(self, symbols: Sequence[str], guide: str, prompt: str, **options: Any) -> Guided:
        """Return a model over texts, held to those that a regular expression allows.

        Where symbols are digits, a prompt may end in a space: this tokenizer writes no digit
        together with the space before it.
        """
        return Guided(self.asked(symbols, prompt, **options), guide)

    def asked(self, symbols: Sequence[str], prompt: str, **options: Any) -> TransformerModel:
        """Return a model over texts."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "the prompt ends in a space")
            return TransformerModel(self.network, self.tokenizer, symbols, prompt=prompt, **options)


@cache
def smollm_in_memory() -> LLM:
    """Load SmolLM2-135M-Instruct; one thread, as others may use the machine."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(1)
    folder = smollm()
    network = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True)
    return LLM(network, AutoTokenizer.from_pretrained(folder, local_files_only=True))


@dataclass
class Cost:
    """What was asked of an LLM."""

    words: int = 0
    """Those that a guide forced are not asked, and not counted."""
    tokens: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        return f"{self.words} words, {self.tokens} tokens, {self.seconds:.2f} s"


@contextmanager
def counted(model: Guided | TransformerModel) -> Iterator[Cost]:
    """Count the tokens and the seconds of asking; the words are for the caller to count."""
    from benchmarks.transformers import Clock  # it needs torch

    cost, clock, started = Cost(), Clock(), time.perf_counter()
    asked = model.model if isinstance(model, Guided) else model
    with clock.on(cast(TransformerModel, asked)._model.module):
        yield cost
    cost.tokens, cost.seconds = clock.tokens, time.perf_counter() - started


class Level(NamedTuple):
    """The beginnings of words that have one length, and what may follow each of them."""

    parents: NDArray[np.int64]
    """The place of each without its last symbol, in the level before."""
    symbols: NDArray[np.int64]
    rows: Floats


def enumerated(model: Guided) -> tuple[PDFA, Cost]:
    """Ask for every word that a guide allows, length by length.

    Returns
    -------
    pdfa : PDFA
        A tree: one state for every beginning of a word.
    cost : Cost
        What it took.
    """
    levels: list[Level] = []
    parents = symbols = np.zeros(1, dtype=np.int64)
    with counted(model) as cost, ObservationTree(model, Exact()) as tree:
        nodes = np.zeros(1, dtype=np.int64)
        while len(nodes):
            tree.ask(nodes)
            levels.append(Level(parents, symbols, tree.rows(nodes)))
            parents, symbols = (levels[-1].rows[:, 1:] > 0).nonzero()
            nodes = tree.nodes.step(nodes[parents], symbols)
        cost.words = tree.counts.outside_known
    return _tree(model, levels), cost


def _tree(model: Guided, levels: Sequence[Level]) -> PDFA:
    rows = np.concatenate([level.rows for level in levels])
    transitions = np.full((len(rows), len(model.alphabet)), -1)
    begin = 0
    for level, following in pairwise(levels):
        end = begin + len(level.rows)
        numbers = end + np.arange(len(following.rows))
        transitions[begin + following.parents, following.symbols] = numbers
        begin = end
    return PDFA(alphabet=model.alphabet, transitions=transitions, probabilities=rows)


def words_of(tree: PDFA) -> list[tuple[Any, ...]]:
    """Return the words of a tree."""
    reached: dict[int, tuple[Any, ...]] = {0: ()}
    table = np.asarray(tree.transitions)
    for state, column in zip(*(table >= 0).nonzero(), strict=True):
        word = reached[int(state)]
        reached[int(table[state, column])] = (*word, tree.alphabet.symbols[column])
    ending = np.asarray(tree.probabilities)[:, 0] > 0
    return [word for state, word in reached.items() if ending[state]]


def variation(tree: PDFA, pdfa: PDFA) -> float:
    """Return the total variation between the words of a tree and those of an automaton."""
    words = words_of(tree)
    expected, found = tree.word_probabilities(words), pdfa.word_probabilities(words)
    # Rounding can make a sum of probabilities larger than 1.
    return max(0.0, float(np.abs(expected - found).sum() + 1 - found.sum()) / 2)


def learnt(
    model: Guided, kappa: int, oracle: EquivalenceOracle | None = None
) -> tuple[Result, Cost]:
    """Learn from the LLM itself."""
    with counted(model) as cost:
        result = learn(model, equivalence=Quantization(kappa), oracle=oracle)
    cost.words = outside(result)["distributions"]
    return result, cost


def outside(result: Result | Frontier) -> dict[str, Any]:
    """Return what is known of the mass that is neither on a symbol nor on an end."""
    return cast(dict[str, Any], result.certificate.details["outside"])


def print_learnt(
    model: Guided, tree: PDFA, all_words: Cost, oracles: dict[int, EquivalenceOracle | None]
) -> dict[int, PDFA]:
    """Print what learning costs at each κ beside enumeration; return the automata.

    The last column says whether the automaton equals all words at its κ.

    Parameters
    ----------
    model : Guided
        The model.
    tree : PDFA
        All of its words.
    all_words : Cost
        What these have cost.
    oracles : dict
        The oracle for each κ; None for the usual one.
    """
    print_header(["", "words", "tokens", "seconds", "states", "total variation", "equivalent"])
    print_row(["enumeration", *vars(all_words).values(), len(tree), 0.0, ""])
    automata = {}
    for kappa, oracle in oracles.items():
        result, cost = learnt(model, kappa, oracle)
        automata[kappa] = result.pdfa
        figures = [*vars(cost).values(), len(result.pdfa), variation(tree, result.pdfa)]
        is_same = distinguish(result.pdfa, tree, equivalence=Quantization(kappa)) is None
        print_row([f"learnt, κ = {kappa}", *figures, "yes" if is_same else "no"])
        beside = outside(result)
    print(f"\nmass outside: {beside['mean']:.3f} on average, {beside['largest']:.3f} at most\n")
    return automata


def print_states(tree: PDFA) -> None:
    """Print how many states all words need, by κ; the answers are there, and nothing is asked."""
    print_header(["κ", "states", "total variation"])
    for kappa in KAPPAS:
        pdfa = learn(tree, equivalence=Quantization(kappa)).pdfa
        print_row([kappa, len(pdfa), variation(tree, pdfa)])
    print()


def text(word: Sequence[Any]) -> str:
    """Write a word as it would be read."""
    return "".join(map(str, word)).strip()


def print_likeliest(tree: PDFA, count: int) -> None:
    """Print the likeliest words."""
    shown = [f"{text(found.word)} {found.probability:.3f}" for found in most_likely(tree, count)]
    print(f"likeliest: {', '.join(shown)}\n")


def small_picture(tree: PDFA, kappa: int, states: int, path: Path | None) -> None:
    """Draw an automaton of a few states that is near to that of all words at κ."""
    small = simplify(quotient(tree, equivalence=Quantization(kappa)), states=states).pdfa
    print(f"picture: {len(small)} states, total variation {variation(tree, small):.3f}\n")
    if path is not None:
        save(small, path)


def picture_in(folder: Path | None, name: str) -> Path | None:
    """Return where a picture is to be written; None if nowhere."""
    return None if folder is None else folder / f"{name}.svg"


def run(show: Callable[[LLM, Path | None], None]) -> None:
    """Run a showcase; the command line may name a folder for its pictures."""
    show(smollm_in_memory(), Path(sys.argv[1]) if len(sys.argv) > 1 else None)
