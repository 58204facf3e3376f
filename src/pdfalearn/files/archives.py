"""Zip archives of arrays and texts.

Members are not compressed, and compressed ones are not read: probabilities hardly get smaller,
saving takes twenty times as long, and an archive that cannot inflate cannot be a bomb. Nothing in
an archive is ever unpickled.
"""

from __future__ import annotations

import errno
import math
import os
import re
import stat
import struct
import zipfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.files.named import show_name

Array = NDArray[Any]
Arrays = Mapping[str, Array]

LARGEST = 2**62
"""Figures in archives are below this."""

# What ``zipfile`` raises on archives that are damaged, encrypted or of an unknown kind.
_ZIP_ERRORS = (
    zipfile.BadZipFile,
    EOFError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
    struct.error,
)

# The header that ``numpy.savez`` writes: version 1.0, in C order, of one or two axes.
_NPY = re.compile(
    rb"\x93NUMPY\x01\x00(?P<length>..)\{'descr': '(?P<dtype>[^']*)', 'fortran_order': False, "
    rb"'shape': \((?P<rows>\d{1,18}),(?: (?P<columns>\d{1,18}))?\), \} *\n",
    re.DOTALL,
)


class Member(NamedTuple):
    """An array of an archive: where it comes from, and what it may be.

    A name in the shape is any extent, but the same for all arrays that have this name. As the
    highest entry, a name stands for the last number below its extent.
    """

    field: str
    """The attribute of the value that it is a part of."""
    dtypes: tuple[str, ...]
    shape: tuple[int | str | None, ...]
    low: float = -math.inf
    high: float | str = math.inf
    root: int | None = None
    """If given, the first entry is this one, and every other the place of an earlier entry."""


Members = Mapping[str, Member]


def arrays_of_value(value: object, members: Members) -> dict[str, Array]:
    """Return the arrays of a value by the names of members, in the types of files."""
    arrays = {}
    for name, (field, dtypes, *_) in members.items():
        array = getattr(value, field)
        arrays[name] = array if len(dtypes) > 1 else array.astype(dtypes[0], copy=False)
    return arrays


def check_members(arrays: Arrays, members: Members, sizes: dict[str, int]) -> dict[str, Array]:
    """Check shapes and ranges, and return the arrays by the attributes that they become.

    ``sizes`` has the extents that are known by name; those of the arrays are added.
    """
    for name, member in members.items():
        array = arrays[name]
        shape = tuple(sizes.get(one) if isinstance(one, str) else one for one in member.shape)
        extents = zip(array.shape, shape, strict=False)
        if array.ndim != len(shape) or any(one not in (None, found) for found, one in extents):
            expected = str(shape).replace("None", "any")
            raise FileFormatError(f"{name} has the shape {array.shape}, not {expected}")
        # The first array that names an extent decides it for those after it.
        sizes.update(zip(map(str, member.shape), array.shape, strict=True))
        if member.root is not None:
            _check_links(array, name, member.root)
        if math.isfinite(member.low):
            high = sizes[member.high] - 1 if isinstance(member.high, str) else member.high
            check_range(array, name, member.low, high)
    return {member.field: arrays[name] for name, member in members.items()}


def check_range(array: Array, name: str, low: float, high: float) -> None:
    """Refuse an array with an entry that is NaN or not between two numbers."""
    if array.size and not (array.min() >= low and array.max() <= high):
        wrong = array[~((array >= low) & (array <= high))][0]
        raise FileFormatError(f"{name} holds {wrong}, which is not from {low} to {high}")


def _check_links(array: Array, name: str, root: int) -> None:
    if not len(array) or array[0] != root:
        raise FileFormatError(f"{name} does not begin with {root}")
    wrong = (array[1:] < 0) | (array[1:] > np.arange(len(array) - 1))
    if wrong.any():
        place = int(wrong.argmax()) + 1
        raise FileFormatError(f"{name}, entry {place}: {array[place]} is not an earlier entry")


def write_archive(stream: BinaryIO, members: Mapping[str, bytes | Array]) -> None:
    """Write texts under their names, and arrays as ``numpy.savez`` does, under a name in .npy."""
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members.items():
            with archive.open(name, "w", force_zip64=True) as member:
                if isinstance(content, bytes):
                    member.write(content)
                else:
                    np.lib.format.write_array(
                        member, np.ascontiguousarray(content), version=(1, 0), allow_pickle=False
                    )


@contextmanager
def open_archive(stream: BinaryIO) -> Iterator[zipfile.ZipFile]:
    """Open an archive to read; what goes wrong inside the block is said of the file."""
    if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        raise FileFormatError("not a regular file; an archive cannot be read from a device")
    try:
        with zipfile.ZipFile(stream) as archive:
            yield archive
    except InputError:
        raise
    except _ZIP_ERRORS as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise  # the disk's; EINVAL is a seek to before the beginning
        raise FileFormatError(
            f"not a zip archive, or damaged: {error}; save or fetch it again"
        ) from error


def check_sizes(archive: zipfile.ZipFile, stream: BinaryIO) -> None:
    """Refuse members that are compressed, or that claim more than there is in the file."""
    size = stream.seek(0, os.SEEK_END)
    claimed = 0
    for member in archive.infolist():
        name = show_name(member.filename)
        if member.compress_type != zipfile.ZIP_STORED:
            raise FileFormatError(
                f"{name} is compressed; write it without compressing, as numpy.savez does"
            )
        claimed += max(member.file_size, member.compress_size)
        if claimed > size:
            raise FileFormatError(
                f"{name} claims {member.file_size} bytes; with those before, that is more than the "
                "whole file; damaged: save or fetch it again"
            )


def read_array(archive: zipfile.ZipFile, name: str, dtypes: Collection[str]) -> Array:
    """Read an array as ``numpy.savez`` writes it, of one of these types, such as "<f8"."""
    data = archive.read(name)
    match = _NPY.match(data)
    if match is None or match["dtype"].decode("latin-1") not in dtypes:
        expected = " or ".join(str(np.dtype(code)) for code in dtypes)
        raise FileFormatError(f"{name} is not an array of {expected}, little-endian, in C order")
    dtype = np.dtype(match["dtype"].decode())
    shape = [int(extent) for extent in match.group("rows", "columns") if extent is not None]
    begin = 10 + int.from_bytes(match["length"], "little")
    if begin != match.end() or len(data) - begin != dtype.itemsize * math.prod(shape):
        raise FileFormatError(
            f"{name} is not as long as its header says; damaged: save or fetch it again"
        )
    array = np.ndarray(shape, dtype, buffer=data, offset=begin)
    return array.astype(dtype.newbyteorder("="), copy=False)
