"""Questions to live models: certain bounds on what they answer, samples, and what changed."""

from typing import TYPE_CHECKING

from pdfalearn.doors import open_door

if TYPE_CHECKING:
    from pdfalearn.exploring.any_model import most_likely as most_likely
    from pdfalearn.exploring.any_model import probability as probability
    from pdfalearn.exploring.asking import explore as explore
    from pdfalearn.exploring.drifting import Apart as Apart
    from pdfalearn.exploring.drifting import Difference as Difference
    from pdfalearn.exploring.drifting import Drift as Drift
    from pdfalearn.exploring.drifting import drift as drift
    from pdfalearn.exploring.exploration import Exploration as Exploration
    from pdfalearn.exploring.exploration import ExplorationInterrupted as ExplorationInterrupted
    from pdfalearn.exploring.exploration import Step as Step
    from pdfalearn.exploring.likeliest import Likely as Likely
    from pdfalearn.exploring.recording import Baseline as Baseline
    from pdfalearn.exploring.sampling import Draws as Draws

if TYPE_CHECKING:  # for other rooms of the package
    from pdfalearn.exploring.any_model import draw_in as draw_in
    from pdfalearn.exploring.any_model import draw_texts as draw_texts
    from pdfalearn.exploring.exploration import SAVERS as SAVERS
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
