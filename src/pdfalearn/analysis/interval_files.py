"""Files of all models that the classes of an automaton's states allow, for Storm."""

from __future__ import annotations

import os
from typing import BinaryIO

from pdfalearn.analysis.boxes import Boxes
from pdfalearn.equivalence.relations import Relation, check_relation
from pdfalearn.files.named import write_named
from pdfalearn.formats.other_programs import write_intervals
from pdfalearn.pdfa import PDFA, checked_pdfa


def save_intervals(pdfa: PDFA, path: str | os.PathLike[str], *, by: Relation) -> None:
    """Write an automaton with the interval of every probability, as an interval Markov chain.

    Parameters
    ----------
    pdfa : PDFA
        The automaton.
    path : str or os.PathLike
        A file whose name ends with ``.drn``.
    by : Equivalence or Tolerance
        The classes of the states, such as ``Quantization(1000)``.

    Notes
    -----
    Storm solves such chains if every interval begins above 0; `probability_bounds` needs no such
    thing.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from pdfalearn import Quantization, figure_1
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_intervals(figure_1(), pathlib.Path(folder, "x.drn"), by=Quantization(4))
    ...     text = pathlib.Path(folder, "x.drn").read_text()
    >>> text.splitlines()[1], text.splitlines()[14].strip()
    ('@value_type: double-interval', '2 : [0.0, 0.25]')
    """
    pdfa = checked_pdfa(pdfa, "pdfa")
    boxes = Boxes.of(pdfa, check_relation(by))

    def write(pdfa: PDFA, stream: BinaryIO) -> None:
        write_intervals(pdfa, boxes.lows, boxes.highs, stream)

    write_named(pdfa, path, {".drn": write})
