"""Equivalence oracles, which try to break a hypothesis."""

from typing import TYPE_CHECKING

from pdfalearn.doors import open_door

if TYPE_CHECKING:
    from pdfalearn.oracles.comparison import AllWordsOracle as AllWordsOracle
    from pdfalearn.oracles.comparison import KnownAnswersOracle as KnownAnswersOracle
    from pdfalearn.oracles.conformance import RandomWpOracle as RandomWpOracle
    from pdfalearn.oracles.conformance import WOracle as WOracle
    from pdfalearn.oracles.conformance import WpOracle as WpOracle
    from pdfalearn.oracles.exact import ExactOracle as ExactOracle
    from pdfalearn.oracles.protocol import ChainOracle as ChainOracle
    from pdfalearn.oracles.protocol import EquivalenceOracle as EquivalenceOracle
    from pdfalearn.oracles.protocol import MixedOracle as MixedOracle
    from pdfalearn.oracles.random_words import PACOracle as PACOracle
    from pdfalearn.oracles.random_words import StatePrefixOracle as StatePrefixOracle
    from pdfalearn.oracles.random_words import UnreachableSymbolWarning as UnreachableSymbolWarning
    from pdfalearn.oracles.random_words import WeissOracle as WeissOracle

if TYPE_CHECKING:  # for other rooms of the package
    from pdfalearn.oracles.comparison import make_comparison as make_comparison
    from pdfalearn.oracles.protocol import NOTHING_KNOWN as NOTHING_KNOWN
    from pdfalearn.oracles.protocol import certificate_of as certificate_of
    from pdfalearn.oracles.protocol import check_codes as check_codes
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
