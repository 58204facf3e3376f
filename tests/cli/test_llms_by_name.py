"""LLMs in local folders and behind servers, named on the command line."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from examples.served_automaton import AutomatonLLM, CompletionsServer
from pdfalearn import PDFA, LanguageModel, Quantization, TransformerModel, distinguish, load
from pdfalearn.cli._chosen import Chosen
from pdfalearn.cli._models import is_llm, model_of
from pdfalearn.cli.models import KINDS
from pdfalearn.datasets import random_pdfa
from pdfalearn.models.opened import ask_words
from pdfalearn.samplers import Words
from tests.cli.llms import save_tiny_llm
from tests.cli.program import error_of, run, run_json
from tests.cli.test_help_examples import examples_of
from tests.models.served.servers import renamed, spelled_target
from tests.support import mostly_slow, need_module

OPTIONS = ("--vocabulary", "sides.txt", "--prompt", "the coin shows")
SIDES = [" heads", " tails"]


@pytest.fixture(scope="module")
def llm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("llms") / "my_llm"
    save_tiny_llm(folder)
    return folder


@pytest.fixture
def folder(llm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("my_llm").symlink_to(llm)
    Path("sides.txt").write_text(" heads\n tails\n\n")
    return tmp_path


@pytest.fixture(scope="module")
def target() -> PDFA:
    return spelled_target(6, seed=3)


@pytest.fixture
def server(folder: Path, target: PDFA) -> Iterator[str]:
    need_module("httpx")
    Path("symbols.txt").write_text("".join(f"{text}\n" for text in target.alphabet.symbols))
    with CompletionsServer(AutomatonLLM(target)) as running:
        yield f"served:{running.url}#automaton"


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("options", "meant"),
    [
        ({}, {}),
        ({"prompt": "a coin"}, {"prompt": "a coin"}),
        ({"prompt": "a coin", "chat": True}, {"prompt": "a coin", "chat": True}),
        ({"ends": ("rest",)}, {"ends": "rest"}),
        ({"ends": (".", "[7, 9]", "\n")}, {"ends": [".", 7, 9, "\n"]}),
    ],
)
def test_options_mean_what_arguments_mean(
    options: dict[str, object], meant: dict[str, object]
) -> None:
    given = Chosen(vocabulary=Path("sides.txt"), **options)
    found = model_of("hf:my_llm", given)
    expected = TransformerModel("my_llm", None, SIDES, **meant)  # type: ignore[arg-type]
    assert isinstance(found, LanguageModel)
    assert found.fingerprint == expected.fingerprint
    assert found.alphabet == expected.alphabet


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_every_command_takes_a_folder() -> None:
    model = TransformerModel("my_llm", None, SIDES, prompt="the coin shows")
    named = ("hf:my_llm", *OPTIONS)
    learning = ("--kappa", 4, "--oracle", "words", "--max-length", 3)
    learnt = run_json("learn", *named, *learning, "-o", "learnt.json")
    assert learnt["certificate"]["outside"]["distributions"] == learnt["statistics"]["words"]
    words = [(), (0,), (1, 0), (1, 1, 0)]
    rows = ask_words(model, Words.of(words))
    pdfa = load("learnt.json")
    assert isinstance(pdfa, PDFA)
    found = pdfa.next_distributions([pdfa.alphabet.decode(word) for word in words])
    same = Quantization(4).keys(found) == Quantization(4).keys(rows.to_dense())
    assert same.all()
    drawn = run_json("sample", *named, "--count", 20, "--max-length", 4, "--seed", 0)["words"]
    assert {symbol for word in drawn for symbol in word} == set(SIDES)
    evaluated = run_json(
        "evaluate", "hf:my_llm", "learnt.json", *named[1:], "--words", 20, "--max-length", 3
    )
    assert evaluated["over_prefixes"]["l1"] < 0.5
    frontier = run_json("distill", *named, "--symbols", 100, "--max-length", 5)
    assert frontier["certificate"]["outside"]["largest"] <= 1
    run("refit", "learnt.json", *named, "--symbols", 50, "-o", "fitted.json")
    assert load("fitted.json") != pdfa


@pytest.mark.usefixtures("folder")
def test_a_guide_and_a_store() -> None:
    need_module("interegular")
    named = ("hf:my_llm", *OPTIONS, "--ends", "rest", "--guide", "( heads| tails){2}")
    first = run_json("learn", *named, "--store", "answers.db", "-o", "one.json")
    again = run_json("learn", *named, "--store", "answers.db", "-o", "two.json")
    assert first["statistics"]["words"] > 0
    assert again["statistics"]["words"] == 0
    assert load("one.json") == load("two.json")
    other = run_json("learn", *named, "--prompt", "a coin", "--store", "answers.db")
    assert other["statistics"]["words"] > 0


@pytest.mark.slow
def test_every_command_takes_a_server(server: str, target: PDFA) -> None:
    named = (server, "--vocabulary", "symbols.txt", "--prompt", "A word:", "--ends", "<end>")
    run("learn", *named, "--kappa", 20, "--oracle", "words", "--max-length", 4, "-o", "learnt.json")
    learnt = load("learnt.json")
    assert isinstance(learnt, PDFA)
    assert distinguish(learnt, target, equivalence=Quantization(20)) is None
    words = run_json("sample", *named, "--count", 10, "--max-length", 6, "--seed", 0)["words"]
    assert len(words) == 10
    options = (*named[1:], "--words", 10, "--max-length", 6, "--kappa", 20)
    evaluated = run_json("evaluate", server, "learnt.json", *options)
    assert evaluated["over_prefixes"]["difference"] == 0
    assert run_json("distill", *named, "--words", 60)["points"]
    run("refit", "learnt.json", *named, "--symbols", 50, "-o", "fitted.json")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("command", mostly_slow(["learn", "distill", "evaluate", "sample"]))
def test_examples_in_the_help_run(command: str, llm: Path) -> None:
    need_module("interegular")
    Path("digits.txt").symlink_to(llm.parent / "digits.txt")
    run("random", 3, "--symbols", 10, "-o", "numbers.json")
    found = [example for example in examples_of(command) if "hf:my_llm" in example]
    assert found
    for example in found:
        run(*example)


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_examples_on_the_page_of_models_run(llm: Path) -> None:
    need_module("httpx")
    Path("digits.txt").symlink_to(llm.parent / "digits.txt")
    local, served = (shlex.split(kind.example)[1:] for kind in KINDS if is_llm(kind.name))
    run(*local)
    digits = renamed(random_pdfa(4, 10, seed=1), "0123456789")
    with CompletionsServer(AutomatonLLM(digits)) as server:
        assert served[1] == "served:http://127.0.0.1:8000#my-llm"
        run(served[0], f"served:{server.url}#automaton", *served[2:])


@pytest.mark.usefixtures("folder")
def test_names_texts_and_tokens_in_a_vocabulary() -> None:
    Path("sides.txt").write_text("heads\t heads\r\nseven\t[7]\n[x]\n")
    spelled = TransformerModel("my_llm", None, {"heads": " heads", "seven": [7], "[x]": "[x]"})
    given = Chosen(vocabulary=Path("sides.txt"))
    found = model_of("hf:my_llm", given)
    assert isinstance(found, LanguageModel)
    assert found.alphabet.symbols == ("heads", "seven", "[x]")
    assert found.fingerprint == spelled.fingerprint


@pytest.mark.usefixtures("folder")
def test_a_space_at_the_end_of_a_prompt_is_noted() -> None:
    done = run(
        "sample", "hf:my_llm", *OPTIONS[:2], "--prompt", "a coin ", "--max-length", 2, "--seed", 0
    )
    assert done.stderr.startswith("note: the prompt ends in a space")
    assert done.stderr.count("\n") == 1


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("lines", "culprit"),
    [
        ("", "sides.txt is empty"),
        (" heads\n heads\n", "line 2: the symbol ' heads' is there twice"),
        ("heads\t\n", "line 1: a name, a tab, and a text or tokens are needed"),
        ("\t heads\n", "line 1: a name"),
        ("heads\t[1, ]\n", "[1, ] is not a list of tokens"),
        ("heads\t[]\n", "give it one or more ids"),
        ("heads\t[4000]\n", "needs token 4000"),
        ("one\t heads\ntwo\t heads\n", "have the same tokens"),
    ],
)
def test_bad_vocabularies(lines: str, culprit: str) -> None:
    Path("sides.txt").write_text(lines)
    assert culprit in error_of("sample", "hf:my_llm", *OPTIONS)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        (["hf:my_llm"], "an LLM needs --vocabulary FILE"),
        (["hf:my_llm", "--vocabulary", "missing.txt"], "missing.txt: No such file"),
        (["hf:nowhere", *OPTIONS], "nowhere"),
        (["hf:", *OPTIONS], "hf:FOLDER"),
        (["served:", *OPTIONS], "served:URL#MODEL"),
        (["served:http://me:secret@127.0.0.1#m", *OPTIONS], "has a user"),
        (["served:http://127.0.0.1:8000", *OPTIONS], "served:URL#MODEL"),
        (["served:ftp://127.0.0.1#m", *OPTIONS], "is not that of a server"),
        (["hf:my_llm", *OPTIONS, "--ends", "heads and tails"], "an end has one"),
        (["hf:my_llm", *OPTIONS, "--ends", "rest", "--ends", "."], "give no other end"),
        (["hf:my_llm", *OPTIONS, "--alphabet", "ab"], "hf:my_llm has its own"),
    ],
)
def test_names_and_options_that_lead_nowhere(arguments: list[str], culprit: str) -> None:
    message = error_of("sample", *arguments)
    assert culprit in message
    assert "secret" not in message


@pytest.mark.usefixtures("folder")
def test_where_only_an_automaton_will_do() -> None:
    assert "hf:my_llm is a model that can only be asked" in error_of("info", "hf:my_llm")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("option", ["--vocabulary x", "--prompt x", "--chat", "--ends x"])
def test_options_of_llms_are_for_llms(option: str) -> None:
    run("random", 5, "-o", "target.json")
    message = error_of("sample", "target.json", *option.split())
    assert message.startswith(f"{option.split()[0]} is for LLMs")
    assert "needs a SOURCE" in error_of("refit", "target.json", "-o", "x.json", *option.split())


def test_a_server_that_has_another_model(server: str) -> None:
    options = ("--vocabulary", "symbols.txt", "--ends", "<end>")
    assert "gpt" in error_of("sample", server.replace("#automaton", "#gpt"), *options)
    assert "http" in error_of("sample", "served:http://127.0.0.1:9#automaton", *options)
