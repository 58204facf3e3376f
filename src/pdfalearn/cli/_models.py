"""The models that the command line can name: files, objects of Python files, programs, LLMs."""

from __future__ import annotations

import inspect
import json
import os
import re
import signal
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeGuard, cast

import pdfalearn
from pdfalearn.cli._chosen import Chosen
from pdfalearn.cli._options import CORPUS, OF_COPIES, OF_LLMS
from pdfalearn.cli._output import print_aside
from pdfalearn.cli._user_code import ExplainedModel, explain_failures, import_object
from pdfalearn.cli._words import STANDARD_INPUT, parse_alphabet
from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.text import described

if TYPE_CHECKING:
    from pdfalearn import PDFA, LanguageModel
    from pdfalearn.cli._chosen import Model
    from pdfalearn.sampled import Samples

    Function = Callable[..., Any]
    Vocabulary = dict[str, str | list[int]]

LOCAL, SERVED, PROGRAM = "hf:", "served:", "command:"
"""What the names of such models begin with."""

_TOKENS = re.compile(r"\s*\[[\s\d,]*\]\s*", re.ASCII)
_NETWORK = "RecurrentModel makes a model of a network"


def model_of(name: str, chosen: Chosen, fingerprint: str | None = None) -> Model:
    """Make a model of its name; see `models_of`."""
    return models_of([name], chosen, fingerprint)[0]


def models_of(names: Sequence[str], chosen: Chosen, fingerprint: str | None = None) -> list[Model]:
    """Make models of their names on the command line, of which 'pdfalearn models' has a list.

    The fingerprint is that of models which have none of their own.
    """
    if chosen.replicas is not None or chosen.scheduler is not None:
        # Copies are made in other processes, of the name and the same options.
        settings = {"scheduler": chosen.scheduler, "timeout": chosen.replica_timeout}
        alone = Chosen(**(vars(chosen) | dict.fromkeys(OF_COPIES)))
        makers = [partial(model_of, name, alone, fingerprint) for name in names]
        return [pdfalearn.Replicas(make, chosen.replicas, **settings) for make in makers]
    if chosen.replica_timeout is not None:
        raise InputError("--replica-timeout is for --replicas or --scheduler")
    for option in chosen.collect_given(OF_LLMS):
        if not any(map(is_llm, names)):
            raise InputError(
                f"--{option} is for LLMs, named hf:FOLDER or served:URL#MODEL, not for {names[0]}"
            )
    things = [_find(name, chosen) for name in names]
    # One alphabet is for all: it is of use if a single one of the models needs it.
    own = not any(map(is_program, names)) and all(map(_is_model, things))
    if chosen.alphabet is not None and own:
        raise InputError(f"--alphabet is for functions of words; {names[0]} has its own")
    if chosen.by_word and all(map(_is_model, things)):
        raise InputError(f"--by-word is for functions of words; {names[0]} is a model")
    named = zip(names, things, strict=True)
    return [_model(thing, name, chosen, fingerprint) for name, thing in named]


def find_samples(name: str) -> Samples | None:
    """Return the `Samples` that a name stands for; None if it stands for anything else."""
    place, _, member = name.rpartition(":")
    is_other = is_llm(name) or is_program(name) or name.startswith("torch:")
    if is_other or Path(name).exists() or not (place and member.isidentifier()):
        return None
    from pdfalearn.sampled import Samples

    thing = import_object(place, member)
    if not isinstance(thing, Samples):
        return None
    return Samples(explain_failures(thing.function, name), thing.alphabet, most=thing.most)


def names_words(name: str, chosen: Chosen) -> bool:
    """Return whether a name is that of a file of words, and not of a model."""
    if name == STANDARD_INPUT or chosen.collect_given(CORPUS):
        return True
    place, _, member = name.rpartition(":")
    is_file = Path(name).exists() or not (place and member.isidentifier())
    is_other = is_llm(name) or is_program(name) or name.endswith(".py")
    return is_file and not is_other and not pdfalearn.io.can_load(name)


def look_into(model: Model) -> PDFA | None:
    """Return the automaton of a model; None if the model can only be asked."""
    if type(model) is pdfalearn.models.AutomatonModel:
        return model.pdfa
    return model if isinstance(model, pdfalearn.PDFA) else None


def _find(name: str, chosen: Chosen) -> Model | Function:
    """Find what a name stands for: a model, or a function of words."""
    if is_llm(name):
        return _make_llm(name, chosen.collect_given(OF_LLMS))
    if is_program(name):
        return _make_program(name, _symbols(chosen, f"{name} is a program"))
    is_network = name.startswith("torch:")
    place, _, member = name.removeprefix("torch:").rpartition(":")
    if is_network and not (place.endswith(".py") and member.isidentifier()):
        raise InputError(f"{name} is not of the form torch:FILE.py:make_model")
    # A file may have a colon in its name.
    if Path(name).exists() or not (place and member.isidentifier()):
        if name.endswith(".py"):
            raise InputError(f"{name} is a Python file: name a model in it, as {name}:make_model")
        if Path(name).is_file() and not pdfalearn.io.can_load(name):
            raise InputError(
                f"{name} is not a file of an automaton; if it has words, see 'pdfalearn distill'"
            )
        return pdfalearn.io.load_model(name)
    thing = import_object(place, member)
    if inspect.iscoroutinefunction(thing):
        raise InputError(f"{name} is async, and nobody would await it: name a plain function")
    if is_network and not callable(thing):
        raise InputError(
            f"{member} in {place} is {described(thing)}, not a function that makes a model"
        )
    if is_network or _makes(thing, has_alphabet=chosen.alphabet is not None):
        made = explain_failures(cast("Function", thing), f"{name}()")()
        return _accept(made, f"{name}() returned")
    return _accept(thing, f"{name} is")


