"""What a server says about itself: its models, their tokens, and what it can be asked."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pdfalearn.checks import checked_integer
from pdfalearn.errors import InputError, ModelError
from pdfalearn.models.served._asking import COMPLETIONS, completion_body
from pdfalearn.models.served._client import Body, Client, RefusedError
from pdfalearn.models.served._messages import Tokens, checked_choices, log_probabilities
from pdfalearn.text import described

Prompt: TypeAlias = str | Sequence[int] | Sequence[Mapping[str, str]]
Ends: TypeAlias = Sequence[int | str] | Literal["rest"]

_TOPS = (20, 5)
"""How many of the likeliest tokens servers list at most: vLLM by itself, and OpenAI."""
_ANCHOR = "\n"
_SPACE = (
    "the prompt ends in a space, which tokenizers mostly write with the next word, so that hardly "
    "any word follows; begin the symbols with the space instead"
)
_NO_SUCH_PATH = (404, 405)
_BAD_REQUEST = (400, 422)


@dataclass(frozen=True)
class Server:
    """Asks a server about one of its models.

    Parameters
    ----------
    client : Client
        Who sends the requests.
    model : str
        The name of the model.
    """

    client: Client
    model: str

    def context(self) -> int | None:
        """Return how many tokens the model takes at once, if the server says it.

        Raises
        ------
        InputError
            If the server does not serve the model.
        """
        body = self.client.get("/v1/models")
        cards = body.get("data") if isinstance(body, dict) else None
        if not isinstance(cards, list):
            raise ModelError(f"the server {self.client.url} lists no models: {described(body)}")
        served = {card.get("id"): card for card in cards if isinstance(card, dict)}
        if self.model not in served:
            names = ", ".join(map(repr, served)) or "nothing"
            raise InputError(
                f"the server {self.client.url} does not serve {self.model!r}, but {names}"
            )
        length = served[self.model].get("max_model_len")
        return None if length is None else checked_integer(length, "max_model_len", 1)

    def tokens(self, texts: Iterable[str]) -> dict[str, Tokens]:
        """Return the tokens of texts as they stand behind others.

        Some tokenizers write a blank before a text; theirs are those behind a line's end.
        """
        different = list(dict.fromkeys(texts))
        if not different:
            return {}
        anchor, letter, both = self._encoded([_ANCHOR, "a", f"{_ANCHOR}a"])
        if both == anchor + letter:
            return dict(zip(different, self._encoded(different), strict=True))
        found = self._encoded([_ANCHOR + text for text in different])
        for text, tokens in zip(different, found, strict=True):
            if tokens[: len(anchor)] != anchor:
                raise InputError(
                    f"the tokenizer joins the text {text!r} with what stands before it; give its "
                    "tokens in a mapping"
                )
        return {text: tokens[len(anchor) :] for text, tokens in zip(different, found, strict=True)}

    def _encoded(self, texts: Sequence[str]) -> list[Tokens]:
        return self._tokenized([{"prompt": text, "add_special_tokens": False} for text in texts])

    def prompt_tokens(self, prompt: Prompt, *, chat: bool) -> Tokens:
        """Return the tokens of a prompt; of a chat those after which the model answers."""
        if not isinstance(prompt, Iterable):
            raise InputError(f"the prompt is {described(prompt)}; give a text, or a list of tokens")
        if chat:
            messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
            if not all(isinstance(message, Mapping) for message in messages):
                raise InputError("tokens cannot be put into a chat; give a text or messages")
            return self._tokenized([{"messages": list(messages)}])[0]
        if isinstance(prompt, str):
            if prompt.endswith(" "):
                warnings.warn(_SPACE, UserWarning, stacklevel=4)
            return self._tokenized([{"prompt": prompt}])[0]
        if any(isinstance(token, Mapping) for token in prompt):
            raise InputError("the prompt is a list of messages; give chat=True with it")
        return tuple(checked_integer(token, "token of the prompt", 0) for token in prompt)

    def end_tokens(self, ends: Ends) -> list[int] | Literal["rest"]:
        """Return the tokens of ends, of which each has to be one."""
        if ends == "rest":
            return "rest"
        if isinstance(ends, str) or not isinstance(ends, Iterable):
            raise InputError(f"ends are {ends!r}; give a list of tokens or texts, or 'rest'")
        texts = self.tokens(end for end in ends if isinstance(end, str))
        for text, tokens in texts.items():
            if len(tokens) != 1:
                raise InputError(
                    f"the end {text!r} takes the tokens {list(tokens)}; an end has to be one token"
                )
        return [texts[end][0] if isinstance(end, str) else end for end in ends]

    def _tokenized(self, bodies: list[Body]) -> list[Tokens]:
        found: dict[int, Tokens] = {}

        def note(place: int, body: object) -> None:
            tokens = body.get("tokens") if isinstance(body, dict) else None
            if not isinstance(tokens, list):
                raise ModelError(f"the server answered {described(body)}, which holds no tokens")
            found[place] = tuple(checked_integer(token, "token", 0) for token in tokens)

        try:
            self.client.post("/tokenize", [{"model": self.model, **body} for body in bodies], note)
        except RefusedError as error:
            if error.status in _NO_SUCH_PATH:
                raise InputError(
                    f"the server {self.client.url} has no /tokenize; give symbols, prompt and ends "
                    "as the ids of their tokens"
                ) from error
            raise
        return [found[place] for place in range(len(bodies))]

    def likeliest_only(self, prompt: Tokens) -> int | None:
        """Return how many of the likeliest tokens the server lists, if it lists no chosen ones.

        None says that it does: tokens 0 and 1, which every vocabulary has, are asked for.
        """
        try:
            if self._lists(prompt, chosen=(0, 1), top=None):
                return None
            refusal = None
        except RefusedError as error:
            if error.status not in _BAD_REQUEST:
                raise
            refusal = error
        for top in _TOPS:
            try:
                self._lists(prompt, chosen=(), top=top)
            except RefusedError as error:
                refusal = refusal or error
            else:
                return top
        raise _not_asked(prompt, refusal) from refusal

    def _lists(self, prompt: Tokens, *, chosen: Tokens, top: int | None) -> bool:
        """Ask for what follows the prompt; return whether the chosen tokens are listed."""
        is_listed = False

        def note(_: int, body: object) -> None:
            nonlocal is_listed
            (choice,) = checked_choices(body, 1, self.model)
            is_listed = log_probabilities(choice).keys() >= set(chosen)

        body = completion_body(self.model, [list(prompt)], chosen=chosen, top=top)
        self.client.post(COMPLETIONS, [body], note)
        return is_listed


def _not_asked(prompt: Tokens, refusal: RefusedError | None) -> InputError:
    if not prompt:
        return InputError(
            f"the prompt is empty, and {refusal}; give a prompt, "
            "such as the token that begins texts"
        )
    return InputError(str(refusal))
