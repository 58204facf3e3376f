"""Learn a PDFA from a language model: the loop that joins model, learner and oracle."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import cast

import pdfalearn.learners as learners
from pdfalearn.budgets import Budget
from pdfalearn.checks import check_integer
from pdfalearn.displays import LearningLine, Wanted, show_progress
from pdfalearn.equivalence import (
    Quantization,
    Relation,
    check_equivalence,
    check_relation,
    check_tolerance,
)
from pdfalearn.errors import InputError, OracleError
from pdfalearn.learning._run import Maker, Run
from pdfalearn.models import (
    AutomatonModel,
    LanguageModel,
    Wrapper,
    as_model,
    run_long,
    wrapped_pdfa,
)
from pdfalearn.observations import UNBOUNDED, ObservationTree
from pdfalearn.oracles import (
    ChainOracle,
    EquivalenceOracle,
    ExactOracle,
    KnownAnswersOracle,
    PACOracle,
    certificate_of,
)
from pdfalearn.pdfa import PDFA, check_pdfa
from pdfalearn.results import LearningInterrupted, Progress, Result
from pdfalearn.samplers import HypothesisWords, UniformWords

DEFAULT_EQUIVALENCE = Quantization(1000)
# Where learning may never end, it stops here unless a budget is given.
DEFAULT_LIMITS = Budget(max_words=10**6, max_bytes=2**30)
EPSILON = DELTA = 0.01
"""The promise of the default oracle for black boxes."""
MAX_LENGTH = 20
"""The length of the words that it samples."""
_UNIFORM, _WALKS = UniformWords(MAX_LENGTH), HypothesisWords(MAX_LENGTH)

OurMaker = Callable[[ObservationTree], learners.Learner]

LEARNERS: dict[str, OurMaker] = {
    "quant": learners.QuaNT,
    "quant-classes": partial(learners.QuaNT, traces=False),
    "quant-paper": learners.PaperQuaNT,
}
"""The learners by name."""
SIMILARITY_LEARNERS: dict[str, OurMaker] = {  # which few runs need, so they are loaded when used
    "lpstar": lambda observations: learners.LPStar(observations),
    "wlstar": lambda observations: learners.WLStar(observations),
}
"""Those that may compare by a tolerance: L_p* by that or an equivalence, WL* by that alone."""


def learn(
    model: PDFA | LanguageModel,
    *,
    equivalence: Relation = DEFAULT_EQUIVALENCE,
    oracle: EquivalenceOracle | None = None,
    learner: str | Maker = "quant",
    reference: PDFA | None = None,
    budget: Budget | None = None,
    store: str | os.PathLike[str] | None = None,
    model_id: str | None = None,
    progress: Wanted[Progress] = None,
    audit: int = 16,
    seed: int = 0,
) -> Result:
    """Learn a PDFA from a language model.

    Parameters
    ----------
    model : PDFA or LanguageModel
        What to learn from. A Python function becomes a model by `FunctionModel`.
    equivalence : Equivalence or Tolerance
        When two distributions are the same; quantization with κ = 1000 if not given.
    oracle : EquivalenceOracle, optional
        The oracle that tries to break hypotheses. By default it is the exact oracle for a PDFA,
        alone or in wrappers. For other models all answers so far are compared, then words are
        sampled with PAC bounds ε = δ = 0.01: uniform words of up to 20 symbols or, for a
        constrained model, walks over the hypothesis's support. The certificate says so.
    learner : {"quant", "quant-classes", "quant-paper", "lpstar", "wlstar"} or callable
        "quant" is the fast QuaNT, which chooses by the model's cost what it asks for.
        "quant-classes" is the same, but always asks more words with fewer symbols. "quant-paper"
        follows the paper to the letter. "lpstar" and "wlstar" are its rivals: the first takes a
        `Tolerance`, too, the second needs one. A callable takes an `ObservationTree` and returns a
        learner, which needs the verbs ``start``, ``refine`` and ``hypothesis`` only; that is also
        how to choose a learner's parameters.
    reference : PDFA, optional
        An automaton that the model may be like, such as that of an earlier version. It is a guess
        only: the result is what it would be without, up to the numbers of states, and the less
        differs the fewer words are asked. For "quant" and "quant-classes" only.
    budget : Budget, optional
        How much learning may cost. Reaching a bound is not an error: the result is the automaton
        learnt so far, and its certificate says where learning stopped. Without a budget, learning
        from what is not known to be an automaton stops at a million words or a gibibyte of
        observations; ``Budget()`` lifts that.
    store : path, optional
        A file that keeps answers. New answers are written to it, and answers that it has are not
        asked again: a run that was killed goes on where it stopped. A store may hold
        the answers of many models.
    model_id : str, optional
        The name under which the store keeps the answers; needed for a model without
        fingerprint, such as a function. Another model, or the same with other settings, needs
        another name.
    progress : bool, "log" or callable, optional
        True shows a line that is renewed, in a terminal or in a cell of a notebook; elsewhere it is
        written to the standard error every ten seconds. "log" logs it, to ``pdfalearn`` at the
        level INFO. A function is called with a `Progress` after every batch of questions
        and every equivalence query.
    audit : int
        In the end, and now and then on the way, this many words are asked again, to catch a model
        that does not always give the same answer; they are counted apart.
    seed : int
        Seed of the audit's sample and, where no oracle is given, of the words that are sampled.

    Returns
    -------
    Result
        The automaton, its access words and tree, statistics, history and certificate.

    Raises
    ------
    ModelError
        If an answer of the model fails a check; the message names the word.
    OracleError
        If the oracle returns a word that is not a counterexample.
    LearningInterrupted
        On Ctrl-C: a `KeyboardInterrupt` with what has been learnt so far.

    Examples
    --------
    >>> from pdfalearn import Quantization
    >>> from pdfalearn.datasets import figure_3
    >>> result = learn(figure_3(), equivalence=Quantization(10))
    >>> result.pdfa
    PDFA(4 states, alphabet=('0', '1'), initial=0)
    >>> result.access_words
    [(), ('0',), ('1',), ('0', '1')]
    >>> print(result.certificate)
    exact: equivalent to the target under Quantization(kappa=10)
    """
    maker = _maker(learner, equivalence)
    if reference is not None:
        maker = _relearner(learner, reference)
    audit, seed = check_integer(audit, "audit", 0), check_integer(seed, "seed", 0)
    given = asked = as_model(model)
    if oracle is None:
        if isinstance(given, Wrapper) and (automaton := wrapped_pdfa(given)) is not None:
            asked = AutomatonModel(automaton, cost=given.cost)  # the same answers in half the time
        oracle = default_oracle(asked, equivalence, seed)
    if not hasattr(oracle, "counterexamples"):
        raise InputError(
            f"{oracle!r} is not an equivalence oracle, such as ExactOracle(target, equivalence=…)"
        )
    if not (budget is None or isinstance(budget, Budget)):
        raise InputError(f"budget {budget!r} is not a Budget, such as Budget(max_words=1000)")
    key = None
    if store is not None:
        from pdfalearn.stores import model_key

        key = model_key(given, model_id)
    is_endless = may_be_endless(asked, oracle)
    shown = (
        None
        if progress is None
        else show_progress(progress, LearningLine, may_be_endless=is_endless)
    )
    with run_long(shown, LearningInterrupted) as interrupts:
        observations = ObservationTree(asked, equivalence, budget or UNBOUNDED, interrupts)
        if budget is None and is_endless:
            observations.meter.guard = DEFAULT_LIMITS
        run = Run(
            observations,
            oracle,
            interrupts.progress,
            interrupts,
            is_endless=is_endless,
            keeps_last=callable(learner),
        )
        interrupts.salvage = run.salvage
        result = run.finish(maker, store, key, audit, seed)
    return result if reference is None else _with_changes(result, reference)


def _maker(learner: str | Maker, equivalence: Relation) -> Maker:
    """Find a learner, and refuse a relation that it cannot compare by."""
    if callable(learner):
        check_relation(equivalence)
        return learner
    makers = LEARNERS | SIMILARITY_LEARNERS
    if not isinstance(learner, str) or learner not in makers:
        raise InputError(f"there is no learner {learner!r}; there are {', '.join(makers)}")
    checks = {"lpstar": check_relation, "wlstar": check_tolerance}
    checks.get(learner, check_equivalence)(equivalence)
    return makers[learner]


def _relearner(learner: str | Maker, reference: PDFA) -> Maker:
    """Return what makes a learner that begins with a reference."""
    if learner not in ("quant", "quant-classes"):
        raise InputError(f"only quant and quant-classes take a reference, not {learner!r}")
    traces, reference = None if learner == "quant" else False, check_pdfa(reference, "reference")
    return partial(learners.RelearningQuaNT, reference=reference, traces=traces)


def _with_changes(result: Result, reference: PDFA) -> Result:
    """Return a result with what differs from its reference, and how much was not asked."""
    from pdfalearn.results import ReferenceChanges  # which few runs need

    by = check_equivalence(result.equivalence)
    changes = ReferenceChanges.between(reference, result.pdfa, equivalence=by)
    told = cast("dict[str, int]", result.certificate.details["reference"])
    counts = {name: len(found) for name, found in vars(changes).items()}
    details = {**result.certificate.details, "reference": {**told, "changes": counts}}
    note = (
        f"since the reference: {changes.statement}; {told['not_sifted']:,} transitions rest on "
        f"walks and on the oracle, {told['not_tested']:,} of them on the oracle alone"
    )
    certificate = replace(result.certificate, details=details)
    return replace(result, certificate=certificate, notes=(*result.notes, note))


def default_oracle(
    model: PDFA | LanguageModel, equivalence: Relation, seed: int
) -> EquivalenceOracle:
    """Return the exact oracle for a PDFA; for a black box what is known already, then PAC sampling.

    A PDFA in wrappers is an automaton again, and has the exact oracle, too, unless the product is
    very large. The sampled words are uniform ones, or walks over the hypothesis's support where
    the model is constrained, as there most uniform words are undefined.
    """
    if isinstance(model, PDFA):
        return ExactOracle(model, equivalence=equivalence)
    if isinstance(model, AutomatonModel | Wrapper):
        automaton = wrapped_pdfa(model)
        if automaton is not None:
            return ExactOracle(automaton, equivalence=equivalence)
    sampler = _WALKS if model.is_constrained else _UNIFORM
    sampling = PACOracle(epsilon=EPSILON, delta=DELTA, sampler=sampler, seed=seed)
    return ChainOracle(KnownAnswersOracle(), sampling)


def may_be_endless(model: LanguageModel, oracle: EquivalenceOracle) -> bool:
    """Return whether a model may show ever more states: it is not known to be an automaton.

    It is not a PDFA in wrappers, and the oracle does not compare with one.
    """
    try:
        kind = certificate_of(oracle).kind
    except OracleError:
        raise
    except Exception:  # it may be known only after a query
        kind = None
    while isinstance(model, Wrapper):
        model = model.model
    return kind != "exact" and not isinstance(model, AutomatonModel)
