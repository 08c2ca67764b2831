"""Pages of sharing plans: one that stands by itself, and what a notebook shows."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files

from sparkext.pictures import sections
from sparkext.pictures.document import Pass, Plan
from sparkext.pictures.legend import Legend
from sparkext.pictures.markup import Markup, element
from sparkext.pictures.template_drawing import template_svg
from sparkext.pictures.theme import style
from sparkext.pictures.trace_drawing import trace_svg
from sparkext.words import count

NOTHING = "No trend queries are registered in this session."
MANY = 12
"""Queries from which on there is a field to find some."""


def page(passes: Sequence[Pass], title: str = "Sharing plan") -> str:
    """A page that needs nothing but itself: it reaches for no network, and runs no script but its own."""
    sheet, script = _sheet(), Markup("\n" + _file("page.js"))
    policy = f"default-src 'none'; img-src data:; style-src '{_hash(sheet)}'; script-src '{_hash(script)}'"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("link", rel="icon", href="data:,"),
        element("title", title),
        element("style", sheet),
    )
    links = [element("a", f"{one.name}: {_queries(one)}", href=f"#pass-{at}") for at, one in enumerate(passes, 1)]
    top = element(
        "header",
        element("h1", title),
        element("p", _totals(passes)),
        *([element("nav", *links)] if len(links) > 1 else []),
        class_="top",
    )
    main = element("main", *(_section(one, at) for at, one in enumerate(passes, 1)))
    tip = element("div", id="tip", role="tooltip")
    body = element("body", top, main, tip, element("script", script), class_="sparkext")
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def fragment(passes: Sequence[Pass]) -> str:
    """What a notebook shows: the pictures, Q-sets and queries, with neither scripts nor a network."""
    parts: list[Markup] = []
    sets = 0
    for one in passes:
        legend = None if one.plan is None else Legend(one.plan)
        inside = [element("h2", f"{one.name.capitalize()}: {_queries(one)}"), sections.facts(one)]
        if one.plan is None or legend is None:
            inside.append(_broken())
        else:
            sets = max(sets, len(legend.entries))
            inside += [
                _picture(template_svg(one, one.plan, legend, is_alone=False)),
                _key(legend),
                element("p", sections.summary(one.plan)),
                _columns([_titled("Q-sets", sections.qset_list(one, one.plan, legend))], [_query_part(one)]),
            ]
            if one.plan.candidates:
                inside.append(_more("What was looked at", _picture(trace_svg(one, one.plan, legend, is_alone=False))))
        parts.append(element("section", *inside, class_="pass"))
    return element("div", element("style", _sheet(sets)), *(parts or [element("p", NOTHING)]), class_="sparkext")


def _section(one: Pass, at: int) -> Markup:
    inside = [element("h2", f"{one.name.capitalize()}: {_queries(one)}"), sections.facts(one)]
    if one.plan is None:
        inside += [_broken(), _query_part(one)]
    else:
        inside += _plan(one, one.plan)
    return element("section", *inside, class_="pass", id=f"pass-{at}")


def _plan(one: Pass, plan: Plan) -> list[Markup]:
    legend = Legend(plan)
    parts = [
        element("p", sections.summary(plan)),
        _picture(template_svg(one, plan, legend, is_alone=False)),
        _key(legend),
        _columns(
            [_titled("Q-sets", sections.qset_list(one, plan, legend)), _titled("Costs", sections.costs(plan))],
            [_query_part(one), _titled("Events", sections.statistics(plan))],
        ),
    ]
    if plan.conditions:
        parts.append(_titled("Conditions with PREV", sections.conditions(plan)))
    if plan.candidates:
        edges, pruned_edges = plan.edges
        pruned = sum(candidate.pruned_by is not None for candidate in plan.candidates)
        said = (
            f"{count(len(plan.candidates), 'candidate', 'candidates')}, {count(edges, 'edge', 'edges')} between them; "
            f"{count(pruned, 'candidate', 'candidates')} and {count(pruned_edges, 'edge', 'edges')} were pruned. "
            "Each card has the ways to divide the queries of some transitions into Q-sets, with the least cost to "
            "get there. Those of the plan are marked, those that were pruned struck out; where none is marked, the "
            "search that follows the rules has found better."
        )
        parts += [
            _titled("GLORIA graph", element("p", said, class_="note")),
            _picture(trace_svg(one, plan, legend, is_alone=False)),
            _more("All candidates as a table", sections.trace(plan, legend)),
        ]
    return parts


def _query_part(one: Pass) -> Markup:
    find = element("input", class_="find", type="search", placeholder="Find queries", aria_label="Find queries")
    return _titled("Queries", *([find] if len(one.queries) >= MANY else []), sections.query_list(one))


def _titled(title: str, *parts: Markup) -> Markup:
    return element("div", element("h3", title), *parts)


def _columns(*columns: Sequence[Markup]) -> Markup:
    return element("div", *(element("div", *column) for column in columns), class_="columns")


def _more(title: str, part: Markup) -> Markup:
    return element("details", element("summary", title), part, class_="more")


def _picture(svg: Markup) -> Markup:
    return element("div", svg, class_="picture")


def _key(legend: Legend) -> Markup:
    said = [("alone", "", "queries that go alone")]
    if any(not entry.snapshots for entry in legend.entries):
        said.append(("c0", "", "equal totals, counted once"))
    if any(entry.snapshots for entry in legend.entries):
        said.append(("c0", " thick", "linear forms over snapshots; ◆ where they are taken"))
    items = [
        element("li", element("span", class_=f"swatch{thick}"), element("span", text), class_=kind)
        for kind, thick, text in said
    ]
    return element(
        "ul", *items, element("li", "● start of trends"), element("li", "double frame: end of trends"), class_="key"
    )


def _broken() -> Markup:
    return element("p", "These queries could not be planned; reading them says why.")


def _queries(one: Pass) -> str:
    return count(len(one.queries), "query", "queries")


def _totals(passes: Sequence[Pass]) -> str:
    if not passes:
        return NOTHING
    queries = count(sum(len(one.queries) for one in passes), "trend query", "trend queries")
    planned = sum(one.plan is not None for one in passes)
    return f"{queries} in {count(planned, 'pass over a source', 'passes over sources')}."


def _sheet(sets: int = 0) -> Markup:
    return Markup(style(sets) + "\n" + _file("page.css"))


def _file(name: str) -> str:
    return files("sparkext.pictures").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
