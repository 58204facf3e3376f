"""What a server has answered, checked."""

from __future__ import annotations

import math

from pdfalearn.errors import ModelError
from pdfalearn.text import described

Logs = dict[int, float]
"""Log-probabilities by the ids of their tokens."""

_ROUNDING = 1e-5
"""A log-probability may be this far above 0, as rounding leaves it; it then counts as 0."""
_ID = "token_id:"


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
