"""``pdfalearn random``, ``info``, ``quotient``, ``condition`` and ``convert``: single automata."""

from __future__ import annotations

from typing import Any

import click

import pdfalearn
from pdfalearn.cli._chosen import Chosen, read_automaton
from pdfalearn.cli._commands import command
from pdfalearn.cli._options import DEFAULT_KAPPA, option, output
from pdfalearn.cli._output import Answer, facts, members_of
from pdfalearn.cli._words import language_of
from pdfalearn.text import short_word_text, shorten, symbol_text


@command(
    click.Argument(["size"], type=int),
    output("Where to write it: .json, .json.gz or .npz."),
    "alphabet_size distributions zero_probability undefined exact_size",
    option("seed", "Same seed, same PDFA."),
)
def random(chosen: Chosen) -> Answer:
    """Draw a random PDFA of about SIZE states.

    It is the reachable part of a random automaton (Nicaud's method), so that its size varies a
    little around SIZE. The symbols are 0, 1, and so on; the distributions are drawn uniformly.

    Examples
    --------
    $ pdfalearn random 300 -o target.json
    $ pdfalearn random 300 -o coins.json --distributions 2 --seed 7
    $ pdfalearn random 50 -o holes.json --zero-probability 0.3 --undefined
    $ pdfalearn random 100000 -o large.npz --symbols 4
    """
    chosen.check_output()
    symbols = chosen.alphabet_size
    pdfa = pdfalearn.datasets.random_pdfa(
        chosen.size,
        symbols,
        **chosen.collect("distributions", "zero_probability", "undefined", "exact_size", "seed"),
    )
    pdfalearn.save(pdfa, chosen.output)
    members = {"states": len(pdfa), "symbols": symbols, **chosen.collect("output", "seed")}
    line = f"{len(pdfa):,} states, {symbols:,} symbols, seed {chosen.seed}"
    return Answer(members, [f"{chosen.output}: {line}"])


@command("PDFA", option("kappa", "Count classes with K intervals.", default=DEFAULT_KAPPA))
def info(chosen: Chosen) -> Answer:
    """Describe a PDFA and say whether it can be reduced.

    It is weakly minimal if no two of its reachable states are equivalent at the given kappa. Its
    depth is the length of the longest word that is needed to reach a state. Of an n-gram model
    (.arpa) it says the order too, and the largest correction: how far from 1 the probabilities
    after a context sum. Of a frontier (.zip, of 'pdfalearn distill') it describes the best
    automaton, and shows the table of all sizes.

    Examples
    --------
    $ pdfalearn info target.json
    $ pdfalearn info target.json --kappa 10 --json
    $ pdfalearn distill target.json --symbols 2000 -o frontier.zip
    $ pdfalearn info frontier.zip
    """
    relation = pdfalearn.Quantization(chosen.kappa)
    name, more, frontier = chosen.pdfa.lower(), dict[str, Any](), None
    if name.endswith((".arpa", ".arpa.gz")):  # as an automaton, it has lost what is said here
        ngram = pdfalearn.io.read_arpa(chosen.pdfa)
        pdfa, more = ngram.pdfa, members_of(ngram, "order", "largest_correction")
    else:
        loaded = pdfalearn.load(chosen.pdfa) if name.endswith(".zip") else None
        frontier = loaded if isinstance(loaded, pdfalearn.Frontier) else None
        pdfa = read_automaton(chosen.pdfa) if frontier is None else frontier.best
    reached = pdfalearn.analysis.reachable(pdfa)
    classes = len(pdfalearn.quotient(pdfa, equivalence=relation))
    counts = {
        "states": len(pdfa),
        "reachable_states": len(reached.states),
        "distinct_distributions": int(pdfalearn.Exact().classes(pdfa.probabilities).max()) + 1,
        "undefined_transitions": int((pdfa.transitions < 0).sum()),
        "depth": reached.depth,
        "kappa": chosen.kappa,
        "classes": classes,
        "weakly_minimal": classes == len(reached.states),
        **more,
    }
    symbols, terminal = pdfa.alphabet.symbols, pdfa.alphabet.terminal
    members = {"file": chosen.pdfa, "alphabet": symbols, "terminal": terminal, **counts}
    shown = {
        "alphabet": short_word_text(symbols, joined=False, most=20),
        "terminal": shorten(symbol_text(terminal), 80),
        **{name.replace("_", " "): value for name, value in counts.items()},
        **({"largest correction": f"{more['largest_correction']:.2g}"} if more else {}),
    }
    if frontier is None:
        return Answer(members, [facts(chosen.pdfa, shown)])
    from pdfalearn.cli.distill import frontier_members, frontier_parts

    best = facts(f"{chosen.pdfa}: the best automaton of a frontier", shown)
    members["frontier"] = frontier_members(frontier)
    return Answer(members, [best, *frontier_parts("all sizes", frontier)])


