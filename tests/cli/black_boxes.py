"""Modules with models of every kind, good and bad."""

from __future__ import annotations

MODULE = """
import pdfalearn

target = pdfalearn.load("target.json")
model = pdfalearn.models.AutomatonModel(target)
number = 7
a_class = pdfalearn.models.AutomatonModel


def ask(words):
    return target.next_distributions(words)


def broken(words):
    return [[2.0, 0.0, 0.0] for _ in words]


def failing(words):
    return words[0][5]


def leaving(words):
    raise SystemExit(3)


class Old:
    alphabet = target.alphabet

    def distributions(self, handles):
        return None


old = Old()


class Half(pdfalearn.LanguageModel):
    def answer(self, batch):
        return None


half = Half()


def make_model():
    return model


def make_nothing():
    return None
"""


FAILING = """import pdfalearn

class Failing(pdfalearn.models.AutomatonModel):
    def open(self): return 1 / 0

def make(): return Failing(pdfalearn.datasets.figure_3())
"""


NAMED = """
from functools import partial

import pdfalearn
import beside

target = pdfalearn.load("target.json")


class Own(pdfalearn.LanguageModel):
    alphabet = target.alphabet

    def answer(self, batch):
        return target.next_distributions([target.alphabet.decode(codes) for codes in batch.words])


class Callable(Own):
    def __call__(self, words):
        raise AssertionError("a model is not a function of words")


class Network:
    def state_dict(self): return {}
    def __call__(self, *given): return given


own, called, automaton = Own(), Callable(), pdfalearn.models.AutomatonModel(target)
network = Network()
top = pdfalearn.TopK(own, 1)
words_of = beside.ask
partly = partial(lambda one, words: one.next_distributions(words), target)
maker = partial(lambda one: one, own)


def ask(words):
    return target.next_distributions(words)


def either(words=None):
    return own if words is None else target.next_distributions(words)


def make_model(): return own
def make_pdfa(): return target
def make_function(): return ask
def make_with_default(scale=1): return own
def make_class(): return Own
def make_network(): return Network()
def make_nothing(): return None
def make_nothing_well(): raise SystemExit("no server")
"""
BESIDE = """
import pdfalearn

def ask(words):
    return pdfalearn.load("target.json").next_distributions(words)
"""
