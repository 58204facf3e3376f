"""``pdfalearn calibrate`` and ``pdfalearn monitor``: from usual sessions to alarms."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from math import inf, log
from typing import Any

import click

import pdfalearn
from pdfalearn.cli._chosen import Chosen
from pdfalearn.cli._commands import command
from pdfalearn.cli._option_kinds import OPEN_SHARE
from pdfalearn.cli._options import CORPUS, option, output
from pdfalearn.cli._output import Answer, Verbatim, facts, print_aside
from pdfalearn.cli._words import read_watch, read_words
from pdfalearn.errors import InputError

_OF_TABLES = (
    "; pandas.read_csv(FILE).to_json('events.jsonl', orient='records', lines=True) makes lines of "
    "JSON of a table, and --session, --event and --time name its columns"
)


@command(
    "PDFA WORDS...",
    option(
        "false_alarms",
        "The share of usual sessions that may be above a threshold.",
        default=0.001,
        show_default=True,
    ),
    option("window", default=10, show_default=True),
    option("other", default=1e-9, show_default=True, **OPEN_SHARE),
    *CORPUS,
    output("Where to write the automaton with its thresholds: .json or .json.gz."),
)
def calibrate(chosen: Chosen) -> Answer:
    r"""Set thresholds that usual sessions exceed seldom.

    WORDS are usual sessions that PDFA was not made of, as for 'pdfalearn score'. The threshold of
    each score is the one that a fresh usual session is above with at most the probability of
    --false-alarms. That takes 999 sessions for a share of 0.001, and 99 for 0.01; where there are
    fewer, it is said, and nothing is written.

    Examples
    --------
    $ pdfalearn distill monday.log --template --session 'req=(\w+)' -o model.json
    $ pdfalearn calibrate model.json tuesday.log -o watched.json
    $ pdfalearn monitor watched.json --follow app.log
    """
    chosen.refuse_overwriting(chosen.pdfa, *chosen.words)
    pdfalearn.watching.check_can_watch(chosen.output)
    chosen.check_output()
    watch = read_watch(chosen.pdfa)
    recorded = read_words(watch, chosen, chosen.words, are_whole=True)
    found = pdfalearn.calibrate(
        watch.pdfa,
        recorded.corpus,
        chosen.false_alarms,
        other=chosen.other,
        window=chosen.window,
    )
    pdfalearn.watching.Watch(watch.pdfa, watch.reader, found).save(chosen.output)
    least, most = found.interval
    is_near = found.nearness < pdfalearn.watching.TOO_NEAR
    promised = f"{found.false_alarms:.2%} of usual sessions, each score"
    rate = f"{least:.2%} to {most:.2%}, less where scores are equal"
    members = {**asdict(found), "interval": found.interval, "output": chosen.output}
    texts: dict[str, Any] = {
        "oddest events together": found.peaks,
        "oddest event": found.largest,
        f"{found.events} events beyond expectation": found.window,
        "deviation of the sum": found.sum,
        "sessions": found.words,
        "of them above": f"at most {found.above:,}",
        "with unknown events": found.unknown,
        "false alarms promised": "no share of usual sessions" if is_near else promised,
        "of these thresholds, with 95%": "not known" if is_near else rate,
    }
    table = facts(f"{chosen.output}: {' '.join(chosen.words)} by {chosen.pdfa}", texts)
    notes = recorded.notes
    if found.largest >= -log(found.other):  # what an unknown event costs
        what = (
            f"at least {found.above + 1:,} of {found.words:,} sessions with unknown or impossible"
        )
        allowed = f"events, and at most {found.above:,} of them may be above a threshold"
        notes = (*notes, f"the score largest will raise no alarm: there are {what} {allowed}")
    if len(watch.pdfa.alphabet) == 1:
        one = "the automaton has one event only, so that no session has an odd one"
        notes = (*notes, f"{one}: distill again, of raw lines with a larger --similarity")
    if is_near:
        made = f"{chosen.pdfa} was made of these words, it seems, so nothing is promised"
        notes = (*notes, f"{made}: give usual words that it has not seen")
    return Answer(members, [table], notes)


@command(
    "PDFA FILE follow threshold scores reach idle most_open state save_every",
    option("output", "Append alarms to FILE, and print none; with --state, none comes twice."),
    "evicted exit_code",
    option(
        "session",
        "Without templates: the field of the session.",
        metavar="NAME",
        show_default="session",
    ),
    option("event", "Without templates: the field of the event.", show_default="event"),
    option("time", "Without templates: the field of the time.", show_default="time"),
)
def monitor(chosen: Chosen) -> Answer:
    """Watch a log, and print a line of JSON for each alarm.

    FILE, or - for the standard input, has raw lines if PDFA was distilled of such (--template), and
    else lines of JSON: objects with a session, an event and perhaps a time. Lines without a session
    are counted and passed over. Sessions end with the terminal, of JSON the event "$", or, of raw
    lines, by silence. Those that are not silent yet are open at the end of FILE, and not judged by
    how they end there; only where nothing is said of silence (no --gap, --idle, --follow or
    --state) they end with FILE.

    A session raises one alarm for each score, as soon as it is above the threshold that 'pdfalearn
    calibrate' has set: by default for the surprisals of the oddest events together.

    With --follow, the command waits for more lines, through rotation and truncation, until Ctrl-C
    or SIGTERM: then it saves its state, and says what it has seen. With --state, it goes on where
    it was stopped or killed; then no alarm is lost, and with -o none is written twice. Times are
    the log's; if it has none, those of reading.

    The exit code is 0, and with --exit-code 1 if this run raised alarms. It is 2 if nothing was
    watched, as PDFA knows no event of FILE (with --follow that is a note), and 130 after Ctrl-C or
    SIGTERM without --follow.

    Examples
    --------
    $ pdfalearn monitor watched.json app.log
    $ pdfalearn monitor watched.json --follow app.log --state watch.npz -o alarms.jsonl
    $ tail -F app.log | pdfalearn monitor watched.json -
    """
    if chosen.json and chosen.follow:
        raise click.UsageError("Alarms are lines of JSON already: leave --json out.")
    chosen.refuse_overwriting(chosen.pdfa, chosen.file)
    watcher = _make_watcher(chosen)

    def lines() -> Iterator[str]:
        with _stopping(watcher):
            for text in watcher.run():
                if chosen.json or chosen.output is None:
                    yield text

    def notes() -> Iterator[str]:
        yield from watcher.summary()
        if watcher.is_stopped and not chosen.follow:
            raise KeyboardInterrupt
        if foreign := watcher.foreign_text():
            if not chosen.follow:
                is_table = any(end in chosen.file.lower() for end in (".csv", ".tsv"))
                raise InputError(f"{chosen.file}: {foreign}{_OF_TABLES if is_table else ''}")
            yield foreign
        if chosen.exit_code and watcher.raised:
            click.get_current_context().exit(1)

    if chosen.json:
        alarms = list(map(json.loads, lines()))
        counts = {**watcher.tally, **watcher.monitor.counts}
        return Answer({**counts, "alarms": alarms}, [], notes())
    return Answer({}, [Verbatim(lines(), is_live=True)], notes())


@contextmanager
def _stopping(watcher: pdfalearn.watching.Watcher) -> Iterator[None]:
    """Stop at a good place after Ctrl-C or SIGTERM; a second one gets through."""

    def stop(*_: object) -> None:
        if watcher.is_stopped:
            raise KeyboardInterrupt
        watcher.is_stopped = True

    signals = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(one, stop) for one in signals]
    try:
        yield
    finally:
        for one, handler in zip(signals, before, strict=True):
            signal.signal(one, handler)


def _make_watcher(chosen: Chosen) -> pdfalearn.watching.Watcher:
    watching, watch = pdfalearn.watching, read_watch(chosen.pdfa)
    reader, thresholds = watch.reader, watch.thresholds
    limits: Any = thresholds
    if chosen.threshold is not None and chosen.scores != ["peaks"]:
        raise click.UsageError("--threshold is for the score largest: leave --scores out.")
    if chosen.threshold is not None:
        limits = {"largest": chosen.threshold}
    elif thresholds is None:
        raise InputError(
            f"{chosen.pdfa} has no thresholds: set them by 'pdfalearn calibrate', or give one by "
            "--threshold"
        )
    fields = chosen.collect_given(("session", "event", "time"))
    if reader is not None and fields:
        raise click.UsageError(f"--{next(iter(fields))} is for lines of JSON, without templates.")
    if reader is not None and chosen.idle is not None:
        reader = replace(reader, gap=chosen.idle)
    idle = chosen.idle if reader is None else reader.gap
    found: list[dict[str, Any]] = []
    made = pdfalearn.Monitor(
        watch.pdfa,
        limits,
        scores=chosen.scores,
        events=[_event_of(watch.pdfa, name) for name in chosen.reach],
        idle=inf if idle is None else idle,
        idle_ends=reader is not None,
        most_open=chosen.most_open,
        on_evict=found.append if chosen.evicted else None,
    )
    if reader is not None and idle is None and chosen.follow:
        _note("no silence ends a session here: give --idle SECONDS, or distill with --gap")
    return watching.Watcher(
        made,
        watching.Follower(chosen.file, is_endless=chosen.follow, note=_note),
        watching.JsonEvents(**fields) if reader is None else reader,
        state=chosen.state,
        output=None if chosen.output is None else watching.AlarmFile(chosen.output),
        save_seconds=chosen.save_every,
        evicted=found,
    )


def _note(text: str) -> None:
    print_aside(f"note: {text}")


def _event_of(pdfa: pdfalearn.PDFA, name: str) -> object:
    """Return the one event that a text is, or is a part of."""
    found = [symbol for symbol in pdfa.alphabet if str(symbol) == name]
    found = found or [symbol for symbol in pdfa.alphabet if name in str(symbol)]
    if len(found) != 1:
        raise InputError(f"--reach {name}: {len(found)} events of the automaton have this text")
    return found[0]
