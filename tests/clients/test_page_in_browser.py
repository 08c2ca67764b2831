"""The page of a sharing plan in headless Chromium; without one the tests fail, and say so."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sparkext.explain.pictures.document import read
from sparkext.explain.pictures.page import fragment, page
from sparkext.planner.optimizers import OPTIMIZERS
from tests.support.browser import OVERPRINTED, SHOWN, Browser, browser
from tests.support.picture_documents import golden, hostile, many, pools

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


BRIGHT = (
    "return [...document.querySelectorAll('.template .strand')]"
    ".filter(e => !e.classList.contains('dim')).map(e => e.dataset.queries)"
)
LIT = "return [...document.querySelectorAll('.query.lit b')].map(e => e.textContent)"


@pytest.mark.parametrize(
    ("name", "document"), [("prefixes", golden("prefixes")), ("pools", pools()), ("many", many(100))]
)
def test_shows_all_queries(opened: Callable[[str], Browser], name: str, document: str) -> None:
    shown = opened(document).run(SHOWN, ".query b")
    assert shown == [query.name for source_pass in read(document) for query in source_pass.queries], name


def test_click_on_a_qset(opened: Callable[[str], Browser]) -> None:
    """Its transitions and queries stand out; another click ends that."""
    chromium = opened(golden("deliveries"))
    all_strands = chromium.run(BRIGHT)
    chromium.click("button[data-queries='1 2 3']")
    assert chromium.run(BRIGHT) == ["1 2 3"] * 2
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


WIDTHS = (
    "const box = document.querySelector('.picture');"
    "return [box.querySelector('svg').getBoundingClientRect().width, box.clientWidth, box.scrollLeft]"
)


def zoomed(chromium: Browser, how: str) -> tuple[float, float, float]:
    """Width of the picture after a click on a button, and width and scrolling of its box."""
    chromium.click(f"[data-zoom={how}]")
    svg, box, left = chromium.run(WIDTHS)
    return svg, box, left


def test_zoom(opened: Callable[[str], Browser]) -> None:
    """A picture that is wider than its box is as wide as that at first."""
    chromium = opened(many(100, 9))
    full, box, _ = zoomed(chromium, "full")
    assert full > box
    opened(many(100, 9))
    assert chromium.run(WIDTHS)[0] == pytest.approx(box, abs=0.1)
    larger, _, left = zoomed(chromium, "larger")
    assert larger == pytest.approx(1.25 * box, rel=1e-3)
    assert left == pytest.approx((larger - box) / 2, abs=2)
    assert zoomed(chromium, "smaller")[0] == pytest.approx(box, abs=0.1)
    chromium.run(PRESS, "1")
    assert chromium.run(WIDTHS)[0] == full
    assert chromium.run("return document.querySelector('.tools output').textContent") == "100 %"
    assert zoomed(chromium, "fit")[0] == pytest.approx(box, abs=0.1)
    chromium.run(TURN, -500)
    assert box < chromium.run(WIDTHS)[0] <= full * 4
    assert chromium.complaints() == []


PRESS = (
    "document.querySelector('.picture').dispatchEvent(new KeyboardEvent('keydown', {key: arguments[0], bubbles: true}))"
)
TURN = (
    "document.querySelector('.picture').dispatchEvent("
    "new WheelEvent('wheel', {deltaY: arguments[0], ctrlKey: true, clientX: 700, clientY: 400, cancelable: true}))"
)
SEEN = """
const box = document.querySelector('.picture').getBoundingClientRect();
const strand = document.querySelector(arguments[0]).getBoundingClientRect();
const isIn = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
const screen = {left: 0, top: 0, right: innerWidth, bottom: innerHeight};
return [isIn(box, screen), isIn(strand, box), isIn(strand, screen)]
"""


@pytest.mark.parametrize(
    ("clicked", "first"),
    [
        (".query[data-query='99'] .number", ".strand[data-queries~='99']:not([data-set])"),
        (".more button[data-queries='24 49 74 99']", ".strand[data-queries='24 49 74 99']"),
    ],
)
def test_marked_lines_are_seen(opened: Callable[[str], Browser], clicked: str, first: str) -> None:
    """Wherever the click was, and whatever was seen of the picture before."""
    chromium = opened(many(100, 9))
    zoomed(chromium, "full")
    chromium.run(
        "for (const more of document.querySelectorAll('.more')) more.open = true;"
        "document.querySelector('.picture').style.margin = '3000px 0';"
        "document.querySelector('.picture').scrollTo(1e6, 1e6); scrollTo(0, 0)"
    )
    assert chromium.run(SEEN, first) == [False, False, False]
    chromium.click(clicked)
    assert chromium.run(SEEN, first) == [True, True, True]
    chromium.click(".every")
    assert chromium.run(LIT) == []
    assert chromium.run("return document.querySelector('.strand.dim')") is None


BROKEN = """
document.body.style.width = arguments[0] + 'px';
const broken = [];
for (const cell of document.querySelectorAll('th, td, dt, h3, .figures b, .note')) {
  const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    if (texts.currentNode.parentElement.closest('code, svg')) continue;
    for (const word of texts.currentNode.data.matchAll(/[\\p{L}\\p{N}_]+/gu)) {
      const range = document.createRange();
      range.setStart(texts.currentNode, word.index);
      range.setEnd(texts.currentNode, word.index + word[0].length);
      if (new Set([...range.getClientRects()].map(line => line.top)).size > 1) broken.push(word[0]);
    }
  }
}
return broken
"""
"""Words that are broken on a page of some width."""


@pytest.mark.parametrize("width", [1400, 1000, 640])
def test_words_are_whole(opened: Callable[[str], Browser], width: int) -> None:
    """Also in the table of a comparison, and where there is little room."""
    document = json.loads(golden("deliveries"))
    apart = {"number": 1, "names": ["long_rounds"], "reason": "KLEENE", "why": "it repeats"}
    row = {"cost": 1.0, "of_none": 1.0, "planning_ms": 1234.5, "budget_used_up": True, "not_planned": [apart]}
    document["pools"][0]["compared"] = [row | {"optimizer": name} for name in OPTIMIZERS]
    chromium = opened(json.dumps(document))
    chromium.run("for (const more of document.querySelectorAll('details')) more.open = true")
    assert chromium.run(BROKEN, width) == []


def test_graph_of_the_search(opened: Callable[[str], Browser]) -> None:
    """The pointer over a candidate says what it is."""
    chromium = opened(golden("deliveries"))
    assert len(chromium.run(SHOWN, ".graph .candidate")) == 14
    chromium.run("document.querySelector('.graph').scrollIntoView()")
    chromium.hover(".graph .candidate.pruned .name")
    (tip,) = chromium.run(SHOWN, "#tip.shown")
    assert tip.startswith("n7: around Pickup → Travel, Travel → Pickup\n(1,2,3,4,5)^Pickup\n")
    assert tip.endswith("\nrule: Kleene\npruned, as n8 is better")


def test_pointer_shows_costs(opened: Callable[[str], Browser]) -> None:
    chromium = opened(golden("deliveries"))
    chromium.hover(".strand[data-queries='1 2 3'] .label")
    (tip,) = chromium.run(SHOWN, "#tip.shown")
    assert tip.startswith(
        "Pickup → Travel\n(1) long_rounds, (2) minutes_on_road, (3) in_vain\n"
        "one linear form over snapshots taken when a burst begins\n"
    )
    assert " µs in a group and window, " in tip


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
    names = [query.name for source_pass in read(hostile()) for query in source_pass.queries]
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
    assert chromium.run(opacity) == ["1 2 3"] * 2
    chromium.hover(".qsets li:nth-child(2) b")
    assert chromium.run(opacity) == ["4 5"] * 2


STYLES_OF_JUPYTERLAB = """
.jp-RenderedHTMLCommon ul:not(.list-inline), .jp-RenderedHTMLCommon ol:not(.list-inline) {padding-left: 2em}
.jp-RenderedHTMLCommon dl dt {font-weight: bold; margin-top: 1em}
.jp-OutputArea-output dt {float: left; display: block; width: 20%}
.jp-OutputArea-output dd {float: left; display: block; width: 80%; padding: 2px}
.jp-RenderedHTMLCommon h1, .jp-RenderedHTMLCommon h2, .jp-RenderedHTMLCommon h3 {font-weight: 400; margin: 1em 0}
.jp-RenderedHTMLCommon h3:first-child {margin-top: 2px}
.jp-RenderedHTMLCommon svg {max-width: 100%; height: auto}
.jp-ThemedContainer .jp-RenderedHTMLCommon :not(pre) > code {background-color: silver; padding: 1px 5px}
"""
"""What JupyterLab's style sheets say of what a cell shows, as its 4.6 does."""


