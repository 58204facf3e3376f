"""A run's conversation with a recurrent network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pdfalearn.errors import ModelError
from pdfalearn.models._state_rows import StateRows
from pdfalearn.models.protocol import Handles, Session
from pdfalearn.rows import Rows
from pdfalearn.words import Words

if TYPE_CHECKING:
    from torch import Tensor, device

    from pdfalearn.models.recurrent import StepNetwork

_MOST_AT_ONCE = 1024
"""At most this many words go through the network at once; more take memory and save no time."""


class RecurrentSession(Session):
    """Leads a network through words; the handle of a word is a row of hidden state.

    Parameters
    ----------
    network : StepNetwork
        The network.
    states : StateRows
        Rows of state that nobody else uses.
    place : torch.device
        Where the network computes.
    """

    def __init__(self, network: StepNetwork, states: StateRows, place: device) -> None:
        self._network = network
        self._states = states
        self._device = place
        self.room = states.capacity

    def start(self) -> int:
        """Return a row with the state after the empty word."""

        def fill(rows: Handles) -> None:
            logits, state = self._network.start(1)
            row = self._tensor(rows)
            self._states.put(row, state)
            self._put_softmax(row, checked_logits(logits, 1, self._states.width))

        return int(self._filled(1, fill)[0])

    def extend(self, handles: Handles, words: Words) -> Handles:
        """Step through the words, those of a batch together."""

        def fill(rows: Handles) -> None:
            for batch, places, running in _batches(words):
                symbols = words.symbols.take(places).astype(np.int64)
                self._walk(handles.take(batch), symbols, rows.take(places), running)

        return self._filled(len(words.symbols), fill)

    def _filled(self, count: int, fill: Callable[[Handles], None]) -> Handles:
        """Take rows and fill them; release them if that fails."""
        import torch

        rows = self._states.take(count)
        try:
            with torch.inference_mode():
                fill(rows)
        except BaseException:
            self._states.give_back(rows)
            raise
        return rows

    def _walk(
        self, handles: Handles, symbols: NDArray[np.int64], rows: Handles, running: list[int]
    ) -> None:
        """Take steps from handles, a number of words in each, and fill the rows they lead to.

        Symbols and rows are those of the first step, then those of the second, and so on.
        """
        import torch

        inputs, targets = self._tensor(symbols), self._tensor(rows)
        state = self._states.states(self._tensor(handles))
        logits, before, width = [], running[0], self._states.width
        parts = inputs.split_with_sizes(running), targets.split_with_sizes(running)
        for count, step_inputs, step_targets in zip(running, *parts, strict=True):
            if count < before:
                state = self._states.first(state, count)
            step_logits, state = self._network.step(step_inputs, state)
            self._states.put(step_targets, state)
            logits.append(checked_logits(step_logits, count, width))
            before = count
        self._put_softmax(targets, logits[0] if len(logits) == 1 else torch.cat(logits))

    def read(self, handles: Handles) -> Rows:
        """Return the distributions, which were computed along with the states."""
        return Rows(self._states.width, self._states.distributions.take(handles, axis=0))

    def release(self, handles: Handles) -> None:
        """Forget the states of words."""
        self._states.give_back(handles)

    def close(self) -> None:
        """Forget the states of all words, and free their memory."""
        self._states.clear()

    def _tensor(self, values: NDArray[np.int64]) -> Tensor:
        import torch

        return torch.from_numpy(values).to(self._device)

    def _put_softmax(self, rows: Tensor, logits: Tensor) -> None:
        import torch

        self._states.put_distributions(rows, torch.softmax(logits, dim=1, dtype=torch.float64))


def checked_logits(logits: Tensor, count: int, width: int) -> Tensor:
    """Return logits as they are, or say that they have another shape than they must."""
    if logits.shape != (count, width):
        raise ModelError(
            f"the network gives logits of shape {tuple(logits.shape)} for {count} words, not "
            f"{(count, width)}: a row for each word, in it the terminal first, then every symbol"
        )
    return logits


def _batches(words: Words) -> Iterator[tuple[list[int], list[int], list[int]]]:
    """Order words, the longest first, and their symbols by the steps that they are taken in.

    Yields
    ------
    batch, places, running : list of int
        Words that are not empty; the places of all their first symbols, then of all second ones,
        and so on; how many words take each step.
    """
    offsets = words.offsets.tolist()
    lengths = [end - begin for begin, end in pairwise(offsets)]
    not_empty = [word for word, length in enumerate(lengths) if length]
    longest_first = sorted(not_empty, key=lengths.__getitem__, reverse=True)
    for begin in range(0, len(longest_first), _MOST_AT_ONCE):
        batch = going = longest_first[begin : begin + _MOST_AT_ONCE]
        places: list[int] = []
        running: list[int] = []
        while going:
            step = len(running)
            places += [offsets[word] + step for word in going]
            running.append(len(going))
            going = [word for word in going if lengths[word] > step + 1]
        yield batch, places, running
