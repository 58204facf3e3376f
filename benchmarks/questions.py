"""How much is asked: words, symbols and equivalence queries of sixty runs of all kinds.

``python -m benchmarks.questions --json FILE`` measures this checkout, with ``--root FOLDER`` the
sources of another one; ``python -m benchmarks.questions --compare BEFORE AFTER`` prints in what two
such files differ. All runs are seeded, so that a difference is one of the code. ``received`` is
counted at the model itself: the words that a function is called with, the symbols that a network
takes a step for, the tokens that go through a transformer; audits are part of it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.checkouts import call, command_in, find
from benchmarks.counted import (
    example,
    forcing_guide,
    function,
    guide,
    layers,
    named_function,
    of_words,
    one_state,
    random,
    sparse,
    stacked,
    transformer,
)
from benchmarks.support import print_header, print_row

Figures = dict[str, Any]
Case = Callable[[], Figures]
COLUMNS = ("states", "words", "symbols", "equivalence queries", "distributions", "cost", "stored")


def learn(model: Any, counted: Any = None, **options: Any) -> Figures:
    """Learn a model and return the figures of the run."""
    result = call("learn", model, **options)
    figures = _figures_of(result.statistics)
    figures["automaton"] = _digest(result.pdfa)
    figures["certificate"] = result.certificate.kind
    if counted is not None:
        figures["received"] = counted.received
    return figures


def _figures_of(statistics: Any) -> Figures:
    names = {"stored": "stored_words"}
    return {
        name: round(getattr(statistics, names.get(name, name.replace(" ", "_")), 0), 6)
        for name in COLUMNS
    }


def _digest(pdfa: Any) -> str:
    """Return a short text that is the same for automata that are equal up to rounding."""
    rounded = np.round(pdfa.probabilities, 6) + 0.0
    parts = np.ascontiguousarray(pdfa.transitions, dtype=np.int64).tobytes() + rounded.tobytes()
    return hashlib.sha256(parts).hexdigest()[:12]


def distill(model: Any, counted: Any = None, **options: Any) -> Figures:
    """Distil a model and return the figures of the run; its states are those of the best size."""
    seen: list[Any] = []
    frontier = call("distill", model, progress=seen.append, **options)
    details = frontier.certificate.details
    figures: Figures = {
        "states": len(frontier.best),
        "words": details["words_asked"],
        "symbols": details["symbols_asked"],
        "distributions": details["answers"],
        "cost": round(seen[-1].cost, 6),
        "stored": details["stored_words"],
        "sizes": [point.states for point in frontier],
        "automaton": _digest(frontier.best),
    }
    if counted is not None:
        figures["received"] = counted.received
    return figures


def of(pdfa: Any, kappa: int = 1000, **options: Any) -> Figures:
    """Learn a PDFA, or a wrapper of one, up to quantization."""
    return learn(pdfa, equivalence=find("Quantization")(kappa), **options)


def exactly(pdfa: Any, kappa: int = 1000) -> Any:
    """Return the exact oracle of a target."""
    return call("ExactOracle", pdfa, equivalence=find("Quantization")(kappa))


def sampled(length: int, share: float = 0.05) -> Any:
    """Return an oracle that samples uniform words."""
    sampler = find("UniformWords")(max_length=length)
    return find("PACOracle")(epsilon=share, delta=share, sampler=sampler, seed=1)


def network(made: tuple[Any, Any], kappa: int = 5, **options: Any) -> Figures:
    """Learn a network within a budget of words."""
    model, counted = made
    budget = find("Budget")(max_words=1500)
    relation = find("Quantization")(kappa)
    return learn(
        model, counted, equivalence=relation, oracle=sampled(6), **{"budget": budget, **options}
    )


def wrapped(wrap: Callable[[Any], Any], made: tuple[Any, Any] | None = None) -> Figures:
    """Learn a wrapped PDFA, or a wrapped function or network, with the default oracle."""
    if made is None:
        return of(wrap(random(20, 4, seed=21)), kappa=100)
    model, counted = made
    return learn(wrap(model), counted, equivalence=find("Quantization")(20), budget=_words(3000))


def _words(most: int) -> Any:
    return find("Budget")(max_words=most)


def bounded(**bounds: Any) -> Figures:
    """Learn a function that charges for words and symbols within a budget."""
    cost = find("QueryCost")(call=5.0, word=1.0, prefix=0.5, symbol=0.25)
    target = random(100, 3, seed=31)
    model, counted = function(target, cost=cost)
    return learn(model, counted, oracle=exactly(target), budget=find("Budget")(**bounds))


def stored(first: int | None, made: Callable[[], tuple[Any, Any]]) -> Figures:
    """Learn with a store; after a first run with so many words at most if that is given."""
    with TemporaryDirectory() as folder:
        options = {"store": Path(folder) / "answers.db", "oracle": sampled(8), "seed": 1}
        options["equivalence"] = find("Quantization")(10)
        if first is not None:
            learn(made()[0], budget=_words(first), **options)
        model, counted = made()
        return learn(model, counted, budget=_words(1000), **options)


def exact_function(pdfa: Any, **options: Any) -> Figures:
    """Learn a function with the exact oracle of its PDFA."""
    model, counted = function(pdfa)
    return learn(model, counted, oracle=exactly(pdfa), **options)


def with_defaults(made: tuple[Any, Any]) -> Figures:
    """Learn a function with the default relation and oracle."""
    model, counted = made
    return learn(model, counted)


def rival(learner: str, made: tuple[Any, Any] | Any) -> Figures:
    """Learn by a tolerance, as the rivals do."""
    model, counted = made if isinstance(made, tuple) else (made, None)
    relation = find("Tolerance")(0.1)
    return learn(model, counted, equivalence=relation, learner=learner, budget=_words(2000))


def distilled(made: tuple[Any, Any] | Any, **bounds: Any) -> Figures:
    """Distil a model within a budget."""
    model, counted = made if isinstance(made, tuple) else (made, None)
    return distill(model, counted, budget=find("Budget")(**bounds), seed=1)


def target(
    size: int, symbols: int = 2, *, seed: int, learner: str = "quant", **options: Any
) -> Figures:
    """Learn a random target; options are those of drawing it."""
    return of(random(size, symbols, seed=seed, **options), learner=learner)


def automata() -> dict[str, Case]:
    """Random targets of several kinds, and those that are made without chance."""
    few: dict[str, Any] = {"zero_probability": 0.9, "undefined": True}
    some: dict[str, Any] = {"zero_probability": 0.3, "undefined": True}
    return {
        "automaton: n=20, m=2": partial(target, 20, seed=1),
        "automaton: n=100, m=2": partial(target, 100, seed=2),
        "automaton: n=300, m=2": partial(target, 300, seed=3),
        "automaton: n=1000, m=3": partial(target, 1000, 3, seed=4),
        "automaton: n=100, κ=10": lambda: of(random(100, seed=5), kappa=10),
        "automaton: n=100, exact": lambda: learn(random(100, seed=6), equivalence=find("Exact")()),
        "automaton: n=100, d=2": partial(target, 100, distributions=2, seed=7),
        "automaton: n=100, d=4": partial(target, 100, distributions=4, seed=8),
        "large alphabet: n=30, m=40": partial(target, 30, 40, seed=9),
        "large alphabet: n=20, m=200": partial(target, 20, 200, seed=10),
        "large alphabet: n=10, m=1000": partial(target, 10, 1000, seed=11),
        "undefined: n=200, m=4": partial(target, 200, 4, seed=11, **some),
        "undefined: n=100, m=40": partial(target, 100, 40, seed=12, **few),
        "zeros: n=100, m=10": partial(target, 100, 10, seed=13, zero_probability=0.5),
        "chain: n=100": lambda: of(example("chain", 100)),
        "chain: n=50, reset": lambda: of(example("chain", 50, reset=True)),
        "lock: n=30, m=2": lambda: of(example("combination_lock", 30)),
        "lock: n=10, m=3": lambda: of(example("combination_lock", 10, 3, seed=1)),
        "figure 1": lambda: of(example("figure_1")),
        "figure 2": lambda: of(example("figure_2")[0], kappa=10),
        "figure 3": lambda: of(example("figure_3"), kappa=10),
        "Reber": lambda: of(example("reber")),
        "one state": lambda: of(one_state()),
    }


def learners() -> dict[str, Case]:
    """Other learners than the fast QuaNT."""
    classes: dict[str, Any] = {"learner": "quant-classes"}
    paper: dict[str, Any] = {"learner": "quant-paper"}
    return {
        "quant-classes: n=100, d=3": partial(target, 100, distributions=3, seed=16, **classes),
        "quant-classes: function": lambda: exact_function(
            random(40, 3, distributions=4, seed=17), **classes
        ),
        "quant-paper: n=30": partial(target, 30, seed=18, **paper),
        "quant-paper: n=20, d=2": partial(target, 20, distributions=2, seed=19, **paper),
        "lpstar: function": lambda: rival("lpstar", function(random(10, seed=1))),
        "wlstar: Tomita 5": lambda: rival("wlstar", example("tomita", 5)),
    }


def functions() -> dict[str, Case]:
    """Functions of batches and of words, with undefined words and sparse rows."""
    return {
        "function: n=50": lambda: exact_function(random(50, 3, seed=20)),
        "function: n=300, d=2": lambda: exact_function(random(300, distributions=2, seed=1)),
        "function: default oracle": lambda: with_defaults(function(random(20, seed=22))),
        "function: undefined": lambda: with_defaults(
            function(random(8, 2, seed=23), defined=False)
        ),
        "function: of words": lambda: with_defaults(of_words(undefined=False)),
        "function: of words, undefined": lambda: with_defaults(of_words(undefined=True)),
        "function: sparse rows": lambda: with_defaults(sparse()),
    }


def networks() -> dict[str, Case]:
    """Recurrent networks and a transformer with random weights."""
    return {
        "network: GRU": lambda: network(layers("GRU")),
        "network: LSTM": lambda: network(layers("LSTM"), kappa=3),
        "network: GRU, little memory": lambda: network(layers("GRU", memory=2**13)),
        "network: GPT-2": lambda: network(transformer(), kappa=4, budget=_words(300)),
    }


def wrappers() -> dict[str, Case]:
    """Wrappers of automata, of functions and of a transformer."""

    def guided(model: Any) -> Any:
        return find("Guided")(model, guide(4))

    def four(model: Any) -> Any:
        return stacked(model, 4)

    return {
        "wrapper: Guided(PDFA)": lambda: wrapped(guided),
        "wrapper: TopK(PDFA)": lambda: wrapped(lambda model: find("TopK")(model, 2)),
        "wrapper: TopP(PDFA)": lambda: wrapped(lambda model: find("TopP")(model, 0.7)),
        "wrapper: Temperature(PDFA)": lambda: wrapped(lambda m: find("Temperature")(m, 0.5)),
        "wrapper: stack(PDFA)": lambda: wrapped(four),
        "wrapper: Guided(function)": lambda: wrapped(guided, function(random(10, 4, seed=24))),
        "wrapper: TopK(function)": lambda: wrapped(
            lambda model: find("TopK")(model, 2), function(random(10, 4, seed=25))
        ),
        "wrapper: stack(function)": lambda: wrapped(four, function(random(10, 4, seed=26))),
        "wrapper: Guided(GPT-2), forced": lambda: wrapped(
            lambda model: find("Guided")(model, forcing_guide()), transformer()
        ),
    }


def spending() -> dict[str, Case]:
    """Budgets, stores, and distilling within a budget."""
    return {
        "budget: max_words=200": lambda: bounded(max_words=200),
        "budget: max_symbols=150": lambda: bounded(max_symbols=150),
        "budget: max_cost=300": lambda: bounded(max_cost=300.0),
        "budget: max_states=20": lambda: bounded(max_states=20),
        "store: fresh": lambda: stored(None, named_function),
        "store: resumed": lambda: stored(150, named_function),
        "store: resumed network": lambda: stored(150, lambda: layers("GRU")),
        "distill: figure 3": lambda: distilled(example("figure_3"), max_symbols=2000),
        "distill: function": lambda: distilled(function(random(10, 3, seed=27)), max_words=1000),
        "distill: GRU": lambda: distilled(layers("GRU"), max_symbols=1500),
        "distill: TopK(PDFA)": lambda: distilled(
            find("TopK")(random(10, 4, seed=28), 2), max_symbols=1500
        ),
    }


def cases() -> dict[str, Case]:
    """Return the sixty runs by their names: a kind, and what tells it from others of its kind."""
    kinds = (automata, learners, functions, networks, wrappers, spending)
    return {name: case for kind in kinds for name, case in kind().items()}


def measure(names: Sequence[str] = ()) -> dict[str, Figures]:
    """Run all cases, or some, with the package that is found first."""
    measured = {}
    for name, case in cases().items():
        if names and not any(part in name for part in names):
            continue
        started = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            measured[name] = case()
        print(f"{name}: {time.process_time() - started:.2f} s", file=sys.stderr, flush=True)
    return measured


def differences(before: dict[str, Figures], after: dict[str, Figures]) -> Iterator[list[object]]:
    """Yield a row for every figure that differs: its case, its name, before and after."""
    for name in dict.fromkeys([*before, *after]):
        old, new = before.get(name, {}), after.get(name, {})
        for figure in dict.fromkeys([*old, *new]):
            if old.get(figure) != new.get(figure):
                yield [name, figure, old.get(figure, "–"), new.get(figure, "–")]


def compare(before: Path, after: Path) -> None:
    """Print in what two files of figures differ."""
    old, new = (json.loads(path.read_text(encoding="utf-8")) for path in (before, after))
    rows = list(differences(old, new))
    same = len([name for name in old if old[name] == new.get(name)])
    print(f"{same} of {len(old)} runs are the same in every figure.\n")
    if rows:
        print_header(["run", "figure", "before", "after"])
    for row in rows:
        print_row(row)


def main(words: Sequence[str] | None = None) -> None:
    """Do what the words of the command line ask for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.questions")
    parser.add_argument("names", nargs="*", help="only runs whose names have one of these parts")
    parser.add_argument("--root", type=Path, help="the checkout to measure, if not this one")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write the figures")
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("BEFORE", "AFTER"))
    arguments = parser.parse_args(words)
    if arguments.compare:
        compare(*arguments.compare)
    elif arguments.root:
        to_file = [] if arguments.json is None else ["--json", str(arguments.json.resolve())]
        command, environment = command_in(
            arguments.root, "benchmarks.questions", *to_file, *arguments.names
        )
        sys.exit(subprocess.run(command, env=environment, check=False).returncode)
    else:
        figures = measure(arguments.names)
        if arguments.json:
            arguments.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
        print_header(["run", *COLUMNS, "received"])
        for name, row in figures.items():
            print_row([name, *(row.get(column, "") for column in (*COLUMNS, "received"))])


if __name__ == "__main__":
    main()