def test_styles_of_jupyterlab(chromium: Browser, tmp_path: Path) -> None:
    file = tmp_path / "cell.html"
    classes = "jp-RenderedHTMLCommon jp-RenderedHTML jp-OutputArea-output"
    shown = fragment(read(golden("deliveries")))
    file.write_text(
        f"<style>{STYLES_OF_JUPYTERLAB}</style><div class='jp-ThemedContainer'><div class='{classes}'>{shown}", "utf-8"
    )
    chromium.open(file)
    assert chromium.run(SHOWN, ".facts dt")
    assert chromium.run(OVERPRINTED) == []
    indents = "return [...document.querySelectorAll('.sparkext ul')].map(e => getComputedStyle(e).paddingLeft)"
    assert set(chromium.run(indents)) == {"0px"}
    look = "const e = getComputedStyle(document.querySelector(arguments[0])); return e[arguments[1]]"
    for name, property_, expected in (("code", "backgroundColor", "rgba(0, 0, 0, 0)"), ("h3", "fontWeight", "600")):
        assert chromium.run(look, f".sparkext {name}", property_) == expected
    assert chromium.run(look, ".sparkext h3", "marginTop") == "22px"
    width = "return document.querySelector('.picture svg').getBoundingClientRect().width"
    full, around = chromium.run(width), chromium.run("return document.querySelector('.picture').clientWidth")
    chromium.run("document.querySelector('.sparkext').style.width = '500px'")
    assert chromium.run(width) == full
    chromium.click(".fit")
    assert chromium.run(width) < 500 < full <= around
