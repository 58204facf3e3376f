"""A program that learns while Ctrl-C is pressed at random moments, many times."""

from __future__ import annotations

import os
import signal
import threading
from typing import cast

import numpy as np

from pdfalearn import Quantization, Result, learn
from pdfalearn.datasets import random_pdfa
from pdfalearn.models import AutomatonModel
from pdfalearn.oracles import ExactOracle
from pdfalearn.results import LearningInterrupted
from tests.models.watched import COSTS, WatchedModel
from tests.support import many

BY = Quantization(100)
RUNS = many(1000)


def pressed(model: WatchedModel, oracle: ExactOracle, name: str, delay: float) -> Result | None:
    """Learn while somebody presses Ctrl-C; return what came out, if it was pressed in time."""
    timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        try:
            return learn(model, equivalence=BY, oracle=oracle, learner=name)
        finally:
            timer.join()
    except LearningInterrupted as interrupt:
        return cast("Result | None", interrupt.result)
    except KeyboardInterrupt:  # after learning
        return None


def main() -> None:
    """Press, and check what comes out."""
    random = np.random.default_rng(0)
    interrupted = 0
    for run in range(RUNS):
        target = random_pdfa(60, 2, distributions=[2, 4, None][run % 3], seed=run % 12)
        cost, room = COSTS[bool(run % 2)], [None, 5, 40][run % 3]
        model = WatchedModel(AutomatonModel(target), capacity=room, cost=cost)
        name = ["quant", "quant-paper"][run % 2]
        result = pressed(model, ExactOracle(target, equivalence=BY), name, 0.03 * random.random())
        if result is not None:
            interrupted += result.certificate.kind == "interrupted"
            assert len(result.access_words) == len(result.pdfa)
            assert result.pdfa.probability("0101") >= 0
        assert not model.open_count
    assert interrupted > RUNS // 4


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    main()
