"""Where sampled words come from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Union, cast

import numpy as np
from numpy.random import Generator

from pdfalearn.alphabet import Alphabet, Symbol, shorten
from pdfalearn.checks import check_integer, check_number, check_share, make_generator
from pdfalearn.equivalence import Exact
from pdfalearn.errors import InputError, ModelError
from pdfalearn.models import PFA, AutomatonModel, LanguageModel, as_model
from pdfalearn.observations import Nodes, ObservationTree
from pdfalearn.pdfa import PDFA, Sample
from pdfalearn.samplers.corpus_words import CorpusWords
from pdfalearn.typing import Codes, Integers
from pdfalearn.words import Words, collect_words, draw_columns, offsets_of, prefixes_of

if TYPE_CHECKING:
    from pdfalearn.budgets import Budget
    from pdfalearn.corpora import Corpus
    from pdfalearn.exploring import Step
    from pdfalearn.languages import LanguageLike


class Sampler(Protocol):
    """Draws words, each independently of the others and from the same distribution.

    The distribution may depend on the model and on the hypothesis, and on nothing else.

    Examples
    --------
    >>> from pdfalearn import learn
    >>> from pdfalearn.datasets import figure_3
    >>> from pdfalearn.oracles import PACOracle
    >>> class Zeros:
    ...     name = "words of zeros"
    ...
    ...     def draw(self, count, hypothesis, observations, random):
    ...         return Words.of([[0] * int(length) for length in random.integers(0, 9, count)])
    ...
    ...     def unreachable_symbols(self, alphabet):
    ...         return []
    >>> oracle = PACOracle(epsilon=0.1, delta=0.1, sampler=Zeros())
    >>> learn(figure_3(), oracle=oracle).certificate.kind
    'pac'
    """

    @property
    def name(self) -> str:
        """What the words are, as it stands in a certificate: "uniform words of …"."""
        ...

    def draw(
        self, count: int, hypothesis: PDFA, observations: ObservationTree, random: Generator
    ) -> Words:
        """Draw words.

        Parameters
        ----------
        count : int
            How many.
        hypothesis : PDFA
            The automaton that they are to test.
        observations : ObservationTree
            The observation tree to ask, for a sampler that needs the model.
        random : Generator
            Where all random choices come from.
        """
        ...

    def unreachable_symbols(self, alphabet: Alphabet) -> list[Symbol]:
        """Return the symbols that no word will ever have, as far as the sampler can tell."""
        ...


def as_sampler(thing: SamplerLike) -> Sampler:
    """Return a sampler, or the one that draws from a corpus.

    Examples
    --------
    >>> from pdfalearn import Corpus
    >>> as_sampler(Corpus(["ab"])).name
    'words of a corpus of 1'
    """
    if hasattr(thing, "draw"):
        return cast("Sampler", thing)
    from pdfalearn.corpora import Corpus  # whose readers a run without a corpus does not need

    if not isinstance(thing, Corpus):
        raise InputError(
            f"sampler={thing!r} is not a sampler, such as ModelWords(max_length=100) or "
            "Corpus(path)"
        )
    return CorpusWords(thing)


SamplerLike = Union[Sampler, "Corpus"]


@dataclass(frozen=True)
class _WordsUpTo:
    """What samplers of words up to a length have in common."""

    max_length: int

    def __post_init__(self) -> None:
        length = check_integer(self.max_length, "max_length", 0)
        object.__setattr__(self, "max_length", length)

    def unreachable_symbols(self, alphabet: Alphabet) -> list[Symbol]:
        """Return all symbols if the maximal length is 0, else none: no more is known."""
        return [] if self.max_length else list(alphabet)


@dataclass(frozen=True)
class UniformWords(_WordsUpTo):
    """Words of uniform length, of uniform symbols.

    Parameters
    ----------
    max_length : int
        Lengths are from 0 to this, all equally likely.

    Examples
    --------
    >>> UniformWords(max_length=20).name
    'uniform words of up to 20 symbols'
    """

    @property
    def name(self) -> str:
        """What the words are."""
        return f"uniform words of up to {self.max_length} symbols"

    def draw(
        self, count: int, hypothesis: PDFA, observations: ObservationTree, random: Generator
    ) -> Words:
        """Draw words; only the alphabet matters."""
        offsets = offsets_of(random.integers(self.max_length + 1, size=count))
        symbols = random.integers(len(hypothesis.alphabet), size=offsets[-1], dtype=np.int32)
        return Words(symbols, offsets)


@dataclass(frozen=True)
class ModelWords(_WordsUpTo):
    """Words from the model's own distribution, drawn symbol by symbol until the terminal.

    All of them go on at once, a symbol at a time, and every question is asked through the
    observation tree, so that testing these words asks nothing more.

    Parameters
    ----------
    max_length : int
        Words that do not end before are cut here.

    Examples
    --------
    >>> ModelWords(max_length=20).name
    'words of the model of up to 20 symbols'
    """

    @property
    def name(self) -> str:
        """What the words are."""
        return f"words of the model of up to {self.max_length} symbols"

    def draw(
        self, count: int, hypothesis: PDFA, observations: ObservationTree, random: Generator
    ) -> Words:
        """Draw words, asking the model for the distribution after every prefix."""
        return model_words(count, self.max_length, observations, random)


def model_words(
    count: int, max_length: int, observations: ObservationTree, random: Generator
) -> Words:
    """Draw words from a model through its observations; those that do not end are cut."""
    active, nodes = np.arange(count), np.zeros(count, dtype=np.int64)
    steps: list[tuple[Integers, Codes]] = []
    while len(active) and len(steps) < max_length:
        observations.ask(nodes)
        columns = _draw_columns(nodes, observations, random)
        going = columns > 0
        active, symbols = active[going], columns[going] - 1
        nodes = observations.nodes.step(nodes[going], symbols)
        steps.append((active, symbols.astype(np.int32)))
    return collect_words(steps, count)


def sample(
    model: PDFA | LanguageModel,
    count: int,
    language: LanguageLike | None = None,
    *,
    seed: int | None = None,
    max_length: int = 1000,
    budget: Budget | None = None,
    progress: Callable[[Step], None] | None = None,
) -> Sample:
    """Draw words from any model.

    Parameters
    ----------
    model : PDFA or LanguageModel
        Where the words come from. A model that can only be asked is asked after every prefix. Those
        of `Answers` are texts.
    count : int
        How many words.
    language : str, DFA, Language, or iterable of words, optional
        Only words in it, exactly as likely as they are among all of these; a model that can only be
        asked is explored for them. Longer ones than ``max_length`` are not drawn then.
    seed : int, optional
        Same seed, same words. Other words each time if not given.
    max_length : int
        Words are cut at this length, and flagged. So are texts that are drawn for a ``language``
        where they match whatever follows.
    budget, progress
        For a ``language``, as for `probability`; fewer words than asked for are an error.

    Returns
    -------
    Sample
        As `PDFA.sample` returns it.

    Examples
    --------
    >>> from pdfalearn import FunctionModel
    >>> model = FunctionModel(lambda words: [[0.0, 1.0]] * len(words), "a")
    >>> sample(model, 1, max_length=3)
    Sample(words=[('a', 'a', 'a')], cut=array([ True]))
    >>> coin = FunctionModel(lambda words: [[0.5, 0.3, 0.2]] * len(words), "ht")
    >>> sample(coin, 3, "h*t", seed=1).words
    [('t',), ('t',), ('h', 't')]
    """
    # Learning does not need these.
    from pdfalearn.exploring import draw_in, draw_texts
    from pdfalearn.models import Answers

    asked = as_model(model)
    count = check_integer(count, "count", 0)
    max_length = check_integer(max_length, "max_length", 0)
    if language is not None:
        number = int(np.random.default_rng(seed).integers(2**31)) if seed is None else seed
        found, are_whole = draw_in(asked, language, count, number, max_length, budget, progress)
        return Sample(found, ~np.array(are_whole, dtype=bool))
    if budget is not None or progress is not None:
        raise InputError("a budget and progress are for samples of a language")
    if type(asked) is AutomatonModel:  # a class of its own may answer otherwise
        return asked.pdfa.sample(count, seed, max_length)
    if type(asked) is PFA:
        return asked.sample(count, seed, max_length)
    random = np.random.default_rng() if seed is None else make_generator(seed)
    if isinstance(asked, Answers):
        return Sample(*draw_texts(asked, count, random, max_length))
    with ObservationTree(asked, Exact()) as observations:
        # Whether a word of the maximal length ends there is drawn as well, as from a PDFA.
        words = model_words(count, max_length + 1, observations, random)
    decoded = asked.alphabet.decode_words(words)
    return Sample([word[:max_length] for word in decoded], words.lengths > max_length)


def _draw_columns(nodes: Nodes, observations: ObservationTree, random: Generator) -> Codes:
    """Draw a column after every word, from what its distribution lists."""
    numbers, places = np.unique(observations.nodes.rows[nodes], return_inverse=True)
    rows = observations.answers.rows(numbers.astype(np.int64))
    if rows.columns is None or rows.offsets is None:
        cumulative = np.cumsum(rows.values, axis=1)
        return draw_columns(cumulative, places.astype(np.int32), random).astype(np.int32)
    if rows.rest is not None and rows.rest.any():
        word = shorten(observations.word(int(nodes[(rows.rests[places] > 0).argmax()])))
        raise ModelError(
            f"the model's answer to the word {word} does not list all that may follow, so no word "
            "can be drawn; wrap the model in TopK"
        )
    lengths = np.diff(rows.offsets)
    table = np.zeros((len(rows), int(lengths.max())))
    within = np.arange(len(rows.values)) - np.repeat(rows.offsets[:-1], lengths)
    table[rows.row_numbers, within] = rows.values
    listed = draw_columns(np.cumsum(table, axis=1), places.astype(np.int32), random)
    columns: Codes = rows.columns[rows.offsets[places] + np.minimum(listed, lengths[places] - 1)]
    return columns


@dataclass(frozen=True)
class HypothesisWords(_WordsUpTo):
    """Walks over the support of the hypothesis: symbols above 0, all equally likely.

    Parameters
    ----------
    max_length : int
        Walks that do not end before are cut here.
    stop : float
        The probability that a walk ends, at every state; where no symbol has a positive
        probability it ends anyway.

    Examples
    --------
    >>> walks = HypothesisWords(max_length=20, stop=0.2)
    >>> walks.name
    "walks over the automaton's support of up to 20 symbols that stop with probability 0.2"
    """

    stop: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "stop", check_share(self.stop, "stop"))

    @property
    def name(self) -> str:
        """What the words are."""
        return (
            f"walks over the automaton's support of up to {self.max_length} symbols that stop "
            f"with probability {self.stop}"
        )

    def draw(
        self, count: int, hypothesis: PDFA, observations: ObservationTree, random: Generator
    ) -> Words:
        """Draw words; nothing is asked."""
        owners, support = (hypothesis.probabilities[:, 1:] > 0).nonzero()
        sizes = np.bincount(owners, minlength=len(hypothesis))
        begins, symbols = offsets_of(sizes)[:-1], support.astype(np.int32)
        active = np.arange(count)
        states = np.full(count, hypothesis.initial, dtype=np.int64)
        steps: list[tuple[Integers, Codes]] = []
        while len(active) and len(steps) < self.max_length:
            draws = (random.random(len(active)) - self.stop) / (1 - self.stop)
            going = (draws >= 0) & (sizes[states] > 0)
            active, states, draws = active[going], states[going], draws[going]
            chosen = np.minimum((draws * sizes[states]).astype(np.int64), sizes[states] - 1)
            drawn = symbols[begins[states] + chosen]
            steps.append((active, drawn))
            states = hypothesis.transitions[states, drawn].astype(np.int64)
        return collect_words(steps, count)


class Mixture:
    """Words from several samplers, each word from one of them.

    Parameters
    ----------
    parts : iterable of (Sampler or Corpus, float)
        The samplers, each with a positive weight; weights are divided by their sum.

    Examples
    --------
    >>> from pdfalearn.samplers import UniformWords
    >>> print(Mixture([(UniformWords(5), 3), (UniformWords(9), 1)]).name)
    a mixture of 0.75 × uniform words of up to 5 symbols and 0.25 × uniform words of up to 9 symbols
    """

    def __init__(self, parts: Iterable[tuple[SamplerLike, float]]) -> None:
        try:
            pairs = [(sampler, weight) for sampler, weight in parts]
        except (TypeError, ValueError) as error:
            raise InputError(f"{parts!r} are not pairs of a sampler and a weight") from error
        if not pairs:
            raise InputError("a mixture needs at least one sampler")
        for _, weight in pairs:
            check_number(weight, "weight", 0, np.inf, is_open=True)
        self._samplers = [as_sampler(sampler) for sampler, _ in pairs]
        weights = np.array([weight for _, weight in pairs], dtype=np.float64)
        self._shares = weights / weights.sum()

    @property
    def name(self) -> str:
        """What the words are."""
        pairs = zip(self._shares.tolist(), self._samplers, strict=True)
        return f"a mixture of {' and '.join(f'{share:g} × {part.name}' for share, part in pairs)}"

    def draw(
        self, count: int, hypothesis: PDFA, observations: ObservationTree, random: Generator
    ) -> Words:
        """Draw which sampler each word comes from, then the words of each."""
        choices = random.choice(len(self._shares), size=count, p=self._shares)
        counts = np.bincount(choices, minlength=len(self._shares)).tolist()
        drawn = [
            sampler.draw(count, hypothesis, observations, random)
            for sampler, count in zip(self._samplers, counts, strict=True)
        ]
        lengths = np.concatenate([words.lengths for words in drawn])
        symbols = np.concatenate([words.symbols for words in drawn])
        places = np.argsort(np.argsort(choices, kind="stable"), kind="stable")
        return prefixes_of(Words(symbols, offsets_of(lengths)), places, lengths[places])

    def unreachable_symbols(self, alphabet: Alphabet) -> list[Symbol]:
        """Return the symbols that none of the samplers reaches."""
        missing = [set(sampler.unreachable_symbols(alphabet)) for sampler in self._samplers]
        return [symbol for symbol in alphabet if all(symbol in part for part in missing)]
