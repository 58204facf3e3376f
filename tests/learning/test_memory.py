from __future__ import annotations

from pathlib import Path

import pytest

from pdfalearn import checks
from pdfalearn.errors import InputError


def test_tables_of_probabilities_and_transitions_are_counted_three_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    needed = 3 * 1000 * (11 * 8 + 10 * 4)
    monkeypatch.setattr(checks, "available_memory", lambda: needed)
    checks.check_fits(1000, 10)
    monkeypatch.setattr(checks, "available_memory", lambda: needed - 1)
    with pytest.raises(
        InputError, match=r"^1,000 states and 10 symbols need 0\.000119 GiB of tables"
    ):
        checks.check_fits(1000, 10)


def test_no_machine_has_room_for_everything() -> None:
    with pytest.raises(InputError, match="GiB of memory are available; prune the model"):
        checks.check_fits(10**9, 10**6)
    assert checks.available_memory() > 2**20


@pytest.mark.parametrize("text", [None, "MemTotal: 5 kB\n"])
def test_where_the_system_does_not_say_it_is_a_guess(
    text: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_text(path: Path, encoding: str) -> str:
        if text is None:
            raise FileNotFoundError(path)
        return text

    monkeypatch.setattr(Path, "read_text", read_text)
    assert checks.available_memory() == checks.ASSUMED_MEMORY


def test_what_linux_says_is_available(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "MemTotal:       24000000 kB\nMemFree:  9 kB\nMemAvailable:    1000 kB\n"
    monkeypatch.setattr(Path, "read_text", lambda path, encoding: text)
    assert checks.available_memory() == 1000 * 1024
