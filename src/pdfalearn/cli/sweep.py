"""``pdfalearn sweep``: learn with several kappas, to choose among them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import pdfalearn
from pdfalearn.cli import _options as options
from pdfalearn.cli._failures import INTERRUPTED
from pdfalearn.cli._interrupts import HeldInterrupts, outcome_of
from pdfalearn.cli._models import Constraints, Described, model_of, model_options
from pdfalearn.cli._options import BOUNDS, budget_options, log_every_option, shown_progress
from pdfalearn.cli._oracles import OracleChoice, oracle_options
from pdfalearn.cli._output import print_aside, print_facts, print_figures, print_json, print_line
from pdfalearn.cli._plots import check_can_save_plot, save_plot
from pdfalearn.cli._words import corpus_of
from pdfalearn.errors import InputError

if TYPE_CHECKING:
    from pdfalearn import Sweep


@click.command(
    epilog=options.examples(
        "pdfalearn sweep target.json",
        "pdfalearn sweep target.json --kappas 5,10,100 --tolerances 0.1,0.01",
        "pdfalearn sweep my_file.py:make_model --max-words 20000 --plot sweep.svg -o learnt.json",
    )
)
@click.argument("target", metavar="MODEL")
@click.option(
    "--kappas",
    type=options.integers,
    metavar="K,K,…",
    show_default="5,10,20,50,100,200,500,1000, or none if there are tolerances",
    help="Learn by quantization with each of these.",
)
@click.option(
    "--tolerances",
    type=options.decimals,
    metavar="T,T,…",
    help="Learn by L_p* with each of these.",
)
@model_options
@oracle_options
@budget_options
@options.corpus_option(
    "Measure divergence on the words of a text file, one a line; of a PDFA it is computed."
)
@options.store_option
@options.model_id_option
@options.output_option("Where to write the recommended automaton, if there is one.", required=False)
@click.option(
    "--plot",
    type=options.FILE,
    metavar="FILE",
    help="Where to write a figure of states and divergence: .svg, .png or .pdf.",
)
@options.audit_option
@options.seed_option
@log_every_option
@options.json_option
@click.pass_context
def sweep(
    context: click.Context,
    /,
    target: str,
    kappas: list[int] | None,
    tolerances: list[float] | None,
    corpus: Path | None,
    store: Path | None,
    model_id: str | None,
    output: Path | None,
    plot: Path | None,
    audit: int,
    seed: int,
    log_every: float | None,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Learn MODEL with several kappas and recommend one.

    All runs share their answers, so that MODEL is asked for each word once. The bounds on words,
    symbols, cost and seconds are for the whole sweep: a quarter is for words to measure divergence
    on, and every run may spend an equal share of what is left. Without a bound, a model that is not
    a PDFA is asked for 100,000 words at most.

    The table has for each kappa or tolerance the states of the automaton; the words that learning
    took, and how many of them were new; the divergence KL(MODEL ‖ automaton) per symbol in nats
    with its 95% interval from … to; the share of positions where it is infinite; and how learning
    ended. Where no small automaton equals MODEL, 'pdfalearn distill' is recommended instead.

    Ctrl-C stops and shows what has been learnt; the exit code is then 130.
    """
    from pdfalearn.displays import SweepLine
    from pdfalearn.sweeping import DEFAULT_KAPPAS

    _check_files(target, store, output, plot)
    bounds = {name: chosen.pop(name) for name in BOUNDS}
    constraints = Constraints.taken_from(chosen)
    fingerprint = model_id if constraints.is_any else None
    model = constraints.around(model_of(target, Described.taken_from(chosen), fingerprint))
    if kappas is None:
        kappas = [] if tolerances else [*DEFAULT_KAPPAS]
    choice = OracleChoice(**chosen)
    run = partial(
        pdfalearn.sweep,
        model,
        kappas=kappas,
        tolerances=tolerances or (),
        oracle=lambda equivalence: choice.make(model, equivalence, seed),
        budget=pdfalearn.Budget(**bounds) if any(bounds.values()) else None,
        sampler=None if corpus is None else corpus_of(corpus),
        store=store,
        model_id=model_id,
        audit=audit,
        seed=seed,
    )
    with HeldInterrupts() as interrupts:
        line = SweepLine(len(kappas) + len(tolerances or ()))
        shown = shown_progress(line, log_every, as_json=as_json)
        found, is_interrupted = outcome_of(run, interrupts, shown, _salvaged)
        if found is not None:
            _tell(target, found, output, plot, as_json=as_json)
        if is_interrupted or interrupts.is_pressed:
            print_aside("interrupted" if found else "interrupted before anything was learnt")
            context.exit(INTERRUPTED)


def _check_files(target: str, store: Path | None, output: Path | None, plot: Path | None) -> None:
    """Refuse before learning what would fail, or overwrite what is needed, after it."""
    inputs = {Path(path).resolve() for path in (target, store) if path is not None}
    outputs = [path.resolve() for path in (output, plot) if path is not None]
    if inputs.intersection(outputs) or len(set(outputs)) < len(outputs):
        raise InputError("-o and --plot have to be files of their own, other than model and store")
    if output is not None:
        pdfalearn.io.check_can_save(output)
    if plot is not None:
        check_can_save_plot(plot)


def _salvaged(interrupt: KeyboardInterrupt) -> Sweep | None:
    return interrupt.sweep if isinstance(interrupt, pdfalearn.results.SweepInterrupted) else None


def _tell(
    target: str, found: Sweep, output: Path | None, plot: Path | None, *, as_json: bool
) -> None:
    """Print what was found, and write what was asked for."""
    from pdfalearn.results import SWEEP_HEADER as HEADER
    from pdfalearn.results import questions_text
    from pdfalearn.results import sweep_cells as cells_of
    from pdfalearn.results import sweep_records as records_of

    if as_json:
        facts = {"words_asked": found.words_asked, "words_alone": found.words_alone}
        advice = {"recommendation": found.recommendation, "drawn_words": found.drawn_words}
        print_json({"target": target, "rows": records_of(found), **facts, **advice})
    else:
        print_figures(f"{target}, learnt again and again", HEADER, cells_of(found))
        facts_of = {"words asked": questions_text(found), "recommended": found.recommendation}
        print_facts("in words", facts_of)
    if output is not None and found.recommended is not None:
        pdfalearn.save(found.recommended.pdfa, output)
        _print_name(f"{output}: the recommended automaton", as_json=as_json)
    if plot is not None:
        save_plot(found.plot, plot)
        _print_name(f"{plot}: the figure", as_json=as_json)


def _print_name(text: str, *, as_json: bool) -> None:
    if not as_json:
        print_line(text)
