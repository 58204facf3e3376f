"""The page of a run: automaton, certificate, tree, how it went, and what it cost."""

from __future__ import annotations

from pdfalearn.results.learning_runs import Result
from pdfalearn.viewing.automaton import automaton_data
from pdfalearn.viewing.page import Part
from pdfalearn.viewing.run_data import certificate_data, run_data, statistics_rows
from pdfalearn.viewing.tree_data import tree_data
from pdfalearn.viewing.visits import cut_visits


def result_title(result: Result) -> str:
    """Return how the page of a run is called if nobody says."""
    states = len(result.pdfa)
    return f"Learnt PDFA of {states:,} state{'s' * (states != 1)}"


def result_parts(result: Result) -> list[Part]:
    """Return the parts of a run's page."""
    visits = cut_visits(result.pdfa).states
    return [
        Part("certificate", "", certificate_data(result.certificate, result.notes)),
        Part("automaton", "Automaton", automaton_data(result.pdfa)),
        Part("run", "The run", run_data(result)),
        Part("tree", "Classification tree", tree_data(result, visits)),
        Part("facts", "What it cost", {"rows": statistics_rows(result)}),
    ]
