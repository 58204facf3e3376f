from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest

from pdfalearn import PDFA
from pdfalearn.datasets import random_pdfa
from tests.io.foreign import PYTHAUTOMATA, pickled
from tests.io.samples import complaint_about, load_bytes

SMALL = PDFA(
    alphabet=["a", "bb"],
    transitions=[[1, 0], [-1, 0]],
    probabilities=[[0.25, 0.75, 0], [0.5, 0, 0.5]],
)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_text(end: str, tmp_path: Path) -> None:
    data = PYTHAUTOMATA.replace("\n", end).encode()
    assert load_bytes(data, ".pythautomata", tmp_path) == SMALL


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("ending", [".pickle", ".pkl", ".joblib"])
def test_pickles_are_read_and_not_unpickled(ending: str, protocol: int, tmp_path: Path) -> None:
    assert load_bytes(pickled(PYTHAUTOMATA, protocol), ending, tmp_path) == SMALL


class Trap:
    def __reduce__(self) -> tuple[object, ...]:
        return exec, ("raise AssertionError('unpickled')",)


def test_other_pickles_are_refused_and_not_unpickled(tmp_path: Path) -> None:
    for thing in (Trap(), [PYTHAUTOMATA[5:]], {"Name": 1}):
        complaint = complaint_about(pickle.dumps(thing), ".pickle", tmp_path)
        assert "a pickle, but not one of a PDFA of pythautomata" in complaint


def test_a_trap_beside_the_text_does_not_spring(tmp_path: Path) -> None:
    data = pickle.dumps([Trap(), PYTHAUTOMATA])
    assert load_bytes(data, ".pickle", tmp_path) == SMALL


def text_of(pdfa: PDFA, terminal: str) -> str:
    lines = ["Name", "random", "Terminal Symbol", terminal]
    lines += ["Alphabet", " ".join(map(str, pdfa.alphabet))]
    for state, row in enumerate(pdfa.probabilities.tolist()):
        lines += ["State", f"{state} {int(state == pdfa.initial)} {row[0]}"]
    for state, row in enumerate(pdfa.probabilities.tolist()):
        for symbol, name in enumerate(pdfa.alphabet):
            successor = pdfa.transitions[state, symbol]
            if successor >= 0:
                lines += ["Transition", f"{state} {successor} {name} {row[symbol + 1]}"]
    return "\n".join([*lines, ""])


@pytest.mark.parametrize("seed", range(5))
def test_random_automata_are_kept_to_the_last_bit(seed: int, tmp_path: Path) -> None:
    target = random_pdfa(500, 3, zero_probability=0.4, undefined=True, seed=seed)
    text = text_of(target, "$")
    assert load_bytes(text.encode(), ".pythautomata", tmp_path) == target
    assert load_bytes(pickled(text), ".pickle", tmp_path) == target


BAD = {
    ("Name\nGrammar 1\n", ""): "'Name' is missing",
    ("Terminal Symbol\n$\n", ""): "'Terminal Symbol' is missing",
    ("Alphabet\na bb\n", ""): "'Alphabet' is missing",
    ("Alphabet\na bb\n", "Alphabet\na bb\nAlphabet\na\n"): "line 8: a second Alphabet",
    ("a bb", "a a"): "line 6: symbol 'a' occurs twice in the alphabet",
    ("a bb", "a $"): r"line 6: the terminal '\$' is also in the alphabet",
    ("State\nq1 0 0.5\n", ""): "line 10: state 'q1' is unknown",
    ("q0 q1 a", "q0 q2 a"): "line 12: state 'q2' is unknown",
    ("q0 q1 a", "q0 q1 c"): "line 12: symbol 'c' is not in the alphabet",
    ("q0 q1 a", "q0 q1 bb"): "line 14: not deterministic: state 'q0', symbol 'bb' has a transition",
    ("q1 0 0.5", "q0 0 0.5"): "line 10: state 'q0' is already on line 8",
    ("q1 0 0.5", "q1 0 0.4"): "line 10: state 'q1': its weights sum to 0.9, not to 1",
    ("q1 0 0.5", "q1 1 0.5"): (
        "line 10: not deterministic: words begin in state q1 and, on line 8, in q0"
    ),
    ("q0 1 0.25", "q0 0 0.25"): "words begin in no state",
    ("q0 1 0.25", "q0 0.5 0.25"): "line 8: words begin in state q0 with probability 0.5, not 1",
    ("q0 1 0.25", "q0 1"): "line 8: 'q0 1' is not NAME INITIAL FINAL",
    ("q0 1 0.25", "q 0 1 0.25"): "line 8: 'q 0 1 0.25' is not NAME INITIAL FINAL",
    ("q0 1 0.25", "q0 1 none"): "line 8: 'none' is not a number",
    ("a 0.75", "a"): "line 12: 'q0 q1 a' is not FROM TO SYMBOL WEIGHT",
    ("a 0.75", "a 1.75"): "line 12: 1.75 is not a probability",
    ("bb 0.5\n", "bb 0.5\nTransition\n"): "line 17: Transition without the line that should follow",
    ("State\nq1", "Stat\nq1"): "line 9: 'Stat' where one of Name, Terminal Symbol,",
}


@pytest.mark.parametrize("bad", BAD, ids=list(BAD.values()))
def test_bad_files(bad: tuple[str, str], tmp_path: Path) -> None:
    text = PYTHAUTOMATA.replace(*bad, 1)
    assert text != PYTHAUTOMATA
    assert re.search(BAD[bad], complaint_about(text.encode(), ".pythautomata", tmp_path))
    if text.startswith("Name"):
        assert re.search(BAD[bad], complaint_about(pickled(text), ".pickle", tmp_path))


def test_a_damaged_pickle(tmp_path: Path) -> None:
    data = pickled(PYTHAUTOMATA)
    assert "a pickle, but damaged" in complaint_about(data[:100], ".pickle", tmp_path)


def test_an_empty_file(tmp_path: Path) -> None:
    assert "'Name' is missing" in complaint_about(b"", ".pickle", tmp_path)
