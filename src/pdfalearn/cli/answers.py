"""``pdfalearn ask answers`` and ``drift``: certain bounds on what live models answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

import pdfalearn
from pdfalearn.cli._chosen import Chosen
from pdfalearn.cli._commands import LongRun, Output, command
from pdfalearn.cli._failures import BAD_INPUT
from pdfalearn.cli._options import MODEL, option
from pdfalearn.cli._output import Answer, Table, facts, members_of
from pdfalearn.cli._words import regex_or_dfa
from pdfalearn.cli.ask import ask
from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.text import shorten

if TYPE_CHECKING:
    from pdfalearn.cli._chosen import Model
    from pdfalearn.exploring import Draws, Drift, Exploration
    from pdfalearn.languages import LanguageLike

Thing = TypeVar("Thing")
_QUESTION = ("classes", "matches", "begins", "contains", "within", "cut_ends", "stop")
_BOUNDS = ("precision", "max_words", "max_seconds")
_EXIT = {True: 0, False: 1, None: 3}
# Options of other models that an LLM over all its tokens does not have.
_OF_SYMBOLS = ("alphabet", "by_word", "guide", "replicas", "scheduler", "replica_timeout")
_OF_TOKENS = ("prompts", "tokenizer")
_DRAWING = ("temperature", "top_k", "top_p")
_FORMAT = b'{"format": "pdfalearn answers"'
_OPEN = "open"
_PAGE = "Write an interactive page: .html."


@command(
    "MODEL",
    *_QUESTION,
    "at_least",
    *_BOUNDS,
    "likeliest_count instead drawn seed prompts tokenizer store model_id saved",
    *MODEL,
    "log_every",
    option("output", _PAGE),
    into=ask,
)
def answers(chosen: Chosen) -> LongRun[Exploration]:
    """Bound how likely a live model answers in some way.

    MODEL is named as 'pdfalearn models' says, and need not be an automaton. An LLM without
    --vocabulary, hf:FOLDER, or served:URL#MODEL with --tokenizer, is asked over all of its tokens,
    and languages are then about text. What a server does not tell is open.

    The bounds are certain, about this model as it computes here; what is open lies between them.
    Exploring stops when they are near, when a budget is spent, or when --at-least is settled, which
    suits tests. Ctrl-C prints the bounds so far.

    Examples
    --------
    $ pdfalearn ask answers target.json --matches '0.*1' --gap 0.001
    $ pdfalearn ask answers target.json --class 'a=0.*' --class 'b=.*1' --begins --likeliest 3
    $ pdfalearn ask answers target.json --matches '0.*' --begins --at-least 0.2 --json
    $ pdfalearn ask answers target.json --matches '0.*1' -o answers.html
    $ pdfalearn ask answers hf:my_llm --chat --prompt 'Is water wet?' --begins
        --class 'yes=(?i) *yes' --class 'no=(?i) *no' --instead 5
    $ pdfalearn ask answers 'served:http://127.0.0.1:8000#my-llm' --tokenizer my_llm --chat
        --prompt 'Is water wet?' --begins --matches '(?i) *yes'
    """
    from pdfalearn.exploring import SAVERS
    from pdfalearn.files import check_can_write

    if chosen.saved is not None:
        check_can_write(chosen.saved, SAVERS)
    model = make_live(chosen.model, chosen)
    store = {"store": chosen.store, "model_id": chosen.model_id}
    settings = {**_question(chosen), **store, "at_least": chosen.at_least}
    languages = _languages(chosen)
    drawn: list[Draws | InputError] = []

    def run(**progress: Any) -> Exploration:
        found = pdfalearn.explore(model, languages, **settings, **progress)
        if chosen.drawn:
            budget = settings["budget"]
            try:
                drawn.append(found.sample(chosen.drawn, seed=chosen.seed, budget=budget))
            except InputError as error:  # the bounds are not lost
                drawn.append(error)
        return found

    return long_run(run, partial(_describe, chosen, drawn), "exploration", chosen.output)


@command(
    "A B",
    *_QUESTION,
    option(
        "tolerance",
        "Stop when it is settled whether the classes are this near: the exit code is 0 if they "
        "are, 1 if they are not, 3 if that is open.",
    ),
    *_BOUNDS,
    "count prompts tokenizer",
    *MODEL,
    "log_every",
    option("output", _PAGE),
)
def drift(chosen: Chosen) -> LongRun[Drift]:
    """Bound how far two live models are apart.

    A and B are models over the same symbols: two checkpoints, quantisations or settings. Both are
    explored together. The bounds on total variation are certain, of the classes that are given and
    of whole answers, and are widened by what rounding does. What follows after a class is settled
    is not looked at, so that the upper bound of answers may stay wide.

    One of them may be a file that 'pdfalearn ask answers' wrote with --save or --store. Without
    --class and --matches the question, prompts and stops are those of the file.

    Examples
    --------
    $ pdfalearn drift target.json learnt.json --matches '0.*1'
    $ pdfalearn drift target.json learnt.json --matches '0.*' --begins --tolerance 0.02
    $ pdfalearn ask answers target.json --matches '0.*1' --save march.jsonl
    $ pdfalearn drift march.jsonl target.json
    $ pdfalearn drift hf:old hf:new --chat --prompt 'Is water wet?' --begins --class 'yes=(?i) *yes'
    """
    from pdfalearn.exploring import Baseline

    names = chosen.a, chosen.b
    stored = [Path(name) for name in names if _has_answers(Path(name))]
    question = Baseline(stored[0]).question if stored else None
    one, other = (
        Path(name) if Path(name) in stored else make_live(name, chosen, question) for name in names
    )
    settings = {**_question(chosen), "tolerance": chosen.tolerance, "count": chosen.count}
    is_asked = not stored or chosen.classes or chosen.matches is not None
    run = partial(pdfalearn.drift, one, other, _languages(chosen) if is_asked else None, **settings)
    return long_run(run, partial(_describe_drift, chosen), "drift", chosen.output)


def long_run(
    run: Callable[..., Thing],
    describe: Callable[[Thing], Answer],
    attached: str,
    page: Path | None = None,
) -> LongRun[Thing]:
    """Return a run that asks a live model, and may write a page."""
    from pdfalearn.displays import ExploringLine

    outputs = list[Output[Thing]]()
    if page is not None:
        pdfalearn.io.check_can_save(page, pdfalearn.exploring.Exploration)
        outputs.append(Output(page, "the page", lambda found: pdfalearn.save(found, page)))
    line, before = ExploringLine(), "anything was asked"
    return LongRun(run, line, describe, attached, before, outputs, interruption="interrupted")


def _has_answers(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_FORMAT)) == _FORMAT


def make_live(name: str, chosen: Chosen, question: dict[str, Any] | None = None) -> Model:
    """Make a model; an LLM without a vocabulary is one over all of its tokens.

    Prompts, ends and stops are those of a stored question if none are given.
    """
    from pdfalearn.cli._models import LOCAL, SERVED, is_llm, parse_served, read_ends

    if not is_llm(name) or chosen.vocabulary is not None:
        chosen.refuse(_OF_TOKENS, "is for LLMs, hf:FOLDER or served:URL#MODEL, and all tokens.")
        return chosen.make_model(name)
    chosen.refuse(_OF_SYMBOLS, "is not for an LLM over all tokens.")
    is_served = name.startswith(SERVED)
    if is_served:
        chosen.refuse(_DRAWING, "is not for a server, which tells the model's own distribution.")
        if chosen.tokenizer is None:
            raise InputError(
                "for a served LLM give --tokenizer FOLDER, the model's, to ask it over all tokens, "
                "or --vocabulary FILE"
            )
    elif not any(str(one).startswith(SERVED) for one in vars(chosen).values()):
        chosen.refuse(["tokenizer"], "is for a served LLM; a folder has its own.")
    options = chosen.collect_given(("chat", "stop", *_DRAWING))
    if chosen.ends:
        options["ends"] = read_ends(chosen.ends)
    if question is not None:
        options = {"ends": question["ends"], "stop": question["stops"]} | options
    if chosen.prompts is not None:
        options["prompts"] = _read_prompts(chosen.prompts)
    elif question is not None and chosen.prompt is None:
        begin = question["prompt"]
        options["prompts"] = {name: begin + word for name, word in question["prompts"].items()}
        options.pop("chat", None)  # these are tokens, behind any template
    options["prompt"] = chosen.prompt or ""
    if is_served:
        return pdfalearn.models.ServedAnswers(*parse_served(name), chosen.tokenizer, **options)
    return pdfalearn.Answers(name.removeprefix(LOCAL), **options)


def _read_prompts(path: Path) -> list[Any]:
    """Read prompts, a line of JSON each."""
    prompts = []
    for number, line in enumerate(pdfalearn.io.WordLines.read(path).lines, 1):
        try:
            prompts.append(json.loads(line))
        except ValueError as error:
            raise FileFormatError(
                f'{path}, line {number} is not JSON: write a text in quotes, as "Is water wet?"'
            ) from error
    return prompts


def _languages(chosen: Chosen) -> LanguageLike | dict[str, LanguageLike]:
    named: dict[str, LanguageLike] = {}
    for given in chosen.classes:
        name, sign, pattern = given.partition("=")
        if not (name and sign) or name in named:
            raise InputError(f"--class {given!r} is not NAME=REGEX, with a name of its own")
        named[name] = regex_or_dfa(pattern)
    if bool(named) == (chosen.matches is not None):
        raise click.UsageError("Give either --class, once or several times, or --matches.")
    return named or regex_or_dfa(chosen.matches)


def _question(chosen: Chosen) -> dict[str, Any]:
    chosen.refuse_several("begins", "contains")
    match = "begins" if chosen.begins else "contains" if chosen.contains else "whole"
    question = {"match": match, "within": chosen.within, "cut_ends": chosen.cut_ends}
    return question | limits_of(chosen)


def limits_of(chosen: Chosen) -> dict[str, Any]:
    """Return the gap and the budget that are asked for."""
    bounds = chosen.collect_given(("max_words", "max_seconds"))
    budget = pdfalearn.Budget(**bounds) if bounds else None
    return {"gap": chosen.precision, "budget": budget}


def _describe(chosen: Chosen, drawn: list[Draws | InputError], found: Exploration) -> Answer:
    members: dict[str, Any] = {"model": chosen.model}
    members |= members_of(found, "low", "high", "calls", "stopped", "control", "cut")
    members[_OPEN] = dict(found.open)
    classes = {name: found[name] for name in found.names}
    members["classes"] = {name: members_of(one, "low", "high") for name, one in classes.items()}
    header = "", "at least", "at most"
    parts = [Table(chosen.model, header, _shortened(found.languages_table()))]
    exit_code = 0
    if len(found.prompts) > 1:
        members["prompts"] = [
            {
                "prompt": one.prompts[0],
                **members_of(one, "low", "high"),
                "classes": {name: members_of(one[name], "low", "high") for name in one.names},
            }
            for one in map(found.behind, found.prompts)
        ]
        parts.append(Table("any match, by prompt", header, _shortened(found.prompts_table())))
    else:
        for title, count, make in (
            ("likeliest", chosen.likeliest_count, found.likeliest),
            ("instead", chosen.instead, found.instead),
        ):
            if count:
                listed = make(count)
                members[title] = [vars(one) for one in listed]
                lines = [(repr(one.word), one.probability, one.certified) for one in listed]
                parts.append(Table(title, ("answer", "probability", "certified"), lines))
    notes = list[str]()
    if found.open["beyond context"]:
        notes.append("the model's context was reached: --within bounds how long answers are")
    for draws in drawn:
        if isinstance(draws, InputError):
            exit_code = BAD_INPUT
            notes.append(f"no answers were drawn: {draws}")
            continue
        members["sample"] = draws._asdict()
        lines_of = zip(map(repr, draws.words), draws.are_whole, strict=True)
        parts.append(Table("sample", ("answer", "whole"), lines_of))
    told: dict[str, object] = {
        "open": ", ".join(f"{kind} {mass:.3g}" for kind, mass in found.open.items() if mass),
        **found.asides,
        "calls": found.calls,
        "stopped by": found.stopped,
    }
    if chosen.at_least is not None:
        verdict = found.is_at_least(chosen.at_least)
        members["at_least"], members["verdict"] = chosen.at_least, verdict
        exit_code = exit_code or int(_EXIT[verdict])
        told[f"at least {chosen.at_least:g}"] = _OPEN if verdict is None else verdict
    parts.append(facts("what is known", told))
    if chosen.saved is not None:
        found.save(chosen.saved, model_id=chosen.model_id)
    found.close()
    return Answer(members, parts, notes, exit_code)


def _shortened(rows: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [(shorten(name, 60), *values) for name, *values in rows]


def _describe_drift(chosen: Chosen, found: Drift) -> Answer:
    members: dict[str, Any] = {"a": chosen.a, "b": chosen.b}
    members |= vars(found)
    members["prompts"] = list(map(vars, found.prompts))
    members["differences"] = list(map(vars, found.differences))
    header = ("total variation", "classes from", "to", "answers from", "to")
    rows = _shortened(tuple(vars(one).values()) for one in found.prompts)
    lines = [(one.describe(repr(one.word)), one.a, one.b, one.share) for one in found.differences]
    told: dict[str, object] = {"noise": found.describe_noise()}
    told |= members_of(found, "calls", "stopped")
    exit_code = 0
    if (tolerance := chosen.tolerance) is not None:
        verdict = found.is_within(tolerance)
        members["tolerance"], members["verdict"] = tolerance, verdict
        exit_code = _EXIT[verdict]
        told[f"within {tolerance:g}"] = _OPEN if verdict is None else verdict
    parts = [
        Table(f"A: {chosen.a}, B: {chosen.b}", header, rows),
        Table("what differs most", ("answer", "A", "B", "share"), lines),
        facts("what is known", told),
    ]
    return Answer(members, parts, exit_code=exit_code)
