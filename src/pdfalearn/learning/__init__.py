"""The loop that joins model, learner and oracle, what comes out of it, and stability."""

from typing import TYPE_CHECKING

from pdfalearn.doors import open_door

if TYPE_CHECKING:
    from pdfalearn.learning.loop import DELTA as DELTA
    from pdfalearn.learning.loop import EPSILON as EPSILON
    from pdfalearn.learning.loop import LEARNERS as LEARNERS
    from pdfalearn.learning.loop import MAX_LENGTH as MAX_LENGTH
    from pdfalearn.learning.loop import SIMILARITY_LEARNERS as SIMILARITY_LEARNERS
    from pdfalearn.learning.loop import default_oracle as default_oracle
    from pdfalearn.learning.loop import learn as learn
    from pdfalearn.learning.loop import may_be_endless as may_be_endless
    from pdfalearn.learning.support import SupportDFA as SupportDFA
    from pdfalearn.learning.support import support_dfa as support_dfa
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
