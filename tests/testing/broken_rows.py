"""Broken models: rows that are not distributions."""

from __future__ import annotations

import numpy as np

from pdfalearn import FunctionModel
from pdfalearn.models.protocol import Handles, LanguageModel
from pdfalearn.rows import Rows
from tests.models.owning import OwningSession
from tests.testing.broken import (
    broken,
    function,
    owning,
    rows_of,
)


@broken(r"read returned array\(.*: it has to return Rows, such as Rows\.dense\(table\)")
def an_array_in_place_of_rows() -> LanguageModel:
    return owning(read=lambda self, handles: np.full((len(handles), 4), 0.25))


@broken(r"read returned rows of 3 columns: .* rows of 4 columns, the terminal first")
def rows_without_the_terminal() -> LanguageModel:
    return owning(read=lambda self, handles: Rows.dense(np.full((len(handles), 3), 1 / 3)))


@broken(r"rows whose values have shape \(1, 4\), not \(\d+, 4\)")
def one_row_for_all() -> LanguageModel:
    return owning(read=lambda self, handles: Rows.dense(np.full((1, 4), 0.25)))


@broken(r"read raised BadRowError|array of shape \(3,\)")
def one_word_without_its_axis() -> LanguageModel:
    return FunctionModel(lambda words: np.full((len(words), 3), 1 / 3).squeeze(), "ab")


@broken(r"answer to the word \('b', 'b'\) is \[0.2, 0.3, 0.4\], which sums to 0.9: divide it")
def a_sum_that_is_not_1() -> LanguageModel:
    return function(lambda word: [0.2, 0.3, 0.4 if word == ("b", "b") else 0.5])


@broken(r"answer to the word \('a',\) is \[nan, 0.3, 0.5\], with NaN .* say that in undefined")
def not_a_number() -> LanguageModel:
    return function(lambda word: [float("nan") if word == ("a",) else 0.2, 0.3, 0.5])


@broken(r"is \[-0.1, 0.6, 0.5\], with NaN or negative")
def negative_numbers() -> LanguageModel:
    return function(lambda word: [-0.1, 0.6, 0.5] if len(word) > 3 else [0.0, 0.5, 0.5])


@broken("rows changed after read returned them: return a copy each time")
def one_array_for_all_answers() -> LanguageModel:
    table = np.empty((1000, 4))

    def read(self: OwningSession, handles: Handles) -> Rows:
        table[: len(handles)] = OwningSession.read(self, handles).values
        return Rows.dense(table[: len(handles)])

    return owning(read=read)


@broken(r"lists the columns \[1, 2\]: list the terminal, column 0, first")
def sparse_rows_without_the_terminal() -> LanguageModel:
    return rows_of(Rows.sparse(4, [0, 2], [1, 2], [0.5, 0.5]))


@broken(r"lists the columns \[0, 2, 1\]: list each once, in ascending order")
def columns_that_descend() -> LanguageModel:
    return rows_of(Rows.sparse(4, [0, 3], [0, 2, 1], [0.2, 0.3, 0.5]))


@broken(r"lists the columns \[0, 1, 4\]: there are the columns 0 to 3")
def columns_that_are_not_there() -> LanguageModel:
    return rows_of(Rows.sparse(4, [0, 3], [0, 1, 4], [0.2, 0.3, 0.5]))


@broken("sums to 0.8 with its rest: give all that is left as rest")
def a_rest_that_is_too_small() -> LanguageModel:
    return rows_of(Rows.sparse(4, [0, 2], [0, 1], [0.2, 0.3], rest=[0.3]))


@broken("has the rest -0.5: the mass of what is not listed is not negative")
def a_negative_rest() -> LanguageModel:
    return rows_of(Rows.sparse(4, [0, 2], [0, 1], [0.5, 1.0], rest=[-0.5]))


@broken("has the rest 0.5, but lists every symbol")
def a_rest_of_nothing() -> LanguageModel:
    return rows_of(Rows.sparse(4, [0, 4], [0, 1, 2, 3], [0.5, 0, 0, 0], rest=[0.5]))


@broken("has the ceiling 0.9 and the rest 0.5: a ceiling is from 0 to the rest")
def a_ceiling_that_is_too_high() -> LanguageModel:
    return rows_of(Rows.sparse(4, [0, 1], [0], [0.5], rest=[0.5], ceiling=[0.9]))


@broken("has the ceiling 0.1, too low for 3 symbols with 0.5 together")
def a_ceiling_that_is_too_low() -> LanguageModel:
    return rows_of(Rows.sparse(4, [0, 1], [0], [0.5], rest=[0.5], ceiling=[0.1]))


@broken("has 1.5 outside of the alphabet")
def more_outside_than_there_is() -> LanguageModel:
    return rows_of(Rows.dense(np.full((1, 4), 0.25), outside=np.array([1.5])))
