"""Random workloads: rows of one source, and a pool of queries over them.

A workload can be run below Spark (`Workload.events`) and in Spark (`Workload.records`, `SCHEMA` and
`Workload.sql`). It is drawn from a `random.Random`; hypothesis provides one that it can shrink.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from random import Random
from typing import NamedTuple, TypeAlias, TypeVar

from hypothesis import strategies as st

from sparkext.planner.automata.anchored import TooWideError, occurs_before, take_apart
from sparkext.planner.automata.automaton import AutomatonTooLargeError
from sparkext.planner.automata.guards import TooManyGuardsError
from sparkext.planner.automata.unambiguous import automaton_of
from sparkext.planner.patterns.attribute import Attribute
from sparkext.planner.patterns.pattern import (
    Alternation,
    Node,
    Not,
    Pattern,
    Repeat,
    Sequence,
    Shuffle,
    Variable,
    negations,
    positive_variables,
    variables,
)
from sparkext.planner.patterns.query import (
    Aggregate,
    End,
    EventClass,
    Function,
    Mark,
    Query,
    Selection,
    Side,
    Step,
    Window,
)
from sparkext.planner.sharing.template import template_of
from sparkext.planner.totals.contributions import both
from tests.support.enumerator import Event, heads, minus
from tests.support.prev_conditions import ADJACENT, COMPUTED, STARTS, AdjacentCase, on_earlier

_T = TypeVar("_T")

MAX_EVENTS = 9
"""Most events of one partition and group."""

MAX_WORDS = 3000
"""Most labelled words, trends or not, of one query over one partition and group."""


class Row(NamedTuple):
    """One row of the source; ``part``, ``sub`` and ``grp`` are keys, ``ts`` the time, ``kind`` the type."""

    part: int | None
    sub: str | None
    grp: str | None
    ts: int | None
    kind: str | None
    v: int | None
    w: float | None
    d: Decimal | None
    big: Decimal | None
    day: date | None
    at: datetime | None


SCHEMA = (
    "part INT, sub STRING, grp STRING, ts BIGINT, kind STRING, v INT, w DOUBLE, d DECIMAL(10,2), "
    "big DECIMAL(38,0), day DATE, at TIMESTAMP"
)
"""The source as a Spark schema."""

TYPES = ("A", "B", "C", "D")

ATTRIBUTES = {
    "v": "int",
    "w": "double",
    "d": "decimal(10,2)",
    "big": "decimal(38,0)",
    "day": "date",
    "at": "timestamp",
}
"""Attributes and their types. Of ``big`` no sums are asked, since its values cancel."""

TIME = Attribute("ts", "bigint")
"""The time, which may be asked for at the ends of trends."""

_SUMMED = ("v", "w", "d")


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on one event, as SQL and as Python; the latter is False for NULL."""

    sql: str
    holds: Callable[[Row], bool]


CONDITIONS = (
    Condition("v > 2", lambda row: row.v is not None and row.v > 2),
    Condition("v <= 2", lambda row: row.v is not None and row.v <= 2),
    Condition("v % 2 = 0", lambda row: row.v is not None and row.v % 2 == 0),
    Condition("v IS NULL OR v < 4", lambda row: row.v is None or row.v < 4),
    Condition("w >= 0", lambda row: row.w is not None and (math.isnan(row.w) or row.w >= 0)),
)


