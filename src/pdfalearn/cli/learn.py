"""``pdfalearn learn``: learn a PDFA."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import pdfalearn
from pdfalearn.cli import _options as options
from pdfalearn.cli._failures import INTERRUPTED
from pdfalearn.cli._interrupts import HeldInterrupts, outcome_of
from pdfalearn.cli._learning_outputs import Outputs, facts_of, object_of, title_of
from pdfalearn.cli._models import Constraints, Described, model_of, model_options
from pdfalearn.cli._options import BOUNDS, budget_options, log_every_option, shown_progress
from pdfalearn.cli._oracles import OracleChoice, oracle_options
from pdfalearn.cli._output import print_aside, print_facts, print_json

if TYPE_CHECKING:
    from pdfalearn import PDFA, LanguageModel, Result
    from pdfalearn.displays import LearningLine
    from pdfalearn.equivalence import Relation
    from pdfalearn.oracles import EquivalenceOracle

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
        "pdfalearn learn my_file.py:make_model --max-seconds 600 --max-cost 100000",
        "pdfalearn learn target.json --learner lpstar --tolerance 0.001 -o learnt.json",
        "pdfalearn learn model.arpa --kappa 100 --top-k 10 --epsilon 0.05 -o out.json",
        "pdfalearn learn hf:my_llm --vocabulary digits.txt --prompt 'A number:' --ends rest "
        "--guide '[1-9][0-9]?' --kappa 4 -o numbers.json",
    )
)
@click.argument("target", metavar="MODEL")
@model_options
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
    help="quant: the fast QuaNT. quant-classes: the same with more, shorter words. quant-paper: as "
    "in the paper. lpstar, wlstar: the rivals L_p* and WL*.",
)
@oracle_options
@budget_options
@options.store_option
@options.model_id_option
@options.output_option(
    "Where to write the learnt PDFA; in .zip the whole run, in .html its page.", required=False
)
@click.option(
    "--tree",
    type=options.FILE,
    metavar="FILE",
    help="Where to write the classification tree: .svg, .png, .pdf, .dot or .json.",
)
@options.audit_option
@options.seed_option
@click.option("--access-words", is_flag=True, help="With --json: print each state's access word.")
@log_every_option
@options.json_option
@click.pass_context
def learn(
    context: click.Context,
    /,
    target: str,
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
    log_every: float | None,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Learn a PDFA from MODEL by asking it for distributions.

    MODEL is a file of a PDFA or of an n-gram model (.arpa); or FILE.py:NAME or module:NAME, a
    model, a function of words, or a function that makes one of these; or command:PROGRAM, a program
    in any language; or hf:FOLDER or served:URL#MODEL, an LLM; 'pdfalearn models' says more.

    Reaching a bound is not an error: what has been learnt is written, and the certificate says
    where it stopped. Ctrl-C stops learning and saves what has been learnt if -o is given; the exit
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
    equivalence = _rounded(options.relation(exact, kappa, tolerance), decimals)
    outputs = Outputs(output, tree)
    outputs.check([target, *chosen["samplers"], *([] if store is None else [store])])
    bounds = {name: chosen.pop(name) for name in BOUNDS}
    is_bounded = any(bound is not None for bound in bounds.values())
    budget = pdfalearn.Budget(**bounds) if is_bounded else None
    constraints = Constraints.taken_from(chosen)
    # A name in the store stands for the model without constraints: with others it is another one.
    fingerprint = model_id if constraints.is_any else None
    model = constraints.around(model_of(target, Described.taken_from(chosen), fingerprint))
    oracle = OracleChoice(**chosen).make(model, equivalence, seed)
    run = partial(
        pdfalearn.learn,
        model,
        equivalence=equivalence,
        oracle=oracle,
        learner=learner,
        budget=budget,
        store=store,
        model_id=model_id,
        audit=audit,
        seed=seed,
    )
    with HeldInterrupts() as interrupts:
        shown = shown_progress(_line(model, oracle), log_every, as_json=as_json)
        result, is_interrupted = outcome_of(run, interrupts, shown, _salvaged)
        if is_interrupted:
            outputs = Outputs(output, None)
        if result is not None:
            try:
                outputs.write(result)
            finally:  # what was learnt is told even if it cannot be written
                if as_json:
                    given: dict[str, object] = {"target": target, "kappa": kappa}
                    given |= {"learner": learner, "seed": seed}
                    given |= {} if tolerance is None else {"tolerance": tolerance}
                    given |= {"output": outputs.pdfa, "tree": outputs.tree, "store": store}
                    print_json({**given, **object_of(result, access_words)})
                else:
                    print_facts(title_of(target, equivalence), facts_of(result))
                for note in result.notes:
                    print_aside(f"note: {note}")
        if is_interrupted or interrupts.is_pressed:
            print_aside(outputs.interruption_text(result, store))
            context.exit(INTERRUPTED)
    if not as_json:
        outputs.print_names()


def _salvaged(interrupt: KeyboardInterrupt) -> Result | None:
    return (
        interrupt.result if isinstance(interrupt, pdfalearn.results.LearningInterrupted) else None
    )


def _line(model: PDFA | LanguageModel, oracle: EquivalenceOracle) -> LearningLine:
    """Make the line that tells of progress."""
    from pdfalearn.displays import LearningLine
    from pdfalearn.learning import may_be_endless

    if isinstance(model, pdfalearn.PDFA):
        return LearningLine(may_be_endless=False)
    return LearningLine(may_be_endless=may_be_endless(model, oracle))


def _rounded(equivalence: Relation, decimals: int | None) -> Relation:
    if decimals is None:
        return equivalence
    if isinstance(equivalence, pdfalearn.Tolerance):
        raise click.UsageError("--decimals rounds for --kappa and --exact, not for --tolerance.")
    return pdfalearn.equivalence.Rounded(equivalence, decimals)
