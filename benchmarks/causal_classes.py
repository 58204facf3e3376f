"""Every causal class of transformers: a small random model of it, asked in batches and plainly.

Run with ``python -m benchmarks.causal_classes [MODEL_TYPE ...]``; takes some minutes.
"""

from __future__ import annotations

import multiprocessing
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from itertools import product
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np
import torch

from benchmarks.support import print_header, print_row
from pdfalearn import TransformerModel
from pdfalearn.errors import InputError
from pdfalearn.models import Rows
from pdfalearn.models.opened import ask_words
from pdfalearn.samplers import Words

SECONDS = 300
"""The most that one class may take."""
LONGEST = 5
SYMBOLS = {"a": [3], "b": [4], "c": [5, 6]}
PROMPT = (1, 7, 8, 9, 10)
VOCABULARY = 64
RIGHT = 1e-5
VERDICTS = ("kept", "re-encoded", "refused", "wrong", "failed", "not built")
SMALL = {
    r"(\w+_)?vocab_size(_per_layer_input)?|codebook_size": VOCABULARY,
    r"max_position_embeddings|n_positions|n_ctx|max_seq_len|max_\w+_positions": 512,
    r"(backbone_)?hidden_size|d_model|n_embd|(e\w+_)?dim|\w*embedding_(size|dim)|\w+_proj_dim": 32,
    r"lru_width|out_hidden_size|hidden_size_\w+|ple_embed_dim": 32,
    r"\w*(intermediate_size|ffn_dim|ffn_hidden_size|feed_forward_size|mlp)|d_inner|d_ff|dff": 32,
    r"dim_ff|n_inner": 32,
    r"attention_hidden_size": 64,
    r"num_hidden_layers|n_layers?|num_layers|(num_)?(en|de)coder_layers|depth|num_blocks": 4,
    r"num_layers_per_stack": 4,
    r"\w*(attention_heads|n_heads?|num_heads|value_heads|query_groups)|n_mamba_heads": 4,
    r"\w*(key_value_heads|num_kv_heads|kv_n_heads|key_heads)": 2,
    r"\w*(head_dim|dim_head|d_head|head_size|headdim)|kv_channels|rotary_dim|d_kv": 8,
    r"\w*rank": 16,
    r"\w*(num_experts|num_local_experts|n_routed_experts)|zero_expert_num": 4,
    r"num_experts_per_tok(en)?|moe_top_?k|moe_k": 2,
    r"n_group|topk_group|num_expert_group|n_groups|o_groups": 1,
    r"\w*(window|window_size|window_len)|local_attention|attention_chunk_size|index_topk": 16,
    r"patch_size": 4,
    r"(mamba_)?chunk_size": 16,
}
"""What settings are called that make a model small."""
_FULL, _SLIDING = "full_attention", "sliding_attention"
_MAMBA = {"mamba_n_heads": 4, "mamba_d_head": 16, "mamba_d_state": 8}
_DRAFT = {
    "hidden_size": 32,
    "num_hidden_layers": 4,
    "num_kv_shared_layers": 0,
    "vocab_size": VOCABULARY,
    "head_dim": 8,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 32,
    "layer_types": [_SLIDING, _FULL] * 2,
}
OWN: dict[str, dict[str, Any]] = {
    "bamba": {**_MAMBA, "attn_layer_indices": [1]},
    "cohere_compass_text": {
        "layer_types": [_SLIDING, _FULL] * 2,
        "rope_parameters": {
            kind: {"rope_type": "default", "rope_theta": 1e4} for kind in (_SLIDING, _FULL)
        },
    },
    "dbrx": {
        "attn_config": {"kv_n_heads": 2, "rope_theta": 1e4, "clip_qkv": 8.0},
        "ffn_config": {"ffn_hidden_size": 32},
    },
    "deepseek_v2": {"num_experts_per_tok": 2},
    "dots1": {"n_routed_experts": 4, "num_experts_per_tok": 2, "n_shared_experts": 1},
    "falcon_h1": {**_MAMBA, "mamba_d_ssm": 64},
    "gemma3n_text": {
        "num_kv_shared_layers": 1,
        "layer_types": [_SLIDING, _FULL] * 2,
        "intermediate_size": [32] * 4,
        "activation_sparsity_pattern": [0.0] * 4,
    },
    "gemma4_assistant": {
        "text_config": {
            **_DRAFT,
            "hidden_size_per_layer_input": 0,
            "vocab_size_per_layer_input": 0,
        }
    },
    "gemma4_unified_assistant": {"text_config": _DRAFT},
    "gpt_neo": {"attention_types": [[["global", "local"], 2]]},
    "granitemoehybrid": {**_MAMBA, "layer_types": ["mamba", _FULL] * 2},
    "hrm_text": {"initializer_range": 0.1},  # with more, rounding grows from round to round
    "hunyuan_v1_dense": {"head_dim": 8},
    "hunyuan_v1_moe": {"head_dim": 8},
    "lfm2_moe": {"layer_types": ["conv", _FULL] * 2},
    "mamba2": {"head_dim": 16, "num_heads": 4, "n_groups": 1, "state_size": 8},
    "ministral": {"head_dim": 8},
    "nemotron": {"num_key_value_heads": 2},
    "qwen4_exp_text": {
        "indexer_n_heads": 2,
        "indexer_kv_heads": 1,
        "indexer_head_dim": 8,
        "indexer_budget": 16,
        "indexer_compress_ratio": 4,
    },
    "reformer": {
        "attn_layers": ["local", "lsh"] * 2,
        "axial_pos_shape": [16, 32],
        "axial_pos_embds_dim": [16, 16],
    },
    "zamba": {
        "layers_block_type": ["mamba", "hybrid"] * 2,
        "attn_layer_period": 2,
        "attn_layer_offset": 1,
        "attention_head_dim": 16,
        "num_key_value_heads": 4,
    },
    "zamba2": {
        "layers_block_type": ["mamba", "hybrid"] * 2,
        "num_key_value_heads": 4,
        "mamba_headdim": 16,
    },
}
"""Settings of single configurations, where sizes depend on each other."""


