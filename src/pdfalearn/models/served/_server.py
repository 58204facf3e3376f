"""What a server is asked about one of its models, and what it answers, as tokens and numbers."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from pdfalearn.checks import check_integer
from pdfalearn.errors import InputError, ModelError
from pdfalearn.models.served._client import Body, Client, RefusedError
from pdfalearn.models.spelling import check_text
from pdfalearn.text import described, is_iterable, shorten

Prompt: TypeAlias = str | Sequence[int] | Sequence[Mapping[str, str]]
Ends: TypeAlias = Sequence[int | str] | Literal["rest"]
Tokens = tuple[int, ...]
Question = tuple[int, Tokens]  # the number of a set of tokens to ask for, and the tokens of a word
Logs = dict[int, float]  # log-probabilities by the ids of their tokens

MOST_IDS = 128  # servers like vLLM give log-probabilities for this many tokens in one request
TOPS = (20, 5)  # how many of the likeliest tokens servers list at most: vLLM by itself, and OpenAI
_ROUNDING = 1e-5  # a log-probability may be this far above 0; it then counts as 0
_MASS_ROUNDING = 1e-3  # and all of them may make this much more than 1
_MOST_DIGITS = 10
_ID = "token_id:"
_ANCHOR = "\n"
_SPACE = (
    "the prompt ends in a space, which tokenizers mostly write with the next word, so that hardly "
    "any word follows; begin the symbols with the space instead"
)
_NO_SUCH_PATH = (404, 405)
_BAD_REQUEST = (400, 422)


@dataclass(frozen=True)
class TokenSets:
    """Sets of tokens to ask for, and which of them are wanted at which prefix of a spelling.

    The tokens of prefixes that fit into one set are asked for together, so that all prompts of a
    word go into one request; those of a prefix that has too many for one are parted.
    """

    sets: tuple[Tokens, ...]
    of_prefix: tuple[Tokens, ...]

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


def part_questions(questions: Iterable[Question], batch: int) -> list[list[Question]]:
    """Part questions over requests, of one set each, in their order.

    Examples
    --------
    >>> part_questions([(0, (1,)), (1, (1,)), (0, (1, 1)), (0, (2,))], batch=2)
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


def parse_logs(choice: dict[str, Any], chosen: Tokens = ()) -> Logs:
    """Return the log-probabilities in a choice, which has to name tokens by their ids.

    Examples
    --------
    >>> parse_logs({"logprobs": {"top_logprobs": [{"token_id:7": -0.5}]}})
    {7: -0.5}
    """
    logprobs = choice.get("logprobs")
    listed = logprobs.get("top_logprobs") if isinstance(logprobs, dict) else None
    if not (isinstance(listed, list) and len(listed) == 1 and isinstance(listed[0], dict)):
        raise ModelError(
            f"the server answered with logprobs {described(logprobs)}; one token was to be "
            "generated, with its top_logprobs"
        )
    logs: Logs = {}
    for name, value in listed[0].items():
        number = name.removeprefix(_ID)
        is_id = number.isascii() and number.isdecimal() and len(number) < _MOST_DIGITS
        if not (name.startswith(_ID) and is_id):
            raise ModelError(
                f"the server calls a token {described(name)}: it does not know "
                "return_tokens_as_token_ids, and texts of tokens are not unique; use a server "
                "like vLLM"
            )
        if type(value) not in (int, float) or not value <= _ROUNDING:
            raise ModelError(f"the log-probability of {name} is {described(value)}, not 0 or below")
        logs[int(number)] = _log(value)
    for token in chosen:
        if token not in logs:
            raise ModelError(f"the server left out token {token}, which was asked for")
    if (mass := sum(map(math.exp, logs.values()))) > 1 + _MASS_ROUNDING:
        raise ModelError(
            f"the log-probabilities of {len(logs)} tokens make {mass:.6g} in all, not 1"
        )
    return logs


def _log(value: float) -> float:
    try:
        return min(float(value), 0.0)
    except OverflowError:  # an integer of many digits
        return -math.inf


