"""Transformers as language models: learnt, kept in stores, audited, and refused."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pdfalearn import Guided, Quantization, TopK, TransformerModel, distinguish, learn, quotient
from pdfalearn.errors import InputError, MissingExtraError, ModelError
from pdfalearn.models import Batch
from pdfalearn.models.opened import open_model
from pdfalearn.oracles import AllWordsOracle
from pdfalearn.testing import check_model
from tests.models.networks import needed_torch
from tests.models.transformers_by_hand import bounded_context_pdfa, transformer_by_hand
from tests.models.transformers_tiny import tiny
from tests.support import need_module

SYMBOLS = {"a": [3], "b": [4, 5], "c": [4, 6, 7]}


@pytest.fixture(autouse=True)
def _needed() -> None:
    needed_torch()
    need_module("transformers")


def made(model: Any, symbols: Any = None, **options: Any) -> TransformerModel:
    given = {"prompt": [1, 2, 3], "ends": [0, 2], **options}
    return TransformerModel(model, None, symbols or SYMBOLS, **given)


@pytest.mark.slow
@pytest.mark.parametrize("ends", [[0, 2], "rest"])
@pytest.mark.parametrize("outside", [None, "?"])
def test_it_keeps_to_the_protocol(ends: Any, outside: str | None) -> None:
    check_model(made(tiny("llama", precision="float64"), ends=ends, outside=outside))


@pytest.mark.slow
def test_wrappers_keep_to_the_protocol() -> None:
    model = tiny("llama", precision="float64")
    check_model(Guided(made(model), "(ab|c)+"))
    check_model(TopK(made(model, {token: [token] for token in range(3, 40)}), 4))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_transformer_by_hand_gives_its_quotient(seed: int) -> None:
    generator = np.random.default_rng(seed)
    kinds = generator.dirichlet(np.ones(3), size=3)
    rows = kinds[generator.integers(0, 3, (3, 3))]
    pdfa, model = bounded_context_pdfa(rows), transformer_by_hand(rows)
    asked = TransformerModel(model, None, {"t1": [1], "t2": [2]}, prompt=[0], ends=[0])
    equivalence = Quantization(20)
    result = learn(asked, equivalence=equivalence, oracle=AllWordsOracle(5))
    wanted = quotient(pdfa, equivalence=equivalence)
    assert distinguish(result.pdfa, wanted, equivalence=equivalence) is None
    assert len(result.pdfa) == len(wanted)


def test_a_store_knows_the_model_again(tmp_path: Path) -> None:
    options: dict[str, Any] = {"equivalence": Quantization(3), "oracle": AllWordsOracle(2)}
    options["store"] = tmp_path / "answers.db"
    first = learn(made(tiny("llama")), **options)
    again = learn(made(tiny("llama")), **options)
    assert first.statistics.words > 0
    assert again.statistics.words == 0
    outside: Any = again.certificate.details["outside"]
    known: Any = first.certificate.details["outside"]
    assert 0 < outside["mean"] <= outside["largest"]
    assert outside["largest"] == pytest.approx(known["largest"], abs=1e-5)
    assert outside["unknown"] == 0


def test_fingerprint_covers_all_that_decides() -> None:
    model = tiny("llama")
    models = [
        made(model),
        made(model, prompt=[1, 2, 4]),
        made(model, ends=[0]),
        made(model, {**SYMBOLS, "c": [8]}),
        made(model, outside="?"),
        made(tiny("llama", seed=2)),
        made(tiny("llama", precision="float64")),
        made(tiny("gpt2")),
    ]
    assert len({each.fingerprint for each in models}) == len(models)
    assert made(tiny("llama")).fingerprint == models[0].fingerprint


def test_fingerprint_changes_with_the_weights() -> None:
    import torch

    model = tiny("llama")
    asked = made(model)
    before = asked.fingerprint
    with torch.no_grad():
        next(model.parameters()).mul_(1.01)
    assert asked.fingerprint != before
    before = asked.fingerprint
    model.double()
    assert asked.fingerprint != before


def test_audits_compute_again() -> None:
    model = tiny("llama")
    asked = made(model)
    calls = 0

    def drift(module: Any, inputs: Any, output: Any) -> Any:
        nonlocal calls
        calls += 1
        output.logits[..., 3] += 0.5 * calls
        return output

    handle = model.register_forward_hook(drift)
    try:
        result = learn(asked, equivalence=Quantization(50), oracle=AllWordsOracle(2), audit=20)
    finally:
        handle.remove()
    assert result.certificate.kind == "unsteady"


def test_nan_names_the_word() -> None:
    model = tiny("llama")
    asked = made(model, {"a": [3], "b": [4]})

    def spoil(module: Any, inputs: Any, options: Any, output: Any) -> Any:
        given = inputs[0] if inputs else options["input_ids"]
        if given.shape[1] > 1 and 4 in given[0].tolist():
            output.logits[0, given[0].tolist().index(4)] = float("nan")
        return output

    handle = model.register_forward_hook(spoil, with_kwargs=True)
    try:
        with pytest.raises(ModelError, match="'b'"):
            learn(asked, equivalence=Quantization(3), oracle=AllWordsOracle(2))
    finally:
        handle.remove()


def test_a_full_context_names_word_and_limit() -> None:
    asked = made(tiny("gpt2"), {"a": [3]}, prompt=[1] * 60)
    with pytest.raises(ModelError, match=r"'a', 'a'.*context has 64 tokens"):
        learn(asked, equivalence=Quantization(10**6), oracle=AllWordsOracle(10))


def test_attention_to_a_window_ends_with_it() -> None:
    asked = made(tiny("mistral"), {"a": [3]}, prompt=[1] * 60)
    with pytest.raises(ModelError, match="sliding window has 64 tokens"):
        learn(asked, equivalence=Quantization(10**6), oracle=AllWordsOracle(10))


def test_positions_that_change_with_the_length_end_before() -> None:
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=40,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=128,
        rope_parameters={
            "rope_type": "longrope",
            "rope_theta": 10000.0,
            "short_factor": [1.0] * 4,
            "long_factor": [2.0] * 4,
            "original_max_position_embeddings": 32,
        },
    )
    asked = made(LlamaForCausalLM(config).eval(), {"a": [3]}, prompt=[1] * 28)
    with pytest.raises(ModelError, match="range of unchanged positions has 32 tokens"):
        learn(asked, equivalence=Quantization(10**6), oracle=AllWordsOracle(10))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prompt": [1] * 70}, "a prompt of 70 tokens and symbols of up to 3 are too long"),
        ({"prompt": [40]}, "the prompt needs token 40, but the model has 40"),
        ({"prompt": "words"}, "a prompt in words needs a tokenizer"),
        ({"prompt": None}, "the prompt is None; give a text"),
        ({"prompt": 5}, "the prompt is 5; give a text"),
        ({"prompt": [0.5]}, "token of the prompt 0.5 is not an integer"),
        ({"prompt": [{"role": "user"}]}, "give chat=True"),
        ({"symbols": {"a": [99]}}, "a symbol or an end needs token 99"),
        ({"symbols": ["a"]}, "the text 'a' needs a tokenizer"),
        ({"ends": [41]}, "a symbol or an end needs token 41"),
        ({"ends": 7}, "give a list of texts or tokens"),
        ({"ends": "end"}, "give a list of texts or tokens"),
        ({"memory": 0}, "memory 0 is not an integer"),
        ({"batch": 0}, "batch 0 is not an integer"),
        ({"device": "cpu"}, "are for folders"),
        ({"chat": True, "prompt": "hello"}, "a chat needs a tokenizer"),
    ],
)
def test_bad_arguments(options: dict[str, Any], message: str) -> None:
    symbols = options.pop("symbols", None)
    with pytest.raises(InputError, match=message):
        made(tiny("gpt2"), symbols, **options)


def test_what_is_not_a_tokenizer() -> None:
    tokenizer: Any = "gpt2"
    with pytest.raises(InputError, match="'gpt2' is not a tokenizer of transformers"):
        TransformerModel(tiny("gpt2"), tokenizer, {"a": [3]})


def test_what_is_not_a_causal_model() -> None:
    from transformers import GPT2Config, GPT2Model

    with pytest.raises(InputError, match="is not a model of transformers"):
        made(object())
    headless = GPT2Model(GPT2Config(vocab_size=40, n_embd=8, n_layer=1, n_head=1)).eval()
    with pytest.raises(InputError, match="GPT2Model has no logits"):
        made(headless)


@pytest.mark.slow
def test_a_model_that_reads_ahead() -> None:
    import torch
    from transformers import BertConfig, BertForMaskedLM

    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=40,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        initializer_range=0.3,
    )
    with pytest.raises(InputError, match="BertForMaskedLM reads ahead"):
        made(BertForMaskedLM(config).eval())


def test_without_transformers_a_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = tiny("gpt2")
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtraError, match=r"pip install transformers$"):
        made(model)


def test_a_model_in_training_mode() -> None:
    with pytest.raises(InputError, match="training mode"):
        made(tiny("gpt2").train())
    model = tiny("gpt2")
    model.transformer.h[1].train()
    with pytest.raises(InputError, match="training mode"):
        made(model)


@pytest.mark.slow
def test_models_that_keep_something_else_are_asked_for_whole_words() -> None:
    from transformers import MambaConfig, MambaForCausalLM

    mamba = MambaForCausalLM(
        MambaConfig(vocab_size=40, hidden_size=16, num_hidden_layers=2, state_size=4)
    )
    with pytest.warns(UserWarning, match="computed whole each time, which is slower"):
        asked = made(mamba.eval())
    check_model(asked)


def test_a_prompt_longer_than_the_window_is_computed_each_time() -> None:
    with pytest.warns(UserWarning, match="sliding window has 64 tokens, and the prompt 70"):
        asked = made(tiny("mistral"), {"a": [3]}, prompt=[1] * 70)
    assert not asked.keeps
    with pytest.raises(ModelError, match="context has 128 tokens"):
        learn(asked, equivalence=Quantization(10**6), oracle=AllWordsOracle(70))


def test_what_a_guide_forces_is_not_asked() -> None:
    model = tiny("llama")
    asked = made(model, {"a": [3], "b": [4], "c": [5]})
    opened = open_model(Guided(asked, "abc|abbc"))
    passed: list[int] = []
    handle = model.register_forward_pre_hook(lambda module, given: passed.append(len(given[0][0])))
    try:
        prefixes = [(), (0,), (0, 1), (0, 1, 1), (0, 1, 2), (0, 1, 1, 2)]
        rows = opened.answer(Batch.of(prefixes))
    finally:
        handle.remove()
    # The prompt, then its last token, a and ab.
    assert passed == [3, 3]
    assert rows.outside is not None
    assert np.isnan(rows.outside).tolist() == [True, True, False, True, True, True]
    assert rows.values[0].tolist() == [0, 1, 0, 0]
    assert rows.values[2, 2] + rows.values[2, 3] == pytest.approx(1)


def test_mass_outside_is_in_the_certificate() -> None:
    asked = made(tiny("llama"))
    result = learn(asked, equivalence=Quantization(2), oracle=AllWordsOracle(1))
    outside: Any = result.certificate.details["outside"]
    assert 0 < outside["mean"] < outside["largest"] < 1
    assert outside["distributions"] == result.statistics.distributions
    assert outside["unknown"] == 0
    guided = learn(Guided(asked, "ab|c"), equivalence=Quantization(2), oracle=AllWordsOracle(1))
    outside = guided.certificate.details["outside"]
    assert outside["unknown"] > 0
