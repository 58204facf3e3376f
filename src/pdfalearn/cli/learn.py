"""``pdfalearn learn`` and ``pdfalearn sweep``: learn a PDFA, with one relation or with several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from operator import attrgetter
from statistics import median_low
from typing import TYPE_CHECKING, Any, BinaryIO

import click

import pdfalearn
from pdfalearn.cli._chosen import Chosen, read_automaton
from pdfalearn.cli._commands import LongRun, Output, automaton_output, command
from pdfalearn.cli._options import (
    BUDGET,
    DEFAULT_KAPPA,
    LEARNERS,
    MODEL,
    ORACLE,
    RELATION,
    RUN,
    corpus,
    option,
)
from pdfalearn.cli._output import Answer, Table, facts, members_of
from pdfalearn.text import LABELS, count_text, shorten, symbol_text

if TYPE_CHECKING:
    from pdfalearn import PDFA, Certificate, Result, Sweep
    from pdfalearn.equivalence import Relation
    from pdfalearn.results import Statistics
    from pdfalearn.sampled import Samples

# They compare by a tolerance, and keep a table instead of a tree.
_RIVALS = ("lpstar", "wlstar")
# By more than this a network in float32 hardly differs from one batch to the next.
_NEAR = 1e-6
_MOST_UNRESOLVED = 5
# What is promised of samples, as `learn_samples` calls it; and what is not for them.
_PROMISED = {"nearness": "gap", "alpha": "alpha"}
_NOT_FOR_SAMPLES = (
    *(*MODEL, *RELATION, "decimals", "reference", *ORACLE, "model_id", "tree"),
    *(name for name in BUDGET if name != "max_words"),
)


@command(
    "MODEL",
    *MODEL,
    option("kappa", "Learn with K intervals (quantization).", show_default=str(DEFAULT_KAPPA)),
    option("exact", "Learn to the last bit."),
    option("tolerance", "Learn within a tolerance; for lpstar and wlstar only."),
    "equivalence decimals learner reference",
    *ORACLE,
    *BUDGET,
    *RUN,
    option("output", "Where to write the learnt PDFA; in .zip the whole run, in .html its page."),
    "tree access_words nearness alpha log_every",
)
def learn(chosen: Chosen) -> LongRun[Result]:
    """Learn a PDFA from MODEL by asking it for distributions.

    MODEL is a file of a PDFA or of an n-gram model, a model or a function of a Python file, a
    program in any language or an LLM; 'pdfalearn models' says how each is named.

    Or it is a Samples of a Python file: a function that only draws. Then --max-words says how many
    words may be drawn; --store keeps what was drawn, --gap and --alpha say what is promised.

    Reaching a bound is not an error: what has been learnt is written, and the certificate says
    where it stopped. Ctrl-C stops learning and saves what has been learnt if -o is given.

    Examples
    --------
    $ pdfalearn learn target.json --kappa 1000 -o learnt.json
    $ pdfalearn learn target.json --kappa 10 --tree tree.svg
    $ pdfalearn learn target.json --equivalence topk:1 -o likeliest.json
    $ pdfalearn learn my_file.py:make_model --equivalence my_file.py:keys --max-words 5000
    $ pdfalearn learn target.json --reference learnt.json
    $ pdfalearn learn my_module:my_model --alphabet ab --kappa 20 --epsilon 0.01
        --delta 0.01 --store answers.db --model-id my-model-v1 -o out.json
    $ pdfalearn learn my_file.py:make_model --max-seconds 600 --max-cost 100000
    $ pdfalearn learn target.json --learner lpstar --tolerance 0.001 -o learnt.json
    $ pdfalearn learn model.arpa --kappa 100 --top-k 10 --epsilon 0.05 -o out.json
    $ pdfalearn learn shop.py:samples --max-words 40000 --store drawn.jsonl -o learnt.json
    $ pdfalearn learn hf:my_llm --vocabulary digits.txt --prompt 'A number:' --ends rest
        --guide '[1-9][0-9]?' --kappa 4 -o numbers.json
    """
    from pdfalearn.cli._models import find_samples
    from pdfalearn.displays import LearningLine
    from pdfalearn.learning import may_be_endless

    outputs = _outputs(chosen)
    file = chosen.model.rpartition(":")[0]
    chosen.refuse_overwriting(
        *(chosen.model, file, *chosen.samplers, chosen.store, chosen.reference)
    )
    run: Callable[..., Result]
    is_endless = False
    if samples := find_samples(chosen.model):
        run, relation = _of_samples(chosen, samples)
    else:
        chosen.refuse(_PROMISED, "is for Samples, which only draw.")
        relation = _make_relation(chosen)
        model = chosen.make_model(chosen.model)
        reference = None if chosen.reference is None else read_automaton(chosen.reference)
        oracle = chosen.make_oracles(model)(relation)
        is_endless = not isinstance(model, pdfalearn.PDFA) and may_be_endless(model, oracle)
        run = partial(
            pdfalearn.learn,
            model,
            equivalence=relation,
            oracle=oracle,
            reference=reference,
            budget=chosen.make_budget(),
            **chosen.collect("learner", *RUN),
        )
    return LongRun(
        run,
        LearningLine(may_be_endless=is_endless),
        partial(_describe, chosen, relation),
        "result",
        "the first answer",
        outputs,
        lambda result: f"the hypothesis so far, of {count_text(len(result.pdfa), 'states')}",
    )


def _of_samples(chosen: Chosen, samples: Samples) -> tuple[Callable[..., Result], Relation]:
    """Return what learns from samples, and how near words are to their states."""
    from pdfalearn.sampled import DEFAULT_GAP, learn_samples

    why = "is for models that tell probabilities, not for Samples."
    chosen.refuse(_NOT_FOR_SAMPLES, why)
    if chosen.learner != LEARNERS[0]:
        raise click.UsageError(f"--learner {why}")
    if chosen.max_words is None:
        raise click.UsageError("Samples need --max-words: how many words may be drawn.")
    given = {_PROMISED[key]: value for key, value in chosen.collect_given(_PROMISED).items()}
    relation = pdfalearn.Tolerance(given.get("gap", DEFAULT_GAP))
    run = partial(learn_samples, samples, max_samples=chosen.max_words, store=chosen.store, **given)
    return run, relation


def _make_relation(chosen: Chosen) -> Relation:
    """Refuse options that do not fit together, and make the relation."""
    if chosen.tolerance is not None and chosen.learner not in _RIVALS:
        raise click.UsageError("Only lpstar and wlstar take --tolerance T.")
    if chosen.learner == "wlstar" and chosen.tolerance is None:
        raise click.UsageError("wlstar needs --tolerance T.")
    if chosen.tree is not None and chosen.learner in _RIVALS:
        raise click.UsageError(f"{chosen.learner} has no classification tree to write.")
    if chosen.access_words and not chosen.json:
        raise click.UsageError("--access-words needs --json.")
    relation: Relation = chosen.make_relation(DEFAULT_KAPPA)
    if chosen.decimals is None:
        return relation
    if isinstance(relation, pdfalearn.Tolerance):
        raise click.UsageError("--decimals rounds for equivalences, not for --tolerance.")
    return pdfalearn.equivalence.Rounded(relation, chosen.decimals)


def _outputs(chosen: Chosen) -> list[Output[Result]]:
    """Return the files to write, after a check that they can be written."""
    whole = pdfalearn.Result, "the whole run"
    outputs: list[Output[Result]]
    outputs = automaton_output(chosen, attrgetter("pdfa"), "the learnt PDFA", whole)
    if chosen.tree is not None:
        pdfalearn.io.check_can_save(chosen.tree, pdfalearn.results.TreeNode)

        # Of an interrupted run only the hypothesis is written.
        def write_tree(result: Result) -> bool:
            if not _is_interrupted(result):
                pdfalearn.io.save(result.tree, chosen.tree)
            return not _is_interrupted(result)

        outputs.append(Output(chosen.tree, "the classification tree", write_tree))
    return outputs


def _is_interrupted(result: Result) -> bool:
    return result.certificate.kind == "interrupted"


def _describe(chosen: Chosen, relation: Relation, result: Result) -> Answer:
    """Make the answer of what has been learnt and what it has cost."""
    members = {
        "target": chosen.model,
        **chosen.collect("kappa", "learner", "seed", "output", "store"),
        **chosen.collect_given(["tolerance", "equivalence"]),
        "tree": None if _is_interrupted(result) else chosen.tree,
        "certificate": certificate_members(result.certificate),
        "states": len(result.pdfa),
        "near_boundary": result.near_boundary(_NEAR) if result.has_boundaries else None,
        "statistics": {**vars(result.statistics), "batches": _batches(result.statistics)},
        "history": [vars(progress) for progress in result.history],
        "notes": result.notes,
    }
    if chosen.access_words:
        members["access_words"] = result.access_words
    title = f"{chosen.model}, learnt {_relation_text(relation)}"
    return Answer(members, [facts(title, facts_of(result))], result.notes)


def _relation_text(relation: Relation) -> str:
    if isinstance(relation, pdfalearn.equivalence.Rounded):
        return f"{_relation_text(relation.equivalence)}, rounded to {relation.decimals} decimals"
    if isinstance(relation, pdfalearn.Tolerance):
        return f"within {relation.tolerance:g}"
    if isinstance(relation, pdfalearn.Quantization):
        return f"at kappa {relation.kappa}"
    return "exactly" if isinstance(relation, pdfalearn.Exact) else f"by {relation}"


def facts_of(result: Result) -> dict[str, object]:
    """Return what people see of a run; lines that would say nothing are left out."""
    batches = "{count:,} (median size {median:,}, largest {largest:,})"
    found: dict[str, object] = {
        LABELS["states"]: len(result.pdfa),
        **pdfalearn.results.cost_texts(result.statistics),
        "batches": batches.format(**_batches(result.statistics)),
    }
    if result.has_boundaries:
        near = result.near_boundary(_NEAR)
        found[f"probabilities within {_NEAR:g} of a boundary"] = near
    found |= outside_facts(result.certificate)
    if len(result.unresolved):
        found["unresolved transitions"] = _unresolved_text(result)
    if result.certificate.details.get("is_growing"):
        found["end"] = "not in sight, states grew with the questions; 'pdfalearn distill' may help"
    return found | {"certificate": str(result.certificate)}


def _unresolved_text(result: Result) -> str:
    """Name some transitions that lead to the best match so far."""
    symbols = result.pdfa.alphabet.symbols
    named = [
        f"{state} by {shorten(symbol_text(symbols[symbol]), 20)}"
        for state, symbol in result.unresolved[:_MOST_UNRESOLVED].tolist()
    ]
    count = len(result.unresolved)
    more = ", …" if count > _MOST_UNRESOLVED else ""
    return f"{count:,}: from {', '.join(named)}{more}"


def outside_facts(certificate: Certificate) -> dict[str, str]:
    """Return how much mass was outside of the alphabet; nothing if the model has none."""
    outside = certificate.details.get("outside")
    if not isinstance(outside, dict):
        return {}
    text = "{mean:.4g} on average, {largest:.4g} at most".format(**outside)
    unknown = outside["unknown"]
    unasked = f"; unknown for {unknown:,} distributions that were not asked" if unknown else ""
    return {"mass outside of the alphabet": text + unasked}


def certificate_members(certificate: Certificate) -> dict[str, object]:
    """Return the members of a certificate's JSON object."""
    words = {"kind": certificate.kind, "statement": certificate.statement}
    return {**words, **certificate.details}


