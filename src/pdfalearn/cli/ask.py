"""``pdfalearn ask``: questions to an automaton, answered exactly over all of its words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import attrgetter

import click

import pdfalearn
from pdfalearn.cli._chosen import Chosen, read_automaton, read_with_scope
from pdfalearn.cli._commands import command, group
from pdfalearn.cli._options import option
from pdfalearn.cli._output import Answer, Table, bars, facts, format_value, members_of
from pdfalearn.cli._words import language_of, regex_or_dfa
from pdfalearn.text import are_characters, short_word_text, symbol_text

_MOST_STATES = 5
# Not much more than what fits on a screen.
_MOST_BARS = 24


@group()
def ask() -> None:
    """Ask an automaton, or any live model, about its words.

    'answers', 'probability' and 'likeliest' take any model, and bound what is true of one that is
    not an automaton. All others take an automaton: nothing is sampled, and answers are exact up to
    rounding. Of a frontier's file (.zip) they are about its best automaton, not about the model
    behind it; 'probability' is about that, too. Languages are regular expressions that whole
    words match, symbols being written one after the other; with --as they are given by a word. For
    other conditions than --given, keep those words first: see 'pdfalearn condition'.

    Examples
    --------
    $ pdfalearn ask probability target.json '0.*1'
    $ pdfalearn ask likeliest target.json --count 3
    $ pdfalearn ask length target.json
    $ pdfalearn ask differences target.json learnt.json
    """


@command(
    "PDFA [LANGUAGE] form",
    option("given", "Only words that match it count."),
    option("kappa", "The classes: each probability in one of K intervals."),
    into=ask,
)
def bounds(chosen: Chosen) -> Answer:
    """Bound a probability, or the expected length.

    Without a language, it is the length that is bounded. The bounds hold for every model whose
    answers are in the classes of the automaton's states. The file of a whole run (.zip) knows its
    classes, and what its certificate says of the model.

    Examples
    --------
    $ pdfalearn ask bounds target.json '0.*1' --kappa 1000
    $ pdfalearn ask bounds target.json --kappa 1000 --json
    """
    if chosen.given is not None and chosen.language is None:
        raise click.UsageError("--given needs a language.")
    is_run = chosen.pdfa.lower().endswith(".zip") and chosen.kappa is None
    if not is_run and chosen.kappa is None:
        raise click.UsageError("Give --kappa, the classes, or the file of a whole run (.zip).")
    # A run knows its classes and certificate, of which its automaton alone says nothing.
    automaton = pdfalearn.load(chosen.pdfa) if is_run else read_automaton(chosen.pdfa)
    relation = None if is_run else pdfalearn.Quantization(chosen.kappa)
    if chosen.language is None:
        found = pdfalearn.analysis.length_bounds(automaton, equivalence=relation)
    else:
        pdfa = read_automaton(chosen.pdfa) if is_run else automaton
        language = language_of(chosen.language, chosen.form, pdfa.alphabet)
        found = pdfalearn.analysis.probability_bounds(
            automaton, language, equivalence=relation, given=regex_or_dfa(chosen.given)
        )
    members = members_of(found, "low", "high", "confidence", "holds_for", "blamed")
    return Answer({**_question_members(chosen), **members}, [str(found)])


def _question_members(chosen: Chosen) -> dict[str, object]:
    """Return the members that say what was asked."""
    asked = {"file": chosen.pdfa, "language": chosen.language, "as": chosen.form}
    return asked | ({"given": chosen.given} if "given" in vars(chosen) else {})


@command("A B", into=ask)
def distances(chosen: Chosen) -> Answer:
    """Compute how far the words of two automata are apart.

    The total variation, which is the greatest difference of the probabilities of one set of words,
    is bounded by the others. 'pdfalearn divergence' has the Kullback-Leibler divergence.

    Examples
    --------
    $ pdfalearn ask distances target.json learnt.json
    """
    result = pdfalearn.analysis.distances(read_automaton(chosen.a), read_automaton(chosen.b))
    low, high = map(format_value, (result.total_variation_low, result.total_variation_high))
    found = {
        "Hellinger": result.hellinger,
        "Bhattacharyya": result.bhattacharyya,
        "L2": result.l2,
        "total variation": f"from {low} to {high}",
        "pairs of states": result.pairs,
    }
    members = {"a": chosen.a, "b": chosen.b, **vars(result)}
    return Answer(members, [facts(f"A: {chosen.a}, B: {chosen.b}", found)])


@command("A B count", into=ask)
def differences(chosen: Chosen) -> Answer:
    """Find where two automata part.

    These are the words and the pairs of states that make most of the difference. Shares are of the
    squared Hellinger distance. The words say what is more or less likely in the end, the pairs of
    states, each with the likeliest prefix that leads there, where the next symbols are.

    Examples
    --------
    $ pdfalearn ask differences target.json learnt.json
    $ pdfalearn ask differences target.json learnt.json --count 3 --json
    """
    pdfa = read_automaton(chosen.a)
    result = pdfalearn.analysis.differences(pdfa, read_automaton(chosen.b), chosen.count)
    members = {
        **chosen.collect("a", "b"),
        "squared_hellinger": result.squared_hellinger,
        "words": [vars(one) for one in result.words],
        "prefixes": [vars(one) for one in result.prefixes],
    }
    text = partial(short_word_text, joined=are_characters(pdfa.alphabet))
    figures = attrgetter("share", "probability_a", "probability_b")
    words = [(text(one.word), *figures(one)) for one in result.words]
    prefixes = [
        (text(one.prefix), *map(str, one.states), symbol_text(one.symbol), *figures(one))
        for one in result.prefixes
    ]
    table = Table(f"A: {chosen.a}, B: {chosen.b}", ("word", "share", "A", "B"), words)
    arising = Table(
        "where it arises", ("after", "state of A", "of B", "next", "share", "A", "B"), prefixes
    )
    return Answer(members, [table, arising])


@command("PDFA quantiles", into=ask)
def length(chosen: Chosen) -> Answer:
    """Compute how long words are: mean, deviation and quantiles, and a picture.

    Examples
    --------
    $ pdfalearn ask length target.json
    $ pdfalearn ask length target.json --quantiles 0.25,0.75 --json
    """
    pdfa, notes = read_with_scope(chosen.pdfa)
    result = pdfalearn.analysis.length(pdfa)
    quantiles = {share: result.quantile(share) for share in chosen.quantiles}
    endless = result.endless_states
    members = {
        "file": chosen.pdfa,
        **members_of(result, "mean", "error", "deviation", "endless_states"),
        "never_end": result.endless_mass,
        "quantiles": {f"{share:g}": value for share, value in quantiles.items()},
    }
    error = "" if endless else f" (error at most {result.error:.1g})"
    found = {
        "mean": format_value(result.mean) + error,
        "standard deviation": result.deviation,
        **{f"quantile {share:g}": float(value) for share, value in quantiles.items()},
        "never end": format_value(result.endless_mass) + states_text(endless),
    }
    # The quantiles of words that never end are infinite.
    longest = max((value for value in quantiles.values() if value < 2**31), default=0)
    values = result.distribution(int(max(1, min(_MOST_BARS, longest)))).tolist()
    rows = zip(range(len(values)), values, bars(values), strict=True)
    picture = Table("lengths", ("symbols", "probability", ""), rows)
    return Answer(members, [facts(chosen.pdfa, found), picture], notes)


@command("PDFA", into=ask)
def entropy(chosen: Chosen) -> Answer:
    """Compute the entropy per word and per symbol, in nats.

    Examples
    --------
    $ pdfalearn ask entropy target.json
    """
    pdfa, notes = read_with_scope(chosen.pdfa)
    result = pdfalearn.analysis.entropy(pdfa)
    per_word = format_value(result.per_word) + states_text(result.endless_states)
    members = members_of(result, "per_word", "per_symbol", "endless_states")
    found = {"per word": per_word, "per symbol": result.per_symbol}
    return Answer({"file": chosen.pdfa, **members}, [facts(chosen.pdfa, found)], notes)


@command("PDFA", into=ask)
def complexity(chosen: Chosen) -> Answer:
    """Compute how much endless words remember.

    The words of the PDFA must not end. Statistical complexity is the entropy of the causal states,
    excess entropy what past and future have in common, both in nats; the latter is bounded where it
    cannot be computed.

    Examples
    --------
    $ pdfalearn ask complexity endless.json
    $ pdfalearn ask complexity endless.json --json
    """
    result = pdfalearn.analysis.complexity(read_automaton(chosen.pdfa))
    names = ("statistical_complexity", "entropy_rate", "excess_low", "excess_high")
    members = {"file": chosen.pdfa, "causal_states": len(result.states)}
    found = {row[0]: row[1] for row in result.tables()[0][1:]}
    return Answer({**members, **members_of(result, *names)}, [facts(chosen.pdfa, found)])


@command("PDFA LANGUAGE form", into=ask)
def count(chosen: Chosen) -> Answer:
    """Compute how often a language is met in a word.

    It is the expected number of the word's prefixes that are in the language: '.*01', or 01 --as
    ends, counts how often 01 occurs in a word.

    Examples
    --------
    $ pdfalearn ask count target.json '.*01'
    $ pdfalearn ask count target.json 01 --as ends --json
    """
    pdfa, notes = read_with_scope(chosen.pdfa)
    language = language_of(chosen.language, chosen.form, pdfa.alphabet)
    value = pdfalearn.analysis.expected_count(pdfa, language)
    return Answer({**_question_members(chosen), "expected": value}, [format_value(value)], notes)


@command("PDFA count", into=ask)
def visits(chosen: Chosen) -> Answer:
    """Compute how often a word visits the states.

    These are expected numbers, of transitions too. The table has the states that are visited most;
    as JSON there are all, with their transitions.

    Examples
    --------
    $ pdfalearn ask visits target.json --count 3
    $ pdfalearn ask visits target.json --json
    """
    pdfa, notes = read_with_scope(chosen.pdfa)
    result = pdfalearn.analysis.expected_visits(pdfa)
    members = members_of(result, "states", "transitions", "endless_states")
    most = (-result.states).argsort(kind="stable")[: chosen.count].tolist()
    values = result.states[most].tolist()
    rows = zip(most, values, bars(values), strict=True)
    table = Table(chosen.pdfa, ("state", "visits", ""), rows)
    return Answer({"file": chosen.pdfa, **members}, [table], notes)


def states_text(states: Sequence[int]) -> str:
    """Name the states in which words never end."""
    if not states:
        return ""
    more = "" if len(states) <= _MOST_STATES else f" and {len(states) - _MOST_STATES:,} more"
    return f" (words do not end from state {', '.join(map(str, states[:_MOST_STATES]))}{more})"
