"""A recurrent network of torch as a language model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Protocol

import numpy as np

from pdfalearn.alphabet import Alphabet, Symbol
from pdfalearn.checks import check_integer
from pdfalearn.errors import InputError, ModelError
from pdfalearn.extras import check_installed
from pdfalearn.models._networks import (
    Layers,
    SlotCache,
    check_not_training,
    find_word_axes,
    map_tensors,
    module_hash,
    module_of,
)
from pdfalearn.models.batch import Batch
from pdfalearn.models.protocol import EVERY_STEP, LanguageModel, QueryCost, attach_answers
from pdfalearn.rows import Rows
from pdfalearn.typing import Flags, Floats, Integers

if TYPE_CHECKING:
    from torch import Tensor, nn

    from pdfalearn.models._networks import State

_MEMORY = 2**30
# The empty word's state, that of a word and that of the word one symbol longer.
_LEAST_CAPACITY = 3
# At most this many words go through the network at once; more take memory and save no time.
_MOST_AT_ONCE = 1024
_NOTHING = np.empty(0, dtype=np.int64)


class StepNetwork(Protocol):
    """A recurrent network that takes one step at a time, for a batch of words.

    The logits of a word are a row: the terminal's first, then every symbol's in the order of the
    alphabet. A state is a tensor, or tuples, lists or dictionaries of tensors; each of them has an
    axis for the words of the batch.

    Examples
    --------
    >>> import torch
    >>> from pdfalearn import evaluate
    >>> class Fading:
    ...     def start(self, count):
    ...         return self.answer(torch.zeros(count, 1))
    ...
    ...     def step(self, symbols, state):
    ...         return self.answer(0.5 * state + symbols[:, None])
    ...
    ...     def answer(self, state):
    ...         none = torch.zeros_like(state)
    ...         return torch.cat([none, none, state], dim=1), state
    >>> model = RecurrentModel(Fading(), "ab")
    >>> evaluate(model, model, ["", "ab"]).over_words.l1
    0.0
    """

    def start(self, count: int) -> tuple[Tensor, State]:
        """Return the logits and the state after the empty word, for a batch of this size."""
        ...

    def step(self, symbols: Tensor, state: State) -> tuple[Tensor, State]:
        """Return the logits and the state after one symbol more.

        ``symbols`` are integers, one for each word: positions in the alphabet.
        """
        ...


class RecurrentModel(LanguageModel):
    """A recurrent network as a language model: what is kept of a word is the hidden state after it.

    A word costs one step for each symbol beyond its longest prefix that is still known; the words
    of a batch take their steps together.

    Parameters
    ----------
    network : StepNetwork
        Anything with the two methods `start` and `step`, mostly a ``torch.nn.Module``. It stays on
        its device and in its precision; softmax is in float64.
    alphabet : iterable of hashable, or Alphabet
        The symbols.
    terminal : hashable
        The terminal symbol, unless the alphabet has one already.
    memory : int
        The most bytes that the hidden states of one run may take; 1 GiB if not given. The states
        that were not used for longest are forgotten, and computed again when they are needed.
    cost : QueryCost
        What asking costs; if not given, every symbol costs the same.

    Notes
    -----
    The number of torch's threads is left alone. For small networks, and on a busy machine,
    ``torch.set_num_threads(1)`` is mostly faster.

    Examples
    --------
    >>> import torch
    >>> layers = torch.nn.Embedding(3, 4), torch.nn.GRU(4, 8), torch.nn.Linear(8, 3)
    >>> opened = RecurrentModel.of_layers(*layers, "ab").open()
    >>> opened.answer(Batch.of([(), (0, 1)])).to_dense().shape
    (2, 3)
    """

    def __init__(
        self,
        network: StepNetwork,
        alphabet: Iterable[Symbol] | Alphabet,
        terminal: Symbol = "$",
        *,
        memory: int = _MEMORY,
        cost: QueryCost = EVERY_STEP,
    ) -> None:
        check_installed("torch", "networks")
        if not (hasattr(network, "start") and hasattr(network, "step")):
            raise InputError(
                f"{type(network).__name__} lacks the methods start and step; "
                "RecurrentModel.of_layers makes a model of an embedding, a GRU or LSTM, and a head"
            )
        if not isinstance(alphabet, Alphabet):
            alphabet = Alphabet(alphabet, terminal)
        self.alphabet = alphabet
        self.cost = cost
        self._network = network
        self._module = module_of(network)
        self._memory = check_integer(memory, "memory", 1, 2**62)
        self.open()  # refuses a network that cannot be asked

    def __repr__(self) -> str:
        return f"RecurrentModel({type(self._network).__name__}, {self.alphabet!r})"

    @classmethod
    def of_layers(
        cls,
        embedding: nn.Module,
        recurrent: nn.RNNBase,
        head: nn.Module,
        alphabet: Iterable[Symbol] | Alphabet,
        terminal: Symbol = "$",
        *,
        memory: int = _MEMORY,
        cost: QueryCost = EVERY_STEP,
    ) -> RecurrentModel:
        """Make a model of an embedding, a torch.nn.RNN, GRU or LSTM, and a head.

        The network's tokens are 0, which begins every word on the way in and stands for the
        terminal on the way out, and 1, 2, … for the symbols in the order of the alphabet.

        Parameters
        ----------
        embedding : torch.nn.Module
            Maps tokens to vectors.
        recurrent : torch.nn.RNN, GRU or LSTM
            In one direction; of any number of layers, the batch on either axis.
        head : torch.nn.Module
            Maps outputs to the logits of the tokens.
        alphabet, terminal, memory, cost
            As for the class.
        """
        check_installed("torch", "networks")
        layers = Layers(embedding, recurrent, head)
        model = cls(layers, alphabet, terminal, memory=memory, cost=cost)
        layers.check_tokens(len(model.alphabet))
        return model

    @property
    def fingerprint(self) -> str | None:  # type: ignore[override]
        """A hash of the network's parameters, layers and alphabet; None if it has no parameters."""
        return None if self._module is None else module_hash(self._module, self.alphabet)

    def open(self) -> OpenedNetwork:
        """Return what keeps the hidden states of one run; it has the whole memory for itself."""
        if self._module is not None:
            check_not_training(self._module)
        return OpenedNetwork(self, self._network, self._memory)


