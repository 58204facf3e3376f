"""What a model answered is kept in a file, from which runs go on and with which others compare."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest

from pdfalearn import PDFA, Answers, Budget, FunctionModel, drift, explore, probability
from pdfalearn.errors import FileFormatError, InputError, ModelError
from pdfalearn.exploring import Baseline, recording
from pdfalearn.exploring.readings import StateMap
from tests.exploring.cases import other_target, random_languages, random_target, tiny_llm
from tests.support import need_module

NEARLY = 1e-9


@pytest.fixture(autouse=True)
def _regular_expressions() -> None:
    need_module("interegular")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_bounds_against_a_file_hold(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The truth is inside, and bounds are those of both models, as far as the file goes."""
    random = np.random.default_rng(seed)
    one, languages = random_target(random), random_languages(random)
    two = other_target(one, random)
    file, store = tmp_path / "saved.jsonl", tmp_path / "store.jsonl"
    if seed % 2:  # rows of which hardly anything is kept
        for name, value in (("_SMALL", 0), ("_MOST_LIVE", 1), ("_MOST_SETTLED", 1)):
            monkeypatch.setattr(recording, name, value)
    asked = explore(one, languages, store=store, gap=1e-4, budget=Budget(max_words=300))
    for name, language in languages.items():
        known = probability(one, language)
        assert asked[name].low - NEARLY <= known <= asked[name].high + NEARLY
    asked.save(file)
    live = drift(one, two, languages, gap=1e-4, budget=Budget(max_words=300))
    joined = "|".join(f"({language})" for language in languages.values())
    apart = abs(probability(one, joined) - probability(two, joined))
    for path in (file, store):
        far = drift(path, two, gap=1e-4, budget=Budget(max_words=300))
        assert apart <= far.high + NEARLY
        assert far.low <= live.high + NEARLY
        assert live.low <= far.high + NEARLY
        assert far.prompts[0].answers_low <= live.prompts[0].answers_high + NEARLY
        assert live.prompts[0].answers_low <= far.prompts[0].answers_high + NEARLY
        assert drift(path, one, gap=1e-4).low <= NEARLY
        back = drift(two, path, languages, gap=1e-4, budget=Budget(max_words=300))
        assert back.low == pytest.approx(far.low)


@pytest.mark.slow
def test_an_llm_against_what_it_answered(tmp_path: Path) -> None:
    for name in ("torch", "transformers", "tokenizers"):
        need_module(name)
    from tests.models.transformers_tokenizers import byte_tokenizer

    tokenizer = byte_tokenizer()
    network = tiny_llm(1200 + len(tokenizer))  # so many columns that not all are kept

    def ask(**settings: Any) -> Answers:
        return Answers(network, tokenizer, prompt="heads or", stop="\n", **settings)

    question: Any = {"languages": {"low": "[a-m].*", "e": ".*e"}, "within": 2, "gap": 0.005}
    store = tmp_path / "march.jsonl"
    whole = explore(ask(), **question)
    kept = explore(ask(), store=store, **question)
    again = explore(ask(), store=store, **question)
    assert (again.low, again.high) == pytest.approx((kept.low, kept.high), abs=1e-6)
    assert kept.low == pytest.approx(whole.low, abs=5e-3)
    size = store.stat().st_size
    assert 100 < size < 30_000 * kept.calls  # a dense row of doubles alone would be more than this
    same = drift(store, ask(), gap=0.01)
    assert same.is_within(0.03) is True
    assert same.stopped in ("untold", "gap"), (same.calls, kept.calls)
    warm = drift(store, ask(temperature=0.3), gap=0.001)
    live = drift(ask(), ask(temperature=0.3), **question)
    assert warm.is_within(0.03) is False
    assert warm.low <= live.high
    assert live.low <= warm.high
    with pytest.raises(InputError, match="with stops"):
        drift(store, Answers(network, tokenizer, prompt="heads or"))
    with pytest.raises(InputError, match="with prompt"):
        drift(store, Answers(network, tokenizer, prompt="heads", stop="\n"))
    with pytest.raises(InputError, match="with languages"):
        drift(store, ask(), "a", within=2)


KILLED = """
import sys, time
from pdfalearn import FunctionModel, explore

def answer(words):
    print(len(words), flush=True)
    time.sleep(.02)
    return [[.2, .5, .3]] * len(words)

explore(FunctionModel(answer, "ab"), ".*abba", gap=0, batch=4, store=sys.argv[1], model_id="x")
"""


