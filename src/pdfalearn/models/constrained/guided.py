"""A model that is held to the words that a guide allows."""

from __future__ import annotations

from hashlib import sha256

import numpy as np

from pdfalearn.errors import ModelError
from pdfalearn.languages.dfa import DFA
from pdfalearn.models.constrained._guides import guide_over
from pdfalearn.models.constrained._held import Held
from pdfalearn.models.constrained._rows import at_places, changed, right_rows
from pdfalearn.models.constrained.inner import extended, possible_after, rows_read, started
from pdfalearn.models.constrained.wrapper import Wrapper, WrapperSession
from pdfalearn.models.protocol import Handles, LanguageModel, Mask, Session
from pdfalearn.pdfa import PDFA
from pdfalearn.rows import Rows
from pdfalearn.runs import states_along
from pdfalearn.words import Words


class Guided(Wrapper):
    """A language model guided by a regular expression or an automaton.

    A symbol after which the guide cannot be satisfied any more has probability 0, and words
    through it are undefined: the model inside is never led there. The terminal has probability 0
    where the guide does not let a word end. What is left is divided by its sum; if nothing is
    left, that is a `ModelError` which names the word. If the model inside does not list all
    symbols, it has to list those that the guide allows. Where everything is possible in the model
    inside (`Session.positive`) and the guide leaves one possibility, the model is not asked; its
    mass outside of the alphabet is then unknown (NaN).

    Parameters
    ----------
    model : PDFA or LanguageModel
        The model inside.
    guide : str, DFA or PDFA
        A regular expression that whole words have to match, each symbol being read as its text
        (needs the extra ``regex``); a DFA; or a PDFA, whose support is then the guide: words of
        positive probability. Symbols that an automaton does not have are not allowed.

    Examples
    --------
    >>> from pdfalearn import FunctionModel
    >>> model = FunctionModel(lambda words: [[0.2, 0.4, 0.4]] * len(words), "ab")
    >>> guide = DFA(alphabet="ab", transitions=[[1, -1], [0, 1]], accepting=[True, False])
    >>> session = Guided(model, guide).open()
    >>> session.read(np.array([session.start()])).to_dense().round(3)
    array([[0.333, 0.667, 0.   ]])
    """

    guide: DFA
    """The guide over the model's alphabet, without states that are of no use."""

    def __init__(self, model: PDFA | LanguageModel, guide: str | DFA | PDFA) -> None:
        super().__init__(model)
        self.guide = guide_over(self.alphabet, guide)
        self._held = Held(self.guide)

    def _parameters(self) -> str:
        parts = self.guide.accepting.tobytes() + self.guide.table.tobytes()
        return sha256(parts).hexdigest()

    def _around(self, inner: Session) -> Session:
        return GuidedSession(inner, self.guide, self._held)


class GuidedSession(WrapperSession):
    """Leads a model and a guide together.

    A handle is a handle of the model inside and a state of the guide in one number.

    Parameters
    ----------
    inner : Session
        The session of the model inside.
    guide : DFA
        The guide over the model's alphabet.
    held : Held
        What the guide leaves of distributions.
    """

    def __init__(self, inner: Session, guide: DFA, held: Held) -> None:
        super().__init__(inner, len(guide.alphabet))
        self._guide = guide
        self._held = held

    def start(self) -> int:
        """Return a handle of the empty word."""
        return int(self._packed(np.array([started(self.inner)]), self._guide.initial)[0])

    def extend(self, handles: Handles, words: Words) -> Handles:
        """Lead the model inside along what the guide allows of every word."""
        inner, states = self._unpacked(handles)
        after = states_along(self._guide.table, states, words)
        allowed = after >= 0
        offsets = np.append(0, np.cumsum(allowed))[words.offsets]
        begun = np.diff(offsets).nonzero()[0]
        answer = np.full(len(after), -1, dtype=np.int64)
        if len(begun):
            parts = Words(words.symbols[allowed], np.append(offsets[begun], offsets[-1]))
            with at_places(begun):
                led_to = extended(self.inner, inner[begun], parts)
            answer[allowed] = self._packed(led_to, after[allowed])
        return answer

    def read(self, handles: Handles) -> Rows:
        """Return the distributions over what the guide allows."""
        inner, states = self._unpacked(handles)
        forced = self._held.forced[states]
        if not (self.inner.positive and forced.any()):
            return self._read(inner, states)
        parts = [self._held.forced_rows(states[forced])]
        asked = (~forced).nonzero()[0]
        if len(asked):
            with at_places(asked):
                parts.append(self._read(inner[asked], states[asked]))
        order = np.argsort(np.argsort(~forced, kind="stable"), kind="stable")
        return Rows.joined(parts).take(order)

    def _read(self, inner: Handles, states: Handles) -> Rows:
        rows = rows_read(self.inner, inner, self.symbols)
        return changed(
            rows, right_rows(rows), lambda right, places: self._held.rows(right, states[places])
        )

    def possible(self, handles: Handles) -> Mask | Words | None:
        """Return which symbols stay in the guide, and are possible in the model inside."""
        inner, states = self._unpacked(handles)
        return self._held.possible(states, possible_after(self.inner, inner, self.symbols))

    def release(self, handles: Handles) -> None:
        """Pass on that handles will not be used again."""
        self.inner.release(self._unpacked(handles)[0])

    def _unpacked(self, handles: Handles) -> tuple[Handles, Handles]:
        """Return the inner handles, and the states of the guide."""
        inner, states = np.divmod(handles, len(self._guide))
        return inner, states

    def _packed(self, inner: Handles, states: Handles | int) -> Handles:
        """Put inner handles and states of the guide into one number each."""
        if len(inner) and inner.max() > (2**63 - 1) // len(self._guide) - 1:
            raise ModelError(
                f"the model gave the handle {inner.max()}; with a guide of {len(self._guide)} "
                "states that is too large: hand out smaller numbers"
            )
        return np.where(inner < 0, -1, inner * len(self._guide) + states)
