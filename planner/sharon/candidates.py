"""Candidates: contiguous parts of chains, each with all the queries that have it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from sparkext.planner.bits import bits, lowest, members
from sparkext.planner.problem.labels import ALONE, Labels
from sparkext.planner.problem.problem import Problem

MOST_LOOKS = 100_000
"""Most parts of chains that are looked at; where there are more, only the shorter ones are."""

MOST_CANDIDATES = 1_000
"""Most candidates. Of more, those come first that no further step is common to, and of these the longest."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sharable pattern with its queries.

    Attributes:
        states: Of the template, two or more; snapshots are taken at the first.
        transitions: Between them, by number.
        queries: Ascending.
    """

    states: tuple[int, ...]
    transitions: tuple[int, ...]
    queries: tuple[int, ...]


def candidates(problem: Problem, chains: Mapping[int, tuple[int, ...]], part: float = 1.0) -> list[Candidate]:
    """All candidates, or as many as may be looked at; in order of their first query and their position in it.

    A state occurs once in a chain, so the queries of a part are those that have all of its transitions, and a part
    is found once if it is taken from the first of its queries.

    Args:
        problem: The workload.
        chains: By query, its states.
        part: Of the budget, after which no more are looked for.
    """
    number_of = {(t.source, t.target): number for number, t in enumerate(problem.transitions)}
    holders = [bits(query for query in queries if query in chains) for queries in problem.plain]
    looks = MOST_LOOKS // max(1, len(chains))
    whole_or_part: list[tuple[bool, Candidate]] = []
    for query, states in chains.items():
        steps = [number_of[step] for step in pairwise(states)]
        longest = max(1, looks // max(1, len(steps)))
        for begin in range(len(steps)):
            if problem.budget.is_spent(part):
                break
            for end, queries in _longer(steps, holders, begin, begin + longest):
                if lowest(queries) == query:
                    is_whole = not _goes_on(steps, holders, begin, end, queries)
                    transitions = tuple(steps[begin:end])
                    whole_or_part.append((is_whole, Candidate(states[begin : end + 1], transitions, members(queries))))
    if len(whole_or_part) > MOST_CANDIDATES:
        order = sorted(
            range(len(whole_or_part)), key=lambda n: (not whole_or_part[n][0], -len(whole_or_part[n][1].transitions), n)
        )
        whole_or_part = [whole_or_part[index] for index in order[:MOST_CANDIDATES]]
    return [candidate for _, candidate in whole_or_part]


def shared_by(problem: Problem, chains: Mapping[int, tuple[int, ...]], labels: Sequence[Labels]) -> list[Candidate]:
    """What chains share with these labels: each pattern once, with the queries that share all of it.

    That may be a single query where others begin in the same way and share more, or less.
    """
    sharing: dict[tuple[int, ...], list[int]] = {}
    for query, states in chains.items():
        steps = [number for state in states[:-1] for number in problem.departures[query][state]]
        for snapshot, run in groupby(steps, key=labels[query].__getitem__):
            if snapshot is not ALONE:
                sharing.setdefault(tuple(run), []).append(query)
    return [
        Candidate(
            (problem.transitions[numbers[0]].source, *(problem.transitions[number].target for number in numbers)),
            numbers,
            tuple(sorted(queries)),
        )
        for numbers, queries in sharing.items()
    ]


def _longer(steps: list[int], holders: list[int], begin: int, most: int) -> Iterator[tuple[int, int]]:
    """Longer and longer parts that two queries or more have: where each ends, and its queries as bits."""
    queries = -1
    for end in range(begin + 1, min(most, len(steps)) + 1):
        queries &= holders[steps[end - 1]]
        if not queries & (queries - 1):
            return
        yield end, queries


def _goes_on(steps: list[int], holders: list[int], begin: int, end: int, queries: int) -> bool:
    """Whether all queries of a part have a step more in common, before or behind it."""
    before = begin > 0 and holders[steps[begin - 1]] & queries == queries
    return before or (end < len(steps) and holders[steps[end]] & queries == queries)
