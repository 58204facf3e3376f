"""JSON files that are not a PDFA: one line that names the file and the culprit."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.io.samples import SMALL, bytes_of, complaint_about

GOOD = {
    "format": "pdfa",
    "version": 1,
    "alphabet": ["a", "b"],
    "terminal": "$",
    "initial": 0,
    "transitions": [[0, 1], [1, -1]],
    "probabilities": [[0.5, 0.25, 0.25], [0, 1, 0]],
}


def text(**changes: object) -> str:
    return json.dumps(GOOD | changes)


BAD = {
    "": "empty, not a PDFA",
    " ": "not JSON, or cut off: Expecting value",
    text()[:-20]: "not JSON, or cut off: ",
    text() + "]": "not JSON, or cut off: Extra data",
    "[1, 2]": r"holds \[1, 2\], not a JSON object",
    "null": "holds None, not a JSON object",
    "[" * 10**6: "nested too deeply",
    '{"a":' * 10**6: "more than 10,000 JSON objects",
    text(initial=0)[:-1] + ', "initial": 1}': "has the key 'initial' twice",
    text(alphabet=[{"x": 1}]).replace('"x": 1', '"x": 1, "x": 2'): "has the key 'x' twice",
    text(probabilities=[[float("nan"), 0, 1]] * 2): "holds NaN, which is not a number",
    text(probabilities=[[float("inf"), 0, 1]] * 2): "holds Infinity",
    text(probabilities=[[float("-inf"), 0, 1]] * 2): "holds -Infinity",
    text(initial="x").replace('"x"', "9" * 5000): "not JSON, or cut off: Exceeds the limit",
    text(format="nfa"): "its format is 'nfa', not 'pdfa'",
    "{}": "its format is None",
    text(version=2, more=[{}]): "version 2 is newer than 1, .*; upgrade pdfalearn",
    text(version=0): "version is 0, not 1",
    text(version=True): "version is True, not 1",
    text(version="1"): "version is '1', not 1",
    text(more=1): "unknown key 'more'; a PDFA has ",
    text().replace('"initial": 0, ', ""): "key 'initial' is missing",
    text().replace('"transitions"', '"successors"'): "key 'transitions' is missing",
    text(alphabet="ab"): "alphabet 'ab' is not a list of symbols",
    text(alphabet={"a": 0, "b": 1}): "alphabet {.*} is not a list",
    text(alphabet=["a", 1.5]): "symbol 1.5 is neither a string nor an integer",
    text(alphabet=["a", True]): "symbol True is neither",
    text(alphabet=["a", None]): "symbol None is neither",
    text(alphabet=["a", ["b"]]): r"symbol \['b'\] is neither",
    text(alphabet=["a", 2**63]): "symbol 9223372036854775808 is neither",
    text(alphabet=["a", 2**64]): r"symbol \(an integer of 65 bits\) is neither",
    text(alphabet=["a", "a"]): "symbol 'a' occurs twice in the alphabet",
    text(alphabet=["a", "$"]): r"the terminal '\$' is also in the alphabet",
    text(alphabet=[]): "the alphabet is empty",
    text(terminal=None): "symbol None is neither",
    text(initial=2): "initial state 2 is not an integer from 0 to 1",
    text(initial=0.0): "initial state 0.0 is not an integer",
    text(initial=False): "initial state False is not an integer",
    text(transitions=5): "transitions 5 are not a list of rows",
    text(transitions=[[0, 1], 5]): "transitions of state 1: 5 is not a list of 2 numbers",
    text(transitions=[[0, 1], [0]]): r"transitions of state 1: \[0\] is not a list of 2 numbers",
    text(transitions=[[0, 1], [True, 0]]): "state 1, entry 0: True is not a state's number",
    text(transitions=[[0, 1.0], [1, 0]]): "state 0, entry 1: 1.0 is not a state's number",
    text(transitions=[["0", 1], [1, 0]]): "state 0, entry 0: '0' is not a state's number",
    text(transitions=[[0, [1]], [1, 0]]): r"state 0, entry 1: \[1\] is not a state's number",
    text(transitions=[[0, 10**30], [1, 0]]): "state 0, entry 1: 10{30} is not a state's number",
    text(transitions=[[0, 10**300], [1, 0]]): r"entry 1: 10+\.\.\.0+ is not a state's number",
    text(transitions=[[0, 2], [1, 0]]): "state 0, symbol 'b': successor 2 is not one of the states",
    text(transitions=[[0, -1], [1, 0]]): "the transition is undefined but the symbol has prob",
    text(transitions=[[0, 1]]): "transitions have 1 rows and probabilities 2",
    text(transitions=[]): "transitions are empty|transitions have 0 rows",
    text(transitions=[], probabilities=[]): "probabilities are empty",
    text(
        probabilities=[[1, 0, 0], [1, 0]]
    ): r"probabilities of state 1: \[1, 0\] is not a list of 3",
    text(probabilities=[["1", 0, 0], [1, 0, 0]]): "state 0, entry 0: '1' is not a probability",
    text(probabilities=[[True, 0, 0], [1, 0, 0]]): "state 0, entry 0: True is not a probability",
    text(probabilities=[[None, 0, 0], [1, 0, 0]]): "state 0, entry 0: None is not a probability",
    text(probabilities=[[10**400, 0, 0], [1, 0, 0]]): r"entry 0: 1000\S+ is not a probability",
    text(probabilities=[[0, 0.5, 0.5], [1, 0, 0.1]]): "state 1: its probabilities sum to 1.1",
    text(probabilities=[[2, -0.5, -0.5], [1, 0, 0]]): "symbol 'a': probability -0.5 is not",
    text(initial=0).replace("0.25", "1e999"): "state 0: its probabilities sum to inf",
}


@pytest.mark.parametrize("bad", BAD, ids=list(BAD.values()))
@pytest.mark.parametrize("ending", [".json", ".json.gz"])
def test_bad_documents(bad: str, ending: str, tmp_path: Path) -> None:
    data = bad.encode() if ending == ".json" else gzip.compress(bad.encode())
    assert re.search(BAD[bad], complaint_about(data, ending, tmp_path))


def test_not_utf_8(tmp_path: Path) -> None:
    data = text().encode().replace(b'"a"', b'"\xe9"')
    complaint = complaint_about(data, ".json", tmp_path)
    assert "can't decode byte 0xe9 in position 47" in complaint


def test_long_culprits_are_shortened(tmp_path: Path) -> None:
    data = text(alphabet=["a" * 10**6] * 2).encode()
    assert "occurs twice" in complaint_about(data, ".json", tmp_path)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-1],
        lambda data: data[:20],
        lambda data: data[:5],
        lambda data: b"PK" + data,
        lambda data: data + b"more",
        lambda data: data[:-6] + b"\0" + data[-5:],
        lambda data: data[:12] + b"\xff" + data[13:],
        lambda data: data[:2] + b"\x07" + data[3:],
    ],
)
def test_damaged_gzip(damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    data = damage(bytes_of(SMALL, ".json.gz", tmp_path))
    complaint = complaint_about(data, ".json.gz", tmp_path)
    assert "not gzip, or damaged: " in complaint
