"""Labels of loops that are shared by bursts: they say which events end the bursts.

A Q-set's bursts are ended by the events of all states from which any of its queries comes to the loop. How often its
forms are evaluated depends on that, so a label names these states, and may be given to any query that comes from some
of them: what a query has to pay for then depends on its own labels alone. Labels are negative numbers; a plan has
`sparkext.planner.sharing.sharing_plan.BURST` in place of any of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from sparkext.planner.sharing.loops import Loop

MOST_GROUPS = 4
"""Most groups of queries that come to a loop from different states, all sets of which have a label."""

MOST_LABELS = 16
"""Most labels of a loop, when there are more groups."""


class Bursts:
    """Labels of the loops of a workload.

    Where queries come to a loop from few different sets of states, there is a label for every union of these sets.
    Else, sets are sorted by how many events there are of their states, and there is one for the first, the first two,
    and so on.

    Attributes:
        are_all: Whether there is a label for every union.
    """

    def __init__(self, loops: Sequence[Sequence[Loop]], events: Sequence[float]) -> None:
        """Label the loops.

        Args:
            loops: Per query.
            events: Per state, how many are expected.
        """
        self._numbers: dict[frozenset[int], int] = {}
        self._endings: list[frozenset[int]] = []
        self.are_all = True
        groups: dict[tuple[int, ...], dict[frozenset[int], None]] = {}
        for query_loops in loops:
            for loop in query_loops:
                groups.setdefault(loop.inside, {})[loop.before] = None
        self._of: dict[tuple[int, ...], list[int]] = {}
        for shape, sets in groups.items():
            ordered = sorted(sets, key=lambda states: (sum(events[state] for state in states), sorted(states)))
            self._of[shape] = [self.label(union) for union in self._unions(ordered)]

    def label(self, ending: frozenset[int]) -> int:
        """The label of bursts that are ended by events of these states."""
        if ending not in self._numbers:
            self._numbers[ending] = -2 - len(self._endings)
            self._endings.append(ending)
        return self._numbers[ending]

    def label_of(self, loops: Iterable[Loop]) -> int:
        """The label of a Q-set, from the loops of its queries."""
        return self.label(frozenset().union(*(loop.before for loop in loops)))

    def ending(self, label: int) -> frozenset[int]:
        """The states whose events end the bursts of a label."""
        return self._endings[-2 - label]

    def labels(self, loop: Loop) -> list[int]:
        """The labels that the transitions of a query's loop may have, all the same."""
        return [label for label in self._of[loop.inside] if loop.before <= self.ending(label)]

    def _unions(self, sets: Sequence[frozenset[int]]) -> Iterable[frozenset[int]]:
        if len(sets) <= MOST_GROUPS:
            chosen = (some for size in range(1, len(sets) + 1) for some in combinations(sets, size))
            return dict.fromkeys(frozenset().union(*some) for some in chosen)
        self.are_all = False
        step = len(sets) / MOST_LABELS
        sizes = dict.fromkeys(max(1, round(step * number)) for number in range(1, MOST_LABELS + 1))
        return dict.fromkeys(frozenset().union(*sets[:size]) for size in sizes)


def is_burst(label: int | None) -> bool:
    """Whether a label is one of a loop that is shared by bursts."""
    return label is not None and label < 0
