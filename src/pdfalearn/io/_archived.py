"""Zip archives of runs and of frontiers: a JSON text, and the arrays that it calls for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, Generic, TypeVar

from pdfalearn.errors import FileFormatError
from pdfalearn.files import (
    Arrays,
    array_in,
    check_keys,
    check_kind,
    check_sizes,
    open_archive,
    parsed_object,
    strings,
    write_archive,
    write_json_text,
)
from pdfalearn.results import (
    Frontier,
    Result,
    certificate_culprit,
    certificate_document,
    certificate_in,
)

_Thing = TypeVar("_Thing", bound=Result | Frontier)
Document = dict[str, Any]
Dtypes = Mapping[str, Collection[str]]


@dataclass(frozen=True, eq=False)
class Archived(Generic[_Thing]):
    """How the things of a class are kept in an archive."""

    noun: str
    keys: set[str]
    """The keys of the text beside those that all archives have."""
    describe: Callable[[_Thing], Document]
    """Returns the values of these keys."""
    arrays_of: Callable[[_Thing], Arrays]
    dtypes_of: Callable[[Document], Dtypes]
    """Tells from a text the names of the arrays, and the types that each may have."""
    make: Callable[..., _Thing]
    """Makes the thing of a text, its arrays, ``certificate`` and ``notes``, or refuses them."""
    parts: str
    """How to save only a part of the thing."""

    @property
    def text_name(self) -> str:
        """The name of the text in the archive."""
        return f"{self.noun}.json"

    def write(self, thing: _Thing, stream: BinaryIO) -> None:
        """Write an archive; the arrays of an automaton are those of an .npz file."""
        document = {
            "format": f"pdfalearn {self.noun}",
            "version": 1,
            **self.describe(thing),
            "certificate": certificate_document(thing.certificate),
            "notes": list(thing.notes),
        }
        text = write_json_text(document, *certificate_culprit(thing.certificate, self.noun))
        write_archive(stream, {self.text_name: text, **self.arrays_of(thing)})

    def read(self, stream: BinaryIO) -> _Thing:
        """Read an archive; no member is read that the text does not call for, none unpickled."""
        name = self.text_name
        with open_archive(stream) as archive:
            names = archive.namelist()
            check_sizes(archive, stream, remedy="zip it again without compressing")
            document = parsed_object(archive.read(name), name)
            check_kind(document, f"pdfalearn {self.noun}")
            check_keys(document, {"format", "version", "certificate", "notes", *self.keys}, name)
            dtypes = self.dtypes_of(document)
            if sorted(names) != sorted([name, *dtypes]):
                odd = sorted({*names} ^ {name, *dtypes})[:4] or "a member twice"
                raise FileFormatError(f"holds or lacks {odd}, unlike a {self.noun} that was saved")
            arrays = {each: array_in(archive.read(each), each, dtypes[each]) for each in dtypes}
        return self.make(
            document,
            arrays,
            certificate=certificate_in(document["certificate"]),
            notes=strings(document["notes"], "notes"),
        )
