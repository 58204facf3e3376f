"""Learn with several κ and tolerances from one set of answers, to choose among them."""

from typing import TYPE_CHECKING

from pdfalearn.doors import open_door

if TYPE_CHECKING:
    from pdfalearn.sweeping.running import DEFAULT_KAPPAS as DEFAULT_KAPPAS
    from pdfalearn.sweeping.running import sweep as sweep
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
