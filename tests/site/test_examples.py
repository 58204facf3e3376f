"""Every public name has an example; src/ is collected with --doctest-modules, so that it runs."""

from __future__ import annotations

import doctest
import importlib

import pytest

from tools import site_hooks

NAMES = [name for _, name in site_hooks.public_names()]


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_has_an_example(name: str) -> None:
    module, _, last = name.rpartition(".")
    text = getattr(importlib.import_module(module), last).__doc__
    assert "\nExamples\n--------\n" in "\n".join(line.strip() for line in text.split("\n"))
    found = doctest.DocTestParser().get_examples(text)
    assert any(example.want for example in found), "an example shows what comes out"
