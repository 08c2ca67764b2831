"""Plots as SVG: lines over logarithmic axes, and bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log, log10

COLORS = ("#1f6feb", "#d97706", "#15803d", "#b91c1c", "#7c3aed", "#0e7490", "#525252")
_WIDTH, _LEFT, _RIGHT, _BOTTOM, _TOP = 760, 70, 210, 50, 34


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines over two logarithmic axes.

    Attributes:
        title: What is drawn upwards, with its unit.
        across: What is drawn to the right.
        series: By name, points from left to right. Names that begin alike up to a comma have one colour.
    """

    title: str
    across: str
    series: Mapping[str, Sequence[Sequence[float]]]

    def svg(self) -> str:
        """The picture."""
        height = 400
        points = [point for line in self.series.values() for point in line]
        xs = sorted({point[0] for point in points})
        low = 10.0 ** floor(log10(min(point[1] for point in points)))
        high = max(10.0 ** ceil(log10(max(point[1] for point in points))), 10 * low)
        right, foot = _WIDTH - _RIGHT, height - _BOTTOM

        def x(value: float) -> float:
            return _LEFT + (right - _LEFT) * _log(value, xs[0], xs[-1])

        def y(value: float) -> float:
            return foot - (foot - _TOP) * _log(value, low, high)

        parts = _begin(height, self.title)
        parts.append(
            f'<text x="{(_LEFT + right) / 2}" y="{height - 10}" text-anchor="middle">{escape(self.across)}</text>'
        )
        for value in xs:
            parts.append(f'<text x="{x(value):.1f}" y="{foot + 18}" text-anchor="middle">{value:,.12g}</text>')
        grid = low
        while grid <= high * 1.001:
            parts.append(f'<line x1="{_LEFT}" x2="{right}" y1="{y(grid):.1f}" y2="{y(grid):.1f}" stroke="#ddd"/>')
            parts.append(f'<text x="{_LEFT - 8}" y="{y(grid) + 4:.1f}" text-anchor="end">{grid:,.12g}</text>')
            grid *= 10
        firsts = list(dict.fromkeys(name.split(",")[0] for name in self.series))
        labels = _apart({name: y(line[-1][1]) + 4 for name, line in self.series.items()})
        drawn: dict[str, int] = {}
        for name, line in self.series.items():
            first = name.split(",")[0]
            color = COLORS[firsts.index(first) % len(COLORS)]
            dash = ("", "6 4", "2 3")[drawn.get(first, 0) % 3]
            drawn[first] = drawn.get(first, 0) + 1
            path = " ".join(f"{x(point[0]):.1f},{y(point[1]):.1f}" for point in line)
            style = f'fill="none" stroke="{color}" stroke-width="2" stroke-dasharray="{dash}"'
            parts.append(f'<polyline points="{path}" {style}/>')
            parts += (f'<circle cx="{x(p[0]):.1f}" cy="{y(p[1]):.1f}" r="2.5" fill="{color}"/>' for p in line)
            where = f'x="{x(line[-1][0]) + 8:.1f}" y="{labels[name]:.1f}"'
            parts.append(f'<text {where} fill="{color}">{escape(name)}</text>')
        return "\n".join([*parts, "</svg>"]) + "\n"


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars from the left, one below the other.

    Attributes:
        title: What is drawn, with its unit.
        bars: Label and length of each.
        ours: Labels of bars that are marked.
    """

    title: str
    bars: Sequence[Sequence[float | str]]
    ours: Sequence[str] = ()

    def svg(self) -> str:
        """The picture."""
        step, left = 24, 300
        height = _TOP + step * len(self.bars) + 12
        longest = max(float(length) for _, length in self.bars) or 1.0
        parts = _begin(height, self.title)
        for position, (label, length) in enumerate(self.bars):
            y = _TOP + step * position
            width = max(1.0, (_WIDTH - left - 80) * float(length) / longest)
            color = COLORS[0] if label in self.ours else "#9ca3af"
            parts.append(
                f'<text x="{left - 8}" y="{y + 14}" text-anchor="end">{escape(str(label).replace("`", ""))}</text>'
            )
            parts.append(f'<rect x="{left}" y="{y}" width="{width:.1f}" height="{step - 6}" fill="{color}"/>')
            parts.append(f'<text x="{left + width + 6:.1f}" y="{y + 14}">{float(length):,.3g}</text>')
        return "\n".join([*parts, "</svg>"]) + "\n"


def _begin(height: float, title: str) -> list[str]:
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" '
        'font-size="12">',
        f'<rect width="{_WIDTH}" height="{height}" fill="white"/>',
        f'<text x="{_LEFT}" y="18" font-weight="bold">{escape(title)}</text>',
    ]


def _log(value: float, low: float, high: float) -> float:
    return log(value / low) / log(high / low) if high > low else 0.5


def _apart(positions: dict[str, float]) -> dict[str, float]:
    """Heights of labels, moved down where they would be on top of each other."""
    moved: dict[str, float] = {}
    last = float("-inf")
    for name, y in sorted(positions.items(), key=lambda item: item[1]):
        last = max(y, last + 14)
        moved[name] = last
    return moved
