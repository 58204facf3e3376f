"""Try models of one's own: do they keep to what the protocol asks of them?"""

from pdfalearn.testing.model_checks import check_model as check_model

__all__ = ["check_model"]
