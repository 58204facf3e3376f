"""Whatever a file holds, loading it gives a PDFA or an error of our own."""

from __future__ import annotations

import gzip
import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn.errors import FileFormatError
from tests.io.foreign import FOREIGN
from tests.io.samples import ENDINGS, SMALL, bytes_of, load_bytes, members_of, zipped
from tests.support import examples

endings = pytest.mark.parametrize("ending", ENDINGS)
foreign = pytest.mark.parametrize("ending", [*FOREIGN])
thoroughly = examples(400)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@pytest.fixture(scope="module")
def valid(folder: Path) -> dict[str, bytes]:
    return FOREIGN | {ending: bytes_of(SMALL, ending, folder) for ending in ENDINGS}


@pytest.fixture(scope="module")
def members(folder: Path) -> dict[str, bytes]:
    return members_of(SMALL, folder)


@st.composite
def mutations(draw: st.DrawFn) -> list[tuple[str, float, bytes]]:
    """Some changes, each at a place given as a share of the length."""
    kinds = st.sampled_from(["flip", "replace", "delete", "insert", "truncate", "repeat"])
    scraps = st.one_of(
        st.binary(min_size=1, max_size=8),
        st.sampled_from([b"[", b"]", b"-", b"9" * 30, b"1e999", b"null", b'"', b"\xff" * 4, b"{}"]),
        st.sampled_from(
            [b"\n", b"\t", b" ", b"1", b"-99", b"nan", b"(0,0) 1\n", b"<s>", b"State\n"]
        ),
    )
    places = st.floats(0, 1, exclude_max=True)
    return draw(st.lists(st.tuples(kinds, places, scraps), min_size=1, max_size=4))


def mutated(data: bytes, changes: list[tuple[str, float, bytes]]) -> bytes:
    for kind, share, scrap in changes:
        at = int(share * len(data))
        head, tail = data[:at], data[at:]
        if kind == "flip" and tail:
            data = head + bytes([tail[0] ^ scrap[0]]) + tail[1:]
        elif kind == "replace":
            data = head + scrap + tail[len(scrap) :]
        elif kind == "delete":
            data = head + tail[len(scrap) :]
        elif kind == "insert":
            data = head + scrap + tail
        elif kind == "truncate":
            data = head
        elif kind == "repeat":
            data = head + tail[: 16 * len(scrap)] + tail
    return data


def only_our_error(data: bytes, ending: str, folder: Path) -> None:
    with suppress(FileFormatError):
        load_bytes(data, ending, folder)


@endings
@given(data=st.binary(max_size=400))
def test_random_bytes(data: bytes, ending: str, folder: Path) -> None:
    only_our_error(data, ending, folder)


@foreign
@examples(200)
@given(changes=mutations())
def test_mutated_foreign_files(
    changes: list[tuple[str, float, bytes]], ending: str, folder: Path, valid: dict[str, bytes]
) -> None:
    only_our_error(mutated(valid[ending], changes), ending, folder)


@endings
@thoroughly
@given(changes=mutations())
def test_mutated_files(
    changes: list[tuple[str, float, bytes]], ending: str, folder: Path, valid: dict[str, bytes]
) -> None:
    only_our_error(mutated(valid[ending], changes), ending, folder)


@thoroughly
@given(changes=mutations())
def test_mutated_text_gzipped(
    changes: list[tuple[str, float, bytes]], folder: Path, valid: dict[str, bytes]
) -> None:
    data = gzip.compress(mutated(valid[".json"], changes), 1)
    only_our_error(data, ".json.gz", folder)


@pytest.mark.parametrize("member", ["header.npy", "transitions.npy", "probabilities.npy"])
@thoroughly
@given(changes=mutations())
def test_mutated_members_zipped(
    changes: list[tuple[str, float, bytes]], member: str, folder: Path, members: dict[str, bytes]
) -> None:
    data = zipped((members | {member: mutated(members[member], changes)}).items())
    only_our_error(data, ".npz", folder)


@pytest.mark.slow
@endings
def test_every_truncation(ending: str, folder: Path, valid: dict[str, bytes]) -> None:
    whole = valid[ending].rstrip(b"\n")
    for length in range(len(whole)):
        with pytest.raises(FileFormatError):
            load_bytes(whole[:length], ending, folder)


@pytest.mark.slow
@foreign
def test_every_truncation_of_foreign_files(
    ending: str, folder: Path, valid: dict[str, bytes]
) -> None:
    for length in range(len(valid[ending])):
        only_our_error(valid[ending][:length], ending, folder)


@pytest.mark.slow
@endings
@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
def test_every_byte_flipped(mask: int, ending: str, folder: Path, valid: dict[str, bytes]) -> None:
    for at in range(len(valid[ending])):
        data = bytearray(valid[ending])
        data[at] ^= mask
        only_our_error(bytes(data), ending, folder)


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(), inner)),
    max_leaves=6,
)


@thoroughly
@given(
    key=st.sampled_from(["alphabet", "terminal", "initial", "transitions", "probabilities"]),
    value=json_values,
)
def test_any_value_for_any_key(
    key: str, value: object, folder: Path, valid: dict[str, bytes]
) -> None:
    document = json.loads(valid[".json"])
    document[key] = value
    only_our_error(json.dumps(document).encode(), ".json", folder)
