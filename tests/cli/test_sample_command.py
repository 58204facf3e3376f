from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pdfalearn import PDFA, Corpus, load, save
from tests.cli.program import error_of, run, run_json


def saved(folder: Path, alphabet: list[object], stop: float = 0.5) -> Path:
    share = (1 - stop) / len(alphabet)
    pdfa = PDFA(
        alphabet=alphabet,
        transitions=[[0] * len(alphabet)],
        probabilities=[[stop, *[share] * len(alphabet)]],
    )
    save(pdfa, folder / "target.json")
    return folder / "target.json"


def test_words_of_characters_stand_side_by_side(tmp_path: Path) -> None:
    path = saved(tmp_path, ["a", "b"], stop=0.2)
    lines = run("sample", path, "--count", 50, "--seed", 3).stdout.split("\n")
    assert lines.pop() == ""
    assert lines == ["".join(map(str, word)) for word in load(path).sample(50, seed=3).words]


def test_other_words_have_spaces_between_symbols(tmp_path: Path) -> None:
    path = saved(tmp_path, ["up", "down", 7, "a b", "\n"], stop=0)
    words = run("sample", path, "--count", 20, "--max-length", 9, "--seed", 0).stdout
    expected = [
        " ".join(_shown(symbol) for symbol in word) + " (cut)"
        for word in load(path).sample(20, seed=0, max_length=9).words
    ]
    assert words.splitlines() == expected


def _shown(symbol: object) -> str:
    return {"a b": "'a b'", "\n": r"\n"}.get(str(symbol), str(symbol))


def test_words_that_were_cut_are_marked(tmp_path: Path) -> None:
    path = saved(tmp_path, ["a"], stop=0)
    assert run("sample", path, "--count", 2, "--max-length", 3).stdout == "aaa (cut)\n" * 2


ALPHABETS: list[list[object]] = [
    ["a", "b"],
    ["a", " "],
    list(" (cut)"),
    ["up", "down", 7],
    ["a b", " ", "", "'", "'a", "b'"],
    ["(cut)", "a"],
    ["\\", "n", "\n", "\t"],
    ["\x1b[31m", "\\x1b", "é", "κ λ"],
]


@pytest.mark.filterwarnings("ignore::pdfalearn.oracles.UnreachableSymbolWarning")
@pytest.mark.parametrize("alphabet", ALPHABETS, ids=ascii)
@pytest.mark.parametrize("max_length", [0, 3, 1000])
def test_words_can_be_used_by_other_commands(
    alphabet: list[object], max_length: int, tmp_path: Path
) -> None:
    path, words = saved(tmp_path, alphabet, stop=0.3), tmp_path / "words.txt"
    options = ["--count", 60, "--max-length", max_length]
    words.write_text(run("sample", path, *options, "--seed", 0).stdout, encoding="utf-8")
    pdfa = load(path)
    drawn, cut = pdfa.sample(60, seed=0, max_length=max_length)
    assert () in drawn
    assert pdfa.alphabet.decode_words(Corpus(words).encode(pdfa.alphabet)) == drawn
    found = run_json("evaluate", path, path, "--corpus", words)
    assert found["words"] == 60
    assert found["cut_words"] == cut.sum()
    assert found["mean_length"] == pytest.approx(sum(map(len, drawn)) / 60)
    learnt = run_json("learn", path, "--oracle", "pac", "--sampler", words, "--epsilon", 0.5)
    assert f"words of the corpus {words}" in learnt["certificate"]["statement"]


@pytest.mark.slow
def test_words_that_a_shell_writes_to_a_file(tmp_path: Path) -> None:
    saved(tmp_path, ["a", " "], stop=0.3)
    program = f"'{sys.executable}' -m pdfalearn"
    lines = [
        f"{program} sample target.json --count 30 --max-length 3 > words.txt",
        f"{program} evaluate target.json target.json --corpus words.txt --json",
        f"{program} learn target.json --oracle pac --sampler words.txt --epsilon 0.5 --json",
    ]
    done = subprocess.run(
        ["sh", "-ec", "\n".join(lines)], cwd=tmp_path, capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    evaluated, learnt = map(json.loads, done.stdout.splitlines())
    assert 0 < evaluated["cut_words"] < 30
    assert learnt["states"] == 1


def test_json(tmp_path: Path) -> None:
    path = saved(tmp_path, ["a", 7])
    words, cut = load(path).sample(30, seed=2, max_length=2)
    result = run_json("sample", path, "--count", 30, "--seed", 2, "--max-length", 2)
    assert result == {
        "file": str(path),
        "seed": 2,
        "max_length": 2,
        "words": [list(word) for word in words],
        "cut": cut.tolist(),
    }


def test_no_words_are_no_lines(tmp_path: Path) -> None:
    path = saved(tmp_path, ["a"])
    assert run("sample", path, "--count", 0).stdout == ""
    assert run_json("sample", path, "--count", 0)["words"] == []


@pytest.mark.parametrize(
    ("options", "culprit"),
    [
        (["--count", "-1"], "count -1"),
        (["--max-length", "-1"], "max_length -1"),
        (["--seed", "-1"], "--seed"),
        (["--count", "x"], "'x'"),
        (["--count", str(10**14)], "count 100000000000000"),
    ],
)
def test_bad_options(options: list[str], culprit: str, tmp_path: Path) -> None:
    assert culprit in error_of("sample", saved(tmp_path, ["a"]), *options)


def test_without_a_seed_the_words_are_new_and_can_be_drawn_again(tmp_path: Path) -> None:
    path = saved(tmp_path, ["a", "b"])
    first, second = (run("sample", path, "--count", 50) for _ in range(2))
    assert first.stdout != second.stdout
    seed = first.stderr.removeprefix("drawn with --seed ").strip()
    assert first.stderr == f"drawn with --seed {seed}\n"
    again = run("sample", path, "--count", 50, "--seed", seed)
    assert (again.stdout, again.stderr) == (first.stdout, "")
    found = run_json("sample", path, "--count", 50)
    drawn = load(path).sample(50, seed=found["seed"]).words
    assert [tuple(word) for word in found["words"]] == drawn
