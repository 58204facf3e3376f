"""Durable stores of answers: what a model has said survives the process that asked it."""

from typing import TYPE_CHECKING

from pdfalearn.doors import open_door

if TYPE_CHECKING:
    from pdfalearn.stores.answer_store import AnswerStore as AnswerStore
    from pdfalearn.stores.answer_store import StoredModel as StoredModel

if TYPE_CHECKING:  # for other rooms of the package
    from pdfalearn.stores.answer_store import model_key as model_key
    from pdfalearn.stores.answers import ModelAnswers as ModelAnswers
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
