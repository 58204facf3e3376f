"""What can be learnt from: anything that says how a word may go on."""

from typing import TYPE_CHECKING

from pdfalearn.doors import open_door

if TYPE_CHECKING:
    from pdfalearn.models.answers import Answers as Answers
    from pdfalearn.models.automaton import AutomatonModel as AutomatonModel
    from pdfalearn.models.batch import Batch as Batch
    from pdfalearn.models.constrained.guided import Guided as Guided
    from pdfalearn.models.constrained.top import TopK as TopK
    from pdfalearn.models.constrained.top import TopP as TopP
    from pdfalearn.models.constrained.wrapper import Temperature as Temperature
    from pdfalearn.models.constrained.wrapper import Wrapper as Wrapper
    from pdfalearn.models.function import FunctionModel as FunctionModel
    from pdfalearn.models.parallel import Replicas as Replicas
    from pdfalearn.models.pfa import PFA as PFA
    from pdfalearn.models.program import ProgramModel as ProgramModel
    from pdfalearn.models.protocol import LanguageModel as LanguageModel
    from pdfalearn.models.protocol import QueryCost as QueryCost
    from pdfalearn.models.recurrent import RecurrentModel as RecurrentModel
    from pdfalearn.models.recurrent import StepNetwork as StepNetwork
    from pdfalearn.models.served.model import LikeliestTokensWarning as LikeliestTokensWarning
    from pdfalearn.models.served.model import ServedModel as ServedModel
    from pdfalearn.models.served.served_answers import ServedAnswers as ServedAnswers
    from pdfalearn.models.spelling import Spelling as Spelling
    from pdfalearn.models.transformer import TransformerModel as TransformerModel
    from pdfalearn.models.wfa import WFA as WFA
    from pdfalearn.models.word_probabilities import WordProbabilities as WordProbabilities
    from pdfalearn.rows import Rows as Rows

if TYPE_CHECKING:  # for other rooms of the package
    from pdfalearn.models._processes import end_all as end_all
    from pdfalearn.models.automaton import as_model as as_model
    from pdfalearn.models.batch import FEW as FEW
    from pdfalearn.models.batch import Lineage as Lineage
    from pdfalearn.models.batch import number_words as number_words
    from pdfalearn.models.constrained.guided import wrapped_pdfa as wrapped_pdfa
    from pdfalearn.models.constrained.top import Above as Above
    from pdfalearn.models.opened import BadAnswerError as BadAnswerError
    from pdfalearn.models.opened import CheckedModel as CheckedModel
    from pdfalearn.models.opened import Interrupts as Interrupts
    from pdfalearn.models.opened import ask_batch as ask_batch
    from pdfalearn.models.opened import ask_words as ask_words
    from pdfalearn.models.opened import check_members as check_members
    from pdfalearn.models.opened import close_quietly as close_quietly
    from pdfalearn.models.opened import error_text as error_text
    from pdfalearn.models.opened import open_model as open_model
    from pdfalearn.models.opened import run_long as run_long
    from pdfalearn.models.protocol import attach_answers as attach_answers
    from pdfalearn.models.protocol import attached_answers as attached_answers
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
