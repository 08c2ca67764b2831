"""The GLORIA graph of a pass as SVG: which ways to share were looked at, what was pruned, what was taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sparkext.pictures.curves import curve
from sparkext.pictures.document import Candidate, Pass, Plan, QSet
from sparkext.pictures.drawing import drawing
from sparkext.pictures.layered import LANE, Box, Link, Place, layered
from sparkext.pictures.legend import Legend, colour
from sparkext.pictures.markup import Markup, element, number
from sparkext.pictures.strands import with_hat
from sparkext.pictures.texts import MOST_NUMBERS, how, listed, numbers_label, qset_label, shortened, text_width
from sparkext.words import amount

ROW, HEAD = 22.0, 20.0
MOST_ROWS = 8
"""Most candidates that are drawn of each group of transitions."""
MOST_CHIPS = 3
"""Most Q-sets that are drawn of a candidate."""
MOST_LANES = 8
"""Most lines next to each other past a card."""
LONGEST = 34


@dataclass(frozen=True, slots=True)
class _Chip:
    text: str
    width: float
    style: str


@dataclass(frozen=True, slots=True)
class _Card:
    """The candidates for some transitions.

    Attributes:
        title: The transitions.
        full_title: The same, however long.
        rows: Candidates that are drawn.
        chips: Of each of them.
        hidden: How many others there are.
    """

    title: str
    full_title: str
    rows: tuple[Candidate, ...]
    chips: tuple[tuple[_Chip, ...], ...]
    hidden: int

    def height(self) -> float:
        return HEAD * (2 if self.title else 1) + ROW * len(self.rows) + (HEAD if self.hidden else 0)

    def width(self) -> float:
        rows = (
            _name_width(row) + sum(chip.width + 5 for chip in chips) + text_width(amount(row.cost), 10.5) + 34
            for row, chips in zip(self.rows, self.chips, strict=True)
        )
        return max(text_width(self.title, 11, bold=True) + 24, *rows)

    def row_y(self, place: int) -> float:
        """Middle of a row below the top."""
        return HEAD + 8 + ROW * place + ROW / 2


def _name_width(row: Candidate) -> float:
    return text_width(row.name, 10.5, mono=True) + 18


def trace_svg(one: Pass, plan: Plan, legend: Legend, is_alone: bool = True) -> Markup:
    """The drawing, with cards from left to right in the order of planning.

    Args:
        one: The pass.
        plan: Its plan.
        legend: Numbers and colours of the Q-sets.
        is_alone: Whether it is a picture by itself, with its colours in it.
    """
    cards = _cards(plan, legend)
    at = {row.name: (number_of, place) for number_of, card in enumerate(cards) for place, row in enumerate(card.rows)}
    followed: dict[tuple[int, int], list[_Edge]] = {}
    for target, place in at.values():
        row = cards[target].rows[place]
        for before, weight in row.before:
            if before in at:
                source, above = at[before]
                edge = _Edge(cards[source].rows[above], row, above, place, weight)
                followed.setdefault((source, target), []).append(edge)
    boxes = [Box(card.width(), card.height() / 2, card.height() / 2) for card in cards]
    layout = layered(boxes, [Link(*pair, min(len(edges), MOST_LANES)) for pair, edges in followed.items()])
    lines: list[Markup] = []
    for (source, target), edges, stops in zip(followed, followed.values(), layout.routes, strict=True):
        left, right = layout.boxes[source], layout.boxes[target]
        for lane, edge in enumerate(edges):
            begin = left.right, left.y - cards[source].height() / 2 + cards[source].row_y(edge.above)
            end = right.left, right.y - cards[target].height() / 2 + cards[target].row_y(edge.place)
            aside = (lane - (len(edges) - 1) / 2) * LANE * min(1, MOST_LANES / len(edges))
            lines.append(_line(plan, edge, curve(begin, left.bend, stops, aside, end)))
    drawn = [_card(one, plan, card, place) for card, place in zip(cards, layout.boxes, strict=True)]
    about = f"GLORIA graph of {one.name}: {len(plan.candidates)} candidates"
    sets = len(legend.entries) if is_alone else None
    return drawing([*lines, *drawn], (layout.width, layout.height), "trace", about, sets=sets)


@dataclass(frozen=True, slots=True)
class _Edge:
    """From a candidate to one that may follow it, by their rows, with what that costs."""

    source: Candidate
    target: Candidate
    above: int
    place: int
    weight: float


def _line(plan: Plan, edge: _Edge, path: str) -> Markup:
    ends = edge.source, edge.target
    pruned = any(end.pruned_by is not None and not end.in_plan for end in ends)
    kind = " in-plan" if all(end.in_plan for end in ends) else " pruned" if pruned else ""
    said = f"{edge.source.name}, then {edge.target.name}: {amount(edge.weight)} {plan.costs.unit}"
    return element("path", element("title", said), d=path, class_=f"edge{kind}")


def _cards(plan: Plan, legend: Legend) -> list[_Card]:
    groups: dict[tuple[tuple[str, str], ...], list[Candidate]] = {}
    for candidate in plan.candidates:
        groups.setdefault(candidate.transitions, []).append(candidate)
    cards = []
    for transitions, rows in groups.items():
        ranked = sorted(rows, key=lambda row: (not row.in_plan, row.pruned_by is not None))[:MOST_ROWS]
        shown = tuple(row for row in rows if row in ranked)
        title = ", ".join(f"{source} → {target}" for source, target in transitions)
        chips = tuple(_chips(row.qsets, legend) for row in shown)
        cards.append(_Card(shortened(title, LONGEST), title, shown, chips, len(rows) - len(shown)))
    return cards


def _chips(qsets: Sequence[QSet], legend: Legend) -> tuple[_Chip, ...]:
    together = [qset for qset in qsets if not qset.is_alone]
    alone = [qset.numbers[0] for qset in qsets if qset.is_alone]
    texts = [(qset_label(qset), colour(legend.number(qset.numbers))) for qset in together[:MOST_CHIPS]]
    if len(together) > MOST_CHIPS:
        texts.append((f"{len(together) - MOST_CHIPS} more", "alone"))
    if alone:
        texts.append((f"{numbers_label(alone)} alone" if len(alone) <= MOST_NUMBERS else f"{len(alone)} alone", "none"))
    return tuple(_Chip(text, text_width(text, 10, bold=style != "none") + 8, style) for text, style in texts)


def _card(one: Pass, plan: Plan, card: _Card, box: Place) -> Markup:
    left, right = box.left, box.right
    top, width = box.y - card.height() / 2, right - left
    parts = [
        element("title", card.full_title),
        element("rect", x=left, y=top, width=width, height=card.height(), rx=8, class_="box"),
        element("text", card.title, x=left + 11, y=top + 18, class_="head"),
    ]
    for place, (row, chips) in enumerate(zip(card.rows, card.chips, strict=True)):
        parts.append(_row(one, plan, row, chips, left, right, top + card.row_y(place)))
    if card.hidden:
        y = top + card.row_y(len(card.rows)) + 1
        parts.append(element("text", f"and {card.hidden} more, see the table", x=left + 11, y=y, class_="note"))
    return element("g", *parts, class_="card")


def _row(one: Pass, plan: Plan, row: Candidate, chips: Sequence[_Chip], left: float, right: float, y: float) -> Markup:
    kind = " in-plan" if row.in_plan else " pruned" if row.pruned_by is not None else ""
    parts = [
        element("title", _title(one, plan, row)),
        element("rect", x=left + 4, y=y - ROW / 2 + 1, width=right - left - 8, height=ROW - 2, rx=5, class_="row"),
        element("text", row.name, x=left + 11, y=y + 3.6, class_="code"),
    ]
    x = left + _name_width(row)
    for chip in chips:
        if chip.style == "none":
            parts.append(element("text", chip.text, x=x + 4, y=y + 3.6, class_="note"))
        else:
            parts.append(
                element(
                    "g",
                    element("rect", x=x, y=y - 7, width=chip.width, height=14, rx=7, class_="chip"),
                    element("text", *with_hat(chip.text), x=x + chip.width / 2, y=y + 3.4, class_="label"),
                    class_=chip.style,
                )
            )
        x += chip.width + 5
    parts.append(element("text", amount(row.cost), x=right - 11, y=y + 3.6, class_="note cost"))
    if row.pruned_by is not None and not row.in_plan:
        parts.append(element("path", d=f"M{number(left + 9)} {number(y)}H{number(right - 9)}", class_="strike"))
    return element("g", *parts, class_=f"candidate{kind}", data_node=row.name)


def _title(one: Pass, plan: Plan, row: Candidate) -> str:
    unit = plan.costs.unit
    lines = [f"{row.name}, found by the rule '{row.rule}'"]
    lines += [f"{listed(one, qset.numbers)}: {how(qset)}" for qset in row.qsets[:12]]
    if len(row.qsets) > 12:
        lines.append(f"and {len(row.qsets) - 12} Q-sets more")
    lines.append(
        f"{amount(row.cost)} {unit} to get here" + (f", {amount(row.to_end)} to the end" if row.to_end else "")
    )
    if row.pruned_by is not None:
        lines.append(f"pruned: {row.pruned_by} is better")
    if row.in_plan:
        lines.append(
            "the plan shares like this"
            + ("" if row.pruned_by is None else ", as the search beyond the rules has found")
        )
    return "\n".join(lines)
