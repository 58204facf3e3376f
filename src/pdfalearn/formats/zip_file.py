"""Archives in .zip, which hold one of several things: what it is, the name of their text tells."""

from __future__ import annotations

from typing import Any, BinaryIO

from pdfalearn.errors import FileFormatError
from pdfalearn.files.archives import opened
from pdfalearn.registry import kinds, offered

ENDING = ".zip"


def read(stream: BinaryIO) -> Any:
    """Read what an archive holds with the reader that is offered for the text in it."""
    with opened(stream) as archive:
        names = archive.namelist()
    for text in kinds("load"):
        read_it = offered("load", text)
        if text in names and read_it is not None:
            return read_it(stream)
    texts = kinds("load")
    things = " or ".join(f"a {text.partition('.')[0]}" for text in texts)
    raise FileFormatError(
        f"holds {names[:8]}, and no {' or '.join(texts)}: not {things} that was saved"
    )
