"""What a server is asked, as tokens, and what it answers, as log-probabilities and rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from pdfalearn.errors import ModelError
from pdfalearn.models.spelling import Spelling
from pdfalearn.row_checks import BadRowError
from pdfalearn.rows import Rows
from pdfalearn.text import described
from pdfalearn.typing import Floats
from pdfalearn.words import Words, offsets_of

Tokens = tuple[int, ...]
Question = tuple[int, Tokens]
"""The number of a set of tokens to ask for, and the tokens behind the prompt."""

MOST_IDS = 128
"""The most tokens that a server like vLLM gives log-probabilities for in one request."""
Logs = dict[int, float]
"""Log-probabilities by the ids of their tokens."""
_ROUNDING = 1e-5
"""A log-probability may be this far above 0, as rounding leaves it; it then counts as 0."""
_ID = "token_id:"


@dataclass(frozen=True)
class TokenSets:
    """Sets of tokens to ask for, and which of them are wanted at which prefix of a spelling.

    The tokens of prefixes that fit into one set are asked for together, so that all prompts of a
    word go into one request; those of a prefix that has too many for one are parted.
    """

    sets: tuple[Tokens, ...]
    of_prefix: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, wanted: Iterable[Sequence[int]], most: int = MOST_IDS) -> TokenSets:
        """Pack the wanted tokens of each prefix.

        Examples
        --------
        >>> TokenSets.of([[1, 2], [2, 3], [4], [5, 6, 7, 8]], most=3)
        TokenSets(sets=((1, 2, 3), (4,), (5, 6, 7), (8,)), of_prefix=((0,), (0,), (1,), (2, 3)))
        """
        sets: list[dict[int, None]] = [{}]
        of_prefix = []
        for tokens in wanted:
            numbers = []
            for begin in range(0, len(tokens), most):
                part = dict.fromkeys(tokens[begin : begin + most])
                if len(sets[-1] | part) > most:
                    sets.append({})
                sets[-1].update(part)
                numbers.append(len(sets) - 1)
            of_prefix.append(tuple(numbers))
        return cls(tuple(map(tuple, sets)), tuple(of_prefix))

    @classmethod
    def likeliest(cls, prefixes: int) -> TokenSets:
        """Ask for no tokens, but for those that the server finds likeliest."""
        return cls(((),), ((0,),) * prefixes)


def prompts_of(words: Words, spelling: Spelling) -> list[list[Tokens]]:
    """Return for every prefix of the spelling the tokens of each word with it behind them.

    Examples
    --------
    >>> spelling = Spelling({"yes": [5], "no": [6, 7]}, ends=[2])
    >>> prompts_of(Words.of([(), (1,)]), spelling)
    [[(), (6, 7)], [(6,), (6, 7, 6)]]
    """
    spelled = [tuple(tokens) for tokens in spelling.spelled(words)]
    return [[tokens + prefix for tokens in spelled] for prefix in spelling.prefixes]


def questions_of(prompts: Sequence[Sequence[Tokens]], sets: TokenSets) -> dict[Question, int]:
    """Return all questions, each with the place of its word.

    They are in the order of the words' tokens: prompts that begin alike are near, and where a
    server fails, few words have only some of their answers.

    Examples
    --------
    >>> sets = TokenSets(((1, 2), (3,)), ((0,), (1,)))
    >>> questions_of([[(2,), (1,)], [(2, 7), (1, 7)]], sets)
    {(0, (1,)): 1, (1, (1, 7)): 1, (0, (2,)): 0, (1, (2, 7)): 0}
    """
    questions: dict[Question, int] = {}
    for place in sorted(range(len(prompts[0])), key=prompts[0].__getitem__):
        for numbers, row in zip(sets.of_prefix, prompts, strict=True):
            for number in numbers:
                questions.setdefault((number, row[place]), place)
    return questions


def requests_of(questions: Iterable[Question], batch: int) -> list[list[Question]]:
    """Part questions over requests, of one set each, in their order.

    Examples
    --------
    >>> requests_of([(0, (1,)), (1, (1,)), (0, (1, 1)), (0, (2,))], batch=2)
    [[(0, (1,)), (0, (1, 1))], [(1, (1,))], [(0, (2,))]]
    """
    requests: list[list[Question]] = []
    last: dict[int, list[Question]] = {}
    for question in questions:
        request = last.get(question[0])
        if request is None or len(request) == batch:
            request = last[question[0]] = []
            requests.append(request)
        request.append(question)
    return requests


def checked_choices(body: object, count: int, model: str) -> list[dict[str, object]]:
    """Return the choices for this many prompts in the order of the prompts.

    Examples
    --------
    >>> body = {"model": "m", "choices": [{"index": 1, "text": "b"}, {"index": 0, "text": "a"}]}
    >>> [choice["text"] for choice in checked_choices(body, 2, "m")]
    ['a', 'b']
    """
    if not isinstance(body, dict) or not isinstance(body.get("choices"), list):
        raise ModelError(f"the server answered {described(body)}, which holds no choices")
    if body.get("model") != model:
        raise ModelError(
            f"the server answered with the model {described(body.get('model'))}, not with "
            f"{model!r}; give the name of the model that it serves"
        )
    choices = [choice for choice in body["choices"] if isinstance(choice, dict)]
    by_index = {choice.get("index"): choice for choice in choices}
    if len(body["choices"]) != count or by_index.keys() != set(range(count)):
        raise ModelError(
            f"the server answered {count} prompts with {len(body['choices'])} choices of index "
            f"{described([choice.get('index') for choice in choices])}; each needs one"
        )
    return [by_index[place] for place in range(count)]


def log_probabilities(choice: dict[str, object]) -> Logs:
    """Return the log-probabilities in a choice, which has to name tokens by their ids.

    Examples
    --------
    >>> log_probabilities({"logprobs": {"top_logprobs": [{"token_id:7": -0.5}]}})
    {7: -0.5}
    """
    logprobs = choice.get("logprobs")
    listed = logprobs.get("top_logprobs") if isinstance(logprobs, dict) else None
    if not (isinstance(listed, list) and len(listed) == 1 and isinstance(listed[0], dict)):
        raise ModelError(
            f"the server answered with logprobs {described(logprobs)}; one token was to be "
            "generated, with its top_logprobs"
        )
    return {_token(name): _checked(value, name) for name, value in listed[0].items()}


def _token(name: str) -> int:
    number = name.removeprefix(_ID)
    if not (name.startswith(_ID) and number.isascii() and number.isdecimal()):
        raise ModelError(
            f"the server calls a token {described(name)}: it does not know "
            "return_tokens_as_token_ids, and texts of tokens are not unique; use a server like vLLM"
        )
    return int(number)


def _checked(value: object, name: str) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not (number := float(value)) <= _ROUNDING:  # type: ignore[arg-type]
        raise ModelError(f"the log-probability of {name} is {described(value)}, not 0 or below")
    return min(number, 0.0)


def unlisted_most(logs: Logs, top: int) -> float:
    """Return the most that the log-probability of a token can be that a server does not list.

    A server may list the token that it drew beside the likeliest ones, however unlikely that is.

    Examples
    --------
    >>> logs = {1: math.log(0.5), 2: math.log(0.2), 3: math.log(0.01)}
    >>> round(math.exp(unlisted_most(logs, top=2)), 6), round(math.exp(unlisted_most(logs, 9)), 6)
    (0.2, 0.29)
    """
    rest = 1 - sum(map(math.exp, logs.values()))
    most = math.log(rest) if rest > 0 else -math.inf
    if len(logs) < top:
        return most
    return min(most, sorted(logs.values(), reverse=True)[top - 1])


def top_rows(answers: Sequence[Sequence[Logs]], spelling: Spelling, top: int) -> Rows:
    """Make sparse rows of what a server lists after words.

    A symbol is listed if all of its tokens are. The others together may have at most what the
    server's own list leaves, and at most as much each as its least likely token; the ``rest`` is
    that bound, so that the listed probabilities are too low by a factor of at most 1 - rest. An end
    that is not listed counts as 0.

    Parameters
    ----------
    answers : sequence of sequence of Logs
        For every prefix of the spelling what is listed after each word.
    spelling : Spelling
        The tokens of symbols, and ends.
    top : int
        How many tokens the server was asked to list.
    """
    low = np.exp(spelling.log_masses(_tables(answers, spelling, None)))
    high = np.exp(spelling.log_masses(_tables(answers, spelling, top)))
    known = low.sum(axis=1)
    listed = high <= low
    listed[:, 0] = True
    bound = np.where(listed, 0.0, high)
    rest = np.minimum(bound.sum(axis=1), np.maximum(1 - known - _others(answers[0], spelling), 0.0))
    total = known + rest
    if not (total > 0).all():
        place = int((total > 0).argmin())
        raise BadRowError(f"no symbol and no end is among the {top} likeliest tokens", place)
    listed |= (rest == 0)[:, None]
    ceiling = np.maximum(bound.max(axis=1), (high - low)[:, 0])
    return Rows.sparse(
        low.shape[1],
        offsets_of(listed.sum(axis=1)),
        listed.nonzero()[1],
        (low / total[:, None])[listed],
        rest=rest / total,
        ceiling=ceiling / total,
        outside=np.maximum(1 - total, 0.0),
    )


def _tables(answers: Sequence[Sequence[Logs]], spelling: Spelling, top: int | None) -> list[Floats]:
    """Return log-probabilities of wanted tokens; one not listed has none, or the most it can."""
    tables = []
    for tokens, row in zip(spelling.wanted, answers, strict=True):
        wanted = tokens.tolist()
        table = np.empty((len(row), len(wanted)))
        for place, logs in enumerate(row):
            missing = -math.inf if top is None else unlisted_most(logs, top)
            table[place] = [logs.get(token, missing) for token in wanted]
        tables.append(table)
    return tables


def _others(row: Sequence[Logs], spelling: Spelling) -> Floats:
    """Return the mass of listed tokens that neither begin a symbol nor end a word."""
    wanted = set(spelling.wanted[0].tolist())
    return np.array(
        [sum(math.exp(log) for token, log in logs.items() if token not in wanted) for logs in row]
    )
