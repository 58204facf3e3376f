"""Archives that are not a run."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pdfalearn import load, save
from pdfalearn.datasets import figure_3
from pdfalearn.errors import InputError
from pdfalearn.files import json_text
from tests.io.run_samples import bytes_of, complaint_about, members_of, run_of
from tests.io.samples import zipped
from tests.io.test_bad_npz import npy, with_central_field


@pytest.fixture
def members(tmp_path: Path) -> dict[str, bytes]:
    """Those of a run of four states over two symbols, with traces."""
    return members_of(run_of("figure 3"), tmp_path)


def changed(array: Any, place: int | tuple[int, ...], value: float) -> bytes:
    """An array with one entry changed."""
    array = np.array(array)
    array[place] = value
    return npy(array)


TREE = run_of("figure 3").kept_tree
WORDS = run_of("figure 3").kept_words
assert TREE is not None
assert TREE.traces is not None
LENGTHS = np.array([len(trace) // 4 for trace in TREE.traces])
MOVED = np.eye(1, len(LENGTHS), 0, dtype=int)[0] - np.eye(1, len(LENGTHS), 1, dtype=int)[0]
INNER = int(TREE.parents[-1])
"""A node with children below the root."""


@pytest.mark.parametrize(
    ("name", "array", "complaint"),
    [
        ("batches", npy(np.array([3.0])), "batches.npy is not an array of int64"),
        ("batches", npy(np.array([[3]])), r"batches.npy has the shape \(1, 1\), not \(any,\)"),
        ("batches", npy(np.array([-3])), "batches.npy holds -3, which is not from 0"),
        ("batches", npy(np.array([3], dtype=object)), "not an array of int64"),
        ("history", npy(np.zeros((2, 6))), r"history.npy has the shape \(2, 6\), not \(any, 8\)"),
        ("history", npy(np.full((1, 8), np.nan)), "history.npy, states, is nan, not an integer"),
        ("history", npy(np.full((1, 8), 0.5)), "history.npy, states, is 0.5, not an integer"),
        ("history", npy(np.full((1, 8), -1.0)), "history.npy, states, is -1.0"),
        ("history", npy(np.full((1, 8), np.inf)), "history.npy, states, is inf"),
        ("counterexamples", npy(np.array([3])), r"counterexamples.npy has the shape \(1,\)"),
        ("counterexamples", npy(np.array([[3, -1]])), "counterexamples.npy holds -1"),
        ("unresolved", npy(np.array([[4, 0]])), "unresolved.npy holds 4, which is not from 0 to 3"),
        ("unresolved", npy(np.array([[0, 2]])), "unresolved.npy holds 2, which is not from 0 to 1"),
        ("unresolved", npy(np.array([0, 0])), r"unresolved.npy has the shape \(2,\)"),
        (
            "word_parents",
            changed(WORDS.parents, 1, 1),
            "word_parents.npy, entry 1: 1 is not an",
        ),
        (
            "word_parents",
            changed(WORDS.parents, 2, -1),
            "word_parents.npy, entry 2: -1 is not an",
        ),
        ("word_parents", changed(WORDS.parents, 0, -1), "word_parents.npy does not begin with 0"),
        ("word_parents", npy(np.empty(0, np.int32)), "word_parents.npy does not begin with 0"),
        ("word_symbols", changed(WORDS.symbols, 1, 2), "word_symbols.npy holds 2"),
        ("word_symbols", npy(WORDS.symbols[1:]), r"word_symbols.npy has the shape \(3,\)"),
        ("word_ends", changed(WORDS.ends, 1, 9), "word_ends.npy holds 9"),
        ("word_ends", npy(WORDS.ends[1:]), "word_ends.npy has 3 words for 4 states"),
        ("word_ends", npy(np.append(WORDS.ends, np.int32(0))), "further_distributions.npy has the"),
        ("further_distributions", npy(np.ones((1, 3)) / 3), r"not \(0, 3\)"),
        ("tree_parents", changed(TREE.parents, 0, 0), "tree_parents.npy does not begin with -1"),
        (
            "tree_parents",
            changed(TREE.parents, 2, 2),
            "tree_parents.npy, entry 2: 2 is not an",
        ),
        ("tree_parents", npy(TREE.parents[:2]), r"tree_labels.npy has the shape \(6,\), not \(2,"),
        ("tree_labels", changed(TREE.labels, 1, 99), "tree_labels.npy holds 99"),
        ("tree_labels", changed(TREE.labels, -1, 99), "tree_labels.npy holds 99"),
        ("tree_labels", changed(TREE.labels, 1, -2), "tree_labels.npy holds -2"),
        ("tree_labels", changed(TREE.labels, 1, int(TREE.labels[2])), "same label on two arcs"),
        ("tree_suffixes", changed(TREE.suffixes, INNER, -1), "no suffix for a node that has"),
        ("tree_suffixes", changed(TREE.suffixes, 0, 10**6), "tree_suffixes.npy holds 1000000"),
        ("tree_states", changed(TREE.states, 0, 0), "no suffix for a node that has children"),
        ("tree_states", changed(TREE.states, 1, 4), "tree_states.npy holds 4"),
        ("suffix_firsts", changed(TREE.firsts, 1, 2), "suffix_firsts.npy holds 2"),
        ("suffix_firsts", changed(TREE.firsts, 1, -1), "suffix_firsts.npy holds -1"),
        (
            "suffix_rests",
            changed(TREE.rests, 1, 1),
            "suffix_rests.npy, entry 1: 1 is not an",
        ),
        ("class_keys", npy(np.zeros(3)), r"class_keys.npy has the shape \(3,\)"),
        ("class_keys", npy(TREE.keys[:1]), "holds [12], which is not from -1 to 0"),
        ("class_keys", npy(np.zeros((3, 3), complex)), "class_keys.npy is not an array of bool or"),
        ("traces", npy(np.array([7], np.int32)), "traces.npy holds 7"),
        ("trace_lengths", npy(np.array([2**62])), "trace_lengths.npy holds 4611686018427387904"),
        ("trace_lengths", npy(np.array([1])), "trace_lengths.npy do not sum to"),
        ("trace_lengths", npy(LENGTHS + MOVED), "has another length than the trace's suffix"),
        ("header", npy(np.empty(0, np.uint8)), "empty, not a PDFA"),
        ("probabilities", npy(np.full((4, 3), np.nan)), "probability nan is not"),
    ],
)
def test_bad_arrays(
    name: str, array: bytes, complaint: str, members: dict[str, bytes], tmp_path: Path
) -> None:
    assert f"{name}.npy" in members
    data = zipped((members | {f"{name}.npy": array}).items())
    assert re.search(complaint, complaint_about(data, tmp_path))


def test_a_trace_that_is_there_twice(members: dict[str, bytes], tmp_path: Path) -> None:
    assert TREE is not None
    assert TREE.traces is not None
    length = len(TREE.traces[0]) // 4
    twice = {
        "traces.npy": npy(np.zeros(2 * length, np.int32)),
        "trace_lengths.npy": npy(np.full(2, length)),
    }
    data = zipped((members | twice).items())
    assert "traces.npy holds a trace twice" in complaint_about(data, tmp_path)


OUTSIDE = ("mean", "largest", "distributions", "unknown")


def certified(kind: str, **details: object) -> dict[str, Any]:
    return {"certificate": {"kind": kind, "statement": "", "details": details}}


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"format": "run"}, "its format is 'run', not 'pdfalearn run': no run"),
        ({"version": 2}, "version 2 is newer than 1, .*; upgrade pdfalearn"),
        ({"version": True}, "version is True, not 1"),
        ({"more": 1}, r"run.json is \{.*\}, not an object with the keys"),
        ({"statistics": {}}, "statistics is {}, not an object with the keys"),
        ({"history": ["states"]}, r"history is \['states'\], not \["),
        ({"certificate": []}, r"certificate is \[\], not"),
        ({"certificate": {"kind": 1, "statement": "", "details": {}}}, "certificate is"),
        ({"equivalence": "Quantization(kappa=0)"}, "kappa 0 is not"),
        ({"equivalence": "Quantization(kappa='1')"}, "kappa '1' is not"),
        ({"equivalence": "Rounded(equivalence=Exact(), decimals=99)"}, "decimals 99 is not"),
        ({"equivalence": "Tolerance(tolerance=3)"}, "tolerance 3 is not"),
        *(
            ({"equivalence": text}, "equivalence is .*, not a relation of distributions")
            for text in (
                "exact",
                ["Exact()"],
                "print()",
                "Exact(1)",
                "Exact().x",
                "Exact(",
                "(" * 999,
            )
        ),
        (certified("sure"), "certificate is 'sure', not one of exact, pac"),
        (certified("pac", epsilon=4.8, delta=0.1), "epsilon is 4.8, not a number between"),
        (certified("pac", epsilon=0.1, delta="0.1"), "delta is '0.1', not a number between"),
        (certified("pac", whole_words_of_model=True), "not an object with epsilon and delta"),
        (certified("exact", outside={}), "outside is {}, not an object with the keys"),
        (certified("exact", outside=dict.fromkeys(OUTSIDE, "x")), "an object of numbers"),
        (certified("stopped", words_drawn=-1), "words_drawn is -1, not a number of 0 or more"),
        ({"near_boundary": 1.5}, "near_boundary is 1.5, not null or 16 counts"),
        ({"near_boundary": [1] * 15}, "near_boundary is .*, not null or 16 counts"),
        ({"near_boundary": [-1] * 16}, "near_boundary is -1, not an integer of 0 or more"),
        ({"tree": None}, r"holds or lacks \['class_keys.npy', 'further_distributions.npy', 'suf"),
        ({"tree": "classes"}, r"holds or lacks \['trace_lengths.npy', 'traces.npy'\]"),
        ({"tree": 1}, "tree is 1, not null"),
        ({"notes": [1]}, r"notes is \[1\], not a list of strings"),
    ],
)
def test_bad_texts(
    change: dict[str, Any], complaint: str, members: dict[str, bytes], tmp_path: Path
) -> None:
    text = json.dumps(json.loads(members["run.json"]) | change).encode()
    data = zipped((members | {"run.json": text}).items())
    assert re.search(complaint, complaint_about(data, tmp_path))


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (b'"words": 14', b'"words": NaN', "run.json holds NaN, which is not a number"),
        (b'"words": 14', b'"words": 1e999', "run.json holds '1e999', which is too large"),
        (b'"words": 14', b'"words": ' + b"9" * 5000, "run.json is not JSON, or cut off"),
        (b'"words": 14', b'"words": -1', "words is -1, not an integer of 0 or more"),
        (b'"words": 14', b'"words": true', "words is True, not an integer of 0 or more"),
        (b'"words": 14', b'"words": 14, "words": 14', "run.json has the key 'words' twice"),
        (b"{", b"{" * 10**5, "run.json is not JSON|nested too deeply"),
        (b'"details": {', b'"details": ' + b"[" * 10**5, "nested too deeply"),
        (b'"words"', b'"w\xff"', "run.json is not JSON"),
    ],
)
def test_bad_json(
    old: bytes, new: bytes, complaint: str, members: dict[str, bytes], tmp_path: Path
) -> None:
    assert old in members["run.json"]
    text = members["run.json"].replace(old, new, 1)
    data = zipped((members | {"run.json": text}).items())
    assert re.search(complaint, complaint_about(data, tmp_path))


def test_texts_have_limits(
    members: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = zipped(members.items())
    monkeypatch.setattr(json_text, "PARTS_LIMIT", 20)
    assert "more than 20 lists, objects and strings" in complaint_about(data, tmp_path)
    monkeypatch.setattr(json_text, "TEXT_LIMIT", 100)
    assert "MiB of JSON text" in complaint_about(data, tmp_path)
    with pytest.raises(InputError, match="its text has more than"):
        save(run_of("figure 3"), tmp_path / "run.zip")


def test_missing_extra_and_duplicate_members(members: dict[str, bytes], tmp_path: Path) -> None:
    listed = list(members.items())
    assert "holds or lacks ['batches.npy']" in complaint_about(
        zipped((name, data) for name, data in listed if name != "batches.npy"), tmp_path
    )
    for name in ("more.npy", "../batches.npy", "/etc/x.npy", "folder/", "a\nb"):
        complaint = complaint_about(zipped([*listed, (name, b"")]), tmp_path)
        assert complaint.startswith("holds or lacks [")
    with pytest.warns(UserWarning, match="Duplicate name"):
        twice = zipped([*listed, listed[3]])
    assert "a member twice" in complaint_about(twice, tmp_path)
    assert "no run.json" in complaint_about(zipped(listed[1:]), tmp_path)
    assert "no run.json" in complaint_about(zipped([]), tmp_path)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_compressed_members_are_not_read(
    method: int, members: dict[str, bytes], tmp_path: Path
) -> None:
    data = zipped((members | {"batches.npy": bytes(10**7)}).items(), method)
    complaint = complaint_about(data, tmp_path)
    assert complaint == "run.json is compressed; write it without compressing, as numpy.savez does"


def test_members_that_share_their_bytes(members: dict[str, bytes], tmp_path: Path) -> None:
    """An archive whose members overlap claims more than there is."""
    data = zipped((members | {"batches.npy": npy(np.zeros(10**4, np.int64))}).items())
    claim = (10**5).to_bytes(4, "little") * 2
    assert "more than the whole file" in complaint_about(
        with_central_field(data, 20, claim), tmp_path
    )


def test_other_archives_under_this_ending(tmp_path: Path) -> None:
    save(figure_3(), tmp_path / "a.npz")
    complaint = complaint_about((tmp_path / "a.npz").read_bytes(), tmp_path)
    assert complaint == (
        "holds ['header.npy', 'transitions.npy', 'probabilities.npy'], and no run.json or "
        "frontier.json: not a run or a frontier that was saved"
    )
    data = bytes_of(run_of("figure 3"), tmp_path)
    (tmp_path / "run.npz").write_bytes(data)
    with pytest.raises(InputError, match=r"run\.npz: holds \['run\.json', .*, not the arrays"):
        load(tmp_path / "run.npz")
    for other in (b"", b"no zip at all", data[:-1], data[: len(data) // 2]):
        assert "not a zip archive, or damaged" in complaint_about(other, tmp_path)


def test_a_device_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "endless.zip").symlink_to("/dev/zero")
    with pytest.raises(InputError, match="not a regular file"):
        load(tmp_path / "endless.zip")
