"""Follow single calls of the package that is found first: run by ``tools/house.py``.

``python -P tools/house_runs.py NAME`` prints the figures of a call as JSON. It uses only public
names, so that it runs with checkouts of other versions.

Functions are the named functions and methods of the package that are entered while the call runs
for the first time in a process, in any thread: no lambdas, no comprehensions, no bodies of modules
and classes; what runs while a module is imported does not count. Files are those in which these
functions are, rooms the folders and modules right below the package. The depth of the user's
function is the number of calls from the function that the user called (`learn`, `distill`) to it:
1 if that called it itself. The audit asks in another way than the learner, so that there is a least
and a greatest depth.
"""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

Figures = dict[str, float]

_SHELL = """
import atexit, json, sys
atexit.register(lambda: print(json.dumps(list(sys.modules))))
from pdfalearn.cli import main
main()
"""


class Trace:
    """The functions of the package that are entered, and how deep the user's function is called.

    Parameters
    ----------
    package : module
        The package.
    """

    def __init__(self, package: ModuleType) -> None:
        self._folder = f"{Path(str(package.__file__)).parent}{os.sep}"
        self._codes: set[CodeType] = set()
        self._depths: list[int] = []

    @contextmanager
    def on(self) -> Iterator[None]:
        """Follow everything that is called in the block, in new threads too."""
        threading.setprofile(self._profile)
        sys.setprofile(self._profile)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def note_depth(self) -> None:
        """Note how deep the caller, the user's function, is called."""
        files = [frame.f_code.co_filename for frame in _frames(inspect.currentframe())]
        calls = files.index(__file__, 2)  # 0 is this function, 1 the user's
        self._depths.append(calls - 2)

    def figures(self, name: str, function: str) -> Figures:
        """Return the figures of what was followed."""
        paths = {Path(code.co_filename).relative_to(self._folder) for code in self._codes}
        return {
            f"{name}: functions": len(self._codes),
            f"{name}: files": len(paths),
            f"{name}: rooms": len({path.parts[0] for path in paths}),
            f"{name}: least depth of the user's {function}": min(self._depths),
            f"{name}: greatest depth of the user's {function}": max(self._depths),
        }

    def _profile(self, frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if event != "call" or code in self._codes or code.co_name.startswith("<"):
            return
        if code.co_filename.startswith(self._folder) and not _is_importing(frame):
            self._codes.add(code)


def _frames(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _is_importing(frame: FrameType) -> bool:
    """Return whether a frame is, or works for, the body of a class or of a module of others."""
    outer = (each.f_code for each in _frames(frame) if each.f_code.co_filename != __file__)
    return not all(code.co_flags & inspect.CO_OPTIMIZED for code in outer)


def learn() -> Figures:
    """Follow learning of a function of two states."""
    package = import_module("pdfalearn")
    trace = Trace(package)

    def parity(words: list[tuple[str, ...]]) -> list[list[float]]:
        trace.note_depth()
        return [[0.5, 0.25, 0.25] if len(word) % 2 else [0.2, 0.3, 0.5] for word in words]

    learn, model = package.learn, package.FunctionModel(parity, "ab")
    with trace.on():
        result = learn(model)
    if len(result.pdfa) != 2:
        raise RuntimeError(f"two states were to be learnt: {result.pdfa}")
    return trace.figures("learn", "function")


def distill() -> Figures:
    """Follow distilling of a tiny GRU with random weights."""
    import torch

    package = import_module("pdfalearn")
    trace = Trace(package)
    torch.manual_seed(1)
    cell, head = torch.nn.GRUCell(2, 8), torch.nn.Linear(8, 3)

    class Network:
        def start(self, count: int) -> tuple[Any, Any]:
            return self.answer(torch.ones(count, 8))

        def step(self, symbols: Any, state: Any) -> tuple[Any, Any]:
            trace.note_depth()
            return self.answer(cell(torch.nn.functional.one_hot(symbols, 2).float(), state))

        def answer(self, state: Any) -> tuple[Any, Any]:
            return 4 * head(state), state

    distill, model = package.distill, package.RecurrentModel(Network(), "ab")
    budget = package.Budget(max_symbols=1000)
    with trace.on():
        distill(model, budget=budget, seed=1)
    return trace.figures("distill", "network")


def names(*rooms: str) -> Figures:
    """Count the public names, and the lines of their docstrings."""
    package = import_module("pdfalearn")
    top = {name: getattr(package, name) for name in package.__all__}
    inner = [import_module(f"pdfalearn.{room}") for room in rooms if find_spec(f"pdfalearn.{room}")]
    everything = top | {name: value for room in inner for name, value in _exported(room).items()}
    lines = sum(_docstring_lines(value) for value in everything.values())
    return {
        "public names at the top": len(top),
        "public names in all": len(everything),
        "lines of docstring for each public name": round(lines / len(everything), 1),
    }


def _exported(module: ModuleType) -> dict[str, object]:
    """Return what a module exports: by ``__all__``, or all classes and functions defined there."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return {name: getattr(module, name) for name in listed}
    return {
        name: value
        for name, value in vars(module).items()
        if getattr(value, "__module__", None) == module.__name__ and not name.startswith("_")
    }


def _docstring_lines(value: object) -> int:
    """Return the lines of the docstrings of a public name and of its members."""
    members = list(vars(value).items()) if inspect.isclass(value) else []
    kinds = (FunctionType, property, classmethod, staticmethod, cached_property)
    public = [member for name, member in members if name[0] != "_" and isinstance(member, kinds)]
    texts = [inspect.getdoc(member) for member in public]
    return sum(len((text or "").splitlines()) for text in [value.__doc__, *texts])


def showing() -> Figures:
    """Count the modules that are imported to show an automaton in a notebook, and as a page."""
    package = import_module("pdfalearn")
    pdfa = package.PDFA(alphabet="a", transitions=[[0]], probabilities=[[0.5, 0.5]])
    pdfa._repr_mimebundle_()
    figures: Figures = {"modules of the package to show an automaton": len(_ours(sys.modules))}
    package.view(pdfa)
    return figures | {"modules of the package for its page, too": len(_ours(sys.modules))}


def shell() -> Figures:
    """Count the modules that a minimal ``pdfalearn learn`` imports."""
    package = import_module("pdfalearn")
    pdfa = package.PDFA(alphabet="a", transitions=[[0]], probabilities=[[0.5, 0.5]])
    with TemporaryDirectory() as folder:
        path = Path(folder) / "target.json"
        package.save(pdfa, path)
        code = "import sys; from pdfalearn.cli import main; sys.argv[1:] = ['learn', sys.argv[1]]"
        ending = (
            "import json, atexit; atexit.register(lambda: print(json.dumps(list(sys.modules))))"
        )
        command = [sys.executable, "-P", "-c", f"{code}; {ending}; main()", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    imported = json.loads(done.stdout.splitlines()[-1])
    return {
        "modules of the package for a shell learn": len(_ours(imported)),
        "modules in all for a shell learn": len(imported),
        "scipy.stats is imported by a shell learn": int("scipy.stats" in imported),
    }


def _ours(modules: Iterable[str]) -> list[str]:
    return [name for name in modules if name.partition(".")[0] == "pdfalearn"]


RUNS: dict[str, Callable[..., Figures]] = {
    run.__name__: run for run in (names, showing, shell, learn, distill)
}

if __name__ == "__main__":
    json.dump(RUNS[sys.argv[1]](*sys.argv[2:]), sys.stdout)
