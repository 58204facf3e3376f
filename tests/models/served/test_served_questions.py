"""What is asked is parted over requests, and nothing is left out or asked twice."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pdfalearn.models.served._server import TokenSets, part_questions
from tests.support import examples

TOKENS = st.lists(st.integers(0, 30), min_size=1, max_size=12, unique=True)


@examples(200)
@given(st.lists(TOKENS, min_size=1, max_size=6), st.integers(1, 8))
def test_every_wanted_token_is_in_one_of_the_sets(wanted: list[list[int]], most: int) -> None:
    packed = TokenSets.of(wanted, most)
    for chosen in packed.sets:
        assert 0 < len(chosen) <= most
        assert len(set(chosen)) == len(chosen)
    assert len(packed.of_prefix) == len(wanted)
    for tokens, numbers in zip(wanted, packed.of_prefix, strict=True):
        assert set(tokens) <= {token for number in numbers for token in packed.sets[number]}
        assert len(numbers) == -(-len(tokens) // most)


@examples(200)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.lists(st.integers(0, 3), max_size=4).map(tuple)),
        unique=True,
    ),
    st.integers(1, 5),
)
def test_every_question_is_asked_once(
    questions: list[tuple[int, tuple[int, ...]]], batch: int
) -> None:
    requests = part_questions(questions, batch)
    asked = [question for request in requests for question in request]
    assert sorted(asked) == sorted(questions)
    for request in requests:
        assert 0 < len(request) <= batch
        assert len({number for number, _ in request}) == 1
        assert request == sorted(request, key=questions.index)
    firsts = [questions.index(request[0]) for request in requests]
    assert firsts == sorted(firsts)
