"""The weights that the package textgenrnn 2.0.0 carries, fetched with pip and read."""

from __future__ import annotations

import json
import tarfile
from hashlib import sha256
from pathlib import Path

from benchmarks.distilling.caching import cache_folder, download_package
from benchmarks.distilling.characters import LSTM, CharacterModel, CharacterNetwork, Singles
from pdfalearn.errors import MissingExtraError

PACKAGE = "textgenrnn==2.0.0"
WEIGHTS, VOCABULARY = "textgenrnn_weights.hdf5", "textgenrnn_vocab.json"


def textgenrnn() -> CharacterModel:
    """Return the network of textgenrnn 2.0.0; it is fetched into the cache folder at first."""
    folder = cache_folder() / "textgenrnn"
    if not (folder / VOCABULARY).exists():
        _fetch(folder)
    vocabulary = json.loads((folder / VOCABULARY).read_text(encoding="utf-8"))
    hashed = sha256((folder / WEIGHTS).read_bytes()).hexdigest()
    return CharacterModel(read_network(folder / WEIGHTS), vocabulary, f"textgenrnn {hashed}")


def read_network(path: Path) -> CharacterNetwork:
    """Read weights as Keras has written them."""
    try:
        import h5py
    except ImportError as error:
        raise MissingExtraError("h5py is missing: pip install '.[bench]'") from error
    with h5py.File(path) as file:

        def read(layer: str, name: str) -> Singles:
            values: Singles = file[f"{layer}/{layer}/{name}:0"][()]
            return values

        first, second = (
            LSTM.of_cudnn(*(read(layer, name) for name in ("kernel", "recurrent_kernel", "bias")))
            for layer in ("rnn_1", "rnn_2")
        )
        attention = read("attention", "attention_W")[:, 0]
        output = read("output", "kernel"), read("output", "bias")
        return CharacterNetwork(read("embedding", "embeddings"), first, second, attention, *output)


def _fetch(folder: Path) -> None:
    """Download the package with pip, and keep the two files of it that matter."""
    with (
        download_package(PACKAGE, "--no-binary=:all:") as path,
        tarfile.open(path) as archive,
    ):
        folder.mkdir(parents=True, exist_ok=True)
        for name in (WEIGHTS, VOCABULARY):  # the vocabulary last: it says that both are there
            inside = archive.extractfile(f"{PACKAGE.replace('==', '-')}/textgenrnn/{name}")
            if inside is None:
                raise RuntimeError(f"{name} is missing in {PACKAGE}")
            (folder / name).write_bytes(inside.read())
