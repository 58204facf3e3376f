"""Every option of the command line, defined once: its type, its default and what help says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

DEFAULT_KAPPA = 1000
DEFAULT_SYMBOLS = 20_000
"""How many symbols are asked if no bound is given."""
LEARNERS = ("quant", "quant-classes", "quant-paper", "lpstar", "wlstar")
SCORES = ("peaks", "largest", "window", "sum")
WALKS_PER_STATE = 20
_MOST_SECONDS = 1e6

Settings = dict[str, Any]


class ListOf(click.ParamType[list[Any]]):
    """Values that are separated by commas."""

    def __init__(self, kind: Callable[[str], object], name: str) -> None:
        self.kind, self.name = kind, name

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> list[Any]:
        """Turn a text into the list of its values."""
        try:
            return [self.kind(part.strip()) for part in value.split(",")]
        except ValueError:
            self.fail(f"{value!r} is not a list of {self.name}, such as 1,2,3.", param, ctx)


def _kind(metavar: str, kind: Any = str) -> Settings:
    return {"metavar": metavar, "type": kind}


_FILE = _kind("FILE", click.Path(path_type=Path))
FOLDER = _kind("DIR", click.Path(path_type=Path, file_okay=False))
_NATURAL = _kind("N", click.IntRange(min=0))
_POSITIVE = _kind("N", click.IntRange(min=1))
_AMOUNT = _kind("N", click.FloatRange(min=0))
_INTEGERS = _kind("N,N,…", ListOf(int, "integers"))
_NUMBERS = _kind("X,X,…", ListOf(float, "numbers"))


def _value(kind: Settings, text: str, **more: Any) -> Settings:
    return {**kind, "help": text, **more}


def _choice(*names: str, text: str, **more: Any) -> Settings:
    return {"type": click.Choice(names), "help": text, **more}


def _flag(text: str, **more: Any) -> Settings:
    return {"is_flag": True, "help": text, **more}


def _check_seconds(
    _context: click.Context, _option: click.Parameter, seconds: float | None
) -> float | None:
    """Refuse what a clock cannot wait for, such as nan and inf."""
    from pdfalearn.checks import check_number

    return None if seconds is None else check_number(seconds, "--log-every", 0, _MOST_SECONDS)


# The key is the name that commands read; the option is spelled the same, unless "flag" says how.
OPTIONS: dict[str, Settings] = {
    # What is printed and written.
    "json": _flag("Print one JSON object."),
    "output": _value(_FILE, "Where to write the result."),
    "log_every": _value(
        _kind("SECONDS", float),
        "Write progress to the standard error, a line every SECONDS; 0 for none.",
        callback=_check_seconds,
        show_default="one line that is renewed in a terminal, else 10; none with --json",
    ),
    "title": _value(_kind("TEXT"), "Write TEXT above the picture.", default=""),
    "tree": _value(_FILE, "Where to write the classification tree: .svg, .png, .pdf, .dot, .json."),
    "plot": _value(_FILE, "Where to write a figure of states and divergence: .svg, .png or .pdf."),
    "access_words": _flag("With --json: print each state's access word."),
    "opened": _flag("Open the page in the default browser.", flag="--open"),
    # When distributions are the same.
    "exact": _flag("Equal to the last bit. This is the default."),
    "kappa": _value(_kind("K", int), "Equal when cut into K intervals (quantization)."),
    "tolerance": _value(_kind("T", float), "Similar: no probability differs by more than T."),
    "decimals": _value(
        _kind("N", click.IntRange(1, 15)), "Round answers to N decimals before they are compared."
    ),
    "kappas": _value(
        _INTEGERS,
        "Learn by quantization with each of these kappas.",
        show_default="5,10,20,50,100,200,500,1000, or none if there are tolerances",
    ),
    "tolerances": _value(_NUMBERS, "Learn by L_p* with each of these."),
    # What stands beside the name of a model.
    "alphabet": _value(
        _kind("SYMBOLS"), "Symbols of a function, a program or of words: ab, or 'yes no'."
    ),
    "by_word": _flag(
        "The function takes one word, and returns a dictionary of what may follow; $ is the end, "
        "and what is left out has probability 0."
    ),
    "vocabulary": _value(_FILE, "The symbols of an LLM's words, as 'pdfalearn models' says."),
    "prompt": _value(_kind("TEXT"), "What stands before every word of an LLM."),
    "chat": _flag("Put the prompt into the LLM's chat template, as what a user says."),
    "ends": _value(
        _kind("END"),
        "What ends an LLM's words: a text of one token, or tokens as in [2, 0]; may be given "
        "several times. 'rest': every token that no symbol begins with.",
        multiple=True,
    ),
    "guide": _value(_kind("REGEX"), "Only words that match it (needs the extra regex)."),
    "temperature": _value(_kind("T", float), "Probabilities to the power 1/T: below 1 sharper."),
    "top_k": _value(_kind("K", click.IntRange(min=1)), "Only the K most probable symbols."),
    "top_p": _value(_kind("P", float), "Only the fewest symbols with a mass of at least P."),
    "replicas": _value(
        _POSITIVE,
        "Make N copies of the model, each in a process of its own, that share the words of every "
        "batch; with --scheduler: use at most N workers.",
    ),
    "scheduler": _value(
        _kind("ADDRESS"),
        "Make the copies in the workers of a Dask cluster, such as tcp://127.0.0.1:8786, which "
        "must find the model under the same name.",
    ),
    "replica_timeout": _value(
        _kind("SECONDS", click.FloatRange(min=0, min_open=True)),
        "End a copy that takes longer for its part of a batch, and ask another one.",
    ),
    # How differences are looked for.
    "oracle": _choice(
        *("exact", "pac", "walks", "words"),
        text="How differences are looked for. exact: for a PDFA, its default. pac: sampled words, "
        "with a certificate; the default of all other models. walks: random walks from every "
        "state. words: all words up to --max-length.",
    ),
    "epsilon": _value(
        _kind("E", float), "pac: the largest share of words that may differ.", show_default="0.01"
    ),
    "delta": _value(
        _kind("D", float), "pac: the probability that more than E differ.", show_default="0.01"
    ),
    "samplers": _value(
        _kind("NAME|FILE"),
        "pac: uniform, model, hypothesis, or a file with a word a line, as 'pdfalearn sample' "
        "prints them, or - for the standard input; several are mixed in equal shares. Default: "
        "uniform, or hypothesis where a guide, top-k or top-p makes words undefined.",
        flag="--sampler",
        multiple=True,
    ),
    "max_length": _value(
        _NATURAL, "The greatest length of sampled words, walks or all words.", show_default="20"
    ),
    "walks_per_state": _value(
        _POSITIVE, "walks: how many begin at each state.", show_default=str(WALKS_PER_STATE)
    ),
    # Bounds, as `Budget` has them.
    "max_words": _value(_POSITIVE, "Stop at this many words asked of the model."),
    "max_symbols": _value(_NATURAL, "Stop at this many symbols asked of the model."),
    "max_cost": _value(_AMOUNT, "Stop at this cost of asking, by the model's own cost."),
    "max_seconds": _value(_AMOUNT, "Stop at this many seconds."),
    "max_states": _value(_POSITIVE, "Stop at this many states."),
    "max_word_length": _value(_NATURAL, "Stop at this many symbols in a word."),
    "max_equivalence_queries": _value(_NATURAL, "Stop at this many equivalence queries."),
    "max_bytes": _value(
        _NATURAL,
        "Stop at this much memory for words and answers (1 GiB, or a million words, if no bound is "
        "given and the model is not known to be an automaton).",
    ),
    # Bounds on what is asked in all.
    "symbols": _value(
        _POSITIVE, "Ask at most N symbols.", show_default=f"{DEFAULT_SYMBOLS} without another bound"
    ),
    "words": _value(_POSITIVE, "Ask at most N words."),
    "cost": _value(_AMOUNT, "Ask for at most this cost, by the model's own cost."),
    "seconds": _value(_AMOUNT, "Ask for half of this many seconds; the search comes after that."),
    "cut_length": _value(
        _kind("L", click.IntRange(min=1)),
        "Cut longer words of the model here.",
        flag="--max-length",
        show_default="a fiftieth of the budget, from 20 to 1000; with --seconds alone 100",
    ),
    # How a run asks and what it keeps.
    "learner": _choice(
        *LEARNERS,
        text="quant: the fast QuaNT. quant-classes: the same with more, shorter words. "
        "quant-paper: as in the paper. lpstar, wlstar: the rivals L_p* and WL*.",
        default=LEARNERS[0],
    ),
    "store": _value(_FILE, "Keep all answers in FILE: a run that was stopped goes on from there."),
    "model_id": _value(_kind("NAME"), "The model's name in the store; functions need one."),
    "audit": _value(_NATURAL, "Ask N words again to catch answers that change.", default=16),
    "seed": _value(_kind("S", click.IntRange(min=0)), "Seed of all that is random.", default=0),
    "states": _value(_INTEGERS, "The most states of the result."),
    "worst_states": _value(
        _NATURAL, "Show the N states of A with most of KL(A ‖ B), too.", flag="--states", default=0
    ),
    "divergence": _value(_kind("D", float), "Instead of --states: lose at most D nats a symbol."),
    "transitions": _flag("Move transitions, too, where that predicts better."),
    # Words and languages.
    "corpus": _value(
        _FILE,
        "FILE has a word a line, as 'pdfalearn sample' prints them, or another format that its "
        "ending says; a pattern in quotes, as 'logs/*.gz', means all such files, and - the "
        "standard input.",
    ),
    "corpora": _value(
        _FILE,
        "Show what the words of FILE do in the automaton, and where they are odd; given twice, "
        "what has changed from the first to the second. FILE is as for 'pdfalearn score'.",
        flag="--corpus",
        multiple=True,
    ),
    "format": _choice(
        *("lines", "characters", "tokens", "pautomac", "spice", "jsonl", "csv", "xes"),
        text="What the files of words are. lines: a word a line, its symbols being characters, or "
        "tokens if a line has a blank.",
        show_default="by the ending of the name, before .gz or .zst: .jsonl, .csv, .xes, .train, "
        "else lines",
    ),
    "case": _value(_kind("NAME"), "csv: the column of the case.", show_default="case:concept:name"),
    "event": _value(
        _kind("NAME"),
        "csv, xes, jsonl: the column, attribute or field of the events.",
        show_default="concept:name",
    ),
    "time": _value(
        _kind("NAME"),
        "csv, xes: sort the events of a case by this.",
        show_default="time:timestamp, if there is one",
    ),
    "skip_bad": _flag("Leave out what cannot be read, and say how much that is."),
    "held_out": _value(
        _kind("SHARE", float),
        "The share of the words to choose and to measure by.",
        show_default="0.1",
    ),
    "unseen": _value(
        _kind("SHARE", float),
        "The share of what rows are drawn to that goes to all symbols alike, so that what was "
        "never seen is unlikely; 0 makes it impossible.",
        show_default="0.02",
    ),
    "processes": _value(
        _POSITIVE, "Read the words in N processes, by files and parts of files.", default=1
    ),
    "other": _value(
        _kind("P", click.FloatRange(0, 1)),
        "The probability of an event that PDFA does not have; it is counted, and the state stays.",
        default=1e-6,
    ),
    "compared_along": _value(
        _kind("PDFA"),
        "Words: compare along the transitions of PDFA, instead of distilling one from A and B.",
        flag="--model",
    ),
    "false_alarms": _value(
        _kind("P", click.FloatRange(0, 1, min_open=True, max_open=True)),
        "Words: the greatest probability that a change is named where nothing has changed.",
        show_default="0.05",
    ),
    "count": _value(_NATURAL, "How many.", default=10),
    "longest": _value(_kind("L", int), "Cut longer words.", flag="--max-length", default=1000),
    "drawn_words": _value(
        _kind("N", int), "How many words to draw from A.", flag="--words", show_default="1000"
    ),
    "all_words": _flag("Use all words, each with its probability in A; none are drawn."),
    "k": _value(
        _kind("K", int), "Places that count for NDCG.", show_default="half the symbols, rounded up"
    ),
    "form": _choice(
        *("regex", "word", "begins", "ends", "contains"),
        text="What LANGUAGE is: a regular expression, or a word as 'pdfalearn sample' prints it, "
        "and with 'begins', 'ends' and 'contains' all words that do so.",
        flag="--as",
        default="regex",
    ),
    "given": _value(_kind("REGEX"), "Only words that match this regular expression count."),
    "language": _value(_kind("REGEX"), "Only words that match it."),
    "prefixes": _value(_NATURAL, "Beginnings of N symbols instead of words."),
    "quantiles": _value(_NUMBERS, "Shares from 0 to 1.", default="0.5,0.9,0.99"),
    "line": _value(_POSITIVE, "Show the surprise of line N, symbol by symbol, instead."),
    # Logs of raw lines, and watching.
    "template": _flag("SOURCE is a log of raw lines: templates are its events (extra logs)."),
    "session": _value(_kind("REGEX"), "--template: finds a line's session, as its first group."),
    "gap": _value(
        _kind("SECONDS", click.FloatRange(min=0, min_open=True)),
        "--template: a session ends where it is silent for longer.",
    ),
    "masks": _value(
        _kind("REGEX"),
        "--template: is replaced by <*> first; may be given several times.",
        flag="--mask",
        multiple=True,
        show_default="numbers, and names of months and days",
    ),
    "time_format": _value(
        _kind("FORMAT"),
        "--template: how times are written, as in '%d/%b/%Y:%H:%M:%S', or 'epoch'.",
        show_default="ISO 8601",
    ),
    "window": _value(_POSITIVE, "How many events the score 'window' is about.", default=10),
    "each": _flag("Show the oddest sessions, each with the place where it is odd."),
    "top": _value(_POSITIVE, "--each: how many sessions.", default=20),
    "by": _choice(*SCORES, text="--each: by this score.", default="peaks"),
    "follow": _flag("Wait for more lines at the end of the file, through rotation."),
    "threshold": _value(_AMOUNT, "Alarms above this surprisal of an event, not those of PDFA."),
    "scores": _value(
        _kind("NAME,…", ListOf(str, "names")),
        f"Which thresholds raise alarms: {', '.join(SCORES)}.",
        default=SCORES[0],
    ),
    "reach": _value(
        _kind("EVENT"),
        "Say how likely the session will come to EVENT; may be given several times.",
        multiple=True,
    ),
    "idle": _value(
        _kind("SECONDS", click.FloatRange(min=0, min_open=True)),
        "Evict sessions that are silent for longer; those of raw lines have ended.",
        show_default="the --gap of the log's templates, or never",
    ),
    "most_open": _value(_POSITIVE, "Keep about N sessions, those heard of last.", default=10**6),
    "state": _value(_FILE, "Keep what is open in FILE (.npz): a stop loses nothing."),
    "save_every": _value(_AMOUNT, "Write --state every N seconds.", default=10),
    "evicted": _flag("Print a line for each session that is evicted, too."),
    # Random automata.
    "alphabet_size": _value(_kind("M", int), "How many symbols.", flag="--symbols", default=2),
    "distributions": _value(_kind("D", int), "Share D distributions among all states."),
    "zero_probability": _value(
        _kind("P", float), "Share of symbols of probability 0.", default=0.0
    ),
    "undefined": _flag("Remove the transitions of probability 0."),
    "exact_size": _flag("Draw until there are exactly SIZE states."),
    # Pictures.
    "most_states": _value(
        _POSITIVE,
        "Draw the N states that are visited most.",
        show_default="all up to 60, of more 30",
    ),
    "least": _value(
        _kind("P", click.FloatRange(0, 1)),
        "Leave out edges under P; 0 draws everything, what is impossible, too.",
    ),
    "digits": _value(_kind("N", click.IntRange(1, 6)), "Digits of probabilities.", default=2),
    "direction": _choice("right", "down", text="Where the picture grows to.", default="right"),
    "word": _value(_kind("WORD"), "Let the way of WORD stand out."),
    "marked": _value(_kind("STATE", int), "Mark a STATE.", flag="--mark", multiple=True),
    # Stores and experiments.
    "key": _value(_kind("KEY"), "Which model, if there are several."),
    "scale": _choice(
        "quick", "paper", text="2 runs on 3 targets, or the paper's 10 on 10.", default="quick"
    ),
    "learners": _value(
        _kind("A,B,…", ListOf(str, "names")),
        f"Who learns: {', '.join(LEARNERS)}.",
        show_default="those that the paper compares",
    ),
    "values": _value(
        _INTEGERS, "The axis of one experiment: n, m, κ or d.", show_default="the paper's"
    ),
    "targets": _value(FOLDER, "Learn given targets, DIR/exp1/n100-0.json.gz, not drawn ones."),
    "jobs": _value(_kind("N", int), "Do N runs at a time, on this machine."),
    "published": _value(FOLDER, "The authors' results, experiment-1-….csv, to show beside ours."),
}

OF_LLMS = ("vocabulary", "prompt", "chat", "ends")
CORPUS = ("format", "case", "event", "time", "skip_bad")
"""How files of words are read, as `Corpus` has it."""
LOG = ("session", "gap", "masks", "time_format")  # as `learn_log` has it
OF_COPIES = ("replicas", "scheduler", "replica_timeout")
WRAPPERS = {"guide": "Guided", "temperature": "Temperature", "top_k": "TopK", "top_p": "TopP"}
"""The options that constrain a model, with the classes that do so, from the innermost on."""
MODEL = ("alphabet", "by_word", *OF_LLMS, *WRAPPERS, *OF_COPIES)
ORACLE = ("oracle", "epsilon", "delta", "samplers", "max_length", "walks_per_state")
BUDGET = tuple(name for name in OPTIONS if name.startswith("max_") and name != "max_length")
SPENDING = ("symbols", "words", "cost", "seconds")
RUN = ("store", "model_id", "audit", "seed")


def flag_of(name: str) -> str:
    """Return how the option of a name is spelled."""
    flag: str = OPTIONS[name].get("flag", f"--{name.replace('_', '-')}")
    return flag


def option(name: str, text: str | None = None, **changes: Any) -> click.Option:
    """Make the option of this name; a command may give it another help text or default."""
    settings = OPTIONS[name] | changes | ({} if text is None else {"help": text})
    settings.pop("flag", None)
    flags = ["-o", "--output"] if name == "output" else [flag_of(name), name]
    return click.Option(flags, **settings)


def output(text: str, **changes: Any) -> click.Option:
    """Make the option -o of a command that always writes."""
    return option("output", text, required=True, **changes)


def corpus(text: str) -> click.Option:
    """Make the option --corpus; help says what the words are for, and how they are written."""
    return option("corpus", f"{text} {OPTIONS['corpus']['help']}")


def argument(name: str) -> click.Argument:
    """Make the argument of an upper-case name; with brackets it may be left out."""
    many = name.endswith("...")
    settings: Settings = {"nargs": -1} if many else {}
    plain = name.removesuffix("...").strip("[]").lower()
    return click.Argument([plain], required=not name.startswith("["), **settings)
