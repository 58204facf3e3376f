"""Models for measurements, with what counts the words, symbols or tokens that they receive.

Public names are looked up when they are used, so that this works with other checkouts' sources.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.checkouts import call, find


class Counted:
    """A PDFA as a function of a batch of words, which counts the words."""

    def __init__(self, pdfa: Any, *, defined: bool = True) -> None:
        self.received = 0
        self._pdfa = pdfa
        self._defined = defined

    def __call__(self, words: list[tuple[str, ...]]) -> Any:
        """Return the distributions; None after a symbol "1" twice if words may be undefined."""
        self.received += len(words)
        rows = self._pdfa.next_distributions(words)
        if self._defined:
            return rows
        doubled = [("1", "1") in pairwise(word) for word in words]
        impossible = [bool(word) and word[-1] == "1" for word in words]
        rows = [
            _without(row, 2) if last else row for row, last in zip(rows, impossible, strict=True)
        ]
        return [None if lost else row for lost, row in zip(doubled, rows, strict=True)]


def _without(row: Any, column: int) -> Any:
    """Return a distribution without one of its symbols."""
    left = row.copy()
    left[column] = 0.0
    return left / left.sum()


class CountedWord:
    """A function of a single word with few classes, which counts its calls."""

    def __init__(self, *, undefined: bool) -> None:
        self.received = 0
        self._undefined = undefined

    def __call__(self, word: tuple[str, ...]) -> dict[str, float] | None:
        """Return the probabilities after a word: they depend on its number of a, modulo 5."""
        self.received += 1
        count = word.count("a")
        if self._undefined and (count > 7 or "bb" in "".join(word)):
            return None
        ended = self._undefined and word[-1:] == ("b",)
        if self._undefined and count == 7:
            return {"$": 1.0} if ended else {"b": 0.5, "$": 0.5}
        if ended:
            return {"a": 0.75, "$": 0.25}
        return {"a": 0.1 + 0.1 * (count % 5), "b": 0.3, "$": 0.6 - 0.1 * (count % 5)}


class CountedSparse:
    """A function over many symbols that returns sparse rows: three symbols follow each word."""

    def __init__(self, symbols: Sequence[str]) -> None:
        self.received = 0
        self._place = {symbol: place for place, symbol in enumerate(symbols)}

    def __call__(self, words: list[tuple[str, ...]]) -> Any:
        """Return rows that list the terminal and three symbols, by the last symbol modulo 7."""
        self.received += len(words)
        keys = np.array([self._place[word[-1]] % 7 if word else 0 for word in words])
        columns = np.column_stack([0 * keys, keys + 1, keys + 20, keys + 200])
        values = np.column_stack([keys + 1.0, keys + 2.0, 4.0 + 0 * keys, 5.0 + 0 * keys])
        values /= values.sum(axis=1, keepdims=True)
        offsets = np.arange(0, columns.size + 1, 4)
        width = len(self._place) + 1
        return find("Rows").sparse(width, offsets, columns.ravel(), values.ravel())


def random(size: int, symbols: int = 2, **options: Any) -> Any:
    """Draw a random target."""
    return call("random_pdfa", size, symbols, **options)


def example(name: str, *arguments: Any, **options: Any) -> Any:
    """Return one of the targets that are made without chance."""
    return call(name, *arguments, **options)


def one_state() -> Any:
    """Return an automaton of one state."""
    return find("PDFA")(alphabet="ab", transitions=[[0, 0]], probabilities=[[0.2, 0.3, 0.5]])


def function(pdfa: Any, *, defined: bool = True, **options: Any) -> tuple[Any, Counted]:
    """Return a PDFA as a function of batches, and what counts its words."""
    counted = Counted(pdfa, defined=defined)
    return call("FunctionModel", counted, pdfa.alphabet, **options), counted


def named_function() -> tuple[Any, Any]:
    """Return a function that has a fingerprint, so that a store keeps its answers."""
    return function(random(40, 3, distributions=4, seed=41), fingerprint="forty states")


def of_words(*, undefined: bool) -> tuple[Any, CountedWord]:
    """Return a function of single words as a model, and what counts its calls."""
    counted = CountedWord(undefined=undefined)
    return find("FunctionModel").of_words(counted, "ab"), counted


def sparse() -> tuple[Any, CountedSparse]:
    """Return a function over 300 symbols with sparse rows as a model, and what counts its words."""
    counted = CountedSparse([str(symbol) for symbol in range(300)])
    return find("FunctionModel")(counted, [str(symbol) for symbol in range(300)]), counted


def guide(symbols: int, states: int = 3, seed: int = 1) -> Any:
    """Return a random guide that forbids about half of the symbols in each state."""
    draw = np.random.default_rng(seed)
    table = draw.integers(states, size=(states, symbols))
    allowed = draw.random((states, symbols)) < 0.5
    allowed[:, 0] = True
    alphabet = [str(symbol) for symbol in range(symbols)]
    return find("DFA")(
        alphabet=alphabet, transitions=np.where(allowed, table, -1), accepting=[True] * states
    )


def forcing_guide() -> Any:
    """Return a guide over four symbols that leaves one possibility in two of its three states."""
    table = [[1, 1, 1, 1], [-1, -1, 2, -1], [-1, -1, -1, 0]]
    return find("DFA")(alphabet="0123", transitions=table, accepting=[True, False, False])


def stacked(model: Any, symbols: int) -> Any:
    """Return a model in four wrappers."""
    guided = find("Guided")(model, guide(symbols))
    steep = find("Temperature")(guided, 0.7)
    return find("TopK")(find("TopP")(steep, 0.95), 3)


def layers(
    kind: str, memory: int = 2**20, *, hidden: int = 6, depth: int = 1, symbols: str = "abc"
) -> tuple[Any, Steps]:
    """Return a network with random weights in float64 as a model, and what counts its steps.

    Parameters
    ----------
    kind : {"GRU", "LSTM", "RNN"}
        What it is made of.
    memory : int
        How many bytes the model may keep.
    hidden, depth : int
        The numbers of a layer's state, and the number of layers.
    symbols : str
        The alphabet.
    """
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(3)
    embedding = torch.nn.Embedding(len(symbols) + 1, 5).double()
    recurrent = getattr(torch.nn, kind)(5, hidden, depth).double()
    head = torch.nn.Linear(hidden, len(symbols) + 1).double()
    with torch.no_grad():
        embedding.weight *= 2
        head.weight *= 8
    counted = Steps(recurrent)
    model = find("RecurrentModel").of_layers(embedding, recurrent, head, symbols, memory=memory)
    return model, counted


def transformer(width: int = 16, prompt: int = 2) -> tuple[Any, Steps]:
    """Return a tiny GPT-2 with random weights as a model of digits, and what counts its tokens.

    Parameters
    ----------
    width : int
        The numbers of a token.
    prompt : int
        The tokens before every word.
    """
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.set_num_threads(1)
    torch.manual_seed(1)
    sizes = {"vocab_size": 40, "n_positions": 64, "n_embd": width, "n_layer": 2, "n_head": 2}
    tokens = {"bos_token_id": 0, "eos_token_id": 0}
    network = GPT2LMHeadModel(GPT2Config(**sizes, **tokens, initializer_range=0.4)).eval()
    digits = {str(digit): [10 + digit] for digit in range(4)}
    before = list(range(1, prompt + 1))
    model = find("TransformerModel")(network, symbols=digits, prompt=before, ends=[0])
    return model, Steps(network)


class Steps:
    """Counts what goes through a network of torch: rows times columns of its first input.

    Parameters
    ----------
    module : torch.nn.Module
        The network.
    """

    def __init__(self, module: Any) -> None:
        self.received = 0
        module.register_forward_pre_hook(self._count)

    def _count(self, module: Any, inputs: Any) -> None:
        self.received += inputs[0].shape[0] * inputs[0].shape[1]
