"""The page of a sharing plan in headless Chromium; without one the tests fail, and say so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sparkext.pictures.document import read
from sparkext.pictures.page import fragment, page
from tests.browser import Browser, browser
from tests.picture_documents import golden, hostile, many

TITLE = "Sharing plan"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as session:
        yield session


@pytest.fixture
def opened(chromium: Browser, tmp_path: Path) -> Callable[[str], Browser]:
    """Opens a document's page; it must load without complaints and without asking for anything else."""

    def open_page(document: str) -> Browser:
        file = tmp_path / "page.html"
        file.write_text(page(read(document)), encoding="utf-8")
        chromium.requests()
        chromium.complaints()
        chromium.open(file)
        assert [url for url in chromium.requests() if not url.startswith("data:")] == [file.as_uri()]
        assert chromium.complaints() == []
        return chromium

    return open_page


SHOWN = "return [...document.querySelectorAll(arguments[0])].filter(e => e.checkVisibility()).map(e => e.textContent)"
BRIGHT = (
    "return [...document.querySelectorAll('.template .strand')]"
    ".filter(e => !e.classList.contains('dim')).map(e => e.dataset.queries)"
)
LIT = "return [...document.querySelectorAll('.query.lit b')].map(e => e.textContent)"


@pytest.mark.parametrize(("name", "document"), [(n, golden(n)) for n in ("prefixes", "pools")] + [("many", many(100))])
def test_shows_all_queries(opened: Callable[[str], Browser], name: str, document: str) -> None:
    shown = opened(document).run(SHOWN, ".query b")
    assert shown == [query.name for one in read(document) for query in one.queries], name


def test_click_on_a_qset(opened: Callable[[str], Browser]) -> None:
    """Its transitions and queries stand out; another click ends that."""
    chromium = opened(golden("deliveries"))
    all_strands = chromium.run(BRIGHT)
    chromium.click("button[data-queries='1 2 3']")
    assert chromium.run(BRIGHT) == ["1 2 3"] * 3
    assert chromium.run(LIT) == ["long_rounds", "minutes_on_road", "in_vain"]
    assert chromium.run("return document.querySelector('button[data-queries=\"1 2 3\"]').ariaPressed") == "true"
    faded = "return getComputedStyle(document.querySelector('.strand.dim')).transitionProperty"
    assert chromium.run(faded) == "opacity"
    chromium.click("button[data-queries='1 2 3']")
    assert chromium.run(BRIGHT) == all_strands
    assert chromium.run(LIT) == []


def test_click_on_a_query_and_on_a_strand(opened: Callable[[str], Browser]) -> None:
    chromium = opened(golden("prefixes"))
    chromium.click(".query[data-query='4'] .number")
    assert chromium.run(BRIGHT) == ["4", "4", "4"]
    assert chromium.run(LIT) == ["q4"]
    chromium.click(".strand[data-queries='1 2'] .label")
    assert chromium.run(BRIGHT) == ["1 2"]
    assert chromium.run(LIT) == ["q1", "q2"]


def test_pointer_shows_costs(opened: Callable[[str], Browser]) -> None:
    chromium = opened(golden("deliveries"))
    chromium.hover(".strand[data-queries='1 2 3'] .label")
    (tip,) = chromium.run(SHOWN, "#tip.shown")
    assert tip.startswith(
        "Request → Pickup\n(1) long_rounds, (2) minutes_on_road, (3) in_vain\n"
        "one linear form over snapshots taken at Request\n"
    )
    assert " ns in a group and window, " in tip


def test_statement_of_a_query(opened: Callable[[str], Browser]) -> None:
    chromium = opened(golden("prefixes"))
    assert chromium.run(SHOWN, ".query pre") == []
    chromium.click(".query[data-query='2'] summary b")
    (sql,) = chromium.run(SHOWN, ".query pre")
    assert sql.startswith("CREATE TEMP VIEW q2 AS SELECT * FROM e MATCH_TREND (")


def test_finding_queries(opened: Callable[[str], Browser]) -> None:
    chromium = opened(many(100))
    chromium.write(".find", "VIEW_10")
    assert chromium.run(SHOWN, ".query b") == ["view_10", "view_100"]


def test_hostile_names(opened: Callable[[str], Browser]) -> None:
    """They are shown as they are, and do nothing."""
    chromium = opened(hostile())
    names = [query.name for one in read(hostile()) for query in one.queries]
    assert chromium.run(SHOWN, ".query b") == names
    assert chromium.run("return document.title") == TITLE
    assert chromium.run("return document.querySelectorAll('img, b b, script').length") == 1


def test_notebook(chromium: Browser, tmp_path: Path) -> None:
    """What notebooks show needs no script: strands of other Q-sets fade under the pointer."""
    file = tmp_path / "cell.html"
    file.write_text(f"<!DOCTYPE html><meta charset=utf-8>{fragment(read(golden('deliveries')))}", encoding="utf-8")
    chromium.complaints()
    chromium.open(file)
    assert chromium.complaints() == []
    assert chromium.run("return document.scripts.length") == 0
    chromium.run("document.body.insertAdjacentHTML('beforeend', '<style>* {transition: none !important}</style>')")
    chromium.hover(".strand[data-queries='1 2 3'] .label")
    opacity = (
        "return [...document.querySelectorAll('.template .strand')]"
        ".filter(e => getComputedStyle(e).opacity === '1').map(e => e.dataset.queries)"
    )
    assert chromium.run(opacity) == ["1 2 3"] * 3
    chromium.hover(".qsets li:nth-child(2) b")
    assert chromium.run(opacity) == ["4 5"] * 2
