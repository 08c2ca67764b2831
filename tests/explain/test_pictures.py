"""Pictures of sharing plans: layout, drawings against a golden file, and pages, without Spark and without a browser.

``SPARKEXT_UPDATE_GOLDEN=1 python -m pytest tests/explain/test_pictures.py`` writes the golden drawing anew.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Sequence
from itertools import combinations, pairwise, permutations
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkext.explain.pictures.document import read
from sparkext.explain.pictures.graph_drawing import MOST, graph_svg
from sparkext.explain.pictures.heights import spread
from sparkext.explain.pictures.layered import Box, Link, layered
from sparkext.explain.pictures.legend import Legend
from sparkext.explain.pictures.markup import Markup, element, number
from sparkext.explain.pictures.onward import onward
from sparkext.explain.pictures.ordering import crossings, ordered
from sparkext.explain.pictures.page import fragment, page
from sparkext.explain.pictures.ranking import backward, parts, ranks
from sparkext.explain.pictures.searched_graph import candidates
from sparkext.explain.pictures.template_drawing import template_svg
from sparkext.explain.pictures.texts import qset_label, text_width
from sparkext.explain.report import NOTHING_REGISTERED, Plan
from sparkext.planner import amounts
from tests.support.json_documents import faults
from tests.support.picture_documents import GOLDEN, HOSTILE, golden, hostile, many, part_for_q2, pools

SVG = "{http://www.w3.org/2000/svg}"
DOCUMENTS = {
    "empty": '{"pools": []}',
    "pools": pools(),
    "prefixes": golden("prefixes"),
    "deliveries": golden("deliveries"),
    "one query of them": part_for_q2(),
    "many": many(100),
    "hostile": hostile(),
}

graphs = st.integers(1, 9).flatmap(
    lambda count: st.tuples(
        st.just(count),
        st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=20, unique=True),
    )
)


def plan(document: str) -> Plan:
    """Of its first pass."""
    of_plan = read(document)[0].plan
    assert of_plan is not None
    return of_plan


def without_cycles(count: int, links: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The links, turned round where they go backwards, without those of a node with itself."""
    closing = backward(count, links, [1.0] * len(links))
    return [(b, a) if back else (a, b) for (a, b), back in zip(links, closing, strict=True) if a != b]


@given(graphs)
def test_ranks(graph: tuple[int, list[tuple[int, int]]]) -> None:
    """Links lead to later layers, of which none before the last is empty."""
    count, links = graph
    forward = without_cycles(count, links)
    layers = ranks(count, forward)
    assert all(layers[source] < layers[target] for source, target in forward)
    for part in parts(count, forward):
        assert {layers[node] for node in part} == set(range(max(layers[node] for node in part) + 1))


@given(graphs)
def test_backward_is_light(graph: tuple[int, list[tuple[int, int]]]) -> None:
    """For up to five nodes, no order has much less going backwards than the one that is found."""
    count, links = graph
    closing = backward(count, links, [1.0] * len(links))
    total = sum(back for back, (a, b) in zip(closing, links, strict=True) if a != b)
    if count <= 5:
        orders = (dict(zip(order, range(count), strict=True)) for order in permutations(range(count)))
        assert total <= min(sum(at[a] > at[b] for a, b in links) for at in orders) + 1


def test_backward_goes_by_weight() -> None:
    links = [(0, 1), (1, 0), (1, 2)]
    assert backward(3, links, [1.0, 5.0, 1.0]) == [True, False, False]
    assert backward(3, links, [5.0, 1.0, 1.0]) == [False, True, False]


@given(graphs, st.data())
def test_layout(graph: tuple[int, list[tuple[int, int]]], data: st.DataObject) -> None:
    """Boxes are apart, links go right, all is within the drawing, and the same graph has the same drawing."""
    count, links = graph
    sizes = st.floats(10, 90)
    boxes = [Box(data.draw(sizes), data.draw(sizes), data.draw(sizes), data.draw(sizes)) for _ in range(count)]
    forward = [Link(*pair, data.draw(st.integers(1, 4))) for pair in without_cycles(count, links)]
    layout = layered(boxes, forward)
    assert layout == layered(boxes, forward)
    areas = [(p.left, p.right, p.y - b.above, p.y + b.below) for p, b in zip(layout.boxes, boxes, strict=True)]
    for left, right, top, bottom in areas:
        assert left >= 0
        assert right <= layout.width
        assert top >= -1e-6
        assert bottom <= layout.height + 1e-6
    for (left, right, top, bottom), (other_left, other_right, other_top, other_bottom) in combinations(areas, 2):
        apart = right < other_left or other_right < left or bottom < other_top + 1e-6 or other_bottom < top + 1e-6
        assert apart
    for link, route in zip(forward, layout.routes, strict=True):
        way = [layout.boxes[link.source], *route, layout.boxes[link.target]]
        assert all(before.bend < after.left for before, after in pairwise(way))


