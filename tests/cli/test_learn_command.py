from __future__ import annotations

import re
from pathlib import Path

import pytest

import pdfalearn
from pdfalearn import Exact, Quantization, Tolerance, distinguish, load, save
from pdfalearn.datasets import figure_3
from pdfalearn.learning.loop import LEARNERS, SIMILARITY_LEARNERS
from tests.cli.program import error_of, run, run_json
from tests.support import need_module, need_program


@pytest.fixture
def path(tmp_path: Path) -> Path:
    save(figure_3(), tmp_path / "target.json")
    return tmp_path / "target.json"


@pytest.mark.parametrize("learner", ["quant", "quant-paper"])
@pytest.mark.parametrize(
    ("options", "equivalence"),
    [([], Quantization(1000)), (["--kappa", 3], Quantization(3)), (["--exact"], Exact())],
)
def test_it_writes_what_the_library_learns(
    learner: str, options: list[object], equivalence: Quantization | Exact, path: Path
) -> None:
    output = path.with_name("learnt.npz")
    run("learn", path, "-o", output, "--learner", learner, *options)
    assert (
        load(output) == pdfalearn.learn(load(path), equivalence=equivalence, learner=learner).pdfa
    )


def test_learners_are_those_of_the_library(path: Path) -> None:
    error = error_of("learn", path, "--learner", "lstar")
    names = [*LEARNERS, *SIMILARITY_LEARNERS]
    assert re.findall(r"'([\w-]+)'", error)[-len(names) :] == names


@pytest.mark.parametrize("learner", list(SIMILARITY_LEARNERS))
def test_rivals(learner: str, path: Path) -> None:
    if learner == "wlstar":
        need_module("sklearn")
    output = path.with_name("learnt.json")
    text = run("learn", path, "--learner", learner, "--tolerance", 0.05, "-o", output).stdout
    assert "learnt within 0.05" in text
    assert distinguish(load(path), load(output), equivalence=Tolerance(0.05)) is None
    given = run_json("learn", path, "--learner", learner, "--tolerance", 0.05)
    assert given["tolerance"] == 0.05
    assert given["statistics"]["structure_size"] > 0


def test_relations_have_to_fit_the_learner(path: Path) -> None:
    rival = ("learn", path, "--learner", "lpstar")
    assert "wlstar needs --tolerance" in error_of("learn", path, "--learner", "wlstar")
    assert "Only lpstar and wlstar" in error_of("learn", path, "--tolerance", 0.1)
    assert "--decimals" in error_of(*rival, "--tolerance", 0.1, "--decimals", 3)
    assert "no classification tree" in error_of(
        "learn", path, "--learner", "lpstar", "--tolerance", 0.1, "--tree", "tree.svg"
    )
    assert "only one" in error_of(*rival, "--tolerance", 0.1, "--kappa", 3)


def test_table(path: Path) -> None:
    output = path.with_name("learnt.json")
    lines = run("learn", path, "--kappa", 10, "-o", output).stdout.splitlines()
    assert lines[0] == f"{path}, learnt at kappa 10"
    assert lines[-1] == f"{output}: the learnt PDFA"
    rows = (line.strip("│").split("│") for line in lines if "│" in line)
    facts = {name.strip(): value.strip() for name, value in rows}
    assert float(facts.pop("seconds for learning")) >= 0
    assert float(facts.pop("seconds for equivalence")) >= 0
    assert facts["states"] == "4"
    assert facts["tree depth"] == facts["inner nodes"] == "2"
    assert facts["certificate"].startswith("exact: equivalent to the target under")  # goes on below
    statistics = pdfalearn.learn(load(path), equivalence=Quantization(10)).statistics
    assert facts["words asked"] == str(statistics.words)
    assert facts["batches"].startswith(f"{len(statistics.batches)} (median size ")


def test_json(path: Path) -> None:
    result = run_json("learn", path, "--kappa", 10, "--audit", 3, "--seed", 5)
    expected = pdfalearn.learn(load(path), equivalence=Quantization(10), audit=3, seed=5)
    statistics = result.pop("statistics")
    batches = statistics["batches"]
    assert batches["count"] == len(expected.statistics.batches)
    assert batches["largest"] == max(expected.statistics.batches)
    assert sum(size * count for size, count in batches["sizes"]) == statistics["distributions"]
    for name in ("states", "words", "symbols", "audited_words", "tree_depth", "inner_nodes"):
        assert statistics[name] == getattr(expected.statistics, name)
    history = result.pop("history")
    assert [progress["states"] for progress in history] == [p.states for p in expected.history]
    assert result == {
        "target": str(path),
        "kappa": 10,
        "learner": "quant",
        "seed": 5,
        "output": None,
        "tree": None,
        "store": None,
        "near_boundary": 8,
        "certificate": {
            "kind": "exact",
            "statement": "equivalent to the target under Quantization(kappa=10)",
            "equivalence": "Quantization(kappa=10)",
        },
        "states": 4,
        "notes": [],
    }


def test_access_words_when_asked_for(path: Path) -> None:
    result = run_json("learn", path, "--exact", "--access-words")
    assert result["kappa"] is None
    assert result["access_words"] == [[], ["0"], ["1"], ["0", "1"]]
    assert "--json" in error_of("learn", path, "--access-words")


def test_trees(path: Path) -> None:
    for ending, begin in {".dot": "digraph", ".svg": "<?xml"}.items():
        tree = path.with_name(f"tree{ending}")
        text = run("learn", path, "--kappa", 10, "--tree", tree).stdout
        assert text.endswith(f"{tree}: the classification tree\n")
        assert tree.read_text().startswith(begin)


def test_a_picture_of_the_tree(path: Path) -> None:
    need_program("dot")
    tree = path.with_name("tree.svg")
    assert run_json("learn", path, "--kappa", 10, "--tree", tree)["tree"] == str(tree)
    assert "(1, 6, 3)" in tree.read_text()
