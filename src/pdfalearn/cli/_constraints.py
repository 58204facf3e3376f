"""The options that constrain a model."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import click

import pdfalearn

if TYPE_CHECKING:
    from pdfalearn import PDFA, LanguageModel

CONSTRAINT_OPTIONS = (
    click.option(
        "--guide",
        metavar="REGEX",
        help="Only words that match this regular expression (needs the extra regex).",
    ),
    click.option(
        "--temperature",
        type=float,
        metavar="T",
        help="Probabilities to the power 1/T: below 1 sharper, above 1 flatter.",
    ),
    click.option(
        "--top-k",
        type=click.IntRange(min=1),
        metavar="K",
        help="Only the K most probable symbols.",
    ),
    click.option(
        "--top-p",
        type=float,
        metavar="P",
        help="Only the fewest symbols with a mass of at least P.",
    ),
)
"""The options that constrain a model."""


@dataclass(frozen=True)
class Constraints:
    """What the options say; they are applied in this order, as is usual for sampling."""

    guide: str | None
    temperature: float | None
    top_k: int | None
    top_p: float | None

    @classmethod
    def taken_from(cls, chosen: dict[str, Any]) -> Constraints:
        """Take the values of these options out of those of a command."""
        return cls(**{field.name: chosen.pop(field.name) for field in fields(cls)})

    @property
    def is_any(self) -> bool:
        """Whether there is a constraint."""
        return any(value is not None for value in vars(self).values())

    def around(self, model: PDFA | LanguageModel) -> PDFA | LanguageModel:
        """Wrap a model by what is asked for."""
        if self.guide is not None:
            model = pdfalearn.Guided(model, self.guide)
        if self.temperature is not None:
            model = pdfalearn.Temperature(model, self.temperature)
        if self.top_k is not None:
            model = pdfalearn.TopK(model, self.top_k)
        if self.top_p is not None:
            model = pdfalearn.TopP(model, self.top_p)
        return model
