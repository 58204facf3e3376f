"""What is known about a learnt automaton."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pdfalearn.files.json_parts import check_keys, wrong
from pdfalearn.registry import shown

Kind = Literal["exact", "pac", "tested", "stopped", "interrupted", "distilled", "unsteady"]


@dataclass(frozen=True)
class Certificate:
    """What is known about a learnt automaton, in one word, in a sentence and in figures.

    Examples
    --------
    >>> print(Certificate("exact", "equivalent to the target"))
    exact: equivalent to the target
    """

    kind: Kind
    """"exact": proved; "pac": probably approximately correct; "tested": no difference was found,
    and no more is known; "stopped": a bound was reached; "interrupted": somebody stopped it;
    "distilled": measured on held-out words; "unsteady": the model answers differently the second
    time."""
    statement: str
    """What that means, in a sentence."""
    details: Mapping[str, object] = field(default_factory=dict)
    """The figures in it, ready for JSON."""

    def _repr_html_(self) -> Any:
        return shown("html", self)

    def __str__(self) -> str:
        return f"{self.kind}: {self.statement}"


def certificate_document(certificate: Certificate) -> dict[str, object]:
    """Return what a file says of a certificate, ready for JSON if its details are."""
    return {
        "kind": certificate.kind,
        "statement": certificate.statement,
        "details": dict(certificate.details),
    }


def certificate_in(document: object) -> Certificate:
    """Make a certificate of what a file says of it."""
    given = check_keys(document, {"kind", "statement", "details"}, "certificate")
    kind, statement, details = given["kind"], given["statement"], given["details"]
    if not (isinstance(kind, str) and isinstance(statement, str) and isinstance(details, dict)):
        raise wrong("certificate", given, "a kind and a statement, with an object of details")
    return Certificate(kind, statement, details)  # type: ignore[arg-type]


def certificate_culprit(certificate: Certificate, owner: str) -> tuple[str, str]:
    """Return what an error names if a certificate cannot be in a file, and the remedy."""
    return (
        f"the {owner}'s certificate {certificate.kind!r}",
        "its details have to be numbers, strings, lists and objects of strings",
    )
