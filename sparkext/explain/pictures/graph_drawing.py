"""The graph of a search as SVG: candidates in pools, edges with weights, and the path of the plan.

A pool is what is planned at once, a transition or a repeated part: its candidates are below each other in one frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from sparkext.explain.pictures.curves import curve
from sparkext.explain.pictures.drawing import drawing
from sparkext.explain.pictures.layered import LANE, Box, Layout, Link, Position, layered
from sparkext.explain.pictures.markup import Markup, element
from sparkext.explain.pictures.searched_graph import Candidate
from sparkext.explain.pictures.strands import ARROW, arrow
from sparkext.explain.pictures.texts import numbers_label, qset_label, shortened, text_width
from sparkext.planner.amounts import cost

MOST = 120
"""Candidates of the largest graph that is drawn."""

_PITCH = 15.0
"""Between the edges at a side of a candidate; on the right they have their weights."""
_LINE = 15.0
_TITLE = 20.0
_APART = 10.0
_INSIDE = 12.0
_LONGEST = 36
"""Most characters of a line."""


def graph_svg(candidates: Sequence[Candidate], model: str) -> Markup:
    """The drawing of a graph, as a part of a page.

    Args:
        candidates: In order of generation.
        model: The cost model, whose unit weights have.
    """
    pools = _pools(candidates, model)
    of = {node.candidate.name: (at, node) for at, pool in enumerate(pools) for node in pool.nodes}
    edges = [
        _Edge(of[name][0], of[name][1], at, node, weight, cost(weight, model).removesuffix(" touches"))
        for at, pool in enumerate(pools)
        for node in pool.nodes
        for name, weight in node.candidate.before
        if name in of
    ]
    for edge in edges:
        edge.source.outgoing.append(edge)
        edge.target.incoming.append(edge)
    bundles: dict[tuple[int, int], list[_Edge]] = {}
    for edge in edges:
        bundles.setdefault((edge.from_pool, edge.to_pool), []).append(edge)
    layout = layered(
        [pool.box() for pool in pools],
        [Link(source, target, len(bundle)) for (source, target), bundle in bundles.items()],
    )
    for pool, position in zip(pools, layout.boxes, strict=True):
        pool.place(position)
    drawn = [_frame(pool, position) for pool, position in zip(pools, layout.boxes, strict=True)]
    paths = [
        _edge(edge, layout, at, index, len(bundle))
        for at, bundle in enumerate(bundles.values())
        for index, edge in enumerate(sorted(bundle, key=lambda edge: edge.source.y))
    ]
    boxes = [_node(node, position) for pool, position in zip(pools, layout.boxes, strict=True) for node in pool.nodes]
    about = f"Graph of the search: {len(candidates)} candidates in {len(pools)} pools, {len(edges)} edges"
    # The path of the plan is drawn last, over the others.
    in_order = sorted(paths, key=lambda path: "in-plan" in path)
    return drawing([*drawn, *in_order, *boxes], (layout.width, layout.height), "searched", about)


@dataclass(eq=False)
class _Node:
    """A candidate to be drawn.

    Attributes:
        candidate: The candidate.
        lines: What is written in it.
        about: What it says when the pointer is over it.
        incoming: Edges to it.
        outgoing: Edges from it.
        y: Its middle, once it has a place.
    """

    candidate: Candidate
    lines: tuple[str, str]
    about: str
    incoming: list[_Edge]
    outgoing: list[_Edge]
    y: float = 0.0

    @property
    def height(self) -> float:
        ends = max(len(self.incoming), len(self.outgoing))
        return max(len(self.lines) * _LINE + 10, ends * _PITCH + 4)

    def port(self, edge: _Edge, edges: Sequence[_Edge], of_other: str) -> float:
        """Where an edge is at one of its sides: what comes from above, or goes there, is above."""
        ordered = sorted(edges, key=lambda one: (getattr(one, of_other).y, one.weight))
        return self.y + (ordered.index(edge) - (len(ordered) - 1) / 2) * _PITCH


@dataclass(eq=False)
class _Edge:
    """An edge between two candidates, with the numbers of their pools."""

    from_pool: int
    source: _Node
    to_pool: int
    target: _Node
    weight: float
    label: str

    @property
    def is_in_plan(self) -> bool:
        return self.source.candidate.in_plan and self.target.candidate.in_plan


@dataclass(eq=False)
class _Pool:
    """Candidates for the same transitions."""

    title: str
    nodes: tuple[_Node, ...]

    @cached_property
    def height(self) -> float:
        return _TITLE + sum(node.height for node in self.nodes) + _APART * (len(self.nodes) - 1) + _INSIDE

    def box(self) -> Box:
        names = [text_width(node.lines[0], 13, bold=True) for node in self.nodes]
        notes = [text_width(line, 10.5) for line in (self.title, *(node.lines[1] for node in self.nodes))]
        width = max(names + notes) + 40
        labels = [text_width(edge.label, 10.5) for node in self.nodes for edge in node.outgoing]
        return Box(width, self.height / 2, self.height / 2, max(labels, default=0.0) + (22 if labels else 0))

    def place(self, position: Position) -> None:
        """Give each candidate its place."""
        top = position.y - self.height / 2 + _TITLE
        for node in self.nodes:
            node.y = top + node.height / 2
            top += node.height + _APART


def _pools(candidates: Sequence[Candidate], model: str) -> list[_Pool]:
    by_transitions: dict[tuple[tuple[str, str], ...], list[_Node]] = {}
    for candidate in candidates:
        lines = f"{candidate.name}  {shortened(_qsets(candidate), _LONGEST)}", _costs(candidate, model)
        node = _Node(candidate, lines, _about(candidate, model), [], [])
        by_transitions.setdefault(candidate.transitions, []).append(node)
    return [_Pool(shortened(_on(on), _LONGEST + 10), tuple(nodes)) for on, nodes in by_transitions.items()]


def _on(transitions: Sequence[tuple[str, str]]) -> str:
    arrows = ", ".join(f"{source} → {target}" for source, target in transitions)
    return arrows if len(transitions) == 1 else f"around {arrows}"


def _qsets(candidate: Candidate) -> str:
    alone = [qset.numbers[0] for qset in candidate.qsets if qset.is_alone]
    together = [qset_label(qset) for qset in candidate.qsets if not qset.is_alone]
    return ", ".join([*together, *([f"{numbers_label(alone)} alone"] if alone else [])])


def _costs(candidate: Candidate, model: str) -> str:
    to_end = f", {cost(candidate.to_end, model)} to the end" if candidate.to_end else ""
    return f"{cost(candidate.cost, model)} to get here{to_end}"


def _about(candidate: Candidate, model: str) -> str:
    said = [
        f"{candidate.name}: {_on(candidate.transitions)}",
        ", ".join(map(str, candidate.qsets)),
        _costs(candidate, model),
        f"rule: {candidate.rule}",
    ]
    if candidate.in_plan:
        said.append("the plan divides the queries like this")
    if candidate.pruned_by is not None:
        said.append(f"pruned, as {candidate.pruned_by} is better")
    return "\n".join(said)


def _frame(pool: _Pool, position: Position) -> Markup:
    width, top = position.right - position.left, position.y - pool.height / 2
    return element(
        "g",
        element("rect", x=position.left, y=top, width=width, height=pool.height, rx=10, class_="frame"),
        element("text", pool.title, x=position.left + _INSIDE, y=top + 14, class_="note"),
        class_="pool",
    )


def _node(node: _Node, position: Position) -> Markup:
    left, width = position.left + 8, position.right - position.left - 16
    top = node.y - node.height / 2
    first = node.y - len(node.lines) * _LINE / 2 + 11
    kind = " in-plan" if node.candidate.in_plan else " pruned" if node.candidate.pruned_by is not None else ""
    return element(
        "g",
        element("title", node.about),
        element("rect", x=left, y=top, width=width, height=node.height, rx=7, class_="box"),
        *(
            element("text", line, x=left + 10, y=first + number * _LINE, class_="note" if number else "name")
            for number, line in enumerate(node.lines)
        ),
        class_=f"candidate{kind}",
    )


def _edge(edge: _Edge, layout: Layout, link: int, index: int, of: int) -> Markup:
    """An edge, which is the ``index``-th ``of`` those between its pools."""
    left, right = layout.boxes[edge.from_pool], layout.boxes[edge.to_pool]
    begin = edge.source.port(edge, edge.source.outgoing, "target")
    end = edge.target.port(edge, edge.target.incoming, "source")
    out, into = left.right - 8, right.left + 8
    path = curve((out, begin), left.bend, layout.routes[link], (index - (of - 1) / 2) * LANE, (into - ARROW, end))
    kind = " in-plan" if edge.is_in_plan else " pruned" if edge.target.candidate.pruned_by is not None else ""
    return element(
        "g",
        element("title", f"{edge.source.candidate.name} → {edge.target.candidate.name}: weight {edge.label}"),
        element("path", d=path),
        arrow(into, end, (1, 0)),
        element("text", edge.label, x=left.right + 6, y=begin - 3, class_="weight"),
        class_=f"edge{kind}",
    )
