"""A page in a browser."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Dialog, Page

TIMEOUT = 60_000
"""Milliseconds; the machine may be busy."""

LUMINANCE = """
(elements) => {
  const context = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgba = (colour) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    return context.getImageData(0, 0, 1, 1).data;
  };
  const light = (colour) => {
    const parts = [...rgba(colour)].slice(0, 3).map((part) => part / 255);
    const [r, g, b] = parts.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (rgba(colour)[3] > 0) return colour;
    }
    return "white";
  };
  return elements.map((element) => {
    const style = getComputedStyle(element);
    const ink = element.namespaceURI.endsWith("svg") ? style.fill : style.color;
    const [high, low] = [light(ink), light(ground(element))].sort((a, b) => b - a);
    return [element.textContent.slice(0, 30), (high + 0.05) / (low + 0.05)];
  });
}
"""


class Opened:
    """Opens a file and notes errors, dialogs and requests."""

    def __init__(self, page: Page, path: Path) -> None:
        self.page, self.context, self.path = page, page.context, path
        self.troubles: list[str] = []
        self.requests: list[str] = []
        self._listeners: dict[Any, Callable[[Any], None]] = {
            "request": lambda request: self.requests.append(request.url),
            "console": lambda message: self.troubles.append(message.text),
            "pageerror": lambda error: self.troubles.append(str(error)),
            "dialog": self._dialog,
        }
        for event, listener in self._listeners.items():
            page.on(event, listener)
        page.set_default_timeout(TIMEOUT)
        page.mouse.move(0, 0)
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-interactive]", state="attached")

    def leave(self) -> None:
        """Note nothing more, so that another page can be opened in the tab."""
        for event, listener in self._listeners.items():
            self.page.remove_listener(event, listener)

    def _dialog(self, dialog: Dialog) -> None:
        self.troubles.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def wait_until(self, condition: str) -> None:
        """Wait until a condition holds; the page's policy forbids to evaluate it in the page."""
        until = time.monotonic() + TIMEOUT / 1000
        while not self.page.evaluate(condition):
            assert time.monotonic() < until, condition
            self.page.wait_for_timeout(20)

    def text(self, selector: str) -> str:
        """Return the text of the first element that a selector finds."""
        found: str = self.page.locator(selector).first.inner_text()
        return found

    def search(self, text: str) -> str:
        """Search for something; return what the page answers."""
        self.page.locator('input[type="search"]').fill(text)
        self.page.get_by_role("button", name="Search").click()
        return self.text(".picture-card .message")

    def follow(self, word: str) -> str:
        """Follow a word; return what the page says of it."""
        self.page.get_by_label("Word to follow").fill(word)
        self.page.get_by_role("button", name="Follow").click()
        return self.text(".facts")

    def boxes(self, selector: str) -> list[dict[str, float]]:
        """Return where elements are on the screen."""
        found: list[dict[str, float]] = self.page.eval_on_selector_all(
            selector,
            "all => all.map((one) => one.getBoundingClientRect().toJSON())",
        )
        return found

    def least_contrast(self, selector: str) -> tuple[str, float]:
        """Return the text that contrasts least with its background, and by how much it does."""
        found: list[Any] = self.page.eval_on_selector_all(selector, LUMINANCE)
        return min(((text, value) for text, value in found), key=lambda pair: pair[1])


def overlapping(boxes: list[dict[str, float]], others: list[dict[str, float]]) -> int:
    """Count pairs of different boxes that overlap by more than a pixel."""
    return sum(
        one is not other
        and min(one["right"], other["right"]) - max(one["left"], other["left"]) > 1
        and min(one["bottom"], other["bottom"]) - max(one["top"], other["top"]) > 1
        for one in boxes
        for other in others
    )