def _batches(statistics: Statistics) -> dict[str, object]:
    """Sum up the sizes of all batches: one for each word is too long a list to print."""
    sizes = statistics.batches
    return {
        "count": len(sizes),
        "median": median_low(sizes) if sizes else 0,
        "largest": max(sizes, default=0),
        "sizes": sorted(Counter(sizes).items()),
    }


@command(
    "MODEL kappas tolerances",
    *MODEL,
    *ORACLE,
    *BUDGET,
    corpus("Measure divergence on the words of FILE; of a PDFA it is computed."),
    *RUN,
    option("output", "Where to write the recommended automaton, if there is one."),
    "plot log_every",
)
def sweep(chosen: Chosen) -> LongRun[Sweep]:
    """Learn MODEL with several kappas and recommend one.

    All runs share their answers, so that MODEL is asked for each word once. The bounds on words,
    symbols, cost and seconds are for the whole sweep: a quarter is for words to measure divergence
    on, and every run may spend an equal share of what is left. Without a bound, a model that is not
    a PDFA is asked for 100,000 words at most.

    The table has for each kappa or tolerance the states of the automaton; the words that learning
    took, and how many of them were new; the divergence KL(MODEL ‖ automaton) per symbol in nats
    with its 95% interval from … to; the share of positions where it is infinite; and how learning
    ended. Where no small automaton equals MODEL, 'pdfalearn distill' is recommended instead.

    Examples
    --------
    $ pdfalearn sweep target.json
    $ pdfalearn sweep target.json --kappas 5,10,100 --tolerances 0.1,0.01
    $ pdfalearn sweep my_file.py:make_model --max-words 20000 --plot sweep.svg -o learnt.json
    """
    from pdfalearn.displays import SweepLine
    from pdfalearn.sweeping import DEFAULT_KAPPAS

    outputs = _sweep_outputs(chosen)
    chosen.refuse_overwriting(chosen.model, chosen.store)
    model = chosen.make_model(chosen.model)
    tolerances = chosen.tolerances or []
    kappas = chosen.kappas or ([] if tolerances else DEFAULT_KAPPAS)
    run = partial(
        pdfalearn.sweep,
        model,
        kappas=kappas,
        tolerances=tolerances,
        oracle=chosen.make_oracles(model),
        budget=chosen.make_budget(),
        sampler=None if chosen.corpus is None else chosen.make_corpus(chosen.corpus),
        **chosen.collect(*RUN),
    )
    line, describe = SweepLine(len(kappas) + len(tolerances)), partial(_describe_sweep, chosen)
    return LongRun(run, line, describe, "sweep", "anything was learnt", outputs)


