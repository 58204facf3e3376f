"""The key under which a store keeps a model's answers."""

from __future__ import annotations

from hashlib import sha256

from pdfalearn.errors import InputError
from pdfalearn.models.opened import check_members
from pdfalearn.models.protocol import LanguageModel

_KEY_DIGITS = 20
"""This much of a hash tells models apart, and can be read in a table."""


def model_key(model: LanguageModel, model_id: str | None) -> str:
    """Name a model in a store."""
    fingerprint = check_members(model).fingerprint
    if model_id is not None and not (isinstance(model_id, str) and model_id.strip()):
        raise InputError(f"model_id {model_id!r} is not a name: give a text of your choice")
    if model_id is not None and "#" in model_id:
        raise InputError(f"model_id {model_id!r} has a #, which stands before a model's hash")
    if not (model_id or fingerprint):
        raise InputError(
            "a model without fingerprint needs a model_id to keep its answers in a store: a name "
            "of your choice for this model with these settings"
        )
    if not fingerprint:
        return str(model_id)
    return f"{model_id or ''}#{sha256(fingerprint.encode()).hexdigest()[:_KEY_DIGITS]}"
