"""Durable stores of answers: what a model has said survives the process that asked it."""

from pdfalearn.stores.answer_store import AnswerStore, StoredModel
from pdfalearn.stores.answers import SAME, ModelAnswers

__all__ = ["SAME", "AnswerStore", "ModelAnswers", "StoredModel"]
