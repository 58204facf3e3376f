"""The answers of a causal language model, over its whole vocabulary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pdfalearn.alphabet import Symbol
from pdfalearn.checks import check_integer, check_number, check_share
from pdfalearn.errors import InputError
from pdfalearn.models._opened_transformer import OpenedTransformer
from pdfalearn.models._token_bytes import spell_tokens
from pdfalearn.models._tokenizers import GivenEnds, Prompt, Tokens
from pdfalearn.models.spelling import Spelling, Texts, check_text
from pdfalearn.models.transformer import TransformerModel
from pdfalearn.rows import Rows
from pdfalearn.text import shorten

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

# About this many logits are in float64 at once.
_LOGITS_AT_ONCE = 2**20


class Answers(TransformerModel):
    """A causal language model of Hugging Face over its whole vocabulary, behind a prompt or many.

    Its symbols are the tokens; a word is what the model answers. Ask it with `explore`, whose
    languages are then about text, however that is cut into tokens.

    Parameters
    ----------
    model, tokenizer
        As for `TransformerModel`. There has to be a tokenizer, and it has to be known which bytes
        its tokens stand for.
    prompt : str, sequence of int, or sequence of mapping
        What the model answers to.
    prompts : sequence, or mapping of str to such prompts, optional
        Many prompts instead of one; a mapping names them. What all of them begin with is computed
        once.
    chat : bool
        Whether each prompt is put into the tokenizer's chat template.
    ends : sequence of str or int, or None
        The tokens that end an answer; if None, all of the model's own.
    stop : str or sequence of str
        Texts at which an answer ends as well: before the first that is complete, whatever else its
        last token holds.
    temperature, top_k, top_p
        How the model is served; if not given, the distribution is taken as it is. The order is the
        usual one: temperature, then the ``top_k`` likeliest tokens, then the fewest with a mass of
        at least ``top_p``.
    **options
        ``memory``, ``batch``, ``precision``, ``device`` and ``cost`` of `TransformerModel`.

    Attributes
    ----------
    ends : tuple of int
        The tokens that end an answer.
    stops : tuple of bytes
        The texts before which an answer ends.
    token_bytes : tuple of bytes or None
        The bytes of every symbol; None for ends and control tokens, which are not text.
    first_words : dict of str to tuple of int
        For every prompt what stands behind that which all of them begin with.

    Examples
    --------
    >>> from transformers import LlamaConfig, LlamaForCausalLM
    >>> from tests.models.transformers_tokenizers import byte_tokenizer
    >>> sizes = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1}
    >>> config = LlamaConfig(vocab_size=330, num_attention_heads=2, **sizes)
    >>> llm = Answers(LlamaForCausalLM(config).eval(), byte_tokenizer(), prompt="heads or")
    >>> len(llm.alphabet), llm.ends, llm.token_bytes[66]
    (330, (2,), b'b')
    """

    ends: tuple[int, ...]
    first_words: dict[str, tuple[int, ...]]
    stops: tuple[bytes, ...]
    token_bytes: tuple[bytes | None, ...]

    def __init__(
        self,
        model: PreTrainedModel | str | Path,
        tokenizer: PreTrainedTokenizerBase | None = None,
        *,
        prompt: Prompt = "",
        prompts: Sequence[Prompt] | Mapping[str, Prompt] | None = None,
        chat: bool = False,
        ends: GivenEnds = None,
        stop: str | Sequence[str] = (),
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float | None = None,
        **options: Any,
    ) -> None:
        if ends == "rest":
            raise InputError("ends='rest' is for symbols; here every token is one")
        self.stops = check_stops(stop)
        self._prompts = name_prompts(prompt, prompts)
        self._temperature = check_number(temperature, "temperature", 0, 1e6, is_open=True)
        self._top_k = None if top_k is None else check_integer(top_k, "top_k", 1)
        self._top_p = None if top_p is None else check_share(top_p, "top_p")
        super().__init__(model, tokenizer, (), chat=chat, ends=ends, **options)
        self.full_support = top_k is None and top_p is None

    def __repr__(self) -> str:
        return f"Answers({type(self._model.module).__name__}, {len(self.first_words)} prompts)"

    def _spell(
        self,
        tokens: Tokens,
        symbols: Texts,
        ends: GivenEnds,
        terminal: Symbol,
        outside: Symbol | None,
    ) -> Spelling:
        tokenizer, count = tokens.needed("asking about texts"), self._model.vocabulary
        self.ends, self.token_bytes = spell_tokens(tokens.ends(ends), tokenizer, count)
        # Every token is a symbol, as a prompt may hold those that end an answer. A number beyond
        # all tokens stands for their end.
        return Spelling({token: (token,) for token in range(count)}, [count], terminal=terminal)

    def _encode_prompt(self, tokens: Tokens, prompt: Prompt, *, chat: bool) -> tuple[int, ...]:
        encoded = {name: tokens.prompt(one, chat=chat) for name, one in self._prompts.items()}
        shared, self.first_words = part_prompts(encoded)
        return shared

    @property
    def fingerprint(self) -> str:  # type: ignore[override]
        """A hash of all that decides the answers, how the model is served included."""
        return f"{super().fingerprint} {self._serving[:4]}"

    def open(self) -> OpenedTransformer:
        """Return what keeps the keys and values of one run; it has the whole memory for itself."""
        self._model.check_ready()
        return _OpenedAnswers(self)

    @classmethod
    def join(cls, models: Sequence[Answers]) -> Answers:
        """Return one model of the prompts of several, which have a network and settings in common.

        Examples
        --------
        >>> from transformers import LlamaConfig, LlamaForCausalLM
        >>> from tests.models.transformers_tokenizers import byte_tokenizer
        >>> sizes = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1}
        >>> config = LlamaConfig(vocab_size=330, num_attention_heads=2, **sizes)
        >>> llm, tokenizer = LlamaForCausalLM(config).eval(), byte_tokenizer()
        >>> prompts = ["the coin shows heads", "the coin is"]
        >>> models = [Answers(llm, tokenizer, prompt=prompt) for prompt in prompts]
        >>> list(Answers.join(models).first_words) == prompts
        True
        """
        if not models or not all(isinstance(model, Answers) for model in models):
            raise InputError("to ask several models together, give a list of Answers")
        made = copy(models[0])
        for model in models:
            if model._model.module is not made._model.module or model._serving != made._serving:
                raise InputError(
                    "several Answers are asked together if they have one network, tokenizer, ends, "
                    "stops and settings; make them of the same objects, or give prompts=[…] to one"
                )
        paths = [(n, m.prompt + word) for m in models for n, word in m.first_words.items()]
        made.prompt, made.first_words = part_prompts(dict(_check_names(paths)))
        made._setup = made._setup._replace(prompt=made.prompt)
        return made

    @property
    def _serving(self) -> tuple[object, ...]:
        served = self.ends, self._temperature, self._top_k, self._top_p
        return *served, self.token_bytes, self.stops

    def distribution(self, logits: Tensor) -> Tensor:
        """Return what tokens are drawn from, a row for each row of logits, in float64."""
        logits = logits.double() / self._temperature
        if self._top_k is not None and self._top_k < logits.shape[-1]:
            least = logits.topk(self._top_k, dim=-1).values[..., -1:]
            logits = logits.masked_fill(logits < least, float("-inf"))
        if self._top_p is not None:
            ordered, places = logits.softmax(dim=-1).sort(dim=-1, descending=True, stable=True)
            beyond = ordered.cumsum(dim=-1) - ordered >= self._top_p
            beyond[..., 0] = False  # the likeliest is always there
            logits = logits.masked_fill(beyond.scatter(-1, places, beyond), float("-inf"))
        return logits.softmax(dim=-1)


class _OpenedAnswers(OpenedTransformer):
    """Answers over all tokens: rows are made of whole distributions."""

    def __init__(self, answers: Answers) -> None:
        import torch

        super().__init__(answers._setup, answers._way)
        self._answers = answers
        self._ends = torch.tensor(answers.ends, device=answers._model.module.device)

    def _show(self, word: Sequence[int]) -> str:
        text = b"".join(self._answers.token_bytes[token] or b"" for token in word)
        return shorten(repr(text.decode(errors="replace")), 80)

    def _make_rows(self, logits: Tensor, count: int) -> Rows:
        import torch

        parts = []
        for few in logits.split(max(1, _LOGITS_AT_ONCE // logits.shape[1])):
            mass = self._answers.distribution(few)
            end = mass.index_select(1, self._ends).sum(dim=1, keepdim=True)
            mass.index_fill_(1, self._ends, 0.0)
            parts.append(torch.cat([end, mass], dim=1))
        return Rows.dense(torch.cat(parts).cpu().numpy())


def part_prompts(paths: Mapping[str, tuple[int, ...]]) -> tuple[tuple[int, ...], dict[str, Any]]:
    """Return what all prompts begin with, and what is left of each."""
    # What the first and the last in order share, all between them do.
    first, last = min(paths.values()), max(paths.values())
    same = [one == other for one, other in zip(first, last, strict=False)]
    shared = first[: [*same, False].index(False)]
    if not shared:
        raise InputError(
            "the prompts do not begin with the same token, which is computed once for all; ask "
            "one at a time, use chat=True, or put the same text before each"
        )
    return shared, {name: path[len(shared) :] for name, path in paths.items()}


def _check_names(named: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    if not named or len(dict(named)) < len(named):
        raise InputError("the prompts are empty, or one is there twice; give different ones")
    return named


def check_stops(stop: str | Sequence[str]) -> tuple[bytes, ...]:
    """Return the bytes of stops."""
    texts = [stop] if isinstance(stop, str) or not isinstance(stop, Iterable) else list(stop)
    if stop == "" or not all(isinstance(text, str) and text for text in texts):
        raise InputError(f"stop is {stop!r}; give texts that are not empty")
    return tuple(check_text(text).encode() for text in texts)


def name_prompts(prompt: Prompt, given: Any) -> dict[str, Prompt]:
    """Return prompts by their names: those of a mapping, or their texts."""
    if given is None:
        return {prompt if isinstance(prompt, str) else "": prompt}
    if len(prompt):
        raise InputError("give a prompt or prompts, not both")
    if isinstance(given, Mapping):
        return dict(_check_names(list(given.items())))
    if isinstance(given, str):
        raise InputError("prompts are a list of prompts; give a single one as prompt")
    numbered = enumerate(given, 1)
    named = [(one if isinstance(one, str) else f"prompt {n}", one) for n, one in numbered]
    return dict(_check_names(named))
