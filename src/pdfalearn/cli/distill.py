"""``pdfalearn distill``, ``simplify`` and ``refit``: automata that are near, of sizes to choose."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import pdfalearn
from pdfalearn.cli._chosen import Chosen, read_automaton
from pdfalearn.cli._commands import LongRun, Output, automaton_output, command
from pdfalearn.cli._options import (
    CORPUS,
    LOG,
    MODEL,
    RUN,
    SPENDING,
    WRAPPERS,
    corpus,
    option,
    output,
)
from pdfalearn.cli._output import Answer, Table, facts, format_value, members_of
from pdfalearn.cli._words import NOTED, log_notes, note_lines, note_raw_lines
from pdfalearn.cli.learn import certificate_members, outside_facts
from pdfalearn.text import LABELS, count_text, shorten, width_apart

if TYPE_CHECKING:
    from pdfalearn import PDFA, Corpus, Frontier
    from pdfalearn.cli._chosen import Model
    from pdfalearn.sampled import Samples

# Options that have a meaning for words only, and for models only.
_FOR_WORDS = ("held_out", "unseen")
_SHOWN_TEMPLATES = 20
_FOR_MODELS = (*SPENDING, "cut_length", "corpus", "store", "model_id", "by_word", *WRAPPERS)
_NOT_FOR_SAMPLES = ("symbols", "cost", "seconds", "cut_length", "corpus", "model_id", *MODEL)
# Figures of the certificate that are shown if they are not 0.
_FIGURES = (
    *("words_drawn", "word_count", "held_out_words", "symbols_asked", "stored_words"),
    *("audited_words", "largest_difference", "cost"),
)


@command(
    "SOURCE...",
    *SPENDING,
    option(
        "states",
        "How many states automata may have. Default: all up to 32, then each a fifth larger.",
    ),
    "cut_length",
    corpus("Take the words to ask from FILE; divergence is then under these words."),
    *RUN,
    "held_out unseen",
    *CORPUS,
    "template",
    *LOG,
    option(
        "output",
        "Where to write the frontier (.zip) or its page (.html), or one automaton (.json, .npz, "
        ".svg, …): the best, or that of the only size in --states.",
    ),
    *MODEL,
    "log_every",
)
def distill(chosen: Chosen) -> LongRun[Frontier]:
    r"""Find the best automaton of each size, of words or a model.

    SOURCE is a file of words, or several: one word a line, or as --format says; - is the standard
    input. What follows each prefix is counted, and words that are held out tell how well each
    automaton predicts. No budget is needed.

    With --template it is a log of raw lines: which words of a line stay the same is found out, and
    these templates are the events. -o is then a file in .json, which also says how lines are read,
    so that 'score', 'calibrate' and 'monitor' read other logs in the same way; a line that no
    template fits is the event 'other'.

    Or it is a model, named as 'pdfalearn models' says: a network, say, that no small automaton
    equals. 'pdfalearn learn' looks for an automaton that equals it, this command for the nearest
    of each size. Words are drawn from the model, automata of many sizes are made of its answers,
    and words that were held out tell how far each is from the model. Of a Samples of a Python file,
    a function that only draws, --words are drawn, and distilled as a file of words.

    The table has for each number of states the divergence KL(model ‖ automaton) per symbol in nats
    (of words, the cross-entropy), with its 95% interval from … to, the share of positions where it
    is infinite, as the automaton forbids what is there, the L1 distance, the word error rate, and
    the perplexity. The best is the smallest automaton that is not worse than any other by more than
    a standard error; of words, the largest that these support. The knee is the size where the curve
    bends most: if there is one, the source may be an automaton of that many states.

    All other commands take a frontier's file for its best automaton. Ctrl-C stops and saves what
    has been found if -o is given.

    Examples
    --------
    $ pdfalearn sample target.json --count 1000 > words.txt
    $ pdfalearn distill words.txt -o frontier.html
    $ pdfalearn distill monday.txt friday.txt -o frontier.html
    $ pdfalearn distill app.log --template --session 'req=(\w+)' -o model.json
    $ pdfalearn distill target.json --symbols 2000 -o frontier.zip
    $ pdfalearn info frontier.zip
    $ pdfalearn distill target.json --symbols 2000 --states 1,2,4,8 -o best.json
    $ pdfalearn distill target.json --symbols 2000 --states 4 -o four.json
    $ pdfalearn distill my_module:my_model --alphabet ab --words 500 --max-length 15
        --store answers.db --model-id my-model-v1 -o out.zip
    $ pdfalearn distill shop.py:samples --words 2000 --store drawn.jsonl -o frontier.html
    $ pdfalearn distill hf:my_llm --vocabulary digits.txt --prompt 'A number:' --symbols 200
    $ pdfalearn distill target.json --symbols 2000 --corpus words.txt
    """
    from pdfalearn.cli._models import find_samples, names_words
    from pdfalearn.displays import DistillingLine

    notes: tuple[str, ...] = ()
    source: Model | Corpus | Samples
    of_models = [name for name in chosen.source if not names_words(name, chosen)]
    if chosen.template:
        chosen.refuse((*_FOR_MODELS, *CORPUS), "is not for logs of raw lines (--template).")
        outputs, corpus, notes = _load_log(chosen)
        of_models = []
    else:
        chosen.refuse(LOG, "needs --template: it is for logs of raw lines.")
        outputs = automaton_output(chosen, partial(_pick, chosen), *_contents(chosen))
        chosen.refuse_overwriting(*chosen.source, chosen.corpus, chosen.store)
    if of_models and len(chosen.source) > 1:
        raise click.UsageError(f"{of_models[0]} is a model: name it alone, or files of words.")
    if not of_models:
        chosen.refuse(_FOR_MODELS, "is for models, not for words.")
        source = corpus if chosen.template else chosen.make_corpus(chosen.source)
        line = DistillingLine(is_of_words=True)
        if not chosen.template:
            note_raw_lines(chosen, chosen.source, "there is --template")
        settings = {"seed": chosen.seed, **chosen.collect_given(_FOR_WORDS)}
    elif samples := find_samples(*of_models):
        chosen.refuse(_NOT_FOR_SAMPLES, "is not for Samples, of which words are drawn.")
        if chosen.words is None:
            raise click.UsageError("Samples need --words: how many words to draw.")
        source, line = samples, DistillingLine(is_of_words=True)
        settings = {"budget": chosen.make_spending(), **chosen.collect("seed", "store")}
        settings |= chosen.collect_given(_FOR_WORDS)
    else:
        chosen.refuse(_FOR_WORDS, "is for words, not for models.")
        budget, sampler = chosen.make_spending(), chosen.make_sampler()
        source, line = chosen.make_model(*of_models), DistillingLine(budget.max_symbols)
        settings = {"budget": budget, "sampler": sampler, **chosen.collect(*RUN)}
    # Symbols that no file can hold are refused before anything is asked.
    if chosen.output is not None and chosen.output.name.lower().endswith(".zip"):
        pdfalearn.io.check_symbols((*source.alphabet, source.alphabet.terminal))
    run = partial(pdfalearn.distill, source, sizes=chosen.states, **settings)
    describe = partial(_describe, chosen, notes)
    return LongRun(run, line, describe, "frontier", "there was anything to measure", outputs)


def _load_log(chosen: Chosen) -> tuple[list[Output[Frontier]], Corpus, tuple[str, ...]]:
    """Read raw lines: return the file that also says how, the sessions, and what is to be said."""
    watching, path = pdfalearn.watching, chosen.output
    if path is not None:
        watching.check_can_watch(path)
        chosen.refuse_overwriting(*chosen.source)
        chosen.check_output()
    reader, found = watching.learn_log(map(Path, chosen.source), **chosen.collect_given(LOG))

    def write(frontier: Frontier) -> None:
        watching.Watch(_pick(chosen, frontier), reader).save(path)

    content = f"an automaton and {count_text(len(reader.templates), 'templates')}"
    shown = reader.templates[:_SHOWN_TEMPLATES]
    templates = [f"template: {shorten(one, width_apart(shown, 100))}" for one in shown]
    if len(templates) == 1:
        templates.append(
            "all lines are one event, as they have much in common: give a larger --similarity, "
            "such as 0.9, or a --mask of what they have in common"
        )
    elif more := len(reader.templates) - len(templates):
        templates.append(f"and {more:,} more, which 'pdfalearn info --json' has")
    notes = (*log_notes(found, are_whole=True), *templates)
    outputs = [] if path is None else [Output(path, content, write)]
    return outputs, pdfalearn.Corpus(found.whole_words()), notes


def _pick(chosen: Chosen, frontier: Frontier) -> PDFA:
    """Return the automaton of the only size that was asked for, or the best one."""
    sizes = chosen.states or []
    return frontier.at_most(*sizes) if len(sizes) == 1 else frontier.best


def _contents(chosen: Chosen) -> tuple[str, tuple[type, str]]:
    """Return what the file of -o holds, and what it does if it has all of the frontier."""
    sizes, content = chosen.states or [], "the best automaton"
    if len(sizes) == 1:
        content = f"the automaton of at most {count_text(sizes[0], 'states')}"
    return content, (pdfalearn.Frontier, "the frontier")


def _describe(chosen: Chosen, notes: tuple[str, ...], frontier: Frontier) -> Answer:
    names = " ".join(chosen.source)
    given = {"target": names, **chosen.collect("output", "store", "seed")}
    members = {**given, **frontier_members(frontier)}
    parts = frontier_parts(f"{names}, distilled", frontier)
    return Answer(members, parts, [*notes, *frontier.notes])


def frontier_members(frontier: Frontier) -> dict[str, object]:
    """Return the members of a frontier's JSON object."""
    points = [{name: vars(one)[name] for name in vars(one) if name != "pdfa"} for one in frontier]
    return {
        "best": len(frontier.best),
        "points": points,
        "certificate": certificate_members(frontier.certificate),
        **members_of(frontier, "knee", "sizes", "model_perplexity", "notes"),
    }


