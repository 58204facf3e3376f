"""PDFA for other programs and packages: PRISM, Storm, AALpy, OpenFst, networkx, pandas."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import count
from math import log
from typing import Any, BinaryIO
from urllib.parse import quote

import numpy as np

from pdfalearn.alphabet import Alphabet
from pdfalearn.errors import InputError
from pdfalearn.extras import import_extra
from pdfalearn.io.pdfa_files import symbol_shown
from pdfalearn.pdfa import PDFA
from pdfalearn.reachability import reachable_in
from pdfalearn.typing import Floats

_NOT_IN_NAMES = re.compile(r"[^0-9A-Za-z]")
_RESERVED = frozenset('%"\\{}[]<>@ ')


def percent_encoded(text: str) -> str:
    r"""Encode a text for files of fields between blanks, as in addresses of the web.

    What is not printable, blanks and a few characters that programs take as their own become the
    bytes of UTF-8, ``%20`` for a blank. ``urllib.parse.unquote`` turns them back. The empty text
    becomes ``%``.

    Examples
    --------
    >>> percent_encoded("a b"), percent_encoded("<eps>"), percent_encoded("é"), percent_encoded("")
    ('a%20b', '%3Ceps%3E', 'é', '%')
    """
    encoded = "".join(
        c if c.isprintable() and c not in _RESERVED else quote(c, errors="surrogatepass", safe="")
        for c in text
    )
    # AALpy takes every line with this name for the arrow into the initial state.
    return encoded.replace("__start0", "%5F_start0") or "%"


def identifier(text: str) -> str:
    """Encode a text so that it can be a part of a name in a program.

    Examples
    --------
    >>> identifier("a"), identifier("a_b"), identifier("é")
    ('a', 'a_5f_b', '_e9_')
    """
    return _NOT_IN_NAMES.sub(lambda found: f"_{ord(found[0]):x}_", text)


def symbol_texts(alphabet: Alphabet, encode: Callable[[str], str]) -> tuple[list[str], str]:
    """Return the texts of all symbols and of the terminal; two that are written alike are refused.

    The integer 7 and the string "7" are.
    """
    owners: dict[str, object] = {}
    for symbol in (*alphabet, alphabet.terminal):
        other = owners.setdefault(str(symbol), symbol)
        if other is not symbol:
            raise InputError(
                f"symbols {symbol_shown(other)} and {symbol_shown(symbol)} are both written "
                f"{str(symbol)!r} in this kind of file; give one of them another name"
            )
    *symbols, terminal = map(encode, owners)
    return symbols, terminal


def _row_of(pdfa: PDFA, state: int) -> tuple[float, list[tuple[int, int, float]]]:
    """Return a state's terminal probability, and its moves: symbol, successor, probability."""
    end, *others = pdfa.probabilities[state].tolist()
    moves = zip(count(), pdfa.transitions[state].tolist(), others, strict=False)
    return end, [move for move in moves if move[2]]


MOST_STATES = 1000
"""Larger automata are refused: a program is parsed term by term."""


def write_prism(pdfa: PDFA, stream: BinaryIO) -> None:
    """Write a PDFA of at most ``MOST_STATES`` states."""
    if len(pdfa) > MOST_STATES:
        raise InputError(
            f"a PRISM program of {len(pdfa):,} states is too long to be parsed (at most "
            f"{MOST_STATES:,}); save as .drn, which Storm reads at any size"
        )
    names, _ = symbol_texts(pdfa.alphabet, identifier)
    end = len(pdfa)
    lines = [
        "dtmc\n\nmodule pdfa\n",
        f"  state : [0..{end}] init {pdfa.initial}; // {end}: the word has ended\n",
        f"  symbol : [0..{len(names)}] init 0; // the last one; 0: none yet\n",
    ]
    for state in range(end):
        stop, moves = _row_of(pdfa, state)
        terms = [f"{stop!r}:(state'={end})"] if stop else []
        for code, successor, probability in moves:
            terms.append(f"{probability!r}:(state'={successor})&(symbol'={code + 1})")
        lines.append(f"  [] state={state} -> {' + '.join(terms)};\n")
    lines.append(f"  [] state={end} -> 1.0:(state'={end});\nendmodule\n\n")
    lines.append(f'label "end" = state={end};\n')
    for number, (symbol, name) in enumerate(zip(pdfa.alphabet, names, strict=True), start=1):
        lines.append(f'label "last_{name}" = symbol={number}; // {json.dumps(str(symbol))}\n')
    lines.append(f'\nrewards "steps"\n  state<{end} : 1;\nendrewards\n')
    stream.write("".join(lines).encode())


def write_markov_chain(pdfa: PDFA, stream: BinaryIO) -> None:
    """Write the part of a PDFA that words of positive probability reach."""
    names, terminal = symbol_texts(pdfa.alphabet, percent_encoded)
    possible = np.where(pdfa.probabilities[:, 1:] > 0, pdfa.transitions, -1)
    states = reachable_in(possible, pdfa.initial).states
    sources, symbols = (possible[states] >= 0).nonzero()
    pairs = np.unique(np.stack((possible[states[sources], symbols], symbols), axis=1), axis=0)
    # A state is split into one for each symbol that leads to it: symbols label states there.
    nodes = {f"q{state}_{symbol}": (state, names[symbol]) for state, symbol in pairs.tolist()}
    stream.write(b"digraph MarkovChain {\n")
    stream.write(f'start [label="<start>"];\nend [label="{terminal}"];\n'.encode())
    for node, (_, name) in nodes.items():
        stream.write(f'{node} [label="{name}"];\n'.encode())
    for node, (state, _) in {"start": (pdfa.initial, ""), **nodes}.items():
        end, moves = _row_of(pdfa, state)
        edges = [f'{node} -> end [label="{end!r}"];\n'] if end else []
        for symbol, successor, probability in moves:
            edges.append(f'{node} -> q{successor}_{symbol} [label="{probability!r}"];\n')
        stream.write("".join(edges).encode())
    stream.write(b'end -> end [label="1.0"];\n__start0 [label="", shape=none];\n')
    stream.write(b'__start0 -> start [label=""];\n}\n')


