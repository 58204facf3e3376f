"""Archives that are not a frontier: refused with the culprit, and never another exception."""

from __future__ import annotations

import json
import re
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdfalearn.errors import FileFormatError
from tests.distilling.frontiers import (
    bytes_of,
    complaint_about,
    frontier_of,
    load_bytes,
    members_of,
)
from tests.io.samples import zipped
from tests.io.test_bad_npz import npy
from tests.io.test_fuzz import json_values, mutated, mutations

Changes = list[tuple[str, float, bytes]]

FRONTIER = frontier_of("figure 3")
WORDS = len(FRONTIER.kept_lengths)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bad")


@pytest.fixture(scope="module")
def members(folder: Path) -> dict[str, bytes]:
    """Those of a frontier of 1, 2 and 4 states."""
    return members_of(FRONTIER, folder)


@pytest.mark.parametrize(
    ("name", "array", "complaint"),
    [
        ("figures", npy(np.zeros((3, 2))), r"figures.npy has the shape \(3, 2\), not \(3, 9\)"),
        ("figures", npy(np.full((3, 9), -0.5)), "figures.npy holds -0.5"),
        ("figures", npy(np.full((3, 9), -np.inf)), "figures.npy holds -1.79"),
        ("figures", npy(np.ones((3, 9), int)), "figures.npy is not an array of float64"),
        ("figures", npy(np.full((3, 9), None)), "figures.npy is not an array of float64"),
        ("losses", npy(np.zeros((3, 1))), r"losses.npy has the shape \(3, 1\), not \(3, "),
        ("losses", npy(np.full((3, WORDS), np.nan)), "losses.npy holds nan"),
        ("infinite", npy(np.full((3, WORDS), np.inf)), "infinite.npy holds inf"),
        ("infinite", npy(np.zeros((2, WORDS))), "infinite.npy has the shape"),
        ("lengths", npy(np.zeros(WORDS)), "lengths.npy holds 0.0, which is not from 1"),
        ("lengths", npy(np.ones((1, WORDS))), "lengths.npy has the shape"),
        ("lengths", npy(np.ones(0)), "lengths.npy is empty"),
        ("4/transitions", npy(np.zeros((4, 3), np.int32)), "transitions|probabilities"),
        ("4/transitions", npy(np.full((4, 2), 9, np.int32)), "9"),
        ("4/probabilities", npy(np.full((4, 3), np.nan)), "probability nan is not"),
        ("4/header", npy(np.empty(0, np.uint8)), "empty, not a PDFA"),
    ],
)
def test_bad_arrays(
    name: str, array: bytes, complaint: str, members: dict[str, bytes], folder: Path
) -> None:
    assert f"{name}.npy" in members
    data = zipped((members | {f"{name}.npy": array}).items())
    assert re.search(complaint, complaint_about(data, folder))


def test_automata_that_do_not_fit_together(members: dict[str, bytes], folder: Path) -> None:
    parts = ("header", "transitions", "probabilities")
    swapped = {f"2/{part}.npy": members[f"4/{part}.npy"] for part in parts}
    complaint = complaint_about(zipped((members | swapped).items()), folder)
    assert complaint == "2/transitions.npy has 4 states, not 2"
    symbol = f'"{FRONTIER.best.alphabet.symbols[0]}"'.encode()
    assert symbol in members["4/header.npy"]
    header = members["4/header.npy"].replace(symbol, b'"c"')
    complaint = complaint_about(zipped((members | {"4/header.npy": header}).items()), folder)
    assert complaint == "4/header.npy has other symbols than the one before it"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"format": "pdfalearn run"}, "its format is 'pdfalearn run', not .*: no frontier"),
        ({"version": 2}, "version 2 is newer than 1, .*; upgrade pdfalearn"),
        ({"version": "1"}, "version is '1', not 1"),
        ({"more": 1}, r"frontier.json is \{.*\}, not an object with the keys"),
        ({"states": []}, r"states is \[\], not a list of integers"),
        ({"states": [2, 1, 4]}, r"states is \[2, 1, 4\], not a list .* that grow"),
        ({"states": [1, 2, 2]}, "that grow"),
        ({"states": [0, 2, 4]}, "that grow"),
        ({"states": [1, 2]}, r"holds or lacks \['4/header.npy', '4/probabilities.npy'"),
        ({"states": [1, 2, True]}, "a part of states is True, not an integer"),
        ({"sizes": [1.0]}, r"a part of sizes is 1.0, not an integer"),
        ({"sizes": 3}, "sizes is 3"),
        ({"figures": ["low"]}, r"figures is \['low'\], not \["),
        ({"model_perplexity": -1}, "model_perplexity is -1, not null or a number"),
        ({"model_perplexity": "1"}, "model_perplexity is '1', not null or a number"),
        ({"certificate": []}, r"certificate is \[\], not"),
        ({"notes": [1]}, r"notes is \[1\], not a list of strings"),
    ],
)
def test_bad_texts(
    change: dict[str, Any], complaint: str, members: dict[str, bytes], folder: Path
) -> None:
    text = json.dumps(json.loads(members["frontier.json"]) | change).encode()
    data = zipped((members | {"frontier.json": text}).items())
    assert re.search(complaint, complaint_about(data, folder))