def frontier_parts(title: str, frontier: Frontier) -> list[Table]:
    """Return the table of a frontier, and what it means in words."""
    details, best = frontier.certificate.details, count_text(len(frontier.best), "states")
    figures = [name for name in _FIGURES if details.get(name)]
    knee = "none: nowhere does the curve bend much"
    if frontier.knee is not None:
        size = count_text(frontier.knee, "states")
        curve = "excess over the best" if frontier.is_of_words else "training divergences"
        knee = f"{size}: there the curve of {curve} bends most"
    perplexity = frontier.model_perplexity
    own = {}
    if perplexity is not None:
        own = {"perplexity of the model": format_value(perplexity)}
        own["answers of best"] = pdfalearn.results.scope_text(frontier)
    why = "the smallest that is not worse than any by more than a standard error"
    if frontier.is_of_words:
        why = "the largest that these words support"
    texts = {
        "best": f"{best}: {why}",
        "knee": knee,
        **own,
        **{LABELS[name.removesuffix("_asked")]: details[name] for name in figures},
        **outside_facts(frontier.certificate),
        "certificate": str(frontier.certificate),
    }
    results = pdfalearn.results
    cells, header = results.frontier_cells(frontier), results.frontier_header(frontier)
    table = Table(title, header, cells, is_boxed=False)
    return [table, facts("in words", texts)]


