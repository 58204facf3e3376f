"""The report: one page that needs nothing else, and figures."""

from __future__ import annotations

import base64
import csv
import re
import sys
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from math import inf
from pathlib import Path
from statistics import median
from typing import Any
from xml.etree import ElementTree

import pytest

from pdfalearn import save
from pdfalearn.datasets import random_pdfa
from pdfalearn.errors import FileFormatError, InputError, MissingExtraError
from pdfalearn.experiments import run_experiments, write_report
from pdfalearn.experiments.findings import AUTHORS, STYLES, Published, findings, perplexity_ratio
from pdfalearn.experiments.plans import LEARNER_NAMES
from pdfalearn.experiments.runs import OURS, read_runs
from tests.experiments.small import rows_of, run_small, write_rows
from tests.support import need_module, paper_data

FIGURES = (
    *("exp1-time", "exp1-structure", "exp1-speed-up", "exp2-time", "exp2-structure"),
    *("exp3-time", "exp3-structure", "exp4-time", "exp4-structure", "exp5-time", "exp5-structure"),
)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small results of all experiments."""
    folder = tmp_path_factory.mktemp("results")
    learners = ["quant", "lpstar"]
    for number, values in ((1, [10, 20]), (2, [2, 3]), (3, [10, 20]), (5, [8, 16])):
        run_experiments(str(number), folder, values=values, learners=learners)
    run_experiments("4", folder, values=[30, 60])
    return folder


@pytest.fixture(scope="module")
def page(results: Path) -> str:
    need_module("matplotlib")
    return write_report(results).page.read_text(encoding="utf-8")


class Checker(HTMLParser):
    """Notes what a page holds, and that its tags are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def checked(page: str) -> Checker:
    checker = Checker()
    checker.feed(page)
    assert not checker.open
    return checker


def text_of(page: str) -> str:
    """What a reader sees, without the figures."""
    body = page[page.index("<body>") :]
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", body)))


@pytest.mark.slow
def test_the_page_needs_nothing_else(page: str) -> None:
    checker = checked(page)
    assert not {"script", "link", "iframe", "object"} & {*checker.tags}
    sources = [value or "" for name, value in checker.attributes if name in ("src", "href")]
    assert len(sources) == len(FIGURES)
    assert all(source.startswith("data:image/svg+xml;base64,") for source in sources)
    assert "http" not in page
    assert "url(" not in page
    for source in sources:
        root = ElementTree.fromstring(base64.b64decode(source.partition(",")[2]))  # noqa: S314
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
    alternatives = [value for name, value in checker.attributes if name == "alt"]
    assert len(alternatives) == len(set(alternatives)) == len(FIGURES)


@pytest.mark.slow
def test_figures_are_beside_the_page(results: Path) -> None:
    need_module("matplotlib")
    report = write_report(results)
    assert {path.name for path in report.figures} == {
        f"{name}.{kind}" for name in FIGURES for kind in ("svg", "png")
    }
    for path in report.figures:
        begin = path.read_bytes()[:8]
        assert begin == (b"\x89PNG\r\n\x1a\n" if path.suffix == ".png" else b"<?xml ve")


@pytest.mark.slow
def test_the_same_runs_give_the_same_files(results: Path) -> None:
    need_module("matplotlib")
    contents = [
        [path.read_bytes() for path in (report.page, *report.figures)]
        for report in (write_report(results), write_report(results))
    ]
    assert contents[0] == contents[1]


@pytest.mark.slow
def test_the_page_says_what_has_come_out(page: str, results: Path) -> None:
    text = text_of(page)
    runs = read_runs(results)
    assert f"All {len(runs)} runs are perfect in all metrics" in text
    assert "the speed-up of QuaNT over L_p* has the slope" in text
    assert "The paper reports 0.2." in text
    assert re.search(r"to \d+ states the time of QuaNT goes like n", text)
    assert "over states of the target (actual size)." in text
    assert "over number of distributions d." in text
    assert "Plain QuaNT" in text
    assert "cells of the observation table, prefixes times suffixes" in text
    assert "nodes of the classification tree" in text
    assert "the actual ones, which are the reachable states" in text
    for number in range(1, 6):
        assert f"Experiment {number}: " in text
    assert "author" not in text


