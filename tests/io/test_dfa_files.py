"""Files of DFA: what was saved is loaded again, and what is wrong is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, load, save
from pdfalearn.alphabet import Alphabet
from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.io import check_can_save, load_pdfa
from pdfalearn.languages import DFA
from tests.support import examples

EVEN = DFA(alphabet="ab", transitions=[[1, 0], [0, -1]], accepting=[True, False], initial=1)


@examples(40)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 6),
    st.lists(st.text() | st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=4, unique=True),
    st.sampled_from([".json", ".json.gz", ".JSON"]),
)
def test_round_trips(
    tmp_path_factory: pytest.TempPathFactory, seed: int, size: int, symbols: list[Any], end: str
) -> None:
    random = np.random.default_rng(seed)
    alphabet = Alphabet([one for one in symbols if one != "$"] or ["a"], "$")
    dfa = DFA(
        alphabet=alphabet,
        transitions=random.integers(-1, size, (size, len(alphabet))),
        accepting=random.random(size) < 0.5,
        initial=int(random.integers(size)),
    )
    path = tmp_path_factory.mktemp("dfa") / f"saved{end}"
    save(dfa, path)
    loaded = load(path)
    assert type(loaded) is DFA
    assert (loaded.alphabet, loaded.initial) == (dfa.alphabet, dfa.initial)
    assert loaded.transitions.tolist() == dfa.transitions.tolist()
    assert loaded.accepting.tolist() == dfa.accepting.tolist()


def test_a_dfa_is_not_a_model(tmp_path: Path) -> None:
    save(EVEN, tmp_path / "dfa.json")
    with pytest.raises(InputError, match=r"dfa\.json holds a DFA, which has no probabilities"):
        load_pdfa(tmp_path / "dfa.json")


def test_other_endings_are_refused(tmp_path: Path) -> None:
    for ending in (".npz", ".svg", ".zip"):
        with pytest.raises(InputError, match=r"\.json, \.json\.gz"):
            check_can_save(tmp_path / f"dfa{ending}", DFA)


@pytest.mark.parametrize(
    ("changed", "culprit"),
    [
        ({"accepting": [True]}, "2 rows and accepting 1 values"),
        ({"accepting": [1, 0]}, "true and false"),
        ({"accepting": "ab"}, "true and false"),
        ({"transitions": [[0, 2], [0, 0]]}, "2"),
        ({"transitions": [[0, 0.5], [0, 0]]}, "not a state's number"),
        ({"transitions": [[0]]}, "not a list of 2 numbers"),
        ({"initial": 2}, "initial state"),
        ({"probabilities": [[0.5, 0.5]]}, "unknown key 'probabilities'; a DFA has"),
        ({"watching": {}}, "unknown key 'watching'; a DFA has"),
        ({"version": 2}, "newer than 1"),
        ({"alphabet": None}, "not a list of symbols"),
    ],
)
def test_bad_files(tmp_path: Path, changed: dict[str, Any], culprit: str) -> None:
    path = tmp_path / "dfa.json"
    save(EVEN, path)
    path.write_text(json.dumps(json.loads(path.read_text()) | changed))
    with pytest.raises(FileFormatError, match=culprit):
        load(path)


def test_a_missing_key_is_named(tmp_path: Path) -> None:
    path = tmp_path / "dfa.json"
    save(EVEN, path)
    document = json.loads(path.read_text())
    del document["accepting"]
    path.write_text(json.dumps(document))
    with pytest.raises(FileFormatError, match="key 'accepting' is missing; a DFA needs"):
        load(path)


def test_symbols_that_files_cannot_hold(tmp_path: Path) -> None:
    odd = DFA(alphabet=[(1, 2)], transitions=[[0]], accepting=[True])
    with pytest.raises(InputError, match="cannot be in a file"):
        save(odd, tmp_path / "dfa.json")
    save(PDFA(alphabet="a", transitions=[[0]], probabilities=[[0.5, 0.5]]), tmp_path / "dfa.json")
