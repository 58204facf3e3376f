"""The bytes that each token of a tokenizer stands for behind others."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from pdfalearn.errors import InputError
from pdfalearn.text import shorten

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_BLANK = "\u2581"
_CHECKED = 400
_ANCHOR = "\n"


def token_bytes(tokenizer: PreTrainedTokenizerBase, count: int) -> tuple[bytes | None, ...]:
    """Return the bytes of a model's tokens; None for control tokens, which are not text.

    Special tokens are, and tokens that the tokenizer does not have. What is returned is compared
    with what the tokenizer makes of some hundred tokens.
    """
    names: list[Any] = tokenizer.convert_ids_to_tokens(list(range(min(count, len(tokenizer)))))
    special = set(tokenizer.all_special_ids)
    added = tokenizer.added_tokens_decoder
    special |= {number for number, token in added.items() if token.special}
    is_byte_level = _is_byte_level(tokenizer)
    found: list[bytes | None] = []
    for number, name in enumerate(names):
        if number in special or name is None:
            found.append(None)
        elif number in added:
            found.append(str(added[number].content).encode())
        else:
            found.append(_byte_level(name) if is_byte_level else _pieces(name))
    found += [None] * (count - len(found))
    _check_decoding(tokenizer, found)
    return tuple(found)


def spell_tokens(
    ends: Iterable[object], tokenizer: PreTrainedTokenizerBase, count: int
) -> tuple[tuple[int, ...], tuple[bytes | None, ...]]:
    """Return the tokens that end an answer, and the bytes of all tokens that are text."""
    found = tuple(token for token in ends if isinstance(token, int))
    if not found or not set(found) <= set(range(count)):
        raise InputError(
            f"the ends {found} are not tokens of the model, which has {count:,}; give ends=…"
        )
    spelt = enumerate(token_bytes(tokenizer, count))
    return found, tuple(None if token in found else text for token, text in spelt)


def _is_byte_level(tokenizer: PreTrainedTokenizerBase) -> bool:
    """Return whether tokens are written in the letters that GPT-2 has for bytes."""
    inner = getattr(tokenizer, "backend_tokenizer", None)
    if inner is None:  # without it, the vocabulary tells: a blank has such a letter
        return any("\u0120" in str(name) for name in tokenizer.get_vocab())
    return '"ByteLevel"' in json.dumps(json.loads(inner.to_str()).get("decoder"))


def _byte_letters() -> dict[str, int]:
    """Return the byte of each letter: those that can be seen are their own, others follow 255."""
    seen = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = sorted(set(range(256)) - set(seen))
    return {chr(b): b for b in seen} | {chr(256 + n): b for n, b in enumerate(hidden)}


_LETTERS = _byte_letters()


def _byte_level(name: str) -> bytes:
    try:
        return bytes(map(_LETTERS.__getitem__, name))
    except KeyError:
        return name.encode()


def _pieces(name: str) -> bytes:
    """Return the bytes of a piece as of sentencepiece."""
    byte = _BYTE.fullmatch(name)
    return bytes([int(byte[1], 16)]) if byte else name.replace(_BLANK, " ").encode()


def _check_decoding(tokenizer: PreTrainedTokenizerBase, found: list[bytes | None]) -> None:
    """Refuse bytes that are others than what the tokenizer writes for tokens behind others."""
    texts = [number for number, spelt in enumerate(found) if spelt is not None]
    if not texts:
        raise InputError("the tokenizer has no token that stands for text")
    chosen = np.random.default_rng(1).choice(texts, (min(_CHECKED, len(texts)), 2)).tolist()
    anchor = tokenizer.encode(_ANCHOR, add_special_tokens=False)
    options: dict[str, Any] = {"clean_up_tokenization_spaces": False, "skip_special_tokens": False}
    before = str(tokenizer.decode(anchor, **options))
    for pair in chosen:
        spelt = b"".join(found[number] or b"" for number in pair)
        try:
            text = spelt.decode()
        except UnicodeDecodeError:  # part of a character, which shows as a sign of its own
            continue
        decoded = str(tokenizer.decode([*anchor, *pair], **options))
        if decoded != before + text:
            raise InputError(
                f"the bytes of the tokenizer's tokens cannot be known: it writes {pair} as "
                f"{shorten(repr(decoded[len(before) :]), 60)}, and not as "
                f"{shorten(repr(text), 60)}; ask about symbols, with TransformerModel"
            )
