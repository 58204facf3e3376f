"""Pictures of automata: what they show, and that Graphviz draws them."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pdfalearn import PDFA, draw, save
from pdfalearn.datasets import chain, figure_3, random_pdfa
from pdfalearn.errors import InputError, MissingExtraError
from tests.io.samples import odd_pdfas
from tests.support import examples, need_program
from tests.viewing.picture_samples import SIGNATURES, bigram, fake_dot, one_state, texts_of


def dot_of(pdfa: PDFA, folder: Path, **style: object) -> str:
    """The text of a picture, which needs no Graphviz."""
    return draw(pdfa, folder / "x.dot", **style).dot  # type: ignore[arg-type]


def edges_in(text: str) -> set[tuple[int, int]]:
    return {(int(a), int(b)) for a, b in re.findall(r"^  (\d+) -> (\d+) ", text, re.MULTILINE)}


def states_in(text: str) -> set[int]:
    return {int(state) for state in re.findall(r"^  (\d+) \[label", text, re.MULTILINE)}


@pytest.mark.parametrize(
    ("symbol", "shown"),
    [
        ("a", "a"),
        ("a b", "a b"),
        (7, "7"),
        (("a", 1), "\"('a', 1)\""),
        ('"', '"'),
        ("\\", "\\"),
        ("\\n", "\\n"),
        ("\\N", "\\N"),
        ("\n", "'\\n'"),
        ("", "''"),
        (" ", "' '"),
        (",", "','"),
        ("a/b", "'a/b'"),
        ("<b>", "<b>"),
        ("&lt;", "&lt;"),
        ("&", "&"),
        ("é😀", "é😀"),
        ("\ud800", "'\\ud800'"),
        ("\0", "'\\x00'"),
    ],
)
def test_symbols_are_seen_as_they_are(symbol: object, shown: str) -> None:
    need_program("dot")
    assert texts_of(draw(one_state(symbol)).svg) == ["q₀", f"{shown}/1"]


@examples(25)
@given(pdfa=odd_pdfas())
def test_graphviz_draws_any_symbols(pdfa: PDFA) -> None:
    need_program("dot")
    assert texts_of(draw(pdfa, least=0).svg)


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_pictures_are_drawn_and_saved_alike(kind: str, tmp_path: Path) -> None:
    need_program("dot")
    draw(figure_3(), tmp_path / f"drawn.{kind}")
    save(figure_3(), tmp_path / f"saved.{kind}")
    drawn = (tmp_path / f"drawn.{kind}").read_bytes()
    assert drawn.startswith(SIGNATURES[kind])
    if kind != "pdf":  # which holds the time
        assert drawn == (tmp_path / f"saved.{kind}").read_bytes()


def test_a_small_automaton_is_drawn_whole(tmp_path: Path) -> None:
    text = dot_of(figure_3(), tmp_path)
    picture = draw(figure_3(), tmp_path / "x.dot")
    assert (picture.states, picture.note) == (4, "")
    assert states_in(text) == {0, 1, 2, 3}
    assert edges_in(text) == {
        (source, int(target)) for source, row in enumerate(figure_3().transitions) for target in row
    }
    assert "peripheries=1" in text.split("0 [label")[1].split("\n")[0]  # it has no end


def test_a_dense_bigram_is_no_black_ball(tmp_path: Path) -> None:
    picture = draw(bigram(), tmp_path / "x.dot")
    edges = edges_in(picture.dot)
    assert picture.states == 28
    assert len(edges) <= 75
    assert re.fullmatch(r"edges under 0\.\d+ are left out, but for the likeliest .*", picture.note)
    assert {source for source, _ in edges} == set(range(28))
    assert {target for _, target in edges} >= set(range(1, 28))


@pytest.mark.slow
def test_defaults_are_drawn_in_time() -> None:
    need_program("dot")
    for pdfa in (bigram(), random_pdfa(2000, seed=1), random_pdfa(40, seed=2, symbols=40)):
        svg = draw(pdfa).svg
        assert "are left out" in svg or " states, " in svg


def test_of_a_large_automaton_the_core_is_drawn(tmp_path: Path) -> None:
    pdfa = random_pdfa(300, seed=1)
    picture = draw(pdfa, tmp_path / "x.dot")
    assert 5 <= picture.states <= 30
    found = re.match(
        rf"{picture.states} of {len(pdfa)} states, (0\.\d+) of the visits", picture.note
    )
    assert found is not None
    assert f'label="\\n{picture.note}"' in picture.dot
    states = sorted(states_in(picture.dot))
    outside = simulated_visits(pdfa)
    assert float(found[1]) == pytest.approx(outside[states].sum(), abs=0.02)


def simulated_visits(pdfa: PDFA) -> NDArray[np.float64]:
    words = pdfa.sample(20_000, seed=1).words
    visits = np.zeros(len(pdfa))
    for word in words:
        state = pdfa.initial
        visits[state] += 1
        for symbol in word:
            state = int(pdfa.transitions[state, int(str(symbol))])
            visits[state] += 1
    return np.asarray(visits / visits.sum())


@examples(100)
@given(
    states=st.integers(1, 90),
    seed=st.integers(0, 50),
    most=st.none() | st.integers(1, 20),
    least=st.none() | st.floats(0, 1),
)
def test_all_that_is_drawn_is_true_and_reached(
    states: int,
    seed: int,
    most: int | None,
    least: float | None,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    pdfa = random_pdfa(states, seed=seed)
    folder = tmp_path_factory.mktemp("x")
    picture = draw(pdfa, folder / "x.dot", most_states=most, least=least)
    shown, edges = states_in(picture.dot), edges_in(picture.dot)
    assert picture.states == len(shown)
    assert pdfa.initial in shown
    assert most is None or len(shown) <= most
    for source, target in edges:
        assert target in pdfa.transitions[source]
    reached = {pdfa.initial}
    for _ in shown:
        reached |= {target for source, target in edges if source in reached}
    assert reached == shown


def test_words_that_never_end(tmp_path: Path) -> None:
    ring = PDFA(
        alphabet="ab",
        transitions=[[(q + 1) % 100, 0] for q in range(100)],
        probabilities=[[0, 0.9, 0.1]] * 100,
    )
    picture = draw(ring, tmp_path / "x.dot")
    assert re.match(r"\d+ of 100 states, 0\.9\d* of the first 1,000 symbols", picture.note)


def test_states_that_no_word_visits_are_left_out_unless_all_is_asked_for(tmp_path: Path) -> None:
    pdfa = PDFA(
        alphabet="ab",
        transitions=[[0, 1], [1, 1], [0, 0]],
        probabilities=[[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]],
    )
    picture = draw(pdfa, tmp_path / "x.dot")
    assert picture.note == "1 of 3 states, all of the visits"
    everything = draw(pdfa, tmp_path / "x.dot", least=0)
    assert (everything.states, everything.note) == (3, "")
    assert everything.dot.count("style=dashed") == 3
    assert states_in(dot_of(pdfa, tmp_path, marked=[2])) == {0, 2}


def test_a_word_and_marked_states_stand_out_and_are_drawn_in_any_case(tmp_path: Path) -> None:
    pdfa = random_pdfa(300, seed=1)
    word = "1" * 12
    way = [pdfa.state_after(word[:length]) for length in range(13)]
    text = dot_of(pdfa, tmp_path, word=word, marked=[297], most_states=1)
    assert states_in(text) == {*way, 297}
    red = {line for line in text.split("\n") if '#b3261e", fontcolor' in line}
    assert {tuple(map(int, re.findall(r"\d+", line)[:2])) for line in red} == set(pairwise(way))


def test_edges_on_the_way_of_a_word_are_drawn_however_unlikely(tmp_path: Path) -> None:
    pdfa = bigram()
    text = dot_of(pdfa, tmp_path, word="zqxj", least=1)
    way = [0, 25, 16, 23, 9]
    assert set(pairwise(way)) <= edges_in(text)


def test_edges_are_merged_and_many_symbols_cut(tmp_path: Path) -> None:
    text = dot_of(
        PDFA(alphabet="abc", transitions=[[0, 0, 0]], probabilities=[[0, 0.25, 0.5, 0.25]]),
        tmp_path,
    )
    assert '0 -> 0 [label="b/0.5\\na,c/0.25"' in text
    weights = range(1, 41)
    rows = [[0, *(weight / sum(weights) for weight in weights)]]
    pdfa = PDFA(alphabet=range(40), transitions=[[0] * 40], probabilities=rows)
    assert "…37 more/0.86" in dot_of(pdfa, tmp_path)


def test_digits_direction_and_title(tmp_path: Path) -> None:
    pdfa = PDFA(alphabet="a", transitions=[[0]], probabilities=[[1 / 3, 2 / 3]])
    text = dot_of(pdfa, tmp_path, digits=4, direction="down", title="One\nof <two> \\N")
    assert "a/0.6667" in text
    assert ">0.3333<" in text
    assert "rankdir=TB" in text
    assert 'label="One\\nof <two> \\\\N"' in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"digits": 0}, "digits 0 is not an integer from 1 to 6"),
        ({"least": 2}, "least 2 is not a number from 0 to 1"),
        ({"most_states": 0}, "most_states 0"),
        ({"direction": "up"}, "direction 'up' is not 'right' or 'down'"),
        ({"direction": ["down"]}, "direction ['down'] is not 'right' or 'down'"),
        ({"marked": [4]}, "marked state 4"),
        ({"marked": 3}, "marked 3 is not a list of states"),
        ({"title": 3}, "title 3 is not a string"),
        ({"time_limit": -1}, "time_limit -1"),
        ({"word": "02"}, "'2'"),
        ({"path": "x.json"}, "cannot save a file of this ending"),
    ],
)
def test_wrong_arguments(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        draw(figure_3(), **arguments)  # type: ignore[arg-type]


def test_next_to_nothing_left_out_is_not_one_of_the_visits(tmp_path: Path) -> None:
    picture = draw(chain(100), tmp_path / "x.dot", most_states=25)
    assert picture.note == "25 of 100 states, nearly all of the visits"


def test_a_long_symbol_does_not_make_a_wide_picture(tmp_path: Path) -> None:
    need_program("dot")
    pdfa = PDFA(alphabet=["a" * 20_000, "b"], transitions=[[0, 0]], probabilities=[[0.5, 0.3, 0.2]])
    draw(pdfa, tmp_path / "long.svg")
    assert "aaaa...aaaa" in (tmp_path / "long.svg").read_text()


def test_an_undefined_word_is_refused(tmp_path: Path) -> None:
    pdfa = PDFA(alphabet="ab", transitions=[[0, -1]], probabilities=[[0.5, 0.5, 0]])
    with pytest.raises(InputError, match="the word is undefined after a b; "):
        draw(pdfa, tmp_path / "x.dot", word="aba")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_graphviz_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    how = r"apt-get install graphviz .*brew install graphviz"
    for path in (None, tmp_path / "x.svg"):
        with pytest.raises(MissingExtraError, match=how):
            draw(figure_3(), path)
    with pytest.raises(MissingExtraError, match=how):
        save(figure_3(), tmp_path / "x.svg")
    assert list(tmp_path.iterdir()) == []
    draw(figure_3(), tmp_path / "x.dot")


def test_a_failing_graphviz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_dot(tmp_path, "import sys; sys.exit('Error: no such font\\nmore')", monkeypatch)
    with pytest.raises(InputError, match=r"could not draw a picture of 4 .*: Error: no such font$"):
        draw(figure_3())


def test_a_slow_graphviz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_dot(tmp_path, "import time; time.sleep(60)", monkeypatch)
    with pytest.raises(InputError, match=r"a picture of 4 states in 0\.2 seconds; draw fewer"):
        draw(figure_3(), time_limit=0.2)


def test_a_large_automaton_is_a_picture_too(tmp_path: Path) -> None:
    need_program("dot")
    save(chain(3000), tmp_path / "large.svg")
    assert "of 3,000 states" in (tmp_path / "large.svg").read_text()
