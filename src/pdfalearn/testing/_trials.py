"""The ways in which a model is tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pdfalearn.errors import ModelError
from pdfalearn.rows import Flags
from pdfalearn.testing._answers import Answer, Codes, likely_symbols
from pdfalearn.testing._conversation import Conversation
from pdfalearn.testing._lab import Lab

_BATCH = 7
_SAME = (
    "an answer must not depend on the other words of a batch, on what was asked before, or on "
    "chance (is there dropout in it?); if it is only rounding, give a larger tolerance"
)


def batches_of_any_size(lab: Lab) -> None:
    """Words one by one, and a few at a time."""
    words = lab.shuffled()
    half = len(words) // 2
    with lab.open() as talk:
        for place, word in enumerate(words[:half]):
            (end,) = talk.lead([word])
            first = talk.read([end])
            if place < lab.most // 4:
                lab.compare([word], talk.read([end]), f"when read twice: {_SAME}", first)
            lab.compare([word], first, f"when asked for alone: {_SAME}")
            talk.release([end])
    with lab.open() as talk:
        for begin in range(half, len(words), _BATCH):
            batch = words[begin : begin + _BATCH]
            lab.compare(batch, talk.ask(batch), f"in a batch of {len(batch)}: {_SAME}")


def any_order(lab: Lab) -> None:
    """All words in one batch, in another order, and some of them twice."""
    words = lab.shuffled()
    words += words[: len(words) // 2]
    when = "in a batch of all words in another order, some of them twice: keep the order of handles"
    with lab.open() as talk:
        for chunk in talk.chunks(words):
            ends = talk.lead(chunk)
            if talk.shared:
                lab.check_shared(chunk, ends)
            lab.compare(chunk, talk.read(ends), when)
            talk.release(ends)


def going_on(lab: Lab) -> None:
    """Words that go on from their prefixes, which are released before the answers are read."""
    when = (
        "when it goes on from a prefix that has been released since: a handle stands for its word "
        "until it is released itself, whatever is led to or released meanwhile"
    )
    with lab.open() as talk:
        for words, lengths in _cut(talk, lab):
            lab.compare(words, _answers_going_on(talk, words, lengths), when)


def _cut(talk: Conversation, lab: Lab) -> Iterator[tuple[list[Codes], list[int]]]:
    """Cut words into prefixes and their continuations, in batches that fit the session's room."""
    words: list[Codes] = []
    lengths: list[int] = []
    needed, room = 1, talk.room
    for word in filter(None, lab.shuffled()):
        least = 0 if room is None else max(0, len(word) - (room - 2))
        length = int(lab.random.integers(least, len(word)))
        more = 1 + len(word) - length
        if room is not None and needed + more > room:
            yield words, lengths
            words, lengths, needed = [], [], 1
        words.append(word)
        lengths.append(length)
        needed += more
    if words:
        yield words, lengths


def _answers_going_on(
    talk: Conversation, words: Sequence[Codes], lengths: Sequence[int]
) -> list[Answer]:
    bases = talk.lead([word[:length] for word, length in zip(words, lengths, strict=True)])
    going = [place for place, base in enumerate(bases) if base >= 0]
    tails = [words[place][lengths[place] :] for place in going]
    paths = talk.extend([bases[place] for place in going], tails) if going else []
    talk.release(bases)
    talk.release([handle for path in paths for handle in path[:-1]])
    others = talk.lead([words[0][:1]]) if talk.free else []  # which may take released handles
    ends = dict(zip(going, (path[-1] for path in paths), strict=True))
    answers = talk.read([ends.get(place, -1) for place in range(len(words))])
    talk.release([*others, *ends.values()])
    return answers


