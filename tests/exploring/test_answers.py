"""LLMs over their whole vocabulary, against texts that are enumerated token by token."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from pdfalearn import Answers, Budget, explore, probability, sample
from pdfalearn.datasets import figure_1
from pdfalearn.errors import InputError, ModelError
from pdfalearn.exploring import Exploration
from tests.exploring.cases import matches, served, tiny_llm
from tests.models.transformers_tokenizers import blank_tokenizer, byte_tokenizer
from tests.support import need_module

NEARLY = 1e-6
"""Of probabilities that a network in float32 computes in another order."""


@pytest.fixture(autouse=True)
def _packages() -> None:
    for name in ("torch", "transformers", "tokenizers", "interegular"):
        need_module(name)


def enumerate_truth(
    llm: Answers,
    network: Any,
    is_match: Callable[[bytes], bool],
    match: str,
    how: Any,
    *,
    cut_ends: bool = False,
) -> float:
    """Return the probability of a match within two tokens, over all token sequences.

    Whole answers have one token and end behind it, or two if they end where they are cut.
    """
    import torch

    spelling, ends, prompt = llm.token_bytes, list(llm.ends), llm.prompt

    def rows(texts: list[list[int]]) -> Any:
        with torch.no_grad():
            logits = network(torch.tensor(texts)).logits[:, -1].double().numpy()
        return served(logits, *how)

    if match != "whole" and is_match(b""):
        return 1.0
    count, total = len(spelling), 0.0
    known: dict[tuple[bytes, bool], bool] = {}

    def holds(text: bytes, *, is_end: bool) -> bool:
        """Return whether a text matches: it has ended, or is sure to match as it is."""
        if (text, is_end) not in known:
            kept, is_over = stopped(text, llm.stops)
            if not is_over and not is_end:  # it may be about to write a stop
                begun = [
                    kept.endswith(stop[:n]) * n for stop in llm.stops for n in range(len(stop))
                ]
                kept = kept[: len(kept) - max(begun, default=0)]
            known[text, is_end] = (is_over or is_end or match != "whole") and is_match(kept)
        return known[text, is_end]

    first = rows([list(prompt)])[0]
    second = rows([[*prompt, token] for token in range(count)])
    total += first[ends].sum() * holds(b"", is_end=True)
    for token, text in enumerate(spelling):
        if text is None:
            continue
        if stopped(text, llm.stops)[1] or holds(text, is_end=False):
            total += first[token] * holds(text, is_end=False)
            continue
        total += first[token] * second[token, ends].sum() * holds(text, is_end=True)
        for other, after in enumerate(spelling):
            if after is not None and (match != "whole" or cut_ends):
                total += first[token] * second[token, other] * holds(text + after, is_end=cut_ends)
    return float(total)


def stopped(text: bytes, stops: tuple[bytes, ...]) -> tuple[bytes, bool]:
    """Return a text up to the first stop that is complete, byte by byte."""
    for end in range(1, len(text) + 1):
        found = [stop for stop in stops if text[:end].endswith(stop)]
        if found:
            return text[: end - max(map(len, found))], True
    return text, False


def random_case(seed: int) -> Iterator[tuple[float, Exploration]]:
    """Ask a random LLM a random question in four ways; return the truth, with bounds on the way."""
    random = np.random.default_rng(seed)
    tokenizer = byte_tokenizer()
    network = tiny_llm(len(tokenizer) + 2, seed)
    how = [(1.0, None, None), (0.7, None, None), (1.0, 20, None), (1.3, None, 0.8)][seed % 4]
    settings: Any = dict(zip(("temperature", "top_k", "top_p"), how, strict=True))
    stops = random.choice(["e", "h", "ea", "he", "\n", "d"], seed % 3, replace=False).tolist()
    llm = Answers(network, tokenizer, prompt="heads or", ends=[0, 7], stop=stops, **settings)
    pattern = str(random.choice(["(?s:.)", "[a-m]+ ?", "[^a-z]*", ".?e.*", "the|[^x]a", "h?"]))
    for kind in ("begins", "contains", "whole", "cut"):
        match: Any = "whole" if kind == "cut" else kind
        within = 1 if kind == "whole" else 2
        check = functools.partial(matches, pattern=pattern, match=match)
        known = enumerate_truth(llm, network, check, match, how, cut_ends=kind == "cut")
        asked = explore(
            llm,
            {"x": pattern},
            match=match,
            within=within,
            cut_ends=kind == "cut",
            gap=0,
            budget=Budget(max_words=1),
        )
        for words in (1, 5, 40, 400):
            yield known, asked
            asked = asked.more(gap=0.001, budget=Budget(max_words=words))
        yield known, asked
        assert asked.high - asked.low <= 0.001


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_truth_is_inside(seed: int) -> None:
    for known, asked in random_case(seed):
        assert asked.low - NEARLY <= known <= asked.high + NEARLY, asked


@pytest.mark.slow
def test_two_languages_where_answers_are_cut() -> None:
    """What is sure counts there, although another language is open."""
    tokenizer = byte_tokenizer()
    network = tiny_llm(len(tokenizer), 1)
    llm = Answers(network, tokenizer, prompt="heads or")
    how = (1.0, None, None)
    languages = {"one": "[a-m]", "two": "[a-m]{3}"}
    asked = explore(llm, languages, match="begins", within=2, gap=1e-3)
    check = functools.partial(matches, pattern=languages["one"], match="begins")
    known = enumerate_truth(llm, network, check, "begins", how)
    assert asked["one"].low - NEARLY <= known <= asked["one"].high + NEARLY
    pdfa = figure_1()
    both = explore(pdfa, {"a": "a", "aa": "aa"}, match="begins", within=1, gap=0)
    assert both["a"].low == pytest.approx(1.0)


@pytest.mark.slow
def test_samples_end_before_stops() -> None:
    tokenizer = byte_tokenizer()
    llm = Answers(tiny_llm(len(tokenizer), 2), tokenizer, prompt="heads or", stop=["e", "th"])
    asked = explore(llm, "[^z]*", within=3, cut_ends=True, gap=0.1)
    drawn = asked.sample(40, seed=1)
    assert all("e" not in str(word) and "th" not in str(word) for word in drawn.words)
    for one in asked.likeliest(5):
        assert "e" not in str(one.word)
    assert {one.is_whole for one in asked.likeliest(20)} == {True, False}


@pytest.mark.slow
def test_prompts_share_what_they_begin_with() -> None:
    tokenizer = byte_tokenizer()
    network = tiny_llm(len(tokenizer), 3)
    prompts = ["heads or tails", "heads or", "the number"]
    together = Answers(network, tokenizer, prompts=[f"once {p}" for p in prompts], chat=True)
    asked = explore(together, "[a-m]", match="begins", gap=1e-6)
    for prompt in prompts:
        alone = Answers(network, tokenizer, prompt=f"once {prompt}", chat=True)
        known = explore(alone, "[a-m]", match="begins", gap=1e-6)
        part = asked.behind(f"once {prompt}")
        assert part.low == pytest.approx(known.low, abs=NEARLY)
        assert part.high == pytest.approx(known.high, abs=NEARLY)
    assert "mean of any match" in str(asked)
    models = [Answers(network, tokenizer, prompt=f"once {p}", chat=True) for p in prompts]
    joined = explore(models, "[a-m]", match="begins", gap=1e-6)
    assert joined.prompts == asked.prompts
    assert (joined.low, joined.high) == pytest.approx((asked.low, asked.high), abs=NEARLY)
    other = Answers(network, tokenizer, prompt="once", chat=True, temperature=0.5)
    for wrong in ([], [*models, other], [*models, models[0]], [figure_1()]):
        with pytest.raises(InputError):
            explore(wrong, "a")  # type: ignore[arg-type]
    assert together.fingerprint != Answers(network, tokenizer, prompt="once", chat=True).fingerprint


@pytest.mark.slow
def test_bytes_of_pieces_are_those_that_are_decoded() -> None:
    for tokenizer in (blank_tokenizer(), byte_tokenizer(), byte_fallback_tokenizer()):
        llm = Answers(tiny_llm(len(tokenizer) + 1), tokenizer, prompt="the number is")
        text = " coin is 7"
        tokens = tokenizer.encode("a" + text, add_special_tokens=False)
        spelt = b"".join(llm.token_bytes[token] or b"?" for token in tokens)
        assert spelt.decode().strip() == "a" + text
        assert llm.token_bytes[-1] is None


def byte_fallback_tokenizer() -> Any:
    """Return one as of Llama 2: pieces, and single bytes for what none of them has."""
    from tokenizers import Tokenizer, decoders, models, normalizers
    from transformers import PreTrainedTokenizerFast

    names = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    names += ["\u2581", *"acdefghimnoprstux7", "\u2581a", "oi", "is"]
    vocabulary = {name: number for number, name in enumerate(names)}
    merges = [("\u2581", "a"), ("o", "i"), ("i", "s")]
    inner = Tokenizer(models.BPE(vocabulary, merges, unk_token="<unk>", byte_fallback=True))
    inner.normalizer = normalizers.Sequence(
        [normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")]
    )
    inner.decoder = decoders.Sequence(
        [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=inner, bos_token="<s>", eos_token="</s>", unk_token="<unk>"
    )


@pytest.mark.slow
def test_what_is_too_long_for_the_model_stays_open() -> None:
    import torch

    tokenizer = byte_tokenizer()
    network = tiny_llm(len(tokenizer))  # its context has 64 tokens
    logits = torch.full((len(tokenizer),), -70.0)
    a, b = (tokenizer.encode(text, add_special_tokens=False)[0] for text in "ab")
    logits[[a, b, 2]] = torch.tensor([0.97, 0.02, 0.01]).log()
    with torch.no_grad():  # every token comes with the same probability, whatever was before
        for weights in network.model.layers.parameters():
            weights.zero_()
        network.model.embed_tokens.weight.fill_(1.0)
        network.lm_head.weight.copy_(logits[:, None].expand(-1, 16) / 16)
    llm = Answers(network, tokenizer, prompt=[a] * 40)
    assert llm.longest_word == 24
    truth = 0.02 * 0.01 / (1 - 0.97) ** 2  # a*ba*
    asked = explore(llm, "a*ba*", gap=1e-3)
    assert asked.stopped == "context"
    assert 0 < asked.low <= truth <= asked.high < 1
    known = sum(n * 0.97 ** (n - 1) * 0.02 * 0.01 for n in range(1, 25))
    assert asked.low == pytest.approx(known, rel=1e-4)
    assert asked.open["beyond context"] == pytest.approx(asked.high - asked.low, abs=1e-9)
    assert "bound the length of answers by within=" in str(asked)
    few = explore(llm, "a*ba*", budget=Budget(max_words=5)).estimate(calls=200)
    assert few.low <= truth <= few.high
    bounds = probability(llm, "a*ba*")
    assert (bounds.low, bounds.high) == pytest.approx((asked.low, asked.high))
    assert "stopped by context" in bounds.holds_for
    with pytest.raises(InputError, match="its context is too short"):
        asked.sample(1)
    with pytest.raises(
        ModelError, match=r"the word 'aaa.* is too long: the model's context has 64"
    ):
        sample(llm, 50)
    short = explore(llm, "a*ba*", gap=1e-3, within=20)
    assert short.stopped == "gap"


def test_bad_arguments() -> None:
    tokenizer = byte_tokenizer()
    network = tiny_llm(len(tokenizer))
    with pytest.raises(InputError, match="not both"):
        Answers(network, tokenizer, prompt="a", prompts=["b"])
    with pytest.raises(InputError, match="needs a tokenizer"):
        Answers(network, prompt=[1], ends=[0])
    with pytest.raises(InputError, match="do not begin with the same token"):
        Answers(network, tokenizer, prompts=["heads", "once"])
    with pytest.raises(InputError, match="not tokens of the model"):
        Answers(network, tokenizer, prompt="a", ends=[5000])
    with pytest.raises(InputError, match="too long"):
        Answers(network, tokenizer, prompt=[3] * 70)
    for stop in ("", ["a", ""], [1], 3):
        with pytest.raises(InputError, match="texts that are not empty"):
            Answers(network, tokenizer, prompt="a", stop=stop)  # type: ignore[arg-type]
    llm = Answers(network, tokenizer, prompt="heads")
    with pytest.raises(InputError, match="prompts to Answers"):
        explore(llm, "a", prompts={"x": (1,)})
    unknown = blank_tokenizer()
    with pytest.raises(InputError, match="does not know all of the prompt"):
        Answers(tiny_llm(len(unknown)), unknown, prompt="日")
    unknown.chat_template = "{{ messages[0].content }}"
    with pytest.raises(InputError, match="does not know all of the prompt"):
        Answers(tiny_llm(len(unknown)), unknown, prompt="日", chat=True)
    tokenizer.add_special_tokens({"bos_token": "<new>"})  # beyond what the model has
    with pytest.raises(InputError, match="the tokenizer does not fit"):
        Answers(network, tokenizer)


@pytest.mark.slow
def test_bytes_that_cannot_be_known() -> None:
    from tokenizers import Tokenizer, decoders, models
    from transformers import PreTrainedTokenizerFast

    inner = Tokenizer(models.WordLevel({"<e>": 0, "a": 1, "b": 2}, unk_token="<e>"))
    inner.decoder = decoders.WordPiece()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="<e>", unk_token="<e>")
    with pytest.raises(InputError, match="cannot be known"):
        Answers(tiny_llm(3), tokenizer, prompt=[1])
