"""The models that the command line can name: files, objects of Python files, programs, LLMs."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, redirect_stdout
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

import click

import pdfalearn
from pdfalearn.cli._importing import imported
from pdfalearn.cli._llms import LLM_OPTIONS, OPTION_NAMES, is_llm, is_program, llm, program
from pdfalearn.cli._options import all_of
from pdfalearn.errors import InputError
from pdfalearn.text import described

if TYPE_CHECKING:
    from pdfalearn import PDFA, LanguageModel

    Model = PDFA | LanguageModel
    Function = Callable[..., Any]

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


_NETWORK = "RecurrentModel makes a model of a network"

model_options = all_of(
    [
        click.option(
            "--alphabet",
            metavar="SYMBOLS",
            help="The symbols of the words of a function or program: ab, or 'yes no' if they are "
            "longer.",
        ),
        click.option(
            "--by-word",
            is_flag=True,
            default=None,
            help="The function takes one word, and returns a dictionary of what may follow; $ is "
            "the end, and what is left out has probability 0.",
        ),
        *LLM_OPTIONS,
        *CONSTRAINT_OPTIONS,
        click.option(
            "--replicas",
            type=click.IntRange(min=1),
            metavar="N",
            help="Make N copies of the model, each in a process of its own, that share the "
            "words of every batch; with --scheduler: use at most N workers.",
        ),
        click.option(
            "--scheduler",
            metavar="ADDRESS",
            help="Make the copies in the workers of a Dask cluster, such as tcp://127.0.0.1:8786, "
            "which must find the model under the same name.",
        ),
        click.option(
            "--replica-timeout",
            type=click.FloatRange(min=0, min_open=True),
            metavar="SECONDS",
            help="End a copy that takes longer for its part of a batch, and ask another one.",
        ),
    ]
)
"""Adds the options that go with the name of a model."""


@dataclass(frozen=True)
class Described:
    """What the options say of models beside their names; None where an option is not given."""

    alphabet: str | None = None
    by_word: bool | None = None
    vocabulary: Path | None = None
    prompt: str | None = None
    chat: bool | None = None
    ends: tuple[str, ...] | None = None
    replicas: int | None = None
    scheduler: str | None = None
    replica_timeout: float | None = None

    @property
    def symbols(self) -> Sequence[str] | None:
        """The alphabet's symbols, which stand side by side or are separated by blanks."""
        if self.alphabet is None:
            return None
        return self.alphabet.split() if " " in self.alphabet else self.alphabet

    @classmethod
    def taken_from(cls, chosen: dict[str, Any]) -> Described:
        """Take the values of these options out of those of a command."""
        return cls(**{field.name: chosen.pop(field.name) for field in fields(cls)})


def prints_aside() -> AbstractContextManager[Any]:
    """Send what a user's code prints to the standard error: it is not part of the output."""
    return redirect_stdout(sys.stderr)


_NOTHING_SAID = Described()


def model_of(
    name: str, described_as: Described = _NOTHING_SAID, fingerprint: str | None = None
) -> Model:
    """Make a model of its name; see `models_of`."""
    return models_of([name], described_as, fingerprint)[0]


def models_of(
    names: Sequence[str], described_as: Described = _NOTHING_SAID, fingerprint: str | None = None
) -> list[Model]:
    """Make models of their names on the command line.

    Parameters
    ----------
    names : sequence of str
        Each is a file, ``FILE.py:NAME``, ``module:NAME``, ``torch:FILE.py:NAME``,
        ``command:PROGRAM``, ``hf:FOLDER`` or ``served:URL#MODEL``.
    described_as : Described
        The symbols of the words of functions and programs; and what goes with the names of LLMs.
    fingerprint : str, optional
        The fingerprint of models that have none of their own.
    """
    if described_as.replicas is not None or described_as.scheduler is not None:
        return [_replicas(name, described_as, fingerprint) for name in names]
    if described_as.replica_timeout is not None:
        raise InputError("--replica-timeout is for --replicas or --scheduler")
    alphabet = described_as.alphabet
    _check_llm_options(names, described_as)
    with prints_aside():
        things = [_found(name, described_as) for name in names]
        own = not any(map(is_program, names)) and all(map(_is_model, things))
        if alphabet is not None and own:
            raise InputError(f"--alphabet is for functions of words; {names[0]} has its own")
        if described_as.by_word and all(map(_is_model, things)):
            raise InputError(f"--by-word is for functions of words; {names[0]} is a model")
        named = zip(names, things, strict=True)
        return [_model(thing, name, described_as, fingerprint) for name, thing in named]


def _replicas(name: str, described_as: Described, fingerprint: str | None) -> LanguageModel:
    """Have copies of a model made in other processes, of its name and the same options."""
    alone = replace(described_as, replicas=None, scheduler=None, replica_timeout=None)
    make = partial(model_of, name, alone, fingerprint)
    return pdfalearn.Replicas(
        make,
        described_as.replicas,
        scheduler=described_as.scheduler,
        timeout=described_as.replica_timeout,
    )


