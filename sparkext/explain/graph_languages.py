"""``EXPLAIN SHARING DOT`` and ``MERMAID``: the templates as pictures, with a colour for each Q-set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sparkext.explain.report import PassReport, report
from sparkext.planner.sharing.sharing_plan import QSet, TransitionPlan, numbers, qset_text
from sparkext.workload.trend_query import TrendQuery

_COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#e377c2", "#bcbd22")
_ALONE = "#888888"


def explain_dot(queries: Sequence[TrendQuery], only: str | None = None) -> str:
    """A graph for Graphviz: one cluster per pass, an edge per Q-set, bold where snapshots are taken."""
    lines = ["digraph sharing {", "  rankdir=LR;", '  node [shape=box, style=rounded, fontname="Helvetica"];']
    lines += ['  edge [fontname="Helvetica"];', "  compound=true;"]
    for number, (name, one) in enumerate(_passes(queries, only)):
        lines.append(f"  subgraph cluster_{number} {{")
        lines.append(f"    label={_quoted(name)};")
        snapshots = _snapshots(one)
        for state in one.states():
            label = _quoted(_state(one, state))
            shape = ", peripheries=2" if any(q in one.shown for q in one.run.template.ends[state]) else ""
            shape += ", penwidth=3" if state in snapshots else ""
            lines.append(f"    p{number}_{state} [label={label}{shape}];")
        for transition, qset, colour in _edges(one):
            ends = f"p{number}_{transition.source} -> p{number}_{transition.target}"
            label = _quoted(qset_text(one.run.template, qset))
            lines.append(f"    {ends} [label={label}, color={_quoted(colour)}{_width(qset)}];")
        lines.append("  }")
    return "\n".join([*lines, "}"])


def explain_mermaid(queries: Sequence[TrendQuery], only: str | None = None) -> str:
    """A flowchart for Mermaid: one subgraph per pass, an edge per Q-set, thick where queries share."""
    lines = ["flowchart LR"]
    styles: list[str] = []
    for number, (name, one) in enumerate(_passes(queries, only)):
        lines.append(f'  subgraph p{number}["{_escaped(name)}"]')
        for state in one.states():
            lines.append(f'    p{number}_{state}(["{_escaped(_state(one, state))}"])')
        for transition, qset, colour in _edges(one):
            arrow = "-->" if qset.snapshot is None else "==>"
            label = _escaped(qset_text(one.run.template, qset))
            lines.append(f'    p{number}_{transition.source} {arrow}|"{label}"| p{number}_{transition.target}')
            styles.append(f"  linkStyle {len(styles)} stroke:{colour}")
        lines.append("  end")
    return "\n".join([*lines, *styles])


def _passes(queries: Sequence[TrendQuery], only: str | None) -> Iterator[tuple[str, PassReport]]:
    for pool in report(queries, only):
        for number, one in enumerate(pool.passes, 1):
            names = [", ".join(one.names[query]) or f"query {query + 1}" for query in one.shown]
            legend = "; ".join(f"({query + 1}) {name}" for query, name in zip(one.shown, names, strict=True))
            title = pool.name if len(pool.passes) == 1 else f"{pool.name}, pass {number}"
            yield f"{title}: {legend}", one


def _edges(one: PassReport) -> Iterator[tuple[TransitionPlan, QSet, str]]:
    colours: dict[tuple[int, ...], str] = {}
    for transition in one.transitions():
        for qset in transition.qsets:
            alone = qset.snapshot is None and len(qset.queries) == 1
            colour = _ALONE if alone else colours.setdefault(qset.queries, _COLOURS[len(colours) % len(_COLOURS)])
            yield transition, qset, colour


def _state(one: PassReport, state: int) -> str:
    template = one.run.template
    text = str(template.states[state])
    starting = [query for query in template.starts[state] if query in one.shown]
    return f"{numbers(starting)} {text}" if starting else text


def _snapshots(one: PassReport) -> set[int]:
    return {q.snapshot for transition in one.transitions() for q in transition.qsets if q.snapshot is not None}


def _width(qset: QSet) -> str:
    return "" if qset.snapshot is None else ", penwidth=2"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _escaped(text: str) -> str:
    return text.replace("&", "#amp;").replace('"', "#quot;").replace("<", "#lt;").replace(">", "#gt;")
