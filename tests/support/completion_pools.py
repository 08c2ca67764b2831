"""Random pools of queries that ask for completions, and the pass over them below Spark.

Rows and queries are those of `tests.support.workloads`; what is asked of completions is drawn here.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pyarrow as pa

from sparkext.planner.automata.guards import ALWAYS, guard
from sparkext.planner.automata.unambiguous import automaton_of
from sparkext.planner.compiler.compile import compile_completions
from sparkext.planner.compiler.completion_plan import final_when, one_by_one
from sparkext.planner.kernel_plan.kernel_plan import KernelPlan, Layout
from sparkext.planner.kernel_plan.result_columns import BEYOND, field_column
from sparkext.planner.patterns.attribute import Attribute
from sparkext.planner.patterns.pattern import positive_variables
from sparkext.planner.patterns.query import (
    Completion,
    Distinct,
    Mark,
    Query,
    Selection,
    Shown,
    Side,
    Window,
)
from sparkext.planner.sharing.template import template_of
from sparkext.udfs.completions.completion_machine import NODES
from sparkext.udfs.workers.window_by_window import completion_run
from tests.support.completions import Counts, Found, count_completions, enumerate_completions
from tests.support.enumerator import Event
from tests.support.kernel_harness import (
    aggregate_value,
    arrow_type,
    cut,
    field_value,
    form_for,
    kernel_rows,
    same,
    sorted_rows,
    source_batch,
)
from tests.support.kernel_twin import KernelRow
from tests.support.prev_conditions import MEANINGS
from tests.support.workloads import ATTRIBUTES, TIME, Workload, workload

NUMBER = Attribute("number", "bigint")
"""An attribute that no two rows have in common."""


@dataclass(frozen=True, slots=True)
class CompletionRow:
    """A row of a completion, as a pass gives it."""

    group: tuple[Any, ...]
    window: int
    shown: tuple[Any, ...]
    values: tuple[Any, ...] = ()


def draw(random: Random) -> tuple[Workload, list[Event]]:
    """A workload whose queries ask for completions, and its events, which have numbers and an order."""
    drawn = workload(random)
    queries = tuple(asking for query in drawn.queries if (asking := _asking(query, random)) is not None)
    drawn = replace(drawn, queries=queries)
    orders = random.random() < 0.4
    events = [
        replace(
            event,
            values={**event.values, NUMBER.text: number},
            order=(random.randrange(3),) if orders else (),
        )
        for number, event in enumerate(drawn.events())
    ]
    return drawn, events


def _asking(query: Query, random: Random) -> Query | None:
    """The query with something that is asked of completions; None if there is nothing that can be."""
    automaton = automaton_of(query.pattern, query.selection is Selection.CONTIGUOUS)
    span, wait = query.span, query.wait
    at_end = set(automaton.ends.values())
    if at_end != {ALWAYS} and len(at_end) == 1 and any(guard(n) in at_end for n in range(8)) and random.random() < 0.7:
        wait = random.randint(1, 6)
    may_span = span is None and (at_end == {ALWAYS} or wait is not None)
    if may_span and random.random() < 0.3 and all(condition == ALWAYS for condition in automaton.starts.values()):
        span = random.randint(1, 8)
    variables = sorted(positive_variables(query.pattern))
    attributes = [NUMBER, *(Attribute(name, kind) for name, kind in ATTRIBUTES.items()), TIME]
    marks = [Mark(side, name) for side in Side for name in (None, *variables)]
    shown = [Shown(None, NUMBER), Shown()]
    shown += [Shown(random.choice(marks), random.choice(attributes)) for _ in range(random.randint(0, 3))]
    random.shuffle(shown)
    shown = list(dict.fromkeys(shown))
    if random.random() < 0.3:
        shown = [value for value in shown if value.mark is not None or value.attribute is None]
    counted = tuple(kind for kind in Distinct if random.random() < 0.3)
    has_rows = not counted or random.random() < 0.3
    completion = Completion(has_rows, tuple(shown) if has_rows else (), () if has_rows else counted)
    aggregates = query.aggregates if has_rows and random.random() < 0.6 else ()
    return replace(query, aggregates=aggregates, span=span, wait=wait, completion=completion)


def final_together(queries: Iterable[Query]) -> list[list[Query]]:
    """Queries apart by when what they ask for is final over a stream: those that one operator may compute."""
    together: dict[object, list[Query]] = {}
    for asking in queries:
        together.setdefault((final_when(asking), one_by_one(asking)), []).append(asking)
    return [*together.values()]


def found_rows(
    queries: Sequence[Query], events: Sequence[Event], random: Random | None = None
) -> tuple[list[list[CompletionRow]], list[Counts]]:
    """Per query its rows and what it counts, by a pass over events in random batches for each kind of query."""
    rows: list[list[CompletionRow]] = [[] for _ in queries]
    counts: list[Counts] = [{} for _ in queries]
    apart = random is not None and random.random() < 0.5
    kinds: dict[tuple[Window | None, bool], list[int]] = {}
    for number, query in enumerate(queries):
        # Without rows in a pass, starts alone may do.
        kinds.setdefault((one_by_one(query), apart and _is_counted(query)), []).append(number)
    for numbers in kinds.values():
        its_rows, its_counts = _found_together([queries[number] for number in numbers], events, random)
        for number, own_rows, counted in zip(numbers, its_rows, its_counts, strict=True):
            rows[number], counts[number] = own_rows, counted
    return rows, counts


def _is_counted(query: Query) -> bool:
    return query.completion is not None and not query.completion.has_rows


def _found_together(
    queries: Sequence[Query], events: Sequence[Event], random: Random | None
) -> tuple[list[list[CompletionRow]], list[Counts]]:
    orders = max((len(event.order) for event in events), default=0)
    plan = compile_completions(template_of(queries), orders, ())
    source, layout = source_of(plan, events, orders)
    if source is None:
        return [[] for _ in queries], [{} for _ in queries]
    # NULLs of all keys count here, as if all of them were in PARTITION BY.
    asked = plan.completions
    assert asked is not None
    plan = replace(plan, completions=replace(asked, keys=tuple(range(layout.keys))))
    size = 1 << 14 if random is None else random.choice((1, 3, 1 << 14))
    nodes = NODES if random is None else random.choice((1, NODES))
    run = completion_run(plan, layout, form=form_for(random), rows=size, nodes=nodes)
    return as_found(
        queries, plan, layout, (row for part in run.results(cut(source, random)) for row in part.to_pylist())
    )


def as_found(
    queries: Sequence[Query], plan: KernelPlan, layout: Layout, written: Iterable[dict[str, Any]]
) -> tuple[list[list[CompletionRow]], list[Counts]]:
    """Per query the rows and the counts that are written."""
    rows: list[list[CompletionRow]] = [[] for _ in queries]
    counts: list[Counts] = [{} for _ in queries]
    of_bank = {result.bank: number for number, result in enumerate(plan.results)}
    of_counts = {result.counted_in: number for number, result in enumerate(plan.results)}
    for row in written:
        group = tuple(list(row.values())[: layout.group_keys])
        if row["bank"] in of_counts:
            number = of_counts[row["bank"]]
            query, result = queries[number], plan.results[number]
            assert query.completion is not None
            counts_of_key = counts[number].setdefault(
                (group, row["window"]), dict.fromkeys(query.completion.counted, 0)
            )
            for kind, field in zip(query.completion.counted, result.counted, strict=True):
                counts_of_key[kind] += row[f"exact_{field}"]
        else:
            number = of_bank[row["bank"]]
            shown = tuple(_plain(row[name]) for name in plan.results[number].shown)
            rows[number].append(CompletionRow(group, row["window"], shown, _values(queries[number], plan, number, row)))
    return rows, counts


def _values(query: Query, plan: KernelPlan, number: int, row: dict[str, Any]) -> tuple[Any, ...]:
    """Values of the aggregates of a row."""
    beyond = dict(row[BEYOND] or ())

    def held(index: int) -> Any:
        field = plan.fields[index]
        return field_value(field, row[field_column(index, field)], beyond.get(index))

    pairs = zip(query.aggregates, plan.results[number].values, strict=True)
    return tuple(aggregate_value(aggregate, [held(index) for index in indexes]) for aggregate, indexes in pairs)


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def source_of(plan: KernelPlan, events: Sequence[Event], orders: int) -> tuple[pa.RecordBatch | None, Layout]:
    """The rows of a pass, in order: those of the kernel, then the further order, then what is shown."""
    assert plan.completions is not None
    ordered = _ordered(plan, events)
    if not ordered:
        return None, Layout(0, 0)
    source_events = [row.values[-1] for row in ordered]
    plain = [replace(row, values=row.values[:-1]) for row in ordered]
    batch = source_batch(plan, plain)
    arrays, names = list(batch.columns), list(batch.schema.names)
    for number in range(orders):
        arrays.append(pa.array([event.order[number] for event in source_events], pa.int64()))
        names.append(f"order_{number}")
    for number, (attribute, _) in enumerate(plan.completions.shown):
        values = [event.values[attribute.text] for event in source_events]
        arrays.append(pa.array(values, arrow_type(attribute.type)))
        names.append(f"shown_{number}")
    return pa.RecordBatch.from_arrays(arrays, names), Layout(len(plain[0].group), len(plain[0].other))


def _ordered(plan: KernelPlan, events: Sequence[Event]) -> list[KernelRow]:
    """The rows of a pass, in order, each with its event behind the values."""
    by_order = sorted(events, key=lambda event: event.order)
    rows = [replace(row, values=(*row.values, event)) for event in by_order for row in kernel_rows(plan, [event])]
    return sorted_rows(rows)  # sorting is stable, so rows of one time stay in the order of what comes after it


def events_of(plan: KernelPlan, events: Sequence[Event]) -> list[Event]:
    """The event of each row of `source_of`."""
    return [row.values[-1] for row in _ordered(plan, events)]


def problems(queries: Sequence[Query], events: Sequence[Event], random: Random | None = None) -> list[str]:
    """What a pass and the enumerator disagree on."""
    return disagreements(queries, events, *found_rows(queries, events, random))


def disagreements(
    queries: Sequence[Query],
    events: Sequence[Event],
    rows: Sequence[Sequence[CompletionRow]],
    counts: Sequence[Counts],
) -> list[str]:
    """What rows and counts of queries and the enumerator disagree on."""
    faults: list[str] = []
    for number, query in enumerate(queries):
        truth = enumerate_completions(query, events, MEANINGS)
        completion = query.completion
        assert completion is not None
        if completion.has_rows:
            problem = difference(truth, rows[number], completion)
        else:
            expected = {
                at: {kind: value[kind] for kind in completion.counted} for at, value in count_completions(truth).items()
            }
            problem = None if expected == counts[number] else f"counted {counts[number]}, expected {expected}"
        if problem is not None:
            faults.append(f"{query.pattern} {query.selection} {query.window} {query.span} {query.wait}: {problem}")
    return faults


def difference(truth: Sequence[Found], rows: Sequence[CompletionRow], completion: Completion) -> str | None:
    """What is wrong with the rows of a query; None if nothing is.

    A completion may have several witnesses, if events are equal in all of ORDER BY, so two completions can be allowed
    one row: each is given a row of its own by augmenting paths.
    """
    fitting = [[number for number, row in enumerate(rows) if _fits(wanted, row, completion)] for wanted in truth]
    taken: dict[int, int] = {}
    for index, wanted in enumerate(truth):
        if not _give(index, fitting, taken, set()):
            allowed = wanted.shown(completion.shown)
            near = [row for row in rows if row.group == wanted.group and row.window == wanted.window]
            return f"no row {wanted.group} {wanted.window} with one of {allowed} and {wanted.values}; there are {near}"
    left = [row for number, row in enumerate(rows) if number not in taken]
    return f"not a completion: {left}" if left else None


def _fits(wanted: Found, row: CompletionRow, completion: Completion) -> bool:
    """Whether a row may be that of a completion."""
    return (
        row.group == wanted.group
        and row.window == wanted.window
        and any(all(map(_same, row.shown, shown)) for shown in wanted.shown(completion.shown))
        and all(map(same, wanted.values, row.values))
    )


def _give(index: int, fitting: Sequence[Sequence[int]], taken: dict[int, int], tried: set[int]) -> bool:
    """Give a completion a row of its own, if need be by moving others to other rows; False if there is none.

    Args:
        index: The completion.
        fitting: Per completion the rows that may be its own.
        taken: Per row its completion; changed.
        tried: Rows that were asked for already.
    """
    for number in fitting[index]:
        if number not in tried:
            tried.add(number)
            if number not in taken or _give(taken[number], fitting, taken, tried):
                taken[number] = index
                return True
    return False


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(_same, left, right))
    return bool(left == right or (left != left and right != right))


def main() -> int:
    """Run many random pools and say how many went wrong."""
    first, count = int(sys.argv[1]), int(sys.argv[2])
    wrong = completions = 0
    for seed in range(first, first + count):
        random = Random(seed)
        drawn, events = draw(random)
        for problem in problems(drawn.queries, events, random):
            wrong += 1
            print(f"seed {seed}: {problem}", flush=True)
        completions += sum(len(enumerate_completions(q, events, MEANINGS)) for q in drawn.queries[:1])
    print(f"{count} pools: {wrong} mismatches, {completions} completions of first queries")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
