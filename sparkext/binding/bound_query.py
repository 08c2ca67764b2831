"""A trend query over a relation whose columns are known."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pyspark.sql.types import DataType

from sparkext.binding.event_time import TimeKind
from sparkext.binding.meaning import Meaning
from sparkext.binding.session_state import SessionState
from sparkext.jvm.analysed_frame import AnalysedFrame
from sparkext.jvm.analysis_context import is_built_in
from sparkext.planner.patterns.pattern import Pattern
from sparkext.planner.patterns.query import Aggregate, Completion, EventClass, Query, Selection, Step, Window
from sparkext.sql.event_expressions import EventExpression
from sparkext.sql.own_columns import aggregate_name, counted_name, shown_name

_CALL = re.compile(r"(\.\s*)?([^\W\d]\w*|`[^`]+`)\s*\(")
"""A name with a parenthesis after it, and the dot before it."""

_READS = re.compile(r"\b(select|table|from|values)\b", re.IGNORECASE)
"""Words of a subquery, some of which stand elsewhere, too."""

_OPERATORS = frozenset(("AND", "OR", "NOT", "IN", "IS", "LIKE", "WHEN", "THEN", "ELSE", "CASE", "BETWEEN", "INTERVAL"))
"""Words that may stand before a parenthesis and call nothing."""


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
    selection: Selection
    rows: EventClass
    span: int | None
    wait: int | None = None
    completion: Completion | None = None
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        parts = self.pattern, self.classes, self.aggregates, self.window, self.steps, self.selection, self.rows
        object.__setattr__(self, "_hash", hash((*parts, self.span, self.wait, self.completion)))

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


@dataclass(frozen=True)
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
        state: Of the session when it was bound.
        texts: What Spark evaluates for each event, as SQL, in an order that equal queries have in common.
        meaning: Of these texts then.
        length_texts: Those of WITHIN, SLIDE and SPAN that may mean something else in another state of the session.
        length_meaning: Of these; None if there are none.
        further_order: Canonical text and text of the expressions of ORDER BY beside the time.
        partition_by: Canonical texts of PARTITION BY.
        computation: What is computed for it.
    """

    given: AnalysedFrame
    source: AnalysedFrame
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
    state: SessionState
    texts: tuple[str, ...]
    meaning: Meaning
    length_texts: tuple[str, ...]
    length_meaning: Meaning | None
    further_order: tuple[tuple[str, str], ...] = ()
    partition_by: tuple[str, ...] = ()
    computation: Computation = field(init=False)

    def __post_init__(self) -> None:
        query = self.query
        computation = Computation(
            query.pattern,
            query.classes,
            query.aggregates,
            query.window,
            query.steps,
            query.selection,
            query.rows,
            query.span,
            query.wait,
            query.completion,
        )
        object.__setattr__(self, "computation", computation)

    @cached_property
    def needs_schema(self) -> bool:
        """Whether its texts may mean something else in another schema, as they call what is not Spark's own."""
        return not all(map(_means_the_same_everywhere, self.texts))

    @cached_property
    def computed_measures(self) -> tuple[Measure, ...]:
        """Those of `measures` that are no aggregates by themselves."""
        plain = {aggregate_name(index) for index in range(len(self.query.aggregates))}
        if self.query.completion is not None:
            plain |= {counted_name(index) for index in range(len(self.query.completion.counted))}
            plain |= {shown_name(index) for index in range(len(self.query.completion.shown))}
        return tuple(measure for measure in self.measures if measure.expression.text.strip() not in plain)

    @property
    def has_variables(self) -> bool:
        """Whether variables of the session decide what it computes."""
        lengths = self.length_meaning
        return self.meaning.has_variables or (lengths is not None and lengths.has_variables)

    @property
    def sorted_groups(self) -> tuple[Key, ...]:
        """`groups` in the order that a pool keeps them in."""
        return tuple(sorted(self.groups, key=_canonical))

    @property
    def sorted_partitions(self) -> tuple[Key, ...]:
        """`partitions` in the order that a pool keeps them in."""
        return tuple(sorted(self.partitions, key=_canonical))


def _means_the_same_everywhere(text: str) -> bool:
    """Whether an expression reads no table, and calls functions of Spark's own alone, which need no schema."""
    if _READS.search(text):
        return False
    calls = ((call[1], call[2]) for call in _CALL.finditer(text))
    return all(not dot and (name.upper() in _OPERATORS or is_built_in(name.strip("`"))) for dot, name in calls)


def event_texts(
    groups: Sequence[Key], partitions: Sequence[Key], time: str, expressions: Mapping[str, str]
) -> tuple[str, ...]:
    """What a query evaluates for each event, as SQL, in an order that equal queries have in common.

    Args:
        groups: What results are grouped by.
        partitions: Further keys.
        time: Of the event.
        expressions: Types, conditions and attributes by their canonical texts.
    """
    keys = [key.text for part in (groups, partitions) for key in sorted(part, key=_canonical)]
    return (*keys, time, *(expressions[canonical] for canonical in sorted(expressions)))


def _canonical(key: Key) -> str:
    return key.canonical
