"""Programs as language models."""

from __future__ import annotations

import copy
import gc
import json
import os
import pickle
import select
import subprocess
import sys
import textwrap
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, Alphabet, ProgramModel, Quantization, learn, quotient
from pdfalearn.datasets import random_pdfa
from pdfalearn.errors import InputError, ModelError
from pdfalearn.models import QueryCost
from pdfalearn.models._processes import FaultError
from pdfalearn.models.batch import Batch
from pdfalearn.models.opened import ask_words, open_model
from pdfalearn.models.program import parse_rows
from pdfalearn.models.protocol import attached_answers
from pdfalearn.oracles import AllWordsOracle
from pdfalearn.row_checks import BadRowError
from pdfalearn.samplers import Words
from pdfalearn.testing import check_model
from tests.learners.checks import assert_is_quotient
from tests.models.programs.programs import FaultyProgram
from tests.support import need_program

BY = Quantization(1000)
TARGET = random_pdfa(12, zero_probability=0.2, seed=3)
UNDEFINED = PDFA(
    alphabet="ab",
    transitions=[[1, -1], [0, 1]],
    probabilities=[[0.5, 0.5, 0.0], [0.2, 0.4, 0.4]],
)
EXAMPLES = Path(__file__).parents[3] / "examples" / "programs"


def python(code: str) -> list[str]:
    """The command of a program that begins with a few imports."""
    return [sys.executable, "-I", "-c", f"import json, os, sys\n{textwrap.dedent(code)}"]


@pytest.mark.slow
def test_it_keeps_to_the_protocol(tmp_path: Path) -> None:
    for target in (TARGET, UNDEFINED):
        with FaultyProgram(target, tmp_path).model() as model:
            check_model(model)


@pytest.mark.parametrize("target", [TARGET, UNDEFINED])
def test_it_is_learnt_as_its_automaton_by_one_process(target: PDFA, tmp_path: Path) -> None:
    program = FaultyProgram(target, tmp_path)
    with program.model(batch=7) as model:
        result = learn(model, equivalence=BY, oracle=AllWordsOracle(6))
        assert_is_quotient(result.pdfa, target, BY)
        again = learn(model, equivalence=BY, oracle=AllWordsOracle(6))
        assert again.pdfa == result.pdfa
    assert program.events().count("start") == 1
    assert program.events()[-1] == "eof"
    program.check_end()


@pytest.mark.parametrize("name", ["parity.py", "parity.pl"])
def test_the_examples(name: str) -> None:
    if name.endswith("pl"):
        need_program("perl")
    expected = [[0.4, 0.3, 0.3], [0.0, 0.5, 0.5], [0.4, 0.3, 0.3]]
    with ProgramModel([str(EXAMPLES / name)], "ab") as model:
        rows = ask_words(model, Words.of([(), (0, 1, 0), (1, 0, 1)]))
        assert rows.to_dense().tolist() == expected
        assert len(learn(model, equivalence=BY, oracle=AllWordsOracle(4)).pdfa) == 2
        check_model(model)


def test_any_text_may_be_a_symbol() -> None:
    symbols = ['"', "\n", "\u2028", "κ é", "[", "\\", "\x00", "😀"]
    lengths = python(
        """
        for line in sys.stdin:
            rows = [[1 / len(word[0]), 1 - 1 / len(word[0]), *map(ord, word[0][:1])]
                    for word in json.loads(line)["words"]]
            print(json.dumps({"rows": [row + [0.0] * 6 for row in rows]}), flush=True)
        """
    )
    with ProgramModel(lengths, symbols) as model:
        table = model.answer(Batch.of([(code,) for code in range(8)])).to_dense()
    assert table[:, 0].tolist() == [1 / len(symbol) for symbol in symbols]
    assert table[:, 2].tolist() == [ord(symbol[0]) for symbol in symbols]