def test_missing_extra_and_compressed_members(members: dict[str, bytes], folder: Path) -> None:
    listed = list(members.items())
    assert "holds or lacks ['losses.npy'], unlike a frontier" in complaint_about(
        zipped((name, data) for name, data in listed if name != "losses.npy"), folder
    )
    for name in ("more.npy", "../losses.npy", "run.txt", "8/header.npy", "4/"):
        assert "holds or lacks [" in complaint_about(zipped([*listed, (name, b"")]), folder)
    assert "no run.json or frontier.json" in complaint_about(zipped(listed[1:]), folder)
    complaint = complaint_about(zipped(listed, zipfile.ZIP_DEFLATED), folder)
    assert complaint == (
        "frontier.json is compressed; write it without compressing, as numpy.savez does"
    )


def used_or_refused(data: bytes, folder: Path) -> None:
    """Load and use a frontier; only loading may fail."""
    with suppress(FileFormatError):
        frontier = load_bytes(data, folder)
        assert len(repr(frontier)) < 200
        assert len(frontier.best) in [point.states for point in frontier]
        assert frontier.knee is None or frontier.knee >= 1
        lines = 0 if frontier.is_of_words else 2  # about the model itself
        assert frontier.table().count("\n") == len(frontier) + lines


def test_every_truncation(folder: Path) -> None:
    whole = bytes_of(FRONTIER, folder)
    for length in range(0, len(whole), 7):
        with pytest.raises(FileFormatError):
            load_bytes(whole[:length], folder)


@pytest.mark.slow
@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
def test_flipped_bytes_give_the_same_frontier_or_an_error(mask: int, folder: Path) -> None:
    whole = bytes_of(FRONTIER, folder)
    refused = 0
    for at in range(mask % 11, len(whole), 11):
        data = bytearray(whole)
        data[at] ^= mask
        try:
            assert load_bytes(bytes(data), folder) == FRONTIER
        except FileFormatError:
            refused += 1
    assert refused > len(whole) / 22


@pytest.mark.slow
@settings(max_examples=100)
@given(changes=mutations())
def test_mutated_files(changes: Changes, folder: Path) -> None:
    used_or_refused(mutated(bytes_of(FRONTIER, folder), changes), folder)


@settings(max_examples=500)
@given(changes=mutations(), data=st.data())
@pytest.mark.slow
def test_mutated_members_zipped(
    changes: Changes, data: st.DataObject, folder: Path, members: dict[str, bytes]
) -> None:
    name = data.draw(st.sampled_from(sorted(members)))
    used_or_refused(zipped((members | {name: mutated(members[name], changes)}).items()), folder)


@settings(max_examples=400)
@given(data=st.data(), value=json_values)
@pytest.mark.slow
def test_any_value_for_any_key(
    data: st.DataObject, value: object, folder: Path, members: dict[str, bytes]
) -> None:
    document = json.loads(members["frontier.json"])
    key = data.draw(st.sampled_from(sorted(document)))
    document[key] = value
    text = json.dumps(document).encode()
    used_or_refused(zipped((members | {"frontier.json": text}).items()), folder)
