"""A trend query over a relation whose columns are known."""

from __future__ import annotations

from dataclasses import dataclass, field

from pyspark.sql import DataFrame
from pyspark.sql.types import DataType

from planner.pattern import Pattern
from planner.query import Aggregate, EventClass, Query, Step, Window
from sparkext.event_time import TimeKind
from sparkext.expressions import EventExpression


@dataclass(frozen=True, slots=True)
class Computation:
    """What a pool computes for a query, whatever it is called and however its measures are written.

    A pool of many queries looks each up among all others, so the hash is computed once.
    """

    pattern: Pattern
    classes: tuple[tuple[str, EventClass], ...]
    aggregates: tuple[Aggregate, ...]
    window: Window | None
    steps: tuple[tuple[str, Step], ...]
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        parts = self.pattern, self.classes, self.aggregates, self.window, self.steps
        object.__setattr__(self, "_hash", hash(parts))

    def __hash__(self) -> int:
        return self._hash


@dataclass(frozen=True, slots=True)
class Key:
    """A PARTITION BY or GROUP BY expression: its text for Spark, its name in the result, its type."""

    canonical: str
    text: str
    name: str
    type: DataType


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure: an expression over result columns and aggregates.

    Attributes:
        name: Of the result column.
        expression: With `aggregate_name` of an index into the query's aggregates in place of each
            call, padded so that all else keeps its offset.
    """

    name: str
    expression: EventExpression


@dataclass(frozen=True, slots=True)
class BoundQuery:
    """A trend query with its names resolved and its types checked.

    Attributes:
        given: The relation before the clause.
        source: What is read: that relation, or the one that it is a part of.
        part: Which rows of `source` are in `given`, as SQL; None when all are. It is in all conditions.
        query: What the planner sees.
        groups: What results are grouped by.
        partitions: Further expressions on which the events of a trend agree.
        time: Text of the ORDER BY expression.
        time_canonical: Its canonical text.
        time_kind, time_type: Of that expression.
        expressions: Texts for Spark by canonical text: type, conditions, attributes.
        measures: In order.
        computation: What is computed for it.
    """

    given: DataFrame
    source: DataFrame
    part: str | None
    query: Query
    groups: tuple[Key, ...]
    partitions: tuple[Key, ...]
    time: str
    time_canonical: str
    time_kind: TimeKind
    time_type: DataType
    expressions: dict[str, str]
    measures: tuple[Measure, ...]
    computation: Computation = field(init=False)

    def __post_init__(self) -> None:
        query = self.query
        computation = Computation(query.pattern, query.classes, query.aggregates, query.window, query.steps)
        object.__setattr__(self, "computation", computation)

    @property
    def sorted_groups(self) -> tuple[Key, ...]:
        """`groups` in the order that a pool keeps them in."""
        return tuple(sorted(self.groups, key=_canonical))

    @property
    def sorted_partitions(self) -> tuple[Key, ...]:
        """`partitions` in the order that a pool keeps them in."""
        return tuple(sorted(self.partitions, key=_canonical))


def _canonical(key: Key) -> str:
    return key.canonical
