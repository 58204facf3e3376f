"""A language model behind a server, as a language model of whole words."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from hashlib import sha256

import numpy as np

from pdfalearn.alphabet import Symbol, shortened
from pdfalearn.checks import checked_integer
from pdfalearn.errors import InputError
from pdfalearn.models.batch import Batch
from pdfalearn.models.opened import BadAnswerError
from pdfalearn.models.protocol import LanguageModel, QueryCost
from pdfalearn.models.served._asking import Asker
from pdfalearn.models.served._client import Client
from pdfalearn.models.served._messages import Logs, top_rows
from pdfalearn.models.served._server import Ends, Prompt, Server
from pdfalearn.models.spelling import Spelling, Texts
from pdfalearn.row_checks import BadRowError
from pdfalearn.rows import Rows
from pdfalearn.text import described


class LikeliestTokensWarning(UserWarning):
    """A server lists the likeliest tokens only, so that rows are sparse.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings():  # where sparse rows are what you want
    ...     warnings.simplefilter("ignore", LikeliestTokensWarning)
    >>> issubclass(LikeliestTokensWarning, UserWarning)
    True
    """


class ServedModel(LanguageModel):
    """A language model behind a server with OpenAI's completions, such as vLLM.

    Words are sent whole, as tokens behind the prompt, and one token is generated after each of
    them; what counts are the log-probabilities of the tokens that may come next. Making a model
    asks the server already: for its models, for the tokens of texts, and for what it can list.

    Parameters
    ----------
    url : str
        Where the server is, such as ``http://127.0.0.1:8000``.
    model : str
        The name of the model, as the server lists it.
    symbols : iterable of str, or mapping
        The symbols. A mapping gives symbols names other than their texts: its values are texts,
        or tokens that are taken as they are.
    prompt : str, or sequence of int
        What stands before every word: a text, or tokens. With ``chat``: a text, or messages.
    ends : sequence of int or str, or "rest"
        The tokens that end a word, or their texts; "rest" means all that no symbol begins with.
    chat : bool
        Whether the prompt is what a user says, or a list of messages with "role" and "content",
        which go through the model's chat template.
    terminal, outside
        As for `Spelling`.
    top : int, optional
        Ask for this many of the likeliest tokens instead of those that are wanted, and make sparse
        rows of them. Without it that is done only where the server can do no better; a
        `LikeliestTokensWarning` says so.
    cost : QueryCost, optional
        What asking costs. If not given, it is counted in tokens sent and generated.
    key_variable : str, optional
        The name of the environment variable with the server's key; ``PDFALEARN_API_KEY`` if not
        given. The key is never printed or stored, and not sent along a redirect.
    batch : int
        The most prompts in a request.
    in_flight : int
        The most requests that are under way at once.
    timeout : float
        The seconds that one request may take.
    patience : float
        For how many seconds a request that fails is sent again. It fails with a status of 429 or of
        500 and above, a lost connection, or an answer that is cut off.

    Notes
    -----
    The fingerprint is the model's name, the prompt's tokens, the spelling, and ``top``. The URL is
    not part of it, as a server may move. Two servers that call different models by one name, or the
    same in another precision, cannot be told apart by it; a store, which asks a few words again
    when it is opened, refuses answers that differ by more than 0.001.

    Examples
    --------
    >>> from examples.served_automaton import AutomatonLLM, CompletionsServer
    >>> from pdfalearn import Quantization, learn
    >>> from pdfalearn.datasets import random_pdfa
    >>> from pdfalearn.oracles import AllWordsOracle
    >>> with CompletionsServer(AutomatonLLM(random_pdfa(3, seed=1))) as server:
    ...     model = ServedModel(
    ...         server.url, "automaton", ["0", "1"], prompt="A word:", ends=["<end>"]
    ...     )
    ...     len(learn(model, equivalence=Quantization(20), oracle=AllWordsOracle(4)).pdfa)
    4
    """

    def __init__(
        self,
        url: str,
        model: str,
        symbols: Texts,
        prompt: Prompt = "",
        ends: Ends = "rest",
        *,
        chat: bool = False,
        terminal: Symbol = "$",
        outside: Symbol | None = None,
        top: int | None = None,
        cost: QueryCost | None = None,
        key_variable: str | None = None,
        batch: int = 16,
        in_flight: int = 8,
        timeout: float = 120.0,
        patience: float = 300.0,
    ) -> None:
        if not isinstance(model, str) or not model:
            raise InputError(f"model is {described(model)}; give the name of a model as a text")
        if top is not None:
            top = checked_integer(top, "top", 1)
        batch = checked_integer(batch, "batch", 1)
        client = Client(url, key_variable, in_flight, timeout, patience)
        server = Server(client, model)
        context = server.context()
        self.spelling = _spelled(server, symbols, ends, terminal, outside)
        """The tokens of symbols, and the ends."""
        self.prompt = server.prompt_tokens(prompt, chat=chat)
        """The tokens of the prompt."""
        self.alphabet = self.spelling.alphabet
        self.top = _checked_top(top, server, self.prompt, self.spelling)
        """How many of the likeliest tokens rows are made of; None if of all that are wanted."""
        self._asker = Asker(client, model, self.prompt, self.spelling, self.top, batch, context)
        self.cost = _cost(self._asker) if cost is None else cost

    def __repr__(self) -> str:
        asker = self._asker
        return f"ServedModel({asker.client.url!r}, {asker.model!r}, {self.spelling!r})"

    @property
    def fingerprint(self) -> str:  # type: ignore[override]
        """The model's name, and a hash of prompt, spelling and ``top``."""
        parts = repr((self.prompt, self.spelling.fingerprint, self.top)).encode()
        return f"served {self._asker.model} {sha256(parts).hexdigest()}"

    def answer(self, batch: Batch) -> Rows:
        """Ask the server for what may follow words."""
        words = batch.words
        places = (~self.spelling.over(words)).nonzero()[0]
        ids = batch.wanted_ids[places]
        try:
            return self.spelling.answered(
                words, lambda asked: self._asker.ask(asked, ids, self._read_rows)
            )
        except BadRowError as error:
            word_id = int(ids[error.place])
            word = shortened(self.alphabet.decode(batch.spell(word_id)))
            raise BadAnswerError(word, str(error), word_id) from error

    def _read_rows(self, answers: list[list[Logs]]) -> Rows:
        if self.top is not None:
            return top_rows(answers, self.spelling, self.top)
        tables = []
        for tokens, row in zip(self.spelling.wanted, answers, strict=True):
            wanted = tokens.tolist()
            table = [[logs[token] for token in wanted] for logs in row]
            tables.append(np.array(table, dtype=np.float64).reshape(len(row), len(wanted)))
        return self.spelling.rows(tables)


