"""The paper's authors' L_p*: ``PDFALStarLearner`` of pymodelextractor, as published."""

from __future__ import annotations

from collections.abc import Callable

from pdfalearn import PDFA
from pdfalearn.errors import MissingExtraError


def authors_lpstar(target: PDFA, tolerance: float) -> Callable[[], int]:
    """Return a job that learns a complete target and returns the number of states found.

    Making the authors' automaton of the target is not part of the job.
    """
    try:
        from pymodelextractor.learners.observation_table_learners.pdfa_lstar_learner import (
            PDFALStarLearner,
        )
        from pymodelextractor.teachers.pdfa_teacher import PDFATeacher
        from pythautomata.model_comparators.wfa_comparison_strategy import WFAComparator
    except ImportError as error:
        raise MissingExtraError("pymodelextractor is missing: pip install '.[bench]'") from error
    automaton = _automaton(target)

    def learnt() -> int:
        teacher = PDFATeacher(automaton, tolerance, WFAComparator())
        return len(PDFALStarLearner().learn(teacher).model.weighted_states)

    return learnt


def _automaton(target: PDFA) -> object:
    from pythautomata.automata.wheighted_automaton_definition import (
        probabilistic_deterministic_finite_automaton as pdfa_module,
    )
    from pythautomata.automata.wheighted_automaton_definition.weighted_state import WeightedState
    from pythautomata.base_types.alphabet import Alphabet
    from pythautomata.base_types.symbol import SymbolStr
    from pythautomata.model_comparators.wfa_comparison_strategy import WFAComparator

    symbols = [SymbolStr(str(symbol)) for symbol in target.alphabet.symbols]
    rows = target.probabilities.tolist()
    states = [
        WeightedState(f"q{state}", int(state == target.initial), row[0])
        for state, row in enumerate(rows)
    ]
    for state, successors, row in zip(states, target.transitions.tolist(), rows, strict=True):
        for symbol, successor, weight in zip(symbols, successors, row[1:], strict=True):
            state.add_transition(symbol, states[successor], weight)
    return pdfa_module.ProbabilisticDeterministicFiniteAutomaton(
        Alphabet(frozenset(symbols)), set(states), SymbolStr("$"), WFAComparator()
    )
