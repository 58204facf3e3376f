"""A run's conversation with a transformer."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pdfalearn.models._causal_models import CausalModel, Limit
from pdfalearn.models._key_values import KeyValueRows
from pdfalearn.models._re_encoding import re_encode
from pdfalearn.models._token_tree import Nodes, TokenTree
from pdfalearn.models._tree_pass import PassPlanner
from pdfalearn.models.protocol import Handles, Session
from pdfalearn.models.spelling import Spelling
from pdfalearn.row_checks import UndecidedError
from pdfalearn.rows import Floats, Rows
from pdfalearn.words import Words

if TYPE_CHECKING:
    from torch import Tensor

_OVER = -1
"""Stands in place of a token where a word went on outside of the alphabet."""
_LOGITS_AT_ONCE = 2**20
"""About this many logits are in float64 at once, as vocabularies may be large."""
_MOST_CONTEXT = 32
"""Words of one pass have about this many times as many tokens as go through the model at most:
each token is held against all of them, whether it attends to them or not."""


class Way(NamedTuple):
    """How words go through a model."""

    keeps: bool
    """Whether keys and values are kept; else texts are computed whole each time."""
    longest: int
    """The most tokens that a pass holds, those that are kept included."""
    limit: Limit
    """What bounds the length of prompt and word."""


class TransformerSession(Session):
    """Notes down words as a tree of tokens, and computes in `read` what is not kept of it.

    A token needs the keys and values of all tokens before it, so that only the session can tell
    what may be forgotten: handles are cheap, and the memory is bounded here.

    Parameters
    ----------
    model : CausalModel
        The transformer.
    spelling : Spelling
        How symbols are written in tokens.
    prompt : tuple of int
        The tokens before every word, one at least.
    memory : int
        The most bytes of keys and values, besides those of the prompt.
    batch : int
        About how many tokens go through the model at once.
    way : Way
        How they do.
    """

    def __init__(
        self,
        model: CausalModel,
        spelling: Spelling,
        prompt: tuple[int, ...],
        memory: int,
        batch: int,
        way: Way,
    ) -> None:
        self._model = model
        self._spelling = spelling
        self._batch = batch
        self._way = way
        self.tree = TokenTree(prompt[-1])
        """The words."""
        self._prompt = prompt
        deepest, behind = max(map(len, spelling.prefixes)), len(spelling.prefixes) - 1
        self._most = min(way.limit.tokens - deepest, way.longest - behind) - len(prompt)
        self._memory = memory
        self._kept: KeyValueRows | None = None
        self._planner = PassPlanner(self.tree, spelling.prefixes, len(prompt) - 1)
        self.positive = spelling.outside is None
        self.tokens = 0
        """How many tokens went through the model."""
        self.passes = 0
        """How many times the model was called."""

    def start(self) -> int:
        """Return the root of the tree."""
        return 0

    def extend(self, handles: Handles, words: Words) -> Handles:
        """Note down the longer words."""
        spelling = self._spelling
        if spelling.outside is None:
            return self._extended(handles, words)
        answer = np.full(len(words.symbols), -1, dtype=np.int64)
        # A word ends with the first symbol that is outside, if it is not over already.
        lost = np.append(0, np.cumsum(words.symbols == len(spelling.tokens)))
        before = lost[:-1] - np.repeat(lost[words.offsets[:-1]], words.lengths)
        over = np.repeat(self.tree.tokens[handles] == _OVER, words.lengths)
        inside, leaving = (before == 0) & ~over, np.diff(lost) > 0
        counts = np.append(0, np.cumsum(inside))
        parts = Words(words.symbols[inside], counts[words.offsets])
        answer[inside] = self._extended(handles, parts)
        self.tree.tokens[answer[inside & leaving]] = _OVER
        return answer

    def _extended(self, handles: Handles, words: Words) -> Handles:
        # Outside has no tokens: the last symbol's stand there until they are marked.
        codes = np.minimum(words.symbols, len(self._spelling.tokens) - 1)
        symbols = self._spelling.spelled(Words(codes, np.arange(len(codes) + 1)))
        tokens = Words(symbols.symbols, symbols.offsets[words.offsets])
        self._check_length(handles, words, symbols)
        return self.tree.add(handles, tokens)[symbols.offsets[1:] - 1]

    def _check_length(self, handles: Handles, words: Words, symbols: Words) -> None:
        """Refuse words that do not fit into the model's context."""
        before = np.repeat(self.tree.depths[handles], words.lengths)
        begins = np.repeat(symbols.offsets[words.offsets[:-1]], words.lengths)
        too_long = before + symbols.offsets[1:] - begins > self._most
        if not too_long.any():
            return
        place = int(too_long.argmax())
        word = int(np.searchsorted(words.offsets, place, side="right")) - 1
        raise UndecidedError(
            f"{self._way.limit}, and the next symbol does not fit in behind a prompt of "
            f"{len(self._prompt)} tokens; bound the words' lengths, or shorten the prompt",
            word,
            place - int(words.offsets[word]),
        )

    def read(self, handles: Handles) -> Rows:
        """Compute what is new of the words, and return their distributions."""
        over = self.tree.tokens[handles] == _OVER
        if not over.any():
            return self._read(handles)
        # The words themselves do not matter here, only which of them are over.
        words = Words(np.where(over, len(self._spelling.tokens), 0), np.arange(len(handles) + 1))
        return self._spelling.answered(words, lambda _: self._read(handles[~over]))

    def _read(self, handles: Handles) -> Rows:
        import torch

        if not len(handles):
            return Rows.dense(np.empty((0, len(self._spelling.alphabet) + 1)))
        nodes, places = np.unique(handles, return_inverse=True)
        with torch.inference_mode():
            parts = [
                self._spelling.rows(self._chosen(self.logits(part), len(part)))
                for part in self.batches(nodes)
            ]
        return Rows.joined(parts).take(places)

    def batches(self, nodes: Nodes) -> list[Nodes]:
        """Cut nodes into parts that take about as many tokens as go through the model at once."""
        tokens = self.tree.new_tokens(nodes) + len(self._spelling.prefixes) - 1
        depths = self.tree.depths[nodes].astype(np.int64)
        parts = _parts(tokens, self._batch) + _parts(depths, self._batch * _MOST_CONTEXT)
        cut = np.split(nodes, np.unique(parts, return_index=True)[1][1:])
        return [short for part in cut for short in self._short(part)]

    def _short(self, nodes: Nodes) -> list[Nodes]:
        """Halve nodes until no pass is longer than may be."""
        behind = len(nodes) * (len(self._spelling.prefixes) - 1)
        most = self._way.longest - len(self._prompt) + 1 - behind
        if len(nodes) == 1 or len(self.tree.closure(nodes)) <= most:
            return [nodes]
        half = len(nodes) // 2
        return self._short(nodes[:half]) + self._short(nodes[half:])

    def logits(self, nodes: Nodes) -> Tensor:
        """Pass tokens through the model; return the logits after the nodes and what is behind."""
        step = self._planner.planned(nodes)
        self.passes += 1
        self.tokens += len(step.tokens)
        if not self._way.keeps:
            return re_encode(self._model, step, self._prompt[:-1], self._batch)
        kept = self._kept if self._kept is not None else self._with_prompt()
        cache = kept.cache(step.context)
        begin = kept.prompt_length + len(step.context)
        logits = self._model.logits(step, cache)
        kept.keep(step.new, cache, begin)
        return logits

    def _with_prompt(self) -> KeyValueRows:
        cache = self._model.encoded(self._prompt)
        self.tokens += len(self._prompt)
        self._kept = KeyValueRows(self.tree, cache, len(self._prompt) - 1, self._memory)
        return self._kept

    def _chosen(self, logits: Tensor, count: int) -> list[Floats]:
        """Return log-probabilities of the wanted tokens, for the root and every prefix."""
        import torch

        few = logits.split(max(1, _LOGITS_AT_ONCE // logits.shape[1]))
        totals = torch.cat([part.double().logsumexp(dim=-1, keepdim=True) for part in few])
        wanted = self._spelling.wanted
        tried = len(wanted) - 1
        places = [slice(0, count)] + [slice(count + node, None, tried) for node in range(tried)]
        return [
            (logits[here][:, ids.to(logits.device)].double() - totals[here]).cpu().numpy()
            for here, ids in zip(places, map(torch.from_numpy, wanted), strict=True)
        ]

    def release(self, handles: Handles) -> None:
        """Note which words are the first to be forgotten."""
        if self._kept is not None:
            self._kept.forget_first(handles)

    def close(self) -> None:
        """Free the memory of keys and values."""
        self._kept = None


def _parts(sizes: Nodes, most: int) -> Nodes:
    """Number the parts into which things of some sizes are cut, each of about the most."""
    return (np.cumsum(sizes) - sizes) // most