@given(st.lists(st.tuples(st.floats(-50, 50), st.floats(0.1, 9), st.floats(0, 30)), min_size=1, max_size=7), st.data())
def test_spread_is_nearest(wanted: list[tuple[float, float, float]], data: st.DataObject) -> None:
    """Heights keep their distances, and others that do are no nearer to what is wanted."""
    offsets = [sum(gap for _, _, gap in wanted[:at]) for at in range(len(wanted))]
    heights, weights = [height for height, _, _ in wanted], [weight for _, weight, _ in wanted]

    def distance(at: Sequence[float]) -> float:
        return sum(
            w * (height - wanted_height) ** 2 for w, height, wanted_height in zip(weights, at, heights, strict=True)
        )

    spread_out = spread(heights, weights, offsets)
    levels = [height - offset for height, offset in zip(spread_out, offsets, strict=True)]
    assert all(upper <= lower + 1e-9 for upper, lower in pairwise(levels))
    other_heights = sorted(data.draw(st.lists(st.floats(-90, 60), min_size=len(wanted), max_size=len(wanted))))
    moved = [level + offset for level, offset in zip(other_heights, offsets, strict=True)]
    assert distance(spread_out) <= distance(moved) * (1 + 1e-9) + 1e-6


def test_crossings() -> None:
    after = {0: [4, 5], 1: [3], 2: [3, 4]}
    assert crossings([[0, 1, 2], [3, 4, 5]], after) == 5
    links = [(source, target) for source, targets in after.items() for target in targets]
    assert crossings(ordered([[0, 1, 2], [3, 4, 5]], links), after) == 0


def test_transitions_lead_onward() -> None:
    """Those that go back in a repeated part count for nothing."""
    rounds = plan(golden("deliveries"))
    names = [f"{rounds.states[t.source].name} {rounds.states[t.target].name}" for t in rounds.transitions]
    weights = dict(zip(names, onward(rounds), strict=True))
    assert weights["Pickup Travel"] == 5  # queries that go that way
    assert weights["Travel Pickup"] == 0


def test_golden_drawing() -> None:
    """The picture of a small pool, with a loop, links both ways, a condition, and snapshots."""
    first_pass = read(golden("prefixes"))[0]
    assert first_pass.plan is not None
    text = template_svg(first_pass, first_pass.plan, Legend(first_pass.plan)).replace("><", ">\n<") + "\n"
    file = GOLDEN / "prefixes.svg"
    if os.environ.get("SPARKEXT_UPDATE_GOLDEN"):
        file.write_text(text)
    assert text == file.read_text()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_drawing_shows_the_plan(name: str) -> None:
    """A box per state, and for each transition a strand per Q-set, but one for all queries that go alone."""
    passes = [source_pass for source_pass in read(DOCUMENTS[name]) if source_pass.state != "broken"]
    assert len(passes) == DOCUMENTS[name].count('"optimizer": ')
    for source_pass in passes:
        assert source_pass.plan is not None
        legend = Legend(source_pass.plan)
        drawing = ElementTree.fromstring(template_svg(source_pass, source_pass.plan, legend))
        assert len(drawing.findall(f".//{SVG}g[@class='state']")) == len(source_pass.plan.states)
        strands = [g for g in drawing.iter(f"{SVG}g") if g.get("class", "").startswith("strand")]
        drawn = sorted(tuple(map(int, g.get("data-queries", "").split())) for g in strands)
        wanted = []
        for transition in source_pass.plan.transitions:
            wanted += [qset.numbers for qset in transition.qsets if not qset.is_alone]
            alone = sorted(number for qset in transition.qsets if qset.is_alone for number in qset.numbers)
            wanted += [tuple(alone)] if alone else []
        assert drawn == sorted(wanted)
        diamonds = len(drawing.findall(f".//{SVG}polygon[@class='diamond']"))
        begun = [
            q.snapshot == source_pass.plan.states[t.source].name for t in source_pass.plan.transitions for q in t.qsets
        ]
        assert diamonds == sum(begun)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_pages_are_well_formed(name: str) -> None:
    passes = read(DOCUMENTS[name])
    for text in (page(passes), fragment(passes)):
        texts = "".join(ElementTree.fromstring(text).itertext())
        for source_pass in passes:
            for query in source_pass.queries:
                assert query.name in texts
                assert query.sql.strip() in texts
        assert passes or NOTHING_REGISTERED in texts