def automaton_of(name: str) -> PDFA:
    """Make an automaton of its name, for a command that looks into it."""
    model = None if is_llm(name) or is_program(name) else looked_into(model_of(name))
    if model is None:
        raise InputError(
            f"{name} is a model that can only be asked, and here an automaton is needed: learn one "
            "with 'pdfalearn learn', or compare by words with 'pdfalearn evaluate'"
        )
    return model


def looked_into(model: Model) -> PDFA | None:
    """Return the automaton of a model; None if the model can only be asked."""
    if type(model) is pdfalearn.models.AutomatonModel:
        return model.pdfa
    return model if isinstance(model, pdfalearn.PDFA) else None


def _check_llm_options(names: Sequence[str], described_as: Described) -> None:
    for option in OPTION_NAMES:
        if getattr(described_as, option) is not None and not any(map(is_llm, names)):
            raise InputError(
                f"--{option} is for LLMs, named hf:FOLDER or served:URL#MODEL, not for {names[0]}"
            )


def _found(name: str, described_as: Described) -> Model | Function:
    """Find what a name stands for: a model, or a function of words."""
    if is_llm(name):
        return llm(name, vars(described_as))
    if is_program(name):
        return program(name, described_as.symbols)
    if name.startswith("torch:"):
        return _of_torch(name)
    place, colon, member = name.rpartition(":")
    if Path(name).exists() or not (colon and place and member.isidentifier()):
        if name.endswith(".py"):
            raise InputError(f"{name} is a Python file: name a model in it, as {name}:make_model")
        return pdfalearn.io.load_pdfa(name)
    thing = imported(place, member)
    if inspect.iscoroutinefunction(thing):
        raise InputError(f"{name} is async, and nobody would await it: name a plain function")
    if _makes(thing, has_alphabet=described_as.alphabet is not None):
        return _made(thing, name)
    return _accepted(thing, f"{name} is")


def _of_torch(name: str) -> Model | Function:
    """Return what a function of a file makes."""
    place, colon, member = name.removeprefix("torch:").rpartition(":")
    if not (colon and place.endswith(".py") and member.isidentifier()):
        raise InputError(f"{name} is not of the form torch:FILE.py:make_model")
    make = imported(place, member)
    if not callable(make):
        raise InputError(
            f"{member} in {place} is {described(make)}, not a function that makes a model"
        )
    return _made(make, name)


def _made(make: Function, name: str) -> Model | Function:
    """Call a function without arguments; return the model, or the function of words."""
    from pdfalearn.cli._explained import explained

    return _accepted(explained(make, f"{name}()")(), f"{name}() returned")


def _accepted(thing: object, subject: str) -> Model | Function:
    """Return a model or a function of words; refuse anything else."""
    if _is_model(thing):
        return thing
    if isinstance(thing, type):
        remedy = "name an object of the class, or a function without parameters that makes one"
    elif _has(thing, "state_dict"):
        remedy = _NETWORK
    elif callable(thing):
        return thing
    elif _has(thing, "alphabet") or _has(thing, "open"):
        remedy = "a class of your own has to be a subclass of LanguageModel"
    elif subject.startswith("torch:"):
        remedy = _NETWORK
    else:
        remedy = "'pdfalearn models' says what can be named"
    raise InputError(
        f"{subject} {described(thing)}, neither a LanguageModel nor a PDFA nor a function: {remedy}"
    )


def _is_model(thing: object) -> TypeGuard[Model]:
    return isinstance(thing, pdfalearn.PDFA | pdfalearn.LanguageModel)


def _has(thing: object, name: str) -> bool:
    """Return whether something has a member, without running any of its code."""
    nothing = object()
    return inspect.getattr_static(thing, name, nothing) is not nothing


def _makes(thing: object, *, has_alphabet: bool) -> TypeGuard[Function]:
    """Return whether something is to be called without arguments, as it needs none.

    With an alphabet, a function that can take words is a function of words.
    """
    if isinstance(thing, type):
        if not issubclass(thing, pdfalearn.PDFA | pdfalearn.LanguageModel):
            return False
    elif not (inspect.isroutine(thing) or isinstance(thing, partial)):
        return False
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):  # it has no signature
        return False
    if has_alphabet:
        return not parameters
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return all(one.kind in several or one.default is not one.empty for one in parameters)


def _model(
    thing: Model | Function, name: str, described_as: Described, fingerprint: str | None
) -> Model:
    """Make a model whose failures are told in one line; an automaton has none."""
    from pdfalearn.cli._explained import ExplainedModel, explained

    if isinstance(thing, pdfalearn.PDFA) or type(thing) is pdfalearn.models.AutomatonModel:
        return thing
    if isinstance(thing, pdfalearn.LanguageModel):
        return ExplainedModel(thing, name, fingerprint)
    symbols = described_as.symbols
    if symbols is None:
        raise InputError(f"{name} is a function: say with --alphabet what its symbols are")
    make = pdfalearn.FunctionModel.of_words if described_as.by_word else pdfalearn.FunctionModel
    return make(explained(thing, name), pdfalearn.Alphabet(symbols), fingerprint=fingerprint)
