"""A tiny LLM in a folder, as ``save_pretrained`` writes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.models.networks import needed_torch
from tests.models.transformers_tokenizers import byte_tokenizer
from tests.support import need_module


def tiny_llm(seed: int = 1) -> tuple[Any, Any]:
    """Return a network with random weights, and its tokenizer, which knows every text."""
    torch = needed_torch()
    need_module("transformers")
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = byte_tokenizer()
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=256,
        initializer_range=0.3,
        bos_token_id=0,
        eos_token_id=0,
    )
    return LlamaForCausalLM(config).eval(), tokenizer


def save_tiny_llm(folder: Path) -> None:
    """Write such a network and its tokenizer, and the ten digits as a vocabulary beside it."""
    for part in tiny_llm():
        part.save_pretrained(folder)
    lines = "".join(f"{digit}\n" for digit in range(10))
    (folder.parent / "digits.txt").write_text(lines)
