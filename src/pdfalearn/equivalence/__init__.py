"""When do two distributions, states or automata count as the same?"""

from typing import TYPE_CHECKING

from pdfalearn.doors import open_door

if TYPE_CHECKING:
    from pdfalearn.equivalence.differences import distinguish as distinguish
    from pdfalearn.equivalence.functions import same_function as same_function
    from pdfalearn.equivalence.likely_symbols import KeyFunction as KeyFunction
    from pdfalearn.equivalence.likely_symbols import Ranking as Ranking
    from pdfalearn.equivalence.likely_symbols import Support as Support
    from pdfalearn.equivalence.likely_symbols import TopKSet as TopKSet
    from pdfalearn.equivalence.likely_symbols import ZeroApart as ZeroApart
    from pdfalearn.equivalence.quotients import is_weakly_minimal as is_weakly_minimal
    from pdfalearn.equivalence.quotients import quotient as quotient
    from pdfalearn.equivalence.relations import Equivalence as Equivalence
    from pdfalearn.equivalence.relations import Exact as Exact
    from pdfalearn.equivalence.relations import Quantization as Quantization
    from pdfalearn.equivalence.relations import Rounded as Rounded
    from pdfalearn.equivalence.tolerance import Tolerance as Tolerance

if TYPE_CHECKING:  # for other rooms of the package
    from pdfalearn.equivalence.differences import Judge as Judge
    from pdfalearn.equivalence.differences import Merging as Merging
    from pdfalearn.equivalence.differences import Visiting as Visiting
    from pdfalearn.equivalence.differences import Walk as Walk
    from pdfalearn.equivalence.differences import in_order_of as in_order_of
    from pdfalearn.equivalence.differences import over_union as over_union
    from pdfalearn.equivalence.quotients import refine_classes as refine_classes
    from pdfalearn.equivalence.quotients import state_classes as state_classes
    from pdfalearn.equivalence.quotients import tell_states_apart as tell_states_apart
    from pdfalearn.equivalence.relations import Relation as Relation
    from pdfalearn.equivalence.relations import check_equivalence as check_equivalence
    from pdfalearn.equivalence.relations import check_own_keys as check_own_keys
    from pdfalearn.equivalence.relations import check_relation as check_relation
    from pdfalearn.equivalence.relations import check_tolerance as check_tolerance
    from pdfalearn.equivalence.relations import checked_keys as checked_keys
    from pdfalearn.equivalence.relations import different_rows as different_rows
    from pdfalearn.equivalence.relations import full_text as full_text
    from pdfalearn.equivalence.relations import is_own as is_own
    from pdfalearn.equivalence.relations import relation_text as relation_text
else:
    __getattr__, __dir__, __all__ = open_door(__name__, __file__)
