"""``pdfalearn learn``: learn a PDFA."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import pdfalearn
from pdfalearn.cli import _options as options
from pdfalearn.cli._budgets import BOUNDS, budget_options
from pdfalearn.cli._constraints import NAMES as CONSTRAINTS
from pdfalearn.cli._constraints import Constraints, constraint_options
from pdfalearn.cli._failures import INTERRUPTED
from pdfalearn.cli._learning_outputs import Outputs
from pdfalearn.cli._learning_summary import facts_of, object_of
from pdfalearn.cli._oracles import OracleChoice, oracle_options
from pdfalearn.cli._output import print_aside, print_facts, print_json, print_line
from pdfalearn.cli._progress import live_progress
from pdfalearn.cli._targets import model_of

if TYPE_CHECKING:
    from pdfalearn import Result
    from pdfalearn.equivalence.relations import Relation

_LEARNERS = ("quant", "quant-classes", "quant-paper", "lpstar", "wlstar")
_RIVALS = ("lpstar", "wlstar")
"""They compare by a tolerance, and keep a table instead of a tree."""
_DEFAULT_KAPPA = 1000


@click.command(
    epilog=options.examples(
        "pdfalearn learn target.json --kappa 1000 -o learnt.json",
        "pdfalearn learn target.json --kappa 10 --tree tree.svg",
        "pdfalearn learn my_module:my_model --alphabet ab --kappa 20 --epsilon 0.01 "
        "--delta 0.01 --store answers.db --model-id my-model-v1 -o out.json",
        "pdfalearn learn my_module:my_model --alphabet ab --max-seconds 600 --max-states 100",
        "pdfalearn learn target.json --learner lpstar --tolerance 0.001 -o learnt.json",
        "pdfalearn learn model.arpa --kappa 100 --top-k 10 --epsilon 0.05 -o out.json",
    )
)
@click.argument("target")
@click.option(
    "--alphabet",
    metavar="SYMBOLS",
    help="The symbols of a function's words: ab, or 'yes no' if they are longer.",
)
@click.option(
    "--kappa",
    type=int,
    metavar="K",
    show_default=str(_DEFAULT_KAPPA),
    help="Learn with K intervals (quantization).",
)
@click.option("--exact", is_flag=True, help="Learn to the last bit.")
@click.option(
    "--tolerance",
    type=float,
    metavar="T",
    help="Learn within a tolerance; for lpstar and wlstar only.",
)
@click.option(
    "--decimals",
    type=click.IntRange(1, 15),
    metavar="N",
    help="Round answers before they are compared, for models that are not always the same.",
)
@click.option(
    "--learner",
    type=click.Choice(_LEARNERS),
    default=_LEARNERS[0],
    help="The fast QuaNT, the same with shorter but more words, the paper's to the letter, or its "
    "rivals L_p* and WL*.",
)
@constraint_options
@oracle_options
@budget_options
@click.option(
    "--store",
    type=options.FILE,
    metavar="FILE",
    help="Keep all answers in FILE: a run that was stopped goes on from there.",
)
@click.option(
    "--model-id", metavar="NAME", help="The model's name in the store; functions need one."
)
@options.output_option("Where to write the learnt PDFA.", required=False)
@click.option(
    "--tree",
    type=options.FILE,
    metavar="FILE",
    help="Where to write the classification tree: .svg, .png, .pdf, .dot or .json.",
)
@click.option(
    "--audit",
    type=click.IntRange(min=0),
    default=16,
    metavar="N",
    help="In the end ask N words again, to catch answers that change.",
)
@click.option(
    "--seed", type=options.SEED, default=0, metavar="S", help="Seed of all that is random."
)
@click.option("--access-words", is_flag=True, help="With --json: print each state's access word.")
@options.json_option
@click.pass_context
def learn(
    context: click.Context,
    /,
    target: str,
    alphabet: str | None,
    kappa: int | None,
    exact: bool,
    tolerance: float | None,
    decimals: int | None,
    learner: str,
    store: Path | None,
    model_id: str | None,
    output: Path | None,
    tree: Path | None,
    audit: int,
    seed: int,
    access_words: bool,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Learn a PDFA from TARGET by asking it for distributions.

    TARGET is a file of a PDFA or of an n-gram model (.arpa); or module:object, a function from a
    list of words to an array with a distribution a row, terminal first, or an object with the
    methods of a LanguageModel; or torch:FILE.py:make_model, a function that makes such an object.

    Reaching a bound is no error: what has been learnt is written, and the certificate says where
    it stopped. Ctrl-C stops learning and saves the hypothesis so far if -o is given; the exit
    code is then 130.
    """
    if (learner in _RIVALS) != (tolerance is not None):
        raise click.UsageError("lpstar and wlstar need --tolerance T, and only they take one.")
    if tree is not None and learner in _RIVALS:
        raise click.UsageError(f"{learner} has no classification tree to write.")
    if access_words and not as_json:
        raise click.UsageError("--access-words needs --json.")
    if kappa is None and not exact and tolerance is None:
        kappa = _DEFAULT_KAPPA
    by = _rounded(options.relation(exact, kappa, tolerance), decimals)
    outputs = Outputs(output, tree)
    outputs.check([target, *chosen["samplers"], *([] if store is None else [store])])
    budget = pdfalearn.Budget(**{name: chosen.pop(name) for name in BOUNDS})
    constraints = Constraints(**{name: chosen.pop(name) for name in CONSTRAINTS})
    with redirect_stdout(sys.stderr):  # what a user's module prints is no part of the output
        model = constraints.around(model_of(target, alphabet))
    default_sampler = "hypothesis" if constraints.is_any else "uniform"
    oracle = OracleChoice(**chosen, default_sampler=default_sampler).make(model, by, seed)
    run = partial(
        pdfalearn.learn,
        model,
        by=by,
        oracle=oracle,
        learner=learner,
        budget=budget,
        store=store,
        model_id=model_id,
        audit=audit,
        seed=seed,
    )
    result, interrupted = _learnt(run, show_progress=not as_json)
    if interrupted:
        outputs = Outputs(output, None)
    if result is not None:
        try:
            outputs.write(result)
        finally:  # what was learnt is told even if it cannot be written
            if as_json:
                given: dict[str, object] = {"target": target, "kappa": kappa}
                given |= {"learner": learner, "seed": seed}
                given |= {} if tolerance is None else {"tolerance": tolerance}
                files = {"output": outputs.pdfa, "tree": outputs.tree, "store": store}
                print_json({**given, **files, **object_of(result, access_words)})
            else:
                print_facts(_title(target, by), facts_of(result))
    if interrupted:
        print_aside(_interruption_text(result, output, store))
        context.exit(INTERRUPTED)
    if not as_json:
        _print_written(outputs)


