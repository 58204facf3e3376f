"""Models and tokenizers of Hugging Face, loaded from a folder or found by their names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pdfalearn.errors import InputError
from pdfalearn.models.opened import error_text
from pdfalearn.text import shortened

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

_NAME = re.compile(r"\w[\w.-]*(/[\w.-]+)?")
"""What a model is called on the Hugging Face Hub, as in "gpt2" or "HuggingFaceTB/SmolLM2-135M"."""
_FILES = ["*.json", "*.safetensors", "*.txt", "*.model", "*.jinja"]
_OTHER_FILES = ["*/*", "consolidated*"]
"""Files of other formats are not downloaded."""
_LOCAL = {"local_files_only": True, "trust_remote_code": False}
"""Nothing is downloaded while a folder is read, and no code from there is run."""


def find_folder(name: str | Path) -> Path:
    """Return the local folder of a model, downloaded if it is not one and can be a model's name."""
    path = Path(name)
    if path.is_dir() or isinstance(name, Path) or not _NAME.fullmatch(name):
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
    options: dict[str, Any] = {"use_safetensors": True, "output_loading_info": True, **_LOCAL}
    try:
        with _no_progress_bar():
            model, found = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, **options)
    except Exception as error:  # what is in the files decides what goes wrong
        raise InputError(f"{folder} holds no causal language model: {explain(error)}") from error
    if missing := ", ".join(sorted(found["missing_keys"])):
        raise InputError(
            f"the weights in {folder} lack {shortened(missing, 200)}, which would be random each "
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


def load_tokenizer(folder: Path) -> PreTrainedTokenizerBase:
    """Load the tokenizer of a local folder."""
    from transformers import AutoTokenizer

    try:
        tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(folder, **_LOCAL)
    except Exception as error:  # what is in the files decides what goes wrong
        raise InputError(
            f"the folder {folder} holds no tokenizer ({explain(error)}); save one there, or give "
            "one"
        ) from error
    return tokenizer


def explain(error: Exception) -> str:
    """Write an error of somebody else's code in one line that is not too long."""
    return shortened(error_text(error), 300)