@pytest.mark.slow
def test_a_program_may_write_before_it_has_read_all() -> None:
    early = python(
        """
        while os.read(0, 1):
            os.write(1, b" " * 150_000)
            count = 0
            while not (chunk := os.read(0, 4096)).endswith(b"\\n"):
                count += len(chunk)
            os.write(1, json.dumps({"rows": [[0.5, 0.5]] * 1000}).encode() + b"\\n")
        """
    )
    with ProgramModel(early, "a", timeout=20, tries=1) as model:
        words = Batch.of([0] * length for length in range(1000))
        assert model.answer(words).to_dense().tolist() == [[0.5, 0.5]] * 1000


@pytest.mark.slow
def test_much_on_the_standard_error_is_no_hindrance() -> None:
    loud = python(
        """
        for line in sys.stdin:
            print("x" * 10**6, "\\n\\x1b[1mlast\\n", file=sys.stderr, flush=True)
            if len(line) > 100: sys.exit(7)
            print('{"rows": [[0.5, 0.5]]}', flush=True)
        """
    )
    with ProgramModel(loud, "a", timeout=20, tries=1) as model:
        for _ in range(3):
            model.answer(Batch.of([[0]]))
        with pytest.raises(ModelError, match=r"exit status 7; .* ends with '.*x \| \\x1b\[1mlast'"):
            model.answer(Batch.of([[0] * 100]))


def test_what_was_not_asked_for_is_refused() -> None:
    twice = "while read line; do echo '{\"rows\": [[0.5, 0.5]]}'; sleep 0.05; echo log; done"
    with ProgramModel(["sh", "-c", twice], "a", tries=1) as model:
        model.answer(Batch.of([[0]]))
        process = model._program._process
        assert process is not None
        select.select([process.output], [], [], 10)
        with pytest.raises(ModelError, match="it wrote 'log' without being asked; a program"):
            model.answer(Batch.of([[0]]))


def test_threads_take_turns(tmp_path: Path) -> None:
    words = [
        Batch.of([[code, code ^ 1] * more for more in range(length)])
        for code, length in [(0, 3), (1, 5), (0, 9), (1, 1)]
    ]
    with FaultyProgram(TARGET, tmp_path).model(batch=2) as model, ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda asked: model.answer(asked).to_dense(), words * 10))
    for asked, table in zip(words * 10, answers, strict=True):
        expected = TARGET.next_distributions(TARGET.alphabet.decode_words(asked.words))
        assert np.array_equal(table, expected)


@pytest.mark.parametrize(
    ("fault", "told"),
    [("sys.exit(7)", "exit status 7"), ("rows[0] = [0.5]", r"the word \('a', 'a', 'a', 'a'\)")],
)
def test_lines_that_were_answered_are_not_lost(fault: str, told: str) -> None:
    failing = f"""
        for line in sys.stdin:
            words = json.loads(line)["words"]
            rows = [[1 / (1 + len(word)), len(word) / (1 + len(word))] for word in words]
            if ["a"] * 4 in words: {fault}
            print(json.dumps({{"rows": rows}}), flush=True)
    """
    batch = Batch.of([0] * length for length in range(10))
    with ProgramModel(python(failing), "a", tries=1, batch=2) as model:
        opened = open_model(model)
        with pytest.raises(ModelError, match=told) as caught:
            opened.answer(batch)
    answered = attached_answers(caught.value)
    assert answered is not None
    assert answered.ids.tolist() == [0, 1, 2, 3]
    assert answered.rows.values[:, 0].tolist() == [1, 1 / 2, 1 / 3, 1 / 4]


def test_a_forgotten_model_ends_its_program(tmp_path: Path) -> None:
    program = FaultyProgram(TARGET, tmp_path)
    model = program.model()
    model.answer(Batch.of([[0]]))
    assert program.left()
    del model
    gc.collect()
    program.check_end()


@pytest.mark.slow
def test_the_end_of_python_ends_the_program(tmp_path: Path) -> None:
    for faults, how in (("none", "pass"), ("none", "1 / 0"), ("hang@1", "model.answer(words)")):
        program = FaultyProgram(TARGET, tmp_path, faults)
        code = f"""
            from pdfalearn import ProgramModel
            from pdfalearn.models.batch import Batch
            model = ProgramModel({program.command!r}, "01", timeout=2, tries=1)
            words = Batch.of([[0]])
            model.answer(words)
            {how}
        """
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, timeout=60
        )
        assert done.returncode == (0 if how == "pass" else 1)
        program.check_end()