class Verdict(NamedTuple):
    """How asking a model of a class went."""

    model_type: str
    name: str
    verdict: str
    difference: float
    note: str
    seconds: float
    """What it took to try how the model can be asked."""


def model_types() -> dict[str, str]:
    """Return the types of causal models, each with the name of its class; no class twice."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES as NAMES

    of_class: dict[str, str] = {}
    for model_type, name in NAMES.items():
        # The configuration of a text model alone is simpler than that of all its senses.
        if name not in of_class or model_type == f"{of_class[name]}_text":
            of_class[name] = model_type
    return {model_type: name for name, model_type in of_class.items()}


def tiny_model(model_type: str, *, seed: int = 1, spread: float | None = 0.3) -> Any:
    """Return a small model with random weights of a spread, or with the library's own."""
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING

    kind = CONFIG_MAPPING[model_type]
    found = MODEL_FOR_CAUSAL_LM_MAPPING[kind]
    owner = found[0] if isinstance(found, tuple) else found
    config = _small(kind, spread)
    if not isinstance(config, owner.config_class):
        config = config.get_text_config(decoder=True)
    torch.manual_seed(seed)
    model = owner(config).eval()
    if hasattr(model, "set_default_language"):
        model.set_default_language(config.languages[0])
    return model


def _small(kind: Any, spread: float | None) -> Any:
    """Return a configuration of some kind with what makes a model small."""
    from transformers import PreTrainedConfig

    own = OWN.get(kind.model_type, {})
    try:
        default = kind()
    except Exception:  # it needs what is its own
        return kind(**own)
    settings: dict[str, Any] = {}
    given = default.to_dict()
    heads = {given.get("num_attention_heads"), given.get("linear_num_value_heads")}
    for name, value in given.items():
        part = default.__dict__.get(name)
        if isinstance(part, PreTrainedConfig):
            settings[name] = _small(type(part), spread).to_dict()
        elif name.endswith(("token_id", "token_index")):
            if not isinstance(value, int) or value >= VOCABULARY:
                known = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
                settings[name] = known.get(name, VOCABULARY - 1)
        elif name in {"is_decoder", "causal"}:
            settings[name] = True
        elif name in {"initializer_range", "init_std"} and spread is not None:
            settings[name] = spread
        elif isinstance(value, int) and value > 0:
            least = 4 if name.endswith(("key_value_heads", "key_heads")) and value in heads else 0
            for size in (size for names, size in SMALL.items() if re.fullmatch(names, name)):
                settings[name] = min(value, max(size, least))
    if "qk_head_dim" in settings:
        settings["qk_head_dim"] = 16
    return kind(**settings | own)


