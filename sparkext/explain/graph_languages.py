"""``EXPLAIN SHARING DOT`` and ``MERMAID``, from a report: templates as pictures, with a colour for each Q-set."""

from __future__ import annotations

from collections.abc import Iterator

from sparkext.explain.report import Plan, QSet, Report, TemplateState, numbered

_COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#e377c2", "#bcbd22")
_ALONE = "#888888"


def dot(report: Report) -> str:
    """A graph for Graphviz: one cluster per pass, an edge per Q-set, bold where snapshots are taken."""
    lines = ["digraph sharing {", "  rankdir=LR;", '  node [shape=box, style=rounded, fontname="Helvetica"];']
    lines += ['  edge [fontname="Helvetica"];', "  compound=true;"]
    for number, (name, plan) in enumerate(_passes(report)):
        lines.append(f"  subgraph cluster_{number} {{")
        lines.append(f"    label={_quoted(name)};")
        for state in plan.states:
            label = _quoted(_state(plan, state))
            shape = ", peripheries=2" if plan.shown(state.ends) else ""
            shape += ", penwidth=3" if state.has_snapshots else ""
            lines.append(f"    p{number}_{state.number} [label={label}{shape}];")
        for source, target, qset, colour in _edges(plan):
            ends, width = f"p{number}_{source} -> p{number}_{target}", "" if qset.snapshot is None else ", penwidth=2"
            lines.append(f"    {ends} [label={_quoted(str(qset))}, color={_quoted(colour)}{width}];")
        lines.append("  }")
    return "\n".join([*lines, "}"])


def mermaid(report: Report) -> str:
    """A flowchart for Mermaid: one subgraph per pass, an edge per Q-set, thick where queries share."""
    lines = ["flowchart LR"]
    styles: list[str] = []
    for number, (name, plan) in enumerate(_passes(report)):
        lines.append(f'  subgraph p{number}["{_escaped(name)}"]')
        for state in plan.states:
            lines.append(f'    p{number}_{state.number}(["{_escaped(_state(plan, state))}"])')
        for source, target, qset, colour in _edges(plan):
            arrow = "-->" if qset.snapshot is None else "==>"
            lines.append(f'    p{number}_{source} {arrow}|"{_escaped(str(qset))}"| p{number}_{target}')
            styles.append(f"  linkStyle {len(styles)} stroke:{colour}")
        lines.append("  end")
    return "\n".join([*lines, *styles])


def _passes(report: Report) -> Iterator[tuple[str, Plan]]:
    for source_pass, plan in report.passes():
        legend = (f"({member.number}) {', '.join(member.names) or f'query {member.number}'}" for member in plan.members)
        yield f"{source_pass.name}: {'; '.join(legend)}", plan


def _edges(plan: Plan) -> Iterator[tuple[int, int, QSet, str]]:
    """The Q-sets, each with the numbers of the states that it goes from and to, and its colour."""
    colours: dict[tuple[int, ...], str] = {}
    for transition in plan.transitions:
        source, target = plan.states[transition.source].number, plan.states[transition.target].number
        for qset in transition.qsets:
            new = _COLOURS[len(colours) % len(_COLOURS)]
            yield source, target, qset, _ALONE if qset.is_alone else colours.setdefault(qset.numbers, new)


def _state(plan: Plan, state: TemplateState) -> str:
    starting = plan.shown(state.starts)
    return f"{numbered(starting)} {state.name}" if starting else state.name


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _escaped(text: str) -> str:
    return text.replace("&", "#amp;").replace('"', "#quot;").replace("<", "#lt;").replace(">", "#gt;")
