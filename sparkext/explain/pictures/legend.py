"""The Q-sets of a plan with the numbers and colours that they have in its pictures."""

from __future__ import annotations

from dataclasses import dataclass

from sparkext.explain.pictures.theme import PALETTE
from sparkext.explain.report import Plan, QSet


@dataclass(frozen=True, slots=True)
class Entry:
    """Queries that share on some transitions.

    Attributes:
        number: In the legend, from 0.
        numbers: Of the queries.
        snapshots: States at which snapshots are taken for them, in order of use.
        transitions: On which they share.
        cost: Of these.
    """

    number: int
    numbers: tuple[int, ...]
    snapshots: tuple[str, ...]
    transitions: int
    cost: float


class Legend:
    """Q-sets by their queries, in order of their first transition."""

    def __init__(self, plan: Plan) -> None:
        by_numbers: dict[tuple[int, ...], list[QSet]] = {}
        for transition in plan.transitions:
            for qset in transition.qsets:
                if not qset.is_alone:
                    by_numbers.setdefault(qset.numbers, []).append(qset)
        self.entries = tuple(
            Entry(
                number,
                numbers,
                tuple(dict.fromkeys(qset.snapshot for qset in qsets if qset.snapshot is not None)),
                len(qsets),
                sum(qset.cost for qset in qsets),
            )
            for number, (numbers, qsets) in enumerate(by_numbers.items())
        )
        self._numbers = {entry.numbers: entry.number for entry in self.entries}

    def number(self, numbers: tuple[int, ...]) -> int | None:
        """Number of the Q-set with these queries; None for one that shares nowhere in the plan."""
        return self._numbers.get(numbers)


def colour(number: int | None) -> str:
    """The class of an element in the colour of a Q-set."""
    return "alone" if number is None else f"c{number % len(PALETTE)}"
