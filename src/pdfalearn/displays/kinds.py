"""The displays that long functions find by the kind of their work."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Literal

from pdfalearn.displays.lines import (
    DistillingLine,
    LearningLine,
    ProgressLine,
    RunsLine,
    SweepLine,
)
from pdfalearn.displays.showing import Update, logged, renewed

How = Literal[True, "log"]


def learning(how: How, *, may_be_endless: bool) -> AbstractContextManager[Update]:
    """Show how far learning has come."""
    return _shown(LearningLine(may_be_endless=may_be_endless), how)


def distilling(how: How, *, max_symbols: int | None) -> AbstractContextManager[Update]:
    """Show how far distilling has come."""
    return _shown(DistillingLine(max_symbols), how)


def sweeping(how: How, *, runs: int) -> AbstractContextManager[Update]:
    """Show how far a sweep has come."""
    return _shown(SweepLine(runs), how)


def experiments(how: How, *, label: str) -> AbstractContextManager[Update]:
    """Show how many runs of experiments are done."""
    return _shown(RunsLine(label), how)


def _shown(line: ProgressLine, how: How) -> AbstractContextManager[Update]:
    return renewed(line, stays=True) if how is True else logged(line)
