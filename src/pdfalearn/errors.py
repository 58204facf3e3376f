"""The errors that the library raises on purpose."""


class InputError(ValueError):
    """Something given to the library is wrong; the message names the culprit and the remedy.

    Examples
    --------
    >>> from pdfalearn import Quantization
    >>> try:
    ...     Quantization(0)
    ... except InputError as error:
    ...     print(error)
    kappa 0 is not an integer from 1 to 1099511627776
    """


class FileFormatError(InputError):
    """A file does not hold what its name promises, or is too new or too large.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from pdfalearn import load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "broken.json")
    ...     _ = path.write_text("{}")
    ...     try:
    ...         load(path)
    ...     except FileFormatError as error:
    ...         print("broken.json" in str(error))
    True
    """


class MissingExtraError(ImportError):
    """An optional program or package is not installed; the message says how to get it.

    Examples
    --------
    >>> issubclass(MissingExtraError, ImportError)
    True
    """


class ModelError(InputError):
    """A model's answer cannot be right: no distribution, or not the same as before.

    Examples
    --------
    >>> from pdfalearn import FunctionModel, learn
    >>> try:
    ...     learn(FunctionModel(lambda words: [[0.5, 0.4]] * len(words), "a"))
    ... except ModelError as error:
    ...     print(error)
    the model's answer to the word (): [0.5, 0.4] sums to 0.9, not to 1
    """


class OracleError(InputError):
    """An equivalence oracle's answer cannot be right: a word that is not a counterexample.

    Examples
    --------
    >>> from pdfalearn import learn
    >>> from pdfalearn.datasets import figure_1
    >>> from pdfalearn.results import Certificate
    >>> from pdfalearn.samplers import Words
    >>> class Careless:
    ...     certificate = Certificate("tested", "nothing was tested", {})
    ...
    ...     def counterexamples(self, hypothesis, observations):
    ...         return Words.of([[0]])  # whether or not it is one
    >>> try:
    ...     learn(figure_1(), oracle=Careless())
    ... except OracleError as error:
    ...     print("('a',)" in str(error))
    True
    """


class LearningError(InputError):
    """A learner cannot go on: its counterexamples do not help it any more.

    Examples
    --------
    >>> issubclass(LearningError, InputError)  # so that catching InputError catches it, too
    True
    """


class StoreError(InputError):
    """A store of answers cannot be used as asked; the message names the file and the remedy.

    Examples
    --------
    >>> import tempfile
    >>> from pdfalearn.stores import AnswerStore
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     try:
    ...         AnswerStore(f"{folder}/none.db", read_only=True)
    ...     except StoreError as error:
    ...         print(str(error).replace(folder, "FOLDER"))
    FOLDER/none.db: there is no such file; name a store
    """


class DamagedStoreError(StoreError):
    """A store of answers is damaged: what it holds is not what was written.

    Examples
    --------
    >>> import sqlite3, tempfile
    >>> from pdfalearn import learn
    >>> from pdfalearn.datasets import figure_3
    >>> from pdfalearn.stores import AnswerStore
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/answers.db"
    ...     _ = learn(figure_3(), store=path)
    ...     with sqlite3.connect(path) as connection:
    ...         _ = connection.execute("UPDATE answers SET checksum = checksum + 1")
    ...     connection.close()
    ...     try:
    ...         _ = learn(figure_3(), store=path)
    ...     except DamagedStoreError as error:
    ...         print("checksum" in str(error) or "damaged" in str(error))
    True
    """