def _spelled(
    server: Server,
    symbols: Texts,
    ends: Ends,
    terminal: Symbol,
    outside: Symbol | None,
) -> Spelling:
    if not isinstance(symbols, Iterable):
        raise InputError(f"the symbols are {symbols!r}; give texts, or a mapping of names to texts")
    given = symbols if isinstance(symbols, Mapping) else list(symbols)
    texts = given.values() if isinstance(given, Mapping) else given
    tokens = server.tokens(text for text in texts if isinstance(text, str) and text)
    return Spelling.of_texts(
        given, tokens.__getitem__, server.end_tokens(ends), terminal=terminal, outside=outside
    )


def _checked_top(
    top: int | None, server: Server, prompt: tuple[int, ...], spelling: Spelling
) -> int | None:
    """Return how many of the likeliest tokens to ask for; warn if the user has not set it."""
    wished = top is not None
    if top is None:
        top = server.likeliest_only(prompt)
    if top is None:
        return None
    lists = f"the server {server.client.url} lists the {top} likeliest tokens only"
    for name, value, is_wanted in (
        ("ends", spelling.ends, spelling.ends == "rest"),
        ("outside", spelling.outside, spelling.outside is not None),
    ):
        if is_wanted:
            raise InputError(
                f"{lists}, and {name}={value!r} is the mass of tokens beside these; give the "
                "tokens that end a word, and nothing as outside"
            )
    if not wished:
        warnings.warn(
            f"{lists}: answers are sparse rows, whose unlisted mass is a bound",
            LikeliestTokensWarning,
            stacklevel=3,
        )
    return top


def _cost(asker: Asker) -> QueryCost:
    """QueryCost by tokens: a word costs the prompt's tokens, a symbol those of the longest symbol.

    Cached tokens cost as much as others; a user who pays less for them sets a cost.
    """
    word = float(asker.tokens_per_word)
    longest = max(map(len, asker.spelling.tokens))
    symbol = float(longest * asker.prompts_per_word)
    return QueryCost(word=word, prefix=word, symbol=symbol, cached_symbol=symbol)