@pytest.mark.parametrize("name", [name for name, text in DOCUMENTS.items() if '"trace": [{' in text])
def test_graph_shows_the_search(name: str) -> None:
    """A frame per pool with its candidates in it, and an edge with its weight for each that a candidate may follow.

    The path of the plan is what leads from one of its candidates to another.
    """
    of_plan = plan(DOCUMENTS[name])
    searched = candidates(of_plan.graph)
    drawing = ElementTree.fromstring(graph_svg(searched, of_plan.costs.model))
    in_plan = {candidate.name for candidate in searched if candidate.in_plan}
    edges = {(before, one.name): weight for one in searched for before, weight in one.before}
    assert len(drawing.findall(f".//{SVG}g[@class='pool']")) == len({one.transitions for one in searched})
    boxes = [g for g in drawing.iter(f"{SVG}g") if g.get("class", "").split(" ")[0] == "candidate"]
    assert [_title(box).split(":")[0] for box in boxes] == [one.name for one in searched]
    marked = [box for box in boxes if "in-plan" in box.get("class", "").split()]
    assert {_title(box).split(":")[0] for box in marked} == in_plan
    assert sum("pruned" in box.get("class", "") for box in boxes) == sum(bool(one.pruned_by) for one in searched)
    lines = [g for g in drawing.iter(f"{SVG}g") if g.get("class", "").split(" ")[0] == "edge"]
    said = {tuple(_title(line).split(":")[0].split(" → ")): _title(line).split("weight ")[1] for line in lines}
    assert said == {edge: amounts.cost(weight, of_plan.costs.model) for edge, weight in edges.items()}
    path = [line for line in lines if "in-plan" in line.get("class", "").split()]
    assert len(path) == sum({*edge} <= in_plan for edge in edges)
    assert lines[len(lines) - len(path) :] == path
    width, height = (float(drawing.get(side, "")) for side in ("width", "height"))
    for box in drawing.iter(f"{SVG}rect"):
        x, y, wide, high = (float(box.get(side, "")) for side in ("x", "y", "width", "height"))
        assert min(x, y) >= 0
        assert x + wide <= width
        assert y + high <= height


def _title(of: ElementTree.Element) -> str:
    return of.findtext(f"{SVG}title") or ""


def test_a_graph_that_is_too_large_is_not_drawn() -> None:
    """What there is to say of it stands in the table."""
    document = json.loads(golden("deliveries"))
    trace = document["pools"][0]["graph"]["trace"]
    assert 'class="picture graph"' in page(read(json.dumps(document)))
    trace += [trace[0] | {"node": f"n{number}"} for number in range(len(trace) + 1, MOST + 2)]
    assert len(trace) == MOST + 1
    text = page(read(json.dumps(document)))
    assert 'class="picture graph"' not in text
    assert f"n{MOST + 1}" in text


