"""``pdfalearn sample`` and ``pdfalearn score``: words that are drawn, and words that are given."""

from __future__ import annotations

from secrets import randbits
from typing import TYPE_CHECKING, Any

import pdfalearn
from pdfalearn.cli._chosen import Chosen
from pdfalearn.cli._commands import command
from pdfalearn.cli._options import CORPUS, MODEL, option
from pdfalearn.cli._output import Answer, Table, Verbatim, bars, facts, members_of, print_aside
from pdfalearn.cli._words import NOTED, Recorded, note_lines, read_watch, read_words
from pdfalearn.errors import InputError
from pdfalearn.text import count_text, symbol_text

if TYPE_CHECKING:
    from pdfalearn.watching import Watch

# Seeds that nobody has chosen are short enough to be typed again.
_NEW_SEED_BITS = 32
_MOST_IMPOSSIBLE = 10
# What was expected instead is shown if it was likelier than this.
_LIKELY = 0.05
_FIGURES = {
    "words": "words",
    "symbols": "symbols",
    "impossible": "impossible words",
    "log_probability": "log-probability of the others",
    "perplexity": "their perplexity",
}


@command(
    "MODEL",
    option("count", "How many words.", type=int),
    option(
        "seed",
        "Same seed, same words.",
        default=None,
        show_default="a new one each time, printed to the standard error",
    ),
    "longest",
    *MODEL,
)
def sample(chosen: Chosen) -> Answer:
    """Draw words from a model and print one a line.

    MODEL is named as 'pdfalearn models' says.

    The symbols of a word are side by side if each is one character, and have blanks between them
    otherwise: symbols with blanks are then quoted. What cannot be seen is escaped. A word that did
    not end within the maximal length is marked (cut), after a blank, or after a tab if the symbols
    themselves can spell the mark. 'evaluate --corpus' and 'learn --sampler' read such lines: to
    them, a word that was cut is a word like others, without its mark.

    Examples
    --------
    $ pdfalearn sample target.json
    $ pdfalearn sample target.json --count 1000 --seed 7 --max-length 50 --json
    $ pdfalearn sample my_file.py:make_model --count 20 --max-length 30 --top-k 2
    $ pdfalearn sample hf:my_llm --vocabulary digits.txt --prompt 'A number:' --max-length 3
    $ pdfalearn sample target.json --count 1000 > words.txt
    $ pdfalearn evaluate target.json learnt.json --corpus words.txt
    $ pdfalearn learn target.json --oracle pac --sampler words.txt
    """
    model = chosen.make_model(chosen.model)
    seed = randbits(_NEW_SEED_BITS) if chosen.seed is None else chosen.seed
    words, cut = pdfalearn.sample(model, chosen.count, seed=seed, max_length=chosen.longest)
    # So that the same words can be drawn again; the object of --json has the seed.
    if chosen.seed is None and not chosen.json:
        print_aside(f"drawn with --seed {seed}")
    notation = pdfalearn.io.WordNotation(model.alphabet)
    marked = zip(words, cut.tolist(), strict=True)
    lines = (f"{notation.line(word, is_cut=is_cut)}\n" for word, is_cut in marked)
    given = {"file": chosen.model, "seed": seed, "max_length": chosen.longest}
    return Answer({**given, "words": words, "cut": cut}, [Verbatim(lines)])


