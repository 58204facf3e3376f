"""A served LLM over its whole vocabulary: what is told is sound, what is not stays in the gap."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from examples.served_automaton import CompletionsServer
from pdfalearn import Answers, Budget, drift, explore
from pdfalearn.errors import InputError, ModelError
from pdfalearn.models import Batch, ServedAnswers
from tests.cli.program import error_of, run_json
from tests.exploring.cases import tiny_llm
from tests.support import need_module

LANGUAGES = {"low": "[a-m]", "e": ".*e"}
NEARLY = 1e-5


class ServedNetwork:
    """A transformer as it is served."""

    name, context = "llm", 40

    def __init__(self, network: Any, tokenizer: Any) -> None:
        self._network, self._tokenizer = network, tokenizer

    def tokens(self, text: str, *, special: bool) -> list[int]:
        return list(self._tokenizer.encode(text, add_special_tokens=special))

    def log_probabilities(self, tokens: Sequence[int]) -> NDArray[np.float64]:
        import torch

        with torch.no_grad():
            logits = self._network(torch.tensor([list(tokens)])).logits[0, -1].double()
        return np.asarray(logits.log_softmax(dim=-1).numpy())


@pytest.fixture(scope="module")
def llm() -> tuple[Any, Any]:
    for name in ("torch", "transformers", "tokenizers", "httpx", "interegular"):
        need_module(name)
    from tests.models.transformers_tokenizers import byte_tokenizer

    tokenizer = byte_tokenizer()
    return tiny_llm(len(tokenizer), 4), tokenizer


@pytest.mark.slow
@pytest.mark.parametrize("most", [10**6, 20, 5])
def test_what_is_told_is_sound(llm: tuple[Any, Any], most: int, tmp_path: Path) -> None:
    network, tokenizer = llm
    network.save_pretrained(tmp_path)  # with its own end tokens
    tokenizer.save_pretrained(tmp_path)
    known = explore(Answers(network, tokenizer, prompt="heads or"), LANGUAGES, within=3, gap=1e-3)
    with CompletionsServer(ServedNetwork(*llm)) as server:
        server.most_likeliest = most
        served = ServedAnswers(server.url, "llm", tmp_path, prompt="heads or")
        assert served.top == min(most, len(tokenizer))
        budget = Budget(max_words=60)
        asked = explore(served, LANGUAGES, within=3, gap=1e-3, budget=budget)
        for name in LANGUAGES:
            assert asked[name].low <= known[name].high + NEARLY
            assert known[name].low <= asked[name].high + NEARLY
        if most > len(tokenizer):
            assert asked.open["untold"] == 0
            local = Answers(network, tokenizer, prompt="heads or")
            again = explore(local, LANGUAGES, within=3, gap=1e-3, budget=budget)
            assert asked.low == pytest.approx(again.low, abs=NEARLY)
            same = drift(served, local, LANGUAGES, within=1, gap=0.01, budget=budget)
            assert same.low <= NEARLY
        else:
            assert asked.open["untold"] > 0.1
            assert "untold" in str(asked)
            with pytest.raises(InputError, match="did not tell all"):
                asked.sample(1)
        assert "told" in repr(served)


@pytest.mark.slow
def test_the_command_line_asks_servers(
    llm: tuple[Any, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for part in llm:
        part.save_pretrained("llm")
    with CompletionsServer(ServedNetwork(*llm)) as server:
        server.most_likeliest = 10**6
        served = f"served:{server.url}#llm"
        asked = ("--prompt", "heads or", "--class", "low=[a-m]", "--class", "e=e", "--begins")
        folder = ("--tokenizer", "llm")
        found = run_json("ask", "answers", served, *folder, *asked, "--save", "march.jsonl")
        local = run_json("ask", "answers", "hf:llm", *asked)
        for name in ("low", "e"):
            assert found["classes"][name] == pytest.approx(local["classes"][name], abs=NEARLY)
        for pair in (("hf:llm", served, *asked), ("march.jsonl", served)):
            same = run_json("drift", *pair, *folder, "--tolerance", "0.02")
            assert same["verdict"] is True
        few = ("--prompt", "heads or", "--max-words", "20")
        one = run_json("ask", "probability", served, "e.*", *few, *folder)
        assert one["low"] <= found["classes"]["e"]["high"] + NEARLY
        server.most_likeliest = 20
        part = run_json("ask", "answers", served, *folder, *asked)
        assert part["open"]["untold"] > 0.1
        for wrong, message in (
            ((served, *asked), "give --tokenizer FOLDER"),
            ((served, *folder, "--temperature", "2", *asked), "is not for a server"),
            (("hf:llm", *folder, *asked), "is for a served LLM"),
            (("served:x", *folder, *asked), "served:URL#MODEL"),
        ):
            assert message in error_of("ask", "answers", *wrong)


@pytest.mark.slow
def test_servers_and_prompts_that_are_refused(llm: tuple[Any, Any]) -> None:
    tokenizer = llm[1]
    with CompletionsServer(ServedNetwork(*llm)) as server:
        with pytest.raises(InputError, match="the ends"):
            ServedAnswers(server.url, "llm", tokenizer, prompt="heads", ends=[])
        with pytest.raises(InputError, match="does not serve"):
            ServedAnswers(server.url, "other", tokenizer)
        long = ServedAnswers(server.url, "llm", tokenizer, prompt=[5] * 39)
        asked = explore(long, ".*e", gap=0)
        assert (asked.stopped, asked.calls, asked.low) == ("context", 1, 0)
        assert asked.open["beyond context"] > 0.1
        with pytest.raises(ModelError, match="the server's context has 40"):
            long.answer(Batch.of([(1,)]))
        server.most_likeliest = 3
        with pytest.raises(InputError, match="more logprobs than are allowed"):
            ServedAnswers(server.url, "llm", tokenizer, prompt="heads")
        assert ServedAnswers(server.url, "llm", tokenizer, prompt="heads", top=3).top == 3
