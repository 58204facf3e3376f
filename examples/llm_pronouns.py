"""Professions and pronouns: the classes into which an LLM puts professions.

Run with ``python -m examples.llm_pronouns [FOLDER]``; a folder gets the picture. Needs
``pip install '.[llm-demo]'``.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from benchmarks.support import print_header, print_row
from examples.llms import (
    LLM,
    enumerated,
    print_learnt,
    print_states,
    run,
    text,
)
from pdfalearn import PDFA, save

_LIST = """
nurse teacher librarian secretary dancer nanny maid receptionist cleaner singer actress model
doctor lawyer scientist writer artist student chef waiter manager cashier tailor baker
engineer mechanic pilot soldier farmer carpenter plumber driver guard king priest captain
"""
PROFESSIONS = _LIST.split()
BECAUSE = " went home because"
PRONOUNS = (" he", " she", " they")
PROMPT = "The"


def show(llm: LLM, pictures: Path | None = None) -> None:
    """Print what the words cost, and the classes at κ = 4."""
    professions = [f" {profession}" for profession in PROFESSIONS]
    guide = f"({'|'.join(professions)}){BECAUSE}({'|'.join(PRONOUNS)})"
    model = llm.guided([*professions, BECAUSE, *PRONOUNS], guide, PROMPT, ends=["."])
    print(f"### {PROMPT} …{BECAUSE} …\n")
    tree, cost = enumerated(model)
    automaton = print_learnt(model, tree, cost, {4: None})[4]
    print_states(tree)
    print_classes(automaton)
    if pictures is not None:
        save(automaton, pictures / "llm-pronouns.svg")


def print_classes(pdfa: PDFA) -> None:
    """Print which professions lead to one state, and what follows there."""
    words = [(f" {profession}", BECAUSE) for profession in PROFESSIONS]
    members = defaultdict(list)
    for word, state in zip(words, pdfa.states_after(words).tolist(), strict=True):
        members[state].append(text(word[:1]))
    columns = [1 + pdfa.alphabet.index(pronoun) for pronoun in PRONOUNS]
    print_header(["professions", *map(text, PRONOUNS)])
    for state, names in sorted(members.items(), key=lambda item: -len(item[1])):
        row = pdfa.probabilities[state, columns]
        print_row([", ".join(names), *(f"{share:.2f}" for share in row)])
    print("\nThe rows are those of the first word that was asked of a class.\n")


if __name__ == "__main__":
    run(show)