@pytest.mark.slow
def test_tables_have_the_medians(page: str, results: Path) -> None:
    runs = read_runs(results).values()
    sizes = sorted({run.target_states for run in runs if run.target.startswith("n20-")})
    assert f"{sizes[0]}–{sizes[-1]}" in page
    group = [run for run in runs if (run.experiment, run.kappa) == (3, 20)]
    middle = median(run.words for run in group if run.learner == "quant")
    assert f">{middle:,.0f}</td>" in page
    assert "word error rate" in page
    assert "NDCG" in page


def test_sentences_follow_the_figures() -> None:
    def said(*seconds: float) -> str:
        observations = [
            Published(1, n, learner, n, s, 1, 1, OURS)
            for n, s in zip((100, 200), seconds, strict=True)
            for learner, s in (("quant", 1.0), ("lpstar", s))
        ]
        return " ".join(findings([], observations))

    assert "has the slope 0.1 over n. The paper" in said(10.0, 20.0)
    assert "QuaNT is 10 to 20 times as fast" in said(10.0, 20.0)
    assert "has the slope -0.1 over n. The paper" in said(20.0, 10.0)
    assert "QuaNT is 10 times as fast" in said(10.0, 10.001)


@pytest.mark.slow
@pytest.mark.parametrize("are_given", [False, True])
def test_runs_that_are_not_there_are_counted(are_given: bool, tmp_path: Path) -> None:
    need_module("matplotlib")
    folder = tmp_path / "results"
    (tmp_path / "exp1").mkdir()
    for number in range(2):
        save(random_pdfa(5, seed=number), tmp_path / "exp1" / f"n5-{number}.json")
    run_small(folder, targets=tmp_path if are_given else None)
    page, runs = folder / "report.html", 4 if are_given else 6
    write_report(folder)
    assert "runs are there" not in page.read_text(encoding="utf-8")
    write_rows(folder, rows_of(folder)[:-1])
    write_report(folder)
    assert f"{runs - 1} of {runs} runs are there." in page.read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        {"ndcg": 0.99},
        {"word_error_rate": 0.01},
        {"out_of_tolerance": 0.5},
        {"certificate": "stopped"},
    ],
)
def test_what_is_not_perfect_is_told(change: dict[str, Any], finished: Path) -> None:
    need_module("matplotlib")
    first, *others = rows_of(finished)
    write_rows(finished, [first | change, *others])
    text = text_of(write_report(finished).page.read_text(encoding="utf-8"))
    assert "Of 6 runs, 1 are not perfect in all metrics" in text
    assert str(next(iter(change.values()))) in text


@pytest.mark.parametrize(
    ("target", "learnt", "ratio"),
    [(2, 4, 2), (4, 2, 2), (3, 3, 1), (inf, inf, 1), (inf, 2, inf), (2, inf, inf)],
)
def test_perplexities_are_compared_both_ways(
    target: float, learnt: float, ratio: float, finished: Path
) -> None:
    first, *_ = read_runs(finished).values()
    run = replace(first, target_perplexity=float(target), perplexity=float(learnt))
    assert perplexity_ratio(run) == ratio


@pytest.mark.slow
def test_what_is_named_by_others_is_escaped(finished: Path) -> None:
    need_module("matplotlib")
    write_rows(finished, [row | {"certificate": "<b>&"} for row in rows_of(finished)])
    page = write_report(finished).page.read_text(encoding="utf-8")
    checked(page)
    assert "&lt;b&gt;&amp;" in page


@pytest.mark.slow
def test_the_page_says_how_it_was_run_as_far_as_that_is_known(finished: Path) -> None:
    need_module("matplotlib")
    text = text_of(write_report(finished).page.read_text(encoding="utf-8"))
    described = "3 random targets for each value (seed 0), 2 runs of each learner on each: n = 5."
    assert described in text
    assert "Python" in text
    (finished / "parameters.json").unlink()
    assert "random targets for each" not in text_of(
        write_report(finished).page.read_text(encoding="utf-8")
    )


PUBLISHED: dict[str, list[dict[str, object]]] = {
    "experiment-1-older.csv": [{"Number of States": 11, "Time (s)": 7777.0}],
    "experiment-1-younger.csv": [
        {"Number of States": 101, "Time (s)": 123.0},
        {"Number of States": 98, "Time (s)": 125.0},
        {"Number of States": 99, "Time (s)": 321.0, "Algorithm": "WLStarLearner"},
        {"Number of States": 99, "Time (s)": 9999.0, "Algorithm": "SomeOtherLearner"},
    ],
    "notes.csv": [{"Number of States": 11, "Time (s)": 8888.0}],
}


