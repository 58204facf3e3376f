"""A model inside wrappers that remembers every word that it is led to."""

from __future__ import annotations

from pdfalearn import PDFA, AutomatonModel
from pdfalearn.models.cost import EVERY_WORD, QueryCost
from tests.models.watched import Codes, WatchedModel


class RecordingModel(WatchedModel):
    """Watches as its base does, and keeps the words of all handles that it ever gave out."""

    def __init__(
        self, target: PDFA, *, room: int | None = None, cost: QueryCost = EVERY_WORD
    ) -> None:
        super().__init__(AutomatonModel(target), room=room, cost=cost)
        self.led_to: set[Codes] = set()

    def led(self, word: Codes) -> None:
        self.led_to.add(word)

    def assert_stayed_in(self, constrained: PDFA) -> None:
        """No word was asked for, or led to, that is undefined under the constraints."""
        words = sorted(self.led_to | set(self.asked))
        ends = constrained.states_after(map(constrained.alphabet.decode, words))
        outside = [word for word, end in zip(words, ends, strict=True) if end < 0]
        assert not outside
