"""The passes that turn a pattern into the automaton that a template is made of.

In order (``PASSES``): positions of the pattern (Glushkov), subset construction, and merging of states
with equal futures (Moore). Where a trend leaves out no event, `free_steps` comes after the first. What comes
out is split by the variable that enters a state, so that each state stands for one event, and is
unambiguous: a labelled word is accepted by at most one run, hence each trend is counted once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from sparkext.planner.automata.automaton import MAX_TRANSITIONS, Automaton, AutomatonTooLargeError
from sparkext.planner.automata.determinise import determinise
from sparkext.planner.automata.free_steps import free_steps
from sparkext.planner.automata.merging import merge_equal_futures
from sparkext.planner.automata.positions import positions
from sparkext.planner.patterns.pattern import Pattern, negations

PASSES: tuple[Callable[[Automaton], Automaton], ...] = (determinise, merge_equal_futures)


@lru_cache(maxsize=4096)
def automaton_of(pattern: Pattern, contiguous: bool = False) -> Automaton:
    """The unambiguous automaton of ``pattern``, its states in order of discovery from the starts.

    Args:
        pattern: The pattern.
        contiguous: Whether there is nothing between two neighbours of a trend, so that no guard of a step is broken.

    Raises:
        AutomatonTooLargeError: Some pass needs more than `MAX_STATES` states, or the result has more than
            `MAX_TRANSITIONS` transitions.
        TooManyGuardsError: A step depends on too many negations.
    """
    result = positions(pattern)
    for rewrite in (free_steps, *PASSES) if contiguous else PASSES:
        result = rewrite(result)
    if sum(map(len, result.follows)) > MAX_TRANSITIONS:
        raise AutomatonTooLargeError(f"{MAX_TRANSITIONS:,} transitions")
    return replace(result, guards=tuple(automaton_of(negated) for negated in negations(pattern)))