def _learnt(run: Callable[..., Result], *, show_progress: bool) -> tuple[Result | None, bool]:
    """Learn; give what has been learnt, if anything, and whether Ctrl-C has ended it."""
    try:
        with live_progress(show_progress) as progress, redirect_stdout(sys.stderr):
            return run(progress=progress), False
    except pdfalearn.LearningInterrupted as interrupt:
        return interrupt.result, True


def _rounded(by: Relation, decimals: int | None) -> Relation:
    if decimals is None:
        return by
    if isinstance(by, pdfalearn.Tolerance):
        raise click.UsageError("--decimals rounds for --kappa and --exact, not for --tolerance.")
    return pdfalearn.Rounded(by, decimals)


def _title(target: str, by: Relation) -> str:
    if isinstance(by, pdfalearn.Rounded):
        return f"{_title(target, by.by)}, rounded to {by.decimals} decimals"
    if isinstance(by, pdfalearn.Tolerance):
        return f"{target}, learnt within {by.tolerance:g}"
    if isinstance(by, pdfalearn.Quantization):
        return f"{target}, learnt at kappa {by.kappa}"
    return f"{target}, learnt exactly"


def _print_written(outputs: Outputs) -> None:
    if outputs.pdfa is not None:
        print_line(f"{outputs.pdfa}: the learnt PDFA")
    if outputs.tree is not None:
        print_line(f"{outputs.tree}: the classification tree")


def _interruption_text(result: Result | None, output: Path | None, store: Path | None) -> str:
    lost = "nothing" if store is None else "no automaton"
    if result is None:
        text = f"interrupted before the first hypothesis: {lost} was saved"
    elif output is None:
        text = f"interrupted: {lost} was saved, as no -o was given"
    else:
        text = f"interrupted: {output} holds the hypothesis so far, of {len(result.pdfa):,} states"
    return text if store is None else f"{text}; {store} holds all answers: start again to go on"