def put_published(folder: Path, change: dict[str, object] | None = None) -> Path:
    """Write results as the authors' program does, which are not the authors'."""
    common = {
        "Algorithm": "QuantNaryTreeLearner",
        "Instance": "PDFA - 0",
        "Extracted Number of States": 10,
        "EquivalenceQuery": 41,
        "OT Prefixes": "21.0",
        "OT Suffixes": "3.0",
        "Inner Nodes": "5.0",
    }
    folder.mkdir()
    for name, rows in PUBLISHED.items():
        with (folder / name).open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, [*common, "Number of States", "Time (s)"])
            writer.writeheader()
            writer.writerows([common | row | (change or {}) for row in rows])
    return folder


@pytest.mark.slow
def test_published_medians_stand_beside_ours(tmp_path: Path) -> None:
    need_module("matplotlib")
    run_small(tmp_path / "results", values=[100], learners=["quant", "lpstar"])
    published = put_published(tmp_path / "published")
    text = text_of(write_report(tmp_path / "results", published=published).page.read_text("utf-8"))
    assert "authors' time" in text
    assert " 124 " in text  # the median of 123 and 125
    assert " 321 " in text
    assert " 16 " in text  # leaves, inner nodes and root
    assert " 63 " in text  # prefixes times suffixes
    assert "by the authors' runs" in text
    for absent in ("7,777", "8,888", "9,999"):
        assert absent not in text


def test_the_authors_medians_are_those_that_they_have_published() -> None:
    from pdfalearn.experiments.findings import medians, read_published

    rows = read_published(paper_data() / "paper-results")
    found = {
        number: medians([row for row in rows if row.experiment == number], "value", "seconds")
        for number in range(1, 6)
    }
    assert found[1][AUTHORS, "quant"][1] == pytest.approx([0.28, 1.15, 2.70], rel=0.01)
    assert found[1][AUTHORS, "lpstar"][1] == pytest.approx([2.60, 32.2, 131.7], rel=0.01)
    assert found[3][AUTHORS, "quant"][1] == pytest.approx(
        [13.9, 3.78, 2.71, 2.67, 2.71, 2.77], rel=0.01
    )
    assert found[4][AUTHORS, "quant"][0] == [1000, 2000, 5000]
    assert found[4][AUTHORS, "quant"][1] == pytest.approx([41.9, 212, 2336], rel=0.01)
    assert found[5][AUTHORS, "quant"][0] == [2, 4, 6, 8, 10, 12, 14, 16]
    assert found[2][AUTHORS, "lpstar"][1] == pytest.approx([2.47, 5.67, 9.14, 7.22, 15.9], rel=0.01)


def test_published_results_that_are_none_are_refused(finished: Path, tmp_path: Path) -> None:
    need_module("matplotlib")
    with pytest.raises(InputError, match="holds no published results"):
        write_report(finished, published=tmp_path)
    bad = put_published(tmp_path / "bad", {"Time (s)": "soon"})
    with pytest.raises(FileFormatError, match=r"experiment-1-younger\.csv: .*soon"):
        write_report(finished, published=bad)
    instant = put_published(tmp_path / "instant", {"Time (s)": "0"})
    with pytest.raises(FileFormatError, match=r"younger\.csv: .*0\.0 s"):
        write_report(finished, published=instant)
    strange = put_published(tmp_path / "strange")
    (strange / "experiment-1-younger.csv").write_bytes(b"Algorithm\n\xff\n")
    with pytest.raises(FileFormatError, match=r"younger\.csv: not the authors' results"):
        write_report(finished, published=strange)


def test_a_folder_without_runs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"runs\.jsonl holds no runs; run experiments first"):
        write_report(tmp_path)


def test_matplotlib_is_an_extra(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"pip install matplotlib$"):
        write_report(finished)
    assert not (finished / "report.html").exists()


def test_every_learner_has_a_name_and_a_style_of_its_own() -> None:
    assert set(STYLES) == set(LEARNER_NAMES)
    styles = STYLES.values()
    for looks in (set(looks) for looks in zip(*styles, strict=True)):
        assert len(looks) == len(STYLES)
