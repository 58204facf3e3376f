"""Causal language models of Hugging Face's transformers: loaded, checked, hashed, and called."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdfalearn.alphabet import Alphabet
from pdfalearn.errors import InputError
from pdfalearn.models._networks import module_hash
from pdfalearn.models._token_tree import Pass
from pdfalearn.models.opened import error_text
from pdfalearn.text import described, shorten

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import Cache, PreTrainedModel

# What a model is called on the Hugging Face Hub, as in "gpt2" or "HuggingFaceTB/SmolLM2-135M".
_HUB_NAME = re.compile(r"\w[\w.-]*(/[\w.-]+)?")
_FILES = ["*.json", "*.safetensors", "*.txt", "*.model", "*.jinja"]
# Files of other formats are not downloaded.
_OTHER_FILES = ["*/*", "consolidated*"]
LOCAL = {"local_files_only": True, "trust_remote_code": False}
"""Nothing is downloaded while a folder is read, and no code from there is run."""
# What a configuration says that does not decide answers, or that the weights tell.
_UNSETTLING = ("_name_or_path", "architectures", "dtype", "transformers_version", "use_cache")
# What configurations call the number of tokens that a token attends to at most.
_WINDOW = re.compile(r"window(_size|_len)?$|^attention_chunk_size$|^local_attention$|^index_topk$")


class CausalModel:
    """A causal language model that attends to what a mask says."""

    def __init__(self, model: PreTrainedModel) -> None:
        from transformers import PreTrainedModel

        if not isinstance(model, PreTrainedModel):
            raise InputError(
                f"{described(model)} is not a model of transformers; give one, or a local folder"
            )
        if not hasattr(model.get_output_embeddings(), "weight"):
            raise InputError(
                f"{type(model).__name__} has no logits of tokens; load it with AutoModelForCausalLM"
            )
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
        self.context, self.window = _limits(config)
        """How long texts may be, and up to which length tokens attend to all before them."""
        # Whether logits are computed only where they are asked for.
        self._can_choose = "logits_to_keep" in inspect.signature(model.forward).parameters

    def check_ready(self) -> None:
        """Refuse a model whose answers are random because it, or a part of it, is being trained."""
        if any(part.training for part in self.module.modules()):
            raise InputError(
                "the model is in training mode, where a word's answer may be another every time; "
                "call .eval() on it first"
            )

    def encode(self, tokens: Sequence[int]) -> Cache:
        """Return the keys and values of tokens."""
        from transformers import DynamicCache

        cache = DynamicCache()
        self._call(np.array([tokens]), 1, past_key_values=cache, use_cache=True)
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
        given = self._call(
            step.tokens[None],
            read,
            attention_mask=mask[None, None],
            position_ids=torch.from_numpy(step.positions).to(device)[None],
            past_key_values=cache,
            use_cache=True,
        )[0]
        return given if self._can_choose else given[read]

    def plain_logits(self, texts: NDArray[np.int64], kept: int = 1) -> Tensor:
        """Return the logits at the last places of texts, a row of tokens each.

        The model is called as its authors meant it: without a mask, positions or a cache.
        """
        return self._call(texts, kept, use_cache=False)[:, -kept:]

    def _call(self, tokens: NDArray[np.int64], kept: int | Tensor, **options: Any) -> Tensor:
        """Return the logits after tokens, those to be kept if the model can choose."""
        import torch

        if self._can_choose:
            options["logits_to_keep"] = kept
        with torch.inference_mode():
            inputs = torch.from_numpy(tokens).to(self.module.device)
            logits: Tensor = self.module(inputs, **options).logits
            return logits

    def hash(self, alphabet: Alphabet) -> str:
        """Return a hash of configuration, weights and symbols."""
        config = self.module.config.to_dict()
        settings = {name: config[name] for name in config if name not in _UNSETTLING}
        text = json.dumps(settings, sort_keys=True, default=str)
        return f"{text} {module_hash(self.module, alphabet)} {self.module.dtype}"


class Limit(NamedTuple):
    """A number of tokens that something of a model has."""

    tokens: int
    name: str

    def __str__(self) -> str:
        return f"the model's {self.name} has {self.tokens:,} tokens"


def _limits(config: Any) -> tuple[Limit, Limit]:
    """Return how long texts may be, and up to which length tokens attend to all before them.

    Attention to a window, to a chunk or to a number of tokens is attention to everything up to that
    length. Some rotary positions change for all tokens when a text gets long; what was kept would
    then be wrong.
    """
    positions = getattr(config, "max_position_embeddings", None) or -1
    context = Limit(positions if positions > 0 else 2**31, "context")
    limits = [context, *_windows(config.to_dict())]
    rotary = getattr(config, "rope_parameters", None) or {}
    for each in [rotary, *(part for part in rotary.values() if isinstance(part, dict))]:
        if each.get("rope_type") in {"dynamic", "longrope"}:
            unchanged = each.get("original_max_position_embeddings") or context.tokens
            limits.append(Limit(unchanged, "range of unchanged positions"))
    return context, min(limits)


def _windows(settings: dict[str, Any]) -> Iterator[Limit]:
    """Return all that bounds to how many tokens a token attends, by layers too.

    Other models inside, such as one for sounds, have a type and windows of their own.
    """
    for name, given in settings.items():
        if isinstance(given, dict) and not given.get("model_type"):
            yield from _windows(given)
        elif isinstance(given, int) and given > 0 and _WINDOW.search(str(name)):
            yield Limit(given, name.replace("_", " "))


def find_folder(name: str | Path) -> Path:
    """Return the local folder of a model, downloaded if it is not one and can be a model's name."""
    path = Path(name)
    if path.is_dir() or isinstance(name, Path) or not _HUB_NAME.fullmatch(name):
        return path
    from huggingface_hub import snapshot_download

    try:
        found = snapshot_download(name, allow_patterns=_FILES, ignore_patterns=_OTHER_FILES)
    except Exception as error:  # no network, no such model, or no permission
        raise InputError(
            f"{name} is not a local folder, and no model of this name can be downloaded; save one "
            f"in a folder with save_pretrained ({explain(error)})"
        ) from error
    return Path(found)


