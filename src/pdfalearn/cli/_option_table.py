"""Every option of the command line, defined once: its type, its default and what help says."""

from __future__ import annotations

import click

from pdfalearn.cli._option_kinds import (
    AMOUNT,
    FILE,
    FOLDER,
    INTEGERS,
    NATURAL,
    NUMBERS,
    OPEN_SHARE,
    POSITIVE,
    SECONDS,
    SHARE,
    ListOf,
    Settings,
    check_seconds,
    choice,
    flag,
    kind,
    value,
)

DEFAULT_KAPPA = 1000
DEFAULT_SYMBOLS = 20_000
"""How many symbols are asked if no bound is given."""
LEARNERS = ("quant", "quant-classes", "quant-paper", "lpstar", "wlstar")
SCORES = ("peaks", "largest", "window", "sum")
WALKS_PER_STATE = 20

# The key is the name that commands read; the option is spelled the same, unless "flag" says how.
OPTIONS: dict[str, Settings] = {
    # What is printed and written.
    "json": flag("Print one JSON object."),
    "output": value(FILE, "Where to write the result."),
    "log_every": value(
        kind("SECONDS", float),
        "Write progress to the standard error, a line every SECONDS; 0 for none.",
        callback=check_seconds,
        show_default="one line that is renewed in a terminal, else 10; none with --json",
    ),
    "title": value(kind("TEXT"), "Write TEXT above the picture.", default=""),
    "reference": value(kind("FILE"), "Begin with an old automaton, and say what has changed."),
    "tree": value(FILE, "Where to write the classification tree: .svg, .png, .pdf, .dot."),
    "plot": value(FILE, "Where to write a figure of states and divergence: .svg, .png or .pdf."),
    "access_words": flag("With --json: print each state's access word."),
    "opened": flag("Open the page in the default browser.", flag="--open"),
    # When distributions are the same.
    "exact": flag("Equal to the last bit. This is the default."),
    "kappa": value(kind("K", int), "Equal when cut into K intervals (quantization)."),
    "tolerance": value(kind("T", float), "Similar: no probability differs by more than T."),
    "equivalence": value(
        kind("BY"),
        "Equal by topk:K (the K likeliest symbols), ranking:K (their order), support:P (those over "
        "P), quantization:K or exact, one of these +zero (0 apart), or FILE.py:FUNCTION of rows.",
    ),
    "decimals": value(
        kind("N", click.IntRange(1, 15)), "Round answers to N decimals before they are compared."
    ),
    "kappas": value(
        INTEGERS,
        "Learn by quantization with each of these kappas.",
        show_default="5,10,20,50,100,200,500,1000, or none if there are tolerances",
    ),
    "tolerances": value(NUMBERS, "Learn by L_p* with each of these."),
    # What stands beside the name of a model.
    "alphabet": value(
        kind("SYMBOLS"), "Symbols of a function, a program or of words: ab, or 'yes no'."
    ),
    "by_word": flag(
        "The function takes one word, and returns a dictionary of what may follow; $ is the end, "
        "and what is left out has probability 0."
    ),
    "vocabulary": value(FILE, "The symbols of an LLM's words, as 'pdfalearn models' says."),
    "prompt": value(kind("TEXT"), "What stands before every word of an LLM."),
    "chat": flag("Put the prompt into the LLM's chat template, as what a user says."),
    "ends": value(
        kind("END"),
        "What ends an LLM's words: a text of one token, or tokens as in [2, 0]; may be given "
        "several times. 'rest': every token that no symbol begins with.",
        multiple=True,
    ),
    "guide": value(
        kind("REGEX"),
        "Only words that match it (needs the extra regex). Here and elsewhere, a file of a DFA in "
        ".json may stand for an expression.",
    ),
    "temperature": value(kind("T", float), "Probabilities to the power 1/T: below 1 sharper."),
    "top_k": value(kind("K", click.IntRange(min=1)), "Only the K most probable symbols."),
    "top_p": value(kind("P", float), "Only the fewest symbols with a mass of at least P."),
    "replicas": value(
        POSITIVE,
        "Make N copies of the model, each in a process of its own, that share the words of every "
        "batch; with --scheduler: use at most N workers.",
    ),
    "scheduler": value(
        kind("ADDRESS"),
        "Make the copies in the workers of a Dask cluster, such as tcp://127.0.0.1:8786, which "
        "must find the model under the same name.",
    ),
    "replica_timeout": value(
        SECONDS, "End a copy that takes longer for its part of a batch, and ask another one."
    ),
    # What is promised of samples.
    "nearness": value(
        OPEN_SHARE,
        "Samples: a word is near its state if no probability behind it differs by more.",
        flag="--gap",
        show_default="0.1",
    ),
    "alpha": value(
        OPEN_SHARE,
        "Samples: the probability of any error in what is promised.",
        show_default="0.05",
    ),
    # How differences are looked for.
    "oracle": choice(
        *("exact", "pac", "walks", "words", "w", "wp", "random-wp", "mixed"),
        text="How differences are looked for. exact: for a PDFA, its default. pac: sampled words, "
        "with a certificate; the default of all other models. walks: random walks from every "
        "state. words: all words up to --max-length. w, wp: every fault with --extra-states. "
        "random-wp: walks, and then suffixes that tell where they should lead. mixed: pac, walks "
        "and random-wp, first what has found most.",
    ),
    "epsilon": value(
        kind("E", float), "pac: the largest share of words that may differ.", show_default="0.01"
    ),
    "delta": value(
        kind("D", float), "pac: the probability that more than E differ.", show_default="0.01"
    ),
    "samplers": value(
        kind("NAME|FILE"),
        "pac: uniform, model, hypothesis, or a file with a word a line, as 'pdfalearn sample' "
        "prints them, or - for the standard input; several are mixed in equal shares. Default: "
        "uniform, or hypothesis where a guide, top-k or top-p makes words undefined.",
        flag="--sampler",
        multiple=True,
    ),
    "max_length": value(
        NATURAL, "The greatest length of sampled words, walks or all words.", show_default="20"
    ),
    "walks_per_state": value(
        POSITIVE, "How many walks begin at each state.", show_default=str(WALKS_PER_STATE)
    ),
    "extra_states": value(NATURAL, "w, wp: how many states more there may be.", show_default="1"),
    # Bounds, as `Budget` has them.
    "max_words": value(POSITIVE, "Stop at this many words asked of the model."),
    "max_symbols": value(NATURAL, "Stop at this many symbols asked of the model."),
    "max_cost": value(AMOUNT, "Stop at this cost of asking, by the model's own cost."),
    "max_seconds": value(AMOUNT, "Stop at this many seconds."),
    "max_states": value(POSITIVE, "Stop at this many states."),
    "max_word_length": value(NATURAL, "Stop at this many symbols in a word."),
    "max_equivalence_queries": value(NATURAL, "Stop at this many equivalence queries."),
    "max_bytes": value(
        NATURAL,
        "Stop at this much memory for words and answers (1 GiB, or a million words, if no bound is "
        "given and the model is not known to be an automaton).",
    ),
    # Bounds on what is asked in all.
    "symbols": value(
        POSITIVE, "Ask at most N symbols.", show_default=f"{DEFAULT_SYMBOLS} without another bound"
    ),
    "words": value(POSITIVE, "Ask at most N words."),
    "cost": value(AMOUNT, "Ask for at most this cost, by the model's own cost."),
    "seconds": value(AMOUNT, "Ask for half of this many seconds; the search comes after that."),
    "cut_length": value(
        kind("L", click.IntRange(min=1)),
        "Cut longer words of the model here.",
        flag="--max-length",
        show_default="a fiftieth of the budget, from 20 to 1000; with --seconds alone 100",
    ),
    # How a run asks and what it keeps.
    "learner": choice(
        *LEARNERS,
        text="quant: the fast QuaNT. quant-classes: the same with more, shorter words. "
        "quant-paper: as in the paper. lpstar, wlstar: the rivals L_p* and WL*, which take a "
        "tolerance; wlstar nothing else.",
        default=LEARNERS[0],
    ),
    "store": value(FILE, "Keep all answers in FILE: a run that was stopped goes on from there."),
    "model_id": value(kind("NAME"), "The model's name in the store; functions need one."),
    "audit": value(NATURAL, "Ask N words again to catch answers that change.", default=16),
    "seed": value(kind("S", click.IntRange(min=0)), "Seed of all that is random.", default=0),
    "states": value(INTEGERS, "The most states of the result."),
    "worst_states": value(
        NATURAL, "Show the N states of A with most of KL(A ‖ B), too.", flag="--states", default=0
    ),
    "divergence": value(kind("D", float), "Instead of --states: lose at most D nats a symbol."),
    "transitions": flag("Move transitions, too, where that predicts better."),
    # Words and languages.
    "corpus": value(
        FILE,
        "FILE has a word a line, as 'pdfalearn sample' prints them, or another format that its "
        "ending says; a pattern in quotes, as 'logs/*.gz', means all such files, and - the "
        "standard input.",
    ),
    "corpora": value(
        FILE,
        "Show what the words of FILE do in the automaton, and where they are odd; given twice, "
        "what has changed from the first to the second. FILE is as for 'pdfalearn score'.",
        flag="--corpus",
        multiple=True,
    ),
    "format": choice(
        *("lines", "characters", "tokens", "pautomac", "spice", "jsonl", "csv", "xes"),
        text="What the files of words are. lines: a word a line, its symbols being characters, or "
        "tokens if a line has a blank.",
        show_default="by the ending of the name, before .gz or .zst: .jsonl, .csv, .xes, .train, "
        "else lines",
    ),
    "case": value(kind("NAME"), "csv: the column of the case.", show_default="case:concept:name"),
    "event": value(
        kind("NAME"),
        "csv, xes, jsonl: the column, attribute or field of the events.",
        show_default="concept:name",
    ),
    "time": value(
        kind("NAME"),
        "csv, xes: sort the events of a case by this.",
        show_default="time:timestamp, if there is one",
    ),
    "skip_bad": flag("Leave out what cannot be read, and say how much that is."),
    "held_out": value(
        kind("SHARE", float),
        "The share of the words to choose and to measure by.",
        show_default="0.1",
    ),
    "unseen": value(
        kind("SHARE", float),
        "The share of what rows are drawn to that goes to all symbols alike, so that what was "
        "never seen is unlikely; 0 makes it impossible.",
        show_default="0.02",
    ),
    "processes": value(
        POSITIVE, "Read the words in N processes, by files and parts of files.", default=1
    ),
    "other": value(
        SHARE,
        "The probability of an event that PDFA does not have; it is counted, and the state stays.",
        show_default="1e-6; with --each as calibrated, or 1e-9",
    ),
    "compared_along": value(
        kind("PDFA"),
        "Words: compare along the transitions of PDFA, instead of distilling one from A and B.",
        flag="--model",
    ),
    "false_alarms": value(
        OPEN_SHARE,
        "Words: the greatest probability that a change is named where nothing has changed.",
        show_default="0.05",
    ),
    "count": value(NATURAL, "How many.", default=10),
    "longest": value(kind("L", int), "Cut longer words.", flag="--max-length", default=1000),
    "drawn_words": value(
        kind("N", int), "How many words to draw from A.", flag="--words", show_default="1000"
    ),
    "all_words": flag("Use all words, each with its probability in A; none are drawn."),
    "k": value(
        kind("K", int),
        "Places that count for NDCG.",
        show_default="half the symbols, rounded up",
    ),
    "form": choice(
        *("regex", "word", "begins", "ends", "contains"),
        text="What LANGUAGE is: a regular expression or a DFA's file (.json), or a word as "
        "'pdfalearn sample' prints it, and with 'begins', 'ends' and 'contains' all words that do "
        "so.",
        flag="--as",
        default="regex",
    ),
    "given": value(kind("REGEX"), "Only words that match this regular expression count."),
    "language": value(kind("REGEX"), "Only words that match it."),
    "prefixes": value(NATURAL, "Beginnings of N symbols instead of words."),
    "quantiles": value(NUMBERS, "Shares from 0 to 1.", default="0.5,0.9,0.99"),
    "line": value(POSITIVE, "Show the surprise of line N, symbol by symbol, instead."),
    # Questions to live models.
    "classes": value(
        kind("NAME=REGEX"),
        "A language and its name; may be given several times.",
        flag="--class",
        multiple=True,
    ),
    "matches": value(kind("REGEX"), "The one language that is asked about."),
    "begins": flag("An answer counts if it begins with a match."),
    "contains": flag("An answer counts if it contains a match."),
    "within": value(POSITIVE, "Look at N symbols or tokens; what they leave open does not match."),
    "cut_ends": flag("Answers end where --within cuts them, as by a server's max_tokens."),
    "stop": value(kind("TEXT"), "A text before which an LLM's answers end.", multiple=True),
    "tokenizer": value(FOLDER, "The tokenizer of a served LLM that is asked over all its tokens."),
    "saved": value(
        FILE, "Write answers for 'drift FILE B', as .jsonl, or bounds, as .csv.", flag="--save"
    ),
    "prompts": value(FILE, "Many prompts of an LLM: a line of JSON each, texts or messages."),
    "precision": value(SHARE, "Stop when all bounds are this near.", flag="--gap", default=0.01),
    "at_least": value(
        SHARE,
        "Stop when it is settled whether a match is so likely behind every prompt: the exit code "
        "is 0 if it is, 1 if it is not, 3 if that is open.",
    ),
    "likeliest_count": value(
        NATURAL, "Print the N likeliest answers that match.", flag="--likeliest", default=0
    ),
    "instead": value(NATURAL, "Print the N likeliest beginnings that do not.", default=0),
    "drawn": value(NATURAL, "Draw N answers that match.", flag="--sample", default=0),
    # Logs of raw lines, and watching.
    "template": flag("SOURCE is a log of raw lines: templates are its events (extra logs)."),
    "session": value(kind("REGEX"), "--template: finds a line's session, as its first group."),
    "gap": value(SECONDS, "--template: a session ends where it is silent for longer."),
    "similarity": value(SHARE, "--template: lines of one have this share of words in common."),
    "masks": value(
        kind("REGEX"),
        "--template: is replaced by <*> first; may be given several times.",
        flag="--mask",
        multiple=True,
        show_default="numbers, and names of months and days",
    ),
    "time_format": value(
        kind("FORMAT"),
        "--template: how times are written, as in '%d/%b/%Y:%H:%M:%S', or 'epoch'.",
        show_default="ISO 8601",
    ),
    "window": value(POSITIVE, "Events of the score 'window'.", show_default="as calibrated, or 10"),
    "each": flag("Show the oddest sessions, each with the place where it is odd."),
    "top": value(POSITIVE, "--each: how many sessions.", default=20),
    "by": choice(*SCORES, text="--each: by this score.", default="peaks"),
    "follow": flag("Wait for more lines at the end of the file, through rotation."),
    "threshold": value(AMOUNT, "Alarms above this surprisal of an event, not those of PDFA."),
    "scores": value(
        kind("NAME,…", ListOf(str, "names")),
        f"Which thresholds raise alarms: {', '.join(SCORES)}.",
        default=SCORES[0],
    ),
    "reach": value(
        kind("EVENT"),
        "Say how likely the session will come to EVENT; may be given several times.",
        multiple=True,
    ),
    "idle": value(
        SECONDS,
        "Evict sessions that are silent for longer; those of raw lines have ended.",
        show_default="the --gap of the log's templates, or never",
    ),
    "most_open": value(POSITIVE, "Keep about N sessions, those heard of last.", default=10**6),
    "state": value(FILE, "Keep what is open in FILE (.npz): a stop loses nothing."),
    "save_every": value(AMOUNT, "Write --state every N seconds.", default=10),
    "exit_code": flag("Exit with 1 if there were alarms."),
    "evicted": flag("Print a line for each session that is evicted, too."),
    # Random automata.
    "alphabet_size": value(kind("M", int), "How many symbols.", flag="--symbols", default=2),
    "distributions": value(kind("D", int), "Share D distributions among all states."),
    "zero_probability": value(kind("P", float), "Share of symbols of probability 0.", default=0.0),
    "undefined": flag("Remove the transitions of probability 0."),
    "exact_size": flag("Draw until there are exactly SIZE states."),
    # Pictures.
    "most_states": value(
        POSITIVE,
        "Draw the N states that are visited most.",
        show_default="all up to 60, of more 30",
    ),
    "least": value(SHARE, "Leave out edges under P; 0 draws everything, what is impossible, too."),
    "digits": value(kind("N", click.IntRange(1, 6)), "Digits of probabilities.", default=2),
    "direction": choice("right", "down", text="Where the picture grows to.", default="right"),
    "word": value(kind("WORD"), "Let the way of WORD stand out."),
    "marked": value(kind("STATE", int), "Mark a STATE.", flag="--mark", multiple=True),
    # Stores and experiments.
    "key": value(kind("KEY"), "Which model, if there are several."),
    "scale": choice(
        "quick", "paper", text="2 runs on 3 targets, or the paper's 10 on 10.", default="quick"
    ),
    "learners": value(
        kind("A,B,…", ListOf(str, "names")),
        f"Who learns: {', '.join(LEARNERS)}.",
        show_default="those that the paper compares",
    ),
    "values": value(
        INTEGERS, "The axis of one experiment: n, m, κ or d.", show_default="the paper's"
    ),
    "targets": value(FOLDER, "Learn given targets, DIR/exp1/n100-0.json.gz, not drawn ones."),
    "jobs": value(kind("N", int), "Do N runs at a time, on this machine.", default=1),
    "published": value(FOLDER, "The authors' results, experiment-1-….csv, to show beside ours."),
}
