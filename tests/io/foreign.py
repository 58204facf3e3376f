"""Files of other programs, written by hand."""

from __future__ import annotations

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


FOREIGN = {
    ".arpa": ARPA.encode(),
    ".pautomac": PAUTOMAC.encode(),
}
