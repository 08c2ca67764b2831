"""What the SHARON paper has and the planner does in another way, to be compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

from sparkext.planner.sharon.candidates import Candidate


def bvalue(rates: Mapping[int, float], pattern: Sequence[int], queries: Sequence[Sequence[int]]) -> float:
    """Updates of counts per window that are saved by sharing a pattern (Equations 2 to 8 of the paper).

    An empty prefix or suffix, of which the paper says nothing, computes nothing and is a factor of 1.

    Args:
        rates: Per state, its events per window.
        pattern: Contiguous in each query.
        queries: The states of each query one after another.
    """

    def rate(states: Sequence[int]) -> float:
        return sum([rates[state] for state in states])

    def counting(states: Sequence[int]) -> float:
        """Updates for a sequence by itself: of each of its events, for every event that starts it."""
        return rates[states[0]] * rate(states) if states else 0.0

    shared = counting(pattern)
    for states in queries:
        begin = states.index(pattern[0])
        around = [part for part in (states[:begin], states[begin + len(pattern) :]) if part]
        combining = rates[pattern[0]] if around else 0.0
        for part in around:
            shared += counting(part)
            combining *= rates[part[0]]
        shared += combining
    return sum([counting(states) for states in queries]) - shared


def options(candidates: Sequence[Candidate], index: int) -> list[tuple[int, ...]]:
    """The queries with which a candidate may be shared when its conflicts are resolved by dropping some.

    For another candidate with which it is in conflict, it drops all queries in which it is, or a part of them if the
    other can drop the rest and keep two. From what is left of it that goes on; an option has two queries or more.

    Args:
        candidates: All.
        index: Of the candidate among them.
    """
    candidate = candidates[index]
    clashes: list[tuple[frozenset[int], int]] = []
    for other_index, rival in enumerate(candidates):
        common = frozenset(candidate.queries) & frozenset(rival.queries)
        if other_index != index and common and not set(candidate.states).isdisjoint(rival.states):
            clashes.append((common, len(rival.queries)))
    options_found = [frozenset(candidate.queries)]
    for queries in options_found:
        for causes, in_conflict in clashes:
            here = sorted(causes & queries)
            for size in range(1, len(here) + 1):
                # What this one keeps of them, the other one has to drop.
                if size < len(here) and in_conflict - (len(here) - size) < 2:
                    continue
                for dropped in combinations(here, size):
                    left = queries - set(dropped)
                    if len(left) > 1 and left not in options_found:
                        options_found.append(left)
    return [tuple(sorted(queries)) for queries in options_found]
