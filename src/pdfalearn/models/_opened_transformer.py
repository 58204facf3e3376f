"""What answers one run of a transformer, with the keys and values of the words that it keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pdfalearn.alphabet import Alphabet, shortened
from pdfalearn.arrays import grown
from pdfalearn.errors import ModelError
from pdfalearn.models._causal_models import CausalModel, Limit
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

_LOGITS_AT_ONCE = 2**20
"""About this many logits are in float64 at once, as vocabularies may be large."""
_MOST_CONTEXT = 32
"""Words of one pass have about this many times as many tokens as go through the model at most:
each token is held against all of them, whether it attends to them or not."""
_FIRST_SIZE = 64
_GROWTH = 1.5
"""While rows are moved to a place of twice the size, this many times the new size is held."""
_FORGOTTEN_SHARE = 8
"""When memory is used up, one row in this many is forgotten at once."""


class Way(NamedTuple):
    """How words go through a model."""

    keeps: bool
    """Whether keys and values are kept; else texts are computed whole each time."""
    longest: int
    """The most tokens that a pass holds, those that are kept included."""
    limit: Limit
    """What bounds the length of prompt and word."""


class OpenedTransformer(LanguageModel):
    """Notes down the words of a run as a tree of tokens, and computes what is not kept of them.

    A token needs the keys and values of all tokens before it. Rows that are forgotten are computed
    again along with what is new, so that any bound on memory will do.

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
        self.alphabet: Alphabet = spelling.alphabet
        self._model = model
        self._spelling = spelling
        self._prompt = prompt
        self._memory, self._batch, self._way = memory, batch, way
        self._behind = len(spelling.prefixes) - 1
        """How many tokens are tried behind each word."""
        deepest = max(map(len, spelling.prefixes))
        self._most = min(way.limit.tokens - deepest, way.longest - self._behind) - len(prompt)
        self.tree = TokenTree(prompt[-1])
        """The words' tokens."""
        self._nodes: Nodes = np.full(64, -1, dtype=np.int64)
        """The node of each word's last token; -1 if the word was not noted down."""
        self._nodes[0] = 0
        self._planner = PassPlanner(self.tree, spelling.prefixes, len(prompt) - 1)
        self._kept: KeyValueRows | None = None
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
        self._kept = None

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
                    parts.append(self._spelling.rows(self._choose(self.pass_on(part), len(part))))
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
            self._refuse(batch, int(ids[too_long.argmax()]))

    def _know(self, ids: Integers) -> Flags:
        """Return which words are noted down."""
        return np.asarray(self._nodes[ids] >= 0)

    def _refuse(self, batch: Batch, word: int) -> None:
        named = shortened(self.alphabet.decode(batch.spell(word)))
        raise ModelError(
            f"the word {named} is too long: {self._way.limit}, and {len(self._prompt)} of the "
            "prompt stand before it; bound the words' lengths, or shorten the prompt"
        )

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
        if self._kept is None:
            self.tokens += len(self._prompt)
            cache = self._model.encoded(self._prompt)
            self._kept = KeyValueRows(self.tree, cache, len(self._prompt) - 1, self._memory)
        cache = self._kept.cache(step.context)
        logits = self._model.logits(step, cache)
        self._kept.keep(step.new, cache, len(self._prompt) - 1 + len(step.context))
        return logits

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


