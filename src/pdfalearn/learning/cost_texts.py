"""What learning has cost, as every summary writes it."""

from __future__ import annotations

from pdfalearn.learning.results import Statistics
from pdfalearn.progress import LABELS


def cost_texts(statistics: Statistics) -> dict[str, str]:
    """Return figures by their names; a cost only where asking costs something.

    Examples
    --------
    >>> from pdfalearn import figure_3, learn
    >>> texts = cost_texts(learn(figure_3()).statistics)
    >>> texts["words asked"], texts["equivalence queries"]
    ('14', '2')
    """
    return {
        LABELS["words"]: f"{statistics.words:,}",
        LABELS["stored_words"]: f"{statistics.stored_words:,}",
        LABELS["audited_words"]: f"{statistics.audited_words:,}",
        LABELS["largest_difference"]: f"{statistics.largest_difference:.3g}",
        LABELS["distributions"]: f"{statistics.distributions:,}",
        LABELS["symbols"]: f"{statistics.symbols:,}",
        **({LABELS["cost"]: f"{statistics.cost:,.10g}"} if statistics.cost else {}),
        LABELS["equivalence_queries"]: f"{statistics.equivalence_queries:,}",
        "tree depth": f"{statistics.tree_depth:,}",
        "inner nodes": f"{statistics.inner_nodes:,}",
        "seconds for learning": f"{statistics.learning_seconds:,.3f}",
        "seconds for equivalence": f"{statistics.equivalence_seconds:,.3f}",
    }
