"""``pdfalearn models``: how to name a model."""

from __future__ import annotations

from collections import namedtuple

from pdfalearn.cli._chosen import Chosen
from pdfalearn.cli._commands import command
from pdfalearn.cli._output import Answer, Verbatim

Kind = namedtuple("Kind", ("name", "what", "example"))
"""The form of a model's name, what stands there, and a command."""
_KINDS = """\
FILE
    an automaton, run, frontier or n-gram model: .json, .json.gz, .npz, .zip, .arpa, .pautomac, …
    $ pdfalearn learn target.json --kappa 1000 -o learnt.json
FILE.py:NAME
    an object of a Python file: a LanguageModel, such as WordProbabilities, or a PDFA
    $ pdfalearn learn my_file.py:model --max-words 5000 -o learnt.json
module:NAME
    the same of a module, in the current folder or installed
    $ pdfalearn evaluate my_module:model learnt.json --words 100
FILE.py:function
    a function from a list of words to a distribution each, terminal first; with --alphabet
    $ pdfalearn sample my_file.py:function --alphabet ab --max-length 20
FILE.py:function
    a function from a word to a dictionary of what may follow; with --alphabet and --by-word
    $ pdfalearn learn my_file.py:by_word --alphabet ab --by-word --max-words 5000
FILE.py:make_model
    a function without parameters that makes one of these
    $ pdfalearn learn my_file.py:make_model --max-seconds 600 -o learnt.json
FILE.py:samples
    a Samples: a function that draws words, of which 'learn' and 'distill' know nothing else
    $ pdfalearn learn shop.py:samples --max-words 40000 --store drawn.jsonl -o learnt.json
torch:FILE.py:make_model
    the same, for a network of torch (RecurrentModel)
    $ pdfalearn learn torch:my_network.py:make_model --kappa 10 --max-words 5000
command:PROGRAM
    a program in any language with its arguments, asked over pipes; with --alphabet
    $ pdfalearn learn 'command:./my_program --fast' --alphabet ab --kappa 10 --max-words 5000
hf:FOLDER
    a causal LLM of Hugging Face, a local folder; with --vocabulary, --prompt, --chat, --ends
    $ pdfalearn learn hf:my_llm --vocabulary digits.txt --prompt 'A number:' --max-words 50
served:URL#MODEL
    an LLM behind a server with OpenAI's completions, such as vLLM; with the same options
    $ pdfalearn distill 'served:http://127.0.0.1:8000#my-llm' --vocabulary digits.txt --words 500
"""
_LINES = [line.removeprefix("    ").removeprefix("$ ") for line in _KINDS.splitlines()]
KINDS = [Kind(*kind) for kind in zip(_LINES[::3], _LINES[1::3], _LINES[2::3], strict=True)]

_ENDING = """\
Functions and makers can be in modules, too. learn, sweep, distill, refit, evaluate and sample take
all of these, and constrain them by --guide, --temperature, --top-k and --top-p. compare,
divergence, info, quotient, simplify, convert and draw look into an automaton, which has to be a
deterministic one, a PDFA.

'ask answers' and 'drift' take an LLM over all of its tokens, a served one with --tokenizer FOLDER.
Elsewhere LLMs need --vocabulary FILE: a line is a symbol, its text with all blanks (mostly there is
one before a word). Where a symbol is to have another name than its text, or has characters that no
line can hold, a line is the name, a tab, and the text or its tokens:
    red<tab> red
    new line<tab>[198]
A server's key is read from the environment variable PDFALEARN_API_KEY.

A program reads a line of JSON for each batch of words, and answers with one line, at once:
    {"words": [["a", "b"], []]}
    {"rows": [[0.5, 0.2, 0.3], [0.1, 0.4, 0.5]]}"""


@command()
def models(_chosen: Chosen) -> Answer:
    """Print how to name a model, with an example for each kind.

    Examples
    --------
    $ pdfalearn models
    """
    text = f"A model is named in one of these ways:\n\n{_KINDS}\n{_ENDING}\n"
    return Answer({"models": [kind._asdict() for kind in KINDS]}, [Verbatim([text])])
