"""A language model behind a server, as a language model of whole words."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import chain
from typing import Any

import numpy as np

from pdfalearn.alphabet import Symbol, shorten
from pdfalearn.checks import check_integer
from pdfalearn.errors import InputError, ModelError
from pdfalearn.models.batch import Batch
from pdfalearn.models.opened import BadAnswerError
from pdfalearn.models.protocol import LanguageModel, QueryCost, attach_answers
from pdfalearn.models.served._client import Client
from pdfalearn.models.served._server import (
    Ends,
    Logs,
    Prompt,
    Question,
    Server,
    Tokens,
    TokenSets,
    parse_logs,
    part_questions,
)
from pdfalearn.models.spelling import Spelling, Texts
from pdfalearn.row_checks import BadRowError
from pdfalearn.rows import Rows
from pdfalearn.text import described
from pdfalearn.typing import Floats, Integers
from pdfalearn.words import Words, offsets_of


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

    Attributes
    ----------
    spelling : Spelling
        The tokens of symbols, and the ends.
    prompt : tuple of int
        The tokens of the prompt.
    top : int, optional
        How many of the likeliest tokens rows are made of; None if of all that are wanted.

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
        if not isinstance(symbols, Iterable):
            raise InputError(
                f"the symbols are {symbols!r}; give texts, or a mapping of names to texts"
            )
        if top is not None:
            top = check_integer(top, "top", 1)
        self._batch = check_integer(batch, "batch", 1)
        server = Server(Client(url, key_variable, in_flight, timeout, patience), model)
        self._server = server
        self._context = server.find_context()
        given = symbols if isinstance(symbols, Mapping) else list(symbols)
        tokens = server.tokenize(given.values() if isinstance(given, Mapping) else given)
        self.spelling = Spelling.of_texts(
            given, tokens.__getitem__, server.encode_ends(ends), terminal=terminal, outside=outside
        )
        self.prompt = server.encode_prompt(prompt, chat=chat)
        self.alphabet = self.spelling.alphabet
        self.top = _choose_top(top, server, self.prompt, self.spelling)
        if self.top is None:
            self._sets = TokenSets.of([tokens.tolist() for tokens in self.spelling.wanted])
        else:
            self._sets = TokenSets(((),), ((0,),) * len(self.spelling.wanted))
        self.cost = self._count_tokens() if cost is None else cost

    def __repr__(self) -> str:
        server = self._server
        return f"ServedModel({server.client.url!r}, {server.model!r}, {self.spelling!r})"

    @property
    def fingerprint(self) -> str:  # type: ignore[override]
        """The model's name, and a hash of prompt, spelling and ``top``."""
        parts = repr((self.prompt, self.spelling.fingerprint, self.top)).encode()
        return f"served {self._server.model} {sha256(parts).hexdigest()}"

    def answer(self, batch: Batch) -> Rows:
        """Ask the server for what may follow words.

        If the server fails in the middle, or Ctrl-C comes, the rows of the words that were answered
        in full are attached to the error.
        """
        words = batch.words
        ids = batch.wanted_ids[~self.spelling.over(words)]
        try:
            return self.spelling.answered(words, lambda asked: self._ask(asked, ids))
        except BadRowError as error:
            word_id = int(ids[error.place])
            word = shorten(self.alphabet.decode(batch.spell(word_id)))
            raise BadAnswerError(word, str(error), word_id) from error

    def _ask(self, words: Words, ids: Integers) -> Rows:
        spelled = [tuple(tokens) for tokens in self.spelling.spelled(words)]
        asked = [self._questions(tokens) for tokens in spelled]
        # In the order of the words' tokens: prompts that begin alike are near each other, and where
        # a server fails, few words have only some of their answers.
        places = sorted(range(len(words)), key=spelled.__getitem__)
        questions = {q: place for place in places for row in asked[place] for q in row}
        self._check_context(questions, words)
        requests = part_questions(questions, self._batch)
        answers: dict[Question, Logs] = {}

        def note(place: int, choices: list[dict[str, Any]]) -> None:
            for question, choice in zip(requests[place], choices, strict=True):
                try:
                    answers[question] = parse_logs(choice, self._sets.sets[question[0]])
                except ModelError as error:
                    word = self._name_word(words, questions[question])
                    raise ModelError(f"the answer to the word {word}: {error}") from error

        prompts = [[self.prompt + tokens for _, tokens in request] for request in requests]
        chosen = [self._sets.sets[request[0][0]] for request in requests]
        try:
            self._server.complete(prompts, chosen, self.top, note)
        except BaseException as error:
            known = answers.copy()
            done = [place for place, rows in enumerate(asked) if known.keys() >= set(chain(*rows))]
            with suppress(BadRowError):
                answered = self._make_rows([asked[place] for place in done], known)
                attach_answers(error, ids[done], answered)
            raise
        return self._make_rows(asked, answers)

    def _make_rows(
        self, asked: Sequence[list[list[Question]]], answers: Mapping[Question, Logs]
    ) -> Rows:
        # What is listed, for every prefix of the spelling, after each word: one question or, where
        # there are many wanted tokens, several of them tell.
        logs = [
            [{t: log for q in rows[node] for t, log in answers[q].items()} for rows in asked]
            for node in range(len(self._sets.of_prefix))
        ]
        if self.top is not None:
            return top_rows(logs, self.spelling, self.top)
        return self.spelling.rows(_make_tables(logs, self.spelling, None))

    def _questions(self, tokens: Tokens) -> list[list[Question]]:
        """Return what is asked for a word: for every prefix of the spelling its sets of tokens."""
        return [
            [(number, tokens + prefix) for number in numbers]
            for prefix, numbers in zip(self.spelling.prefixes, self._sets.of_prefix, strict=True)
        ]

    def _check_context(self, questions: Mapping[Question, int], words: Words) -> None:
        longest = max(questions, key=lambda question: len(question[1]), default=(0, ()))
        needed = len(self.prompt) + len(longest[1]) + 1
        if self._context is not None and needed > self._context:
            raise ModelError(
                f"the word {self._name_word(words, questions[longest])} needs {needed:,} tokens "
                f"with its prompt, but the server's context has {self._context:,}; bound the "
                "length of words, as with Budget(max_word_length=…), or shorten the prompt"
            )

    def _name_word(self, words: Words, place: int) -> str:
        (codes,) = words.part(place, place + 1)
        return shorten(self.alphabet.decode(codes))

    def _count_tokens(self) -> QueryCost:
        """Return what words and symbols cost, in tokens sent and generated.

        Cached tokens cost as much as others; a user who pays less for them sets a cost.
        """
        prompts = [tokens for row in self._questions(self.prompt) for _, tokens in row]
        word = float(sum(len(tokens) + 1 for tokens in prompts))
        symbol = float(len(prompts) * max(map(len, self.spelling.tokens)))
        return QueryCost(word=word, prefix=word, symbol=symbol, cached_symbol=symbol)


def _choose_top(top: int | None, server: Server, prompt: Tokens, spelling: Spelling) -> int | None:
    """Return how many of the likeliest tokens to ask for; warn if the user has not set it."""
    is_wished = top is not None
    top = top if is_wished else server.find_top(prompt)
    if top is None:
        return None
    lists = f"the server {server.client.url} lists the {top} likeliest tokens only"
    if spelling.ends == "rest" or spelling.outside is not None:
        culprit = "ends='rest'" if spelling.ends == "rest" else f"outside={spelling.outside!r}"
        raise InputError(
            f"{lists}, and {culprit} is the mass of tokens beside these; give the tokens that end "
            "a word, and nothing as outside"
        )
    if not is_wished:
        warnings.warn(
            f"{lists}: answers are sparse rows, whose unlisted mass is a bound",
            LikeliestTokensWarning,
            stacklevel=3,
        )
    return top


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
    low = np.exp(spelling.log_masses(_make_tables(answers, spelling, None)))
    high = np.exp(spelling.log_masses(_make_tables(answers, spelling, top)))
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


def _make_tables(
    answers: Sequence[Sequence[Logs]], spelling: Spelling, top: int | None
) -> list[Floats]:
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
