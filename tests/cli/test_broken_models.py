"""Models that break the protocol end in one line and exit code 2, whatever they do."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent, indent

import pytest

from pdfalearn import PDFA, save
from tests.cli.program import error_of, one_error, run, run_json, run_program

SYMBOLS = 40
"""From more than 32 symbols on, a session is asked which of them may follow."""

HEAD = f"""
import numpy as np
from pdfalearn import Alphabet, AutomatonModel, LanguageModel
from pdfalearn.models.protocol import Session
from pdfalearn.rows import Rows
from pdfalearn.words import Words

SYMBOLS = {SYMBOLS}
EVEN, ODD = np.full(SYMBOLS + 1, 0.5 / SYMBOLS), np.full(SYMBOLS + 1, 0.8 / SYMBOLS)
EVEN[0], ODD[0] = 0.5, 0.2


class Plain(LanguageModel):
    alphabet = Alphabet(range(SYMBOLS))

    def open(self):
        return PlainSession()


class PlainSession(Session):
    def __init__(self):
        self.lengths = [0]

    def start(self):
        return 0

    def extend(self, handles, words):
        new = []
        for handle, codes in zip(handles, words, strict=True):
            for place in range(len(codes)):
                self.lengths.append(self.lengths[handle] + place + 1)
                new.append(len(self.lengths) - 1)
        return np.array(new, dtype=np.int64)

    def read(self, handles):
        return Rows.dense(np.array([ODD if self.lengths[h] % 2 else EVEN for h in handles]))


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
    "cost = Unshown()": "failed with ValueError: cannot be shown",
    "alphabet = 'ab'": "Own.alphabet is 'ab': set it to an Alphabet",
    "alphabet = property(lambda self: 1 / 0)": "alphabet that raised ZeroDivisionError",
    "def open(self): return None": "Own.open returned None: .*subclass of Session",
    "def open(self): return self": "Own.open returned <",
    "def open(self): return Unshown()": "failed with ValueError: cannot be shown",
    "def open(self): raise ConnectionError('gone')": "failed with ConnectionError: gone, line ",
    "def open(self): raise SystemExit(1)": "failed with SystemExit: 1, line ",
    "def open(self): raise Unsaid": "failed with Unsaid, line ",
    "def open(self): raise RuntimeError('two\\nlines\\x1b[31m')": r"two lines\\x1b\[31m, line ",
    "def open(self): raise MemoryError('8 TiB')": "failed with MemoryError: 8 TiB",
    "open = LanguageModel.open": "NotImplementedError: Own has neither answer nor open",
    "open = LanguageModel.open\ndef answer(self, words): return None": "not an array of numbers",
    "open = LanguageModel.open\ndef answer(self, words): return [[1]]": "shape",
    "open = LanguageModel.open\ndef answer(self, words): 1 / 0": "ZeroDivisionError.*, line ",
    "open = LanguageModel.open\ndef answer(self, words): return [None] * len(words)": "empty word",
}

SESSIONS = {
    "room = 3.5": "Own.room is 3.5: set it to None",
    "room = 2": "Own.room is 2: set it to None",
    "room = property(lambda self: 1 / 0)": "room that raised ZeroDivisionError",
    "shared = 'no'": "Own.shared is 'no'",
    "shared = property(lambda self: 1 / 0)": "shared that raised ZeroDivisionError",
    "def start(self): return None": "Own.start returned None",
    "def start(self): return -1": "Own.start returned -1",
    "def start(self): return 0.5": "Own.start returned 0.5",
    "def start(self): raise OSError(5, 'no line', 'modem')": r"OSError: .*no line.*, line ",
    "def read(self, handles): raise IndexError": "failed with IndexError, line ",
    "def read(self, handles): raise SystemExit": "failed with SystemExit, line ",
    "def read(self, handles): return None": "not an array of numbers",
    "def read(self, handles): return 'x'": "not an array of numbers",
    "def read(self, handles): return Rows.dense(np.ones((len(handles), 2)))": "2 columns",
    "def read(self, handles): return Rows(SYMBOLS + 1, [EVEN.tolist()])": "not an array",
    "def read(self, handles): return Rows.dense(np.array([EVEN - EVEN] * len(handles)))": "to 0",
    "def read(self, handles): return Rows.dense(np.array([EVEN * np.nan] * len(handles)))": "NaN",
    "def read(self, handles): return Rows.sparse(SYMBOLS + 1, [0, 1], [7], [1])": "terminal first",
    """
    def read(self, handles):
        return Rows.dense(np.array([EVEN] * len(handles)), undefined='x')
    """: "undefined",
}

