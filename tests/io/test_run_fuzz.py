"""Whatever a file holds, loading it gives a run that can be used, or an error of our own."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pdfalearn.errors import FileFormatError, InputError
from tests.io.run_samples import bytes_of, load_bytes, members_of, run_of
from tests.io.samples import zipped
from tests.io.test_fuzz import json_values, mutated, mutations

Changes = list[tuple[str, float, bytes]]

KINDS = pytest.mark.parametrize("name", ["figure 3", "undefined, paper", "lpstar", "stopped"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@pytest.fixture(scope="module")
def members(folder: Path) -> dict[str, bytes]:
    return members_of(run_of("figure 3"), folder)


def used_or_refused(data: bytes, folder: Path) -> None:
    """Load and use a run; only loading may fail."""
    with suppress(FileFormatError):
        result = load_bytes(data, folder)
        assert len(repr(result)) < 200
        assert len(result.access_words) == len(result.pdfa)
        assert result.kept_tree is None or result.tree == result.tree
        if result.has_boundaries:
            with suppress(InputError):
                assert result.near_boundary(0.01) >= 0


@given(data=st.binary(max_size=400))
def test_random_bytes(data: bytes, folder: Path) -> None:
    used_or_refused(data, folder)


@pytest.mark.slow
@KINDS
@settings(max_examples=100)
@given(changes=mutations())
def test_mutated_files(changes: Changes, name: str, folder: Path) -> None:
    used_or_refused(mutated(bytes_of(run_of(name), folder), changes), folder)


@settings(max_examples=500)
@given(changes=mutations(), data=st.data())
@pytest.mark.slow
def test_mutated_members_zipped(
    changes: Changes, data: st.DataObject, folder: Path, members: dict[str, bytes]
) -> None:
    name = data.draw(st.sampled_from(sorted(members)))
    used_or_refused(zipped((members | {name: mutated(members[name], changes)}).items()), folder)


@settings(max_examples=500)
@given(place=st.floats(0, 1, exclude_max=True), value=st.integers(-3, 20), data=st.data())
@pytest.mark.slow
def test_one_number_of_a_member_changed(
    place: float, value: int, data: st.DataObject, folder: Path, members: dict[str, bytes]
) -> None:
    name = data.draw(st.sampled_from(sorted(name for name in members if name.endswith(".npy"))))
    size = 8 if b"8'" in members[name][:80] else 4
    count = (len(members[name]) - 128) // size
    at = 128 + size * int(place * count)
    number = value.to_bytes(size, "little", signed=True)
    changed = members[name][:at] + number[: len(members[name]) - at] + members[name][at + size :]
    used_or_refused(zipped((members | {name: changed}).items()), folder)


@pytest.mark.slow
def test_every_truncation(folder: Path) -> None:
    whole = bytes_of(run_of("figure 3"), folder)
    for length in range(0, len(whole), 7):
        with pytest.raises(FileFormatError):
            load_bytes(whole[:length], folder)


@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
@pytest.mark.slow
def test_every_byte_flipped(mask: int, folder: Path) -> None:
    whole = bytes_of(run_of("figure 3"), folder)
    for at in range(mask % 5, len(whole), 5):
        data = bytearray(whole)
        data[at] ^= mask
        used_or_refused(bytes(data), folder)


@settings(max_examples=400)
@given(data=st.data(), value=json_values)
@pytest.mark.slow
def test_any_value_for_any_key(
    data: st.DataObject, value: object, folder: Path, members: dict[str, bytes]
) -> None:
    document = json.loads(members["run.json"])
    key = data.draw(st.sampled_from(sorted(document)))
    if isinstance(document[key], dict) and document[key] and data.draw(st.booleans()):
        document[key][data.draw(st.sampled_from(sorted(document[key])))] = value
    else:
        document[key] = value
    text = json.dumps(document).encode()
    used_or_refused(zipped((members | {"run.json": text}).items()), folder)
