"""Pages of automata in a real browser."""

from __future__ import annotations

import pytest

from pdfalearn import PDFA, view
from pdfalearn.datasets import figure_1, reber
from pdfalearn.errors import InputError
from tests.support import mostly_slow, need_module
from tests.viewing.conftest import Open
from tests.viewing.opened import overlapping
from tests.viewing.samples import SAMPLES

SIZES = {"desk": (1280, 800), "phone": (390, 844)}
TEXTS = "h1, h3, p, label, button, summary, li span, bdi, .label tspan, .node text"

ENDLESS = PDFA(alphabet="ab", transitions=[[0, 0]], probabilities=[[0.0, 0.5, 0.5]])
ODD = PDFA(
    alphabet=["a", "b", "c"],
    transitions=[[1, -1, 0], [0, 1, -1], [2, 2, 2]],
    probabilities=[[0.5, 0.5, 0.0, 0.0], [0.0, 0.3, 0.7, 0.0], [1.0, 0.0, 0.0, 0.0]],
)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", SAMPLES)
def test_labels_and_states_do_not_overlap(name: str, size: str, open_page: Open) -> None:
    width, height = SIZES[size]
    opened = open_page(view(SAMPLES[name]()), width=width, height=height)
    labels, discs = opened.boxes(".label rect"), opened.boxes(".node .disc")
    assert labels
    assert overlapping(labels, labels) == overlapping(labels, discs) == 0
    assert overlapping(discs, discs) == 0
    frame = opened.boxes("svg.canvas")[0]
    for box in labels + discs:
        assert frame["left"] <= box["left"] <= box["right"] <= frame["right"]
        assert frame["top"] <= box["top"] <= box["bottom"] <= frame["bottom"]
    wide = opened.page.evaluate("document.documentElement.scrollWidth")
    assert wide <= width


@pytest.mark.slow
@pytest.mark.parametrize(("size", "scheme"), [("desk", "light"), ("phone", "dark")])
def test_contrast_and_accessibility(size: str, scheme: str, open_page: Open) -> None:
    need_module("axe_playwright_python")
    from axe_playwright_python.sync_playwright import Axe

    width, height = SIZES[size]
    # Only here may the page's policy be passed over: axe is a script that the page does not know.
    opened = open_page(
        view(reber()), width=width, height=height, color_scheme=scheme, bypass_csp=True
    )
    opened.follow("TXXX")
    text, contrast = opened.least_contrast(TEXTS)
    assert contrast >= 4.5, text
    opened.page.locator("summary").first.click()
    found = Axe().run(opened.page)
    assert found.response["violations"] == []
    assert found.response["passes"]


@pytest.mark.slow
def test_a_state_is_found_and_there_is_a_way_back(open_page: Open) -> None:
    opened = open_page(view(reber()))
    assert opened.search("3") == "State 3 and its neighbourhood."
    assert opened.text(".state-card h3") == "State 3"
    assert opened.page.locator(".node.centre text").text_content() == "3"
    opened.page.get_by_role("button", name="Back to the core").click()
    assert opened.page.locator(".node").count() == 6
    assert opened.search("17") == ("17 is not the number of a state, nor a word over the alphabet.")


@pytest.mark.slow
def test_symbols_and_words_are_found(open_page: Open) -> None:
    opened = open_page(view(reber()))
    assert opened.search("X") == (
        "X is on 2 drawn arrows of 10; 2 states of this page can read it, most often state 1."
    )
    assert opened.page.locator(".edge.found").count() == 2
    assert opened.search("TXXVV") == "The word ends in state 5."
    assert opened.page.locator(".node.followed").count() == 6
    assert opened.page.locator(".node.here text").text_content() == "5"
    assert opened.search("PVP") == "The word ends in state 3."


@pytest.mark.slow
def test_a_text_that_is_a_state_and_a_word_offers_both(open_page: Open) -> None:
    pdfa = PDFA(alphabet="01", transitions=[[1, 0], [0, 1]], probabilities=[[0.5, 0.5, 0]] * 2)
    opened = open_page(view(pdfa))
    assert opened.search("1").startswith("State 1 and its neighbourhood.")
    opened.page.get_by_role("button", name="as symbol 1").click()  # which is impossible
    assert opened.text(".picture-card .message").startswith("1 is on 0 drawn arrows of 2")