@command("PDFA", output("Where to write the quotient."), "exact kappa equivalence")
def quotient(chosen: Chosen) -> Answer:
    """Merge the equivalent states of a PDFA.

    States that no word reaches are left out. The result has one state for each class and is
    equivalent to the given one, exactly, at the given kappa or by the given equivalence.

    Examples
    --------
    $ pdfalearn quotient target.json -o small.json
    $ pdfalearn quotient target.json -o smaller.json --kappa 10
    $ pdfalearn quotient target.json -o order.json --equivalence ranking:2
    """
    relation = chosen.make_relation()
    chosen.check_output()
    pdfa = read_automaton(chosen.pdfa)
    reduced = pdfalearn.quotient(pdfa, equivalence=relation)
    pdfalearn.save(reduced, chosen.output)
    given = {"file": chosen.pdfa, **chosen.collect("output", "kappa")}
    given |= chosen.collect_given(["equivalence"])
    return Answer(
        {**given, "states_before": len(pdfa), "states_after": len(reduced)},
        [f"{chosen.output}: {len(reduced):,} states of {len(pdfa):,}"],
    )


@command("PDFA LANGUAGE form", output("Where to write the automaton."))
def condition(chosen: Chosen) -> Answer:
    """Keep the words of a language, as likely as they are then.

    Each of these words has its probability divided by that of all of them, exactly. To forbid
    symbols one by one, as the option --guide does, is something else: it makes words likelier whose
    beginnings have few ways on.

    Examples
    --------
    $ pdfalearn condition target.json '0.*1' -o given.json
    $ pdfalearn condition target.json 01 --as begins -o given.json
    $ pdfalearn sample given.json --count 3
    """
    chosen.check_output()
    pdfa = read_automaton(chosen.pdfa)
    kept = language_of(chosen.language, chosen.form, pdfa.alphabet)
    result, share = pdfalearn.analysis.condition(pdfa, kept), pdfalearn.probability(pdfa, kept)
    pdfalearn.save(result, chosen.output)
    given = {"file": chosen.pdfa, "output": chosen.output, "probability": share}
    return Answer(
        {**given, "states_before": len(pdfa), "states_after": len(result)},
        [f"{chosen.output}: {len(result):,} states, {share:.6g} of the words of {chosen.pdfa}"],
    )


@command(
    "PDFA",
    output("Where to write it; the ending names the format."),
    option("kappa", "For .drn: write of every probability which of K intervals it is in."),
)
def convert(chosen: Chosen) -> Answer:
    """Turn a PDFA from one file format into another.

    The endings of the files name the formats: .json, .json.gz and .npz can be read and written,
    .zip (runs and frontiers) only read, and .dot, .svg, .png, .pdf and .html only written.
    Nothing of a PDFA is lost between the first three: probabilities are kept to the last bit. Files
    of other programs can be read: n-gram models (.arpa, .arpa.gz) and models of PAutomaC
    (.pautomac_model.txt, .pautomac); or written: .pm for PRISM, .drn for Storm, .att
    and .syms for OpenFst, .mc.dot for AALpy, and those of PAutomaC.

    Examples
    --------
    $ pdfalearn convert target.json -o target.npz
    $ pdfalearn convert target.npz -o target.json.gz
    $ pdfalearn convert target.json -o target.drn
    $ pdfalearn convert target.json -o intervals.drn --kappa 1000
    """
    chosen.check_output()
    pdfa = read_automaton(chosen.pdfa)
    is_json = chosen.pdfa.lower().endswith((".json", ".json.gz"))
    lost = f"{chosen.output} has only the automaton, without the templates or thresholds"
    notes = [lost] if is_json and pdfalearn.io.load_watching(chosen.pdfa) else []
    if chosen.kappa is None:
        pdfalearn.save(pdfa, chosen.output)
    else:
        relation = pdfalearn.Quantization(chosen.kappa)
        pdfalearn.analysis.save_intervals(pdfa, chosen.output, equivalence=relation)
    members = {"file": chosen.pdfa, "output": chosen.output, "states": len(pdfa)}
    return Answer(members, [f"{chosen.output}: {len(pdfa):,} states"], notes)
