"""Files of other programs, written by hand."""

from __future__ import annotations

import pickle

from tests.io.test_arpa import SMALL as ARPA

PAUTOMAC = """I: (state)
\t(1) 1.0
F: (state)
\t(0) 0.25
\t(2) 1.0
S: (state,symbol)\x20
\t(0,0) 0.2
\t(0,3) 0.8
\t(1,3) 1.0
T: (state,symbol,state)\x20
\t(0,0,1) 1.0
\t(0,3,0) 1.0
\t(1,3,2) 1.0
\t(1,0,2) 1.0
"""

PYTHAUTOMATA = """Name
Grammar 1
Terminal Symbol
$
Alphabet
a bb
State
q0 1 0.25
State
q1 0 0.5
Transition
q0 q1 a 0.75
Transition
q0 q0 bb 0.0
Transition
q1 q0 bb 0.5
"""


class Encoded:
    """A class whose objects are pickled as their text, as those of pythautomata are."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __getstate__(self) -> str:
        return self.text

    def __setstate__(self, state: str) -> None:
        raise AssertionError("unpickled")


def pickled(text: str, protocol: int = pickle.DEFAULT_PROTOCOL) -> bytes:
    return pickle.dumps(Encoded(text), protocol)


FOREIGN = {
    ".arpa": ARPA.encode(),
    ".pautomac": PAUTOMAC.encode(),
    ".pythautomata": PYTHAUTOMATA.encode(),
    ".pickle": pickled(PYTHAUTOMATA),
}
