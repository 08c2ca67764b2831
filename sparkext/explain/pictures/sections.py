"""What a page says about a pass beside its pictures, as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sparkext.explain.pictures.legend import Entry, Legend, colour
from sparkext.explain.pictures.markup import Markup, element
from sparkext.explain.pictures.searched_graph import Candidate
from sparkext.explain.pictures.texts import listed, numbers_label, qset_label, shortened
from sparkext.explain.report import TOO_MANY_PLANS, LeftAlone, Pass, Plan, QSet, Query
from sparkext.planner.amounts import amount, count, part, unit
from sparkext.planner.sharing.sharing_plan import BURST_NAME

FIRST = 6
"""Q-sets of a list that are seen before it is opened."""
_BAR = 150.0
"""Width of the longest bar."""


def facts(source_pass: Pass) -> Markup:
    """Source, keys, time and state of a pass."""
    state = f"{source_pass.state}, results are kept" if source_pass.kept else source_pass.state
    pairs = [
        ("source", source_pass.source),
        ("group by", ", ".join(source_pass.group_by) or "none"),
        ("other keys", ", ".join(source_pass.other_keys) or "none"),
        ("time", source_pass.order_by),
        ("state", state),
        *([] if source_pass.made is None else [("made", source_pass.made.text)]),
    ]
    return element(
        "dl", *(element("div", element("dt", name), element("dd", value)) for name, value in pairs), class_="facts"
    )


def totals(passes: Sequence[Pass]) -> str:
    """What sharing does in all passes together, in a sentence or two."""
    plans = [source_pass.plan for source_pass in passes if source_pass.plan is not None]
    planned, queries = (
        sum(source_pass.planned for source_pass in passes),
        sum(len(source_pass.queries) for source_pass in passes),
    )
    said = f"{count(queries, 'trend query', 'trend queries')} in {count(len(plans), 'pass', 'passes')}"
    said += f" instead of {planned:,}." if planned > len(plans) else "."
    if plans and len({plan.costs.model for plan in plans}) == 1:
        chosen, none = (sum(getattr(plan.costs, name) for plan in plans) for name in ("chosen", "none"))
        said += f" They cost {part(chosen, none)} what they cost when nothing is shared."
    return said


def summary(source_pass: Pass, plan: Plan) -> Markup:
    """What sharing does in a pass, in figures."""
    costs, transitions = plan.costs, plan.transitions
    links = sum(len(qset.numbers) for transition in transitions for qset in transition.qsets)
    strands = sum(len(transition.qsets) for transition in transitions)
    saved = f" instead of {costs.shown(costs.none)}" if costs.chosen < costs.none else ""
    merged = f" instead of {links:,}" if strands < links else ""
    value, of, _ = part(costs.chosen, costs.none).partition(" of")
    figures = [
        (
            "1 pass",
            f"instead of {source_pass.planned:,}, one for each query" if source_pass.planned > 1 else "over the source",
        ),
        (
            value,
            f"{of} what it costs when nothing is shared: {costs.shown(costs.chosen)}{saved} in a group and window",
        ),
        (
            f"{count(strands, 'transition', 'transitions')}",
            f"propagated{merged}, with {count(plan.running_totals, 'running total', 'running totals')}",
        ),
    ]
    return element(
        "ul",
        *(element("li", element("b", value), " ", element("span", about)) for value, about in figures),
        class_="figures",
    )


def qset_list(source_pass: Pass, plan: Plan, legend: Legend) -> Markup:
    """The Q-sets, each a button that makes them stand out; first those with most transitions of queries."""
    if not legend.entries:
        return element("p", "No two queries share a transition: each goes alone.", class_="note")
    ordered = sorted(legend.entries, key=lambda entry: -entry.transitions * len(entry.numbers))
    first, others = (
        element("ul", *(_entry(source_pass, plan, entry) for entry in some), class_="qsets") if some else Markup()
        for some in (ordered[:FIRST], ordered[FIRST:])
    )
    more = element("summary", count(len(ordered) - FIRST, "more Q-set", "more Q-sets"))
    return element("div", first, *([element("details", more, others, class_="more")] if others else []))


def _entry(source_pass: Pass, plan: Plan, entry: Entry) -> Markup:
    how = (
        f"linear forms over snapshots of {', '.join('bursts' if s == BURST_NAME else s for s in entry.snapshots)}"
        if entry.snapshots
        else "equal totals, counted once"
    )
    on = count(entry.transitions, "transition", "transitions")
    names = ", ".join(source_pass.name_of(number) for number in entry.numbers)
    return element(
        "li",
        element(
            "button",
            element("span", class_=f"swatch{' thick' if entry.snapshots else ''}"),
            element("b", qset_label(QSet(entry.numbers, None))),
            element("span", shortened(names, 160), class_="names", title=listed(source_pass, entry.numbers)),
            element("span", f"{how}, on {on}", class_="how"),
            element("span", plan.costs.shown(entry.cost), class_="cost"),
            type="button",
            aria_pressed="false",
            data_set=str(entry.number),
            data_queries=" ".join(map(str, entry.numbers)),
        ),
        class_=f"{colour(entry.number)} s{entry.number}",
    )


def query_list(source_pass: Pass) -> Markup:
    """The queries with their patterns, each of which opens to its statement."""
    first: dict[int | None, Query] = {}
    for query in source_pass.queries:
        first.setdefault(query.number, query)
    return element("ul", *(_query(query, first[query.number]) for query in source_pass.queries), class_="queries")


def _query(query: Query, first: Query) -> Markup:
    """A query; ``first``: that which computes the same, and is listed first."""
    number, window = "" if query.number is None else str(query.number), query.clause.window_text("", ", every ")
    as_first = f"; the same as {first.name}, computed once" if number and first is not query else ""
    return element(
        "li",
        element(
            "details",
            element(
                "summary",
                element("span", number, class_="number"),
                element("b", query.name),
                element("code", query.clause.pattern_text),
                element("span", f"{', '.join(query.clause.aggregates)}; {window}{as_first}", class_="note"),
            ),
            element("pre", element("code", query.sql.strip())),
        ),
        data_query=None if query.number is None else str(query.number),
        class_="query",
    )


def statistics(plan: Plan) -> Markup:
    """Events of each class, with where that is known from."""
    most = max((statistic.events for statistic in plan.statistics), default=0.0)
    rows = [
        (s.event, _bar(s.events, most), amount(s.events), element("span", s.origin, class_="origin"))
        for s in plan.statistics
    ]
    return _table(("Class of events", "", "in a group and window", "known from"), rows)


def costs(plan: Plan) -> Markup:
    """What the plan costs, beside what other ways to plan would."""
    plan_costs = plan.costs
    if plan_costs.compared:
        return _compared(plan)
    values = [
        (f"{plan.optimizer}, in use", plan_costs.chosen),
        ("the published rules alone", plan_costs.published),
        ("greedy", plan_costs.greedy),
        ("nothing shared", plan_costs.none),
    ]
    shown = [(name, value) for name, value in values if value is not None]
    most = max(value for _, value in shown)
    rows: list[Sequence[str]] = [(name, _bar(value, most), plan_costs.shown(value)) for name, value in shown]
    said = f"{plan.optimizer} took {plan.milliseconds:.1f} ms."
    if plan_costs.bound is not None:
        said += (
            " No plan costs less."
            if plan_costs.is_proved
            else f" No plan costs less than {plan_costs.shown(plan_costs.bound)}."
        )
    model = "times as measured" if plan_costs.model == "measured" else "touches, as the paper counts"
    return element(
        "div",
        _table(("Optimizer", "", "in a group and window"), rows),
        element("p", f"{said} Costs are {model}.", class_="note"),
    )


def _compared(plan: Plan) -> Markup:
    """What each optimizer makes of the queries."""
    plan_costs = plan.costs
    most = max(row.cost for row in plan_costs.compared if row.cost is not None)
    rows: list[Sequence[str]] = []
    for row in plan_costs.compared:
        name = f"{row.optimizer}, in use" if row.optimizer == plan.optimizer else row.optimizer
        if row.cost is None or row.milliseconds is None:
            rows.append((name, "", TOO_MANY_PLANS, "", "", ""))
            continue
        of_none = plan_costs.of_nothing(row)
        alone = element("span", str(len(row.not_planned)), title="; ".join(map(_left_alone, row.not_planned)))
        bar = _bar(row.cost, most)
        took = f"{row.milliseconds:.1f} ms"
        rows.append((name, bar, plan_costs.shown(row.cost), of_none, took, alone if row.not_planned else ""))
    head = ("Optimizer", "", "in a group and window", "of sharing nothing", "planned in", "queries left alone")
    return _table(head, rows)


def _left_alone(apart: LeftAlone) -> str:
    return f"{', '.join(apart.names) or f'({apart.number})'}: {apart.why}"


def conditions(title: str, pairs: Iterable[tuple[str, str]]) -> Markup:
    """How the events are found that conditions name; ``title``: of the conditions."""
    return _table((title, "found by"), [(element("code", condition), how) for condition, how in pairs])


def trace(candidates: Sequence[Candidate], model: str, legend: Legend) -> Markup:
    """All candidates of the graph of the search, in the order in which rules found them."""
    to_get_here, to_the_end = (f"{where}, {unit(model)}" for where in ("to get here", "to the end"))
    head = ("Candidate", "on", "Q-sets", to_get_here, to_the_end, "after", "rule", "pruned by")
    return _table(head, [_candidate(row, legend) for row in candidates], [_kind(row) for row in candidates])


def _kind(row: Candidate) -> str:
    return "in-plan" if row.in_plan else "pruned" if row.pruned_by is not None else ""


def _candidate(row: Candidate, legend: Legend) -> Sequence[str]:
    together = [qset for qset in row.qsets if not qset.is_alone]
    alone = [qset.numbers[0] for qset in row.qsets if qset.is_alone]
    parts: list[str] = []
    for qset in together:
        parts += [
            element("span", *_with_sup(qset_label(qset)), class_=f"tag {colour(legend.number(qset.numbers))}"),
            " ",
        ]
    if alone:
        parts.append(f"{numbers_label(alone)} alone")
    return (
        row.name,
        ", ".join(f"{source} → {target}" for source, target in row.transitions),
        element("span", *parts),
        amount(row.cost),
        amount(row.to_end) if row.to_end else "",
        ", ".join(name for name, _ in row.before),
        row.rule,
        row.pruned_by or "",
    )


def _with_sup(label: str) -> tuple[str, ...]:
    name, hat, snapshot = label.partition("^")
    return (name, element("sup", snapshot)) if hat else (name,)


def _bar(value: float, most: float) -> Markup:
    width = _BAR * value / most if most else 0.0
    return element(
        "svg",
        element("rect", width=max(width, 1.0), height=10, rx=3),
        width=_BAR,
        height=10,
        class_="bar",
        aria_hidden="true",
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], kinds: Sequence[str] = ()) -> Markup:
    body = [
        element("tr", *(element("td", cell) for cell in row), class_=(kinds[at] or None) if kinds else None)
        for at, row in enumerate(rows)
    ]
    return element(
        "div",
        element(
            "table",
            element("thead", element("tr", *(element("th", name, scope="col") for name in head))),
            element("tbody", *body),
        ),
        class_="scroll",
    )
