"""``pdfalearn distill``: the best automaton of every size."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import pdfalearn
from pdfalearn.cli import _options as options
from pdfalearn.cli._distilling_outputs import Output, object_of, print_frontier
from pdfalearn.cli._failures import INTERRUPTED
from pdfalearn.cli._interrupts import HeldInterrupts, outcome_of
from pdfalearn.cli._models import Constraints, Described, model_of, model_options
from pdfalearn.cli._options import log_every_option, shown_progress, spending_options, spent_budget
from pdfalearn.cli._output import print_aside, print_json
from pdfalearn.cli._words import sampler_of

if TYPE_CHECKING:
    from pdfalearn import Frontier


@click.command(
    epilog=options.examples(
        "pdfalearn distill target.json --symbols 2000 -o frontier.zip",
        "pdfalearn info frontier.zip",
        "pdfalearn distill target.json --symbols 2000 --states 1,2,4,8 -o best.json",
        "pdfalearn distill target.json --symbols 2000 --states 4 -o four.json",
        "pdfalearn distill my_module:my_model --alphabet ab --words 500 --max-length 15 "
        "--store answers.db --model-id my-model-v1 -o out.zip",
        "pdfalearn distill hf:my_llm --vocabulary digits.txt --prompt 'A number:' --symbols 200",
        "pdfalearn sample target.json --count 1000 > words.txt",
        "pdfalearn distill target.json --symbols 2000 --corpus words.txt",
    )
)
@click.argument("target", metavar="MODEL")
@spending_options
@options.states_option(
    "How many states automata may have. Default: all up to 32, then each a fifth larger."
)
@click.option(
    "--max-length",
    type=click.IntRange(min=1),
    metavar="L",
    show_default="a fiftieth of the budget, from 20 to 1000; with --seconds alone 100",
    help="Cut longer words of the model here.",
)
@options.corpus_option(
    "Take the words from a text file, one a line, as 'pdfalearn sample' prints them; divergence is "
    "then under these words."
)
@options.store_option
@options.model_id_option
@options.output_option(
    "Where to write the frontier (.zip) or its page (.html), or one automaton (.json, .npz, .svg, "
    "…): the best, or that of the only size in --states.",
    required=False,
)
@options.audit_option
@options.seed_option
@model_options
@log_every_option
@options.json_option
@click.pass_context
def distill(
    context: click.Context,
    /,
    target: str,
    states: list[int],
    max_length: int | None,
    corpus: Path | None,
    store: Path | None,
    model_id: str | None,
    output: Path | None,
    audit: int,
    seed: int,
    log_every: float | None,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Find the best automaton of every size within a budget.

    This is for networks and other models that no small automaton equals: 'pdfalearn learn' looks
    for an automaton that equals MODEL, this command for the nearest of each size. Words are drawn
    from MODEL, automata of many sizes are made of its answers, and words that were held out tell
    how far each is from MODEL, which is named as 'pdfalearn models' says.

    The table has for each number of states the divergence KL(MODEL ‖ automaton) per symbol in nats
    with its 95% interval from … to, the share of positions where it is infinite, as the automaton
    forbids what MODEL allows, the L1 distance, the word error rate, and the perplexity. The best is
    the smallest automaton that is not worse than any other by more than a standard error. The knee
    is the size where the curve bends most: if there is one, MODEL may have learnt an automaton of
    that many states.

    All other commands take a frontier's file for its best automaton. Ctrl-C stops and saves what
    has been found if -o is given; the exit code is then 130.
    """
    from pdfalearn.displays import DistillingLine

    result = Output(output, states)
    result.check([target, *(path for path in (corpus, store) if path is not None)])
    budget = spent_budget(chosen)
    words = sampler_of(max_length, corpus)
    constraints = Constraints.taken_from(chosen)
    # A name in the store stands for the model without constraints: with others it is another one.
    fingerprint = model_id if constraints.is_any else None
    model = constraints.around(model_of(target, Described.taken_from(chosen), fingerprint))
    result.check_symbols(model.alphabet)
    run = partial(
        pdfalearn.distill,
        model,
        budget=budget,
        sampler=words,
        sizes=states or None,
        seed=seed,
        store=store,
        model_id=model_id,
        audit=audit,
    )
    with HeldInterrupts() as interrupts:
        line = DistillingLine(budget.max_symbols)
        shown = shown_progress(line, log_every, as_json=as_json)
        frontier, is_interrupted = outcome_of(run, interrupts, shown, _salvaged)
        if frontier is not None:
            try:
                result.write(frontier)
            finally:  # what was found is told even if it cannot be written
                _tell(target, frontier, {"output": output, "store": store, "seed": seed}, as_json)
        if is_interrupted or interrupts.is_pressed:
            print_aside(result.interruption_text(frontier, store))
            context.exit(INTERRUPTED)
    if not as_json:
        result.print_name()


def _salvaged(interrupt: KeyboardInterrupt) -> Frontier | None:
    return (
        interrupt.frontier
        if isinstance(interrupt, pdfalearn.results.DistillingInterrupted)
        else None
    )


def _tell(target: str, frontier: Frontier, given: dict[str, object], as_json: bool) -> None:
    if as_json:
        print_json({"target": target, **given, **object_of(frontier)})
    else:
        print_frontier(f"{target}, distilled", frontier)
    for note in frontier.notes:
        print_aside(f"note: {note}")
