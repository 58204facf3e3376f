"""How well one language model predicts another."""

from typing import TYPE_CHECKING

from pdfalearn.doors import open_door

if TYPE_CHECKING:
    from pdfalearn.metrics.comparing import Comparison as Comparison
    from pdfalearn.metrics.comparing import compare as compare
    from pdfalearn.metrics.comparing import divergence as divergence
    from pdfalearn.metrics.distributions import distribution_differences as distribution_differences
    from pdfalearn.metrics.distributions import kl_divergences as kl_divergences
    from pdfalearn.metrics.distributions import l1_distances as l1_distances
    from pdfalearn.metrics.distributions import ndcg_scores as ndcg_scores
    from pdfalearn.metrics.distributions import word_errors as word_errors
    from pdfalearn.metrics.evaluation import evaluate as evaluate
    from pdfalearn.metrics.evaluation import evaluate_exactly as evaluate_exactly
    from pdfalearn.metrics.world_models import Coherence as Coherence
    from pdfalearn.metrics.world_models import Incoherence as Incoherence
    from pdfalearn.metrics.world_models import coherence as coherence

if TYPE_CHECKING:  # for other rooms of the package
    from pdfalearn.metrics.comparing import directed_divergence as directed_divergence
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
