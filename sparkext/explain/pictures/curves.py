"""Lines that run level past the layers of a drawing and bend between them."""

from __future__ import annotations

from collections.abc import Sequence

from sparkext.explain.pictures.layered import Position
from sparkext.explain.pictures.markup import number


def curve(
    begin: tuple[float, float], bend: float, stops: Sequence[Position], aside: float, end: tuple[float, float]
) -> str:
    """The path of a line, as SVG writes it.

    Args:
        begin: Where it begins.
        bend: As far as there it goes straight on.
        stops: Layers that it passes.
        aside: How far below their middles.
        end: Where it ends.
    """
    x, y = bend, begin[1]
    path = [f"M{number(begin[0])} {number(y)}H{number(x)}"]
    for stop in stops:
        path += [_bend(x, y, stop.left, stop.y + aside), f"H{number(stop.bend)}"]
        x, y = stop.bend, stop.y + aside
    return "".join([*path, _bend(x, y, *end)])


def _bend(x: float, y: float, to_x: float, to_y: float) -> str:
    middle = number((x + to_x) / 2)
    return f"C{middle} {number(y)} {middle} {number(to_y)} {number(to_x)} {number(to_y)}"
