"""Pages of sharing plans: one that stands by itself, and what a notebook shows."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files

from sparkext.explain.pictures import sections
from sparkext.explain.pictures.graph_drawing import MOST, graph_svg
from sparkext.explain.pictures.legend import Legend
from sparkext.explain.pictures.markup import Markup, element
from sparkext.explain.pictures.searched_graph import candidates
from sparkext.explain.pictures.template_drawing import template_svg
from sparkext.explain.pictures.theme import style
from sparkext.explain.report import NOTHING_REGISTERED, Pass, Plan
from sparkext.planner.amounts import count
from sparkext.planner.optimizers import GRAPH_TITLE

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
    links = [element("a", _name(source_pass), href=f"#pass-{at}") for at, source_pass in enumerate(passes, 1)]
    top = element(
        "header",
        element("h1", title),
        element("p", sections.totals(passes) if passes else NOTHING_REGISTERED),
        *([element("nav", *links)] if len(links) > 1 else []),
        class_="top",
    )
    main = element("main", *(_section(source_pass, at) for at, source_pass in enumerate(passes, 1)))
    tip = element("div", id="tip", role="tooltip")
    body = element("body", top, main, tip, element("script", script), class_="sparkext")
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def fragment(passes: Sequence[Pass]) -> str:
    """What a notebook shows: the pictures, Q-sets and queries, with neither scripts nor a network."""
    sets = max(
        (len(Legend(source_pass.plan).entries) for source_pass in passes if source_pass.plan is not None), default=0
    )
    fit = element("label", element("input", type="checkbox", class_="fit"), "Fit to width", class_="tools")
    parts = [
        element("section", *_seen(source_pass, fit), _queries(source_pass), class_="pass") for source_pass in passes
    ]
    top = element("p", sections.totals(passes) if passes else NOTHING_REGISTERED)
    return element("div", element("style", _sheet(sets)), top, *parts, class_="sparkext")


def _section(source_pass: Pass, at: int) -> Markup:
    find = element("input", class_="find", type="search", placeholder="Find queries", aria_label="Find queries")
    queries = _queries(source_pass, *([find] if len(source_pass.queries) >= MANY else []))
    inside = [
        *_seen(source_pass, _zoom()),
        *([queries] if source_pass.plan is None else _details(source_pass.plan, queries)),
    ]
    return element("section", *inside, class_="pass", id=f"pass-{at}")


def _seen(source_pass: Pass, *tools: Markup) -> list[Markup]:
    """What is seen of a pass at first: what sharing does, the Q-sets, and the picture, with tools above it."""
    name, facts = element("h2", _name(source_pass)), sections.facts(source_pass)
    if source_pass.plan is None:
        return [name, facts, element("p", "These queries could not be planned; reading them says why.")]
    legend = Legend(source_pass.plan)
    svg = template_svg(source_pass, source_pass.plan, legend, is_alone=False)
    return [
        name,
        sections.summary(source_pass, source_pass.plan),
        facts,
        _titled("What shares most", sections.qset_list(source_pass, source_pass.plan, legend)),
        _titled("Template", *tools, element("div", svg, class_="picture")),
        _key(legend),
    ]


def _zoom() -> Markup:
    """Buttons that change the size of a picture, and one that ends what a click has begun."""
    sizes = (("smaller", "\N{MINUS SIGN}", "Smaller"), ("larger", "+", "Larger"), ("fit", "Fit", "As wide as this box"))
    smaller, *further = (
        element("button", shown, type="button", data_zoom=how, title=about, aria_label=about)
        for how, shown, about in (*sizes, ("full", "100 %", "Full size"))
    )
    show_all = element("button", "Show all", type="button", class_="every hidden", title="Escape")
    return element(
        "div", show_all, smaller, element("output"), *further, class_="tools", role="group", aria_label="Zoom"
    )


def _details(plan: Plan, queries: Markup) -> list[Markup]:
    costs, events = _titled("Costs", sections.costs(plan)), _titled("Events", sections.statistics(plan))
    parts = [element("div", queries, element("div", costs, events), class_="columns")]
    if plan.conditions:
        parts.append(
            _titled("Conditions with PREV", sections.conditions("Condition on the event before", plan.conditions))
        )
    if plan.looking_back:
        parts.append(
            _titled(
                "Conditions on earlier events", sections.conditions("Condition on an earlier event", plan.looking_back)
            )
        )
    if searched := candidates(plan.graph):
        edges, pruned_edges = (count(plan.graph[name], "edge", "edges") for name in ("edges", "pruned_edges"))
        pruned = sum(candidate.pruned_by is not None for candidate in searched)
        said = (
            f"{count(len(searched), 'candidate', 'candidates')}, {edges} between them; "
            f"{count(pruned, 'candidate', 'candidates')} and {pruned_edges} were pruned. "
            "Each is a way to divide the queries of some transitions into Q-sets, with the least cost to get there. "
            "Those of the plan are marked, and the edges between them are its path; those that were pruned are struck "
            "out. Where none is marked, the search that follows the rules has found better."
        )
        is_drawn = len(searched) <= MOST
        weights = (
            " The numbers at edges are their weights."
            if is_drawn
            else f" A picture of more than {MOST} would show nothing; the table has them all."
        )
        drawn = [element("div", graph_svg(searched, plan.costs.model), class_="picture graph")] if is_drawn else []
        parts += [
            _titled(GRAPH_TITLE, element("p", said + weights, class_="note"), *drawn),
            _more("All candidates", sections.trace(searched, plan.costs.model, Legend(plan))),
        ]
    return parts


def _queries(source_pass: Pass, *find: Markup) -> Markup:
    return _titled("Queries", *find, sections.query_list(source_pass))


def _titled(title: str, *parts: Markup) -> Markup:
    return element("div", element("h3", title), *parts)


def _more(title: str, part: Markup) -> Markup:
    return element("details", element("summary", title), part, class_="more")


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


def _name(source_pass: Pass) -> str:
    return f"{source_pass.name.capitalize()}: {count(len(source_pass.queries), 'query', 'queries')}"


def _sheet(sets: int = 0) -> Markup:
    return Markup(style(sets) + "\n" + _file("page.css"))


def _file(name: str) -> str:
    return files("sparkext.explain.pictures").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
