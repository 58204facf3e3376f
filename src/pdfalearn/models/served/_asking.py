"""Ask a server for what may follow words; what it has answered is not lost if it fails then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from pdfalearn.alphabet import shortened
from pdfalearn.errors import ModelError
from pdfalearn.models.protocol import attach_answers
from pdfalearn.models.served._client import Body, Client
from pdfalearn.models.served._messages import (
    Logs,
    Question,
    Tokens,
    TokenSets,
    checked_choices,
    log_probabilities,
    prompts_of,
    questions_of,
    requests_of,
)
from pdfalearn.models.spelling import Spelling
from pdfalearn.row_checks import BadRowError
from pdfalearn.rows import Rows
from pdfalearn.typing import Integers
from pdfalearn.words import Words

COMPLETIONS = "/v1/completions"
Read = Callable[[list[list[Logs]]], Rows]
"""Makes rows of what a server says, for every prefix of the spelling, after each word."""


@dataclass
class Asker:
    """Asks for the log-probabilities of tokens after words.

    Parameters
    ----------
    client : Client
        Who sends the requests.
    model : str
        The name of the model.
    prompt : tuple of int
        The tokens before every word.
    spelling : Spelling
        The tokens of symbols.
    top : int, optional
        If given, the server is asked for this many of the likeliest tokens, not for chosen ones.
    batch : int
        The most prompts in a request.
    context : int, optional
        The most tokens that the server takes at once, the one that it generates included.
    """

    client: Client
    model: str
    prompt: Tokens
    spelling: Spelling
    top: int | None
    batch: int
    context: int | None
    _sets: TokenSets = field(init=False)

    def __post_init__(self) -> None:
        wanted = [tokens.tolist() for tokens in self.spelling.wanted]
        chosen = self.top is None
        self._sets = TokenSets.of(wanted) if chosen else TokenSets.likeliest(len(wanted))

    @property
    def prompts_per_word(self) -> int:
        """How many prompts are sent for one word."""
        return sum(map(len, self._sets.of_prefix))

    @property
    def tokens_per_word(self) -> int:
        """How many tokens are sent and generated for the empty word."""
        return sum(
            (len(self.prompt) + len(prefix) + 1) * len(numbers)
            for prefix, numbers in zip(self.spelling.prefixes, self._sets.of_prefix, strict=True)
        )

    def ask(self, words: Words, ids: Integers, read: Read) -> Rows:
        """Return the rows that ``read`` makes of the answers to words, which have these ids.

        If the server fails in the middle, or Ctrl-C comes, the rows of the words that were answered
        in full are attached to the error.
        """
        prompts = prompts_of(words, self.spelling)
        questions = questions_of(prompts, self._sets)
        self._check_context(questions, words)
        answers: dict[Question, Logs] = {}
        requests = requests_of(questions, self.batch)

        def note(place: int, body: object) -> None:
            asked = requests[place]
            for question, choice in zip(
                asked, checked_choices(body, len(asked), self.model), strict=True
            ):
                try:
                    answers[question] = self._checked(log_probabilities(choice), question)
                except ModelError as error:
                    raise ModelError(
                        f"the answer to the word {self._word(words, questions[question])}: {error}"
                    ) from error

        try:
            self.client.post(COMPLETIONS, [self._body(asked) for asked in requests], note)
        except BaseException as error:
            self._attach(error, prompts, dict(answers), ids, read)
            raise
        return read(self._logs(prompts, answers, range(len(words))))

    def _attach(
        self,
        error: BaseException,
        prompts: list[list[Tokens]],
        answers: dict[Question, Logs],
        ids: Integers,
        read: Read,
    ) -> None:
        """Attach the rows of the words of which no answer is missing."""
        missing = {
            place
            for numbers, row in zip(self._sets.of_prefix, prompts, strict=True)
            for place, tokens in enumerate(row)
            if any((number, tokens) not in answers for number in numbers)
        }
        done = [place for place in range(len(ids)) if place not in missing]
        with suppress(BadRowError):
            attach_answers(error, ids[done], read(self._logs(prompts, answers, done)))

    def _logs(
        self, prompts: list[list[Tokens]], answers: dict[Question, Logs], places: Sequence[int]
    ) -> list[list[Logs]]:
        """Put the answers to the words at some places together."""
        return [
            [self._joined(answers, numbers, row[place]) for place in places]
            for numbers, row in zip(self._sets.of_prefix, prompts, strict=True)
        ]

    def _body(self, asked: list[Question]) -> Body:
        return completion_body(
            self.model,
            [[*self.prompt, *tokens] for _, tokens in asked],
            chosen=self._sets.sets[asked[0][0]],
            top=self.top,
        )

    def _checked(self, logs: Logs, question: Question) -> Logs:
        for token in self._sets.sets[question[0]]:
            if token not in logs:
                raise ModelError(f"the server left out token {token}, which was asked for")
        return logs

    def _joined(
        self, answers: dict[Question, Logs], numbers: tuple[int, ...], tokens: Tokens
    ) -> Logs:
        if len(numbers) == 1:
            return answers[numbers[0], tokens]
        return {token: log for number in numbers for token, log in answers[number, tokens].items()}

    def _check_context(self, questions: dict[Question, int], words: Words) -> None:
        if self.context is None or not questions:
            return
        (_, tokens), place = max(questions.items(), key=lambda item: len(item[0][1]))
        needed = len(self.prompt) + len(tokens) + 1
        if needed > self.context:
            raise ModelError(
                f"the word {self._word(words, place)} needs {needed:,} tokens with its prompt, but "
                f"the server's context has {self.context:,}; bound the length of words, as with "
                "Budget(max_word_length=…), or shorten the prompt"
            )

    def _word(self, words: Words, place: int) -> str:
        (codes,) = words.part(place, place + 1)
        return shortened(self.spelling.alphabet.decode(codes))


def completion_body(
    model: str, prompts: list[list[int]], *, chosen: Tokens, top: int | None
) -> Body:
    """Return the body of a request that generates one token after each prompt."""
    body: Body = {
        "model": model,
        "prompt": prompts,
        "max_tokens": 1,
        "temperature": 0,
        "logprobs": top or 0,
        "return_tokens_as_token_ids": True,
    }
    if top is None:
        body["logprob_token_ids"] = list(chosen)
    return body
