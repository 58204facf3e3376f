"""Write answers to a store as they arrive."""

from __future__ import annotations

from numpy.typing import ArrayLike

from pdfalearn.alphabet import Alphabet
from pdfalearn.rows import Rows
from pdfalearn.stores._batches import insert, next_writer
from pdfalearn.stores._file import StoreFile
from pdfalearn.stores._models import ModelRow, alphabet_text, find_model, now, registered
from pdfalearn.stores.segments import Segment


class Writer:
    """Appends the answers of one model, in a numbering of words and rows of its own.

    Made by `AnswerStore.writer`. Nothing is written before the first answers are appended.

    Parameters
    ----------
    file : StoreFile
        The open file.
    key : str
        Which model.
    alphabet : Alphabet
        The model's alphabet.
    """

    def __init__(self, file: StoreFile, key: str, alphabet: Alphabet) -> None:
        file.check_writable()
        alphabet_text(alphabet)
        with file.reading() as connection:
            find_model(connection, file.path, key, alphabet)
        self._file = file
        self._key = key
        self._alphabet = alphabet
        self._place: tuple[ModelRow, int] | None = None
        """The model's row and this writer's number, once it has begun."""
        self._sequence = 0
        self._nodes = 1
        self._rows = 0

    def append(
        self,
        parents: ArrayLike,
        symbols: ArrayLike,
        nodes: ArrayLike,
        numbers: ArrayLike,
        rows: ArrayLike | Rows,
    ) -> None:
        """Store what is new since the last call: all of it, or nothing and an error.

        Parameters
        ----------
        parents, symbols : array of int
            The parent and the last symbol's code of every new node. Node 0 is the empty word, which
            is not given; the others are numbered as they come, and parents come first.
        nodes : array of int
            The nodes, new or old, that have an answer now.
        numbers : array of int
            The number of the row of each of these; -1 where the word is undefined.
        rows : Rows, or array of float of shape (rows, symbols + 1)
            New distributions, terminal first; they are numbered as they come.

        Raises
        ------
        InputError
            If the arrays do not fit together, or a row is not a distribution.
        StoreError
            If the file is locked, may not be written, or the disk is full. What was appended before
            is safe, and the same call may be tried again.
        """
        part = Segment.of(
            parents,
            symbols,
            nodes,
            numbers,
            rows,
            alphabet_size=len(self._alphabet),
            nodes_before=self._nodes,
            rows_before=self._rows,
        )
        if not any(array.size for array in part.arrays()):
            return
        with self._file.writing() as connection:
            place = self._place
            if place is None:
                model = registered(connection, self._file.path, self._key, self._alphabet)
                place = model, next_writer(connection, model)
            sequence = insert(connection, *place, self._sequence, part, now())
        self._place, self._sequence = place, sequence
        self._nodes += len(part.parents)
        self._rows += len(part.rows)
        self._file.has_written = True
