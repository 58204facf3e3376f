"""Served models against the automata and networks that are served."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.served_automaton import AutomatonLLM
from pdfalearn import PDFA, Budget, Quantization, ServedModel, distinguish, learn, quotient
from pdfalearn.datasets import random_pdfa
from pdfalearn.errors import InputError, ModelError
from pdfalearn.models import LikeliestTokensWarning, QueryCost
from pdfalearn.models.batch import Batch
from pdfalearn.models.opened import ask_words
from pdfalearn.models.served._server import Logs
from pdfalearn.models.served.model import top_rows
from pdfalearn.models.spelling import Spelling
from pdfalearn.oracles import ExactOracle
from pdfalearn.row_checks import BadRowError, check_sparse
from pdfalearn.samplers import Words
from pdfalearn.testing import check_model
from tests.models.served.servers import Transformer, WatchedServer, renamed, spelled_target
from tests.support import examples, need_module

need_module("httpx")

SYMBOLS = ("a", "bb", "bc", "d")


def served(server: WatchedServer, symbols: object = SYMBOLS, **options: object) -> ServedModel:
    options = {"prompt": "word:", "ends": ["<end>"], **options}
    return ServedModel(server.url, server.model.name, symbols, **options)  # type: ignore[arg-type]


def random_words(size: int, count: int, seed: int) -> Words:
    generator = np.random.default_rng(seed)
    return Words.of(
        generator.integers(size, size=length).tolist()
        for length in generator.integers(8, size=count)
    )


def states_after(pdfa: PDFA, words: Words) -> list[int]:
    states = []
    for codes in words:
        state = pdfa.initial
        for code in codes:
            state = int(pdfa.transitions[state, code])
        states.append(state)
    return states


def test_rows_are_those_of_the_automaton() -> None:
    target = spelled_target(30, seed=1)
    words = random_words(4, 200, seed=2)
    with WatchedServer(AutomatonLLM(target, waste=0.25)) as server:
        rows = ask_words(served(server), words)
    assert np.allclose(rows.values, target.probabilities[states_after(target, words)], atol=1e-12)
    assert rows.outside is not None
    assert np.allclose(rows.outside, 0.25, atol=1e-12)


@pytest.mark.slow
def test_a_served_model_keeps_to_the_protocol() -> None:
    with WatchedServer(AutomatonLLM(spelled_target(8, seed=1))) as server:
        check_model(served(server))
        check_model(served(server, ends="rest", outside="?"))


def test_it_is_learnt_to_the_quotient() -> None:
    target = spelled_target(60, seed=3)
    kappa = Quantization(50)
    with WatchedServer(AutomatonLLM(target, waste=0)) as server:
        result = learn(
            served(server),
            equivalence=kappa,
            oracle=ExactOracle(target, equivalence=kappa),
            audit=0,
        )
    expected = quotient(target, equivalence=kappa)
    assert len(result.pdfa) == len(expected)
    assert distinguish(result.pdfa, expected, equivalence=kappa) is None
    assert set(server.answered.values()) == {1}


def test_all_prefixes_of_a_word_go_into_one_request() -> None:
    with WatchedServer(AutomatonLLM(spelled_target(5, seed=1))) as server:
        model = served(server)
        server.requests.clear()
        model.answer(Batch.of([(1, 0)]))
    (request,) = server.requests
    letters = {character: server.model.tokens(character, special=False)[0] for character in "abcd:"}
    word = [letters["b"], letters["b"], letters["a"]]
    assert [prompt[-3:] for prompt in request["prompt"]] == [word, [*word[1:], letters["b"]]]
    assert set(request["logprob_token_ids"]) == {1, *(letters[letter] for letter in "abcd")}
    assert request["max_tokens"] == 1
    assert request["logprobs"] == 0


def test_prompts_that_begin_alike_are_next_to_each_other() -> None:
    with WatchedServer(AutomatonLLM(spelled_target(5, seed=1, symbols="abcd"))) as server:
        model = served(server, "abcd", batch=4, in_flight=1)
        server.requests.clear()
        model.answer(Batch.of(random_words(4, 30, seed=5)))
    prompts = [prompt for request in server.requests for prompt in request["prompt"]]
    assert prompts == sorted(prompts)
    assert max(len(request["prompt"]) for request in server.requests) == 4


@pytest.mark.slow
def test_more_tokens_than_a_request_may_ask_for_are_parted() -> None:
    symbols = [chr(0x4E00 + place) for place in range(300)]
    target = renamed(random_pdfa(4, 300, seed=2), symbols)
    words = random_words(300, 10, seed=1)
    with WatchedServer(AutomatonLLM(target)) as server:
        model = served(server, symbols)
        rows = ask_words(model, words)
        sizes = {len(request["logprob_token_ids"]) for request in server.requests[1:]}
    assert sizes == {128, 45}
    assert np.allclose(rows.values, target.probabilities[states_after(target, words)], atol=1e-12)
    assert model.cost == QueryCost(word=3 * 7, prefix=3 * 7, symbol=3, cached_symbol=3)


def test_the_rest_ends_words() -> None:
    target = spelled_target(5, seed=4, symbols="abcd")
    with WatchedServer(AutomatonLLM(target, waste=0.25)) as server:
        rows = served(server, "abcd", ends="rest").answer(Batch.of([()]))
    start = 0.75 * target.probabilities[target.initial]
    assert np.allclose(rows.values[0], [0.25 + start[0], *start[1:]])


def test_mass_outside_can_be_a_symbol() -> None:
    target = spelled_target(5, seed=4, symbols="abcd")
    with WatchedServer(AutomatonLLM(target, waste=0.25)) as server:
        rows = served(server, "abcd", outside="?").answer(Batch.of([(), (4,)]))
    assert np.allclose(rows.values[0], [*(0.75 * target.probabilities[target.initial]), 0.25])
    assert rows.values[1].tolist() == [1, 0, 0, 0, 0, 0]


def test_symbols_may_have_other_names_and_tokens_may_be_given() -> None:
    target = spelled_target(5, seed=4, symbols="abcd")
    with WatchedServer(AutomatonLLM(target)) as server:
        llm = server.model
        by_text = served(server, {1: "a", 2: "b", 3: "c", 4: "d"})
        tokens = {place: llm.tokens(text, special=False) for place, text in enumerate("abcd", 1)}
        by_token = served(server, tokens, prompt=llm.tokens("word:", special=True), ends=[1])
        assert by_text.fingerprint == by_token.fingerprint
        assert by_text.alphabet.symbols == (1, 2, 3, 4)
        assert served(server, "abcd", prompt="word", chat=True).prompt == by_text.prompt
        messages = [{"role": "user", "content": text} for text in ("one", "word")]
        assert served(server, "abcd", prompt=messages, chat=True).prompt[-5:] == by_text.prompt[1:]


class BlankLLM(AutomatonLLM):
    """Writes a blank before every text, as some tokenizers do."""

    def tokens(self, text: str, *, special: bool) -> list[int]:
        return super().tokens(f" {text}" if text != "<end>" else text, special=special)


def test_a_blank_before_every_text_is_not_part_of_symbols() -> None:
    with WatchedServer(BlankLLM(spelled_target(5, seed=4))) as server:
        with WatchedServer(AutomatonLLM(spelled_target(5, seed=4))) as plain:
            expected = served(plain, ends=[1]).spelling.tokens
        assert served(server, ends=[1]).spelling.tokens == expected


@pytest.mark.slow
def test_a_transformer_is_read_node_by_node() -> None:
    need_module("torch")
    llm = Transformer()
    texts = ["a", "bcd", "bce", "g"]
    with WatchedServer(llm) as server:
        model = served(server, texts, prompt="a:", ends=["$", "f"])
        words = random_words(4, 40, seed=6)
        rows = ask_words(model, words)
        check_model(model)
    assert rows.outside is not None
    for row, outside, codes in zip(rows.values, rows.outside, words, strict=True):
        text = "a:" + "".join(texts[code] for code in codes)
        masses = [sum(chance(llm, text, end) for end in "$f")]
        masses += [chance(llm, text, symbol) for symbol in texts]
        assert math.isclose(outside, 1 - sum(masses), abs_tol=1e-12)
        assert np.allclose(row, np.array(masses) / sum(masses), atol=1e-12)


def chance(llm: Transformer, text: str, symbol: str) -> float:
    """Return the probability of a symbol after a text, one token after the other."""
    product = 1.0
    for character in symbol:
        logs = llm.log_probabilities(llm.tokens(text, special=True))
        product *= math.exp(logs[llm.vocabulary.index(character)])
        text += character
    return product


class OlderServer(WatchedServer):
    """A server that does not know chosen tokens: it ignores them, or refuses them."""

    refuses = False
    most = 20

    def complete(self, body: dict[str, object]) -> tuple[int, dict[str, object]]:
        if self.refuses and "logprob_token_ids" in body:
            return 400, {"error": {"message": "Unknown field logprob_token_ids."}}
        if body["logprobs"] > self.most:  # type: ignore[operator]
            return 400, {"error": {"message": "Too many logprobs."}}
        return super().complete({**body, "logprob_token_ids": None})


@pytest.mark.slow
@pytest.mark.parametrize(("refuses", "most"), [(False, 20), (True, 20), (True, 5)])
def test_older_servers_list_the_likeliest_tokens(refuses: bool, most: int) -> None:
    target = spelled_target(9, seed=4)
    words = random_words(4, 100, seed=3)
    with OlderServer(AutomatonLLM(target)) as server:
        server.refuses, server.most = refuses, most
        with pytest.warns(LikeliestTokensWarning, match=f"{most} likeliest tokens only"):
            model = served(server)
        assert model.top == most
        rows = ask_words(model, words)
        check_model(model)
        with pytest.raises(InputError, match="ends='rest' is the mass of tokens beside"):
            served(server, ends="rest")
        with pytest.raises(InputError, match="outside"):
            served(server, outside="?")
    assert rows.is_sparse
    true = target.probabilities[states_after(target, words)]
    if most == 20:  # all five tokens are among these
        assert np.allclose(rows.to_dense(), true, atol=1e-12)


@examples(60)
@given(st.integers(0, 10**6), st.integers(1, 12))
def test_likeliest_tokens_bound_the_others(seed: int, top: int) -> None:
    generator = np.random.default_rng(seed)
    spelling = Spelling({"a": [2], "bc": [3, 4], "bd": [3, 5], "e": [6]}, ends=[0, 1])
    tables = [generator.dirichlet(np.full(10, 0.5), size=5) for _ in spelling.prefixes]
    answers = [
        [
            {int(token): math.log(max(row[token], 1e-300)) for token in np.argsort(-row)[:top]}
            for row in table
        ]
        for table in tables
    ]
    wanted = [table[:, ids] for table, ids in zip(tables, spelling.wanted, strict=True)]
    masses = np.exp(spelling.log_masses([np.log(np.maximum(table, 1e-300)) for table in wanted]))
    if not masses_listed(answers, spelling):
        with pytest.raises(BadRowError, match="no symbol and no end is among"):
            top_rows(answers, spelling, top)
        return
    rows = check_sparse(top_rows(answers, spelling, top))
    assert rows.columns is not None
    totals = (1 - rows.outside) if rows.outside is not None else np.ones(5)
    # Times its total, a listed value is the very mass; one that is not listed is below the ceiling.
    scaled = rows.values * totals[rows.row_numbers]
    exact = masses[rows.row_numbers, rows.columns]
    is_end = rows.columns == 0
    assert np.allclose(scaled[~is_end], exact[~is_end], atol=1e-9)
    ceilings = (np.maximum(rows.ceiling, 0) if rows.ceiling is not None else rows.rests) * totals
    gaps = exact[is_end] - scaled[is_end]
    assert (gaps >= -1e-9).all()
    assert (gaps <= ceilings + 1e-9).all()
    unlisted = np.ones_like(masses, dtype=bool)
    unlisted[rows.row_numbers, rows.columns] = False
    assert (np.where(unlisted, masses, 0).max(axis=1) <= ceilings + 1e-9).all()
    assert (np.where(unlisted, masses, 0).sum(axis=1) <= rows.rests * totals + 1e-9).all()


def masses_listed(answers: list[list[Logs]], spelling: Spelling) -> bool:
    """Return whether every word has a token listed, or unlisted, that a symbol or an end may be."""
    return all(
        logs.keys() & set(spelling.wanted[0].tolist()) or sum(map(math.exp, logs.values())) < 1
        for logs in answers[0]
    )


def test_wished_likeliest_tokens_do_not_warn() -> None:
    target = spelled_target(9, seed=4, symbols="abcd")
    with WatchedServer(AutomatonLLM(target, waste=0)) as server:
        model = served(server, "abcd", top=20)
        full = served(server, "abcd")
        rows, expected = (asked.answer(Batch.of([(), (0, 1)])) for asked in (model, full))
    assert model.top == 20
    assert model.fingerprint != full.fingerprint
    assert not rows.is_open.any()
    assert np.allclose(rows.to_dense(), expected.values, atol=1e-12)


def test_the_cost_is_counted_in_tokens() -> None:
    target = spelled_target(40, seed=5, symbols="abcd")
    with WatchedServer(AutomatonLLM(target)) as server:
        model = served(server, "abcd")
        assert model.cost == QueryCost(word=7, prefix=7, symbol=1, cached_symbol=1)
        server.asked.clear()
        seen: list[float] = []
        result = learn(
            model,
            equivalence=Quantization(20),
            oracle=ExactOracle(target, equivalence=Quantization(20)),
            budget=Budget(max_cost=1000),
            audit=0,
            progress=lambda progress: seen.append(progress.cost),
        )
        sent = sum(count * (len(q) - 1 - q[0] + 1) for q, count in server.asked.items())
    assert result.certificate.details["bound"] == "max_cost"
    assert result.statistics.cost <= 1000
    assert sent == result.statistics.cost == seen[-1]


@pytest.mark.slow
def test_the_identity_says_what_decides_the_answers() -> None:
    with WatchedServer(AutomatonLLM(spelled_target(5, seed=1))) as server:
        same = {
            served(server).fingerprint,
            served(server, batch=3, cost=QueryCost(word=1)).fingerprint,
        }
        others = {
            served(server, prompt="other:").fingerprint,
            served(server, SYMBOLS[:-1]).fingerprint,
            served(server, ends=["."]).fingerprint,
            served(server, outside="?").fingerprint,
        }
    with WatchedServer(AutomatonLLM(spelled_target(5, seed=1))) as elsewhere:
        same.add(served(elsewhere).fingerprint)
    (fingerprint,) = same
    assert fingerprint.startswith("served automaton ")
    assert len(others | same) == 5


@pytest.mark.slow
def test_a_store_keeps_the_answers(tmp_path: Path) -> None:
    target = spelled_target(20, seed=6)
    asked = []
    for _ in range(2):
        with WatchedServer(AutomatonLLM(target)) as server:
            result = learn(
                served(server),
                equivalence=Quantization(20),
                oracle=ExactOracle(target, equivalence=Quantization(20)),
                store=tmp_path / "answers.db",
                audit=0,
            )
            asked.append((len(result.pdfa), sum(server.answered.values())))
    (states, first), (again, second) = asked
    assert states == again
    assert second <= 12 < first  # a few stored words are asked again, to know the model


def test_a_full_context_names_the_word_and_the_limit() -> None:
    with WatchedServer(AutomatonLLM(spelled_target(5, seed=1, symbols="abcd"))) as server:
        model = served(server, "abcd")
        model.answer(Batch.of([[0] * 505]))
        server.requests.clear()
        with pytest.raises(ModelError, match=r"'a'.* needs 513 tokens.* context has 512"):
            model.answer(Batch.of([[1], [0] * 506]))
        assert not server.requests