@pytest.mark.slow
def test_kill_9_loses_nothing(tmp_path: Path) -> None:
    store = tmp_path / "store.jsonl"
    rows = []
    for _ in range(2):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(store)],
            stdout=subprocess.PIPE,
            text=True,
            env=dict(os.environ),
        )
        assert process.stdout is not None
        for _ in range(6):
            process.stdout.readline()
        time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        asked = [int(line) for line in process.stdout.read().split()]
        process.wait()
        process.stdout.close()
        rows.append(len(Baseline(store).rows))
        assert rows[-1] >= 6 + sum(asked[:-1])
    assert rows[1] > rows[0]
    with store.open("a") as stream:  # as if the last line had been cut
        stream.write('{"states":[1,')
    assert len(Baseline(store).rows) == rows[1]
    model = FunctionModel(lambda words: [[0.2, 0.5, 0.3]] * len(words), "ab")
    with pytest.raises(FileFormatError, match="has no end: its run was killed"):
        drift(store, model)
    budget = Budget(max_words=rows[1] + 10)
    explore(model, ".*abba", gap=0, batch=4, store=store, model_id="x", budget=budget)
    assert drift(store, model, gap=0.5).low == 0
    assert len(Baseline(store).rows) == budget.max_words


def test_files_that_are_refused(tmp_path: Path) -> None:
    pdfa = random_target(np.random.default_rng(1))
    wrong = tmp_path / "wrong.jsonl"
    for text in ("", "{}\n", "[1]\n", "a\n", '{"format": "pdfalearn answers", "version": 2}\n'):
        wrong.write_text(text)
        with pytest.raises(FileFormatError, match="not a file of answers") as caught:
            drift(wrong, pdfa)
        assert "literal" not in str(caught.value)
        assert "index" not in str(caught.value)
    with pytest.raises(InputError, match="could not be read"):
        drift(tmp_path / "missing.jsonl", pdfa)
    with pytest.raises(InputError, match="could not be written"):
        explore(pdfa, "a", store=tmp_path / "no" / "folder.jsonl")
    file = tmp_path / "right.jsonl"
    explore(pdfa, "a*", gap=0.1).save(file)
    with pytest.raises(InputError, match="are both files"):
        drift(file, file)
    with pytest.raises(InputError, match="say which languages"):
        drift(pdfa, pdfa)
    other = PDFA(alphabet="xyz", transitions=[[0] * 3], probabilities=[[0.25] * 4])
    with pytest.raises(InputError, match="answers of a model with other symbols"):
        drift(file, other)
    with pytest.raises(InputError, match="another question, with match 'whole' and not 'begins'"):
        drift(file, pdfa, "a*", match="begins")


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    """No line can be lost, and no part of the last ones."""
    pdfa, file = random_target(np.random.default_rng(1)), tmp_path / "store.jsonl"
    explore(pdfa, "a*b", gap=0, store=file, batch=2, budget=Budget(max_words=8))
    lines = file.read_bytes().splitlines(keepends=True)
    assert len(lines) > 3
    for lost in range(len(lines)):
        file.write_bytes(b"".join(lines[:lost] + lines[lost + 1 :]))
        with pytest.raises(FileFormatError, match=r"lost|no end"):
            drift(file, pdfa)
    for left in range(len(b"".join(lines)) - 1, 0, -40):
        file.write_bytes(b"".join(lines)[:left])
        with pytest.raises(FileFormatError, match=r"lost|no end"):
            drift(file, pdfa)
    for number, line in enumerate(lines, 1):
        changed = bytearray(line)
        changed[len(line) // 2] ^= 1
        file.write_bytes(b"".join([*lines[: number - 1], bytes(changed), *lines[number:]]))
        where = (
            "not a file of answers"
            if number == 1
            else f"line {number}: a part of it is lost or changed"
        )
        with pytest.raises(FileFormatError, match=where):
            drift(file, pdfa)
    for name in ("march", "march.json", "march.html"):
        with pytest.raises(InputError, match=r"those that work: \.jsonl, \.csv"):
            explore(pdfa, "a*", gap=0.1).save(tmp_path / name)


def test_a_full_disk_loses_no_row(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    pdfa, file = random_target(np.random.default_rng(1)), tmp_path / "store.jsonl"
    question: Any = {"languages": "a*b", "gap": 0, "store": file, "batch": 2}
    explore(pdfa, **question, budget=Budget(max_words=8))
    before, limits = file.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 50, limits[1]))
    try:
        with pytest.raises(InputError, match="could not be written: File too large"):
            explore(pdfa, **question, budget=Budget(max_words=20))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert file.read_bytes() == before
    explore(pdfa, **question, budget=Budget(max_words=20))
    assert len(Baseline(file).rows) == 20


def test_a_word_that_becomes_undefined_is_refused_with_a_store_too(tmp_path: Path) -> None:
    rows = {0: [0.2, 0.4, 0.4], 1: [0.2, 0.4, 0.4], 2: None}
    model = FunctionModel(lambda words: [rows[len(word)] for word in words], "ab")
    kept: dict[str, Any] = {"store": tmp_path / "store.jsonl", "model_id": "two symbols"}
    none: dict[str, Any] = {}
    for options in (none, kept, kept):
        with pytest.raises(ModelError, match=r"\('a', 'b'\) is undefined, and before that"):
            explore(model, "(ab)*", **options)