def check_folder(folder: str | Path) -> Path:
    """Refuse what is not a folder with a model's configuration."""
    path = Path(folder)
    if not path.is_dir():
        raise InputError(f"{path} is not a folder; save a model there with save_pretrained")
    if not (path / "config.json").is_file():
        raise InputError(f"the folder {path} holds no model: config.json is missing")
    return path


def load_model(folder: Path, precision: object, device: str | None) -> PreTrainedModel:
    """Load a model from a local folder: safetensors only."""
    import torch
    from transformers import AutoModelForCausalLM

    name = "auto" if precision is None else str(precision).removeprefix("torch.")
    dtype: Any = name if precision is None else getattr(torch, name, None)
    if precision is not None and not isinstance(dtype, torch.dtype):
        raise InputError(f"precision {precision!r} is not a type of torch, such as 'float32'")
    options: dict[str, Any] = {"use_safetensors": True, "output_loading_info": True, **LOCAL}
    try:
        with _no_progress_bar():
            model, found = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, **options)
    except Exception as error:  # what is in the files decides what goes wrong
        raise InputError(f"{folder} holds no causal language model: {explain(error)}") from error
    if missing := ", ".join(sorted(found["missing_keys"])):
        raise InputError(
            f"the weights in {folder} lack {shorten(missing, 200)}, which would be random each "
            "time; save the whole model there"
        )
    try:
        placed: PreTrainedModel = model if device is None else model.to(device)
        return placed
    except (AssertionError, RuntimeError) as error:
        raise InputError(f"there is no device {device!r}: {explain(error)}") from error


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


def explain(error: Exception) -> str:
    """Write an error of somebody else's code in one line that is not too long."""
    return shorten(error_text(error), 300)
