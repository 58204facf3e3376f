"""What a tokenizer of Hugging Face makes of symbols, prompts and ends."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pdfalearn.alphabet import Symbol
from pdfalearn.checks import check_integer
from pdfalearn.errors import InputError
from pdfalearn.models._causal_models import LOCAL, CausalModel, explain
from pdfalearn.models.spelling import Spelling, Texts, check_text
from pdfalearn.text import described, is_iterable, shorten

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

Prompt: TypeAlias = str | Sequence[int] | Sequence[Mapping[str, str]]
GivenEnds: TypeAlias = Sequence[str | int] | Literal["rest"] | None

# Stands before texts where a tokenizer puts a blank before the first.
_ANCHOR = "\n"


class Tokens:
    """The tokens of texts; without a tokenizer only those that are given as numbers."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase | None, model: CausalModel) -> None:
        from transformers import PreTrainedTokenizerBase

        if tokenizer is not None and not isinstance(tokenizer, PreTrainedTokenizerBase):
            raise InputError(
                f"{described(tokenizer)} is not a tokenizer of transformers; load one with "
                "AutoTokenizer, or leave it out where the folder has its own"
            )
        self._tokenizer = tokenizer
        self._model = model
        self._adds_blank = tokenizer is not None and _adds_blank(tokenizer)

    def spelling(
        self, symbols: Texts, ends: GivenEnds, terminal: Symbol, outside: Symbol | None
    ) -> Spelling:
        """Return how symbols are spelled."""
        spelling = Spelling.of_texts(
            symbols,
            self.encode,
            self.ends(ends),
            unknown=getattr(self._tokenizer, "unk_token_id", None),
            terminal=terminal,
            outside=outside,
        )
        for ids in spelling.wanted:
            self._check_known(ids.tolist(), "a symbol or an end")
        return spelling

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text that stands behind others."""
        tokenizer = self.needed(f"the text {text!r}")
        if not self._adds_blank:
            return list(tokenizer.encode(text, add_special_tokens=False))
        anchor = tokenizer.encode(_ANCHOR, add_special_tokens=False)
        both = tokenizer.encode(_ANCHOR + text, add_special_tokens=False)
        if both[: len(anchor)] != anchor:
            raise InputError(
                f"the tokenizer joins the text {text!r} with what stands before it; give its "
                "tokens in a mapping"
            )
        return list(both[len(anchor) :])

    def prompt(self, prompt: Prompt, *, chat: bool) -> tuple[int, ...]:
        """Return the tokens before every word, one at least."""
        if chat:
            tokens = self._check_unknown(prompt, self._chat(prompt))
        elif isinstance(prompt, str):
            tokens = self._check_unknown(prompt, self._plain(prompt))
        elif is_iterable(prompt):
            tokens = list(prompt)
        else:
            raise InputError(f"the prompt is {described(prompt)}; give a text, or a list of tokens")
        if any(isinstance(token, Mapping) for token in tokens):
            raise InputError("the prompt is a list of messages; give chat=True with it")
        checked = [check_integer(token, "token of the prompt", 0) for token in tokens]
        checked = checked or self._first()
        self._check_known(checked, "the prompt")
        return tuple(checked)

    def _plain(self, prompt: str) -> list[Any]:
        if not prompt:
            return []
        if prompt.endswith(" "):
            warnings.warn(
                "the prompt ends in a space, which tokenizers mostly write with the next word, so "
                "that hardly any word follows; begin the symbols with the space instead",
                UserWarning,
                stacklevel=4,
            )
        tokenizer = self.needed("a prompt in words")
        tokens = list(tokenizer.encode(check_text(prompt)))
        if len(tokens) > 1 and tokens[-1] == tokenizer.eos_token_id and tokens[-1] != tokens[0]:
            tokens.pop()  # what ends a text may not stand before words
        return tokens

    def _check_unknown(self, prompt: Prompt, tokens: list[Any]) -> list[Any]:
        unknown, *known = (
            getattr(self._tokenizer, f"{name}_token_id", None) for name in ("unk", "bos", "eos")
        )
        if unknown is not None and unknown in tokens and unknown not in known:
            raise InputError(
                f"the tokenizer does not know all of the prompt {shorten(repr(prompt), 100)}: it "
                f"writes its unknown token {unknown}; give other words, or tokens"
            )
        return tokens

    def _chat(self, prompt: Prompt) -> list[Any]:
        tokenizer = self.needed("a chat")
        if not getattr(tokenizer, "chat_template", None):
            raise InputError("the tokenizer has no chat template; leave chat out, or set one")
        messages: Any = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
        try:
            given: Any = tokenizer.apply_chat_template(
                messages, add_generation_prompt=True, tokenize=True, return_dict=False
            )
        except Exception as error:  # templates are programs, and messages are what users give
            raise InputError(
                f"the chat template does not take the prompt ({explain(error)}); give a text, or "
                'messages such as {"role": "user", "content": "…"}'
            ) from error
        return list(given)

    def _first(self) -> list[int]:
        """Return the token that begins a text, for an empty prompt."""
        for name in ("bos_token_id", "eos_token_id"):
            for owner in (self._tokenizer, self._model.module.config):
                token = getattr(owner, name, None)
                if isinstance(token, int):
                    return [token]
        raise InputError("the prompt is empty, and no token begins a text; give a prompt")

    def ends(self, ends: GivenEnds) -> tuple[int, ...] | Literal["rest"]:
        """Return the tokens that end a text: those given, or the model's own."""
        if ends == "rest":
            return "rest"
        if ends is None:
            return self._usual_ends()
        if isinstance(ends, str) or not is_iterable(ends):
            raise InputError(f"ends are {ends!r}: give a list of texts or tokens, or 'rest'")
        paths = [self.encode(check_text(end)) if isinstance(end, str) else [end] for end in ends]
        for end, path in zip(ends, paths, strict=True):
            if len(path) != 1:
                raise InputError(f"the end {end!r} has {len(path)} tokens; an end has one")
        return tuple(path[0] for path in paths)

    def _usual_ends(self) -> tuple[int, ...]:
        """Return the tokens at which the model itself stops writing."""
        settings = getattr(self._model.module, "generation_config", None)
        for owner in (settings, self._tokenizer, self._model.module.config):
            given = getattr(owner, "eos_token_id", None)
            if given is not None:
                return tuple(given) if isinstance(given, list) else (given,)
        raise InputError("no token ends a text; name the ends, or give ends='rest'")

    def _check_known(self, tokens: Iterable[int], what: str) -> None:
        largest = max(tokens, default=0)
        if largest >= self._model.vocabulary:
            raise InputError(
                f"{what} needs token {largest}, but the model has {self._model.vocabulary:,}: the "
                "tokenizer does not fit"
            )

    def needed(self, what: str) -> PreTrainedTokenizerBase:
        """Return the tokenizer, which something needs."""
        if self._tokenizer is None:
            raise InputError(f"{what} needs a tokenizer; give one, or give tokens")
        return self._tokenizer


def load_tokenizer(folder: Path) -> PreTrainedTokenizerBase:
    """Load the tokenizer of a local folder."""
    from transformers import AutoTokenizer

    try:
        tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(folder, **LOCAL)
    except Exception as error:  # what is in the files decides what goes wrong
        raise InputError(
            f"the folder {folder} holds no tokenizer ({explain(error)}); save one there, or give "
            "one"
        ) from error
    return tokenizer


def _adds_blank(tokenizer: PreTrainedTokenizerBase) -> bool:
    """Return whether a blank is put before a text that has none, as by sentencepiece."""
    ids = tokenizer.encode("a", add_special_tokens=False)
    return bool(ids) and str(tokenizer.convert_ids_to_tokens(ids)[0]).startswith(("▁", "Ġ"))
