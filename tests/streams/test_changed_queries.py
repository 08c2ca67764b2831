"""Other queries that go on from the state of a stream, without Spark, against the enumerator on random pools."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pytest

from sparkext.planner.automata.automaton import AutomatonTooLargeError
from sparkext.planner.compiler.compile import compile_completions, compile_plan
from sparkext.planner.kernel_plan.event_form import is_evaluated_for_some, readers
from sparkext.planner.kernel_plan.kernel_plan import KernelPlan, Layout
from sparkext.planner.patterns.query import Completion, Distinct, Query
from sparkext.planner.sharing.prefixes import share_equal_prefixes
from sparkext.planner.sharing.template import template_of
from sparkext.udfs.streams.bucket import Bucket
from sparkext.udfs.streams.stored import NEVER
from sparkext.udfs.streams.stream_plan import StreamPlan
from sparkext.udfs.streams.windows_of_events import last_ended
from tests.streams.test_buckets import absences, asked_of_completions
from tests.support.completion_pools import as_found, difference, events_of, final_together, source_of
from tests.support.completions import Found, count_completions, enumerate_completions
from tests.support.enumerator import Event, enumerate_results
from tests.support.kernel_harness import combined, kernel_rows, query_results, source_batch
from tests.support.kernel_harness import difference as result_difference
from tests.support.prev_conditions import MEANINGS
from tests.support.streams import Arrival, MemoryStore, Source, arrivals, draw_page_sizes, in_time, stream_plan
from tests.support.tiers import first
from tests.support.workloads import workload

MOST_TIME = 1 << 60


@dataclass(frozen=True)
class Pool:
    """Queries that are computed together, and the events of a stream as they are read for these."""

    queries: Sequence[Query]
    plan: KernelPlan
    layout: Layout
    source: Source
    rows: dict[int, int]
    """By number of an event its row in the source; the stream does not read events that are of no class."""

    orders: int = 0

    def planned(self, buckets: int, ahead: int, begins_at: int | None = None) -> StreamPlan:
        schema = self.source.events.schema
        of = stream_plan(self.plan, self.queries, self.layout, schema, buckets, self.orders, ahead, "allow")
        return replace(of, begins_at=begins_at)


@dataclass(frozen=True)
class Changed:
    """What a stream has written whose queries have changed.

    Attributes:
        before, after: The rows of each pool.
        until: The watermark up to which the first one had written.
        since: Per query of the second one, from when on the events are there that it needs.
        kept: Numbers of the events that were not late.
    """

    before: list[dict[str, Any]]
    after: list[dict[str, Any]]
    until: int
    since: list[int]
    kept: list[int]


def changed(pools: tuple[Pool, Pool], times: Sequence[int], random: Random) -> Changed:
    """Run one pool over a stream, and another from a random micro-batch on."""
    micro_batches = arrivals(times, random)
    at = random.randrange(1, len(micro_batches))
    seen = [index for arrival in micro_batches[:at] for index in arrival.rows]
    watermark = micro_batches[at].watermark
    latest = max((times[index] for index in seen), default=NEVER)
    ahead = max(0, latest - (0 if watermark == NEVER else watermark))
    buckets = random.choice((1, 2, 3))
    before, after = pools[0].planned(buckets, ahead), pools[1].planned(buckets, random.choice((ahead, 0)))
    stores = [MemoryStore() for _ in range(buckets)]
    written: tuple[list[dict[str, Any]], list[dict[str, Any]]] = ([], [])
    for number, arrival in enumerate(micro_batches):
        is_after = number >= at
        pool, of = pools[is_after], (after if is_after else before)
        read = [pool.rows[index] for index in arrival.rows if index in pool.rows]
        written[is_after].extend(pool.source.step(of, stores, Arrival(read, arrival.watermark), random)[0])
    header = Bucket(after, stores[0]).header
    until = micro_batches[at - 1].watermark
    since = [header.queries[query.text] for query in after.queries]
    assert not any(store.pages for store in stores)
    return Changed(*written, until, since, in_time(times, micro_batches))


def two_of(queries: Sequence[Query], random: Random) -> tuple[tuple[Query, ...], tuple[Query, ...]]:
    """Two pools of some queries: of the second, some have the window of another."""
    some = random.sample(queries, random.randint(1, len(queries)))
    others = random.sample(queries, random.randint(1, len(queries)))
    windows = [query.window for query in queries]
    swapped = [replace(query, window=random.choice(windows)) if random.random() < 0.4 else query for query in others]
    return tuple(dict.fromkeys(some)), tuple(dict.fromkeys(swapped))


def pool_of(queries: tuple[Query, ...], events: Sequence[Event]) -> Pool:
    template = template_of(queries)
    plan = compile_plan(template, share_equal_prefixes(template), own_rows=True)
    asked_of = [
        only if is_evaluated_for_some(column.attribute.text, only) else set(range(len(plan.classes)))
        for column, only in zip(plan.columns, readers(plan), strict=True)
    ]
    rows = [
        replace(
            row,
            values=tuple(
                value if row.classes & only else None for value, only in zip(row.values, asked_of, strict=True)
            ),
        )
        for row in kernel_rows(plan, events, keep_unmatched=True)
    ]
    layout = Layout(len(rows[0].group), len(rows[0].other))
    source = Source.of(source_batch(plan, rows), layout)
    return Pool(queries, plan, layout, source, {i: i for i, row in enumerate(rows) if row.classes})


def drawn_windows(random: Random) -> tuple[tuple[Query, ...], list[Event]]:
    """Queries with windows, and events that have times."""
    drawn = workload(random)
    queries = tuple(query for query in drawn.queries if query.window is not None and query.span is None)
    return queries, [event for event in drawn.events() if event.time is not None and abs(event.time) < MOST_TIME]


def window_problems(seed: int) -> tuple[int, list[str]]:
    """How many rows the second of two pools wrote, and what differs from the enumerator."""
    random = Random(seed)
    queries, events = drawn_windows(random)
    if not queries or not events:
        return 0, []
    some, others = two_of(queries, random)
    try:
        pools = pool_of(some, events), pool_of(others, events)
    except AutomatonTooLargeError:  # a shuffle that is refused
        return 0, []
    times = [event.time or 0 for event in events]
    run = changed(pools, times, random)
    kept = [events[index] for index in run.kept]
    faults: list[str] = []
    for pool, rows, is_after in ((pools[0], run.before, False), (pools[1], run.after, True)):
        partials = combined(pool.plan, pool.layout, rows)
        for number, (asked, result) in enumerate(zip(pool.queries, pool.plan.results, strict=True)):
            assert asked.window is not None
            last_before = NEVER if run.until == NEVER else last_ended(asked.window, run.until)
            expected = {
                at: value
                for at, value in enumerate_results(asked, kept, MEANINGS).items()
                if (at[1] > last_before) is is_after
                and (not is_after or at[1] * asked.window.slide >= run.since[number])
            }
            problem = result_difference(expected, query_results(asked, result, partials))
            if problem is not None:
                faults.append(f"seed {seed}, {'after' if is_after else 'before'}, {asked.pattern}: {problem}")
    faults += [f"seed {seed}: {told}" for told in promises(some, others, run)]
    return len(run.after), faults


def completion_pool(queries: Sequence[Query], events: Sequence[Event], orders: int) -> Pool | None:
    """Of queries that are final together; None if no event is of use to them."""
    plan = compile_completions(template_of(queries), orders, (), own_rows=True)
    source, layout = source_of(plan, events, orders)
    if source is None:
        return None
    assert plan.completions is not None
    plan = replace(plan, completions=replace(plan.completions, keys=tuple(range(layout.keys))))
    row_of = {id(event): row for row, event in enumerate(events_of(plan, events))}
    rows = {number: row_of[id(event)] for number, event in enumerate(events) if id(event) in row_of}
    return Pool(queries, plan, layout, Source.of(source, layout), rows, orders)


def completion_problems(queries: Sequence[Query], events: Sequence[Event], seed: int) -> tuple[int, list[str]]:
    """As `window_problems`, of rows and counts of completions."""
    random = Random(seed)
    orders = max((len(event.order) for event in events), default=0)
    together = final_together(queries)
    if not together:
        return 0, []
    first_queries, second = (random.choice(together) for _ in range(2))
    before = completion_pool(random.sample(first_queries, random.randint(1, len(first_queries))), events, orders)
    after = completion_pool(random.sample(second, random.randint(1, len(second))), events, orders)
    if before is None or after is None:
        return 0, []
    run = changed((before, after), [event.time or 0 for event in events], random)
    kept = [events[index] for index in run.kept]
    faults: list[str] = []
    for pool, written, is_after in ((before, run.before, False), (after, run.after, True)):
        of = pool.planned(1, 0)
        rows, counts = as_found(pool.queries, pool.plan, pool.layout, written)
        for number, asked in enumerate(pool.queries):
            truth = [
                found
                for found in enumerate_completions(asked, kept, MEANINGS)
                if (final_at(of, asked, found) > run.until) is is_after
                and (not is_after or first_needed(asked, found, of.is_by_event) >= run.since[number])
            ]
            completion = asked.completion
            assert completion is not None
            problem = None
            if completion.has_rows:
                problem = difference(truth, rows[number], completion)
            else:
                counted = count_completions(truth)
                expected = {at: {kind: of_kind[kind] for kind in completion.counted} for at, of_kind in counted.items()}
                if expected != counts[number]:
                    problem = f"counted {counts[number]}, expected {expected}"
            if problem is not None:
                when = "after" if is_after else "before"
                faults.append(f"seed {seed}, {when}, {asked.pattern} {asked.span} {asked.wait}: {problem}")
    faults += [
        f"seed {seed}: {asked.pattern} goes on, and is exact from {since} on"
        for asked, since in zip(after.queries, run.since, strict=True)
        if asked in before.queries and since != NEVER
    ]
    return len(run.after), faults


def counting(random: Random) -> tuple[list[Query], list[Event]]:
    """Queries of one window that count completions, most of them beside totals, and events."""
    queries, events = drawn_windows(random)
    asked = [
        replace(
            query,
            window=queries[0].window,
            aggregates=query.aggregates if random.random() < 0.75 else (),
            completion=Completion(False, (), random.choice(COUNTED)),
        )
        for query in queries
        if not any(aggregate.is_extreme_difference for aggregate in query.aggregates)
    ]
    return (random.choice(final_together(dict.fromkeys(asked))) if asked else []), events


COUNTED = (Distinct.COMPLETIONS,), (Distinct.KEYS,), (Distinct.COMPLETIONS, Distinct.KEYS)


def count_problems(seed: int) -> tuple[int, list[str]]:
    """As `window_problems`, of counts beside totals."""
    random = Random(seed)
    queries, events = counting(random)
    if not queries or not events:
        return 0, []
    try:
        before, after = (
            completion_pool(random.sample(queries, random.randint(1, len(queries))), events, 0) for _ in range(2)
        )
    except AutomatonTooLargeError:
        return 0, []
    if before is None or after is None:
        return 0, []
    run = changed((before, after), [event.time or 0 for event in events], random)
    kept = [events[index] for index in run.kept]
    faults: list[str] = []
    for pool, rows, is_after in ((before, run.before, False), (after, run.after, True)):
        partials = combined(pool.plan, pool.layout, rows)
        for number, (asked, result) in enumerate(zip(pool.queries, pool.plan.results, strict=True)):
            assert asked.window is not None
            assert asked.completion is not None
            last_before = NEVER if run.until == NEVER else last_ended(asked.window, run.until)
            first_after = last_before + 1
            if is_after and run.since[number] != NEVER:
                first_after = max(first_after, -(-run.since[number] // asked.window.slide))
            found = enumerate_completions(asked, kept, MEANINGS)
            of_time = [one for one in found if (one.window >= first_after if is_after else one.window <= last_before)]
            windows = {(one.group, one.window) for one in of_time}
            expected = {
                at: [counts[kind] for kind in asked.completion.counted]
                for at, counts in count_completions(of_time).items()
            }
            counted = {
                (group, window): [fields[field] for field in result.counted]
                for (group, bank, window), fields in partials.items()
                if bank == result.counted_in
            }
            if counted != expected:
                faults.append(f"seed {seed}, {asked.pattern}: counted {counted}, expected {expected}")
            if asked.aggregates:
                totals = enumerate_results(replace(asked, completion=None), kept, MEANINGS)
                wanted = {at: value for at, value in totals.items() if at in windows}
                problem = result_difference(wanted, query_results(asked, result, partials))
                if problem is not None:
                    faults.append(f"seed {seed}, {asked.pattern}: {problem}")
    return len(run.after), faults


def final_at(of: StreamPlan, asked: Query, found: Found) -> int:
    """The watermark at which a completion is final in its window."""
    time = found.event.time
    assert time is not None
    end = None if asked.window is None else found.window * asked.window.slide + asked.window.within
    if not of.is_by_event:
        assert end is not None
        return end + of.after
    settled = time + (1 if asked.wait is None else asked.wait)
    return settled if end is None or asked.span is not None else min(settled, end)


def first_needed(asked: Query, found: Found, is_by_event: bool) -> int:
    """The earliest time of events that decide on a completion in its window."""
    time = found.event.time
    assert time is not None
    if is_by_event and asked.span is not None:
        return time - asked.span + 1
    assert asked.window is not None
    return found.window * asked.window.slide - (0 if asked.span is None else asked.span - 1)


def promises(before: Sequence[Query], after: Sequence[Query], run: Changed) -> list[str]:
    """What is promised of when queries are exact, and is not so."""
    known = {event for query in before for _, event in query.classes}
    gapless = [
        query.window for query in before if query.window is not None and query.window.slide <= query.window.within
    ]
    told: list[str] = []
    for asked, since in zip(after, run.since, strict=True):
        if asked in before and since != NEVER:
            told.append(f"{asked.pattern} goes on, and is exact from {since} on")
        if known.issuperset(event for _, event in asked.classes) and not asked.aggregates and gapless:
            kept = min((last_ended(window, run.until) + 1) * window.slide for window in gapless)
            if since > max(kept, NEVER):
                told.append(f"{asked.pattern} has all events from {kept} on, and is exact from {since} on")
    return told


def check(outcomes: Iterable[tuple[int, Sequence[str]]]) -> None:
    """Assert that nothing was wrong with any outcome, and that they had more than 100 rows."""
    rows, problems = zip(*outcomes, strict=True)
    faults = [problem for of_one in problems for problem in of_one]
    assert not faults, "\n".join(faults)
    assert sum(rows) > 100


@pytest.mark.parametrize("seed", first(1, range(12)))
def test_random_pools_that_change(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows that end after the change, and begin when all is there that their query needs, are those of a batch."""
    draw_page_sizes(monkeypatch, seed)
    check(window_problems(1000 * seed + at) for at in range(80))


@pytest.mark.parametrize("seed", first(1, range(12)))
def test_random_completions_that_change(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Completions that are final after the change, and whose events are all there from then on, are those of a batch.

    Each is written once, also where pools differ in when completions are final.
    """
    draw_page_sizes(monkeypatch, seed)
    seeds = range(1000 * seed, 1000 * seed + 100)
    outcomes = [completion_problems(*asked_of_completions(at), at) for at in seeds]
    outcomes += [completion_problems(*absences(Random(at)), at) for at in seeds]
    check(outcomes)


@pytest.mark.parametrize("seed", first(1, range(6)))
def test_random_counts_beside_totals_that_change(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Queries with one window, by panes or not, each with totals, with counts, or with both."""
    draw_page_sizes(monkeypatch, seed)
    check(count_problems(1000 * seed + at) for at in range(80))
