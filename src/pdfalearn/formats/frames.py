"""PDFA as the data structures of other packages: graphs of networkx and tables of pandas."""

from __future__ import annotations

from typing import Any

import numpy as np

from pdfalearn.extras import import_exchange
from pdfalearn.pdfa import PDFA


def to_networkx(pdfa: PDFA) -> Any:
    """Make a directed multigraph; `PDFA.to_networkx` says more."""
    graph = import_exchange("networkx", "graphs").MultiDiGraph()
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
    pandas = import_exchange("pandas", "tables")
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
