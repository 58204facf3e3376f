"""A transformer whose weights are set by hand so that it computes an automaton."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdfalearn import PDFA
from tests.models.networks import needed_torch
from tests.support import need_module

POSITIONS = 40
_SHARP = 1e4


def bounded_context_pdfa(rows: NDArray[np.float64]) -> PDFA:
    """Return the automaton whose state is the last two tokens; token 0 begins a word.

    ``rows[x, y]`` is the distribution after tokens x and y, the terminal first.
    """
    tokens = rows.shape[2]
    following = np.tile(np.arange(tokens) * tokens, (tokens, 1)).ravel()[:, None]
    transitions = following + np.arange(1, tokens)
    return PDFA(
        alphabet=[f"t{token}" for token in range(1, tokens)],
        initial=0,
        probabilities=rows.reshape(-1, tokens),
        transitions=transitions,
    )


def transformer_by_hand(rows: NDArray[np.float64]) -> Any:
    """Return a GPT-2 of one layer that computes the same; its token 0 begins and ends words.

    The residual stream has one-hot parts: token, position, token before, pair of tokens. A part is
    filled or empty for all tokens alike, so that each norm is a constant that is undone.
    """
    torch = needed_torch()
    need_module("transformers")
    from transformers import GPT2Config, GPT2LMHeadModel

    tokens = len(rows)
    token, position, before, pair = np.cumsum([0, tokens, POSITIONS, tokens])
    width = int(pair) + tokens * tokens
    model = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=tokens,
            n_positions=POSITIONS,
            n_embd=width,
            n_inner=tokens * tokens,
            n_layer=1,
            n_head=1,
            activation_function="relu",
            tie_word_embeddings=False,
        )
    )
    model = model.double().eval()
    each = torch.arange(tokens)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        transformer, block = model.transformer, model.transformer.h[0]
        transformer.wte.weight[:, token : token + tokens].fill_diagonal_(1)
        transformer.wpe.weight[:, position : position + POSITIONS].fill_diagonal_(1)
        _undo(block.ln_1, 2, width)
        # A query asks for the position before its own, a value is the token there.
        queries, keys, values = block.attn.c_attn.weight.split(width, dim=1)
        places = position + torch.arange(POSITIONS)
        queries[places[1:], places[:-1]] = _SHARP
        keys[places, places] = 1
        values[token + each, token + each] = 1
        block.attn.c_proj.weight[token + each, before + each] = 1
        _undo(block.ln_2, 3, width)
        # One unit for each pair: relu(before + token - 1).
        for first in range(tokens):
            for second in range(tokens):
                unit = first * tokens + second
                block.mlp.c_fc.weight[before + first, unit] = 1
                block.mlp.c_fc.weight[token + second, unit] = 1
                block.mlp.c_proj.weight[unit, pair + unit] = 1
        block.mlp.c_fc.bias.fill_(-1)
        _undo(transformer.ln_f, 4, width)
        model.lm_head.weight[:, pair:] = torch.log(torch.tensor(rows.reshape(-1, tokens))).T
    return model


def _undo(norm: Any, ones: int, width: int) -> None:
    """Make a norm return its input, if that has this many ones and else zeros."""
    mean = ones / width
    norm.weight.fill_(np.sqrt(mean - mean**2 + norm.eps))
    norm.bias.fill_(mean)
