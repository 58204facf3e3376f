"""Models that break the protocol end in one line and exit code 2, whatever they do."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent, indent

import pytest

from pdfalearn import PDFA, save
from tests.cli.program import error_of, one_error, run, run_json, run_program

HEAD = """
import numpy as np
from pdfalearn import Alphabet, LanguageModel
from pdfalearn.models import AutomatonModel
from pdfalearn.rows import Rows

EVEN, ODD = [0.5, 0.25, 0.25], [0.2, 0.4, 0.4]


class Plain(LanguageModel):
    alphabet = Alphabet("ab")

    def answer(self, batch):
        return [ODD if len(word) % 2 else EVEN for word in batch.words]


class Opened(Plain):
    fingerprint = "opened"

    def __init__(self, kind):
        self.kind = kind

    def open(self):
        return self.kind()


class Unshown:
    def __repr__(self):
        raise ValueError("cannot be shown")


class Unsaid(Exception):
    def __str__(self):
        raise ValueError("cannot be said")
"""

MEMBERS = {
    "fingerprint = 7": "Own.fingerprint is 7",
    "fingerprint = ''": "Own.fingerprint is ''",
    "fingerprint = property(lambda self: 1 / 0)": "fingerprint that raised ZeroDivisionError",
    "@property\ndef fingerprint(self): raise SystemExit(1)": "failed with SystemExit: 1, line ",
    "cost = 1.0": "Own.cost is 1.0: set it to a QueryCost",
    "cost = None": "Own.cost is None",
    "cost = property(lambda self: {}['cost'])": "cost that raised KeyError",
    "cost = Unshown()": "Own.cost is <Unshown instance at .*: set it to a QueryCost",
    "full_support = 'yes'": "Own.full_support is 'yes': set it to True or False",
    "needs_prefixes = property(lambda self: 1 / 0)": "needs_prefixes that raised ZeroDivisionError",
    "alphabet = 'ab'": "Own.alphabet is 'ab': set it to an Alphabet",
    "alphabet = property(lambda self: 1 / 0)": "alphabet that raised ZeroDivisionError",
    "def open(self): return None": "Own.open returned None: .*LanguageModel",
    "def open(self): return 'self'": "Own.open returned 'self'",
    "def open(self): return Unshown()": "Own.open returned <Unshown instance at .*LanguageModel",
    "def open(self): raise ConnectionError('gone')": "failed with ConnectionError: gone, line ",
    "def open(self): raise SystemExit(1)": "failed with SystemExit: 1, line ",
    "def open(self): raise Unsaid": "failed with Unsaid, line ",
    "def open(self): raise RuntimeError('two\\nlines\\x1b[31m')": r"two lines\\x1b\[31m, line ",
    "def open(self): raise MemoryError('8 TiB')": "failed with MemoryError: 8 TiB",
    "answer = LanguageModel.answer": "NotImplementedError: Own has no method answer",
}

ANSWERS = {
    "raise IndexError": "failed with IndexError, line ",
    "raise SystemExit": "failed with SystemExit, line ",
    "raise GeneratorExit": "failed with GeneratorExit, line ",
    "raise KeyError('word')": "failed with KeyError: 'word', line ",
    "raise OSError(5, 'no line', 'modem')": r"OSError: .*no line.*, line ",
    "raise Unsaid": "failed with Unsaid, line ",
    "1 / 0": "ZeroDivisionError.*, line ",
    "return None": "it is not an array of numbers",
    "return 'x'": "not an array of numbers",
    "return Unshown()": "not an array of numbers",
    "return [[1]]": "shape",
    "return [[0.5, 0.5]] * batch.count": r"shape \(\d, 2\), not \(\d, 3\)",
    "return Rows.dense(np.ones((batch.count, 2)))": r"shape \(\d, 2\), not \(\d, 3\)",
    "return Rows(3, [EVEN])": "not an array",
    "return [[0.0] * 3] * batch.count": "sums to 0",
    "return [[np.nan, 0.5, 0.5]] * batch.count": "NaN",
    "return [None] * batch.count": "empty word",
    "return Rows.sparse(3, [0, 1], [2], [1])": "terminal first",
    "return Rows.dense(np.array([EVEN] * batch.count), undefined='x')": "undefined",
    "return Rows.dense(np.tile(EVEN, (batch.count, 1)), impossible=batch.ids)": "impossible",
    "return Rows.shared(np.array([EVEN]), np.full(batch.count, 7))": "numbers of shared rows",
}

LONGER_WORDS = {
    "return 1 / 0 if len(batch.words.symbols) else [EVEN]": "ZeroDivisionError.*, line ",
    "return [[0.5, 0.5, 0.4] if word else EVEN for word in batch.words]": "to the word .* to 1",
    "return [EVEN]": r"the array for \d+ words has shape",
}

OBJECTS = {
    "model = Plain": None,
    "model = dict": "name an object of the class",
    "class model(Plain):\n    def __init__(self, path): pass": "name an object of the class",
    "model = Unshown()": "neither a LanguageModel nor a PDFA nor a function",
    "def model(): return Unshown()": r"model\(\) returned <Unshown",
    "def model(): return model()": r"model\(\) failed with RecursionError",
    "async def model(): return Plain()": "model is async",
    "async def model(words): return []": "model is async",
    "def model(": "cannot be imported: SyntaxError",
    "1 / 0": "cannot be imported: ZeroDivisionError: division by zero, line ",
    "raise SystemExit(1)": "cannot be imported: SystemExit: 1, line ",
    "raise Unsaid": "cannot be imported: Unsaid, line ",
}


def of_model(body: str) -> str:
    return f"{HEAD}\n\nclass Own(Plain):\n{_indented(body)}\n\n\nmodel = Own()\n"


def of_answer(body: str) -> str:
    return of_model(f"def answer(self, batch):\n    {body}")


def of_opened(body: str) -> str:
    return of_model(body).replace("model = Own()", "model = Opened(Own)")


def _indented(body: str) -> str:
    return indent(dedent(body), "    ")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    uniform = PDFA(alphabet="ab", transitions=[[0, 0]], probabilities=[[0.2, 0.4, 0.4]])
    save(uniform, tmp_path / "uniform.json")
    return tmp_path


LEARN = ("learn", "broken.py:model", "--kappa", 3, "--max-length", 3)
SAMPLE = ("sample", "broken.py:model", "--max-length", 5)
EVALUATE = ("evaluate", "broken.py:model", "uniform.json", "--words", 5)
EVALUATE_LAST = ("evaluate", "uniform.json", "broken.py:model", "--words", 5)
COMMANDS = (LEARN, SAMPLE, EVALUATE, EVALUATE_LAST)


def check(folder: Path, source: str, culprit: str, *commands: tuple[object, ...]) -> None:
    (folder / "broken.py").write_text(source)
    for command in commands:
        error = error_of(*command)
        assert re.search(culprit, error), (command, error)


@pytest.mark.parametrize("body", MEMBERS)
def test_members(body: str, folder: Path) -> None:
    check(folder, of_model(body), MEMBERS[body], *COMMANDS)


@pytest.mark.parametrize("body", ANSWERS)
def test_answers(body: str, folder: Path) -> None:
    check(folder, of_answer(body), ANSWERS[body], *COMMANDS, (*LEARN, "--top-k", 3))
    opened = of_answer(body).replace("model = Own()", "model = Opened(Own)")
    check(folder, opened, ANSWERS[body], LEARN)


@pytest.mark.parametrize("body", LONGER_WORDS)
def test_longer_words(body: str, folder: Path) -> None:
    check(folder, of_answer(body), LONGER_WORDS[body], LEARN, EVALUATE_LAST)


@pytest.mark.parametrize("body", OBJECTS)
def test_objects(body: str, folder: Path) -> None:
    culprit, source = OBJECTS[body], f"{HEAD}\n\n{body}\n"
    if culprit is not None:
        check(folder, source, culprit, *COMMANDS, ("info", "broken.py:model"))
        check(folder, source, culprit, ("compare", "uniform.json", "broken.py:model"))
    else:
        (folder / "broken.py").write_text(source)
        for command in COMMANDS:
            run(*command)


@pytest.mark.slow
def test_the_program_itself(folder: Path) -> None:
    for source in (
        of_model("cost = Unshown()"),
        of_answer("raise SystemExit(1)"),
    ):
        (folder / "broken.py").write_text(source)
        done = run_program(*LEARN, folder=folder)
        assert (done.returncode, done.stdout) == (2, "")
        one_error(done.stderr)


def test_a_model_that_cannot_be_closed_costs_nothing(folder: Path) -> None:
    (folder / "broken.py").write_text(of_opened("def close(self): raise OSError('still busy')"))
    result = run(*LEARN, "--audit", 0, "-o", "learnt.json")
    assert re.fullmatch(r"note: .*OSError: still busy, line .*broken.py\n", result.stderr)
    assert "learnt.json: the learnt PDFA" in result.stdout
    (note,) = run_json(*LEARN, "--audit", 0)["notes"]
    assert f"note: {note}\n" == result.stderr
    run(*SAMPLE)