@pytest.mark.slow
def test_a_word_is_followed_as_the_automaton_does(open_page: Open) -> None:
    pdfa = SAMPLES["phones"]()
    opened = open_page(view(pdfa))
    for word in pdfa.sample(5, seed=3, max_length=30).words:
        facts = opened.follow(" ".join(map(str, word)))
        assert f"After {len(word)} symbol" in facts
        assert f"state {pdfa.state_after(word)}\n" in facts
        shown = float(facts.split("so far ")[1].split(";")[0])
        assert shown == pytest.approx(pdfa.prefix_probability(word), rel=0.006)
        ended = float(facts.split("ending here ")[1])
        assert ended == pytest.approx(pdfa.probability(word), rel=0.006)
    assert opened.follow("DH") != opened.follow("HH")
    opened.follow("DH QQ")
    assert opened.text(".side-column .message") == "QQ is not a symbol of the alphabet."


@pytest.mark.slow
def test_steps_back_and_forth_and_continuations(open_page: Open) -> None:
    opened = open_page(view(reber()))
    opened.follow("TXXVV")
    page = opened.page
    page.get_by_role("button", name="Back", exact=True).click()
    assert opened.text(".facts").startswith("After 4 symbols: state 4")
    page.get_by_role("button", name="Next").click()
    assert opened.text(".facts").startswith("After 5 symbols: state 5")
    page.get_by_role("button", name="Start", exact=True).click()
    page.locator(".side-column .bars button").first.click()
    assert page.get_by_label("Word to follow").input_value() == "P"
    assert opened.text(".facts").startswith("After 1 symbol: state 2")


@pytest.mark.slow
def test_drawn_words_end_where_words_end(open_page: Open) -> None:
    pdfa = reber()
    opened = open_page(view(pdfa))
    words = set()
    for _ in range(5):
        opened.page.get_by_role("button", name="Draw a word").click()
        word = opened.page.get_by_label("Word to follow").input_value()
        assert pdfa.probability(word) > 0
        words.add(word)
    assert len(words) > 1
    assert opened.text(".side-column .message") == "The word ends here."


@pytest.mark.slow
def test_likeliest_words_are_those_of_the_automaton(open_page: Open) -> None:
    opened = open_page(view(reber()))
    assert opened.text(".likely li").split() == ["PVV", "0.125"]
    opened.page.locator(".likely button").nth(1).click()
    assert opened.text(".facts").startswith("After 3 symbols: state 5")


@pytest.mark.slow
def test_the_slider_shows_what_carries_a_share_of_the_visits(open_page: Open) -> None:
    opened = open_page(view(SAMPLES["characters"]()))
    slider = opened.page.get_by_label("of the visits")
    slider.focus()
    before = opened.page.locator(".node").count()
    slider.press("ArrowLeft")
    assert opened.page.locator(".node").count() == before - 1
    slider.press("Home")
    assert opened.page.locator(".node").count() <= 2
    slider.press("End")
    assert opened.page.locator(".node").count() == 28
    label = " ".join(opened.text(".sliders label").split())
    assert label == "28 of 28 states with 100% of the visits"
    opened.page.set_viewport_size({"width": 390, "height": 844})
    opened.page.wait_for_timeout(200)
    assert opened.page.locator(".node").count() == 28
    opened.page.set_viewport_size({"width": 1280, "height": 800})
    arrows = opened.page.get_by_label("of the flow")
    arrows.focus()
    drawn = opened.page.locator(".edge").count()
    arrows.press("ArrowRight")
    assert opened.page.locator(".edge").count() > drawn
    arrows.press("Home")
    fewest = opened.page.locator(".edge").count()
    assert fewest < drawn
    assert "from 0.5 on: " in opened.text(".sliders div:nth-child(2) label")


@pytest.mark.slow
def test_the_keyboard_goes_through_states(open_page: Open) -> None:
    opened = open_page(view(reber()))
    page = opened.page
    first = page.locator('.node[tabindex="0"]')
    assert first.count() == 1
    first.focus()
    assert page.evaluate("document.activeElement.textContent") == "0"
    page.keyboard.press("ArrowRight")
    there = page.evaluate("document.activeElement.textContent")
    assert there in {"1", "2"}
    assert opened.text(".state-card h3") == f"State {there}"
    page.keyboard.press("Enter")
    assert page.locator(".node.centre text").text_content() == there
    assert page.evaluate("document.activeElement.textContent") == there
    live = page.locator('[aria-live="polite"]').inner_text()
    assert live.startswith(f"State {there}: ")