@dataclass(frozen=True, slots=True)
class Workload:
    """Rows and a pool of queries.

    Attributes:
        rows: In no order.
        partition: Columns of PARTITION BY; maybe none.
        group: Columns of GROUP BY; None when there is none.
        queries: The pool. Attributes and conditions are written as in `ATTRIBUTES` and `CONDITIONS`.
    """

    rows: tuple[Row, ...]
    partition: tuple[str, ...]
    group: tuple[str, ...] | None
    queries: tuple[Query, ...]

    def events(self) -> list[Event]:
        """The rows as the enumerator wants them. Without GROUP BY, results are per PARTITION BY value."""
        classes = {event_class for query in self.queries for _, event_class in query.classes}
        classes |= {query.rows for query in self.queries}
        classes |= {value for query in self.queries for value in _with_values(query)}
        classes |= {step.start for query in self.queries for _, step in query.steps if step.start is not None}
        further, keys = ((), self.partition) if self.group is None else (self.partition, self.group)
        return [
            Event(
                partition=tuple(getattr(row, key) for key in further),
                group=tuple(getattr(row, key) for key in keys),
                time=row.ts,
                classes=frozenset(event_class for event_class in classes if matches(row, event_class)),
                values={name: getattr(row, name) for name in (*ATTRIBUTES, TIME.text)}
                | {name: compute(row) for name, compute in COMPUTED.items()}
                | {both(*ends).text: _difference(row, ends) for query in self.queries for ends in query.differences},
            )
            for row in self.rows
        ]

    def records(self) -> list[tuple[object, ...]]:
        """The rows for ``createDataFrame(…, SCHEMA)``."""
        return [tuple(row) for row in self.rows]

    def sql(self, query: Query, relation: str) -> str:
        """A statement with the results of ``query``; its aggregates are called m0, m1, …

        What is aggregated is an expression and no column, half of the time: it is evaluated for some events alone.
        """
        clauses = []
        if self.partition:
            clauses.append("PARTITION BY " + ", ".join(self.partition))
        if self.group:
            clauses.append("GROUP BY " + ", ".join(self.group))
        clauses.append("ORDER BY ts")
        if any(event_class.type_by is not None for _, event_class in query.classes):
            clauses.append("TYPE BY kind")
        measures = (f"{measure(aggregate)} AS m{index}" for index, aggregate in enumerate(query.aggregates))
        clauses.append("MEASURES " + ", ".join(measures))
        clauses.append(f"PATTERN ({query.pattern})")
        conditions = {name: [f"({ec.condition})"] for name, ec in query.classes if ec.condition is not None}
        for name, step in query.steps:
            conditions.setdefault(name, []).append(f"({step.text})")
        defined = [f"{name} AS {' AND '.join(parts)}" for name, parts in conditions.items()]
        if defined:
            clauses.append("DEFINE " + ", ".join(defined))
        if query.window is not None:
            clauses.append(f"WITHIN {query.window.within} SLIDE {query.window.slide}")
        if query.span is not None:
            clauses.append(f"SPAN {query.span}")
        if query.selection is not Selection.ANY:
            clauses.append(query.selection.value)
        return f"SELECT * FROM {relation} MATCH_TREND (\n  " + "\n  ".join(clauses) + "\n)"


def _with_values(query: Query) -> Iterator[EventClass]:
    """The classes of events that have values for the differences of a query."""
    classes = {event for _, event in query.classes} | {step.start for _, step in query.steps if step.start is not None}
    for ends in query.differences:
        asked = {end.attribute.text for end in ends if end.may_be_null}
        for some in [[text] for text in asked] + [sorted(asked)]:
            yield from (event.with_values(some) for event in classes)


def _difference(row: Row, ends: tuple[End, ...]) -> object:
    """The difference of two ends that are one event; NULL if either is."""
    values = [getattr(row, end.attribute.text) for end in ends]
    return None if None in values else minus(*values)


def measure(aggregate: Aggregate) -> str:
    """An aggregate as MEASURES spells it."""
    if aggregate.ends:
        return str(aggregate)
    if aggregate.variable is None:
        return f"{aggregate.function.value}(*)"
    if aggregate.attribute is None:
        return f"{aggregate.function.value}({aggregate.variable})"
    column = f"{aggregate.variable}.{aggregate.attribute.text}"
    is_plain = sum(map(ord, column)) % 2 == 0
    return f"{aggregate.function.value}({column if is_plain else f'coalesce({column})'})"


_PREDICATES: dict[str, Callable[[Row], bool]] = {condition.sql: condition.holds for condition in CONDITIONS} | STARTS


def matches(row: Row, event_class: EventClass) -> bool:
    """Whether a row is of an event class."""
    if event_class.type_by is not None and row.kind != event_class.type:
        return False
    if event_class.condition is None:
        return True
    # A condition, or several: "kind = 'A' AND (v > 2) AND (v > 1)".
    first, *further = event_class.condition.split(" AND (")
    return all(_holds(row, part) for part in (first, *(conjunct[:-1] for conjunct in further)))


