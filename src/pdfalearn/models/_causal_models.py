"""Causal language models of Hugging Face's transformers: loaded, checked, hashed, and called."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pdfalearn.errors import InputError
from pdfalearn.models._modules import module_hash
from pdfalearn.models._tree_pass import Pass
from pdfalearn.models.spelling import Spelling
from pdfalearn.text import described, shortened

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import Cache, PreTrainedModel

_UNSETTLING = ("_name_or_path", "architectures", "dtype", "transformers_version", "use_cache")
"""What a configuration says that does not decide answers, or that the weights tell."""


class CausalModel:
    """A causal language model that attends to what a mask says.

    Parameters
    ----------
    model : transformers.PreTrainedModel
        The model, not in training mode.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        _check_is_causal(model)
        self.module = model
        config = model.config.get_text_config(decoder=True)
        used = getattr(config, "_attn_implementation", None)
        if used not in {"sdpa", "eager"}:
            raise InputError(
                f"the model's attention is {used!r}, which takes no mask of one's own; load it "
                "with attn_implementation='sdpa'"
            )
        self.vocabulary: int = model.get_output_embeddings().weight.shape[0]
        """The number of tokens."""
        self._limit, self.limit_text = _context(config)
        parameters = inspect.signature(model.forward).parameters
        self._can_choose = "logits_to_keep" in parameters

    def check_ready(self) -> None:
        """Refuse a model whose answers are random because it, or a part of it, is being trained."""
        if any(part.training for part in self.module.modules()):
            raise InputError(
                "the model is in training mode, where a word's answer may be another every time; "
                "call .eval() on it first"
            )

    def most_tokens(self, prompt_length: int, spelling: Spelling) -> int:
        """Return how many tokens a word may have behind a prompt."""
        deepest = max(map(len, spelling.prefixes))
        most = self._limit - prompt_length - deepest
        if most < 0:
            raise InputError(
                f"a prompt of {prompt_length} tokens and symbols of up to {deepest + 1} are too "
                f"long: {self.limit_text}; shorten the prompt"
            )
        return most

    def encoded(self, tokens: Sequence[int]) -> Cache:
        """Return the keys and values of tokens."""
        import torch
        from transformers import DynamicCache

        cache = DynamicCache()
        few = {"logits_to_keep": 1} if self._can_choose else {}
        with torch.inference_mode():
            self.module(
                torch.tensor([tokens], device=self.module.device),
                past_key_values=cache,
                use_cache=True,
                **few,
            )
        return cache

    def logits(self, step: Pass, cache: Cache) -> Tensor:
        """Pass tokens through the model, behind those of a cache; return the logits to be read.

        Keys and values of the tokens are added to the cache.
        """
        import torch

        device, dtype = self.module.device, self.module.dtype
        hidden = torch.from_numpy(~step.sees).to(device)
        mask = torch.zeros(hidden.shape, dtype=dtype, device=device)
        mask.masked_fill_(hidden, torch.finfo(dtype).min)
        read = torch.from_numpy(step.read).to(device)
        given = self.module(
            torch.from_numpy(step.tokens).to(device)[None],
            attention_mask=mask[None, None],
            position_ids=torch.from_numpy(step.positions).to(device)[None],
            past_key_values=cache,
            use_cache=True,
            **({"logits_to_keep": read} if self._can_choose else {}),
        ).logits[0]
        logits: Tensor = given if self._can_choose else given[read]
        return logits

    def plain_logits(self, tokens: Sequence[int], place: int = -1) -> Tensor:
        """Return the logits at a place of tokens as the model gives them itself, in float64."""
        import torch

        with torch.inference_mode():
            inputs = torch.tensor([tokens], device=self.module.device)
            logits: Tensor = self.module(inputs, use_cache=False).logits[0, place]
            return logits.double()

    def versions(self) -> object:
        """Return what changes with the weights."""
        try:
            return tuple(
                (id(part), part._version, part.data_ptr(), part.dtype)
                for part in self.module.parameters()
            )
        except RuntimeError:  # parameters made in inference mode have no versions
            return object()

    def hash(self, spelling: Spelling) -> str:
        """Return a hash of configuration, weights and symbols."""
        config = self.module.config.to_dict()
        settings = {name: config[name] for name in config if name not in _UNSETTLING}
        text = json.dumps(settings, sort_keys=True, default=str)
        weights = module_hash(self.module, spelling.alphabet)
        return sha256(f"{text} {weights} {self.module.dtype}".encode()).hexdigest()


def _check_is_causal(model: object) -> None:
    """Refuse what is not a model of transformers that gives logits of tokens."""
    from transformers import PreTrainedModel

    if not isinstance(model, PreTrainedModel):
        raise InputError(
            f"{described(model)} is not a model of transformers; give one, or a local folder"
        )
    if model.get_output_embeddings() is None:
        raise InputError(
            f"{type(model).__name__} has no logits of tokens; load it with AutoModelForCausalLM"
        )


def loaded(folder: Path, precision: str | None, device: str | None) -> PreTrainedModel:
    """Load a model from a local folder: safetensors only, no code from there, no download."""
    import torch
    from transformers import AutoModelForCausalLM

    dtype: Any = "auto" if precision is None else getattr(torch, precision, None)
    if precision is not None and not isinstance(dtype, torch.dtype):
        raise InputError(f"precision {precision!r} is not a type of torch, such as 'float32'")
    try:
        with _no_progress_bar():
            model, found = AutoModelForCausalLM.from_pretrained(
                folder,
                dtype=dtype,
                local_files_only=True,
                use_safetensors=True,
                trust_remote_code=False,
                output_loading_info=True,
            )
    except Exception as error:  # what is in the files decides what goes wrong
        raise InputError(f"{folder} holds no causal language model: {_line(error)}") from error
    if missing := ", ".join(sorted(found["missing_keys"])):
        raise InputError(
            f"the weights in {folder} lack {shortened(missing, 200)}, which would be random each "
            "time; save the whole model there"
        )
    try:
        placed: PreTrainedModel = model if device is None else model.to(device)
        return placed
    except (AssertionError, RuntimeError) as error:
        raise InputError(f"there is no device {device!r}: {_line(error)}") from error


def _line(error: Exception) -> str:
    return shortened(" ".join(str(error).split()), 300)


@contextmanager
def _no_progress_bar() -> Iterator[None]:
    from transformers.utils import logging

    was_shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if was_shown:
            logging.enable_progress_bar()


def checked_folder(folder: str | Path) -> Path:
    """Refuse what is not a folder with a model's configuration."""
    path = Path(folder)
    if not path.is_dir():
        raise InputError(f"{path} is not a folder; save a model there with save_pretrained")
    if not (path / "config.json").is_file():
        raise InputError(f"the folder {path} holds no model: config.json is missing")
    return path


def _context(config: Any) -> tuple[int, str]:
    """Return how many tokens a model's context has, and a text about it.

    Up to the length of its window, attention to a window is attention to everything. Some rotary
    positions change for all tokens when a text gets long; what was kept would then be wrong.
    """
    rotary = getattr(config, "rope_parameters", None) or {}
    changes = rotary.get("rope_type") in {"dynamic", "longrope"}
    limits = {
        "range of unchanged positions": (
            changes and rotary.get("original_max_position_embeddings")
        ),
        "context": getattr(config, "max_position_embeddings", None),
        "sliding window": getattr(config, "sliding_window", None),
        "attention chunk": getattr(config, "attention_chunk_size", None),
    }
    known = [(limit, name) for name, limit in limits.items() if limit]
    limit, name = min(known, default=(2**31, "context"))
    return limit, f"the model's {name} has {limit:,} tokens"
