"""Passes of which nothing is kept: every text is computed whole, as a model's authors meant it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pdfalearn.models._causal_models import CausalModel
from pdfalearn.models._tree_pass import Pass

if TYPE_CHECKING:
    from torch import Tensor


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
    both = torch.cat(parts)
    return both[torch.from_numpy(order).to(both.device)]
