"""Which way of asking a transformer is right is tried, on what a run would do."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from pdfalearn.errors import InputError
from pdfalearn.models._causal_models import Limit, explain
from pdfalearn.models._opened_transformer import OpenedTransformer, Setup, Way
from pdfalearn.models._token_tree import Nodes, TokenTree
from pdfalearn.models.spelling import Spelling

if TYPE_CHECKING:
    from torch import Tensor

_ANY = 2**31
_LEAST = 64
# A trial has as many tokens as a run's passes, but at least 64, or 1.25 times as many as the window
# has, if that is in reach.
_BEYOND = 1.25
# One token in four of a trial belongs to the word that is compared, in four parts.
_DEEP_SHARE = 4
# Texts that are computed whole to see whether a model reads ahead have about this many tokens.
_FEW = 8
_TOLERANCE = 5e-5
# How far logits may be apart, in quadratic mean and in standard deviations: the tolerance, or this
# many roundings. Rounding makes up to 2.3e-5 in float32, and .029 in bfloat16, whose rounding is
# .0078; what else went wrong with small random models of all classes made 5e-5 to 1.5.
_ROUNDINGS = 10
_ODD_SHARES = 1 / 16, 1 / 2
# Rounding may lead a token to another expert: such a share of the answers may be further apart, in
# fine precisions and in those whose rounding is coarse.
_COARSE = 1e-4


class Trial:
    """Compares ways of asking a model with whole texts, on words that a run could ask for."""

    def __init__(self, setup: Setup) -> None:
        import torch

        self._setup = setup
        self._model, self._spelling, self._prompt, _, batch = setup
        self._rounding = torch.finfo(self._model.module.dtype).eps
        self._odd_share = _ODD_SHARES[self._rounding > _COARSE]
        self._name = type(self._model.module).__name__
        # A pass has as many tokens as a batch, or all beginnings of symbols behind one word. It is
        # to go beyond the window, if that is not much longer.
        self._width = max(_LEAST, batch, len(self._spelling.prefixes))
        self._tail = self._prompt[-self._width :]
        window = self._model.window.tokens
        if window <= 2 * self._width:
            self._width = max(self._width, int(_BEYOND * window) - len(self._tail))
        self._random = np.random.default_rng(1)
        self._pool = np.unique(np.array([*chain(*self._spelling.tokens), *self._prompt]))

    def best_way(self) -> tuple[Way, str]:
        """Return the fastest way that is right, and what is wrong with those that keep something.

        That is empty if nothing is wrong.
        """
        self._check_room()
        self._check_causal(self._tail[-_FEW:], 2)
        why = f"{self._model.window}, and the prompt {len(self._prompt)}"
        for way in self._keeping():
            try:
                wrong = self._share_of_wrong(way)
            except Exception as error:  # whatever code the model has
                why = f"it takes no keys and values that are kept: {explain(error)}"
                continue
            if wrong <= self._odd_share:
                return way, ""
            why = "it answers otherwise where words share a sequence"
        self._check_causal(self._tail, self._width // _DEEP_SHARE)
        return Way(False, _ANY, self._model.context), why

    def _keeping(self) -> Iterator[Way]:
        """Return the ways to try that keep keys and values."""
        window = self._model.window
        if self._room(window) < 0:
            return
        if len(self._tail) + self._width > window.tokens and self._rounding < _COARSE:
            yield Way(True, _ANY, window)
        if len(self._prompt) + 2 * len(self._spelling.prefixes) <= window.tokens:
            yield Way(True, window.tokens, window)

    def _room(self, limit: Limit) -> int:
        """Return how many tokens a word may have."""
        return limit.tokens - len(self._prompt) - max(map(len, self._spelling.prefixes))

    def _check_room(self) -> None:
        """Refuse a prompt that is too long for any way."""
        if self._room(self._model.context) < 0:
            deepest = max(map(len, self._spelling.prefixes))
            raise InputError(
                f"a prompt of {len(self._prompt)} tokens and symbols of up to {deepest + 1} are "
                f"too long: {self._model.context}; shorten the prompt"
            )

    def _check_causal(self, prompt: tuple[int, ...], count: int) -> None:
        """Refuse a model that needs more than tokens, or whose answers depend on later ones.

        Two texts behind a prompt are computed together, and each alone without some last tokens.
        """
        words = self._random.choice(self._pool, (2, count))
        texts = np.hstack([np.tile(prompt, (2, 1)), words])[:, -self._model.context.tokens :]
        length = texts.shape[1] - (count + 1) // 2
        try:
            together = self._model.plain_logits(texts, texts.shape[1])
            alone = [self._model.plain_logits(text[None, :length], length)[0] for text in texts]
            if together.shape != (*texts.shape, self._model.vocabulary):
                raise ValueError(f"its logits have the shape {tuple(together.shape)}")
        except Exception as error:  # whatever code the model has
            raise InputError(
                f"{self._name} does not go on from tokens alone: {explain(error)}"
            ) from error
        for given, plain in zip(together, alone, strict=True):
            if self._wrong(given[:length], plain) > self._odd_share:
                raise InputError(
                    f"{self._name} reads ahead: what it says of a token depends on later ones, or "
                    "on other texts, so it is not a causal language model"
                )

    def _share_of_wrong(self, way: Way) -> float:
        """Return which share of the answers after a long word's beginnings is wrong.

        It is that of the worst part of the word. Its tokens are among those of a forest, as many as
        go through the model at once; the first half is kept, and the rest goes on from there.
        """
        import torch

        letter = Spelling({0: [int(self._pool[0])]}, "rest")
        opened = OpenedTransformer(self._setup._replace(spelling=letter, prompt=self._tail), way)
        deep = self._grow(opened.tree)
        halves = np.split(np.arange(opened.tree.size), [self._width // 2 + 1])
        with torch.inference_mode():
            if way.longest < _ANY:
                halves = [part for half in halves if len(half) for part in opened.cut(half)]
            logits = torch.cat([opened.pass_on(part) for part in halves if len(part)])
            given = logits[torch.from_numpy(deep).to(logits.device)]
            text = np.array([*self._tail[:-1], *opened.tree.tokens[deep]])[None]
            plain = self._model.plain_logits(text, len(deep))[0]
        pairs = zip(given.chunk(_DEEP_SHARE), plain.chunk(_DEEP_SHARE), strict=True)
        return max(self._wrong(*pair) for pair in pairs)

    def _grow(self, tree: TokenTree) -> Nodes:
        """Put words into a tree in any order; return the nodes of a long one.

        Tokens of the first half have others behind them in the second, as far as words may be so
        long: so a pass for the second half needs them all.
        """
        most = min(self._width // _DEEP_SHARE, self._model.window.tokens - len(self._prompt))
        if not most:
            return np.zeros(1, dtype=np.int64)
        deep = np.linspace(1, self._width - 1, most).astype(np.int64)
        before = dict(zip(deep.tolist(), [0, *deep.tolist()], strict=False))
        half = self._width // 2
        depths = [0]
        for node in range(1, self._width):
            behind = node - half
            if node not in before:
                shallow = [each for each, depth in enumerate(depths) if depth < most]
                is_new = behind > 0 and depths[behind] < most
                before[node] = behind if is_new else int(self._random.choice(shallow))
            depths.append(depths[before[node]] + 1)
        parents = np.array([before[node] for node in range(1, self._width)])
        tree.add(parents, self._random.choice(self._pool, len(parents)))
        return np.append(0, deep)

    def _wrong(self, given: Tensor, plain: Tensor) -> float:
        """Return in which share of rows logits are not as those computed plainly."""
        given, plain = map(_center_logits, (given, plain))
        apart = (given - plain).square().mean(-1).sqrt()
        tolerance = max(_TOLERANCE, _ROUNDINGS * self._rounding)
        near = apart <= tolerance * plain.std(-1, correction=0).clamp(min=1e-30)
        is_number = ~plain.isnan().any(-1)  # where there is none, a run will name the word
        return float((~near & is_number).double().mean())


def _center_logits(logits: Tensor) -> Tensor:
    """Return logits less their mean; tokens that cannot come are as others that hardly can."""
    logits = logits.double()
    logits = (logits - logits.amax(-1, keepdim=True)).clamp(min=-50)
    return logits - logits.mean(-1, keepdim=True)