def plain_rows(model: TransformerModel, words: Words, together: int = 1) -> Rows:
    """Return the distributions of words, all of whose tokens are computed each time."""
    spelling = model.spelling
    texts = [[*model.prompt, *tokens] for tokens in spelling.spelled(words)]
    logs = []
    for prefix, wanted in zip(spelling.prefixes, spelling.wanted, strict=True):
        table = np.empty((len(texts), len(wanted)))
        for length in {len(text) for text in texts}:
            same = [place for place, text in enumerate(texts) if len(text) == length]
            for begin in range(0, len(same), together):
                part = same[begin : begin + together]
                inputs = torch.tensor([[*texts[place], *prefix] for place in part])
                with torch.inference_mode():
                    logits = model._model.module(inputs, use_cache=False).logits[:, -1].double()
                table[part] = logits.log_softmax(-1).numpy()[:, wanted]
        logs.append(table)
    return spelling.rows(logs)


def judge(model_type: str, spread: float | None = 0.3) -> Verdict:
    """Ask a small model for all words up to some length, in batches and plainly."""
    name = model_types().get(model_type, model_type)

    def verdict(text: str, difference: float = 0.0, note: object = "", taken: float = 0) -> Verdict:
        return Verdict(model_type, name, text, difference, " ".join(str(note).split())[:200], taken)

    try:
        network = tiny_model(model_type, spread=spread)
    except Exception as error:  # of any code that there is
        return verdict("not built", note=error)
    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = TransformerModel(network, None, SYMBOLS, prompt=PROMPT, ends=[0, 2])
        except InputError as error:
            return verdict("refused", note=error)
    taken = time.perf_counter() - started
    said = [str(each.message) for each in caught if "nothing can be kept" in str(each.message)]
    said = [text[text.find("(") + 1 : text.rfind(")")] for text in said]
    count = len(SYMBOLS)
    words = Words.of([w for n in range(LONGEST + 1) for w in product(range(count), repeat=n)])
    rows = ask_words(model, words)
    difference = float(np.abs(rows.values - plain_rows(model, words, together=32).values).max())
    if not difference <= RIGHT:
        return verdict("wrong", difference, "; ".join(said), taken)
    return verdict("kept" if model.keeps else "re-encoded", difference, "; ".join(said), taken)


def judge_all(types: Iterable[str], spread: float | None = 0.3) -> list[Verdict]:
    """Judge types of models, each in a process of its own that may take its time."""
    from transformers import DynamicCache, PreTrainedModel  # noqa: F401, for all processes at once

    context = multiprocessing.get_context("fork")
    verdicts = []
    for model_type in types:
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_send, args=(sender, judge, model_type, spread))
        process.start()
        sender.close()
        given: Any
        note = f"longer than {SECONDS} s"
        try:
            given = receiver.recv() if receiver.poll(SECONDS) else None
        except EOFError:
            given, note = None, "the process ended"
        if isinstance(given, str):
            given, note = None, " ".join(given.split())
        if given is None:
            given = Verdict(model_type, model_types()[model_type], "failed", np.nan, note, 0.0)
        process.kill()
        process.join()
        verdicts.append(given)
        print(f"{given.model_type}: {given.verdict} {given.note}", file=sys.stderr, flush=True)
    return verdicts


def _send(sender: Connection, job: Callable[..., object], *arguments: object) -> None:
    """Send what a job returns, or the text of what goes wrong in it."""
    try:
        sender.send(job(*arguments))
    except Exception as error:
        sender.send(f"{type(error).__name__}: {error}")


def main() -> None:
    """Print how many classes there are of each verdict, and why those that are not kept are not."""
    import transformers

    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    types = sys.argv[1:] or list(model_types())
    verdicts = judge_all(types)
    print(f"transformers {transformers.__version__}\n")
    print_header(["verdict", "classes", "largest difference", "longest trial, seconds"])
    for verdict in VERDICTS:
        rows = [each for each in verdicts if each.verdict == verdict]
        worst = max((each.difference for each in rows), default=0.0)
        print_row([verdict, len(rows), worst, max((each.seconds for each in rows), default=0.0)])
    print()
    print_header(["class", "verdict", "why"])
    for each in sorted(verdicts, key=lambda each: (VERDICTS.index(each.verdict), each.name)):
        if each.verdict != "kept":
            print_row([each.name, each.verdict, each.note.replace("|", "/")])


if __name__ == "__main__":
    main()