def test_explorations_that_take_turns_keep_one_store(tmp_path: Path) -> None:
    pdfa, file = random_target(np.random.default_rng(1)), tmp_path / "store.jsonl"
    question: Any = {"gap": 0, "batch": 2, "budget": Budget(max_words=6)}
    one, two = (explore(pdfa, "a*b", store=file, **question) for _ in range(2))
    with pytest.raises(InputError, match="another question"):
        explore(pdfa, "b", store=file)
    more = one.more(gap=0, budget=Budget(max_words=12)), two.more(gap=0, budget=Budget(max_words=8))
    alone = explore(pdfa, "a*b", gap=0, batch=2, budget=Budget(max_words=14))
    assert (more[1].low, more[1].high) == (alone.low, alone.high)
    for each in more:
        each.close()
    assert len(Baseline(file).rows) == 18
    assert drift(file, pdfa).low == 0


def test_explorations_do_not_write_to_one_store_at_once(tmp_path: Path) -> None:
    def answer(words: list[Any]) -> list[list[float]]:
        explore(model, "a*b", store=tmp_path / "store.jsonl", model_id="x")
        raise AssertionError

    model = FunctionModel(answer, "ab")
    with pytest.raises(InputError, match="another run is at work"):
        explore(model, "a*b", store=tmp_path / "store.jsonl", model_id="x")


def change_array(members: dict[str, Any], name: str, kind: str, value: float) -> None:
    array = np.frombuffer(base64.b64decode(members[name]), kind).copy()
    array[0] = value
    members[name] = base64.b64encode(array.tobytes()).decode()


HOSTILE: dict[str, tuple[int, Any]] = {
    "no question": (0, lambda line: line.update(question=None)),
    "another question": (0, lambda line: line.update(question={})),
    "no languages": (0, lambda line: line["question"].update(languages=None)),
    "prompts of texts": (0, lambda line: line["question"].update(prompts={"": ["a"]})),
    "a deep one": (0, lambda line: None),
    "a large column": (1, lambda line: change_array(line, "columns", "<i4", 99)),
    "a column below 0": (1, lambda line: change_array(line, "columns", "<i4", -1)),
    "a share below 0": (1, lambda line: change_array(line, "values", "<f8", -3)),
    "a share above 1": (1, lambda line: change_array(line, "values", "<f8", 3)),
    "NaN": (1, lambda line: change_array(line, "values", "<f8", np.nan)),
    "an infinite rest": (1, lambda line: change_array(line, "rests", "<f8", np.inf)),
    "no values": (1, lambda line: line.update(values="")),
    "no rests": (1, lambda line: line.update(rests="")),
    "untold as a text": (1, lambda line: line.update(untold=["0.5"] * len(line["words"]))),
    "a word of texts": (1, lambda line: line["words"].__setitem__(0, ["a"])),
    "a word of other symbols": (1, lambda line: line["words"].__setitem__(0, [99])),
    "a state that is true": (1, lambda line: line["states"].__setitem__(0, True)),
}
"""What somebody may write into a line of a file, with a new checksum."""


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_of_somebody_else_is_refused(name: str, tmp_path: Path) -> None:
    pdfa, file = random_target(np.random.default_rng(1)), tmp_path / "store.jsonl"
    explore(pdfa, "a*b", gap=0, store=file, batch=2, budget=Budget(max_words=8))
    number, change = HOSTILE[name]
    lines = file.read_text().splitlines()
    members = json.loads(lines[number])
    del members["crc32"]
    change(members)
    text = json.dumps(members) if name != "a deep one" else f'{{"a":{"[" * 99999}{"]" * 99999}}}'
    lines[number] = f'{text[:-1]}, "crc32": {crc32(text.encode())}}}'
    file.write_text("\n".join([*lines, ""]))
    for use in (lambda: drift(file, pdfa), lambda: explore(pdfa, "a*b", gap=0, store=file)):
        with pytest.raises(FileFormatError, match=r"store\.jsonl .*write the file anew|line 2: "):
            use()


def test_rows_are_kept_by_what_they_settle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "_SMALL", 2)
    monkeypatch.setattr(recording, "_MOST_LIVE", 1)
    monkeypatch.setattr(recording, "_MOST_SETTLED", 1)
    settled = np.array([0, 2, 2, 1, 0], dtype=np.int16)
    after = StateMap(settled, np.array([0, 1], dtype=np.int32), np.zeros(2, dtype=np.int32))
    row = recording.Row.of(np.array([0.1, 0.2, 0.3, 0.25, 0.15]), 0.0, after, 3)
    assert row.columns.tolist() == [2, 3]
    assert row.values.tolist() == [0.3, 0.25]
    assert row.rests.tolist() == pytest.approx([0.25, 0.0, 0.2])
