"""The options that choose an equivalence oracle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

import pdfalearn
from pdfalearn.cli._options import all_of
from pdfalearn.errors import InputError

if TYPE_CHECKING:
    from pdfalearn import PDFA, EquivalenceOracle, LanguageModel
    from pdfalearn.equivalence.relations import Relation
    from pdfalearn.samplers.drawing import Sampler

_OPTIONS = (
    click.option(
        "--oracle",
        type=click.Choice(["exact", "pac", "walks", "words"]),
        help="Who looks for differences: exact, for the file of a PDFA (the default there); pac, "
        "sampled words with a promise (the default else); walks, random ones from every state; "
        "words, all up to --max-length.",
    ),
    click.option(
        "--epsilon",
        type=float,
        default=0.01,
        metavar="E",
        help="pac: at most this share of the sampler's words shows a difference …",
    ),
    click.option(
        "--delta",
        type=float,
        default=0.01,
        metavar="D",
        help="… with probability at least 1 - D.",
    ),
    click.option(
        "--sampler",
        "samplers",
        multiple=True,
        metavar="NAME|FILE",
        help="pac: uniform, model, hypothesis, or a file with a word a line, as 'pdfalearn sample' "
        "prints them; several are mixed in equal shares. Default: uniform, or hypothesis for a "
        "constrained model.",
    ),
    click.option(
        "--max-length",
        type=click.IntRange(min=0),
        default=20,
        metavar="N",
        help="The length of sampled words and walks, or of all words.",
    ),
    click.option(
        "--walks-per-state",
        type=click.IntRange(min=1),
        default=20,
        metavar="N",
        help="walks: how many from each state.",
    ),
)


oracle_options = all_of(_OPTIONS)
"""Adds the options that choose an equivalence oracle."""


@dataclass(frozen=True)
class OracleChoice:
    """What the options say."""

    oracle: str | None
    epsilon: float
    delta: float
    samplers: tuple[str, ...]
    max_length: int
    walks_per_state: int
    default_sampler: str
    """Uniform words are mostly undefined where a model is constrained."""

    def make(self, model: PDFA | LanguageModel, by: Relation, seed: int) -> EquivalenceOracle:
        """Make the oracle for a model."""
        is_known = isinstance(model, pdfalearn.PDFA)
        name = self.oracle or ("exact" if is_known else "pac")
        if name == "exact":
            if not isinstance(model, pdfalearn.PDFA):
                raise InputError(
                    "--oracle exact needs a PDFA that can be looked into; use pac, walks or words"
                )
            return pdfalearn.ExactOracle(model, by=by)
        return pdfalearn.ChainOracle(pdfalearn.StoredAnswersOracle(), self._asking(name, seed))

    def _asking(self, name: str, seed: int) -> EquivalenceOracle:
        if name == "words":
            return pdfalearn.AllWordsOracle(self.max_length)
        if name == "walks":
            return pdfalearn.StatePrefixOracle(
                walks_per_state=self.walks_per_state, walk_length=self.max_length, seed=seed
            )
        return pdfalearn.PACOracle(
            epsilon=self.epsilon, delta=self.delta, sampler=self._sampler(), seed=seed
        )

    def _sampler(self) -> Sampler:
        parts = [self._part(name) for name in self.samplers or (self.default_sampler,)]
        return parts[0] if len(parts) == 1 else pdfalearn.Mixture([(part, 1) for part in parts])

    def _part(self, name: str) -> Sampler:
        if name == "uniform":
            return pdfalearn.UniformWords(self.max_length)
        if name == "model":
            return pdfalearn.ModelWords(self.max_length)
        if name == "hypothesis":
            return pdfalearn.HypothesisWords(self.max_length)
        return pdfalearn.Corpus(name)
