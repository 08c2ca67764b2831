"""A layered drawing of a graph: from left to right, with room for several strands on each link.

The same graph always gives the same drawing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from sparkext.explain.pictures.heights import heights
from sparkext.explain.pictures.ordering import ordered
from sparkext.explain.pictures.ranking import parts, ranks

GAP = 26.0
"""Between boxes above each other."""
BEND = 46.0
"""Least width in which links change their height."""
STEEPEST = 0.3
"""Width of a bend by the height that it covers; up to `WIDEST`."""
WIDEST = 150.0
LANE = 6.0
"""Height of a strand on its way past a layer."""


@dataclass(frozen=True, slots=True)
class Box:
    """A node of a graph, with the room that it takes.

    Attributes:
        width: At least.
        above: How far it reaches above its middle.
        below: And below.
        lead: How far links go straight on after it.
    """

    width: float
    above: float
    below: float
    lead: float = 0.0


@dataclass(frozen=True, slots=True)
class Link:
    """A link from a node to one further right, with a number of strands."""

    source: int
    target: int
    strands: int = 1


@dataclass(frozen=True, slots=True)
class Position:
    """Where a node is, or a link passes a layer: from ``left`` to ``right``, with its middle at ``y``.

    What leaves it goes straight on to ``bend``.
    """

    left: float
    right: float
    bend: float
    y: float


@dataclass(frozen=True, slots=True)
class Layout:
    """A drawing: where each node is, and which way each link goes.

    Attributes:
        width: Of all.
        height: Of all.
        boxes: Where the nodes are.
        routes: Per link, the layers that it passes on its way, from left to right.
    """

    width: float
    height: float
    boxes: tuple[Position, ...]
    routes: tuple[tuple[Position, ...], ...]


def layered(boxes: Sequence[Box], links: Sequence[Link]) -> Layout:
    """The drawing of a graph; parts that are not linked with each other are below each other.

    Args:
        boxes: The nodes.
        links: Without cycles; see `sparkext.explain.pictures.ranking.backward`.
    """
    placed: dict[int, Position] = {}
    routes: dict[int, tuple[Position, ...]] = {}
    width = top = 0.0
    for part in parts(len(boxes), [(link.source, link.target) for link in links]):
        number = {node: at for at, node in enumerate(part)}
        inner_links = [at for at, link in enumerate(links) if link.source in number]
        inside = [Link(number[links[at].source], number[links[at].target], links[at].strands) for at in inner_links]
        drawn = _part([boxes[node] for node in part], inside)
        placed |= {node: _moved(position, top) for node, position in zip(part, drawn.boxes, strict=True)}
        for at, route in zip(inner_links, drawn.routes, strict=True):
            routes[at] = tuple(_moved(stop, top) for stop in route)
        width, top = max(width, drawn.width), top + drawn.height + GAP
    return Layout(
        width,
        max(top - GAP, 0.0),
        tuple(placed[node] for node in range(len(boxes))),
        tuple(routes[at] for at in range(len(links))),
    )


def _moved(position: Position, down: float) -> Position:
    return Position(position.left, position.right, position.bend, position.y + down)


def _part(boxes: Sequence[Box], links: Sequence[Link]) -> Layout:
    rank = ranks(len(boxes), [(link.source, link.target) for link in links])
    layers: list[list[int]] = [[] for _ in range(max(rank) + 1)]
    for node, number in enumerate(rank):
        layers[number].append(node)
    sizes = [(box.above, box.below) for box in boxes]
    steps: dict[tuple[int, int], float] = {}
    chains: list[list[int]] = []
    for link in links:
        chain: list[int] = []
        for number in range(rank[link.source] + 1, rank[link.target]):
            chain.append(len(sizes))
            layers[number].append(len(sizes))
            sizes.append((link.strands * LANE / 2, link.strands * LANE / 2))
        chains.append(chain)
        for source, target in pairwise([link.source, *chain, link.target]):
            inner = (source >= len(boxes)) + (target >= len(boxes))
            steps[source, target] = steps.get((source, target), 0.0) + (1.0, 2.0, 8.0)[inner]
    layers = ordered(layers, list(steps))
    at = heights(layers, sizes, steps, GAP)
    columns = _columns(boxes, layers, steps, at)

    def position(node: int) -> Position:
        left, right, bend = columns[layer_of[node]]
        return Position(left, right, bend, at[node])

    layer_of = {node: number for number, layer in enumerate(layers) for node in layer}
    return Layout(
        columns[-1][2],
        max(at[node] + below for node, (_, below) in enumerate(sizes)),
        tuple(position(node) for node in range(len(boxes))),
        tuple(tuple(map(position, chain)) for chain in chains),
    )


def _columns(
    boxes: Sequence[Box], layers: Sequence[Sequence[int]], steps: dict[tuple[int, int], float], at: Sequence[float]
) -> list[tuple[float, float, float]]:
    """Per layer where its boxes begin and end, and where the links after it may bend."""
    steepest = [0.0] * len(layers)
    layer_of = {node: number for number, layer in enumerate(layers) for node in layer}
    for source, target in steps:
        number = layer_of[source]
        steepest[number] = max(steepest[number], abs(at[source] - at[target]))
    columns: list[tuple[float, float, float]] = []
    left = 0.0
    for layer, height in zip(layers, steepest, strict=True):
        in_layer = [boxes[node] for node in layer if node < len(boxes)]
        right = left + max((box.width for box in in_layer), default=0.0)
        bend = right + max((box.lead for box in in_layer), default=0.0)
        columns.append((left, right, bend))
        left = bend + min(max(BEND, STEEPEST * height), WIDEST)
    return columns
