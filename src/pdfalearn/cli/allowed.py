"""``pdfalearn support``: learn the automaton of what a model may say."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

import pdfalearn
from pdfalearn.cli._chosen import Chosen
from pdfalearn.cli._commands import LongRun, Output, command
from pdfalearn.cli._options import BUDGET, MODEL, ORACLE, RUN, option
from pdfalearn.cli._output import Answer, facts
from pdfalearn.cli.learn import certificate_members, facts_of
from pdfalearn.text import count_text

if TYPE_CHECKING:
    from pdfalearn import Result


@command(
    "MODEL",
    option(
        "threshold",
        "What a model may say has more than this probability.",
        type=click.FloatRange(0, 1),
        metavar="P",
        default=0.0,
    ),
    *MODEL,
    *ORACLE,
    *BUDGET,
    *RUN,
    option("output", "Where to write the DFA: .json or .json.gz."),
    "log_every",
)
def support(chosen: Chosen) -> LongRun[Result]:
    """Learn the DFA of the words that MODEL may say.

    A word is accepted if each of its symbols is above the threshold after those before it, and the
    end is after all of them. MODEL is not asked for any word that begins otherwise. With the
    threshold 0 what counts is what is possible; networks find everything possible. The file may
    stand for a regular expression in --guide, --language and the like.

    Examples
    --------
    $ pdfalearn support target.json --threshold 0.2 -o may.json
    $ pdfalearn support my_file.py:make_model --threshold 0.001 --max-words 5000
    $ pdfalearn ask probability target.json may.json
    $ pdfalearn sample target.json --guide may.json --count 3
    """
    from pdfalearn.displays import LearningLine
    from pdfalearn.languages import DFA
    from pdfalearn.learning import SupportDFA, may_be_endless

    outputs: list[Output[Result]] = []
    if (path := chosen.output) is not None:
        pdfalearn.io.check_can_save(path, DFA)
        outputs = [Output(path, "the DFA", lambda made: pdfalearn.save(SupportDFA(made).dfa, path))]
    chosen.refuse_overwriting(chosen.model, *chosen.samplers, chosen.store)
    model = pdfalearn.models.Above(chosen.make_model(chosen.model), chosen.threshold)
    relation = pdfalearn.equivalence.Support(chosen.threshold)
    oracle = chosen.make_oracles(model)(relation)

    def describe(result: Result) -> Answer:
        names = chosen.collect("model", "threshold", "seed", "output", "store")
        accepting = SupportDFA(result).dfa.accepting.sum()
        members = {
            **names,
            "states": len(result.pdfa),
            "accepting": int(accepting),
            "certificate": certificate_members(result.certificate),
            "statistics": vars(result.statistics),
            "notes": result.notes,
        }
        shown = {"states in which words may end": int(accepting), **facts_of(result)}
        return Answer(members, [facts(f"what {chosen.model} may say", shown)], result.notes)

    return LongRun(
        partial(
            pdfalearn.learn,
            model,
            equivalence=relation,
            oracle=oracle,
            budget=chosen.make_budget(),
            **chosen.collect(*RUN),
        ),
        LearningLine(may_be_endless=may_be_endless(model, oracle)),
        describe,
        "result",
        "the first answer",
        outputs,
        lambda result: f"the DFA so far, of {count_text(len(result.pdfa), 'states')}",
    )