def _accept(thing: object, subject: str) -> Model | Function:
    """Return a model or a function of words; refuse anything else."""
    if _is_model(thing):
        return thing
    from pdfalearn.sampled import Samples

    if isinstance(thing, Samples):
        remedy = "'pdfalearn learn' and 'pdfalearn distill' take it"
    elif isinstance(thing, type):
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


def _makes(thing: object, *, has_alphabet: bool) -> bool:
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


def _model(thing: Model | Function, name: str, chosen: Chosen, fingerprint: str | None) -> Model:
    """Make a model whose failures are explained in one line; an automaton has none."""
    known = (pdfalearn.PDFA, pdfalearn.models.WFA)
    if isinstance(thing, known) or type(thing) is pdfalearn.models.AutomatonModel:
        return thing
    if isinstance(thing, pdfalearn.LanguageModel):
        return ExplainedModel(thing, name, fingerprint)
    symbols = _symbols(chosen, f"{name} is a function")
    make = pdfalearn.FunctionModel.of_words if chosen.by_word else pdfalearn.FunctionModel
    function = explain_failures(thing, name)
    return make(function, pdfalearn.Alphabet(symbols), fingerprint=fingerprint)


def _symbols(chosen: Chosen, subject: str) -> list[str]:
    if chosen.alphabet is None:
        raise InputError(f"{subject}: say with --alphabet what its symbols are")
    return parse_alphabet(chosen.alphabet)


def is_llm(name: str) -> bool:
    """Return whether a name is that of an LLM."""
    return name.startswith((LOCAL, SERVED))


def is_program(name: str) -> bool:
    """Return whether a name is that of a program."""
    return name.startswith(PROGRAM)


def _make_llm(name: str, options: dict[str, Any]) -> LanguageModel:
    """Make a model of ``hf:FOLDER`` or ``served:URL#MODEL`` and the options that were given."""
    if "vocabulary" not in options:
        raise InputError("an LLM needs --vocabulary FILE, which says what its symbols are")
    symbols = _read_vocabulary(options.pop("vocabulary"))
    if "ends" in options:
        options["ends"] = read_ends(options["ends"])
    with _warnings_as_notes():
        if name.startswith(LOCAL):
            folder = name.removeprefix(LOCAL)
            if not folder:
                raise InputError(f"{name} is not of the form hf:FOLDER, as in hf:my_llm")
            return pdfalearn.TransformerModel(folder, None, symbols, **options)
        return pdfalearn.ServedModel(*parse_served(name), symbols, **options)


def parse_served(name: str) -> tuple[str, str]:
    """Return the URL of ``served:URL#MODEL``, and what the server calls the model."""
    url, _, model = name.removeprefix(SERVED).partition("#")
    if not (url and model):
        # It does not repeat the name, which may hold a secret.
        form = "served:URL#MODEL, as in served:http://127.0.0.1:8000#my-model"
        raise InputError(f"a served model is named {form}")
    return url, model


def _read_vocabulary(path: Path) -> Vocabulary:
    """Read the symbols of an LLM's words with their texts or tokens; empty lines are left out."""
    read = pdfalearn.io.WordLines.read(path)
    symbols: Vocabulary = {}
    for number, line in enumerate(read.lines, 1):
        if not line:
            continue
        name, tab, text = line.partition("\t")
        if not (name and (text or not tab)):
            raise FileFormatError(
                f"{read.name}, line {number}: a name, a tab, and a text or tokens are needed"
            )
        if name in symbols:
            raise FileFormatError(f"{read.name}, line {number}: the symbol {name!r} is there twice")
        symbols[name] = _text_or_tokens(text) if tab else name
    if not symbols:
        raise FileFormatError(f"{read.name} is empty; write a symbol a line")
    return symbols


def read_ends(given: tuple[str, ...]) -> str | list[str | int]:
    """Read what ends an LLM's words."""
    if given == ("rest",):
        return "rest"
    if "rest" in given:
        raise InputError("--ends rest are all tokens that no symbol begins with: give no other end")
    read = [_text_or_tokens(end) for end in given]
    return [end for one in read for end in ([one] if isinstance(one, str) else one)]


def _text_or_tokens(text: str) -> str | list[int]:
    """Read tokens, as in [12, 7]; anything else is a text."""
    if not _TOKENS.fullmatch(text):
        return text
    try:
        tokens: list[int] = json.loads(text)
    except ValueError as error:
        raise InputError(f"{text} is not a list of tokens, as in [12, 7]") from error
    return tokens


@contextmanager
def _warnings_as_notes() -> Iterator[None]:
    """Print each warning that is raised while a model is made as a note of one line."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for warning in caught:
        print_aside(f"note: {warning.message}")


def _make_program(name: str, symbols: Iterable[str]) -> LanguageModel:
    """Make a model of ``command:`` and a program, which ends if this process is asked to end."""
    model = pdfalearn.ProgramModel(name.removeprefix(PROGRAM), symbols)
    # Programs are in process groups of their own, which no signal to this process reaches.
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, _end_with_programs)
    return model


def _end_with_programs(number: int, _frame: FrameType | None) -> None:
    from pdfalearn.models import end_all

    end_all()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
