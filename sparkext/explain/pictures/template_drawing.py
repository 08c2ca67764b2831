"""The template of a pass as SVG: its states as boxes, what goes over its transitions as strands."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sparkext.explain.pictures.curves import curve
from sparkext.explain.pictures.drawing import drawing
from sparkext.explain.pictures.layered import LANE, Box, Layout, Link, Position, layered
from sparkext.explain.pictures.legend import Legend
from sparkext.explain.pictures.markup import Markup, element, number
from sparkext.explain.pictures.onward import onward
from sparkext.explain.pictures.ranking import backward
from sparkext.explain.pictures.strands import ARROW, Strand, arrow, diamond, drawn, label, strands
from sparkext.explain.pictures.texts import listed, numbers_label, priced, shortened, text_width
from sparkext.explain.report import Pass, Plan, Statistic, TemplateState
from sparkext.planner.amounts import amount

STUB = 26.0
"""Length of the line by which trends come in."""
RIGHT_PITCH, LEFT_PITCH = 19.0, 12.0
"""Between strands at the sides of a state; on the right they have labels."""
LOOP = 20.0
"""Between strands from a state to itself."""
LONGEST = 30
"""Most characters of a line."""

_STATE = re.compile(r"(?P<name>[^\[]*)(\[(?P<condition>.*)\])?(?P<use>#\d+)?", re.DOTALL)
_SIZES = {"name": 13.0, "code": 10.5, "note": 10.5}
_HEIGHTS = {"name": 17.0, "code": 14.0, "note": 14.0}


def template_svg(source_pass: Pass, plan: Plan, legend: Legend, is_alone: bool = True) -> Markup:
    """The drawing of a template.

    Args:
        source_pass: The pass.
        plan: Its plan.
        legend: Numbers and colours of the Q-sets.
        is_alone: Whether it is a picture by itself, with its colours in it.
    """
    bundles = _bundles(source_pass, plan, legend)
    shapes = _shapes(plan, bundles)
    layout = layered([shape.box() for shape in shapes], [bundle.link() for bundle in bundles.ways])
    ports = _Ports(shapes, bundles.ways, layout)
    ways = [
        _way(bundle, index, strand, layout, ports, at)
        for at, bundle in enumerate(bundles.ways)
        for index, strand in enumerate(bundle.strands)
    ]
    states = [
        _state(source_pass, plan, shape, position, ports.starts[at])
        for at, (shape, position) in enumerate(zip(shapes, layout.boxes, strict=True))
    ]
    about = f"Template of {source_pass.name}: {len(plan.states)} states, {len(plan.transitions)} transitions"
    sets = len(legend.entries) if is_alone else None
    return drawing([*states, *ways], (layout.width, layout.height), "template", about, STUB, sets)


@dataclass(frozen=True, slots=True)
class _Way:
    """The strands between two states, of which ``left`` is drawn further left, against their way if backward."""

    left: int
    right: int
    is_backward: bool
    strands: tuple[Strand, ...]

    def link(self) -> Link:
        return Link(self.left, self.right, len(self.strands))


@dataclass(frozen=True, slots=True)
class _Bundles:
    """All strands: between states, and per state those to itself."""

    ways: tuple[_Way, ...]
    loops: Mapping[int, tuple[Strand, ...]]


def _bundles(source_pass: Pass, plan: Plan, legend: Legend) -> _Bundles:
    ways: list[_Way] = []
    loops: dict[int, tuple[Strand, ...]] = {}
    closing = backward(
        len(plan.states),
        [(t.source, t.target) for t in plan.transitions],
        onward(plan),
    )
    for transition, is_backward in zip(plan.transitions, closing, strict=True):
        bundle = strands(source_pass, plan, transition, legend)
        source, target = transition.source, transition.target
        if source == target:
            loops[source] = bundle
        else:
            left, right = (target, source) if is_backward else (source, target)
            ways.append(_Way(left, right, is_backward, bundle))
    return _Bundles(tuple(ways), loops)


@dataclass(frozen=True, slots=True)
class _Shape:
    """A state to be drawn.

    Attributes:
        state: The state.
        statistic: Of its events.
        lines: What is written in it: class and text.
        loops: Strands to itself.
        at_left: Number of strands there, with the one of starting trends.
        at_right: Number of strands there.
        lead: Width of the labels there.
    """

    state: TemplateState
    statistic: Statistic | None
    lines: tuple[tuple[str, str], ...]
    loops: tuple[Strand, ...]
    at_left: int
    at_right: int
    lead: float

    def height(self) -> float:
        written = 16 + sum(_HEIGHTS[kind] for kind, _ in self.lines)
        return max(written, self.at_right * RIGHT_PITCH + 6, self.at_left * LEFT_PITCH + 10)

    def loop_halves(self) -> list[float]:
        """Half the width of each loop, from the inner to the outer."""
        halves: list[float] = []
        for strand in self.loops:
            halves.append(max(strand.label_width / 2 + 12, halves[-1] + 9 if halves else 0))
        return halves

    def box(self) -> Box:
        written = max(
            text_width(text, _SIZES[kind], mono=kind == "code", bold=kind == "name") for kind, text in self.lines
        )
        width = max(written + 26, 2 * max(self.loop_halves(), default=0) + 22, 70)
        loops = len(self.loops) * LOOP + 10 if self.loops else 0
        return Box(width, self.height() / 2 + loops, self.height() / 2, self.lead)


def _shapes(plan: Plan, bundles: _Bundles) -> list[_Shape]:
    expected = {statistic.event: statistic for statistic in plan.statistics}
    shapes = []
    for at, state in enumerate(plan.states):
        right = [way for way in bundles.ways if way.left == at]
        left = [way for way in bundles.ways if way.right == at]
        shapes.append(
            _Shape(
                state,
                expected.get(state.event),
                tuple(_lines(state, expected.get(state.event))),
                bundles.loops.get(at, ()),
                sum(len(way.strands) for way in left) + bool(state.starts),
                sum(len(way.strands) for way in right),
                max((strand.label_width + 24 for way in right for strand in way.strands), default=0),
            )
        )
    return shapes


def _lines(state: TemplateState, statistic: Statistic | None) -> list[tuple[str, str]]:
    parts = _STATE.fullmatch(state.name)
    name, condition = (
        (state.name, None) if parts is None else (parts["name"] + (parts["use"] or ""), parts["condition"])
    )
    lines = [("name", shortened(name, LONGEST))] if name else []
    if condition:
        lines.append(("code", shortened(" ".join(condition.split()), LONGEST)))
    if statistic is not None:
        lines.append(("note", _events(statistic.events)))
    if state.starts:
        lines.append(("note", f"starts {numbers_label(state.starts)}"))
    if state.ends:
        lines.append(("note", f"ends {numbers_label(state.ends)}"))
    return lines


def _events(number_of: float) -> str:
    return "1 event" if number_of == 1 else f"{amount(number_of)} events"


class _Ports:
    """Where at the sides of the states each strand is; what goes up is above what goes down.

    Attributes:
        left: By way and strand, at the left side of the right state.
        right: By way and strand, at the right side of the left state.
        starts: Per state, where trends start; None where none do.
    """

    def __init__(self, shapes: Sequence[_Shape], ways: Sequence[_Way], layout: Layout) -> None:
        self.left: dict[tuple[int, int], float] = {}
        self.right: dict[tuple[int, int], float] = {}
        self.starts: list[float | None] = []
        for state, (shape, box) in enumerate(zip(shapes, layout.boxes, strict=True)):
            right, left = [], []
            for at, way in enumerate(ways):
                stops = [layout.boxes[way.left], *layout.routes[at], layout.boxes[way.right]]
                for index in range(len(way.strands)):
                    if way.left == state:
                        right.append((stops[1].y, at, index))
                    elif way.right == state:
                        left.append((stops[-2].y, at, index))
            if shape.state.starts:
                left.append((box.y, -1, -1))
            for of_box, ends, pitch in ((right, self.right, RIGHT_PITCH), (left, self.left, LEFT_PITCH)):
                for number_there, (_, at, index) in enumerate(sorted(of_box)):
                    ends[at, index] = box.y + (number_there - (len(of_box) - 1) / 2) * pitch
            self.starts.append(self.left.pop((-1, -1), None))


def _way(way: _Way, index: int, strand: Strand, layout: Layout, ports: _Ports, at: int) -> Markup:
    """A strand from state to state."""
    left, right = layout.boxes[way.left], layout.boxes[way.right]
    begin, end = ports.right[at, index], ports.left[at, index]
    path = curve(
        (left.right + (ARROW if way.is_backward else 0), begin),
        left.bend,
        layout.routes[at],
        (index - (len(way.strands) - 1) / 2) * LANE,
        (right.left - (0 if way.is_backward else ARROW), end),
    )
    tip = arrow(left.right, begin, (-1, 0)) if way.is_backward else arrow(right.left, end, (1, 0))
    parts = [tip, label(strand, left.right + 16, begin)]
    if strand.snapshot_here:
        parts.append(diamond(right.left, end) if way.is_backward else diamond(left.right, begin))
    return drawn(strand, path, parts)


def _state(source_pass: Pass, plan: Plan, shape: _Shape, position: Position, start: float | None) -> Markup:
    """A state with its loops, and the line by which trends start."""
    state, width, height = shape.state, position.right - position.left, shape.height()
    top = position.y - height / 2
    parts = [element("rect", x=position.left, y=top, width=width, height=height, rx=9, class_="box")]
    if state.ends:
        inner = {"x": position.left + 3, "y": top + 3, "width": width - 6, "height": height - 6}
        parts.append(element("rect", **inner, rx=6.5, class_="ring"))
    y = position.y - sum(_HEIGHTS[kind] for kind, _ in shape.lines) / 2
    for kind, text in shape.lines:
        y += _HEIGHTS[kind]
        parts.append(element("text", text, x=position.left + 13, y=y - 4, class_=kind))
    if start is not None:
        x = position.left - STUB + 4
        line = f"M{number(x)} {number(start)}H{number(position.left - ARROW)}"
        parts += [
            element("circle", cx=x, cy=start, r=4, class_="start"),
            element("path", d=line, class_="stub"),
            element("g", arrow(position.left, start, (1, 0)), class_="start"),
        ]
    loops = [
        _loop(strand, half, (position.left + position.right) / 2, top, top - 14 - level * LOOP)
        for level, (strand, half) in enumerate(zip(shape.loops, shape.loop_halves(), strict=True))
    ]
    numbers = dict.fromkeys((*state.starts, *state.ends))
    described = element("g", element("title", _title(source_pass, plan, shape)), *parts, class_="state")
    return element("g", described, *loops[::-1], data_queries=" ".join(map(str, numbers)))


def _loop(strand: Strand, half: float, x: float, bottom: float, top: float) -> Markup:
    """A strand from a state to itself, above it, from right to left."""
    right, left, r = x + half, x - half, 8
    path = (
        f"M{number(right)} {number(bottom)}V{number(top + r)}Q{number(right)} {number(top)} {number(right - r)} "
        f"{number(top)}H{number(left + r)}Q{number(left)} {number(top)} {number(left)} {number(top + r)}"
        f"V{number(bottom - ARROW)}"
    )
    parts = [arrow(left, bottom, (0, 1)), label(strand, x - strand.label_width / 2, top)]
    return drawn(strand, path, [*parts, diamond(right, bottom)] if strand.snapshot_here else parts)


def _title(source_pass: Pass, plan: Plan, shape: _Shape) -> str:
    state, lines = shape.state, [shape.state.name]
    if shape.statistic is not None:
        lines.append(f"{_events(shape.statistic.events)} in a group and window ({shape.statistic.origin})")
    for said, numbers in (("start here", state.starts), ("end here", state.ends)):
        if numbers:
            lines.append(f"{said}: {listed(source_pass, numbers)}")
    lines.append(f"starts, and values out of forms: {priced(plan.costs, state.cost)}")
    return "\n".join(lines)