def is_there(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
def test_a_program_that_ignores_all_is_killed() -> None:
    deaf = "trap '' TERM; while read line; do echo '{\"rows\": [[0.5, 0.5]]}'; done; sleep 600"
    model = ProgramModel(["sh", "-c", deaf], "a")
    model.answer(Batch.of([[0]]))
    process = model._program._process
    assert process is not None
    model.close()
    deadline = time.monotonic() + 10
    while is_there(process.pid):  # until init has seen that what it has started is dead, too
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_after_the_end_it_is_started_again(tmp_path: Path) -> None:
    program = FaultyProgram(TARGET, tmp_path)
    model = program.model()
    for _ in range(2):
        model.answer(Batch.of([[0]]))
        model.close()
        model.close()
    assert program.events().count("start") == 2


def test_copies_have_programs_of_their_own(tmp_path: Path) -> None:
    program = FaultyProgram(TARGET, tmp_path)
    with program.model(fingerprint="mine", cost=QueryCost(call=3)) as model:
        expected = model.answer(Batch.of([[0]])).to_dense()
        for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):  # noqa: S301
            assert (other.fingerprint, other.cost) == ("mine", QueryCost(call=3))
            assert np.array_equal(other.answer(Batch.of([[0]])).to_dense(), expected)
            other.close()
        assert len(program.left()) == 1


def test_a_fork_starts_its_own_and_leaves_the_other_alone(tmp_path: Path) -> None:
    program = FaultyProgram(TARGET, tmp_path)
    with program.model() as model, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = model.answer(Batch.of([[0]])).to_dense()
        child = os.fork()
        if child == 0:
            same = np.array_equal(model.answer(Batch.of([[0]])).to_dense(), expected)
            model.close()
            os._exit(0 if same else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert program.events().count("start") == 2
        assert np.array_equal(model.answer(Batch.of([[0]])).to_dense(), expected)
    assert program.events().count("start") == 2
    program.check_end()


def test_a_store_needs_an_fingerprint(tmp_path: Path) -> None:
    program = FaultyProgram(TARGET, tmp_path)
    kept: dict[str, Any] = {
        "equivalence": BY,
        "oracle": AllWordsOracle(4),
        "store": tmp_path / "answers.db",
    }
    with program.model() as model, pytest.raises(InputError, match="fingerprint"):
        learn(model, **kept)
    with program.model(fingerprint="mine") as model:
        first, again = learn(model, **kept), learn(model, **kept)
    assert again.pdfa == first.pdfa == quotient(first.pdfa, equivalence=BY)
    assert again.statistics.words == 0


@pytest.mark.slow
def test_large_alphabets_go_in_short_lines() -> None:
    zeros = python(
        """
        for line in sys.stdin:
            count = len(json.loads(line)["words"])
            print(json.dumps({"rows": [[1.0] + [0.0] * 500_000] * count}), flush=True)
        """
    )
    with ProgramModel(zeros, map(str, range(500_000))) as model:
        assert model.answer(Batch.of([[0], [1], [2]])).values.shape == (3, 500_001)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("[0.5, NaN]", "wrote [0.5, nan], but a row is a list of 2 numbers"),
        ("[NaN, NaN]", "wrote [nan, nan], but"),
        ("[1e999, 0]", "wrote [inf, 0], but"),
        ('["0.5", "0.5"]', "wrote ['0.5', '0.5'], but"),
        ("[0.5]", "wrote [0.5], but"),
        ("7", "wrote 7, but"),
        ("[true, false]", "wrote [True, False], but"),
        ("[true, 0.0]", "wrote [True, 0.0], but"),
        (str([10**30, 10**30]), "000], but a row is"),
        ("[0.5, 0.4]", "sums to 0.9"),
        ("[1.5, -0.5]", "negative"),
    ],
)
def test_bad_rows_are_told_with_their_word(row: str, told: str) -> None:
    bad = f"""
        for line in sys.stdin:
            words = json.loads(line)["words"]
            rows = ['[0.5, 0.5]' if len(word) < 2 else '{row}' for word in words]
            print('{{"rows": [' + ", ".join(rows) + "]}}", flush=True)
    """
    with ProgramModel(python(bad), "a", batch=2) as model, pytest.raises(ModelError) as caught:
        learn(model, equivalence=BY, oracle=AllWordsOracle(4))
    assert "the model's answer to the word ('a', 'a'): " in str(caught.value)
    assert told in str(caught.value)


