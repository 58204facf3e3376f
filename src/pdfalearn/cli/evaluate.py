"""``pdfalearn evaluate``: measure how well a model predicts another."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import pdfalearn
from pdfalearn.cli import _options as options
from pdfalearn.cli._models import (
    Constraints,
    Described,
    looked_into,
    model_options,
    models_of,
    prints_aside,
)
from pdfalearn.cli._output import print_facts, print_json, print_table
from pdfalearn.cli._words import word_lines
from pdfalearn.errors import InputError

if TYPE_CHECKING:
    from pdfalearn.cli._models import Model
    from pdfalearn.results import Evaluation


@click.command(
    epilog=options.examples(
        "pdfalearn evaluate target.json learnt.json --kappa 1000",
        "pdfalearn evaluate target.json learnt.json --words 100000 --seed 7 --tolerance 0.01",
        "pdfalearn evaluate target.json learnt.json --all-words --json",
        "pdfalearn evaluate my_file.py:make_model my_module:my_model --alphabet ab --words 100",
        "pdfalearn evaluate hf:my_llm numbers.json --vocabulary digits.txt --prompt 'A number:' "
        "--words 20 --max-length 5",
    )
)
@click.argument("a")
@click.argument("b")
@click.option(
    "--words", type=int, metavar="N", show_default="1000", help="How many words to draw from A."
)
@click.option("--seed", type=options.SEED, default=0, metavar="S", help="Same seed, same words.")
@click.option("--max-length", type=int, default=1000, metavar="L", help="Cut longer words here.")
@options.corpus_option(
    "Use the words of a text file, one a line, as 'pdfalearn sample' prints them; those that are "
    "marked (cut) are counted."
)
@click.option(
    "--all-words",
    is_flag=True,
    help="Use all words, each with its probability in A; none are drawn.",
)
@options.exact_option
@options.kappa_option
@options.tolerance_option
@click.option(
    "--k",
    type=int,
    metavar="K",
    show_default="half the symbols, rounded up",
    help="Places that count for NDCG.",
)
@model_options
@options.json_option
def evaluate(
    a: str,
    b: str,
    words: int | None,
    seed: int,
    max_length: int,
    corpus: Path | None,
    all_words: bool,
    exact: bool,
    kappa: int | None,
    tolerance: float | None,
    k: int | None,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Measure how well the model B predicts the model A.

    Both are named as 'pdfalearn models' says. The two are compared after every prefix of words
    drawn from A, and after whole words only. Word error rate: how often B's likeliest symbol is not
    A's. NDCG: how well B orders the likeliest symbols; 1 is perfect. Different: the share of
    distributions that --exact, --kappa or --tolerance tells apart. L1 and KL: how far distributions
    are apart. Symbols are matched by name.

    --guide, --temperature, --top-k and --top-p constrain A, as when B was learnt from it.
    --vocabulary, --prompt, --chat and --ends are for A and B, if they are LLMs.
    """
    if (words is not None) + (corpus is not None) + all_words > 1:
        raise click.UsageError("Give only one of --words, --corpus and --all-words.")
    equivalence = options.relation(exact, kappa, tolerance)
    target, candidate = models_of([a, b], Described.taken_from(chosen))
    target = Constraints.taken_from(chosen).around(target)
    with prints_aside():
        if all_words:
            result = _on_all_words((a, target), (b, candidate), equivalence=equivalence, k=k)
        elif corpus is not None:
            result = _on_corpus(target, candidate, corpus, equivalence=equivalence, k=k)
        else:
            result = _on_drawn_words(
                target, candidate, words, seed, max_length, equivalence=equivalence, k=k
            )
    fields = vars(result) | ({} if corpus else {"kl_of_words": result.kl_of_words})
    if as_json:
        names = {"a": a, "b": b, "corpus": corpus, "kappa": kappa, "tolerance": tolerance}
        print_json({**names, **_object_of(fields)})
        return
    from pdfalearn.results import EVALUATION_HEADER as HEADER
    from pdfalearn.results import comparison_cells

    print_table(f"{b} against {a}", HEADER, comparison_cells(result), figures=True)
    print_facts("the words", _facts(fields))


def _on_all_words(
    target: tuple[str, Model],
    candidate: tuple[str, Model],
    *,
    equivalence: options.Relation,
    k: int | None,
) -> Evaluation:
    pdfas = []
    for name, model in (target, candidate):
        pdfa = looked_into(model)
        if pdfa is None:
            raise InputError(
                f"--all-words needs two automata, and {name} can only be asked: draw --words N"
            )
        pdfas.append(pdfa)
    return pdfalearn.metrics.evaluate_exactly(*pdfas, equivalence=equivalence, k=k)


def _on_corpus(
    target: Model, candidate: Model, corpus: Path, *, equivalence: options.Relation, k: int | None
) -> Evaluation:
    lines = word_lines(corpus)
    words = target.alphabet.decode_words(lines.encoded(target.alphabet))
    result = pdfalearn.evaluate(target, candidate, words, equivalence=equivalence, k=k)
    return replace(result, cut_words=lines.cut_words(target.alphabet))


def _on_drawn_words(
    target: Model,
    candidate: Model,
    words: int | None,
    seed: int,
    max_length: int,
    *,
    equivalence: options.Relation,
    k: int | None,
) -> Evaluation:
    count = 1000 if words is None else words
    return pdfalearn.evaluate(
        target,
        candidate,
        count=count,
        seed=seed,
        max_length=max_length,
        equivalence=equivalence,
        k=k,
    )


def _object_of(fields: dict[str, object]) -> dict[str, object]:
    """Make a JSON object of an evaluation; JSON has no infinity, so that is the text "inf"."""
    plain: dict[str, object] = {}
    for name, value in fields.items():
        if isinstance(value, pdfalearn.results.Agreement):
            plain[name] = _object_of(vars(value))
        elif name != "equivalence":
            plain[name] = "inf" if value == math.inf else value
    return plain


def _facts(fields: dict[str, object]) -> dict[str, str]:
    from pdfalearn.results import FACTS, figure

    labels = FACTS | {"words": "number", "kl_of_words": "KL of whole words"}
    labels |= {"target_perplexity": "perplexity of A", "perplexity": "perplexity of B"}
    shown = {label: fields.get(name) for name, label in labels.items()}
    facts = {label: figure(value) for label, value in shown.items() if value is not None}
    return {"number": "all, with their probabilities"} | facts
