"""Run the same job with the sources of several checkouts, whose public names differ."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parents[1]
_ROOMS = (
    *("alphabet", "analysis", "budgets", "datasets", "equivalence", "errors", "generate"),
    *("languages", "learners", "metrics", "models", "oracles", "results", "rows", "samplers"),
    *("stores", "words"),
)
"""Where a name may be that is not at the top."""
_OTHER_WORDS = {
    "equivalence": "by",
    "cost": "price",
    "fingerprint": "identity",
    "sampler": "words",
}
"""Keywords that were renamed, one way or the other."""
_LEFT_OUT = {"cost", "price", "fingerprint", "identity"}
"""Keywords that change nothing in what is learnt, and that some editions do not have."""
_OTHER_NAMES = {"QueryCost": "Price"}


def command_in(root: Path, module: str, *words: str) -> tuple[list[str], dict[str, str]]:
    """Return the command that runs a module of the benchmarks with another checkout's sources.

    Parameters
    ----------
    root : Path
        The other checkout.
    module : str
        The module, of this checkout.
    *words : str
        What follows on the command line.

    Returns
    -------
    command, environment
        For `subprocess`; there is one thread.
    """
    if not (root / "src" / "pdfalearn").is_dir():
        raise SystemExit(f"there is no package pdfalearn in {root / 'src'}")
    paths = os.pathsep.join([str(root.resolve() / "src"), str(_HERE)])
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    environment = {**os.environ, **threads, "PYTHONPATH": paths, "PYTHONHASHSEED": "0"}
    return [sys.executable, "-P", "-m", module, *words], environment


def find(name: str) -> Any:
    """Return a public name of the package, at the top or in the room that has it now."""
    package = import_module("pdfalearn")
    for known in (name, _OTHER_NAMES.get(name, name)):
        if known in package.__all__:
            return getattr(package, known)
        for room in _ROOMS:
            if find_spec(f"pdfalearn.{room}") is not None:
                value = getattr(import_module(f"pdfalearn.{room}"), known, None)
                if getattr(value, "__module__", "").startswith("pdfalearn"):  # not an import's
                    return value
    raise LookupError(f"there is no public name {name}")


def call(function: str | Callable[..., Any], *arguments: object, **keywords: object) -> Any:
    """Call a function of the package, or make a thing of a class, with the keywords that it has.

    Keywords that were renamed are given by either name. Where a function has neither, the price
    and the identity are left out, as a first edition's function has none.
    """
    called = find(function) if isinstance(function, str) else function
    taken = inspect.signature(called).parameters
    chosen: dict[str, object] = {}
    for name, value in keywords.items():
        others = [new for new, old in _OTHER_WORDS.items() if old == name]
        names = [name, _OTHER_WORDS.get(name, name), *others]
        known = next((each for each in names if each in taken), None)
        if known is not None:
            chosen[known] = value
        elif name not in _LEFT_OUT:
            chosen[name] = value
    return called(*arguments, **chosen)
