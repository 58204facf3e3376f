"""Pages of an automaton with recorded words: what they take, where they are odd, what changed."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.screenshots import THINGS
from pdfalearn import PDFA, Corpus, compare, draw, view
from pdfalearn.analysis import surprisals
from pdfalearn.datasets import random_pdfa, reber
from pdfalearn.errors import InputError
from pdfalearn.viewing.recorded_words import changes_data, find_odd_words, recorded_parts
from tests.support import examples
from tests.viewing.conftest import Open
from tests.viewing.opened import Opened

NAMES = ("session_opened", "payment_authorisation_requested", "order_confirmation_sent")
SHOP = PDFA(
    alphabet=NAMES,
    transitions=[[1, 0, 0], [1, 2, 1], [0, 2, 2]],
    probabilities=[
        [0.1, 0.9 - 1e-22, 1e-22, 0.0],
        [0.1, 0.3, 0.6, 0.0],
        [0.2, 0.0, 0.1, 0.7],
    ],
)
WORDS = st.lists(st.text("01z", max_size=8), min_size=1, max_size=20)
TARGET = random_pdfa(5, 2, zero_probability=0.2, seed=4)


def sessions(seed: int, count: int = 400, *, more: float = 0.0) -> list[tuple[Any, ...]]:
    rows = SHOP.probabilities.copy()
    rows[1, 1] -= more
    rows[1, 3] += more
    changed = PDFA(alphabet=NAMES, transitions=SHOP.transitions, probabilities=rows)
    return list(changed.sample(count, seed=seed).words)


@given(WORDS)
@examples(60)
def test_odd_words_are_those_with_the_largest_surprisal(words: list[str]) -> None:
    known = [word.replace("z", "") for word in words]
    found = find_odd_words(TARGET, Corpus(known))
    largest = [max(surprisals(TARGET, word)) for word in known]
    expected = sorted(range(len(known)), key=lambda place: (-largest[place], place))
    assert [one.number - 1 for one in found] == expected
    for one in found:
        word = known[one.number - 1]
        values = surprisals(TARGET, word)
        assert one.surprisal == pytest.approx(max(values))
        assert values[one.position] == pytest.approx(one.surprisal)
        assert all(value < one.surprisal for value in values[: one.position])


def test_unknown_events_are_odd_and_lead_nowhere() -> None:
    words = Corpus([(*NAMES[:1], "crash"), NAMES[:1] * 3])
    first, second = find_odd_words(SHOP, words)
    assert (first.symbol, first.position, first.number) == ("(unknown)", 1, 1)
    assert first.surprisal == inf
    assert second.surprisal < 5
    corpus = Corpus([(NAMES[0], "crash", NAMES[1], "crash", "crash")])
    data = recorded_parts(SHOP, [corpus])[1].data
    assert data["entries"][0]["states"] == [0, 1]
    assert data["entries"][0]["before"] == NAMES[0]


def test_pages_of_two_corpora_have_the_changes() -> None:
    a, b = Corpus(sessions(1)), Corpus(sessions(2, more=0.2))
    changes = compare(a, b, model=SHOP)
    data = changes_data(changes)
    assert recorded_parts(SHOP, [a, b])[0].data == data
    assert data["events"] == changes.event_cells()
    assert [pair["source"] for pair in data["pairs"]] == [one.source for one in changes.pairs]


def test_more_than_two_corpora_are_refused() -> None:
    with pytest.raises(InputError, match="one or two corpora"):
        view(SHOP, ["a"], ["a"], ["a"])
    with pytest.raises(InputError, match="one or two corpora"):
        view(SHOP, SHOP, ["a"])
    with pytest.raises(InputError, match=r"thing is .*, not a PDFA"):
        view(Corpus(["a"]), Corpus(["a"]))


def test_words_of_impossible_steps_have_a_page() -> None:
    part = recorded_parts(SHOP, [Corpus([(NAMES[2], NAMES[2])])])[1]
    assert part.data["entries"][0]["surprisal"] is None
    assert find_odd_words(SHOP, Corpus([(NAMES[2],)]))[0].surprisal == inf


@pytest.mark.slow
def test_an_odd_word_is_followed_to_its_odd_step(open_page: Open) -> None:
    words = [*sessions(1, 60), (NAMES[0], NAMES[1], NAMES[2], NAMES[0], NAMES[1])]
    opened = open_page(view(SHOP, words), height=900)
    row = opened.page.locator(".odd tbody tr").first
    assert row.inner_text().split("\t")[0] == "61"
    row.get_by_role("button").click()
    assert opened.page.locator(".node.here text").text_content() == "2"
    message = opened.text(".side-column .message")
    assert message == "Word 61: here session_opened is impossible, after 3 symbols."


@pytest.mark.slow
def test_sessions_and_templates_can_be_told_apart(open_page: Open) -> None:
    names = tuple(f"<*> <*> shop[<*>]: {name.replace('_', ' ')} by <*>" for name in NAMES)
    pdfa = PDFA(alphabet=names, transitions=SHOP.transitions, probabilities=SHOP.probabilities)
    words = [(names[0],), (names[0], names[1], "never seen")]
    with pytest.raises(InputError, match="1 names for 2 words"):
        view(pdfa, words, names=["ann"])
    for others in ((), (pdfa,), (words, words)):
        with pytest.raises(InputError, match="of one corpus"):
            view(pdfa, *others, names=["ann", "bob"])
    opened = open_page(view(pdfa, words, names=["ann", "bob"]))
    row = opened.page.locator(".odd tbody tr").first
    assert row.inner_text().split("\t")[:2] == ["bob", "(unknown)"]
    row.get_by_role("button").click()
    assert opened.text(".side-column .message").startswith("Session bob: here")
    assert opened.page.locator(".node.here text").text_content() == "2"
    shown = opened.page.locator(".bars .name").all_text_contents()
    assert len(set(shown)) == len(NAMES) + 1
    assert not [text for text in shown if "shop" in text]
    cells = opened.page.locator(".bars .value > span")
    assert cells.evaluate_all(BROKEN) == []


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
def test_changed_arrows_are_coloured_and_lead_to_states(width: int, open_page: Open) -> None:
    page = view(SHOP, [*sessions(1, 1000), ("crash",)], sessions(2, 1000, more=0.2))
    opened = open_page(page, width=width)
    tables = opened.page.locator(".changes table")
    cells = tables.first.locator("tbody tr").first.locator("td").all_inner_texts()
    assert cells[:3] == ["crash", "vanished, in A", "1"]
    rows = tables.last.locator("tbody tr")
    assert rows.count() == 2
    ways = rows.locator("td:nth-child(5)").all_inner_texts()
    assert set(ways) == {"▲ more in B", "▼ less in B"}
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    tables.last.get_by_role("button").first.click()
    assert opened.text(".state-card h3") == "State 1"
    # Both changes are on the loop of state 1.
    assert opened.page.locator(".edge.more, .edge.less").count() == 1
    label = opened.page.locator(".label title").all_text_contents()
    assert any("A 0." in text and ", B 0." in text for text in label)


@pytest.mark.slow
def test_what_has_changed_is_drawn_on_a_phone_and_rows_lead_to_it(open_page: Open) -> None:
    opened = open_page(THINGS["corpora"](), width=390)
    rows = opened.page.locator(".changes table").last.locator("tbody tr")
    assert rows.locator("td:first-child").all_inner_texts()[:2] == ["2 → 5", "2 → 3"]
    for kind, ends in (("more", "2 → 5"), ("less", "2 → 3")):
        titles = opened.page.locator(f".edge.{kind} title").all_text_contents()
        assert [title.split(":")[0] for title in titles] == [ends]
    # Headings stand in the cells, as there are no columns.
    assert max(box["right"] for box in opened.boxes(".changes td")) <= 390
    for number, state in ((1, 2), (2, 3), (0, 2)):
        rows.nth(number).locator("td").nth(1).click()
        assert opened.text(".state-card h3") == f"State {state}"


@pytest.mark.slow
def test_a_changed_end_is_coloured(open_page: Open) -> None:
    other = PDFA(
        alphabet=NAMES,
        transitions=SHOP.transitions,
        probabilities=[*SHOP.probabilities[:2], [0.1, 0.3, 0.3, 0.3]],
    )
    corpora = [list(pdfa.sample(900, seed=1).words) for pdfa in (SHOP, other)]
    opened = open_page(view(SHOP, *corpora))
    assert opened.page.locator(".ending.less").count() == 1


BROKEN = """
(cells) => cells.filter((cell) => {
  const range = document.createRange();
  range.selectNodeContents(cell);
  const tops = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
  return /^[^a-z]*[0-9]/.test(cell.textContent) && tops.size > 1;
}).map((cell) => cell.textContent)
"""


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
def test_figures_of_two_automata_are_not_broken(width: int, open_page: Open) -> None:
    rows = SHOP.probabilities[[1, 0, 2]]
    other = PDFA(alphabet=NAMES, transitions=SHOP.transitions, probabilities=rows)
    opened = open_page(view(SHOP, other), width=width)
    cells = opened.page.locator(".pair-lists :is(th, td):not(:first-child)")
    assert cells.count() > 10
    assert cells.evaluate_all(BROKEN) == []
    heads = opened.page.locator(".pair-lists th").all_inner_texts()
    assert set(heads) == {"word", "after", "next", "share", "A", "B"}
    boxes = opened.page.locator(".pair-lists th").evaluate_all(
        "(cells) => cells.map((cell) => cell.getClientRects()[0].height)"
    )
    assert max(boxes) < 45


@pytest.mark.slow
def test_small_probabilities_are_not_written_out(open_page: Open) -> None:
    opened = open_page(view(SHOP))
    texts = opened.page.locator(".label, .bars").all_text_contents()
    assert texts
    assert not [text for text in texts if "e-2" in text]
    assert any("< 1e-6" in text for text in texts)
    assert not opened.page.locator(".label", has_text="1e-22").count()
    rows = SHOP.probabilities.copy()
    rows[0] = [1e-22, 1 - 1e-22, 0.0, 0.0]
    other = PDFA(alphabet=NAMES, transitions=SHOP.transitions, probabilities=rows)
    pair = open_page(view(SHOP, other), "pair.html")
    facts = pair.page.locator(".facts").last.inner_text()
    assert "of ending here < 1e-6" in facts
    texts = pair.page.locator(".pair-lists td").all_inner_texts()
    assert "< 1e-6" in texts
    assert not [text for text in texts if "e-2" in text]


@pytest.mark.slow
def test_long_names_stand_on_two_lines_and_whole_in_titles(open_page: Open) -> None:
    opened = open_page(view(SHOP))
    lines = opened.page.locator(".label .symbol").all_text_contents()
    assert any("…" in line for line in lines)
    assert all(len(line) <= 20 for line in lines)  # two of them cannot be seen
    titles = opened.page.locator(".label title").all_text_contents()
    assert any(NAMES[1] in title for title in titles)


@pytest.mark.slow
def test_templates_of_a_log_are_told_apart(open_page: Open, tmp_path: Path) -> None:
    names = [
        f"<*>T<*> INFO web sid=<*> {name} status=<*> took <*> ms" for name in ("GET /", "PUT /x")
    ]
    pdfa = PDFA(
        alphabet=[*names, "other"], transitions=[[0] * 3], probabilities=[[0.1, 0.6, 0.2, 0.1]]
    )
    opened = open_page(view(pdfa))
    labels = [
        text.strip("\u2068\u2069")
        for text in opened.page.locator(".label .symbol").all_text_contents()
    ]
    assert labels == ["… GET / …", "… PUT /x …", "other"]
    bars = opened.page.locator(".state-card .bars .name")
    assert bars.all_text_contents() == ["$ end", "… GET / …", "… PUT /x …", "other"]
    assert bars.nth(1).get_attribute("title") == f"'{names[0]}'"
    opened.page.locator(".side-column .bars button").first.click()
    assert opened.page.locator(".chip").nth(1).get_attribute("title") == f"'{names[0]}'"
    assert opened.page.get_by_placeholder("symbols with blanks").input_value() == f"'{names[0]}'"
    draw(pdfa, tmp_path / "log.dot")
    assert "'… GET / …'/0.6" in (tmp_path / "log.dot").read_text("utf-8")
    assert opened.page.locator(".likely .name").nth(3).text_content() == "GET /, GET /, GET /"


@pytest.mark.slow
def test_a_state_shows_its_access_word(open_page: Open) -> None:
    opened = open_page(view(reber()))
    for state in range(6):
        opened.search(f"state {state}")
        word = opened.text(".state-card .access").removeprefix("Access word: ")
        word = "" if word == "(the empty word)" else word
        assert reber().state_after(word) == state


def least_drawn(opened: Opened) -> float:
    """Return the least probability of arrows, as the slider says it."""
    label = opened.text(".sliders div:nth-child(2) label")
    return float(label.partition("from ")[2].split()[0])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_a_page_draws_what_pictures_draw(seed: int, open_page: Open) -> None:
    from pdfalearn.viewing.choosing import choose_part

    pdfa = random_pdfa(20 + 15 * seed, 3, zero_probability=0.2, seed=seed)
    opened = open_page(view(pdfa))
    for least in (None, 0.1):
        if least:
            slider = opened.page.get_by_label("of the flow")
            for _ in range(20):
                drawn = least_drawn(opened)
                if drawn == least:
                    break
                slider.press("ArrowLeft" if drawn < least else "ArrowRight")
        states = {int(text) for text in opened.page.locator(".node text").all_text_contents()}
        titles = opened.page.locator(".edge title").all_text_contents()
        edges = {tuple(map(int, title.split(":")[0].split(" → "))) for title in titles}
        part = choose_part(pdfa, most_states=len(states), least=least_drawn(opened))
        assert states == set(part.edges.states.tolist())
        kept = part.kept
        ends = zip(
            part.edges.sources[kept].tolist(), part.edges.targets[kept].tolist(), strict=True
        )
        assert edges == set(ends)


@pytest.mark.slow
def test_a_picture_is_saved_as_svg_and_png(open_page: Open, tmp_path: Path) -> None:
    opened = open_page(view(SHOP))
    for kind, begin in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with opened.page.expect_download() as download:
            opened.page.get_by_role("button", name=f"Save the picture as {kind}").click()
        path = tmp_path / f"saved.{kind.lower()}"
        download.value.save_as(path)
        assert path.read_bytes().startswith(begin)
        if kind == "SVG":
            text = path.read_text(encoding="utf-8")
            assert text.count("<circle") >= 3
            assert "class=" not in text
            assert "opened" in text
            tab = opened.context.new_page()
            tab.goto(path.as_uri())  # it stands alone
            assert tab.evaluate("document.documentElement.getBBox().width") > 50
            tab.close()
