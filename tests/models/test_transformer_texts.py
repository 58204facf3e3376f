"""Transformers asked in words: tokenizers, prompts, chats, folders."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pdfalearn import Quantization, TransformerModel, learn
from pdfalearn.errors import InputError
from pdfalearn.models import Batch
from pdfalearn.models._causal_models import load_model
from pdfalearn.oracles import AllWordsOracle
from tests.models.networks import needed_torch
from tests.models.transformers_tokenizers import blank_tokenizer, byte_tokenizer
from tests.support import need_module


def llama(vocabulary: int) -> Any:
    torch = needed_torch()
    need_module("transformers")
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(1)
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        bos_token_id=0,
        eos_token_id=0,
    )
    return LlamaForCausalLM(config).eval()


@pytest.fixture(scope="module")
def of_bytes() -> Any:
    need_module("transformers")
    return byte_tokenizer()


@pytest.fixture(scope="module")
def of_blanks() -> Any:
    need_module("transformers")
    return blank_tokenizer()


@pytest.fixture(scope="module")
def folder(of_bytes: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model")
    llama(len(of_bytes)).save_pretrained(path)
    of_bytes.save_pretrained(path)
    return path


def test_texts_have_their_canonical_tokens(of_bytes: Any) -> None:
    model = TransformerModel(llama(400), of_bytes, [" heads", " tails"], prompt="coin:")
    for text, tokens in zip((" heads", " tails"), model.spelling.tokens, strict=True):
        assert of_bytes.decode(list(tokens)) == text
        assert list(tokens) == of_bytes.encode(text, add_special_tokens=False)
    assert of_bytes.decode(list(model.prompt)) == "coin:"
    assert model.spelling.ends == (0,)


def test_a_blank_put_before_texts_is_taken_off(of_blanks: Any) -> None:
    model = TransformerModel(
        llama(90), of_blanks, ["7", " heads"], prompt="the number", ends=["\n"]
    )
    pieces = [of_blanks.convert_ids_to_tokens(list(path)) for path in model.spelling.tokens]
    assert pieces[0] == ["7"]
    assert "".join(pieces[1]) == "▁heads"
    assert model.prompt[0] == of_blanks.bos_token_id
    assert of_blanks.convert_ids_to_tokens(list(model.spelling.ends)) == ["\n"]


def test_an_empty_prompt_is_the_begin_of_a_text(of_bytes: Any, of_blanks: Any) -> None:
    assert TransformerModel(llama(400), of_bytes, ["7"]).prompt == (0,)
    assert TransformerModel(llama(90), of_blanks, ["7"], ends="rest").prompt == (1,)


def test_a_chat_template_is_put_around_messages(of_bytes: Any) -> None:
    made = TransformerModel(llama(400), of_bytes, ["7"], prompt="hello", chat=True)
    assert of_bytes.decode(list(made.prompt)) == "<user>hello\n<assistant>"
    messages = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}]
    made = TransformerModel(llama(400), of_bytes, ["7"], prompt=messages, chat=True)
    assert of_bytes.decode(list(made.prompt)) == "<system>be brief\n<user>hi\n<assistant>"
    wrong: list[Any] = [["hello"], [1, 2]]
    for prompt in wrong:
        with pytest.raises(InputError, match="the chat template does not take the prompt"):
            TransformerModel(llama(400), of_bytes, ["7"], prompt=prompt, chat=True)


def test_a_prompt_that_ends_in_a_space_is_warned_of(of_bytes: Any) -> None:
    with pytest.warns(UserWarning, match="ends in a space"):
        TransformerModel(llama(400), of_bytes, ["7"], prompt="the number is ")


def test_a_folder_gives_what_the_objects_give(folder: Path, of_bytes: Any) -> None:
    options: dict[str, Any] = {"symbols": [" heads", " tails"], "prompt": "coin:", "ends": "rest"}
    from_folder = TransformerModel(folder, **options)
    objects = TransformerModel(llama(len(of_bytes)), of_bytes, **options)
    assert from_folder.fingerprint == objects.fingerprint
    results = [
        learn(model, equivalence=Quantization(3), oracle=AllWordsOracle(2))
        for model in (from_folder, objects)
    ]
    first, second = (result.pdfa for result in results)
    assert (first.transitions == second.transitions).all()
    np.testing.assert_allclose(first.probabilities, second.probabilities, atol=1e-6)


def test_from_pretrained_loads_model_and_tokenizer(of_bytes: Any, tmp_path: Path) -> None:
    llama(400).save_pretrained(tmp_path)
    of_bytes.save_pretrained(tmp_path)
    options: Any = {"symbols": ["7", "42"], "prompt": "The answer:", "precision": "float64"}
    loaded_model = TransformerModel.from_pretrained(str(tmp_path), **options)
    assert loaded_model.fingerprint == TransformerModel(tmp_path, of_bytes, **options).fingerprint
    rows = loaded_model.answer(Batch.of([(), (0, 1)])).to_dense()
    assert np.allclose(rows.sum(axis=1), 1)
    with pytest.raises(InputError, match="is not a folder"):
        TransformerModel.from_pretrained(tmp_path / "nowhere", ["7"])


def test_a_name_is_found_on_the_hub_or_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    import huggingface_hub

    asked: list[str] = []

    def download(name: str, **_: Any) -> str:
        asked.append(name)
        if name != "owner/tiny-1.0":
            raise ConnectionError("no\nnetwork")
        return str(folder)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    with caplog.at_level("INFO", logger="pdfalearn"):
        model = TransformerModel.from_pretrained("owner/tiny-1.0", ["7"], ends="rest")
    assert "keeps keys and values: True" in caplog.text
    assert model.fingerprint == TransformerModel(folder, symbols=["7"], ends="rest").fingerprint
    with pytest.raises(InputError, match=r"owner/other is not a local folder, and .* no network"):
        TransformerModel.from_pretrained("owner/other", ["7"])
    for path in ("./owner/tiny-1.0", "/owner", "a/b/c", Path("owner/tiny-1.0")):
        with pytest.raises(InputError, match="is not a folder; save a model there"):
            TransformerModel.from_pretrained(path, ["7"])
    assert asked == ["owner/tiny-1.0", "owner/other"]


def test_precision_is_part_of_the_fingerprint(folder: Path) -> None:
    import torch

    double = TransformerModel(str(folder), symbols=["7"], precision="float64")
    by_type = TransformerModel(str(folder), symbols=["7"], precision=torch.float64)
    assert by_type.fingerprint == double.fingerprint
    assert double.fingerprint != TransformerModel(str(folder), symbols=["7"]).fingerprint


def test_bad_folders(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a folder"):
        TransformerModel(tmp_path / "nowhere", symbols=["7"])
    with pytest.raises(InputError, match=r"config\.json is missing"):
        TransformerModel(tmp_path, symbols=["7"])
    (tmp_path / "config.json").write_text((folder / "config.json").read_text())
    with pytest.raises(InputError, match="holds no tokenizer"):
        TransformerModel(tmp_path, symbols=["7"])
    with pytest.raises(InputError, match="holds no causal language model"):
        load_model(tmp_path, None, None)
    with pytest.raises(InputError, match="there is no device 'nowhere'"):
        TransformerModel(folder, symbols=["7"], device="nowhere")
    with pytest.raises(InputError, match="is not a type of torch"):
        TransformerModel(folder, symbols=["7"], precision="float33")


def test_weights_that_are_missing_are_not_made_up(
    folder: Path, of_bytes: Any, tmp_path: Path
) -> None:
    import json

    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    config = json.loads((folder / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 2}))
    with pytest.raises(InputError, match=r"lack model\.layers\.1\..*random each time"):
        TransformerModel(tmp_path, of_bytes, ["7"])


def test_code_and_pickles_of_a_folder_are_not_run(
    folder: Path, of_bytes: Any, tmp_path: Path
) -> None:
    import json

    import torch

    config = json.loads((folder / "config.json").read_text())
    code = {**config, "model_type": "own", "auto_map": {"AutoModelForCausalLM": "own.Own"}}
    (tmp_path / "config.json").write_text(json.dumps(code))
    (tmp_path / "own.py").write_text("raise SystemExit('it was run')")
    with pytest.raises(InputError, match="holds no causal language model"):
        TransformerModel(tmp_path, of_bytes, ["7"])
    (tmp_path / "config.json").write_text(json.dumps(config))
    torch.save(llama(400).state_dict(), tmp_path / "pytorch_model.bin")
    with pytest.raises(InputError, match="holds no causal language model"):
        TransformerModel(tmp_path, of_bytes, ["7"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"symbols": ["7", "§"]}, "does not know the text '§'"),
        ({"symbols": ["7", "7"]}, "the text '7' is twice"),
        ({"symbols": ["7", "78"]}, "symbol '7' begins symbol '78'"),
        ({"symbols": [""]}, "text is empty"),
        ({"symbols": []}, "the alphabet is empty"),
        ({"ends": ["time upon"]}, "an end has one"),
        ({"chat": True}, "no chat template"),
    ],
)
def test_bad_texts(options: dict[str, Any], message: str, of_blanks: Any) -> None:
    given = {"symbols": ["7"], "prompt": "coin", **options}
    with pytest.raises(InputError, match=message):
        TransformerModel(llama(90), of_blanks, **given)


def test_a_tokenizer_that_does_not_fit(of_bytes: Any) -> None:
    with pytest.raises(InputError, match="the tokenizer does not fit"):
        TransformerModel(llama(40), of_bytes, [" heads"], prompt="coin:", ends="rest")


def test_no_token_that_ends(of_bytes: Any) -> None:
    model = llama(400)
    model.config.eos_token_id = model.generation_config.eos_token_id = None
    need_module("transformers")
    bare = byte_tokenizer()
    bare.eos_token = None
    with pytest.raises(InputError, match="no token ends a text"):
        TransformerModel(model, bare, ["7"])
