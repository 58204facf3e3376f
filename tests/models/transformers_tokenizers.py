"""Small tokenizers, made of a few lines of text."""

from __future__ import annotations

from typing import Any

LINES = [
    "the number is 7 and the number is 42",
    "heads or tails, tails or heads",
    "once upon a time there was a coin",
] * 4
CHAT = (
    "{% for message in messages %}<{{ message['role'] }}>{{ message['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


def byte_tokenizer() -> Any:
    """Return one as of GPT-2: bytes, merged; it knows every text."""
    from tokenizers import ByteLevelBPETokenizer
    from transformers import PreTrainedTokenizerFast

    inner = ByteLevelBPETokenizer()
    inner.train_from_iterator(
        LINES, vocab_size=330, special_tokens=["<|end|>"], show_progress=False
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=inner._tokenizer,
        bos_token="<|end|>",
        eos_token="<|end|>",
        unk_token="<|end|>",
        chat_template=CHAT,
    )


def blank_tokenizer() -> Any:
    """Return one as of sentencepiece: ▁ for blanks, and one put before every text."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    inner = Tokenizer(models.BPE(unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    inner.decoder = decoders.Metaspace(prepend_scheme="first")
    trainer = trainers.BpeTrainer(
        vocab_size=90,
        special_tokens=["<unk>", "<s>", "</s>"],
        initial_alphabet=["\n", *"0123456789"],
        show_progress=False,
    )
    inner.train_from_iterator(LINES, trainer)
    inner.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 1)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=inner, bos_token="<s>", eos_token="</s>", unk_token="<unk>"
    )