class KeyValueRows:
    """What each layer of a transformer keeps of a token: one row a token, and the prompt's besides.

    Where there is no more memory, the rows that were not used for longest are forgotten. Whoever
    needs them again computes them again, so that any bound on memory will do.

    Parameters
    ----------
    tree : TokenTree
        The tokens; it is told which row each has.
    prompt : Cache
        Keys and values of some tokens, one at least.
    length : int
        How many of these stand before all nodes of the tree.
    memory : int
        The most bytes that rows may take, those that are being moved included.
    """

    def __init__(self, tree: TokenTree, prompt: Cache, length: int, memory: int) -> None:
        self._tree = tree
        tables = [_by_token(layer.keys, layer.values) for layer in prompt.layers]
        self._prompt = [(keys[:length].clone(), values[:length].clone()) for keys, values in tables]
        self.prompt_length = length
        """The number of the prompt's tokens."""
        self.row_bytes: int = sum(table[0].nbytes for pair in tables for table in pair)
        """What a token takes."""
        self.capacity: int = int(memory / _GROWTH) // self.row_bytes
        """The most rows."""
        self._tables = [(keys[:0].clone(), values[:0].clone()) for keys, values in tables]
        self._owners: Nodes = np.empty(0, dtype=np.int64)
        """The node that each row belongs to; -1 if none."""
        self._used: Nodes = np.empty(0, dtype=np.int64)
        """When each row was used last."""
        self._free: list[int] = []
        self._time = 0

    def cache(self, nodes: Nodes) -> Cache:
        """Return the keys and values of the prompt and of nodes, as a model takes them."""
        import torch
        from transformers import DynamicCache

        self._time += 1
        self._used[self._tree.rows[nodes]] = self._time
        rows = self._tensor(self._tree.rows[nodes])
        cache = DynamicCache()
        for layer, pairs in enumerate(zip(self._prompt, self._tables, strict=True)):
            keys, values = (
                torch.cat([prompt, table.index_select(0, rows)]).transpose(0, 1).unsqueeze(0)
                for prompt, table in zip(*pairs, strict=True)
            )
            cache.update(keys, values, layer)
        return cache

    def keep(self, nodes: Nodes, cache: Cache, begin: int) -> None:
        """Keep what a cache holds from some place on for nodes: of as many as there is memory for.

        Nodes that have rows already keep these.
        """
        new = (self._tree.rows[nodes] < 0).nonzero()[0]
        places = new[: self._free_rows(len(new))]
        if not len(places):
            return
        rows = np.array([self._free.pop() for _ in places], dtype=np.int64)
        here, there = self._tensor(rows), self._tensor(begin + places)
        for tables, layer in zip(self._tables, cache.layers, strict=True):
            for table, given in zip(tables, _by_token(layer.keys, layer.values), strict=True):
                table.index_copy_(0, here, given.index_select(0, there))
        self._tree.rows[nodes[places]] = rows
        self._owners[rows] = nodes[places]
        self._used[rows] = self._time

    def _free_rows(self, needed: int) -> int:
        """Have rows free, if that can be; return how many are."""
        if needed > len(self._free) and len(self._owners) < self.capacity:
            self._grow(needed - len(self._free))
        if needed > len(self._free):
            self._forget(max(needed - len(self._free), self.capacity // _FORGOTTEN_SHARE))
        return len(self._free)

    def _grow(self, more: int) -> None:
        old = len(self._owners)
        size = min(self.capacity, max(_FIRST_SIZE, 2 * (old + more)))
        self._tables = [
            (_longer(keys, size), _longer(values, size)) for keys, values in self._tables
        ]
        self._owners = np.append(self._owners, np.full(size - old, -1))
        self._used = np.append(self._used, np.zeros(size - old, dtype=np.int64))
        self._free += range(old, size)

    def _forget(self, count: int) -> None:
        """Free the rows that were not used for longest."""
        kept = (self._owners >= 0).nonzero()[0]
        rows = kept[np.argsort(self._used[kept], kind="stable")[:count]]
        self._tree.rows[self._owners[rows]] = -1
        self._owners[rows] = -1
        self._free += rows.tolist()

    def _tensor(self, numbers: Nodes) -> Tensor:
        import torch

        return torch.from_numpy(numbers).to(self._tables[0][0].device)


def _by_token(keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """Bring keys and values of a sequence into the form of rows, one a token."""
    return keys[0].transpose(0, 1), values[0].transpose(0, 1)


def _longer(table: Tensor, size: int) -> Tensor:
    longer = table.new_empty((size, *table.shape[1:]))
    longer[: len(table)] = table
    return longer