def _holds(row: Row, condition: str) -> bool:
    if condition.endswith(") IS NOT NULL"):
        return getattr(row, condition[1 : -len(") IS NOT NULL")]) is not None
    if condition.startswith("kind = "):
        return row.kind == condition[len("kind = '") : -1]
    return _PREDICATES[condition](row)


def typed_class(kind: str, condition: str | None = None) -> EventClass:
    """The class of a variable named ``kind`` under TYPE BY."""
    return EventClass("kind", kind, condition)


def defined_class(kind: str, condition: str | None = None) -> EventClass:
    """The class of a variable that is defined without TYPE BY."""
    return EventClass(None, None, f"kind = '{kind}'" + ("" if condition is None else f" AND ({condition})"))


def workload(random: Random) -> Workload:
    """A random workload."""
    partition: tuple[str, ...] = random.choice((("part",), ("part",), ("part", "sub"), ()))
    group = random.choice((None, None, ("grp",), ("grp",), ("grp", "sub"), ()))
    types = TYPES[: random.choice((2, 2, 2, 3, 4))]
    queries: list[Query] = []
    for number in range(random.choice((1, 2, 2, 3, 4, 5, 6))):
        queries.append(_query(random, f"q{number}", types, queries))
    rows = _rows(random, types, partition, group, queries)
    selections = random.choice(((Selection.ANY,), (Selection.ANY,), tuple(Selection)))
    selected = tuple(_selecting(query, random.choice(selections)) for query in queries)
    if random.random() < 0.15:
        selected = _with_spans(random, selected) or selected
    if random.random() < 0.3:
        selected = tuple(_with_ends(random, query) for query in selected)
    return Workload(rows, partition, group, selected)


def _with_spans(random: Random, queries: tuple[Query, ...]) -> tuple[Query, ...]:
    """Those of the queries that may have a span, of which most have one."""
    spans = [random.randint(1, 12) for _ in range(2)]
    return tuple(
        replace(query, span=random.choice((*spans, spans[0], None)))
        for query in queries
        if not query.steps and not negations(query.pattern) and query.selection is Selection.ANY
    )


def workloads() -> st.SearchStrategy[Workload]:
    """Random workloads: half of them hypothesis can shrink, the others are of more kinds."""
    return st.one_of(st.randoms(use_true_random=False), st.integers(0, 1 << 32).map(Random)).map(workload)


_QUANTIFIERS: tuple[tuple[int, int | None], ...] = ((1, None), (1, None), (0, None), (0, 1))
_BOUNDS: tuple[tuple[int, int | None], ...] = ((2, 2), (2, None), (1, 2), (0, 2), (2, 3), (3, None))


def _bounds(random: Random) -> tuple[int, int | None]:
    return random.choice(_BOUNDS if random.random() < 0.2 else _QUANTIFIERS)


def random_pattern(random: Random, names: tuple[str, ...], depth: int, negate: bool = False) -> Pattern:
    """A random pattern over ``names``, of at most ``depth`` nested operators; with NOT if ``negate``."""
    if depth == 0:
        return Variable(random.choice(names))
    kind = random.choice(("sequence", "sequence", "sequence", "alternation", "repeat", "repeat", "repeat", "shuffle"))
    if kind == "repeat":
        return Repeat(random_pattern(random, names, depth - 1, negate), *_bounds(random))
    depths = [random.choice((0, depth - 1, depth - 1)) for _ in range(random.choice((2, 2, 2, 3)))]
    if kind == "shuffle":
        return Shuffle(tuple(random_pattern(random, names, min(inner, 2)) for inner in depths[:2]))
    parts = tuple(random_pattern(random, names, inner, negate) for inner in depths)
    if kind == "alternation":
        return Alternation(parts)
    return Sequence(_with_negations(random, parts, names) if negate and random.random() < 0.6 else parts)


def _with_negations(random: Random, parts: tuple[Pattern, ...], names: tuple[str, ...]) -> tuple[Node, ...]:
    """``parts`` with a negation or two somewhere before, between or after them."""
    result: list[Node] = list(parts)
    for _ in range(random.choice((1, 1, 1, 2))):
        operand = random_pattern(random, names, random.choice((0, 0, 1, 2)))
        result.insert(random.randint(0, len(result)), Not(operand))
    return tuple(result)