@command(
    "PDFA",
    option("states", "The most states of the result; several give one automaton each."),
    "divergence",
    output("Where to write the result; with several --states, {states} stands for each number."),
)
def simplify(chosen: Chosen) -> Answer:
    """Find a smaller automaton that stays near a PDFA.

    What is lost is the Kullback-Leibler divergence KL(PDFA ‖ result) per symbol, in nats: how much
    less likely the PDFA's words become in the result. It is computed exactly, and is the
    smallest that the search found for the number of states; 'pdfalearn divergence' says where it
    arises. The result allows all that the PDFA allows.

    'pdfalearn quotient' merges only states that are equal, and loses nothing.

    Examples
    --------
    $ pdfalearn simplify target.json --states 5 -o small.json
    $ pdfalearn simplify target.json --states 2,4,8 -o 'small-{states}.json'
    $ pdfalearn simplify target.json --divergence 0.01 -o small.json
    """
    if (chosen.states is None) == (chosen.divergence is None):
        raise click.UsageError("Give either --states or --divergence.")
    path, sizes = chosen.output, chosen.states or []
    if len(sizes) > 1 and "{states}" not in path.name:
        raise click.UsageError("With several --states, -o needs {states} in the file's name.")
    if len(set(sizes)) < len(sizes):
        raise click.UsageError("--states has the same number twice.")
    paths = [path.with_name(path.name.replace("{states}", str(size))) for size in sizes] or [path]
    for path in paths:
        pdfalearn.io.check_can_save(path)
    pdfa = read_automaton(chosen.pdfa)
    # Sizes give a list, and a divergence one automaton.
    found: Any = pdfalearn.simplify(pdfa, **chosen.collect_given(("states", "divergence")))
    automata = []
    for path, one in zip(paths, found if chosen.states else [found], strict=True):
        pdfalearn.save(one.pdfa, path)
        automata.append({"states": one.states, "divergence": one.divergence, "output": path})
    rows = [[*one.values()] for one in automata]
    title, header = f"{chosen.pdfa}: {len(pdfa):,} states", ("states", "KL per symbol", "file")
    members = {"file": chosen.pdfa, "states_before": len(pdfa), "automata": automata}
    return Answer(members, [Table(title, header, rows)])


