"""Strands: what goes over a transition is drawn as one line per Q-set, and one for all queries that go alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sparkext.explain.pictures.legend import Legend, colour
from sparkext.explain.pictures.markup import Markup, element
from sparkext.explain.pictures.texts import MOST_NUMBERS, how, listed, numbers_label, priced, qset_label, text_width
from sparkext.explain.report import Pass, Plan, QSet, Transition

PILL = 15.0
"""Height of a label."""
ARROW = 7.0


@dataclass(frozen=True, slots=True)
class Strand:
    """A line of a transition: of one Q-set, or of all queries that go alone.

    Attributes:
        qsets: One, or all of a transition that go alone.
        set_number: Of the Q-set in the legend; None for queries that go alone.
        label: What is written on it.
        title: What it says when the pointer is over it.
        snapshot_here: Whether snapshots are taken where it begins.
    """

    qsets: tuple[QSet, ...]
    set_number: int | None
    label: str
    title: str
    snapshot_here: bool

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of its queries."""
        return tuple(sorted(number for qset in self.qsets for number in qset.numbers))

    @property
    def label_width(self) -> float:
        """Width of the label with its border."""
        return text_width(self.label, 10.5, bold=True) + 10


def strands(source_pass: Pass, plan: Plan, transition: Transition, legend: Legend) -> tuple[Strand, ...]:
    """The strands of a transition, in the order of the legend."""
    source, target = plan.states[transition.source].name, plan.states[transition.target].name
    heading = f"{source} → {target}"
    in_order = []
    for qset in sorted(
        (qset for qset in transition.qsets if not qset.is_alone), key=lambda qset: legend.number(qset.numbers) or 0
    ):
        lines = [heading, listed(source_pass, qset.numbers), how(qset), *_guard(qset), priced(plan.costs, qset.cost)]
        starts_here = qset.snapshot == source
        in_order.append(Strand((qset,), legend.number(qset.numbers), qset_label(qset), "\n".join(lines), starts_here))
    alone = tuple(qset for qset in transition.qsets if qset.is_alone)
    if alone:
        numbers = [qset.numbers[0] for qset in alone]
        total = sum(qset.cost for qset in alone)
        said = "alone" if len(alone) == 1 else "each alone"
        lines = [heading, listed(source_pass, numbers), said]
        lines += dict.fromkeys(line for qset in alone for line in _guard(qset))
        lines.append(priced(plan.costs, total))
        label = numbers_label(numbers) if len(alone) <= MOST_NUMBERS else f"{len(alone)} alone"
        in_order.append(Strand(alone, None, label, "\n".join(lines), False))
    return tuple(in_order)


def _guard(qset: QSet) -> Sequence[str]:
    return [] if qset.guard is None else [f"while {qset.guard}"]


def drawn(strand: Strand, path: str, parts: Sequence[Markup]) -> Markup:
    """A strand with its arrow, label and mark."""
    kind = " snapshots" if any(qset.snapshot is not None for qset in strand.qsets) else ""
    set_class = "" if strand.set_number is None else f" s{strand.set_number}"
    return element(
        "g",
        element("title", strand.title),
        element("path", d=path, class_="hit"),
        element("path", d=path),
        *parts,
        class_=f"strand {colour(strand.set_number)}{set_class}{kind}",
        data_set=None if strand.set_number is None else str(strand.set_number),
        data_queries=" ".join(map(str, strand.numbers)),
    )


def label(strand: Strand, left: float, y: float) -> Markup:
    """The label, with its border's left end."""
    width = strand.label_width
    return element(
        "g",
        element("rect", x=left, y=y - PILL / 2, width=width, height=PILL, rx=PILL / 2, class_="pill"),
        element("text", *with_hat(strand.label), x=left + width / 2, y=y + 3.7, class_="label"),
    )


def with_hat(text: str) -> tuple[str, ...]:
    """The label of a Q-set, with its snapshots raised."""
    name, hat, snapshot = text.partition("^")
    return (name, element("tspan", snapshot, dy="-2.4", font_size="8")) if hat else (name,)


def arrow(x: float, y: float, direction: tuple[int, int]) -> Markup:
    """A head with its tip at a point; the direction is a unit vector along an axis."""
    right, down = direction
    back_x, back_y = x - ARROW * right, y - ARROW * down
    points = [(x, y), (back_x + 4 * down, back_y + 4 * right), (back_x - 4 * down, back_y - 4 * right)]
    return element("polygon", points=" ".join(f"{px:.1f},{py:.1f}" for px, py in points))


def diamond(x: float, y: float) -> Markup:
    """The mark where snapshots are taken."""
    points = [(x - 6, y), (x, y - 6), (x + 6, y), (x, y + 6)]
    return element("polygon", points=" ".join(f"{px:.1f},{py:.1f}" for px, py in points), class_="diamond")