def taking_turns(lab: Lab) -> None:
    """Two sessions that are used in turns, and a third that is closed at once."""
    when = (
        "while another session is open, or was closed: sessions must not know of each other, so "
        "keep what changes in the session, not in the model"
    )
    words = lab.shuffled()
    half = len(words) // 2
    with lab.open() as second:
        with lab.open() as first, lab.open():
            for one, other in zip(words[:half], words[half:], strict=False):
                ends = first.lead([one]), second.lead([other])
                lab.compare([one, other], [*first.read(ends[0]), *second.read(ends[1])], when)
                first.release(ends[0])
                second.release(ends[1])
        some = words[: lab.most // 4]
        lab.compare(some, second.ask(some), when)


def full_room(lab: Lab) -> None:
    """As many handles alive as there is room for, twice."""
    with lab.open() as talk:
        if talk.room is None or talk.room > 4 * lab.most:
            return
        when = f"while {talk.room} handles are alive, for which the session says it has room"
        for _ in range(2):
            held = _filled(talk, lab)
            known = [pair for pair in held if pair[0] in lab.answers][: max(1, lab.most // 8)]
            words, handles = [word for word, _ in known], [handle for _, handle in known]
            lab.compare(words, talk.read(handles), when)
            talk.release([handle for _, handle in held])


def _filled(talk: Conversation, lab: Lab) -> list[tuple[Codes, int]]:
    """Fill the room in one batch; return words and handles."""
    defined = [word for word in lab.shuffled() if word and lab.answers[word] is not None]
    words: list[Codes] = []
    left = talk.free if defined else 0
    while left:
        words.append(defined[len(words) % len(defined)][:left])
        left -= len(words[-1])
    paths = talk.extend([talk.start] * len(words), words)
    return [
        (word[:length], handle)
        for word, path in zip(words, paths, strict=True)
        for length, handle in enumerate(path, start=1)
    ]


def what_may_follow(lab: Lab) -> None:
    """What the answers and `possible` say about the next symbol, beside what `extend` does."""
    words = [word for word in lab.shuffled() if lab.answers[word] is not None]
    reads = lab.most // 4
    with lab.open() as talk:
        for chunk in talk.chunks(words):
            ends = talk.lead(chunk)
            lab.check_defined(chunk, ends)
            for word, end, barred in zip(chunk, ends, talk.excluded(ends), strict=True):
                reads -= _followed(lab, talk, word, end, barred, reads)
            talk.release(ends)


def _followed(
    lab: Lab, talk: Conversation, word: Codes, end: int, barred: Flags, reads: int
) -> int:
    """Go on from a word with some symbols; return how many answers were read for that."""
    count = 0
    symbols = _symbols_to_try(lab, word, barred)
    while symbols:
        # Another symbol behind each shows whether an undefined word stays so.
        most, behind = (talk.free // 2, symbols[:1]) if talk.free > 1 else (1, [])
        batch, symbols = symbols[:most], symbols[most:]
        paths = talk.extend([end] * len(batch), [(symbol, *behind) for symbol in batch])
        for symbol, (handle, *_) in zip(batch, paths, strict=True):
            defined = handle >= 0
            if defined and barred[symbol]:
                raise _barred(lab, word, symbol, "extend leads on with it")
            if defined and lab.excludes(word, symbol):
                if count == reads:
                    continue
                defined = talk.read([handle]) != [None]
                count += 1
            lab.check_step((*word, symbol), defined=defined)
        talk.release([handle for path in paths for handle in path])
    return count


def _symbols_to_try(lab: Lab, word: Codes, barred: Flags) -> list[int]:
    """Choose a few symbols that are likely, a few that are said to be impossible, and others."""
    answer = lab.answers[word]
    likely = np.zeros_like(barred) if answer is None else likely_symbols(answer)
    for symbol in np.flatnonzero(likely & barred)[:1].tolist():
        raise _barred(lab, word, symbol, "its probability is above 0")
    return [symbol for some in (likely, barred, ~(likely | barred)) for symbol in lab.drawn(some)]


def _barred(lab: Lab, word: Codes, symbol: int, why: str) -> ModelError:
    return lab.wrong(
        f"possible says that the symbol {lab.alphabet.symbols[symbol]!r} cannot follow "
        f"{lab.name(word)}, but {why}: return False only where extend returns -1"
    )