@command(
    "PDFA [SOURCE]",
    corpus("Fit to what follows in the words of FILE; with SOURCE, to its answers along them."),
    "transitions symbols",
    option("cut_length", show_default="a fiftieth of --symbols, from 20 to 1000"),
    output("Where to write the result."),
    option("seed", "Seed of the words.", default=None, show_default="0"),
    *CORPUS,
    option("processes", default=None, show_default="1"),
    *MODEL,
)
def refit(chosen: Chosen) -> Answer:
    """Re-estimate the rows of a PDFA and keep its states.

    SOURCE is a model, named as 'pdfalearn models' says: every row becomes the mean of its answers
    over words that reach the state. Without SOURCE, every row becomes the mean of what follows in
    the words of --corpus. Either is drawn a little to the row that was there before, as if one word
    had shown it. An automaton that was learnt has rows of single words, and gets better by this.

    A word of --corpus is cut at an event that PDFA does not have, and a word that is marked as cut
    has not ended. Files may have any size, unless --transitions is given.

    SOURCE needs the same symbols as PDFA, in the same order.

    Examples
    --------
    $ pdfalearn refit learnt.json target.json -o fitted.json
    $ pdfalearn refit learnt.json target.json --transitions --symbols 5000 --seed 7
        -o fitted.json
    $ pdfalearn sample target.json --count 1000 > words.txt
    $ pdfalearn refit learnt.json --corpus words.txt -o fitted.json
    $ pdfalearn refit learnt.json --corpus 'words*.txt' --format lines --processes 2
        -o fitted.json
    $ pdfalearn divergence target.json fitted.json
    """
    chosen.refuse_overwriting(chosen.source, chosen.corpus)
    chosen.check_output()
    pdfa, transitions = read_automaton(chosen.pdfa), chosen.transitions
    read: dict[str, Any] = {}
    if chosen.source is not None:
        result = pdfalearn.refit(
            pdfa,
            chosen.make_model(chosen.source),
            transitions=transitions,
            budget=chosen.make_spending(),
            sampler=chosen.make_sampler(),
            seed=chosen.seed or 0,
        )
    else:
        chosen.refuse(("symbols", "cut_length", "seed", *MODEL), "needs a SOURCE to ask.")
        if chosen.corpus is None:
            raise click.UsageError("Give a SOURCE to ask, or --corpus FILE with words.")
        words = chosen.make_corpus(chosen.corpus)
        counts = pdfalearn.corpora.count_steps(pdfa, words, processes=chosen.processes or 1)
        read = members_of(counts, "words", "symbols", *NOTED)
        result = pdfalearn.refit(pdfa, words if transitions else counts, transitions=transitions)
    pdfalearn.save(result, chosen.output)
    given = {"file": chosen.pdfa, **chosen.collect("source", "corpus", "transitions", "output")}
    line = f"{chosen.output}: {len(result):,} states, fitted to {chosen.source or chosen.corpus}"
    return Answer({**given, **read, "states": len(result)}, [line, *note_lines(read)])
