"""Zip archives of runs and of frontiers: a JSON text, and the arrays that it calls for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Generic, TypeVar, get_args

from pdfalearn.errors import FileFormatError
from pdfalearn.files import (
    LARGEST,
    Arrays,
    check_keys,
    check_kind,
    check_sizes,
    is_number,
    open_archive,
    parse_object,
    read_array,
    strings,
    write_archive,
    write_json_text,
    wrong,
)
from pdfalearn.results import Certificate, Frontier, Kind, Result, certificate_document

_Thing = TypeVar("_Thing", bound=Result | Frontier)
Document = dict[str, Any]
Dtypes = Mapping[str, Collection[str]]
# Details that are read again, and not only shown.
_SHARES, _OUTSIDE = {"epsilon", "delta"}, {"mean", "largest", "distributions", "unknown"}
_COUNTS = {
    *("training_positions", "answers", "words_drawn", "word_count", "held_out_words"),
    *("symbols_asked", "stored_words", "audited_words", "largest_difference", "cost"),
}
_DETAILS = "its details have to be numbers, strings, lists and objects of strings"


@dataclass(frozen=True, eq=False)
class ArchiveKind(Generic[_Thing]):
    """How the things of a class are kept in an archive."""

    noun: str
    keys: set[str]
    """The keys of the text beside those that all archives have."""
    describe: Callable[[_Thing], Document]
    """Returns the values of these keys."""
    arrays_of: Callable[[_Thing], Arrays]
    check_text: Callable[[Document], Dtypes]
    """Checks a text, and returns the names of its arrays with the types that each may have."""
    make: Callable[..., _Thing]
    """Makes the thing of a text, its arrays, ``certificate`` and ``notes``, or refuses them."""
    defaults: Document = field(default_factory=dict)
    """The values of keys that older files do not have."""

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
        culprit = f"the {self.noun}'s certificate {thing.certificate.kind!r}"
        text = write_json_text(document, culprit, _DETAILS)
        write_archive(stream, {self.text_name: text, **self.arrays_of(thing)})

    def read(self, stream: BinaryIO) -> _Thing:
        """Read an archive; no member is read that the text does not call for, none unpickled."""
        name = self.text_name
        with open_archive(stream) as archive:
            check_sizes(archive, stream)
            document = {**self.defaults, **parse_object(archive.read(name), name)}
            check_kind(document, f"pdfalearn {self.noun}")
            check_keys(document, {"format", "version", "certificate", "notes", *self.keys}, name)
            # What the text calls for is known only once the text is known to be right.
            dtypes = self.check_text(document)
            names = archive.namelist()
            if sorted(names) != sorted([name, *dtypes]):
                odd = sorted({*names} ^ {name, *dtypes})[:4] or "a member twice"
                raise FileFormatError(f"holds or lacks {odd}, unlike a {self.noun} that was saved")
            arrays = {each: read_array(archive, each, dtypes[each]) for each in dtypes}
        certificate = _make_certificate(document["certificate"])
        notes = strings(document["notes"], "notes")
        return self.make(document, arrays, certificate=certificate, notes=notes)


def _make_certificate(document: object) -> Certificate:
    given = check_keys(document, {"kind", "statement", "details"}, "certificate")
    kind, statement, details = given["kind"], given["statement"], given["details"]
    if not (isinstance(kind, str) and isinstance(statement, str) and isinstance(details, dict)):
        raise wrong("certificate", given, "a kind and a statement, with an object of details")
    if kind not in get_args(Kind):
        raise wrong("certificate", kind, f"one of {', '.join(get_args(Kind))}")
    for name, value in details.items():
        if name in _SHARES and not (is_number(value) and 0 < value < 1):
            raise wrong(name, value, "a number between 0 and 1")
        if name in _COUNTS and not _is_count(value):
            raise wrong(name, value, "a number of 0 or more")
    if kind == "pac" and details.get("whole_words_of_model") and not details.keys() >= _SHARES:
        raise wrong("details", details, "an object with epsilon and delta")
    if "outside" in details:
        outside = check_keys(details["outside"], _OUTSIDE, "outside")
        if not all(map(_is_count, outside.values())):
            raise wrong("outside", outside, "an object of numbers of 0 or more")
    return Certificate(kind, statement, details)  # type: ignore[arg-type]


def _is_count(value: object) -> bool:
    return is_number(value) and 0 <= value < LARGEST
