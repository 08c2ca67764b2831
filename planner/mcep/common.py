"""Common sub-patterns: events that two patterns have in the same order, with others in between or not."""

from __future__ import annotations

from sparkext.planner.mcep.partial_matches import Kinds

MOST = 1000
"""Most common sub-patterns of two patterns; of others there is no word."""


def common(left: Kinds, right: Kinds) -> tuple[tuple[int, int], ...]:
    """The common sub-patterns of two patterns, but for the empty one: each as the positions in either, as bits.

    They are all subsets of the maximal ones. Of those with equal classes, the first is taken.
    """
    positions_of: dict[Kinds, tuple[int, int]] = {}
    todo: list[tuple[Kinds, int, int, int, int]] = [((), 0, 0, 0, 0)]
    while todo and len(positions_of) < MOST:
        kinds, left_positions, right_positions, begin, other_begin = todo.pop()
        for position in range(begin, len(left)):
            kind = left[position]
            if kind not in right[other_begin:] or (*kinds, kind) in positions_of:
                continue
            at = right.index(kind, other_begin)
            masks = left_positions | 1 << position, right_positions | 1 << at
            positions_of[(*kinds, kind)] = masks
            todo.append(((*kinds, kind), *masks, position + 1, at + 1))
    return tuple(positions_of.values())
