"""Which tokens are asked for after which prompts, and how that is parted over requests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pdfalearn.models.spelling import Spelling
from pdfalearn.words import Words

Tokens = tuple[int, ...]
Question = tuple[int, Tokens]
"""The number of a set of tokens to ask for, and the tokens behind the prompt."""

MOST_IDS = 128
"""The most tokens that a server like vLLM gives log-probabilities for in one request."""


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