NUMBERS = st.floats() | st.integers(-3, 2**62) | st.booleans() | st.text(max_size=2) | st.none()
ROWS = st.lists(st.none() | NUMBERS | st.lists(NUMBERS, max_size=3), max_size=3)


@given(ROWS | st.text() | st.none())
def test_an_answer_is_read_or_refused(given_rows: Any) -> None:
    line = json.dumps({"rows": given_rows}).encode()
    right = isinstance(given_rows, list) and len(given_rows) == 2
    good = right and all(map(is_row, given_rows))
    try:
        rows = parse_rows(line, 2, 2)
    except FaultError:
        assert not right
    except BadRowError as bad:
        places = [place for place, row in enumerate(given_rows) if not is_row(row)]
        assert [bad.place] == places[:1]  # noqa: PT017
    else:
        assert good
        undefined = [row is None for row in given_rows]
        assert (rows.undefined is not None) == any(undefined)
        for row, found in zip(given_rows, rows.values.tolist(), strict=True):
            assert row is None or row == found


def is_row(row: object) -> bool:
    if row is None:
        return True
    return (
        isinstance(row, list)
        and len(row) == 2
        and all(isinstance(value, int | float) and abs(value) < 1e308 for value in row)
        and not any(isinstance(value, bool) for value in row)
    )


@pytest.mark.parametrize(
    "line", [b"", b"[" * 10**5, b"\xff", b'{"rows": 1}', b'{"rows": {}}', b"1" * 9999]
)
def test_garbage_is_refused(line: bytes) -> None:
    with pytest.raises(FaultError, match="only answers"):
        parse_rows(line, 1, 2)


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("", "give a program and its arguments"),
        ([], "give a program"),
        (7, "the command is 7; give a program"),
        ([b"cat"], "give a program"),
        (["cat", "a\0b"], "give a program"),
        ("'cat", "No closing quotation"),
        ("no-such-program-at-all", "there is no program 'no-such-program-at-all'; give its path"),
        ("./model", "'./model' is not executable; chmod +x it, or name its interpreter"),
        ("model", "'model' is not installed; call the file here ./model"),
        ("./folder", "'./folder' is a folder"),
    ],
)
def test_programs_that_are_not_there(
    command: Any, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("model").write_text("print()")
    Path("folder").mkdir()
    with pytest.raises(InputError) as caught:
        ProgramModel(command, "ab")
    assert told in str(caught.value)


@pytest.mark.parametrize("text", ["print()\n", "#!/no/such/interpreter\n"])
def test_scripts_without_interpreters(text: str, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(text)
    script.chmod(0o755)
    model = ProgramModel([str(script)], "ab")
    with pytest.raises(InputError, match=r"cannot be started \(.*begin with a line that names"):
        model.answer(Batch.of([[0]]))


@pytest.mark.parametrize(
    ("symbols", "settings", "told"),
    [
        ([0, 1], {}, "the symbol 0 is not a text"),
        (Alphabet([("a",), "b"]), {}, "is not a text"),
        (["\ud800"], {}, "cannot be written in UTF-8"),
        ("ab", {"timeout": 0}, "timeout"),
        ("ab", {"tries": 0}, "tries"),
        ("ab", {"batch": 1.5}, "batch"),
    ],
)
def test_bad_arguments(symbols: Sequence[Any], settings: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        ProgramModel("cat", symbols, **settings)