@dataclass(frozen=True)
class Server:
    """Asks a server about one of its models."""

    client: Client
    model: str

    def find_context(self) -> int | None:
        """Return how many tokens the model takes at once, if the server says it.

        Raises
        ------
        InputError
            If the server does not serve the model.
        """
        (body,) = self._answers("/v1/models", [None])
        cards = body.get("data") if isinstance(body, dict) else None
        if not isinstance(cards, list):
            raise ModelError(f"the server {self.client.url} lists no models: {described(body)}")
        named = [card for card in cards if isinstance(card, dict)]
        served = {card["id"]: card for card in named if isinstance(card.get("id"), str)}
        if self.model not in served:
            names = shorten(", ".join(map(described, served)) or "nothing", 400)
            raise InputError(
                f"the server {self.client.url} does not serve {self.model!r}, but {names}"
            )
        length = served[self.model].get("max_model_len")
        return None if length is None else check_integer(length, "max_model_len", 1)

    def tokenize(self, texts: Iterable[object]) -> dict[str, Tokens]:
        """Return the tokens of all that are texts, as they stand behind others.

        Some tokenizers write a blank before a text; theirs are those behind a line's end.
        """
        given = dict.fromkeys(text for text in texts if isinstance(text, str) and text)
        different = list(map(check_text, given))
        if not different:
            return {}
        anchor, letter, both = self._encode([_ANCHOR, "a", f"{_ANCHOR}a"])
        if both == anchor + letter:
            return dict(zip(different, self._encode(different), strict=True))
        found = self._encode([_ANCHOR + text for text in different])
        for text, tokens in zip(different, found, strict=True):
            if tokens[: len(anchor)] != anchor:
                raise InputError(
                    f"the tokenizer joins the text {text!r} with what stands before it; give its "
                    "tokens in a mapping"
                )
        return {text: tokens[len(anchor) :] for text, tokens in zip(different, found, strict=True)}

    def encode_prompt(self, prompt: Prompt, *, chat: bool) -> Tokens:
        """Return the tokens of a prompt; of a chat those after which the model answers."""
        if not is_iterable(prompt):
            raise InputError(f"the prompt is {described(prompt)}; give a text, or a list of tokens")
        if chat:
            messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
            if not all(isinstance(message, Mapping) for message in messages):
                raise InputError("tokens cannot be put into a chat; give a text or messages")
            return self._tokens_of([{"messages": list(messages)}])[0]
        if isinstance(prompt, str):
            if prompt.endswith(" "):
                warnings.warn(_SPACE, UserWarning, stacklevel=4)
            return self._tokens_of([{"prompt": check_text(prompt)}])[0]
        if any(isinstance(token, Mapping) for token in prompt):
            raise InputError("the prompt is a list of messages; give chat=True with it")
        return tuple(check_integer(token, "token of the prompt", 0) for token in prompt)

    def encode_ends(self, ends: Ends) -> list[int] | Literal["rest"]:
        """Return the tokens of ends, of which each has to be one."""
        if ends == "rest":
            return "rest"
        if isinstance(ends, str) or not is_iterable(ends):
            raise InputError(f"ends are {ends!r}; give a list of tokens or texts, or 'rest'")
        texts = self.tokenize(ends)
        for end in ends:
            if isinstance(end, str) and len(tokens := texts.get(end, ())) != 1:
                raise InputError(
                    f"the end {end!r} takes the tokens {list(tokens)}; an end has to be one token"
                )
        return [texts[end][0] if isinstance(end, str) else end for end in ends]

    def find_top(self, prompt: Tokens, tops: Sequence[int | None] = (None, *TOPS)) -> int | None:
        """Return how many of the likeliest tokens the server lists: the first it does not refuse.

        None stands for chosen tokens: 0 and 1, which every vocabulary has, are asked for.
        """
        refusal = None
        listed: list[Logs] = []

        def note(_: int, choices: list[dict[str, Any]]) -> None:
            listed.append(parse_logs(choices[0]))

        for top in tops:
            try:
                self.complete([[prompt]], [(0, 1)], top, note)
            except RefusedError as error:
                if error.status not in _BAD_REQUEST:
                    raise
                refusal = refusal or error
            else:
                if top is not None or listed[0].keys() >= {0, 1}:
                    return top
        if prompt:
            raise InputError(str(refusal)) from refusal
        raise InputError(
            f"the prompt is empty, and {refusal}; give a prompt, such as the token that begins "
            "texts"
        ) from refusal

    def complete(
        self,
        prompts: Sequence[Sequence[Tokens]],
        chosen: Sequence[Tokens],
        top: int | None,
        note: Callable[[int, list[dict[str, Any]]], None],
    ) -> None:
        """Have one token generated after each prompt of each request, and note its choices.

        Wanted are the log-probabilities of the tokens that are chosen for the request; with
        ``top``, those of this many of the likeliest tokens instead.
        """
        bodies: list[Body] = [
            {
                "model": self.model,
                "prompt": request,
                "max_tokens": 1,
                "temperature": 0,
                "logprobs": top or 0,
                "return_tokens_as_token_ids": True,
                **({"logprob_token_ids": tokens} if top is None else {}),
            }
            for request, tokens in zip(prompts, chosen, strict=True)
        ]

        def note_choices(place: int, body: object) -> None:
            note(place, self._sort_choices(body, len(prompts[place])))

        self.client.send("/v1/completions", bodies, note_choices)

    def _sort_choices(self, body: object, count: int) -> list[dict[str, Any]]:
        """Return the choices for this many prompts in the order of the prompts."""
        if not isinstance(body, dict) or not isinstance(body.get("choices"), list):
            raise ModelError(f"the server answered {described(body)}, which holds no choices")
        if body.get("model") != self.model:
            raise ModelError(
                f"the server answered with the model {described(body.get('model'))}, not with "
                f"{self.model!r}; give the name of the model that it serves"
            )
        choices = [choice for choice in body["choices"] if isinstance(choice, dict)]
        by_index = {i: choice for choice in choices if type(i := choice.get("index")) is int}
        if len(body["choices"]) != count or by_index.keys() != set(range(count)):
            raise ModelError(
                f"the server answered {count} prompts with {len(body['choices'])} choices of index "
                f"{described([choice.get('index') for choice in choices])}; each needs one"
            )
        return [by_index[place] for place in range(count)]

    def _encode(self, texts: Sequence[str]) -> list[Tokens]:
        return self._tokens_of([{"prompt": text, "add_special_tokens": False} for text in texts])

    def _tokens_of(self, bodies: list[Body]) -> list[Tokens]:
        try:
            answers = self._answers("/tokenize", [{"model": self.model, **body} for body in bodies])
        except RefusedError as error:
            if error.status in _NO_SUCH_PATH:
                raise InputError(
                    f"the server {self.client.url} has no /tokenize; give symbols, prompt and ends "
                    "as the ids of their tokens"
                ) from error
            raise
        found = []
        for answer in answers:
            tokens = answer.get("tokens") if isinstance(answer, dict) else None
            if not isinstance(tokens, list):
                raise ModelError(f"the server answered {described(answer)}, which holds no tokens")
            found.append(tuple(check_integer(token, "token", 0) for token in tokens))
        return found

    def _answers(self, path: str, bodies: Sequence[Body | None]) -> list[object]:
        answers: dict[int, object] = {}
        self.client.send(path, bodies, answers.__setitem__)
        return [answers[place] for place in range(len(bodies))]
