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
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.files.named import show_name

Array = NDArray[Any]
Arrays = Mapping[str, Array]


def check_shape(arrays: Arrays, name: str, shape: tuple[int | None, ...]) -> Array:
    """Return an array of a shape, of which None may be any number."""
    array = arrays[name]
    extents = zip(array.shape, shape, strict=False)
    if array.ndim != len(shape) or any(wanted not in (None, found) for found, wanted in extents):
        expected = str(shape).replace("None", "any")
        raise FileFormatError(f"{name} has the shape {array.shape}, not {expected}")
    return array


def check_range(array: Array, name: str, low: float, high: float) -> None:
    """Refuse an array with an entry that is NaN or not between two numbers."""
    if array.size and not (array.min() >= low and array.max() <= high):
        wrong = array[~((array >= low) & (array <= high))][0]
        raise FileFormatError(f"{name} holds {wrong}, which is not from {low} to {high}")


_ZIP_ERRORS = (
    zipfile.BadZipFile,
    EOFError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
    struct.error,
)
"""What ``zipfile`` raises on archives that are damaged, encrypted or of an unknown kind."""

_NPY = re.compile(
    rb"\x93NUMPY\x01\x00(?P<length>..)\{'descr': '(?P<dtype>[^']*)', 'fortran_order': False, "
    rb"'shape': \((?P<rows>\d{1,18}),(?: (?P<columns>\d{1,18}))?\), \} *\n",
    re.DOTALL,
)


def write_archive(stream: BinaryIO, members: Mapping[str, bytes | NDArray[Any]]) -> None:
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
    with _zip_errors_translated(), zipfile.ZipFile(stream) as archive:
        yield archive


def check_sizes(archive: zipfile.ZipFile, stream: BinaryIO, *, remedy: str) -> None:
    """Refuse members that are compressed, or that claim more than there is in the file.

    Parameters
    ----------
    archive : ZipFile
        The archive.
    stream : binary stream
        Its file.
    remedy : str
        What to do about compressed members.
    """
    size = stream.seek(0, os.SEEK_END)
    claimed = 0
    for member in archive.infolist():
        if member.compress_type != zipfile.ZIP_STORED:
            raise FileFormatError(f"{show_name(member.filename)} is compressed; {remedy}")
        claimed += max(member.file_size, member.compress_size)
        if claimed > size:
            raise FileFormatError(
                f"{show_name(member.filename)} claims {member.file_size} bytes; with those before, "
                "that is more than the whole file; damaged: save or fetch it again"
            )


def array_in(data: bytes, name: str, dtypes: Collection[str]) -> NDArray[Any]:
    """Read an array as ``numpy.savez`` writes it: version 1.0, in C order, of an expected type.

    Parameters
    ----------
    data : bytes
        The member's content.
    name : str
        Its name, for errors.
    dtypes : collection of str
        The types that it may have, as in "<f8".

    Returns
    -------
    array
        Of one or two axes, read-only.
    """
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
    return np.ndarray(shape, dtype, buffer=data, offset=begin)


@contextmanager
def _zip_errors_translated() -> Iterator[None]:
    try:
        yield
    except InputError:
        raise
    except _ZIP_ERRORS as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise  # the disk's; EINVAL is a seek to before the beginning
        raise FileFormatError(
            f"not a zip archive, or damaged: {error}; save or fetch it again"
        ) from error
