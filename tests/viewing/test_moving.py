"""Moving and zooming a picture, without keeping the page from scrolling."""

from __future__ import annotations

import pytest

from pdfalearn import view
from pdfalearn.datasets import random_pdfa, reber
from tests.viewing.conftest import Open
from tests.viewing.opened import Opened

MOVED = "document.querySelector('.picture').getAnimations({subtree: true}).length"


def place(opened: Opened, state: int) -> dict[str, float]:
    """Return where a state is on the screen."""
    numbers = opened.page.locator(".node text").all_text_contents()
    found: dict[str, float] = opened.boxes(".node .disc")[numbers.index(str(state))]
    return found


@pytest.mark.slow
def test_states_that_stay_move_to_their_new_places(open_page: Open) -> None:
    opened = open_page(view(random_pdfa(30, seed=3)), reduced_motion="no-preference")
    assert opened.page.evaluate(MOVED) == 0
    before = place(opened, 0)
    # Motion is held where it begins.
    opened.page.get_by_label("of the visits").press("Home")
    opened.page.evaluate(
        "document.getAnimations().forEach((one) => { one.pause(); one.currentTime = 0; })"
    )
    assert opened.page.evaluate(MOVED) >= 1
    assert place(opened, 0) == pytest.approx(before, abs=3)
    opened.page.evaluate("document.getAnimations().forEach((one) => one.finish())")
    after = place(opened, 0)
    assert abs(after["left"] - before["left"]) + abs(after["top"] - before["top"]) > 20


@pytest.mark.slow
def test_nothing_moves_for_those_who_ask_for_less(open_page: Open) -> None:
    opened = open_page(view(random_pdfa(30, seed=3)), reduced_motion="reduce")
    opened.page.get_by_label("of the visits").press("Home")
    assert opened.page.evaluate(MOVED) == 0


@pytest.mark.slow
def test_pan_and_zoom(open_page: Open) -> None:
    opened = open_page(view(reber()))
    transform = "document.querySelector('.picture').getAttribute('transform')"
    fitted = opened.page.evaluate(transform)
    box = opened.boxes("svg.canvas")[0]
    opened.page.mouse.move(box["left"] + 20, box["top"] + 20)
    opened.page.keyboard.down("Control")
    opened.page.mouse.wheel(0, -300)
    opened.wait_until(f"{transform} !== {fitted!r}")
    opened.page.keyboard.up("Control")
    opened.page.mouse.down()
    opened.page.mouse.move(box["left"] + 90, box["top"] + 60)
    opened.page.mouse.up()
    assert opened.page.evaluate(transform) != fitted
    opened.page.get_by_role("button", name="Fit into the frame").click()
    assert opened.page.evaluate(transform) == fitted


@pytest.mark.slow
def test_the_wheel_alone_scrolls_the_page(open_page: Open) -> None:
    opened = open_page(view(reber()), height=500)
    transform = "document.querySelector('.picture').getAttribute('transform')"
    fitted = opened.page.evaluate(transform)
    box = opened.boxes("svg.canvas")[0]
    opened.page.mouse.move(box["left"] + 20, box["top"] + 20)
    opened.page.mouse.wheel(0, 120)
    opened.wait_until("scrollY > 0")
    assert opened.page.evaluate(transform) == fitted


@pytest.mark.slow
def test_one_finger_scrolls_the_page_and_two_zoom(open_page: Open) -> None:
    opened = open_page(view(reber()), width=390, height=844, has_touch=True, is_mobile=True)
    touch = opened.context.new_cdp_session(opened.page)
    box = opened.boxes("svg.canvas")[0]
    left, top = box["left"] + 150, box["top"] + 200

    def drag(*ways: tuple[int, int]) -> None:
        """Move fingers, each from a point beside the middle."""
        for step in range(12):
            points = [
                {"x": left + 20 * finger + x * step, "y": top + y * step, "id": finger}
                for finger, (x, y) in enumerate(ways)
            ]
            kind = "touchMove" if step else "touchStart"
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    scale = "document.querySelector('.picture').transform.baseVal.getItem(1).matrix.a"
    before = opened.page.evaluate(scale)
    drag((-5, 0), (5, 0))
    assert opened.page.evaluate(scale) > 1.5 * before
    drag((0, -15))
    opened.wait_until("scrollY > 50")
