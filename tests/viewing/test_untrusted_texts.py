"""Symbols, titles and file names are text: a page shows them and never runs them."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdfalearn import PDFA, save, view
from pdfalearn.cli import cli
from pdfalearn.text import escaped, symbol_text
from pdfalearn.viewing.page import embed_json
from tests.support import examples
from tests.viewing.conftest import Open

if TYPE_CHECKING:
    from playwright.sync_api import Browser

EVIL = (
    "</script><script>window.ran=1;alert(1)</script>",
    "<img src=x onerror=window.ran=1>",
    "<svg/onload=window.ran=1>",
    "javascript:window.ran=1",
    "\"onfocus='window.ran=1'autofocus=\"",
    "--><script>window.ran=1</script><!--",
    "<!--<script>",
    "</title></style></textarea><script>window.ran=1</script>",
    "'+window.ran=1+'",
    "${window.ran=1}",
    "a\u2028b\u2029c",
    "nul\0l",
    "\u202egnp.exe",
    "\ud800",
    "__proto__",
    "constructor",
    "שלום",
    "👩‍👩‍👧",
    "",
    " ",
    "\n",
    "a b",
    "x" * 500,
)


def evil_pdfa() -> PDFA:
    """Every evil text is a symbol, leads somewhere and is likely at one place."""
    size = len(EVIL)
    rows = [[0.2, *(0.8 / size for _ in EVIL)] for _ in range(2)]
    return PDFA(
        alphabet=EVIL,
        transitions=[[1] * size, [0] * size],
        probabilities=rows,
        terminal="</script><b onclick=window.ran=1>",
    )


@pytest.mark.slow
def test_nothing_runs_and_all_is_shown(open_page: Open) -> None:
    title = "".join(EVIL[:9])
    opened = open_page(view(evil_pdfa(), title=title), name="<img src=x onerror=alert(1)>'\".html")
    page = opened.page
    assert page.evaluate("window.ran") is None
    assert page.title() == title
    assert opened.text("h1") == title
    page.get_by_text("Table of the drawn transitions").click()
    page.wait_for_selector("tbody tr")
    cells = page.locator("tbody tr td:nth-child(2)").all_text_contents()
    assert set(cells) == {symbol_text(symbol) for symbol in EVIL}
    assert page.locator("img, iframe, b").count() == 0
    assert page.locator("script").count() == 2
    assert page.evaluate("window.ran") is None
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 1280


@pytest.mark.slow
def test_evil_searches_and_words(open_page: Open) -> None:
    opened = open_page(view(evil_pdfa()))
    for text in map(symbol_text, EVIL[:10]):
        assert opened.search(text).startswith(text)
        opened.follow(f"{text} nothing<img src=x onerror=window.ran=1>")
        message = opened.text(".side-column .message")
        assert message.endswith("is not a symbol of the alphabet.")
        opened.follow(f"{text} {text}")
        assert opened.text(".facts").startswith("After 2 symbols: ")
        assert opened.page.evaluate("window.ran") is None


@pytest.mark.parametrize("title", EVIL)
def test_titles_stay_where_they_are(title: str) -> None:
    html = view(evil_pdfa(), title=title).html
    html.encode()
    assert len(re.findall("<script", html)) == len(re.findall("</script", html)) == 2
    found = re.search("<h1>(.*)</h1>", html)
    assert found is not None
    assert unescape(found[1]) == escaped(title)


@examples(100)
@given(st.text())
def test_embed_json_is_json_and_holds_no_markup(text: str) -> None:
    written = embed_json({text: [text]})
    assert json.loads(written) == {text: [text]}
    assert not set(written) & set("<>&\u2028\u2029")
    assert written.isascii()


def test_the_policy_allows_only_the_pages_own_script() -> None:
    html = view(evil_pdfa()).html
    policy = re.search('http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    assert policy is not None
    directives = dict(part.split(" ", 1) for part in unescape(policy[1]).split("; "))
    assert directives["default-src"] == "'none'"
    assert re.fullmatch(r"'sha256-[\w+/]{43}='", directives["script-src"])
    assert re.fullmatch(r"'sha256-[\w+/]{43}='", directives["style-src"])
    assert html.index("Content-Security-Policy") < html.index("<title>")
    assert not re.search(r"<[^>]*\sstyle=", html.split("<script>")[0])


@pytest.mark.slow
def test_the_policy_stops_markup_that_got_into_a_page(browser: Browser, tmp_path: Path) -> None:
    markup = (
        "<script>window.ran=1</script><img src=x onerror=window.ran=1><svg onload=window.ran=1>"
        "</svg><iframe src='javascript:parent.ran=1'></iframe><base href='http://127.0.0.1:9/'>"
        "<a href='javascript:window.ran=1'>link</a><style>h1{display:none}</style>"
        "<form action='http://127.0.0.1:9/'><button>send</button></form>"
    )
    html = view(evil_pdfa(), title="kept").html.replace("<main>", f"{markup}<main>")
    path = tmp_path / "broken.html"
    path.write_text(html, encoding="utf-8")
    context = browser.new_context()
    requests: list[str] = []
    context.on("request", lambda request: requests.append(request.url))
    page = context.new_page()
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-interactive]", state="attached")
    page.get_by_text("link", exact=True).evaluate("link => link.click()")
    page.get_by_role("button", name="send").evaluate("button => button.click()")
    page.evaluate("fetch('http://127.0.0.1:9/').catch(() => null)")
    page.wait_for_timeout(100)
    assert page.evaluate("window.ran") is None
    assert page.get_by_role("heading", name="kept").is_visible()
    assert page.url == path.as_uri()
    assert not [url for url in requests if url.startswith("http")]
    context.close()


def test_scripts_never_make_markup_of_text() -> None:
    folder = Path(__file__).parents[2] / "src/pdfalearn/viewing/assets"
    for path in folder.glob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert text.startswith("//")
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|new Function|https?://(?!www\.w3)",
            text,
        )


def test_one_module_makes_markup_of_texts() -> None:
    folder = Path(__file__).parents[2] / "src/pdfalearn"
    markup = re.compile(
        r"</?(a|b|body|dd|div|dl|dt|h\d|html|i|iframe|img|li|p|su[bp]|t[dhr]|table|ul)[ >]"
    )
    found = {path.name for path in folder.rglob("*.py") if markup.search(path.read_text("utf-8"))}
    assert found <= {"page.py"}, "write it by element() of viewing/page.py, which escapes texts"


def test_a_notebook_shows_the_page_in_a_frame_apart(open_page: Open) -> None:
    page = view(evil_pdfa(), title=EVIL[0])
    frame = page._repr_html_()
    assert frame.count("<") == 2
    assert frame.startswith("<iframe ")
    assert ' sandbox="allow-scripts allow-forms allow-downloads" ' in frame
    source = re.search('srcdoc="([^"]*)"', frame)
    assert source is not None
    assert unescape(source[1]) == page.html
    assert repr(page).startswith("Page(")


def test_the_command_line_names_pages_after_evil_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, open_page: Open
) -> None:
    from click.testing import CliRunner

    monkeypatch.chdir(tmp_path)
    name = "<img src=x onerror=window.ran=1>"
    save(PDFA(alphabet="a", transitions=[[0]], probabilities=[[0.5, 0.5]]), f"{name}.json")
    done = CliRunner().invoke(cli, ["view", f"{name}.json"])
    assert done.exit_code == 0, done.output
    html = Path(f"{name}.html").read_text(encoding="utf-8")
    assert name not in html
    assert "&lt;img src=x onerror=window.ran=1&gt;.json" in html