def write_openfst(pdfa: PDFA, stream: BinaryIO) -> None:
    """Write what ``fstcompile --acceptor --isymbols=…`` reads; probability 0 is left out."""
    names, _ = symbol_texts(pdfa.alphabet, percent_encoded)
    # The first line's state is the initial one; + 0.0, as there shall be no -0.0.
    for state in sorted(range(len(pdfa)), key=lambda state: state != pdfa.initial):
        end, moves = _row_of(pdfa, state)
        lines = [
            f"{state}\t{successor}\t{names[symbol]}\t{-log(probability) + 0.0!r}\n"
            for symbol, successor, probability in moves
        ]
        if end:
            lines.append(f"{state}\t{-log(end) + 0.0!r}\n")
        stream.write("".join(lines).encode())


def write_symbols(pdfa: PDFA, stream: BinaryIO) -> None:
    """Write the table of symbols that goes with it; 0 is OpenFst's empty symbol."""
    names, _ = symbol_texts(pdfa.alphabet, percent_encoded)
    lines = (f"{name}\t{number}\n" for number, name in enumerate(["<eps>", *names]))
    stream.write("".join(lines).encode())


_HEAD = """\
@type: DTMC
@value_type: {values}
@parameters

@reward_models
steps
@nr_states
{states}
@nr_choices
{states}
@model
"""


def write_drn(pdfa: PDFA, stream: BinaryIO) -> None:
    """Write a PDFA as a Markov chain; probability 0 is left out."""
    _write_chain(pdfa, [pdfa.probabilities], "double", "{0!r}", stream)


def write_intervals(pdfa: PDFA, lows: Floats, highs: Floats, stream: BinaryIO) -> None:
    """Write the Markov chain with an interval for every probability; those of [0, 0] are left out.

    ``lows`` and ``highs`` are tables such as ``pdfa.probabilities``. Storm solves chains whose
    intervals all begin above 0.
    """
    _write_chain(pdfa, [highs, lows], "double-interval", "[{1!r}, {0!r}]", stream)


def _write_chain(pdfa: PDFA, tables: list[Floats], kind: str, form: str, stream: BinaryIO) -> None:
    """Write states with the sums of symbols between the same two, where the first table has any."""
    end, size = len(pdfa), len(pdfa) + 1
    targets = np.column_stack((np.full(end, end), pdfa.transitions))
    states, columns = (tables[0] > 0).nonzero()
    cells, places = np.unique(states * size + targets[states, columns], return_inverse=True)
    sums = [np.bincount(places, weights=table[states, columns]) for table in tables]
    moves: list[list[str]] = [[] for _ in range(size)]
    for cell, *values in zip(cells.tolist(), *np.minimum(sums, 1.0).tolist(), strict=True):
        moves[cell // size].append(f"\t\t{cell % size} : {form.format(*values)}\n")
    moves[end].append(f"\t\t{end} : {form.format(1.0, 1.0)}\n")
    labels = {pdfa.initial: " init", end: " end"}
    stream.write(_HEAD.format(values=kind, states=size).encode())
    for state, lines in enumerate(moves):
        head = f"state {state} [{int(state != end)}]{labels.get(state, '')}\n\taction 0 [0]\n"
        stream.write("".join([head, *lines]).encode())


def to_networkx(pdfa: PDFA) -> Any:
    """Make a directed multigraph; `PDFA.to_networkx` says more."""
    graph = import_extra("networkx", "graphs").MultiDiGraph()
    graph.graph.update(initial=pdfa.initial, terminal=pdfa.terminal)
    ends = pdfa.probabilities[:, 0].tolist()
    graph.add_nodes_from((state, {"terminal": end}) for state, end in enumerate(ends))
    states, symbols = (pdfa.transitions >= 0).nonzero()
    successors = pdfa.transitions[states, symbols].tolist()
    probabilities = pdfa.probabilities[states, symbols + 1].tolist()
    names = pdfa.alphabet.decode(symbols.tolist())
    graph.add_edges_from(
        (state, successor, name, {"symbol": name, "probability": probability})
        for state, successor, name, probability in zip(
            states.tolist(), successors, names, probabilities, strict=True
        )
    )
    return graph


def to_frame(pdfa: PDFA) -> Any:
    """Make a table of all transitions; `PDFA.to_frame` says more."""
    pandas = import_extra("pandas", "tables")
    states, columns = np.indices(pdfa.probabilities.shape).reshape(2, -1)
    names = np.empty(len(pdfa.alphabet) + 1, dtype=object)
    names[:] = [pdfa.terminal, *pdfa.alphabet]
    successors = pandas.array(
        np.column_stack((np.full(len(pdfa), -1), pdfa.transitions)).ravel(), dtype="Int64"
    )
    successors[successors < 0] = pandas.NA
    return pandas.DataFrame(
        {
            "state": states,
            "symbol": names[columns],
            "probability": pdfa.probabilities.ravel(),
            "successor": successors,
        }
    )