@pytest.mark.slow
def test_the_keyboard_goes_on_with_a_word_without_losing_its_place(open_page: Open) -> None:
    opened = open_page(view(reber()))
    page = opened.page
    page.locator(".side-column .bars button").first.focus()
    for _ in range(3):
        page.keyboard.press("Enter")
    word = page.get_by_label("Word to follow").input_value()
    assert len(word) == 3
    assert reber().prefix_probability(word) > 0
    page.get_by_role("button", name="Start", exact=True).focus()
    page.keyboard.press("Enter")
    focused = "document.activeElement.getAttribute('aria-label')"
    assert page.evaluate(focused) == "Start"
    page.get_by_role("button", name="Next").focus()
    for _ in range(3):
        page.keyboard.press("Enter")
    assert page.evaluate(focused) == "Back"


@pytest.mark.slow
def test_hovering_shows_a_distribution_and_clicking_a_neighbourhood(open_page: Open) -> None:
    opened = open_page(view(reber()))
    node = opened.page.locator(".node", has_text="4")
    node.hover()
    assert opened.text(".state-card h3") == "State 4"
    lines = opened.page.locator(".state-card .bars li").all_inner_texts()
    assert [line.split() for line in lines] == [
        ["$", "end", "0"],
        ["P", "0.5", "→", "3"],
        ["V", "0.5", "→", "5"],
    ]
    node.click()
    assert opened.text(".caption").startswith("The neighbourhood of state 4: ")


@pytest.mark.slow
def test_the_table_has_every_drawn_transition(open_page: Open) -> None:
    opened = open_page(view(reber()))
    opened.page.get_by_text("Table of the drawn transitions").click()
    opened.page.wait_for_selector("tbody tr")
    rows = opened.page.locator("tbody tr").all_inner_texts()
    pdfa = reber()
    found = {tuple(row.split()) for row in rows}
    assert found == {
        (str(state), symbol, f"{pdfa.probabilities[state, column + 1]:g}", str(target))
        for state, targets in enumerate(pdfa.transitions.tolist())
        for column, (symbol, target) in enumerate(zip(pdfa.alphabet, targets, strict=True))
        if target >= 0
    }


@pytest.mark.slow
def test_a_large_automaton_tells_what_is_left_out(open_page: Open) -> None:
    pdfa = SAMPLES["random"]()
    opened = open_page(view(pdfa))
    assert opened.text(".about").startswith("99,960 states; the page has 10,000 that carry 99.9")
    assert opened.search("state 99959") == (
        "There is a state 99959, but it is not among the 10,000 likeliest states that this page "
        "has."
    )
    opened.follow("01" * 60)
    assert "The word leaves this page: from state " in opened.text(".side-column .message")


@pytest.mark.slow
def test_endless_words(open_page: Open) -> None:
    opened = open_page(view(ENDLESS))
    assert "Visits are those of the first 1,000 symbols of a word" in opened.text(".about")
    opened.page.get_by_role("button", name="Draw a word").click()
    message = opened.text(".side-column .message")
    assert message == "The word goes on; it was cut after 500 symbols."
    assert "e-151" in opened.text(".facts")
    opened.page.get_by_text("Likeliest words", exact=True).click()
    assert "No word ends" in opened.text(".side-column details p")


@pytest.mark.slow
def test_undefined_impossible_and_unreached(open_page: Open) -> None:
    opened = open_page(view(ODD))
    assert "1 state is never visited." in opened.text(".about")
    assert opened.page.locator(".edge.impossible").count() == 0
    opened.page.get_by_label("of the flow").press("End")
    assert opened.page.locator(".edge.impossible").count() == 1
    opened.follow("b")
    message = opened.text(".side-column .message")
    assert message == "The word is undefined: state 0 has no transition with b."
    assert "Probability so far 0;" in opened.follow("cc")
    slider = opened.page.get_by_label("of the visits")
    slider.press("End")
    assert opened.page.locator(".node").count() == 3


@pytest.mark.parametrize("pdfa", mostly_slow([figure_1(), ENDLESS, ODD], quick=1))
def test_a_page_works_without_a_word_on_the_console(pdfa: PDFA, open_page: Open) -> None:
    opened = open_page(view(pdfa), width=390, height=844)
    assert opened.page.title() == opened.text("h1")


def test_only_what_has_a_page_is_shown() -> None:
    with pytest.raises(InputError, match=r"there is no page of 'a\.json'; what has one: PDFA"):
        view("a.json")
