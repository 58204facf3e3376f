"""NumPy archives that are not a PDFA."""

from __future__ import annotations

import io
import pickle
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pdfalearn import load
from pdfalearn.errors import InputError
from tests.io.samples import SMALL, bytes_of, complaint_about, members_of, zipped
from tests.support import mostly_slow


def npy(array: Any, version: tuple[int, int] = (1, 0)) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asanyarray(array), version=version)
    return stream.getvalue()


def with_central_field(data: bytes, offset: int, field: bytes) -> bytes:
    """Overwrite a field of the first entry of the central directory."""
    begin = data.index(b"PK\x01\x02") + offset
    return data[:begin] + field + data[begin + len(field) :]


@pytest.mark.parametrize(
    ("name", "array", "complaint"),
    [
        ("transitions", npy(SMALL.transitions.astype(np.int64)), "not an array of int32"),
        ("transitions", npy(SMALL.transitions.astype(">i4")), "not an array of int32"),
        ("transitions", npy(np.asfortranarray(SMALL.transitions)), "not an array of int32"),
        ("transitions", npy(SMALL.transitions, (2, 0)), "not an array of int32"),
        ("transitions", npy(SMALL.transitions.astype(object)), "not an array of int32"),
        ("transitions", pickle.dumps(SMALL.transitions), "not an array of int32"),
        ("transitions", b"", "not an array of int32"),
        ("transitions", npy(SMALL.transitions)[:-4], "not as long as its header says"),
        ("transitions", npy(SMALL.transitions) + bytes(4), "not as long as its header says"),
        ("transitions", npy(SMALL.transitions[0]), r"transitions have shape \(3,\)"),
        ("transitions", npy(SMALL.transitions[:, :2]), r"transitions have shape \(2, 2\)"),
        ("transitions", npy(SMALL.transitions[:1]), "transitions have 1 rows"),
        ("transitions", npy(SMALL.transitions + np.int32(5)), "successor 6 is not one of"),
        ("probabilities", npy(SMALL.probabilities[:0]), "probabilities are empty"),
        ("probabilities", npy(SMALL.probabilities * np.nan), "probability nan is not"),
        ("probabilities", npy(SMALL.probabilities / 2), "sum to 0.5"),
        ("header", npy(np.empty(0, np.uint8)), "empty, not a PDFA"),
        ("header", npy(np.frombuffer(b'{"format":"pdfa"', np.uint8)), "not JSON, or cut off"),
        ("header", npy(np.frombuffer(b'{"format":"dfa"}', np.uint8)), "its format is 'dfa'"),
        ("header", npy(np.frombuffer(b"[" * 10**5, np.uint8)), "nested too deeply"),
    ],
)
def test_bad_arrays(name: str, array: bytes, complaint: str, tmp_path: Path) -> None:
    members = members_of(SMALL, tmp_path) | {f"{name}.npy": array}
    assert re.search(complaint, complaint_about(zipped(members.items()), ".npz", tmp_path))


def test_a_header_that_claims_a_huge_shape(tmp_path: Path) -> None:
    members = members_of(SMALL, tmp_path)
    claim = b"(900000000000000, 3), }"
    array = members["transitions.npy"].replace(b"(2, 3), }".ljust(len(claim)), claim)
    assert len(array) == len(members["transitions.npy"])
    data = zipped((members | {"transitions.npy": array}).items())
    assert "not as long as its header says" in complaint_about(data, ".npz", tmp_path)


def test_missing_extra_and_duplicate_members(tmp_path: Path) -> None:
    members = list(members_of(SMALL, tmp_path).items())
    for wrong in (members[1:], [*members, ("more.npy", b"")], [("a/b", b""), *members[1:]], []):
        complaint = complaint_about(zipped(wrong), ".npz", tmp_path)
        assert complaint.endswith(
            "not the arrays ['header.npy', 'transitions.npy', 'probabilities.npy'] of a PDFA"
        )
    with pytest.warns(UserWarning, match="Duplicate name"):
        twice = zipped([*members, members[0]])
    assert "holds ['header.npy'" in complaint_about(twice, ".npz", tmp_path)


@pytest.mark.parametrize(
    "method", mostly_slow([zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
)
def test_compressed_members_are_not_read(method: int, tmp_path: Path) -> None:
    members = members_of(SMALL, tmp_path) | {"transitions.npy": bytes(10**7)}
    complaint = complaint_about(zipped(members.items(), method), ".npz", tmp_path)
    assert "header.npy is compressed" in complaint
    assert complaint.endswith("write it without compressing, as numpy.savez does")


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (lambda data: b"", "not a zip file"),
        (lambda data: b"no zip at all", "not a zip file"),
        (lambda data: data[:-1], "not a zip file"),
        (lambda data: data[: len(data) // 2], "not a zip file"),
        (lambda data: data.replace(b"alphabet", b"ALPHABET"), "Bad CRC-32"),
        (lambda data: with_central_field(data, 8, b"\x01"), "encrypted"),
        (lambda data: with_central_field(data, 8, b"\x20"), "damaged"),
        (lambda data: with_central_field(data, 10, b"\x63"), "header.npy is compressed"),
        (lambda data: with_central_field(data, 20, b"\xf0\xff\xff\x7f" * 2), "more than the whole"),
        (lambda data: with_central_field(data, 24, b"\x00" * 4), "Bad CRC-32"),
        (lambda data: with_central_field(data, 42, b"\x07"), "damaged"),
        (lambda data: with_central_field(data, 42, b"\xf0\xff\xff\x7f"), "damaged"),
        (lambda data: with_central_field(data, 6, b"\xff"), "damaged"),
    ],
)
def test_damaged_archives(damage: Callable[[bytes], bytes], complaint: str, tmp_path: Path) -> None:
    data = damage(zipped(members_of(SMALL, tmp_path).items()))
    assert complaint in complaint_about(data, ".npz", tmp_path)


def test_other_files_under_this_ending(tmp_path: Path) -> None:
    for other in (".json", ".json.gz"):
        complaint = complaint_about(bytes_of(SMALL, other, tmp_path), ".npz", tmp_path)
        assert "not a zip archive" in complaint
        complaint = complaint_about(bytes_of(SMALL, ".npz", tmp_path), other, tmp_path)
        assert "not" in complaint


def test_a_device_is_not_read(tmp_path: Path) -> None:
    link = tmp_path / "endless.npz"
    link.symlink_to("/dev/zero")
    with pytest.raises(InputError, match="not a regular file"):
        load(link)
