"""Which models have words that are undefined because of a wrapper."""

from __future__ import annotations

from pdfalearn.models.constrained._selection import Selection
from pdfalearn.models.constrained.guided import Guided
from pdfalearn.models.constrained.wrapper import Wrapper
from pdfalearn.models.protocol import LanguageModel


def is_constrained(model: LanguageModel) -> bool:
    """Return whether a guide, top-k or top-p makes words of a model undefined.

    Examples
    --------
    >>> from pdfalearn import FunctionModel, Temperature, TopK
    >>> model = FunctionModel(lambda words: [[0.2, 0.8]] * len(words), "a")
    >>> is_constrained(model), is_constrained(Temperature(TopK(model, 1), 2.0))
    (False, True)
    """
    if isinstance(model, Guided | Selection):
        return True
    return isinstance(model, Wrapper) and is_constrained(model.model)