class OpenedNetwork(LanguageModel):
    """Takes a network through the words of one run, and keeps hidden states as far as they fit."""

    def __init__(self, model: RecurrentModel, network: StepNetwork, memory: int) -> None:
        import torch

        self.alphabet = model.alphabet
        self.cost = model.cost
        self._network = network
        self._width = len(model.alphabet) + 1
        with torch.inference_mode():
            logits, self._form = network.start(2)
            if logits.shape != (2, self._width):
                raise _explain_shape(logits, 2, self._width)
            self._device = logits.device
            tensors: list[Tensor] = []
            more_tensors: list[Tensor] = []
            map_tensors(tensors.append, self._form)
            map_tensors(more_tensors.append, network.start(3)[1])
            axes = find_word_axes(tensors, more_tensors)
            first = [tensor.narrow(axis, 0, 1) for tensor, axis in zip(tensors, axes, strict=True)]
            self._states = SlotCache(first, axes, memory)
            self.capacity = self._states.capacity
            """The most words whose hidden states are kept."""
            if self.capacity < _LEAST_CAPACITY:
                raise InputError(
                    f"memory of {memory:,} bytes is too little: a word takes "
                    f"{self._states.row_bytes:,}, and {_LEAST_CAPACITY} must fit in even while "
                    "they are moved"
                )
            empty = self._states.assign(np.zeros(1, dtype=np.int64), _NOTHING)
            self._states.write(torch.from_numpy(empty).to(self._device), first)
            self._first = torch.softmax(logits[0], dim=0, dtype=torch.float64).cpu().numpy()
        # The most words that fit into the cache with as many parents and the empty word.
        self._widest = (self.capacity - 1) // 2

    def close(self) -> None:
        """Free the memory of the hidden states."""
        self._states = SlotCache([], [], 0)

    def answer(self, batch: Batch) -> Rows:
        """Return the distributions after words; those of a level take their steps together."""
        import torch

        table, answered = np.empty((batch.count, self._width)), np.zeros(batch.count, dtype=bool)
        if batch.count and batch.wanted_ids[0] == 0:
            table[0], answered[0] = self._first, True
        try:
            with torch.inference_mode():
                for part, levels in self._plan(batch):
                    # What does not fit into the cache goes level by level, and is forgotten.
                    fits = len(part.ids) <= self._widest
                    for together in [levels] if fits else [[level] for level in levels]:
                        self._take_steps(part, together, batch.wanted_ids, table, answered)
        except BaseException as error:
            attach_answers(error, batch.wanted_ids[answered], Rows.dense(table[answered]))
            raise
        return Rows.dense(table)

    def _plan(self, batch: Batch) -> Iterator[tuple[Batch, list[Integers]]]:
        """Cut a batch into parts that begin at words which are known when their turn comes.

        No level of a part has more words than fit into the cache with their parents.
        """
        know, ids, wanted = self._states.know, batch.ids, batch.wanted
        new = (ids > 0) & (wanted | ~know(ids))
        part = Batch.of_ids(ids[new], wanted[new], batch.lineage, is_narrow=batch.is_narrow)
        if not len(part.ids):
            return
        if len(part.ids) <= self._widest and know(part.parents).all():
            yield part, [np.arange(len(part.ids))]  # so are most batches
            return
        part = part.reaching(know)
        levels = part.levels()
        if max(map(len, levels)) <= self._widest:
            yield part, levels
            return
        # In the order of a dictionary words stand beside those that they have a beginning in common
        # with: little is computed again. And no level of what leads to some words has more words
        # than these.
        words = list(batch.words)
        order = sorted(filter(words.__getitem__, range(batch.count)), key=words.__getitem__)
        for begin in range(0, len(order), self._widest):
            few = batch.wanted_ids[np.sort(order[begin : begin + self._widest])]
            every = np.ones(len(few), dtype=bool)
            part = Batch.of_ids(few, every, batch.lineage, is_narrow=batch.is_narrow).reaching(know)
            yield part, part.levels()

    def _take_steps(
        self,
        part: Batch,
        levels: list[Integers],
        wanted_ids: Integers,
        table: Floats,
        answered: Flags,
    ) -> None:
        """Compute words level by level; put the rows of the wanted ones in, as far as it gets."""
        import torch

        order = np.concatenate(levels)
        ids, parents = part.ids[order], part.parents[order]
        # The empty word, 0, is needed each time, so that it is never forgotten.
        targets = self._states.assign(ids, np.append(parents[: len(levels[0])], 0))
        sources = self._states.find(parents)
        most, lengths = _MOST_AT_ONCE, [len(level) for level in levels]
        sizes = [min(most, size - begin) for size in lengths for begin in range(0, size, most)]
        # Where all words go on one by one, the states need not be read again.
        goes_on = sizes[1:] == sizes[:-1] and (sources[sizes[0] :] == targets[: -sizes[0]]).all()
        arrays = part.symbols[order].astype(np.int64), targets, sources
        tensors = [torch.from_numpy(array).to(self._device) for array in arrays]
        columns = [tensor.split_with_sizes(sizes) for tensor in tensors]
        logits: list[Tensor] = []
        state: State | None = None
        try:
            for size, inputs, after, before in zip(sizes, *columns, strict=True):
                if state is None or not goes_on:
                    chosen = iter(self._states.read(before))
                    state = map_tensors(lambda _: next(chosen), self._form)  # noqa: B023
                step_logits, state = self._network.step(inputs, state)
                after_step: list[Tensor] = []
                map_tensors(after_step.append, state)
                self._states.write(after, after_step)
                if step_logits.shape != (size, self._width):
                    raise _explain_shape(step_logits, size, self._width)
                logits.append(step_logits)
        finally:
            if logits:
                values = torch.softmax(torch.cat(logits), dim=1, dtype=torch.float64).cpu().numpy()
                wanted = part.wanted[order[: len(values)]]
                places = np.searchsorted(wanted_ids, ids[: len(values)][wanted])
                table[places], answered[places] = values[wanted], True


def _explain_shape(logits: Tensor, count: int, width: int) -> ModelError:
    """Return the error for logits of another shape than they must have."""
    return ModelError(
        f"the network gives logits of shape {tuple(logits.shape)} for {count} words, not "
        f"{(count, width)}: a row for each word, in it the terminal first, then every symbol"
    )
