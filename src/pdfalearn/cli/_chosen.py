"""The chosen options of a command, and the one place that makes models and the like of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

import pdfalearn
from pdfalearn.cli import _options as options
from pdfalearn.cli._words import parse_alphabet, read_corpus, regex_or_dfa
from pdfalearn.errors import InputError

if TYPE_CHECKING:
    from pdfalearn import PDFA, Budget, Corpus, LanguageModel
    from pdfalearn.displays import ProgressLine
    from pdfalearn.equivalence import Relation
    from pdfalearn.oracles import EquivalenceOracle
    from pdfalearn.samplers import SamplerLike

    Model = PDFA | LanguageModel

# The endings of files that hold all of a run or a frontier, or show it.
_WHOLE = (".zip", ".html")


_EQUIVALENCES = {
    "exact": ("Exact", str),
    "quantization": ("Quantization", int),
    "topk": ("TopKSet", int),
    "ranking": ("Ranking", int),
    "support": ("Support", float),
}


def _equivalence_of(text: str) -> Any:
    """Make an equivalence of what --equivalence says."""
    from pdfalearn import equivalence

    plain = text.removesuffix("+zero")
    name, _, argument = plain.partition(":")
    made: Any
    if name in _EQUIVALENCES:
        kind, convert = _EQUIVALENCES[name]
        try:
            given = [convert(argument)] if argument else []
            made = getattr(equivalence, kind)(*given)
        except (TypeError, ValueError) as error:
            reason = f": {error}" if isinstance(error, InputError) else "; write it as topk:5"
            raise InputError(f"--equivalence {text} has no right number{reason}") from error
    elif argument:
        from pdfalearn.cli._user_code import explain_failures, import_object

        place, _, name = plain.rpartition(":")
        made = import_object(place, name)
        if not isinstance(made, equivalence.Equivalence):
            made = equivalence.KeyFunction(explain_failures(made, plain))
    else:
        raise InputError(
            f"there is no equivalence {text!r}; there are {', '.join(_EQUIVALENCES)} and "
            "FILE.py:FUNCTION"
        )
    return made if plain == text else equivalence.ZeroApart(made)


class Chosen(SimpleNamespace):
    """The values of a command's options and arguments, by their names.

    An option that the command does not take, or that was not given, is None.
    """

    kappa: Any  # which may get a default

    def __getattr__(self, name: str) -> Any:
        # It is called for what is not there; names that are no options are mistakes.
        if name in options.OPTIONS:
            return None
        raise AttributeError(name)

    def collect_given(self, names: Iterable[str]) -> dict[str, Any]:
        """Return those of some options that were given, with their values."""
        return {
            name: value
            for name, value in self.collect(*names).items()
            if value is not None and value is not False and value != ()
        }

    def collect(self, *names: str) -> dict[str, Any]:
        """Return the values of some options and arguments by their names."""
        return {name: getattr(self, name) for name in names}

    def make_relation(self, kappa: int | None = None) -> Any:
        """Make the equivalence, or the similarity of --tolerance; a default if nothing is given."""
        self.refuse_several(*options.RELATION)
        # The default is written down as if it had been given: what is printed names it.
        if not self.collect_given(options.RELATION):
            self.kappa = kappa
        if self.equivalence is not None:
            return _equivalence_of(self.equivalence)
        if self.tolerance is not None:
            return pdfalearn.Tolerance(self.tolerance)
        return pdfalearn.Exact() if self.kappa is None else pdfalearn.Quantization(self.kappa)

    def make_model(self, name: str) -> Model:
        """Make the model of a name, in the wrappers that are asked for."""
        from pdfalearn.cli._models import model_of

        # A name in the store stands for the model without wrappers: with others it is another one.
        fingerprint = self.model_id if self.collect_given(options.WRAPPERS) else None
        return self.wrap(model_of(name, self, fingerprint))

    def wrap(self, model: Model) -> Model:
        """Put a model into the wrappers, in the order that is usual for sampling."""
        for name, value in self.collect_given(options.WRAPPERS).items():
            value = regex_or_dfa(value) if name == "guide" else value
            model = getattr(pdfalearn, options.WRAPPERS[name])(model, value)
        return model

    def make_budget(self) -> Budget | None:
        """Make the budget of the bounds; None without any."""
        bounds = self.collect_given(options.BUDGET)
        return pdfalearn.Budget(**bounds) if bounds else None

    def make_spending(self) -> Budget:
        """Make the budget of what is asked in all."""
        bounds = self.collect_given(options.SPENDING) or {"symbols": options.DEFAULT_SYMBOLS}
        return pdfalearn.Budget(**{f"max_{name}": bound for name, bound in bounds.items()})

    def make_corpus(self, given: str | Path | tuple[str, ...]) -> Corpus:
        """Make the corpus of files, or of the standard input, as the options say."""
        settings = self.collect_given(options.CORPUS)
        if self.alphabet is not None:
            settings["alphabet"] = parse_alphabet(self.alphabet)
        return read_corpus(given, **settings)

    def make_sampler(self) -> SamplerLike | None:
        """Make what draws words by --max-length or --corpus; None for the default."""
        if self.corpus is None:
            length = self.cut_length
            return None if length is None else pdfalearn.samplers.ModelWords(length)
        if self.cut_length is not None:
            raise click.UsageError("--max-length is for words of the model, not for --corpus.")
        return self.make_corpus(self.corpus)

    def make_oracles(self, model: Model) -> Callable[[Relation], EquivalenceOracle]:
        """Return a function that makes the oracle of a relation; files are read once for all."""
        from pdfalearn.learning import DELTA, EPSILON, MAX_LENGTH, default_oracle
        from pdfalearn.models import wrapped_pdfa

        is_known = isinstance(model, pdfalearn.PDFA) or wrapped_pdfa(model) is not None
        if self.oracle == "exact" and not is_known:
            raise InputError(
                "--oracle exact needs a PDFA that can be looked into; use pac, walks or words"
            )
        kind = self.oracle or ("exact" if is_known else "pac")
        # Where nothing is said, there is one default for the command line and the library.
        if kind == "exact" or not self.collect_given(options.ORACLE):
            return lambda relation: default_oracle(model, relation, self.seed)
        oracles, length = pdfalearn.oracles, self.max_length
        length = MAX_LENGTH if length is None else length
        walks = {
            "walks_per_state": self.walks_per_state or options.WALKS_PER_STATE,
            "walk_length": length,
            "seed": self.seed,
        }
        extra = 1 if self.extra_states is None else self.extra_states
        make: dict[str, Callable[[], EquivalenceOracle]] = {
            "words": partial(oracles.AllWordsOracle, length),
            "walks": partial(oracles.StatePrefixOracle, **walks),
            "random-wp": partial(oracles.RandomWpOracle, **walks),
            "w": partial(oracles.WOracle, extra_states=extra),
            "wp": partial(oracles.WpOracle, extra_states=extra),
        }
        if kind in ("pac", "mixed"):
            # A sweep makes many oracles, and the standard input can be read once only.
            sampler = self._make_test_sampler(model, length)
            shares = {"epsilon": EPSILON, "delta": DELTA} | self.collect_given(("epsilon", "delta"))
            make["pac"] = partial(oracles.PACOracle, **shares, sampler=sampler, seed=self.seed)
        kinds = ("pac", "walks", "random-wp")
        make["mixed"] = lambda: oracles.MixedOracle(*(make[each]() for each in kinds))
        return lambda _relation: oracles.ChainOracle(oracles.KnownAnswersOracle(), make[kind]())

    def _make_test_sampler(self, model: Model, length: int) -> SamplerLike:
        """Mix the samplers; without any, the one that the default oracle has."""
        samplers = pdfalearn.samplers
        kinds: dict[str, Callable[[int], Any]] = {
            "uniform": samplers.UniformWords,
            "model": samplers.ModelWords,
            "hypothesis": samplers.HypothesisWords,
        }
        is_constrained = not isinstance(model, pdfalearn.PDFA) and model.is_constrained
        usual = "hypothesis" if is_constrained else "uniform"
        parts = [
            kinds[name](length) if name in kinds else read_corpus(name)
            for name in self.samplers or (usual,)
        ]
        return parts[0] if len(parts) == 1 else samplers.Mixture([(part, 1) for part in parts])

    def show_progress(
        self, line: ProgressLine
    ) -> AbstractContextManager[Callable[..., None] | None]:
        """Return a context in which a line is shown; it gives what to call with progress."""
        from pdfalearn.displays import logged, renewed

        seconds = self.log_every
        if seconds == 0 or (self.json and seconds is None):
            return nullcontext()
        return renewed(line, stays=False) if seconds is None else logged(line, seconds)

    def refuse(self, names: Iterable[str], text: str) -> None:
        """Refuse each of some options that was given; the text goes on behind its name."""
        for name in self.collect_given(names):
            raise click.UsageError(f"{options.flag_of(name)} {text}")

    def refuse_several(self, *names: str) -> None:
        """Refuse more than one of some options."""
        if len(self.collect_given(names)) > 1:
            *first, last = map(options.flag_of, names)
            raise click.UsageError(f"Give only one of {', '.join(first)} and {last}.")

    def refuse_overwriting(self, *inputs: object) -> None:
        """Refuse before a run to overwrite what is read, or to write two things to one file."""
        outputs = self.collect_given(("output", "tree", "plot"))
        paths = [path.resolve() for path in outputs.values()]
        needed = {Path(str(one)).resolve() for one in inputs if one is not None}
        if len(set(paths)) < len(paths) or needed.intersection(paths):
            names = " and ".join("-o" if one == "output" else f"--{one}" for one in outputs)
            each = "each " if len(paths) > 1 else ""
            raise InputError(f"{names} {each}has to be a file of its own, other than what is read")

    def check_output(self, whole: type | None = None) -> bool:
        """Refuse before anything is computed what could not be written after it.

        Return whether the file is for the whole result of this type, rather than an automaton.
        """
        is_whole = whole is not None and self.output.name.lower().endswith(_WHOLE)
        pdfalearn.io.check_can_save(self.output, whole if whole and is_whole else pdfalearn.PDFA)
        return is_whole


def read_automaton(name: str) -> PDFA:
    """Make an automaton of its name, for a command that looks into it."""
    from pdfalearn.cli._models import is_llm, is_program, look_into, model_of

    is_asked = is_llm(name) or is_program(name)
    model = None if is_asked else model_of(name, Chosen())
    pdfa = None if model is None else look_into(model)
    if pdfa is None:
        what, needed = "a model that can only be asked", "an automaton"
        if isinstance(model, pdfalearn.models.WFA):
            what, needed = "an automaton that is not deterministic", "a deterministic one"
        raise InputError(
            f"{name} is {what}, and here {needed} is needed: learn one with 'pdfalearn learn', "
            "distill one with 'pdfalearn distill', or compare by words with 'pdfalearn evaluate'"
        )
    return pdfa


def read_with_scope(name: str) -> tuple[PDFA, list[str]]:
    """Make an automaton of its name; of a frontier's file return also of what answers are exact."""
    from pdfalearn.results import Frontier, scope_text

    thing = read_whole(name)
    if isinstance(thing, Frontier):
        return thing.best, [scope_text(thing)]
    return read_automaton(name), []


def read_whole(name: str) -> object:
    """Return the run or the frontier of a file, or None for any other model."""
    return pdfalearn.load(name) if name.lower().endswith(".zip") and Path(name).is_file() else None


def save_pdfa(pdfa: PDFA, path: Path, whole: object = None) -> None:
    """Save a PDFA, or the whole that it is of; where that fails, the PDFA is saved as .npz."""
    try:
        pdfalearn.save(pdfa if whole is None else whole, path)
    except InputError as error:
        instead = path.with_name(f"{path.name}.npz")
        pdfalearn.save(pdfa, instead)
        raise InputError(f"{path}: {error}; saved as {instead} instead") from error
