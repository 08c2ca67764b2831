"""Guards: when a step may be taken, as a function of which forbidden trends have come in between.

A guard is the number of a negated pattern; it is intact as long as no trend of that pattern lies
within the step. A condition is a Boolean function of guards in one canonical form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

MAX_GUARDS = 8
"""Most guards that one condition may depend on."""


class TooManyGuardsError(Exception):
    """A step would depend on more than `MAX_GUARDS` guards. As text, that limit."""

    def __init__(self) -> None:
        super().__init__(f"{MAX_GUARDS} negations that one step depends on")


@dataclass(frozen=True, slots=True)
class Condition:
    """When a step may be taken.

    Attributes:
        guards: Those that matter, ascending.
        intact: The sets of intact guards, out of ``guards``, for which the step may be taken.
    """

    guards: tuple[int, ...]
    intact: frozenset[frozenset[int]]

    def holds(self, intact: frozenset[int]) -> bool:
        """Whether the step may be taken when exactly these guards, and maybe others, are intact."""
        return intact & frozenset(self.guards) in self.intact

    def text(self, names: Sequence[str]) -> str:
        """The condition in words; ``names`` are those of the guards, such as ``NOT N``."""
        if not self.guards:
            return "always" if self.intact else "never"
        terms = sorted(self.intact, key=sorted)
        return " or ".join(
            " and ".join(names[guard] if guard in term else f"not ({names[guard]})" for guard in self.guards)
            for term in terms
        )


ALWAYS = Condition((), frozenset((frozenset(),)))
NEVER = Condition((), frozenset())


def guard(number: int) -> Condition:
    """The condition that one guard is intact."""
    return Condition((number,), frozenset((frozenset((number,)),)))


def both(one: Condition, other: Condition) -> Condition:
    """The condition that both hold."""
    if one is other:
        return one
    if one == ALWAYS or other == NEVER:
        return other
    if other == ALWAYS or one == NEVER:
        return one
    return of({*one.guards, *other.guards}, lambda intact: one.holds(intact) and other.holds(intact))


def either(one: Condition, other: Condition) -> Condition:
    """The condition that at least one holds."""
    if one is other or other is NEVER:
        return one
    if one is NEVER:
        return other
    if one == ALWAYS or other == NEVER:
        return one
    if other == ALWAYS or one == NEVER:
        return other
    return of({*one.guards, *other.guards}, lambda intact: one.holds(intact) or other.holds(intact))


def of(guards: Iterable[int], holds: Callable[[frozenset[int]], bool]) -> Condition:
    """The condition that ``holds`` computes from the intact ones of ``guards``.

    Raises:
        TooManyGuardsError: There are more than `MAX_GUARDS`.
    """
    known = tuple(sorted(guards))
    if len(known) > MAX_GUARDS:
        raise TooManyGuardsError
    return _canonical(known, frozenset(intact for intact in assignments(known) if holds(intact)))


def assignments(guards: Iterable[int]) -> Iterator[frozenset[int]]:
    """All subsets of ``guards``: what may be intact."""
    known = sorted(guards)
    for size in range(len(known) + 1):
        yield from map(frozenset, combinations(known, size))


@lru_cache(maxsize=4096)
def _canonical(guards: tuple[int, ...], intact: frozenset[frozenset[int]]) -> Condition:
    """Without the guards that make no difference."""
    for one in guards:
        if {term - {one} for term in intact if one in term} == {term for term in intact if one not in term}:
            rest = tuple(guard for guard in guards if guard != one)
            return _canonical(rest, frozenset(term - {one} for term in intact))
    return Condition(guards, intact)