def test_page_needs_nothing_else() -> None:
    """There is no address in it, and nothing runs or styles but what it says it has."""
    text = page(read(pools()))
    assert set(re.findall(r"\w+://[^\"<\s]*", text)) == {"http://www.w3.org/2000/svg"}
    assert set(re.findall(r"(?:href|src)=\"([^\"]*)", text)) <= {"data:,", *(f"#pass-{i}" for i in range(1, 9))}
    assert not re.search(r"\s(on\w+|style)=\"", text)
    assert "@import" not in text
    assert "url(" not in text
    policy = re.search('Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    for name in ("style", "script"):
        ((content,),) = [re.findall(rf"<{name}>(.*?)</{name}>", text, re.DOTALL)]
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{name}-src &#39;sha256-{digest}&#39;" in policy[1]


def test_notebooks_get_no_scripts() -> None:
    text = fragment(read(hostile()))
    assert "<script" not in text
    assert not re.search(r"<[^>]*\son\w+=\"", text)


@given(st.text() | st.sampled_from(HOSTILE))
def test_escaping(text: str) -> None:
    """Texts come through XML as they are, but for what XML cannot hold, in elements and attributes."""
    readable = "".join(sign if _in_xml(sign) else "\ufffd" for sign in text)
    parsed = ElementTree.fromstring(element("p", text, title=text))
    assert (parsed.text or "") == readable.replace("\r\n", "\n").replace("\r", "\n")
    assert re.sub(r"\s", " ", parsed.get("title", "")) == re.sub(r"\s", " ", re.sub(r"\r\n?", "\n", readable))
    assert element("p", Markup("<b>x</b>"), "<b>") == "<p><b>x</b>&lt;b&gt;</p>"


def _in_xml(sign: str) -> bool:
    point = ord(sign)
    return sign in "\t\n\r" or 0x20 <= point < 0xD800 or 0xE000 <= point < 0xFFFE or point > 0xFFFF


def test_numbers_in_markup() -> None:
    assert [number(value) for value in (0, -0.001, 1.5, 10, 2.345678, -3.0)] == ["0", "0", "1.5", "10", "2.35", "-3"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 ns"),
        (68.24, "68.2 ns"),
        (999.4, "999 ns"),
        (999.6, "1 µs"),
        (2_128_902, "2.13 ms"),
        (999_999, "1 ms"),
        (43_860_000_000, "43.9 s"),
        (1_234_567_000_000, "1,235 s"),
    ],
)
def test_times(value: float, text: str) -> None:
    assert amounts.cost(value, "measured") == text


def test_amounts() -> None:
    assert [amounts.cost(value, "paper") for value in (307, 1234567.8, 2.5)] == [
        "307 touches",
        "1,234,568 touches",
        "2.5 touches",
    ]
    assert amounts.count(1, "query", "queries") == "1 query"
    assert amounts.count(1200, "query", "queries") == "1,200 queries"


def test_sizes() -> None:
    sizes = [amounts.size(number) for number in (0, 999, 1000, 12_345, 999_499, 999_600, 5_000_000_000, 4_000 * 10**12)]
    assert sizes == ["0 bytes", "999 bytes", "1 kB", "12.3 kB", "999 kB", "1 MB", "5 GB", "4,000 TB"]


def test_parts() -> None:
    parts = [amounts.part(value, 1000) for value in (1000, 999, 380, 501, 4, 1050, 0)]
    assert parts == [
        f"{said} of" for said in ("100 %", "more than 99 %", "38 %", "half", "less than 1 %", "105 %", "0 %")
    ]


def test_summary_comes_first() -> None:
    """How many passes, how much less that costs, and the Q-sets with most transitions of queries."""
    texts = list(ElementTree.fromstring(page(read(many(100, 9)))).itertext())
    assert (
        "100 trend queries in 1 pass instead of 100. They cost 10 % of what they cost when nothing is shared." in texts
    )
    shown = [
        texts.index(text) for text in ("1 pass", "10 %", "100 queries", "(1,26,51,76)", "20 more Q-sets", "Template")
    ]
    assert shown == sorted(shown)
    (only_pass,) = read(part_for_q2())
    assert (len(only_pass.queries), only_pass.planned) == (1, 2)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_documents_are_what_their_schema_says(name: str) -> None:
    assert faults(DOCUMENTS[name]) == []


def test_schema_tells_what_is_wrong() -> None:
    """A key that it does not know, one that is missing, and a value of another kind."""
    document = json.loads(golden("prefixes"))
    del document["pools"][0]["cost"]["bound"]
    document["pools"][0]["queries"][1] |= {"number": "2", "colour": "red"}
    assert sorted(fault.split(":")[0] for fault in faults(json.dumps(document))) == [
        "$.pools[0].cost",
        "$.pools[0].queries[1]",
        "$.pools[0].queries[1].number",
    ]


def test_labels() -> None:
    alone, shared = plan(golden("prefixes")).transitions[0].qsets[1], plan(many(100)).transitions[5].qsets[0]
    assert qset_label(alone) == "(3)"
    assert qset_label(shared) == "100 queries^B"
    assert text_width("WWW", 10) > text_width("iii", 10)
    assert text_width("数量", 10) == 21


def test_queries_that_compute_the_same_say_so() -> None:
    """They are one query of the pass, and have its number."""
    document = json.loads(golden("prefixes"))
    queries = document["pools"][0]["queries"]
    queries.append(queries[1] | {"name": "again"})
    html = page(read(json.dumps(document)))
    assert html.count("; the same as q2, computed once") == html.count("the same as") == 1
    assert html.index("<b>again</b>") < html.index("; the same as q2")