MAX_STATES = 150
"""Most states of the automaton of a query; patterns with more are drawn anew."""


def _fits(pattern: Pattern) -> bool:
    try:
        return len(automaton_of(pattern).labels) <= MAX_STATES
    except (AutomatonTooLargeError, TooManyGuardsError):
        return False


def _query(random: Random, name: str, types: tuple[str, ...], earlier: list[Query]) -> Query:
    """A query that often has its beginning, or all but its aggregates, in common with an earlier one."""
    while not _fits((drawn := _any_query(random, name, types, earlier)).pattern):
        pass
    return drawn


def _any_query(random: Random, name: str, types: tuple[str, ...], earlier: list[Query]) -> Query:
    event_classes: dict[str, EventClass]
    old = random.choice(earlier) if earlier and random.random() < 0.5 else None
    if old is not None:
        event_classes = dict(old.classes)
        pattern = random.choice((old.pattern, _varied(random, old.pattern), Repeat(old.pattern, 1, None)))
        if random.random() < 0.5:
            pattern = Sequence((pattern, Repeat(random_pattern(random, tuple(event_classes), 1), *_bounds(random))))
    else:
        event_classes = _classes(random, types)
        pattern = random_pattern(random, tuple(event_classes), random.choice((1, 2, 2, 3, 4)), random.random() < 0.35)
    steps = dict(old.steps) if old is not None and random.random() < 0.7 else _steps(random, event_classes)
    under_not = {name for negated in negations(pattern) for name in variables(negated)}
    steps = {name: step for name, step in steps.items() if name not in under_not}
    if not negations(pattern) and random.random() < 0.3 and _fits(pattern):
        steps = _on_earlier(random, pattern, event_classes)
    if not _fits(pattern) or not _may_be_asked(pattern, steps):
        steps = {name: step for name, step in steps.items() if step.anchor is None}
    if random.random() < 0.95:
        pattern = _startable(pattern, steps, tuple(event_classes))
    used = variables(pattern)
    counted = tuple(name for name in used if name in positive_variables(pattern))
    window = old.window if old is not None and random.random() < 0.6 else _window(random)
    aggregates = dict.fromkeys(_aggregate(random, counted) for _ in range(random.randint(1, 4)))
    return Query(
        name,
        pattern,
        tuple((v, event_classes[v]) for v in used),
        tuple(aggregates),
        window,
        tuple((v, steps[v]) for v in counted if v in steps),
    )


def _startable(pattern: Pattern, steps: dict[str, Step], names: tuple[str, ...]) -> Pattern:
    """``pattern``; after another variable if all that it may start with need an event before."""

    def starts(name: str) -> bool:
        return name not in steps or steps[name].start is not None

    if any(step.anchor is not None for step in steps.values()):
        return pattern
    free = [name for name in names if starts(name)]
    if not free or any(starts(name) for name, _, _ in heads((pattern,))):
        return pattern
    return Sequence((Variable(free[0]), pattern))


def _steps(random: Random, classes: dict[str, EventClass]) -> dict[str, Step]:
    """For some variables, but never all of them, a condition on the event before."""
    if random.random() < 0.6:
        return {}
    free = random.choice(tuple(classes))
    return {
        name: _step(random.choice(ADJACENT), event_class)
        for name, event_class in classes.items()
        if name != free and random.random() < 0.8
    }


def _selecting(query: Query, selection: Selection) -> Query:
    """``query`` with a selection, and without conditions that go with no selection but the usual."""
    if selection is Selection.ANY:
        return query
    return replace(query, selection=selection, steps=tuple(pair for pair in query.steps if pair[1].anchor is None))


def _on_earlier(random: Random, pattern: Pattern, classes: dict[str, EventClass]) -> dict[str, Step]:
    """For some variables, a condition on the latest event of another; no more of them than may be asked at once."""
    automaton, used = automaton_of(pattern), variables(pattern)
    steps: dict[str, Step] = {}
    for _ in range(random.choice((1, 1, 2))):
        pairs = [(a, c) for a in used for c in used if a != c and c not in steps and occurs_before(automaton, a, c)]
        if pairs:
            anchor, name = random.choice(pairs)
            more = steps | {name: _step(random.choice(ADJACENT), classes[name], anchor)}
            steps = more if _may_be_asked(pattern, more) else steps
    return steps