@command("PDFA WORDS... line each top by window other", *CORPUS, "processes")
def score(chosen: Chosen) -> Answer:
    """Score the words of files, which may have any size.

    WORDS are files with one word a line, as 'pdfalearn sample' prints them, or of another format
    that their endings or --format say; - is the standard input. If PDFA was distilled of raw lines
    (--template), WORDS are logs of such lines. Words of probability 0 are counted
    apart, with the step that is impossible; the perplexity is over all others. A word that is
    marked as cut has not ended. The surprise of a symbol is -ln of its probability.

    With --each, words are ranked one by one, the oddest first, each with the event where it is
    oddest, how many come before it, and what was expected there instead. An event that is unknown
    or impossible then counts with the probability of --other.

    Examples
    --------
    $ pdfalearn sample target.json --count 1000 > words.txt
    $ pdfalearn score learnt.json words.txt
    $ pdfalearn score learnt.json words.txt --each --top 5
    $ pdfalearn score learnt.json words.txt --line 3 --json
    $ pdfalearn score learnt.json 'words*.txt' --skip-bad --processes 2
    """
    watch = read_watch(chosen.pdfa)
    pdfa, recorded = watch.pdfa, read_words(watch, chosen, chosen.words)
    words = recorded.corpus
    if chosen.each:
        return _score_each(watch, recorded, chosen)
    other = pdfalearn.analysis.OTHER if chosen.other is None else chosen.other
    if chosen.line is not None:
        return _score_line(pdfa, words, chosen, other)
    result = pdfalearn.score(pdfa, words, other=other, processes=chosen.processes)
    first = result.first_impossible
    figures = members_of(result, *_FIGURES)
    found = {label: figures[name] for name, label in _FIGURES.items()}
    noted = members_of(result, *NOTED)
    parts: list[str | Table] = [
        facts(f"{' '.join(chosen.words)} by {chosen.pdfa}", found),
        *note_lines(noted),
    ]
    if first:
        shown = first[:_MOST_IMPOSSIBLE]
        rows = [(one.number, one.position, symbol_text(one.symbol)) for one in shown]
        parts.append(Table("impossible", ("line", "after", "symbol"), rows))
    given = {"file": chosen.pdfa, "corpus": " ".join(chosen.words), **figures, **noted}
    members = {**given, "other": result.other, "first_impossible": [vars(one) for one in first]}
    return Answer(members, parts, recorded.notes)


def _score_each(watch: Watch, recorded: Recorded, chosen: Chosen) -> Answer:
    """Return the oddest words, each with the place where it is."""
    limits = watch.thresholds
    calibrated = {} if limits is None else {"other": limits.other, "window": limits.events}
    settings: dict[str, Any] = calibrated | chosen.collect_given(("other", "window"))
    found = pdfalearn.watching.score_sessions(watch.pdfa, recorded.corpus, **settings)
    values, names = found.values(chosen.by), recorded.names
    sessions, rows = [], []
    for number in found.rank(chosen.by)[: chosen.top].tolist():
        known = found.describe(number)
        named = {"number": number + 1} if names is None else {"session": names[number]}
        sessions.append({**named, "score": values[number], **known})
        event = "(unknown)" if known["event"] is None else symbol_text(known["event"])
        instead = ", ".join(
            f"{symbol_text(one)} {p:.2g}" for one, p in known["expected_instead"] if p > _LIKELY
        )
        rows.append((*named.values(), float(values[number]), known["after"], event, instead))
    header = (*("number" if names is None else "session",), chosen.by)
    title = f"{' '.join(chosen.words)} by {chosen.pdfa}: {count_text(len(found), 'words')}"
    table = Table(title, (*header, "after", "event", "expected instead"), rows)
    members = {"file": chosen.pdfa, "words": len(found), "by": chosen.by, "sessions": sessions}
    return Answer(members, [table], recorded.notes)


def _score_line(
    pdfa: pdfalearn.PDFA, words: pdfalearn.Corpus, chosen: Chosen, other: float
) -> Answer:
    """Return the surprise of one word, symbol by symbol."""
    found = pdfalearn.analysis.surprisals_of(pdfa, words, chosen.line - 1, other=other)
    name = " ".join(chosen.words)
    if found is None:
        raise InputError(f"{name} has no line {chosen.line}")
    symbols, values = found
    rows = list(zip(map(symbol_text, symbols), values, bars(values), strict=True))
    table = Table(f"{name}, line {chosen.line}", ("symbol", "surprise", ""), rows)
    return Answer({"line": chosen.line, "symbols": symbols, "surprises": values}, [table])
