"""Tiny transformers with random weights, built from configurations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.models.networks import needed_torch
from tests.support import need_module

VOCABULARY = 40


def _gpt2() -> Any:
    from transformers import GPT2Config, GPT2LMHeadModel

    return GPT2LMHeadModel(
        GPT2Config(vocab_size=VOCABULARY, n_positions=64, n_embd=64, n_layer=2, n_head=4)
    )


def _llama() -> Any:
    from transformers import LlamaConfig, LlamaForCausalLM

    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=VOCABULARY,
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=128,
            initializer_range=0.3,
        )
    )


def _neox() -> Any:
    from transformers import GPTNeoXConfig, GPTNeoXForCausalLM

    return GPTNeoXForCausalLM(
        GPTNeoXConfig(
            vocab_size=VOCABULARY,
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            max_position_embeddings=128,
            initializer_range=0.3,
        )
    )


def _mistral() -> Any:
    from transformers import MistralConfig, MistralForCausalLM

    return MistralForCausalLM(
        MistralConfig(
            vocab_size=VOCABULARY,
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            head_dim=8,
            max_position_embeddings=128,
            sliding_window=64,
            initializer_range=0.3,
        )
    )


def _gemma() -> Any:
    from transformers import Gemma2Config, Gemma2ForCausalLM

    return Gemma2ForCausalLM(
        Gemma2Config(
            vocab_size=VOCABULARY,
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            head_dim=8,
            max_position_embeddings=128,
            sliding_window=64,
            initializer_range=0.3,
        )
    )


ARCHITECTURES: dict[str, Callable[[], Any]] = {
    "gpt2": _gpt2,
    "llama": _llama,
    "neox": _neox,
    "mistral": _mistral,
    "gemma2": _gemma,
}


def tiny(name: str, *, precision: str = "float32", seed: int = 1) -> Any:
    """Return a transformer with random weights, not in training mode."""
    torch = needed_torch()
    need_module("transformers")
    torch.manual_seed(seed)
    return ARCHITECTURES[name]().to(getattr(torch, precision)).eval()
