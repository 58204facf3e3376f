"""Models that tell only samples: continuations that are drawn, counted, and learnt from."""

from typing import TYPE_CHECKING

from pdfalearn.doors import open_door

if TYPE_CHECKING:
    from pdfalearn.sampled.learner import learn_samples as learn_samples
    from pdfalearn.sampled.samples import Samples as Samples

if TYPE_CHECKING:  # for other rooms of the package
    from pdfalearn.sampled.learner import DEFAULT_GAP as DEFAULT_GAP
    from pdfalearn.sampled.samples import Draw as Draw
    from pdfalearn.sampled.samples import Drawer as Drawer
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
