"""Active learning of probabilistic deterministic finite automata (PDFA)."""

from typing import TYPE_CHECKING

from pdfalearn.doors import open_door

__version__ = "0.1.0"

if TYPE_CHECKING:
    from pdfalearn.alphabet import Alphabet as Alphabet
    from pdfalearn.analysis import score as score
    from pdfalearn.budgets import Budget as Budget
    from pdfalearn.corpora import Corpus as Corpus
    from pdfalearn.distilling import distill as distill
    from pdfalearn.distilling import refit as refit
    from pdfalearn.distilling import simplify as simplify
    from pdfalearn.equivalence import Exact as Exact
    from pdfalearn.equivalence import Quantization as Quantization
    from pdfalearn.equivalence import Tolerance as Tolerance
    from pdfalearn.equivalence import distinguish as distinguish
    from pdfalearn.equivalence import quotient as quotient
    from pdfalearn.exploring import drift as drift
    from pdfalearn.exploring import explore as explore
    from pdfalearn.exploring import most_likely as most_likely
    from pdfalearn.exploring import probability as probability
    from pdfalearn.io import load as load
    from pdfalearn.io import save as save
    from pdfalearn.learning import learn as learn
    from pdfalearn.metrics import compare as compare
    from pdfalearn.metrics import divergence as divergence
    from pdfalearn.metrics import evaluate as evaluate
    from pdfalearn.models import Answers as Answers
    from pdfalearn.models import FunctionModel as FunctionModel
    from pdfalearn.models import Guided as Guided
    from pdfalearn.models import LanguageModel as LanguageModel
    from pdfalearn.models import ProgramModel as ProgramModel
    from pdfalearn.models import RecurrentModel as RecurrentModel
    from pdfalearn.models import Replicas as Replicas
    from pdfalearn.models import ServedModel as ServedModel
    from pdfalearn.models import Temperature as Temperature
    from pdfalearn.models import TopK as TopK
    from pdfalearn.models import TopP as TopP
    from pdfalearn.models import TransformerModel as TransformerModel
    from pdfalearn.pdfa import PDFA as PDFA
    from pdfalearn.results import Certificate as Certificate
    from pdfalearn.results import Frontier as Frontier
    from pdfalearn.results import Result as Result
    from pdfalearn.results import Sweep as Sweep
    from pdfalearn.samplers import sample as sample
    from pdfalearn.sweeping import sweep as sweep
    from pdfalearn.viewing import draw as draw
    from pdfalearn.viewing import view as view
    from pdfalearn.watching import Monitor as Monitor
    from pdfalearn.watching import calibrate as calibrate

    __all__: list[str]

if TYPE_CHECKING:  # rooms, as attributes of the package
    from pdfalearn import analysis as analysis
    from pdfalearn import corpora as corpora
    from pdfalearn import datasets as datasets
    from pdfalearn import equivalence as equivalence
    from pdfalearn import errors as errors
    from pdfalearn import experiments as experiments
    from pdfalearn import exploring as exploring
    from pdfalearn import io as io
    from pdfalearn import languages as languages
    from pdfalearn import learners as learners
    from pdfalearn import metrics as metrics
    from pdfalearn import models as models
    from pdfalearn import multiplicity as multiplicity
    from pdfalearn import oracles as oracles
    from pdfalearn import passive as passive
    from pdfalearn import results as results
    from pdfalearn import samplers as samplers
    from pdfalearn import stores as stores
    from pdfalearn import testing as testing
    from pdfalearn import viewing as viewing
    from pdfalearn import watching as watching

else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
