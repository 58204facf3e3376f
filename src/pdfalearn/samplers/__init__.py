"""Where sampled words come from."""

from typing import TYPE_CHECKING

from pdfalearn.doors import open_door

if TYPE_CHECKING:
    from pdfalearn.samplers.corpus_words import CorpusWords as CorpusWords
    from pdfalearn.samplers.drawing import HypothesisWords as HypothesisWords
    from pdfalearn.samplers.drawing import Mixture as Mixture
    from pdfalearn.samplers.drawing import ModelWords as ModelWords
    from pdfalearn.samplers.drawing import Sampler as Sampler
    from pdfalearn.samplers.drawing import UniformWords as UniformWords
    from pdfalearn.samplers.drawing import sample as sample
    from pdfalearn.words import Words as Words

if TYPE_CHECKING:  # for other rooms of the package
    from pdfalearn.samplers.drawing import SamplerLike as SamplerLike
    from pdfalearn.samplers.drawing import as_sampler as as_sampler
    from pdfalearn.samplers.drawing import model_words as model_words
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
