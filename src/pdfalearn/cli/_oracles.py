"""The options that choose an equivalence oracle."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import click

import pdfalearn
from pdfalearn.cli._options import all_of
from pdfalearn.cli._words import STANDARD_INPUT, corpus_of
from pdfalearn.errors import InputError

if TYPE_CHECKING:
    from pdfalearn import PDFA, Corpus, LanguageModel
    from pdfalearn.equivalence import Relation
    from pdfalearn.oracles import EquivalenceOracle
    from pdfalearn.samplers import Sampler

_OPTIONS = (
    click.option(
        "--oracle",
        type=click.Choice(["exact", "pac", "walks", "words"]),
        help="How differences are looked for. exact: for a PDFA, its default. pac: sampled words, "
        "with a certificate; the default of all other models. walks: random walks from every "
        "state. words: all words up to --max-length.",
    ),
    click.option(
        "--epsilon",
        type=float,
        show_default="0.01",
        metavar="E",
        help="pac: the largest share of the sampler's words that may show a difference.",
    ),
    click.option(
        "--delta",
        type=float,
        show_default="0.01",
        metavar="D",
        help="pac: with a probability of at most D the share is larger than --epsilon.",
    ),
    click.option(
        "--sampler",
        "samplers",
        multiple=True,
        metavar="NAME|FILE",
        help="pac: uniform, model, hypothesis, or a file with a word a line, as 'pdfalearn sample' "
        "prints them, or - for the standard input; several are mixed in equal shares. Default: "
        "uniform, or hypothesis where a guide, top-k or top-p makes words undefined.",
    ),
    click.option(
        "--max-length",
        type=click.IntRange(min=0),
        show_default="20",
        metavar="N",
        help="The greatest length of sampled words, of walks, or of all words.",
    ),
    click.option(
        "--walks-per-state",
        type=click.IntRange(min=1),
        show_default="20",
        metavar="N",
        help="walks: how many walks begin at each state.",
    ),
)


oracle_options = all_of(_OPTIONS)
"""Adds the options that choose an equivalence oracle."""


_WALKS_PER_STATE = 20
_SAMPLERS = ("uniform", "model", "hypothesis")


@dataclass(frozen=True)
class OracleChoice:
    """What the options say; where they say nothing, what `learn` takes by itself."""

    oracle: str | None
    epsilon: float | None
    delta: float | None
    samplers: tuple[str, ...]
    max_length: int | None
    walks_per_state: int | None

    def make(
        self, model: PDFA | LanguageModel, equivalence: Relation, seed: int
    ) -> EquivalenceOracle:
        """Make the oracle for a model."""
        from pdfalearn.learning import default_oracle
        from pdfalearn.models import wrapped_pdfa

        is_known = isinstance(model, pdfalearn.PDFA) or wrapped_pdfa(model) is not None
        if self.oracle == "exact" and not is_known:
            raise InputError(
                "--oracle exact needs a PDFA that can be looked into; use pac, walks or words"
            )
        is_usual = not any(given not in (None, ()) for given in astuple(self))
        if is_usual or (self.oracle or ("exact" if is_known else "pac")) == "exact":
            return default_oracle(model, equivalence, seed)
        return pdfalearn.oracles.ChainOracle(
            pdfalearn.oracles.StoredAnswersOracle(), self._asking(model, seed)
        )

    def _asking(self, model: PDFA | LanguageModel, seed: int) -> EquivalenceOracle:
        from pdfalearn.learning import DELTA, EPSILON, MAX_LENGTH

        length = MAX_LENGTH if self.max_length is None else self.max_length
        if self.oracle == "words":
            return pdfalearn.oracles.AllWordsOracle(length)
        if self.oracle == "walks":
            walks = self.walks_per_state or _WALKS_PER_STATE
            return pdfalearn.oracles.StatePrefixOracle(
                walks_per_state=walks, walk_length=length, seed=seed
            )
        return pdfalearn.oracles.PACOracle(
            epsilon=EPSILON if self.epsilon is None else self.epsilon,
            delta=DELTA if self.delta is None else self.delta,
            sampler=self._sampler(model, length),
            seed=seed,
        )

    @cached_property
    def _corpora(self) -> dict[str, Corpus]:
        """The files among the samplers, each read once, for whatever oracles are made."""
        if self.samplers.count(STANDARD_INPUT) > 1:
            raise click.UsageError("The standard input can be read only once: give - only once.")
        return {name: corpus_of(name) for name in self.samplers if name not in _SAMPLERS}

    def _sampler(self, model: PDFA | LanguageModel, length: int) -> Sampler:
        names = self.samplers or (_usual_sampler(model),)
        parts = [self._corpora.get(name) or _sampler(name, length) for name in names]
        return (
            parts[0]
            if len(parts) == 1
            else pdfalearn.samplers.Mixture([(part, 1) for part in parts])
        )


def _usual_sampler(model: PDFA | LanguageModel) -> str:
    """Return the name of the sampler for a model, the same as that of the default oracle."""
    if isinstance(model, pdfalearn.PDFA):
        return "uniform"
    return "hypothesis" if model.is_constrained else "uniform"


def _sampler(name: str, length: int) -> Sampler:
    if name == "uniform":
        return pdfalearn.samplers.UniformWords(length)
    if name == "model":
        return pdfalearn.samplers.ModelWords(length)
    return pdfalearn.samplers.HypothesisWords(length)
