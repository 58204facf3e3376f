"""The five experiments of the paper (§4), run again and reported."""

from typing import TYPE_CHECKING

from pdfalearn.doors import open_door

if TYPE_CHECKING:
    from pdfalearn.experiments.report import Report as Report
    from pdfalearn.experiments.report import write_report as write_report
    from pdfalearn.experiments.runs import Outcome as Outcome
    from pdfalearn.experiments.runs import run_experiments as run_experiments
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
