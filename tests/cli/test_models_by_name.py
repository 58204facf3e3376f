"""One way to name a model, for every command that takes one."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

import pytest

from pdfalearn import PDFA, LanguageModel, Quantization, distinguish, load, save
from pdfalearn.cli._chosen import Chosen
from pdfalearn.cli._models import is_llm, model_of
from pdfalearn.cli.models import KINDS
from pdfalearn.datasets import random_pdfa
from tests.cli.black_boxes import BESIDE, NAMED
from tests.cli.program import error_of, run, run_json, run_program
from tests.cli.test_help_examples import MODULE, SHOP, examples_of
from tests.support import need_module

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    save(random_pdfa(8, seed=1), tmp_path / "target.json")
    save(random_pdfa(8, seed=2), tmp_path / "other.json")
    (tmp_path / "named.py").write_text(NAMED)
    (tmp_path / "beside.py").write_text(BESIDE)
    for name in ("named", "beside"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


BOTH = ["learn", "evaluate", "sample"]
MODELS = ["own", "called", "make_model", "make_with_default", "maker", "Own", "either"]
FUNCTIONS = ["ask", "make_function", "words_of", "partly", "either"]
AUTOMATA = ["target", "make_pdfa", "automaton"]


def outcome(command: str, *named: str) -> dict[str, object]:
    """Run a command on a model; return what it says of the model itself."""
    options = {
        "learn": ["--kappa", "100", "--oracle", "pac", "--epsilon", "0.05"],
        "evaluate": ["--words", "50", "--max-length", "20"],
        "sample": ["--max-length", "20", "--seed", "0"],
    }
    model, *more = named
    second = ["target.json"] if command == "evaluate" else []
    found = run_json(command, model, *second, *more, *options[command])
    kept = {"learn": ["states"], "sample": ["words", "cut"], "evaluate": ["over_prefixes"]}
    return {name: found[name] for name in kept[command]}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command", BOTH)
@pytest.mark.parametrize("place", ["named.py", "./named.py", "named"])
def test_every_kind_in_every_command(place: str, command: str) -> None:
    expected = outcome(command, "target.json")
    for name in [*MODELS, *AUTOMATA]:
        assert outcome(command, f"{place}:{name}") == expected, name
    for name in FUNCTIONS:
        assert outcome(command, f"{place}:{name}", "--alphabet", "01") == expected, name


@pytest.mark.usefixtures("folder")
def test_files_of_other_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = outcome("sample", "target.json")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    save(random_pdfa(8, seed=1), "target.json")
    assert outcome("sample", "../named.py:make_model") == expected
    assert outcome("sample", f"{tmp_path}/named.py:target") == expected
    Path("odd:name.json").write_bytes(Path("target.json").read_bytes())
    assert outcome("sample", "odd:name.json") == expected


@pytest.mark.usefixtures("folder")
def test_a_file_is_executed_once_unless_it_changes(folder: Path) -> None:
    counting = "with open('log', 'a') as log:\n    log.write('x')\n"
    (folder / "counting.py").write_text(counting + NAMED)
    run("evaluate", "counting.py:own", "counting.py:ask", "--alphabet", "01", "--words", 5)
    assert Path("log").read_text() == "x"
    (folder / "counting.py").write_text("own = 1\n")
    assert "own is 1" in error_of("sample", "counting.py:own")


@pytest.mark.usefixtures("folder")
def test_evaluate_takes_models_on_both_sides() -> None:
    common = ("--words", 50, "--max-length", 9, "--seed", 3)
    expected = run_json("evaluate", "target.json", "other.json", *common)
    found = run_json("evaluate", "named.py:ask", "other.json", *common, "--alphabet", "01")
    assert found == expected | {"a": "named.py:ask"}
    expected = run_json("evaluate", "other.json", "target.json", *common)
    found = run_json("evaluate", "other.json", "named.py:own", *common)
    assert found == expected | {"b": "named.py:own"}
    found = run_json("evaluate", "named.py:ask", "named.py:words_of", *common, "--alphabet", "01")
    assert found["over_prefixes"]["l1"] == 0
    Path("words.txt").write_text(
        run("sample", "named.py:own", "--max-length", 9, "--seed", 0).stdout
    )
    assert (
        run_json("evaluate", "named.py:own", "other.json", "--corpus", "words.txt")["words"] == 10
    )


@pytest.mark.usefixtures("folder")
def test_constraints_where_a_model_is_taken() -> None:
    need_module("interegular")
    words = run_json("sample", "named.py:own", "--guide", "(01)*", "--count", 30, "--seed", 0)[
        "words"
    ]
    assert words
    assert all("".join(word) == "01" * (len(word) // 2) for word in words)
    for model in ("target.json", "named.py:own", "named.py:automaton"):
        run("learn", model, "--top-k", 2, "--kappa", 100, "-o", "learnt.json")
        found = run_json("evaluate", model, "learnt.json", "--top-k", 2, "--kappa", 100)
        assert found["over_prefixes"]["difference"] == 0
        assert run_json("evaluate", model, "learnt.json")["over_prefixes"]["l1"] > 0.01


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", ["target.json", "named.py:make_pdfa", "named:automaton"])
def test_commands_that_look_into_automata(name: str) -> None:
    assert "yes" in run("compare", name, "target.json").stdout
    assert run_json("compare", "other.json", name, exit_code=1)["b"] == name
    found, expected = run_json("info", name), run_json("info", "target.json")
    assert found == expected | {"file": name}
    run("quotient", name, "-o", "small.json", "--kappa", 10)
    run("convert", name, "-o", "copy.npz")
    run("draw", name, "-o", "picture.dot")
    assert load("copy.npz") == load("target.json")
    assert (
        distinguish(load("small.json"), load("target.json"), equivalence=Quantization(10)) is None
    )
    assert run_json("evaluate", name, "target.json", "--all-words")["over_prefixes"]["l1"] == 0


@pytest.mark.usefixtures("folder")
def test_where_only_an_automaton_will_do() -> None:
    remedy = "named.py:own is a model that can only be asked"
    assert remedy in error_of("compare", "target.json", "named.py:own")
    assert "pdfalearn evaluate" in error_of("compare", "named.py:own", "target.json")
    assert remedy in error_of("info", "named.py:own")
    assert remedy in error_of("quotient", "named.py:own", "-o", "x.json")
    assert remedy in error_of("convert", "named.py:own", "-o", "x.json")
    assert remedy in error_of("draw", "named.py:own", "-o", "x.dot")
    for models in (["named.py:own", "target.json"], ["target.json", "named.py:own"]):
        assert "named.py:own can only be asked" in error_of("evaluate", *models, "--all-words")
    constrained = error_of("evaluate", "target.json", "other.json", "--all-words", "--top-k", 1)
    assert "target.json can only be asked" in constrained


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command", BOTH)
@pytest.mark.parametrize(
    ("name", "culprit"),
    [
        ("named.py", "name a model in it, as named.py:make_model"),
        ("missing.py:model", "missing.py: there is no such file"),
        ("named.py:nothing", "has no 'nothing'"),
        ("named.py:ask", "say with --alphabet"),
        ("named.py:make_function", "say with --alphabet"),
        ("named.py:network", "RecurrentModel"),
        ("named.py:make_network", "RecurrentModel"),
        ("named.py:make_nothing", "make_nothing() returned None"),
        ("named.py:make_class", "name an object of the class"),
        ("named.py:make_nothing_well", "failed with SystemExit: no server, line "),
        ("nowhere:model", "no module 'nowhere'"),
        ("named.py:", "named.py:"),
        (":own", ":own"),
    ],
)
def test_names_that_lead_nowhere(name: str, culprit: str, command: str) -> None:
    second = ["target.json"] if command == "evaluate" else []
    assert culprit in error_of(command, name, *second)


@pytest.mark.usefixtures("folder")
def test_an_alphabet_is_for_functions() -> None:
    for name in ("target.json", "named.py:own", "named.py:make_model", "torch:named.py:make_model"):
        assert f"{name} has its own" in error_of("sample", name, "--alphabet", "01")
        assert "has its own" in error_of("evaluate", name, "other.json", "--alphabet", "01")


@pytest.mark.usefixtures("folder")
def test_what_a_model_is_made_of() -> None:
    assert isinstance(model_of("named.py:make_pdfa", Chosen()), PDFA)
    own, top = (model_of(name, Chosen()) for name in ("named.py:own", "named.py:top"))
    assert isinstance(own, LanguageModel)
    assert isinstance(top, LanguageModel)
    assert own.fingerprint is None
    learnt = run_json("learn", "named.py:top", "--kappa", 10)
    assert "walks over the automaton's support" in learnt["certificate"]["statement"]


def test_the_samples_of_a_model_are_those_of_its_automaton(folder: Path) -> None:
    for options in (["--count", 300, "--max-length", 3], ["--max-length", 0], []):
        expected = run("sample", "target.json", *options, "--seed", 5).stdout
        assert run("sample", "named.py:own", *options, "--seed", 5).stdout == expected
    for option, culprit in (("--count", "count -1"), ("--max-length", "max_length -1")):
        assert culprit in error_of("sample", "named.py:own", option, -1)
    assert run("sample", "named.py:own", "--count", 0).stdout == ""


@pytest.mark.slow
def test_what_a_model_prints_is_not_part_of_the_output(folder: Path) -> None:
    loud = NAMED.replace(
        "    def answer(self, batch):\n", "    def answer(self, batch):\n        print(1)\n"
    )
    (folder / "loud.py").write_text(f"print('hello')\n{loud}")
    expected = run_program("sample", "target.json", "--seed", 1, folder=folder).stdout
    done = run_program("sample", "loud.py:own", "--seed", 1, folder=folder)
    assert (done.returncode, done.stdout) == (0, expected)
    assert done.stderr.startswith("hello\n1\n")
    done = run_program("evaluate", "loud.py:own", "target.json", "--json", folder=folder)
    assert (done.returncode, done.stdout.count("\n")) == (0, 1)


def test_the_page_of_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run("random", 12, "-o", "target.json")
    save(PDFA(alphabet="ab", transitions=[[0, 0]], probabilities=[[0.4, 0.3, 0.3]]), "learnt.json")
    for name in ("my_file", "my_module", "my_network"):
        Path(f"{name}.py").write_text(MODULE)
    Path("shop.py").write_text(SHOP)
    shutil.copy(EXAMPLES / "programs" / "parity.py", "my_program")
    text = run("models").stdout
    assert run_json("models") == {"models": [kind._asdict() for kind in KINDS]}
    for kind in KINDS:
        assert f"{kind.name}\n    {kind.what}\n    $ {kind.example}\n" in text
        program, *words = shlex.split(kind.example)
        assert program == "pdfalearn"
        if words[0] == "evaluate":
            words[2] = "my_module:make_model"
        if not is_llm(kind.name):
            run(*words)
    assert all(len(line) <= 100 for line in text.splitlines())
    assert examples_of("models")
