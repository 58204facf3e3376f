"""``pdfalearn compare``, ``divergence`` and ``evaluate``: two automata or models side by side."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pdfalearn
from pdfalearn.cli._chosen import Chosen, read_automaton
from pdfalearn.cli._commands import LongRun, command
from pdfalearn.cli._options import CORPUS, MODEL, RELATION, corpus, option
from pdfalearn.cli._output import Answer, Line, Part, Table, facts, members_of
from pdfalearn.cli._words import note_lines, note_raw_lines, read_watch, read_words
from pdfalearn.errors import InputError
from pdfalearn.text import are_characters, short_word_text, shorten, symbol_text, width_apart

if TYPE_CHECKING:
    from pdfalearn import PDFA, Corpus
    from pdfalearn.cli._chosen import Model
    from pdfalearn.equivalence import Relation
    from pdfalearn.results import Changes
    from pdfalearn.typing import Floats

_MOST_ROWS = 20
# Files of words seldom have as many events that the other file has not.
_MANY_EVENTS = 100


@command(
    "A B exact kappa tolerance equivalence compared_along false_alarms processes",
    *CORPUS,
    "log_every",
)
def compare(chosen: Chosen) -> Answer | LongRun[Changes]:
    """Print whether two PDFA are the same, or what words changed.

    Two PDFA are if they have the same distribution after every word, where --exact, --kappa,
    --tolerance or --equivalence says what the same is. If not, you see a word that tells A and B
    apart and both distributions after it. Symbols are matched by name; one that only A or B knows
    is impossible in the other. The exit code is 0 for yes and 1 for no.

    Of two files of words, such as the sessions of two days, you see which transitions words take
    more often in one than in the other, pair of states by pair of states, and events that only
    one has. Each is tested, with words as what is independent; the p-values are those after Holm.
    The exit code is 0 if no change is known and 1 if there is one.

    Models that can only be asked are compared by 'pdfalearn evaluate'.

    Examples
    --------
    $ pdfalearn compare monday.txt friday.txt
    $ pdfalearn compare monday.txt friday.txt --model usual.json --json
    $ pdfalearn compare target.json learnt.json
    $ pdfalearn compare target.json learnt.json --kappa 1000
    $ pdfalearn compare target.json learnt.json --tolerance 0.01 --json
    $ pdfalearn compare target.json learnt.json --equivalence topk:1
    """
    from pdfalearn.cli._models import names_words

    of_words = ("compared_along", "false_alarms", *CORPUS)
    if all(names_words(name, chosen) for name in (chosen.a, chosen.b)):
        chosen.refuse(RELATION, "is for automata, not words.")
        return _compare_words(chosen)
    chosen.refuse(of_words, "is for two files of words.")
    relation, names = chosen.make_relation(), f"{chosen.a} and {chosen.b}"
    same = "equivalent" if chosen.kappa is None else f"equivalent at kappa {chosen.kappa}"
    if chosen.tolerance is not None:
        same = f"similar within tolerance {chosen.tolerance}"
    elif chosen.equivalence is not None:
        same = f"equivalent by {chosen.equivalence}"
    given = chosen.collect("a", "b", "kappa", "tolerance")
    given |= chosen.collect_given(["equivalence"])
    a, b = read_automaton(chosen.a), read_automaton(chosen.b)
    found = pdfalearn.compare(a, b, equivalence=relation)
    if found.word is None:
        line = Line(f"yes: {names} are {same}", "green")
        return Answer({**given, "equivalent": True, "word": None}, [line])
    symbols = (found.a.terminal, *found.a.alphabet.symbols)
    row, other = (pdfa.next_distribution(found.word) for pdfa in (found.a, found.b))
    members = {"equivalent": False, "word": found.word, "symbols": symbols}
    members |= {"distribution_a": row, "distribution_b": other}
    places = _places(row, other, relation, len(symbols))
    width = width_apart((symbol_text(symbols[i]) for i in places), 40)
    cells = [
        (
            shorten(symbol_text(symbols[i]), width),
            *("undefined" if one is None else str(float(one[i])) for one in (row, other)),
        )
        for i in places
    ]
    word = short_word_text(found.word, joined=are_characters(symbols[1:]))
    header = ("symbol", f"A: {chosen.a}", f"B: {chosen.b}")
    hidden = len(symbols) - len(places)
    parts: list[Part] = [
        Line(f"no: {names} are not {same}", "red"),
        Table(f"after {word}", header, cells),
        *([f"{hidden:,} more symbols"] if hidden else []),
    ]
    return Answer({**given, **members}, parts, exit_code=1)


def _compare_words(chosen: Chosen) -> LongRun[Changes]:
    """Find what has changed between two files of words."""
    from pdfalearn.displays import DistillingLine

    along = chosen.compared_along
    settings = chosen.collect_given(("false_alarms",)) | {"processes": chosen.processes}
    notes: list[str] = []
    if along is None:
        a, b = (chosen.make_corpus(name) for name in (chosen.a, chosen.b))
        note_raw_lines(chosen, (chosen.a, chosen.b), "give a --model distilled with --template")
    else:
        watch = read_watch(along)
        read = [read_words(watch, chosen, (one,), are_whole=True) for one in (chosen.a, chosen.b)]
        (a, b), settings["model"] = (one.corpus for one in read), watch.pdfa
        notes += [note for one in read for note in one.notes]
    run = partial(pdfalearn.compare, a, b, **settings)
    describe = partial(_describe_changes, chosen, a, b, notes)
    stopped = "interrupted: nothing was compared"
    return LongRun(run, DistillingLine(is_of_words=True), describe, interruption=stopped)


def _describe_changes(
    chosen: Chosen, a: Corpus, b: Corpus, notes: list[str], found: Changes
) -> Answer:
    along = chosen.compared_along
    if along is None and len(found.events) > _MANY_EVENTS:
        notes.append("are these raw lines? Then give a --model that was distilled with --template")
    members = {**chosen.collect("a", "b"), "model": along, **found.document()}
    members["left_out"] = a.left_out + b.left_out
    first, second = found.statement.split("\n")
    parts: list[Part] = [Line(first, "red" if found else "green"), second]
    titles = ["new and vanished events"] * bool(found.events)
    titles.append(f"changed transitions; a: {chosen.a}, b: {chosen.b}")
    tables = zip(titles, found.tables(), strict=False)
    parts += [Table(title, table[0], table[1:]) for title, table in tables]
    notes += note_lines({"left_out": members["left_out"]})
    return Answer(members, parts, notes, int(bool(found)))


def _places(row: Floats | None, other: Floats | None, relation: Relation, count: int) -> list[int]:
    """Return the places of all symbols, or of those that tell most if there are too many."""
    if count <= _MOST_ROWS:
        return list(range(count))
    import numpy as np  # help does not need it

    # What is undefined counts as a row of zeros.
    columns = [np.zeros((count, 1)) if one is None else one[:, None] for one in (row, other)]
    gaps = abs(columns[0] - columns[1])[:, 0].tolist()
    # Only some symbols make the difference: under a quantization, not those with the largest gaps.
    if isinstance(relation, pdfalearn.Tolerance):
        decides = (~relation.similar(*columns)).tolist()
    elif isinstance(relation, pdfalearn.Exact | pdfalearn.Quantization):
        decides = (relation.keys(columns[0]) != relation.keys(columns[1]))[:, 0].tolist()
    else:  # it does not look at one symbol at a time
        decides = [False] * count
    order = sorted(range(count), key=lambda i: (not decides[i], -gaps[i]))
    return sorted(order[:_MOST_ROWS])


_DIVERGENCES = {
    "per_symbol": "KL per symbol",
    "per_word": "KL per word",
    "expected_length": "expected length",
    "infinite_share": "positions where it is infinite",
    "finite_mean": "mean over all other positions",
}


@command("A B worst_states")
def divergence(chosen: Chosen) -> Answer:
    """Measure exactly how far two automata are apart.

    KL(A ‖ B) is the Kullback-Leibler divergence in nats: how much less likely, in the logarithm, a
    word drawn from A is in B. It is 0 only if both give every word the same probability, and
    infinite if B forbids what A allows; then you see at how many positions that happens, and
    the mean over the others. Per symbol: divided by the expected length + 1; where words of A may
    never end, the long-run rate. KL(B ‖ A) has the words drawn from B. Nothing is sampled. Symbols
    are matched by name.

    Both have to be automata. Models that can only be asked are compared by 'pdfalearn evaluate'.

    Examples
    --------
    $ pdfalearn divergence target.json learnt.json
    $ pdfalearn divergence target.json learnt.json --states 5 --json
    """
    result = pdfalearn.divergence(read_automaton(chosen.a), read_automaton(chosen.b))
    one, back = result.forward, result.backward
    ways = {"forward": members_of(one, *_DIVERGENCES), "backward": members_of(back, *_DIVERGENCES)}
    worst = [
        {
            "state": state,
            "visits": float(one.visits[state]),
            "divergence": float(one.by_state[state]),
        }
        for state in (-one.by_state).argsort(kind="stable")[: chosen.worst_states].tolist()
    ]
    rows = [(label, *(way[name] for way in ways.values())) for name, label in _DIVERGENCES.items()]
    parts = [Table(f"A: {chosen.a}, B: {chosen.b}", ("", "A ‖ B", "B ‖ A"), rows)]
    if worst:
        header = ("state of A", "share of positions", "part of KL(A ‖ B) per symbol")
        parts.append(Table("where it arises", header, [[*state.values()] for state in worst]))
    return Answer({"a": chosen.a, "b": chosen.b, **ways, "states": worst}, parts)


@command(
    "A B drawn_words",
    option("seed", "Same seed, same words."),
    "longest",
    corpus("Use the words of FILE; those that are marked (cut) are counted."),
    "all_words exact kappa tolerance equivalence k",
    *MODEL,
)
def evaluate(chosen: Chosen) -> Answer:
    """Measure how well the model B predicts the model A.

    Both are named as 'pdfalearn models' says. The two are compared after every prefix of words
    drawn from A, and after whole words only. Word error rate: how often B's likeliest symbol is not
    A's. NDCG: how well B orders the likeliest symbols; 1 is perfect. Different: the share of
    distributions that --exact, --kappa, --tolerance or --equivalence tells apart. L1 and KL: how
    far distributions are apart. Symbols are matched by name.

    --guide, --temperature, --top-k and --top-p constrain A, as when B was learnt from it.
    --vocabulary, --prompt, --chat and --ends are for A and B, if they are LLMs.

    Examples
    --------
    $ pdfalearn evaluate target.json learnt.json --kappa 1000
    $ pdfalearn evaluate target.json learnt.json --words 100000 --seed 7 --tolerance 0.01
    $ pdfalearn evaluate target.json learnt.json --all-words --json
    $ pdfalearn evaluate my_file.py:make_model my_module:my_model --alphabet ab --words 100
    $ pdfalearn evaluate hf:my_llm numbers.json --vocabulary digits.txt --prompt 'A number:'
        --words 20 --max-length 5
    """
    from pdfalearn.cli._models import models_of
    from pdfalearn.results import EVALUATION_HEADER, comparison_cells

    chosen.refuse_several("drawn_words", "corpus", "all_words")
    relation = chosen.make_relation()
    target, candidate = models_of([chosen.a, chosen.b], chosen)
    target = chosen.wrap(target)
    settings = {"equivalence": relation, "k": chosen.k}
    if chosen.all_words:
        pdfas = [_look_into(chosen.a, target), _look_into(chosen.b, candidate)]
        result = pdfalearn.metrics.evaluate_exactly(*pdfas, **settings)
    elif chosen.corpus is not None:
        result = pdfalearn.evaluate(
            target, candidate, chosen.make_corpus(chosen.corpus), **settings
        )
    else:
        count = 1000 if chosen.drawn_words is None else chosen.drawn_words
        drawn = {"count": count, "seed": chosen.seed, "max_length": chosen.longest}
        result = pdfalearn.evaluate(target, candidate, **drawn, **settings)
    figures = vars(result) | {
        "over_prefixes": vars(result.over_prefixes),
        "over_words": vars(result.over_words),
        **({} if chosen.corpus else {"kl_of_words": result.kl_of_words}),
    }
    del figures["equivalence"]
    names = chosen.collect("a", "b", "corpus", "kappa", "tolerance")
    names |= chosen.collect_given(["equivalence"])
    table = Table(f"{chosen.b} against {chosen.a}", EVALUATION_HEADER, comparison_cells(result))
    return Answer({**names, **figures}, [table, facts("the words", _facts(figures))])


@command(
    "MODEL PDFA",
    option("equivalence", show_default="support:0.01"),
    option("least", "Ask for beginnings of words of at least this probability.", default=1e-3),
    option("count", "How many pairs of words of each kind.", default=5),
    *MODEL,
)
def coherence(chosen: Chosen) -> Answer:
    """Measure how far MODEL's answers follow a PDFA, the world.

    Of two words that reach the same state all answers should be the same, and of two that reach
    different states some should differ. Answers are the same by --equivalence. If MODEL is an
    automaton, all words are compared.

    Examples
    --------
    $ pdfalearn coherence learnt.json target.json
    $ pdfalearn coherence my_file.py:numbers target.json --least 0.01 --json
    """
    settings = chosen.collect("least", "count")
    if chosen.equivalence is not None:
        settings["equivalence"] = chosen.make_relation()
    model, truth = chosen.make_model(chosen.model), read_automaton(chosen.pdfa)
    found = pdfalearn.metrics.coherence(model, truth, **settings)
    pairs = {name: [vars(one) for one in getattr(found, name)] for name in ("split", "merged")}
    members = {"model": chosen.model, "world": chosen.pdfa, **vars(found), **pairs}
    tables = [Table(one[0][0], ("", *one[0][1:]), one[1:]) for one in found.tables()]
    return Answer(members, [found.statement, *tables])


def _look_into(name: str, model: Model) -> PDFA:
    from pdfalearn.cli._models import look_into

    pdfa = look_into(model)
    if pdfa is None:
        raise InputError(
            f"--all-words needs two automata, and {name} can only be asked: draw --words N"
        )
    return pdfa


def _facts(figures: dict[str, Any]) -> dict[str, str]:
    from pdfalearn.results import FACTS, figure

    labels = FACTS | {"words": "number", "kl_of_words": "KL of whole words"}
    labels |= {"target_perplexity": "perplexity of A", "perplexity": "perplexity of B"}
    values = {label: figures.get(name) for name, label in labels.items()}
    found = {label: figure(value) for label, value in values.items() if value is not None}
    return {"number": "all, with their probabilities"} | found
