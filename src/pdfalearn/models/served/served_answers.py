"""The answers of a served language model, over its whole vocabulary."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from json import loads
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pdfalearn.alphabet import Alphabet
from pdfalearn.checks import check_integer
from pdfalearn.errors import ModelError
from pdfalearn.models._causal_models import check_folder
from pdfalearn.models._token_bytes import spell_tokens
from pdfalearn.models._tokenizers import load_tokenizer
from pdfalearn.models.answers import check_stops, name_prompts, part_prompts
from pdfalearn.models.batch import Batch
from pdfalearn.models.protocol import LanguageModel, QueryCost, attach_answers
from pdfalearn.models.served._client import Client
from pdfalearn.models.served._server import TOPS, Logs, Prompt, Server, parse_logs
from pdfalearn.row_checks import BadRowError
from pdfalearn.rows import Rows

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

# vLLM lists at most this many tokens where it is started as the how-to says.
_MOST_LISTED = 128


class ServedAnswers(LanguageModel):
    """A language model behind a server, over its whole vocabulary: `Answers` from afar.

    A server such as vLLM that was started with ``--max-logprobs -1`` tells whole distributions.
    Others list the likeliest tokens only: what they do not tell stays in the gap of `explore`, and
    stands under ``untold``.

    Parameters
    ----------
    url, model
        As for `ServedModel`.
    tokenizer : path or tokenizer of transformers
        The model's tokenizer, or a folder that has it: servers do not say what their tokens stand
        for.
    prompt, prompts, chat, stop
        As for `Answers`. The server makes tokens of prompts, by its own chat template.
    ends : sequence of str or int, optional
        The tokens that end an answer; if not given, those of the folder's settings, or the
        tokenizer's.
    top : int, optional
        Ask for this many of the likeliest tokens; if not given, for all, and where the server
        refuses that for 20 or 5.
    key_variable, batch, in_flight, timeout, patience
        As for `ServedModel`.

    Notes
    -----
    Servers tell the model's own distribution, whatever temperature and top-p they draw with; vLLM
    does otherwise if it was started with ``--logprobs-mode processed_logprobs``. A whole row of
    50,000 tokens takes about 1.5 MB on its way.

    Examples
    --------
    >>> ServedAnswers("http://127.0.0.1:1", "llm", "./nowhere", patience=0.1)
    Traceback (most recent call last):
    pdfalearn.errors.InputError: nowhere is not a folder; save a model there with save_pretrained
    """

    ends: tuple[int, ...]
    first_words: dict[str, tuple[int, ...]]
    stops: tuple[bytes, ...]
    token_bytes: tuple[bytes | None, ...]

    def __init__(
        self,
        url: str,
        model: str,
        tokenizer: PreTrainedTokenizerBase | str | Path,
        *,
        prompt: Prompt = "",
        prompts: Sequence[Prompt] | Mapping[str, Prompt] | None = None,
        chat: bool = False,
        ends: Sequence[str | int] | None = None,
        stop: str | Sequence[str] = (),
        top: int | None = None,
        key_variable: str | None = None,
        batch: int = 16,
        in_flight: int = 8,
        timeout: float = 120.0,
        patience: float = 300.0,
    ) -> None:
        own_ends: object = None
        if isinstance(tokenizer, str | Path):
            folder = check_folder(tokenizer)
            tokenizer, own_ends = load_tokenizer(folder), _read_ends(folder)
        self.stops = check_stops(stop)
        named = name_prompts(prompt, prompts)
        self._batch = check_integer(batch, "batch", 1)
        self._server = Server(Client(url, key_variable, in_flight, timeout, patience), model)
        self._context = self._server.find_context()
        count = len(tokenizer)
        own_ends = tokenizer.eos_token_id if own_ends is None else own_ends
        usual: Any = own_ends if isinstance(own_ends, list) else [own_ends]
        found = self._server.encode_ends(usual if ends is None else ends)
        self.ends, self.token_bytes = spell_tokens(found, tokenizer, count)
        self.alphabet = Alphabet(range(count))
        paths = {n: self._server.encode_prompt(one, chat=chat) for n, one in named.items()}
        self.prompt, self.first_words = part_prompts(paths)
        tops = (count, _MOST_LISTED, *TOPS) if top is None else (check_integer(top, "top", 1),)
        self.top = self._server.find_top(self.prompt, tops)
        self.cost = QueryCost(word=1.0, prefix=1.0)

    def __repr__(self) -> str:
        told = "all" if self.top == len(self.alphabet) else f"the {self.top} likeliest"
        return f"ServedAnswers({self._server.client.url!r}, {self._server.model!r}, told {told})"

    @property
    def fingerprint(self) -> str:  # type: ignore[override]
        """The model's name, and a hash of prompt, ends and how much is told."""
        parts = repr((self.prompt, self.ends, self.top, len(self.alphabet))).encode()
        return f"served {self._server.model} {sha256(parts).hexdigest()}"

    @property
    def longest_word(self) -> float:
        """How many tokens fit behind the prompt, as far as that is known."""
        return math.inf if self._context is None else self._context - 1 - len(self.prompt)

    def answer(self, batch: Batch) -> Rows:
        """Ask the server what may follow words; if it fails, what it told is attached."""
        spelled = [self.prompt + tuple(word) for word in batch.words]
        longest = max(map(len, spelled), default=0)
        if self._context is not None and longest >= self._context:
            raise ModelError(
                f"a prompt and its answer have {longest:,} tokens, but the server's context has "
                f"{self._context:,}; look at fewer tokens, as with within=20, or shorten the prompt"
            )
        size, logs = self._batch, dict[int, Logs]()

        def note(place: int, choices: list[dict[str, Any]]) -> None:
            logs.update(enumerate(map(parse_logs, choices), place * size))

        requests = [spelled[at : at + size] for at in range(0, len(spelled), size)]
        try:
            self._server.complete(requests, [()] * len(requests), self.top, note)
        except BaseException as error:
            done = sorted(logs)
            with suppress(BadRowError):
                attach_answers(error, batch.wanted_ids[done], self._make_rows(logs, done))
            raise
        return self._make_rows(logs, range(len(spelled)))

    def _make_rows(self, logs: Mapping[int, Logs], places: Sequence[int]) -> Rows:
        count, offsets = len(self.alphabet), [0]
        columns, values, rests = list[int](), list[float](), list[float]()
        for place in places:
            masses = {t: math.exp(log) for t, log in logs[place].items() if t < count}
            end = sum(masses.pop(token, 0.0) for token in self.ends)
            row = sorted({token + 1: mass for token, mass in masses.items()}.items())
            total = end + sum(masses.values())
            # All that is told adds up to 1 but for rounding; else the rest is not known.
            scale = 1 / total if len(logs[place]) >= count or total > 1 else 1.0
            columns += [0, *(column for column, _ in row)]
            values += [end * scale, *(mass * scale for _, mass in row)]
            rests.append(0.0 if scale != 1.0 else max(0.0, 1 - total))
            offsets.append(len(columns))
        return Rows.sparse(count + 1, offsets, columns, values, rest=rests)


def _read_ends(folder: Path) -> object:
    """Return the tokens at which the model of a folder stops, if it says so."""
    with suppress(OSError, ValueError, AttributeError):
        return loads((folder / "generation_config.json").read_text()).get("eos_token_id")
    return None
