"""PDFA as NumPy archives: zip files of arrays, for large automata.

Members are not compressed, and compressed ones are not read: probabilities hardly get smaller,
saving takes twenty times as long, and an archive that cannot inflate cannot be a bomb.
"""

from __future__ import annotations

import errno
import math
import os
import re
import stat
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pdfalearn.errors import FileFormatError, InputError
from pdfalearn.formats._header import checked_header, header_text, parsed
from pdfalearn.pdfa import PDFA

_DTYPES = {"header": "|u1", "transitions": "<i4", "probabilities": "<f8"}

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


def write(pdfa: PDFA, stream: BinaryIO) -> None:
    """Write a PDFA as a NumPy archive."""
    header = np.frombuffer(header_text(pdfa), dtype=np.uint8)
    np.savez(
        stream,
        header=header,
        transitions=pdfa.transitions.astype(_DTYPES["transitions"], copy=False),
        probabilities=pdfa.probabilities.astype(_DTYPES["probabilities"], copy=False),
    )


def read(stream: BinaryIO) -> PDFA:
    """Read a PDFA from a NumPy archive; nothing in it is ever unpickled."""
    if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        raise FileFormatError("not a regular file; a NumPy archive cannot be read from a device")
    with _zip_errors_translated(), zipfile.ZipFile(stream) as archive:
        members = _checked_members(archive, stream.seek(0, os.SEEK_END))
        arrays = {name: _array(name, archive.read(member)) for name, member in members.items()}
    alphabet, initial = checked_header(parsed(arrays["header"].tobytes()))
    return PDFA(
        alphabet=alphabet,
        transitions=arrays["transitions"],
        probabilities=arrays["probabilities"],
        initial=initial,
    )


def _checked_members(archive: zipfile.ZipFile, size: int) -> dict[str, zipfile.ZipInfo]:
    members = archive.infolist()
    expected = [f"{name}.npy" for name in _DTYPES]
    names = [member.filename for member in members]
    if sorted(names) != sorted(expected):
        raise FileFormatError(f"holds {names[:8]}, not the arrays {expected} of a PDFA")
    for member in members:
        if member.compress_type != zipfile.ZIP_STORED:
            raise FileFormatError(
                f"{member.filename} is compressed; load the arrays with NumPy and write them "
                "again with numpy.savez"
            )
        if max(member.file_size, member.compress_size) > size:
            raise FileFormatError(
                f"{member.filename} claims {member.file_size} bytes, more than the whole file; "
                "damaged: save or fetch it again"
            )
    return {member.filename.removesuffix(".npy"): member for member in members}


def _array(name: str, data: bytes) -> NDArray[Any]:
    """Read an array as ``numpy.savez`` writes it: version 1.0, in C order, of the type expected."""
    match = _NPY.match(data)
    dtype = np.dtype(_DTYPES[name])
    if match is None or match["dtype"].decode("latin-1") != _DTYPES[name]:
        raise FileFormatError(f"{name}.npy is not an array of {dtype}, little-endian, in C order")
    shape = [int(extent) for extent in match.group("rows", "columns") if extent is not None]
    begin = 10 + int.from_bytes(match["length"], "little")
    if begin != match.end() or len(data) - begin != dtype.itemsize * math.prod(shape):
        raise FileFormatError(
            f"{name}.npy is not as long as its header says; damaged: save or fetch it again"
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
