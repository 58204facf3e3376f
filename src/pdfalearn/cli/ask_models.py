"""``pdfalearn ask probability`` and ``ask likeliest``, of automata, frontiers and live models."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

import pdfalearn
from pdfalearn.cli._chosen import Chosen, read_whole
from pdfalearn.cli._commands import LongRun, command
from pdfalearn.cli._options import MODEL, option
from pdfalearn.cli._output import Answer, Table, format_value
from pdfalearn.cli._words import language_of, regex_or_dfa
from pdfalearn.cli.answers import limits_of, long_run, make_live
from pdfalearn.cli.ask import ask as ask
from pdfalearn.cli.ask import states_text
from pdfalearn.text import are_characters, short_word_text


@command(
    "MODEL LANGUAGE form given",
    option("precision", "Bounds of a live model that are this near are enough.", default=0.001),
    "max_words max_seconds tokenizer",
    *MODEL,
    "log_every",
    into=ask,
)
def probability(chosen: Chosen) -> Answer | LongRun[Any]:
    """Compute or bound the probability that a word is in a language.

    Of an automaton it is exact. Words that never end are in no language; if there are such words, a
    line says how likely they are. Any other model is asked until two certain bounds are near; of an
    LLM without --vocabulary, languages are about text. The file of a frontier (.zip) answers for
    the model that it was distilled from, by an interval, and says what is exact of its automaton.

    Examples
    --------
    $ pdfalearn ask probability target.json '0.*1'
    $ pdfalearn ask probability target.json '.{0,3}' --given '0.*' --json
    $ pdfalearn ask probability target.json 011 --as contains
    $ pdfalearn ask probability my_file.py:make_model 'a*' --gap 0.0001
    $ pdfalearn distill target.json --symbols 2000 -o frontier.zip
    $ pdfalearn ask probability frontier.zip '0.*1'
    """
    model, language, notes = _read_any(chosen)
    given = regex_or_dfa(chosen.given)
    if not isinstance(model, pdfalearn.PDFA):
        run = partial(pdfalearn.probability, model, language, given, **limits_of(chosen))
        return long_run(run, partial(_describe_bounds, chosen), "exploration")
    value = pdfalearn.probability(model, language, given)
    lengths = pdfalearn.analysis.length(model)
    parts = [format_value(value)]
    if lengths.endless_mass:
        states = states_text(lengths.endless_states)
        parts.append(f"{format_value(lengths.endless_mass)} of all words never end{states}")
    members = {"probability": value, "never_end": lengths.endless_mass}
    return Answer({**_asked_members(chosen), **members}, parts, notes)


@command(
    "MODEL count language prefixes max_words max_seconds tokenizer", *MODEL, "log_every", into=ask
)
def likeliest(chosen: Chosen) -> Answer | LongRun[Any]:
    """Find the likeliest words.

    Those of an automaton are in exact order; equally likely ones come by length, then in the order
    of the alphabet. Any other model is explored; what is not certified may have likelier words
    beside it that were not found.

    Examples
    --------
    $ pdfalearn ask likeliest target.json --count 3
    $ pdfalearn ask likeliest target.json --language '0.*' --json
    $ pdfalearn ask likeliest target.json --prefixes 2
    $ pdfalearn ask likeliest my_file.py:make_model --max-words 500
    """
    if chosen.language is not None and chosen.prefixes is not None:
        raise click.UsageError("Give only one of --language and --prefixes.")
    model, _, notes = _read_any(chosen)
    language = regex_or_dfa(chosen.language)
    if not isinstance(model, pdfalearn.PDFA):
        if chosen.prefixes is not None:
            raise click.UsageError("--prefixes is for automata.")
        limits = {"budget": limits_of(chosen)["budget"]}
        run = partial(pdfalearn.most_likely, model, chosen.count, language, **limits)
        return long_run(run, partial(_describe_likeliest, chosen), "exploration")
    if chosen.prefixes is None:
        kind, found = "word", pdfalearn.most_likely(model, chosen.count, language)
    else:
        kind = "beginning"
        found = pdfalearn.analysis.most_likely_prefixes(model, chosen.prefixes, chosen.count)
    words, text = list(found), partial(short_word_text, joined=are_characters(model.alphabet))
    rows = [(text(one.word), one.probability) for one in words]
    members = {"file": chosen.model, "words": [vars(one) for one in words]}
    return Answer(members, [Table(chosen.model, (kind, "probability"), rows)], notes)


def _read_any(chosen: Chosen) -> tuple[Any, Any, list[str]]:
    """Return what is asked, the language if there is one, and of what answers are exact.

    A frontier stays one only where it can answer for its model.
    """
    from pdfalearn.cli._models import look_into
    from pdfalearn.results import Frontier, scope_text

    model: Any = read_whole(chosen.model)
    alphabet, notes = None, list[str]()
    if isinstance(model, Frontier):
        alphabet = model.best.alphabet
        if chosen.form is None or model.kept_words is None:
            notes = [scope_text(model)]
            model = model.best
    else:
        live = make_live(chosen.model, chosen)
        pdfa = look_into(live)
        model = live if pdfa is None else pdfa
        alphabet = None if isinstance(model, pdfalearn.Answers) else model.alphabet
    has_language = chosen.form is not None
    language = language_of(chosen.language, chosen.form, alphabet) if has_language else None
    return model, language, notes


def _asked_members(chosen: Chosen) -> dict[str, object]:
    asked = {"file": chosen.model, "language": chosen.language, "as": chosen.form}
    return {**asked, "given": chosen.given}


def _describe_bounds(chosen: Chosen, found: Any) -> Answer:
    """Show bounds, of a frontier the estimate with them, or what was known at an interrupt."""
    if isinstance(found, pdfalearn.exploring.Exploration):
        given = None if chosen.given is None else "given"
        found = found["language"] if given is None else found.given("language", given)
    return Answer({**_asked_members(chosen), **vars(found)}, [str(found)])


def _describe_likeliest(chosen: Chosen, found: Any) -> Answer:
    if isinstance(found, pdfalearn.exploring.Exploration):
        found = found.likeliest(chosen.count)
    words = list(found)
    rows = [(repr(one.word), one.probability, one.certified) for one in words]
    table = Table(chosen.model, ("word", "probability", "certified"), rows)
    return Answer({"file": chosen.model, "words": [vars(one) for one in words]}, [table])
