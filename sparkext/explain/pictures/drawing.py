"""The frame of a drawing."""

from __future__ import annotations

from collections.abc import Iterable

from sparkext.explain.pictures.markup import Markup, element, number
from sparkext.explain.pictures.theme import style

MARGIN = 14.0


def drawing(
    parts: Iterable[Markup],
    size: tuple[float, float],
    kind: str,
    about: str,
    left: float = 0.0,
    sets: int | None = None,
) -> Markup:
    """A drawing with a margin.

    Args:
        parts: What is drawn.
        size: Width and height of that.
        kind: Its class.
        about: What it shows.
        left: Room wanted at its left.
        sets: Number of Q-sets of a picture by itself, with its colours in it; None for one in a page that has them.
    """
    width, height = size[0] + left + 2 * MARGIN, size[1] + 2 * MARGIN
    paper: tuple[Markup, ...] = ()
    if sets is not None:
        sheet = element("style", Markup(style(sets)))
        paper = (sheet, element("rect", width=width, height=height, rx=8, class_="paper"))
    return element(
        "svg",
        *paper,
        element("g", *parts, transform=f"translate({number(MARGIN + left)} {number(MARGIN)})"),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {number(width)} {number(height)}",
        width=width,
        height=height,
        class_=kind if sets is None else f"sparkext {kind}",
        role="img",
        aria_label=about,
    )
