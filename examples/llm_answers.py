"""What SmolLM2-135M-Instruct answers, with certain bounds: masks, a refusal, int8, twenty capitals.

Run with ``python -m examples.llm_answers [FOLDER]``; needs ``pip install '.[llm-demo]'``. It prints
figures, and writes a page of each exploration into the folder, if one is given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pdfalearn import Budget

if TYPE_CHECKING:
    from pdfalearn.exploring import Exploration

CALLS = Budget(max_words=600)
MASKED: dict[str, tuple[dict[str, Any], str]] = {
    "a number": (
        {
            "prompt": "Give me a number between 1 and 100. Answer with the number only.",
            "chat": True,
        },
        "[1-9][0-9]?|100",
    ),
    "yes or no": (
        {"prompt": "Is Paris the capital of France? Answer yes or no.", "chat": True},
        r"(Yes|No|yes|no)\.?",
    ),
    "a coin": ({"prompt": "I toss a coin. It shows"}, " heads| tails"),
}
"""Everyday questions, and what a mask would allow as an answer."""
YES_NO = {"yes": r"(?is)\s*yes([^a-z].*)?", "no": r"(?is)\s*no([^a-z].*)?"}
REFUSAL = r"(?s)(I'm sorry|I am sorry|I cannot|I can't|Sorry|As an AI).*"
CAPITALS = (
    "Paris France|Rome Italy|Berlin Germany|Sydney Australia|Canberra Australia|Toronto Canada|"
    "Ottawa Canada|Madrid Spain|Lisbon Portugal|Zurich Switzerland|Bern Switzerland|Oslo Norway|"
    "Rio Brazil|Lima Peru|Cairo Egypt|Lagos Nigeria|Delhi India|Tokyo Japan|Seoul Korea|"
    "Hanoi Vietnam"
)


def masked_share(found: Exploration, text: str) -> Iterator[Mapping[str, float]]:
    """Placeholder."""
    raise NotImplementedError


def rounded(folder: Path) -> Any:
    """Return the model with weights rounded to eight bits, a scale for each row."""
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True).eval()
    with torch.no_grad():
        for weights in (one for one in model.parameters() if one.ndim == 2):
            scale = weights.abs().amax(dim=1, keepdim=True) / 127
            weights.copy_((weights / scale.clamp_min(1e-30)).round() * scale)
    return model
