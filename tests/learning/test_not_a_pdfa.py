"""What is not a PDFA is refused where one is needed, with a remedy."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pdfalearn import (
    PDFA,
    Exact,
    FunctionModel,
    Guided,
    distinguish,
    divergence,
    draw,
    evaluate,
    quotient,
    save,
    simplify,
)
from pdfalearn.analysis import reachable, reachable_part
from pdfalearn.datasets import figure_3
from pdfalearn.equivalence import is_weakly_minimal, same_function
from pdfalearn.equivalence.quotients import state_classes
from pdfalearn.errors import InputError
from pdfalearn.io import read_arpa
from pdfalearn.languages import DFA
from pdfalearn.metrics import evaluate_exactly
from pdfalearn.models import AutomatonModel
from pdfalearn.oracles import ExactOracle
from pdfalearn.results.trees import TreeNode

PDFA_4 = figure_3()
LEAF = TreeNode(access_word=(), distribution=(0.5, 0.5))
EVERYTHING = DFA(alphabet="01", transitions=[[0, 0]], accepting=[True])

THINGS: dict[str, tuple[Any, str]] = {
    "nothing": (None, r"None, not a PDFA; make one with PDFA\(…\), load\(path\) or learn"),
    "a name": ("a.json", r"'a\.json', not a PDFA; load\(path\) reads one"),
    "a path": (Path("a.json"), r"a\.json'\), not a PDFA; load\(path\) reads one"),
    "a number": (5, "5, not a PDFA; make one"),
    "a list": ([PDFA_4] * 99, r"\[PDFA\(.*\.\.\..*\], not a PDFA; make one"),
    "a result": (SimpleNamespace(pdfa=PDFA_4), "not a PDFA; give its attribute pdfa"),
    "a model": (AutomatonModel(PDFA_4), "not a PDFA; give its attribute pdfa"),
    "another model": (
        FunctionModel(len, "01"),
        r"not a PDFA; learn\(model\)\.pdfa or distill\(model\)\.best",
    ),
    "a frontier": (
        SimpleNamespace(best=PDFA_4),
        "not a PDFA; give one of its automata, such as its best",
    ),
    "a function": (len, r"function len>, not a PDFA; learn\(FunctionModel\(function, alphabet\)\)"),
    "a class": (PDFA, "not a PDFA; make one"),
    "a tree": (LEAF, r"TreeNode\(access_word=\(\)\), not a PDFA"),
    "a DFA": (EVERYTHING, r"DFA\(1 state, 2 symbols, initial=0\), not a PDFA"),
    "an array": (np.zeros((9, 9)), r"array\(\[\[.*\.\.\..*\), not a PDFA; make one"),
}

CALLS: dict[str, tuple[str, Callable[[Any], object]]] = {
    "distinguish": ("first", lambda given: distinguish(given, PDFA_4, equivalence=Exact())),
    "distinguish from": ("second", lambda given: distinguish(PDFA_4, given, equivalence=Exact())),
    "quotient": ("pdfa", lambda given: quotient(given, equivalence=Exact())),
    "is_weakly_minimal": ("pdfa", lambda given: is_weakly_minimal(given, equivalence=Exact())),
    "state_classes": ("pdfa", lambda given: state_classes(given, equivalence=Exact())),
    "same_function": ("first", lambda given: same_function(given, PDFA_4)),
    "same_function as": ("second", lambda given: same_function(PDFA_4, given)),
    "same_function as itself": ("first", lambda given: same_function(given, given)),
    "reachable": ("pdfa", reachable),
    "reachable_part": ("pdfa", reachable_part),
    "evaluate_exactly": ("target", lambda given: evaluate_exactly(given, PDFA_4)),
    "evaluate_exactly against": ("candidate", lambda given: evaluate_exactly(PDFA_4, given)),
    "divergence": ("a", lambda given: divergence(given, PDFA_4)),
    "divergence from": ("b", lambda given: divergence(PDFA_4, given)),
    "simplify": ("pdfa", lambda given: simplify(given, states=2)),
    "ExactOracle": ("target", lambda given: ExactOracle(given, equivalence=Exact())),
    "draw": ("pdfa", draw),
}


@pytest.mark.parametrize("thing", THINGS)
@pytest.mark.parametrize("call", CALLS)
def test_the_argument_the_culprit_and_the_remedy_are_named(call: str, thing: str) -> None:
    (name, function), (given, message) = CALLS[call], THINGS[thing]
    with pytest.raises(InputError, match=f"^{name} is .*{message}") as caught:
        function(given)
    assert len(str(caught.value)) < 250
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("ending", ["json", "json.gz", "npz", "dot"])
@pytest.mark.parametrize("thing", [thing for thing in THINGS if thing != "a tree"])
def test_nothing_but_a_pdfa_is_saved(tmp_path: Path, thing: str, ending: str) -> None:
    with pytest.raises(InputError, match=r"cannot be saved; what can: PFA, PDFA, .*; "):
        save(THINGS[thing][0], tmp_path / f"a.{ending}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("thing", [thing for thing in THINGS if thing not in ("a name", "a path")])
def test_only_paths_are_read(thing: str) -> None:
    with pytest.raises(InputError, match=r"is not a path; give a string or a pathlib\.Path") as e:
        read_arpa(THINGS[thing][0])
    assert "\n" not in str(e.value)


@pytest.mark.parametrize(
    ("guide", "remedy"),
    [
        (None, r"make one with PDFA"),
        (re.compile("0*"), "give its attribute pattern, a string"),
        (SimpleNamespace(pdfa=PDFA_4), "give its attribute pdfa"),
        (SimpleNamespace(accepts=len), r"put its tables into a DFA\("),
        (len, r"learn\(FunctionModel"),
        (LEAF, r"the guide TreeNode\(access_word=\(\)\) is no"),
        (np.zeros((9, 9)), "make one with PDFA"),
    ],
)
def test_what_is_no_guide_is_refused_with_a_remedy(guide: Any, remedy: str) -> None:
    with pytest.raises(InputError, match="is not a regular expression, DFA or PDFA; ") as caught:
        Guided(PDFA_4, guide)
    assert re.search(remedy, str(caught.value))


@pytest.mark.parametrize("thing", ["nothing", "a name", "a result", "a function", "a tree"])
def test_only_models_are_evaluated(thing: str) -> None:
    given = THINGS[thing][0]
    for target, candidate in ((PDFA_4, given), (given, PDFA_4)):
        with pytest.raises(InputError, match="is neither a PDFA nor a LanguageModel; "):
            evaluate(target, candidate, ["0"])
