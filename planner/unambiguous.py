"""The passes that turn a pattern into the automaton that a template is made of.

In order (``PASSES``): positions of the pattern (Glushkov), subset construction, and merging of states
with equal futures (Moore). What comes out is split by the variable that enters a state, so that each
state stands for one event, and is unambiguous: a labelled word is accepted by at most one run, hence
each trend is counted once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from planner.automaton import Automaton
from planner.determinise import determinise
from planner.merging import merge_equal_futures
from planner.pattern import Pattern, negations
from planner.positions import positions

PASSES: tuple[Callable[[Automaton], Automaton], ...] = (determinise, merge_equal_futures)


@lru_cache(maxsize=4096)
def automaton(pattern: Pattern) -> Automaton:
    """The unambiguous automaton of ``pattern``, its states in order of discovery from the starts.

    Raises:
        AutomatonTooLargeError: Some pass needs more than `MAX_STATES` states.
        TooManyGuardsError: A step depends on too many negations.
    """
    result = positions(pattern)
    for rewrite in PASSES:
        result = rewrite(result)
    return replace(result, guards=tuple(automaton(negated) for negated in negations(pattern)))
