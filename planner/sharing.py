"""The workload sharing plan: which queries share which transitions, and through which snapshots."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class QSet:
    """Queries (by number in the pool) that share a transition.

    Attributes:
        queries: Ascending. A single one shares with nobody.
        snapshot: State of the template at whose events snapshots are taken. None where there are
            none: for a single query, and where the queries' totals are equal anyway.
    """

    queries: tuple[int, ...]
    snapshot: int | None


@dataclass(frozen=True, slots=True)
class TransitionPlan:
    """How the queries of one transition of the template are divided into Q-sets."""

    source: int
    target: int
    qsets: tuple[QSet, ...]


@dataclass(frozen=True, slots=True)
class SharingPlan:
    """One transition plan per transition of the template, in its order.

    Attributes:
        optimizer: What made the plan.
        transitions: The choices.
    """

    optimizer: str
    transitions: tuple[TransitionPlan, ...]
