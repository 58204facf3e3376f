"""The errors that the library raises on purpose."""


class InputError(ValueError):
    """Something given to the library is wrong; the message names the culprit and the remedy."""


class FileFormatError(InputError):
    """A file does not hold what its name promises, or is too new or too large."""


class MissingExtraError(ImportError):
    """An optional program or package is not installed; the message says how to get it."""


class ModelError(InputError):
    """A model's answer cannot be right: no distribution, or not the same as before."""


class OracleError(InputError):
    """An equivalence oracle's answer cannot be right: a word that is not a counterexample."""


class LearningError(InputError):
    """A learner cannot go on: its counterexamples do not help it any more."""


class StoreError(InputError):
    """A store of answers cannot be used as asked; the message names the file and the remedy."""


class DamagedStoreError(StoreError):
    """A store of answers is damaged: what it holds is not what was written."""