def _choose(found: Sweep) -> PDFA | None:
    return None if found.recommended is None else found.recommended.pdfa


def _write_figure(kind: str, figure: Any, stream: BinaryIO) -> None:
    figure.savefig(stream, format=kind)


_PLOT_WRITERS: dict[str, Callable[[Any, BinaryIO], None]] = {
    f".{kind}": partial(_write_figure, kind) for kind in ("svg", "png", "pdf")
}


def _sweep_outputs(chosen: Chosen) -> list[Output[Sweep]]:
    """Return the files to write, after a check that they can be written."""
    from pdfalearn.extras import new_figure
    from pdfalearn.files import check_can_write, write_named

    outputs: list[Output[Sweep]]
    outputs = automaton_output(chosen, _choose, "the recommended automaton")
    if chosen.plot is not None:
        check_can_write(chosen.plot, _PLOT_WRITERS)
        figure = new_figure()  # matplotlib may be missing

        def plot(found: Sweep) -> None:
            found.plot(figure.subplots())
            write_named(figure, chosen.plot, _PLOT_WRITERS)

        outputs.append(Output(chosen.plot, "the figure", plot))
    return outputs


def _describe_sweep(chosen: Chosen, found: Sweep) -> Answer:
    from pdfalearn.results import SWEEP_HEADER, questions_text, sweep_cells, sweep_records

    names = ("words_asked", "words_alone", "recommendation", "drawn_words")
    members = {"target": chosen.model, "rows": sweep_records(found), **members_of(found, *names)}
    title = f"{chosen.model}, learnt again and again"
    table = Table(title, SWEEP_HEADER, sweep_cells(found), is_boxed=False)
    texts = {"words asked": questions_text(found), "recommended": found.recommendation}
    return Answer(members, [table, facts("in words", texts)])
