"""Guards: when a step may be taken, as a function of which forbidden trends have come in between.

A guard is the number of a negated pattern; it is intact as long as no trend of that pattern lies
within the step. A condition is a Boolean function of guards in one canonical form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from operator import and_, or_

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


def both(left: Condition, right: Condition) -> Condition:
    """The condition that both hold."""
    return _combined(left, right, and_, neutral=ALWAYS, absorbing=NEVER)


def either(left: Condition, right: Condition) -> Condition:
    """The condition that at least one holds."""
    return _combined(left, right, or_, neutral=NEVER, absorbing=ALWAYS)


def _combined(
    left: Condition, right: Condition, combine: Callable[[bool, bool], bool], neutral: Condition, absorbing: Condition
) -> Condition:
    """The condition that holds where ``combine`` says so of whether each of two holds.

    Args:
        left: The one.
        right: The other.
        combine: Of two truth values.
        neutral: With it, the other is what comes out.
        absorbing: With it, it is itself what comes out.
    """
    if left is right or right is neutral:  # most of them, without a look at what they hold
        return left
    if left is neutral:
        return right
    if left == neutral or right == absorbing:
        return right
    if right == neutral or left == absorbing:
        return left
    return of({*left.guards, *right.guards}, lambda intact: combine(left.holds(intact), right.holds(intact)))


def of(guards: Iterable[int], holds: Callable[[frozenset[int]], bool]) -> Condition:
    """The condition that ``holds`` computes from the intact ones of ``guards``.

    Raises:
        TooManyGuardsError: There are more than `MAX_GUARDS`.
    """
    ascending = tuple(sorted(guards))
    if len(ascending) > MAX_GUARDS:
        raise TooManyGuardsError
    return _canonical(ascending, frozenset(intact for intact in assignments(ascending) if holds(intact)))


def assignments(guards: Iterable[int]) -> Iterator[frozenset[int]]:
    """All subsets of ``guards``: what may be intact."""
    ascending = sorted(guards)
    for size in range(len(ascending) + 1):
        yield from map(frozenset, combinations(ascending, size))


@lru_cache(maxsize=4096)
def _canonical(guards: tuple[int, ...], intact: frozenset[frozenset[int]]) -> Condition:
    """Without the guards that make no difference."""
    for candidate in guards:
        if {term - {candidate} for term in intact if candidate in term} == {
            term for term in intact if candidate not in term
        }:
            rest = tuple(guard for guard in guards if guard != candidate)
            return _canonical(rest, frozenset(term - {candidate} for term in intact))
    return Condition(guards, intact)
