"""Common sub-patterns: events that two patterns have in the same order, with others in between or not."""

from __future__ import annotations

from sparkext.planner.mcep.partial_matches import Kinds

MOST = 1000
"""Most common sub-patterns of two patterns; of others there is no word."""


def common(one: Kinds, other: Kinds) -> tuple[tuple[int, int], ...]:
    """The common sub-patterns of two patterns, but for the empty one: each as the positions in either, as bits.

    They are all subsets of the maximal ones. Of those with equal classes, the first is taken.
    """
    found: dict[Kinds, tuple[int, int]] = {}
    todo: list[tuple[Kinds, int, int, int, int]] = [((), 0, 0, 0, 0)]
    while todo and len(found) < MOST:
        kinds, mine, others, begin, other_begin = todo.pop()
        for position in range(begin, len(one)):
            kind = one[position]
            if kind not in other[other_begin:] or (*kinds, kind) in found:
                continue
            at = other.index(kind, other_begin)
            masks = mine | 1 << position, others | 1 << at
            found[(*kinds, kind)] = masks
            todo.append(((*kinds, kind), *masks, position + 1, at + 1))
    return tuple(found.values())
