"""Texts in pictures: how wide they are about, how they are shortened, and how queries are listed."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from sparkext.explain.report import Costs, Pass, QSet, numbered
from sparkext.planner.amounts import part
from sparkext.planner.sharing.sharing_plan import BURST_NAME

_NARROW = frozenset("fijlrtI.,:;'|!()[]{} -")
_BROAD = frozenset("mwMW@%")
MOST_NUMBERS = 6
"""Most queries that a label lists by number."""
MOST_NAMES = 12


def text_width(text: str, size: float, mono: bool = False, bold: bool = False) -> float:
    """Width of a text in pixels, rather too much than too little, since fonts differ."""
    units = 0.0
    for sign in text:
        if unicodedata.east_asian_width(sign) in "WF":
            units += 1.05
        elif mono:
            units += 0.62
        elif sign in _NARROW:
            units += 0.38
        elif sign in _BROAD:
            units += 0.95
        else:
            units += 0.72 if sign.isupper() else 0.62
    return units * size * (1.14 if bold else 1.0)


def shortened(text: str, most: int) -> str:
    """A text of at most so many characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def qset_label(qset: QSet) -> str:
    """A Q-set as the paper writes it, or how many queries it has: ``(1,2)^A``, ``25 queries^A``."""
    hat = "" if qset.snapshot is None else f"^{shortened(qset.snapshot, 14)}"
    if len(qset.numbers) <= MOST_NUMBERS:
        return numbered(qset.numbers) + hat
    return f"{len(qset.numbers)} queries{hat}"


def numbers_label(numbers: Sequence[int]) -> str:
    """Queries by number, or how many there are."""
    return ", ".join(map(str, numbers)) if len(numbers) <= MOST_NUMBERS else f"{len(numbers)} queries"


def listed(source_pass: Pass, numbers: Sequence[int]) -> str:
    """Queries by number and name."""
    shown = ", ".join(f"({number}) {shortened(source_pass.name_of(number), 40)}" for number in numbers[:MOST_NAMES])
    more = len(numbers) - MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


def priced(costs: Costs, value: float) -> str:
    """A cost with its unit, and its part of the whole."""
    of_plan = f", {part(value, costs.chosen)} the plan" if costs.chosen > 0 else ""
    return f"{costs.shown(value)} in a group and window{of_plan}"


def how(qset: QSet) -> str:
    """How the queries of a Q-set go together."""
    if qset.snapshot == BURST_NAME:
        return "one linear form over snapshots taken when a burst begins"
    if qset.snapshot is not None:
        return f"one linear form over snapshots taken at {qset.snapshot}"
    return "alone" if len(qset.numbers) == 1 else "equal totals, counted once"