def _may_be_asked(pattern: Pattern, steps: dict[str, Step]) -> bool:
    """Whether conditions on earlier events can be computed."""
    automaton = automaton_of(pattern)
    anchors = {name: step.anchor for name, step in steps.items() if step.anchor is not None}
    if negations(pattern) or not all(occurs_before(automaton, anchor, name) for name, anchor in anchors.items()):
        return not anchors
    with suppress(TooWideError):
        return len(take_apart(automaton, anchors, set(anchors)).automaton.labels) > 0
    return False


def _step(case: AdjacentCase, event_class: EventClass, anchor: str | None = None) -> Step:
    shown = case.sql if anchor is None else on_earlier(case, anchor)
    if case.start is None:
        return Step(shown, case.condition, None, anchor)
    text = case.start if event_class.condition is None else f"{event_class.condition} AND ({case.start})"
    return Step(shown, case.condition, replace(event_class, condition=text), anchor)


def _varied(random: Random, pattern: Pattern) -> Pattern:
    """``pattern`` with one of its operators changed or added."""
    match pattern:
        case Variable():
            return Repeat(pattern, *_bounds(random))
        case Repeat(operand):
            return random.choice((operand, Repeat(operand, *_bounds(random))))
        case Alternation(parts) | Shuffle(parts):
            index = random.randrange(len(parts))
            return type(pattern)((*parts[:index], _varied(random, parts[index]), *parts[index + 1 :]))
        case Sequence(nodes):
            index = random.randrange(len(nodes))
            node = nodes[index]
            changed = Not(_varied(random, node.operand)) if isinstance(node, Not) else _varied(random, node)
            return Sequence((*nodes[:index], changed, *nodes[index + 1 :]))


def _classes(random: Random, types: tuple[str, ...]) -> dict[str, EventClass]:
    """Variables to choose from: types, types with conditions, or several variables per type."""
    kind = random.choice(("types", "types", "conditions", "defined"))
    if kind == "types":
        return {name: typed_class(name) for name in types}
    if kind == "conditions":
        return {name: typed_class(name, _maybe(random, 0.4, random.choice(CONDITIONS).sql)) for name in types}
    return {
        f"X{number}": defined_class(random.choice(types[:2]), _maybe(random, 0.5, random.choice(CONDITIONS).sql))
        for number in range(random.randint(2, 3))
    }


def _window(random: Random) -> Window | None:
    within, slide = random.randint(4, 30), random.randint(1, 9)
    overlapping, gaps = Window(within, slide), Window(random.randint(1, slide), slide)
    many = Window(random.randint(10, 60), random.choice((1, 1, 2)))
    return random.choice((None, None, Window(within, within), overlapping, overlapping, gaps, many))


def _aggregate(random: Random, names: tuple[str, ...]) -> Aggregate:
    function = random.choice(list(Function))
    variable = random.choice(names)
    if function.counts and random.random() < 0.6:
        return Aggregate(function, _maybe(random, 0.5, variable))
    text = random.choice(_SUMMED if function in (Function.SUM, Function.AVG) else tuple(ATTRIBUTES))
    return Aggregate(function, variable, Attribute(text, ATTRIBUTES[text]))


def _with_ends(random: Random, query: Query) -> Query:
    """``query``, often with aggregates of the ends of trends."""
    if random.random() < 0.3:
        return query
    names = [name for name, _ in query.classes if name in positive_variables(query.pattern)]
    more = [_of_ends(random, names, query) for _ in range(random.choice((1, 1, 2, 3)))]
    kept = query.aggregates[: random.choice((0, 1, 4))]
    drawn = replace(query, aggregates=tuple(dict.fromkeys((*kept, *more))))
    with suppress(AutomatonTooLargeError):
        return drawn if len(template_of([drawn]).states) <= 2 * MAX_STATES else query
    return query