LONGER_WORDS = {
    "def extend(self, handles, words): raise KeyError('word')": "failed with KeyError: 'word'",
    "def extend(self, handles, words): raise GeneratorExit": "failed with GeneratorExit, line ",
    "def extend(self, handles, words): return None": "extend returned None",
    "def extend(self, handles, words): return np.zeros(1)": "extend returned an array of shape",
    "def extend(self, handles, words): return words.symbols * 0.5": "an array of float64",
    "def extend(self, handles, words): return words.symbols - 100": "returned the handle -",
    "room = 4\ndef release(self, handles): 1 / 0": "failed with ZeroDivisionError.*, line ",
}

POSSIBLE = {
    "def possible(self, handles): 1 / 0": "failed with ZeroDivisionError.*, line ",
    "def possible(self, handles): return 'x'": "possible gave 'x'",
    "def possible(self, handles): return np.ones((1, 1), bool)": "possible gave an array",
    "def possible(self, handles): return Words('x', np.arange(len(handles) + 1))": "do not fit",
    "def possible(self, handles): return Words(np.array([99]), np.array([0, 1]))": "do not fit",
    "def possible(self, handles): return Words(np.array([1]), np.array([0, 3]))": "do not fit",
    "def possible(self, handles): return Words(np.array([0.5]), np.array([0, 1]))": "do not fit",
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


def of_session(body: str) -> str:
    opening = "Plain.open = lambda self: Own()\nmodel = Plain()\n"
    return f"{HEAD}\n\nclass Own(PlainSession):\n{_indented(body)}\n\n\n{opening}"


def _indented(body: str) -> str:
    return indent(dedent(body), "    ")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    uniform = PDFA(
        alphabet=range(SYMBOLS),
        transitions=[[0] * SYMBOLS],
        probabilities=[[0.2, *[0.8 / SYMBOLS] * SYMBOLS]],
    )
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
def test_members_and_whole_words(body: str, folder: Path) -> None:
    check(folder, of_model(body), MEMBERS[body], *COMMANDS)


@pytest.mark.parametrize("body", SESSIONS)
def test_sessions(body: str, folder: Path) -> None:
    check(folder, of_session(body), SESSIONS[body], *COMMANDS, (*LEARN, "--top-k", 3))


@pytest.mark.parametrize("body", LONGER_WORDS)
def test_longer_words(body: str, folder: Path) -> None:
    check(folder, of_session(body), LONGER_WORDS[body], LEARN, EVALUATE_LAST)


@pytest.mark.parametrize("body", POSSIBLE)
def test_which_symbols_may_follow(body: str, folder: Path) -> None:
    check(folder, of_session(body), POSSIBLE[body], LEARN)


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
        of_session("def start(self): raise SystemExit(1)"),
    ):
        (folder / "broken.py").write_text(source)
        done = run_program(*LEARN, folder=folder)
        assert (done.returncode, done.stdout) == (2, "")
        one_error(done.stderr)


def test_a_session_that_cannot_be_closed_costs_nothing(folder: Path) -> None:
    (folder / "broken.py").write_text(of_session("def close(self): raise OSError('still busy')"))
    result = run(*LEARN, "--audit", 0, "-o", "learnt.json")
    assert re.fullmatch(r"note: .*OSError: still busy, line .*broken.py\n", result.stderr)
    assert "learnt.json: the learnt PDFA" in result.stdout
    (note,) = run_json(*LEARN, "--audit", 0)["notes"]
    assert f"note: {note}\n" == result.stderr
    run(*SAMPLE)
