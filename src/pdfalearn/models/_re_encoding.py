"""What a transformer answers without keeping anything: the plain way, to compare with."""

from __future__ import annotations

import numpy as np

from pdfalearn.alphabet import Symbol
from pdfalearn.errors import InputError
from pdfalearn.models._causal_models import CausalModel
from pdfalearn.models._token_trie import Path
from pdfalearn.models._transformer_session import TransformerSession
from pdfalearn.models.spelling import Spelling
from pdfalearn.rows import Rows
from pdfalearn.words import Words

_PROMPT_TOKENS = 4
_TOLERANCES = {"float64": 1e-6, "float32": 1e-3}
_COARSE = 0.1
"""How far answers may differ in precisions that are not listed."""


def re_encoded(
    model: CausalModel, spelling: Spelling, prompt: tuple[int, ...], words: Words
) -> Rows:
    """Return the distributions of words, all of whose tokens are computed each time."""
    parts = []
    for tokens in spelling.spelled(words):
        logs = []
        for prefix, wanted in zip(spelling.prefixes, spelling.wanted, strict=True):
            logits = model.plain_logits([*prompt, *tokens, *prefix])
            logs.append((logits - logits.logsumexp(-1)).cpu().numpy()[None, wanted])
        parts.append(spelling.rows(logs))
    return Rows.joined(parts)


def check_tree_passes(model: CausalModel, spelling: Spelling, prompt: tuple[int, ...]) -> None:
    """Refuse a model that reads ahead, or answers otherwise where words share a sequence.

    It is tried with a few words of two symbols behind the end of the prompt.
    """
    name = type(model.module).__name__
    precision = str(model.module.dtype).removeprefix("torch.")
    tolerance = _TOLERANCES.get(precision, _COARSE)
    ends = dict.fromkeys((spelling.tokens[0], spelling.tokens[-1]))
    paths: dict[Symbol, Path] = dict(enumerate(ends))
    two = Spelling(paths, "rest")
    prompt = prompt[-_PROMPT_TOKENS:]
    last = len(paths) - 1
    words = Words.of([(), (0,), (last,), (last, 0), (0, last)])
    most = model.most_tokens(len(prompt), two)
    words = words.take((two.spelled(words).lengths <= most).nonzero()[0])
    try:
        ahead = _read_ahead(model, (*prompt, spelling.tokens[0][0]))
        read = _read(TransformerSession(model, two, prompt, 2**20, 64), words)
        difference = np.abs(read.values - re_encoded(model, two, prompt, words).values).max()
    except Exception as error:  # whatever code the model has
        raise InputError(
            f"{name} cannot go on from keys and values that are kept: {type(error).__name__}: "
            f"{' '.join(str(error).split())[:200]}"
        ) from error
    if ahead > tolerance:
        raise InputError(
            f"{name} reads ahead: what it says of a token depends on later ones, so it is not a "
            "causal language model"
        )
    if difference > tolerance:
        raise InputError(
            f"{name} does not heed a mask of one's own: probabilities differ by {difference:.3g} "
            "where words share a sequence, so it cannot be asked this way"
        )


def _read(session: TransformerSession, words: Words) -> Rows:
    handles = np.append(session.extend(np.zeros(len(words), dtype=np.int64), words), 0)
    return session.read(handles[np.where(words.lengths > 0, words.offsets[1:] - 1, -1)])


def _read_ahead(model: CausalModel, tokens: tuple[int, ...]) -> float:
    """Return how much the last token changes the logits before it, as a share of their spread."""
    alone = model.plain_logits(tokens[:-1])
    change = (model.plain_logits(tokens, place=-2) - alone).abs().max()
    spread = (alone - alone.mean()).abs().max()
    return float(change / spread) if spread > 0 else 0.0
