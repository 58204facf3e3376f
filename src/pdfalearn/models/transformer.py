"""A causal language model of Hugging Face's transformers as a language model."""

from __future__ import annotations

import logging
import warnings
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pdfalearn.alphabet import Symbol
from pdfalearn.checks import check_integer
from pdfalearn.errors import InputError
from pdfalearn.extras import check_installed
from pdfalearn.models._causal_models import CausalModel, check_folder, find_folder, load_model
from pdfalearn.models._opened_transformer import OpenedTransformer, Setup, count_room
from pdfalearn.models._tokenizers import GivenEnds, Prompt, Tokens, load_tokenizer
from pdfalearn.models._trials import Trial
from pdfalearn.models.protocol import EVERY_SYMBOL, LanguageModel, QueryCost
from pdfalearn.models.spelling import Spelling, Texts

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

_MEMORY = 2**30
_BATCH = 256
_LOGGER = logging.getLogger(__name__)


class TransformerModel(LanguageModel):
    """A causal language model of Hugging Face as a language model over texts of your choice.

    Keys and values of words are kept, so that only the new part of a word is computed. All new
    tokens of a batch go through the model in one sequence, in which each attends to its own word.
    Whether a model takes that is tried on as many tokens as a batch has. With one that does not,
    a warning says so, and words are computed whole each time.

    Parameters
    ----------
    model : transformers.PreTrainedModel, str or Path
        The model, not in training mode, or a local folder with one. A model stays on its device and
        in its precision; softmax is in float64.
    tokenizer : transformers.PreTrainedTokenizerBase, optional
        The tokenizer; if not given, the one of the folder. Without any, symbols, prompt and ends
        have to be tokens.
    symbols : iterable of str, or mapping
        The symbols: texts, or a mapping of names to texts or to tokens. See `Spelling`.
    prompt : str, sequence of int, or sequence of mapping
        What stands before every word: a text, tokens, or with ``chat`` a message or several. If it
        is empty, the token that begins a text stands there.
    ends : sequence of str or int, "rest", or None
        The texts or tokens that end a word, each of one token. "rest" means all tokens that no
        symbol begins with. If None, the model's own end of text.
    chat : bool
        Whether the prompt is put into the tokenizer's chat template.
    terminal, outside : hashable
        The terminal symbol, and the name of a symbol for the mass outside, if it is to be one.
    memory : int
        The most bytes for keys and values in one run, those of the prompt not counted; 1 GiB if not
        given. Words beyond that are forgotten, and computed again when they are needed.
    batch : int
        About how many tokens go through the model at once.
    precision, device : str or torch.dtype, str, optional
        For a folder: a type of torch such as "float64", and where to compute, such as "cuda". If
        not given, as it was saved, on the CPU.
    cost : QueryCost
        What asking costs; if not given, every symbol costs the same, and where nothing is kept
        every word costs as much as its prompt besides.

    Attributes
    ----------
    spelling : Spelling
        How symbols are spelled in tokens.
    prompt : tuple of int
        The tokens before every word.
    keeps : bool
        Whether keys and values are kept; if not, words are computed whole each time.

    Examples
    --------
    >>> from pdfalearn.models import Batch
    >>> from transformers import LlamaConfig, LlamaForCausalLM
    >>> sizes = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1}
    >>> config = LlamaConfig(vocab_size=4, num_attention_heads=2, num_key_value_heads=2, **sizes)
    >>> network = LlamaForCausalLM(config).eval()
    >>> model = TransformerModel(network, symbols={"a": [1], "b": [2]}, prompt=[0], ends=[3])
    >>> model.open().answer(Batch.of([(), (0, 1)])).to_dense().shape
    (2, 3)
    """

    def __init__(
        self,
        model: PreTrainedModel | str | Path,
        tokenizer: PreTrainedTokenizerBase | None = None,
        symbols: Texts = (),
        *,
        prompt: Prompt = "",
        ends: GivenEnds = None,
        chat: bool = False,
        terminal: Symbol = "$",
        outside: Symbol | None = None,
        memory: int = _MEMORY,
        batch: int = _BATCH,
        precision: str | torch.dtype | None = None,
        device: str | None = None,
        cost: QueryCost | None = None,
    ) -> None:
        for package in ("torch", "transformers"):
            check_installed(package, "transformers")
        if isinstance(model, str | Path):
            folder = check_folder(model)
            tokenizer = load_tokenizer(folder) if tokenizer is None else tokenizer
            model = load_model(folder, precision, device)
        elif precision is not None or device is not None:
            raise InputError("precision and device are for folders; use model.to(…) yourself")
        self._model = CausalModel(model)
        tokens = Tokens(tokenizer, self._model)
        self.spelling = self._spell(tokens, symbols, ends, terminal, outside)
        self.prompt = self._encode_prompt(tokens, prompt, chat=chat)
        self.alphabet = self.spelling.alphabet
        self.full_support = outside is None
        memory = check_integer(memory, "memory", 1, 2**62)
        batch = check_integer(batch, "batch", 1)
        self._model.check_ready()
        self._setup = Setup(self._model, self.spelling, self.prompt, memory, batch)
        self._way, why = Trial(self._setup).best_way()
        if why:
            warnings.warn(
                f"nothing can be kept of words with {type(model).__name__} ({why}): they are "
                "computed whole each time, which is slower",
                UserWarning,
                stacklevel=2,
            )
        self.keeps = self._way.keeps
        _LOGGER.info("%s: keeps keys and values: %s", type(model).__name__, self.keeps)
        # Where nothing is kept, all tokens before a word are computed with it.
        whole = QueryCost(word=len(self.prompt), symbol=1.0, cached_symbol=1.0)
        self.cost = cost or (EVERY_SYMBOL if self.keeps else whole)

    def _spell(
        self,
        tokens: Tokens,
        symbols: Texts,
        ends: GivenEnds,
        terminal: Symbol,
        outside: Symbol | None,
    ) -> Spelling:
        return tokens.spelling(symbols, ends, terminal, outside)

    def _encode_prompt(self, tokens: Tokens, prompt: Prompt, *, chat: bool) -> tuple[int, ...]:
        return tokens.prompt(prompt, chat=chat)

    @classmethod
    def from_pretrained(
        cls, name: str | Path, symbols: Texts = (), **options: Any
    ) -> TransformerModel:
        """Load model and tokenizer from a local folder, or by their name on the Hugging Face Hub.

        Parameters
        ----------
        name : str or Path
            A local folder, as ``save_pretrained`` writes it, or a name such as "gpt2". What has a
            name is downloaded once. Weights are read as safetensors only, and no code is run.
        symbols, **options
            As for the class: ``prompt``, ``ends``, ``precision``, ``device`` and the others.

        Examples
        --------
        >>> TransformerModel.from_pretrained("./nowhere", ["a"])
        Traceback (most recent call last):
        pdfalearn.errors.InputError: nowhere is not a folder; save a model there with \
save_pretrained
        """
        for package in ("torch", "transformers"):
            check_installed(package, "transformers")
        return cls(find_folder(name), symbols=symbols, **options)

    def __repr__(self) -> str:
        return f"TransformerModel({type(self._model.module).__name__}, {self.spelling!r})"

    @property
    def fingerprint(self) -> str:  # type: ignore[override]
        """A hash of weights, configuration, precision, prompt, symbols' tokens and ends."""
        model = self._model.hash(self.alphabet)
        return sha256(f"{model} {self.spelling.fingerprint} {self.prompt}".encode()).hexdigest()

    @property
    def longest_word(self) -> int:
        """How many symbols fit behind the prompt, whichever they are."""
        return count_room(self._setup, self._way) // max(map(len, self.spelling.tokens))

    def open(self) -> OpenedTransformer:
        """Return what keeps the keys and values of one run; it has the whole memory for itself."""
        self._model.check_ready()
        return OpenedTransformer(self._setup, self._way)
