"""Random events for pools that are written by hand: of several keys, some at the same time, some without a value."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from sparkext.planner.patterns.query import Query
from tests.support.enumerator import Event


def random_events(random: Random, queries: Sequence[Query], most: int = 30) -> list[Event]:
    """5 to ``most`` events, with an attribute ``v``."""
    classes = {event_class for query in queries for _, event_class in query.classes}
    types = sorted({event_class.type for event_class in classes if event_class.type is not None})
    time, events = 0, []
    for _ in range(random.randint(5, most)):
        time += random.choice((0, 1, 1, 2))
        kind = random.choice(types)
        classes_of_type = frozenset(event_class for event_class in classes if event_class.type == kind)
        events.append(
            Event((), (random.choice((0, 0, 1)),), time, classes_of_type, {"v": random.choice((None, -2, 0, 1, 5))})
        )
    return events
