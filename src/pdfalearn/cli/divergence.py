"""``pdfalearn divergence``: how far two automata are apart, exactly."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import click

import pdfalearn
from pdfalearn.cli import _options as options
from pdfalearn.cli._models import automaton_of
from pdfalearn.cli._output import print_json, print_table

if TYPE_CHECKING:
    from pdfalearn.results import DirectedDivergence

_LABELS = {
    "per_symbol": "KL per symbol",
    "per_word": "KL per word",
    "expected_length": "expected length",
    "infinite_share": "positions where it is infinite",
    "finite_mean": "mean over all other positions",
}


@click.command(
    epilog=options.examples(
        "pdfalearn divergence target.json learnt.json",
        "pdfalearn divergence target.json learnt.json --states 5",
        "pdfalearn divergence target.json learnt.json --json",
    )
)
@click.argument("a")
@click.argument("b")
@click.option(
    "--states",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Also show the N states of A in which most of KL(A ‖ B) arises.",
)
@options.json_option
def divergence(a: str, b: str, states: int, as_json: bool) -> None:
    """Measure exactly how far two automata are apart.

    KL(A ‖ B) is the Kullback-Leibler divergence in nats: how much less likely, in the logarithm, a
    word drawn from A is in B. It is 0 only if both give every word the same probability, and
    infinite if B forbids what A allows; then you see at how many positions that happens, and
    the mean over the others. Per symbol: divided by the expected length + 1; where words of A may
    never end, the long-run rate. KL(B ‖ A) has the words drawn from B. Nothing is sampled. Symbols
    are matched by name.

    Both are looked into, so each has to be an automaton: a file, or FILE.py:NAME or module:NAME of
    a PDFA ('pdfalearn models'). Models that can only be asked are compared by 'pdfalearn evaluate'.
    """
    result = pdfalearn.divergence(automaton_of(a), automaton_of(b))
    worst = _worst_states(result.forward, states)
    if as_json:
        ways = {"forward": _object_of(result.forward), "backward": _object_of(result.backward)}
        print_json({"a": a, "b": b, **ways, "states": [_state(one) for one in worst]})
        return
    rows = [
        (label, _text(vars(result.forward)[name]), _text(vars(result.backward)[name]))
        for name, label in _LABELS.items()
    ]
    print_table(f"A: {a}, B: {b}", ("", "A ‖ B", "B ‖ A"), rows)
    if worst:
        header = ("state of A", "share of positions", "part of KL(A ‖ B) per symbol")
        cells = [(f"{state:,}", _text(visits), _text(part)) for state, visits, part in worst]
        print_table("where it arises", header, cells)


def _worst_states(one: DirectedDivergence, count: int) -> list[tuple[int, float, float]]:
    order = (-one.by_state).argsort(kind="stable")[:count].tolist()
    return [(state, float(one.visits[state]), float(one.by_state[state])) for state in order]


def _object_of(one: DirectedDivergence) -> dict[str, object]:
    return {name: _plain(vars(one)[name]) for name in _LABELS}


def _state(one: tuple[int, float, float]) -> dict[str, object]:
    return {"state": one[0], "visits": one[1], "divergence": _plain(one[2])}


def _plain(value: float) -> float | str | None:
    """Make a JSON value of a number: infinity is the text "inf", and NaN is null."""
    if math.isnan(value):
        return None
    return "inf" if math.isinf(value) else value


def _text(value: float) -> str:
    return "none" if math.isnan(value) else f"{value:.6g}"