def _of_ends(random: Random, names: list[str], query: Query) -> Aggregate:
    function = random.choice((*Function, Function.AVG, Function.SUM))
    if random.random() < 0.4 and (query.span is None or function not in (Function.MIN, Function.MAX)):
        return Aggregate(function, ends=_two_ends(random, names, query))
    texts = (*_SUMMED, "ts") if function in (Function.SUM, Function.AVG) else (*ATTRIBUTES, "ts")
    end = _end(random, names, random.choice(texts))
    return Aggregate(function, attribute=end.attribute, ends=(end,))


def _two_ends(random: Random, names: list[str], query: Query) -> tuple[End, End]:
    """Two ends of which there is a difference."""
    kinds = [("ts",), ("ts",), (*_SUMMED, "ts"), (*_SUMMED,), ("v",), ("day",), ("at",)]
    if query.selection is Selection.NEXT and query.steps:
        kinds = [("ts",)]
    texts = random.choice(kinds)
    return _end(random, names, random.choice(texts)), _end(random, names, random.choice(texts))


def _end(random: Random, names: list[str], text: str) -> End:
    mark = Mark(random.choice(list(Side)), _maybe(random, 0.6, random.choice(names)))
    if text == TIME.text:
        return End(mark, TIME, may_be_null=False)
    return End(mark, Attribute(text, ATTRIBUTES[text]))


def _rows(
    random: Random,
    types: tuple[str, ...],
    partition: tuple[str, ...],
    group: tuple[str, ...] | None,
    queries: list[Query],
) -> tuple[Row, ...]:
    keys = tuple(dict.fromkeys((*partition, *(group or ()))))
    nan = random.random() < 0.1
    span = random.choice((7, 9, 12, 24))
    start = random.choice((0, -span // 2, -100, 1000))
    rows: list[Row] = []
    sizes: dict[tuple[object, ...], int] = {}
    words: dict[tuple[tuple[object, ...], str], int] = {}
    all_keys = [_random_keys(random) for _ in range(random.choice((1, 2, 3)))]
    few = random.random() < 0.05
    for _ in range(random.randint(0, 2) if few else random.randint(7, (len(all_keys) + 1) * MAX_EVENTS)):
        row = _row(random, random.choice(all_keys), types, start + random.randint(0, span), nan)
        key = tuple(getattr(row, name) for name in keys)
        sizes[key] = sizes.get(key, 0) + 1
        grown = {
            (key, query.name): words.get((key, query.name), 1) * (1 + sum(matches(row, ec) for _, ec in query.classes))
            for query in queries
        }
        if sizes[key] <= MAX_EVENTS and max(grown.values()) <= MAX_WORDS:
            words.update(grown)
            rows.append(row)
    return tuple(rows)


_Keys: TypeAlias = tuple[int | None, str | None, str | None]


def _random_keys(random: Random) -> _Keys:
    return (
        _maybe(random, 0.9, random.randint(1, 2)),
        _maybe(random, 0.9, random.choice("xy")),
        _maybe(random, 0.9, random.choice("gh")),
    )


def _row(random: Random, keys: _Keys, types: tuple[str, ...], time: int, nan: bool) -> Row:
    days = random.randint(-4, 4)
    part, sub, grp = keys
    return Row(
        part=part,
        sub=sub,
        grp=grp,
        ts=_maybe(random, 0.97, time),
        kind=_maybe(random, 0.97, random.choice(types)),
        v=_maybe(random, 0.85, random.randint(-3, 6)),
        w=_double(random, nan),
        d=_maybe(random, 0.85, Decimal(random.randint(-500, 99999)).scaleb(-2)),
        big=_maybe(random, 0.85, Decimal(days).scaleb(36) + random.randint(-3, 3)),
        day=_maybe(random, 0.85, date(1970, 1, 1) + timedelta(days=days)),
        at=_maybe(random, 0.85, datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=days)),
    )


def _double(random: Random, special: bool) -> float | None:
    """A double; sometimes one that is not finite, if ``special``."""
    if special and (drawn := random.random()) < 0.2:
        return math.nan if drawn < 0.1 else math.inf if drawn < 0.15 else -math.inf
    return _maybe(random, 0.85, random.randint(-8, 12) / 4)


def _maybe(random: Random, chance: float, value: _T) -> _T | None:
    return value if random.random() < chance else None
