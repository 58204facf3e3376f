"""What answers one run of a transformer, with the keys and values of the words that it keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pdfalearn.alphabet import Alphabet, shorten
from pdfalearn.arrays import grown
from pdfalearn.errors import ModelError
from pdfalearn.models._causal_models import CausalModel, Limit
from pdfalearn.models._networks import SlotCache
from pdfalearn.models._token_tree import Nodes, Pass, PassPlanner, TokenTree
from pdfalearn.models.batch import Batch
from pdfalearn.models.protocol import LanguageModel, attach_answers
from pdfalearn.models.spelling import Spelling
from pdfalearn.rows import Rows
from pdfalearn.typing import Flags, Floats, Integers
from pdfalearn.words import Words

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import Cache

# About this many logits are in float64 at once, as vocabularies may be large.
_LOGITS_AT_ONCE = 2**20
# Words of one pass have about this many times as many tokens as go through the model at most: each
# token is held against all of them, whether it attends to them or not.
_MOST_CONTEXT = 32

_NOTHING = np.empty(0, dtype=np.int64)


class Setup(NamedTuple):
    """A transformer, and what it is asked."""

    model: CausalModel
    """The transformer."""
    spelling: Spelling
    """How symbols are written in tokens."""
    prompt: tuple[int, ...]
    """The tokens before every word, one at least."""
    memory: int
    """The most bytes of keys and values, besides those of the prompt."""
    batch: int
    """About how many tokens go through the model at once."""


class Way(NamedTuple):
    """How words go through a model."""

    keeps: bool
    """Whether keys and values are kept; else texts are computed whole each time."""
    longest: int
    """The most tokens that a pass holds, those that are kept included."""
    limit: Limit
    """What bounds the length of prompt and word."""


def count_room(setup: Setup, way: Way) -> int:
    """Return how many tokens a word may have at most."""
    prefixes = setup.spelling.prefixes
    deepest = max(map(len, prefixes))
    most = min(way.limit.tokens - deepest, way.longest - len(prefixes) + 1)
    return most - len(setup.prompt)


class OpenedTransformer(LanguageModel):
    """Notes down the words of a run as a tree of tokens, and computes what is not kept of them.

    A token needs the keys and values of all tokens before it. Rows that are forgotten are computed
    again along with what is new, so that any bound on memory will do.
    """

    def __init__(self, setup: Setup, way: Way) -> None:
        self._model, self._spelling, self._prompt, self._memory, self._batch = setup
        self.alphabet: Alphabet = self._spelling.alphabet
        self._way = way
        # How many tokens are tried behind each word.
        self._behind = len(self._spelling.prefixes) - 1
        self._most = count_room(setup, way)
        self.tree = TokenTree(self._prompt[-1], self._is_kept)
        """The words' tokens."""
        # The node of each word's last token; -1 if the word was not noted down.
        self._nodes: Nodes = np.full(64, -1, dtype=np.int64)
        self._nodes[0] = 0
        self._planner = PassPlanner(self.tree, self._spelling.prefixes, len(self._prompt) - 1)
        # Keys and values of the tree's nodes, those of all layers in a list.
        self._kept: SlotCache | None = None
        # Those of the prompt but for its last token, which is the root of the tree.
        self._before: list[Tensor] = []
        self.tokens = 0
        """How many tokens went through the model."""
        self.passes = 0
        """How many times the model was called."""

    @property
    def capacity(self) -> int:
        """The most tokens whose keys and values are kept, as far as that is known yet."""
        return 0 if self._kept is None else self._kept.capacity

    def close(self) -> None:
        """Free the memory of keys and values."""
        self._kept, self._before = None, []

    def _is_kept(self, nodes: Nodes) -> Flags:
        return np.zeros(len(nodes), dtype=bool) if self._kept is None else self._kept.know(nodes)

    def answer(self, batch: Batch) -> Rows:
        """Return the distributions after words; what is new of them goes through in few passes."""
        if self._spelling.outside is None:
            return self._answer(batch)
        inside = (~self._spelling.over(batch.words)).nonzero()[0]
        return self._spelling.answered(batch.words, lambda _: self._answer(batch.select(inside)))

    def _answer(self, batch: Batch) -> Rows:
        import torch

        if not batch.count:
            return Rows.dense(np.empty((0, len(self.alphabet) + 1)))
        self._note(batch)
        nodes, parts = self._nodes[batch.wanted_ids], list[Rows]()
        try:
            with torch.inference_mode():
                for part in self.cut(nodes):
                    parts.append(self._make_rows(self.pass_on(part), len(part)))
        except BaseException as error:
            if parts:
                rows = Rows.join(parts)
                attach_answers(error, batch.wanted_ids[: len(rows)], rows)
            raise
        return Rows.join(parts)

    def _note(self, batch: Batch) -> None:
        """Put the tokens of words into the tree that are not there, and of those before them."""
        self._nodes = grown(self._nodes, int(batch.ids[-1]) + 1)
        batch = batch.reaching(self._know)
        new = ~self._know(batch.ids)
        ids, symbols = batch.ids[new], batch.symbols[new]
        if not len(ids):
            return
        spelt = self._spelling.spelled(Words(symbols, np.arange(len(ids) + 1)))
        self._nodes[ids] = self.tree.size - 1 + spelt.offsets[1:]
        parents = self.tree.size - 1 + np.arange(len(spelt.symbols))
        parents[spelt.offsets[:-1]] = self._nodes[batch.parents[new]]
        self.tree.add(parents, spelt.symbols)
        too_long = self.tree.depths[self._nodes[ids]] > self._most
        if too_long.any():
            word = self._show(batch.spell(int(ids[too_long.argmax()])))
            raise ModelError(
                f"the word {word} is too long: {self._way.limit}, and {len(self._prompt)} of the "
                "prompt stand before it; bound the words' lengths, as by within or max_length, or "
                "shorten the prompt"
            )

    def _show(self, word: Sequence[int]) -> str:
        """Return a word as people read it."""
        return shorten(self.alphabet.decode(word))

    def _know(self, ids: Integers) -> Flags:
        """Return which words are noted down."""
        return np.asarray(self._nodes[ids] >= 0)

    def cut(self, nodes: Nodes) -> list[Nodes]:
        """Cut nodes into parts that take about as many tokens as go through the model at once."""
        tokens = self.tree.count_new(nodes) + self._behind
        depths = self.tree.depths[nodes].astype(np.int64)
        parts = _number_parts(tokens, self._batch)
        parts += _number_parts(depths, self._batch * _MOST_CONTEXT)
        cut = np.split(nodes, np.unique(parts, return_index=True)[1][1:])
        return [half for part in cut for half in self._halve(part)]

    def _halve(self, nodes: Nodes) -> list[Nodes]:
        """Halve nodes until no pass is longer than it may be."""
        most = self._way.longest - len(self._prompt) + 1 - len(nodes) * self._behind
        if len(nodes) == 1 or len(self.tree.closure(nodes)) <= most:
            return [nodes]
        half = len(nodes) // 2
        return self._halve(nodes[:half]) + self._halve(nodes[half:])

    def pass_on(self, nodes: Nodes) -> Tensor:
        """Pass tokens through the model; return the logits after nodes, then after all behind."""
        step = self._planner.plan(nodes)
        self.passes += 1
        self.tokens += len(step.tokens)
        if not self._way.keeps:
            return re_encode(self._model, step, self._prompt[:-1], self._batch)
        cache, kept = self._read_cache(step.context)
        logits = self._model.logits(step, cache)
        # Where a node has keys and values already, and was only read again, these stay.
        places = (~kept.know(step.new)).nonzero()[0]
        slots = kept.assign(step.new[places], _NOTHING)
        fits = slots >= 0
        if fits.any():
            begin = len(self._prompt) - 1 + len(step.context)
            here, there = map(self._tensor, (slots[fits], begin + places[fits]))
            kept.write(here, [part.index_select(2, there) for part in list_keys_values(cache)])
        return logits

    def _read_cache(self, nodes: Nodes) -> tuple[Cache, SlotCache]:
        """Return the keys and values of the prompt and of nodes, as a model takes them."""
        import torch
        from transformers import DynamicCache

        if self._kept is None:
            self.tokens += len(self._prompt)
            parts = list_keys_values(self._model.encode(self._prompt))
            self._before = [part[:, :, : len(self._prompt) - 1].clone() for part in parts]
            samples = [part[:, :, :1] for part in parts]
            self._kept = SlotCache(samples, [2] * len(parts), self._memory)
        rows = self._kept.read(self._tensor(self._kept.find(nodes)))
        pairs = zip(self._before, rows, strict=True)
        whole = [torch.cat([before, row], dim=2) for before, row in pairs]
        cache = DynamicCache()
        for layer, (keys, values) in enumerate(zip(whole[::2], whole[1::2], strict=True)):
            cache.update(keys, values, layer)
        return cache, self._kept

    def _tensor(self, numbers: Nodes) -> Tensor:
        import torch

        return torch.from_numpy(numbers).to(self._model.module.device)

    def _make_rows(self, logits: Tensor, count: int) -> Rows:
        return self._spelling.rows(self._choose(logits, count))

    def _choose(self, logits: Tensor, count: int) -> list[Floats]:
        """Return log-probabilities of the wanted tokens, for the root and every prefix."""
        import torch

        few = logits.split(max(1, _LOGITS_AT_ONCE // logits.shape[1]))
        totals = torch.cat([part.double().logsumexp(dim=-1, keepdim=True) for part in few])
        step = self._behind
        places = [slice(0, count)] + [slice(count + node, None, step) for node in range(step)]
        return [
            (logits[here][:, ids.to(logits.device)].double() - totals[here]).cpu().numpy()
            for here, ids in zip(places, map(torch.from_numpy, self._spelling.wanted), strict=True)
        ]


def _number_parts(sizes: Nodes, most: int) -> Nodes:
    """Number the parts into which things of some sizes are cut, each of about the most."""
    return (np.cumsum(sizes) - sizes) // most


def re_encode(model: CausalModel, step: Pass, prompt: tuple[int, ...], batch: int) -> Tensor:
    """Return the logits that a pass without context is to read, from texts computed whole.

    Only tokens to which no other one attends need a text each: what a causal model says on the way
    is right, too. Texts of one length are computed together, about ``batch`` tokens at once.
    """
    import torch

    sees = step.sees[:, len(prompt) :]  # a square, as there is no context
    ends = (sees.sum(axis=0) == 1).nonzero()[0]
    lengths = sees[ends].sum(axis=1)
    wanted = np.full(len(step.tokens), -1)
    wanted[step.read] = np.arange(len(step.read))
    parts, found = [], []
    for length in np.unique(lengths).tolist():
        same = ends[lengths == length]
        size = max(1, batch // (len(prompt) + length))
        for few in np.split(same, range(size, len(same), size)):
            paths = sees[few].nonzero()[1].reshape(len(few), length)
            before = np.tile(np.array(prompt, dtype=np.int64), (len(few), 1))
            logits = model.plain_logits(np.hstack([before, step.tokens[paths]]), length)
            new = wanted[paths] >= 0
            parts.append(logits[torch.from_numpy(new).to(logits.device)])
            found.append(wanted[paths[new]])
            wanted[paths] = -1
    order = np.unique(np.concatenate(found), return_index=True)[1]
    joined = torch.cat(parts)
    return joined[torch.from_numpy(order).to(joined.device)]


def list_keys_values(cache: Cache) -> list[Tensor]:
    """Return keys, values, keys, … of the layers; the tokens are on the third axis of each."""
    return [part for layer in cache.layers for part in (layer.keys, layer.values)]
