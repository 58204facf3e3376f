"""Markov chains in the DOT language, as AALpy reads them.

``load_automaton_from_file(path, "mc")`` wants an output on every state and a probability on every
edge. A state of the PDFA is therefore split by the symbol that led to it, which is the output. The
first state's output is ``<start>``; the terminal is the output of a last state that never ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np

from pdfalearn.formats._symbol_texts import percent_encoded, symbol_texts
from pdfalearn.pdfa import PDFA
from pdfalearn.reachability import reachable_in

START = "<start>"


def write(pdfa: PDFA, stream: BinaryIO) -> None:
    """Write the part of a PDFA that words of positive probability reach."""
    names, terminal = symbol_texts(pdfa.alphabet, percent_encoded)
    possible = np.where(pdfa.probabilities[:, 1:] > 0, pdfa.transitions, -1)
    states = reachable_in(possible, pdfa.initial).states
    sources, symbols = (possible[states] >= 0).nonzero()
    pairs = np.unique(np.stack((possible[states[sources], symbols], symbols), axis=1), axis=0)
    stream.write(b"digraph MarkovChain {\n")
    stream.write(f'start [label="{START}"];\nend [label="{terminal}"];\n'.encode())
    for state, symbol in pairs.tolist():
        stream.write(f'q{state}_{symbol} [label="{names[symbol]}"];\n'.encode())
    stream.write("".join(_edges(pdfa, "start", pdfa.initial)).encode())
    for state, symbol in pairs.tolist():
        stream.write("".join(_edges(pdfa, f"q{state}_{symbol}", state)).encode())
    stream.write(b'end -> end [label="1.0"];\n__start0 [label="", shape=none];\n')
    stream.write(b'__start0 -> start [label=""];\n}\n')


def _edges(pdfa: PDFA, node: str, state: int) -> Iterator[str]:
    """Describe the edges of a split state: those of its state."""
    end, *probabilities = pdfa.probabilities[state].tolist()
    if end:
        yield f'{node} -> end [label="{end!r}"];\n'
    successors = pdfa.transitions[state].tolist()
    for symbol, (successor, probability) in enumerate(zip(successors, probabilities, strict=True)):
        if probability:
            yield f'{node} -> q{successor}_{symbol} [label="{probability!r}"];\n'
