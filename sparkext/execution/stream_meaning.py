"""What an operator over a stream computes, by texts that mean the same in each process: a checkpoint keeps them."""

from __future__ import annotations

from collections.abc import Sequence

from sparkext.binding.bound_query import BoundQuery
from sparkext.binding.durations import duration
from sparkext.planner.kernel_plan.event_form import class_name, event_form, needs_of
from sparkext.planner.kernel_plan.kernel_plan import KernelPlan, too_many
from sparkext.udfs.streams.stream_plan import StreamQuery


def meaning_of(query: BoundQuery) -> dict[str, str]:
    """Keys, time and order, by the names that people have for them: state by other ones is of no use."""
    keys = [f"{key.canonical} {key.type.simpleString()}" for key in query.sorted_groups]
    others = [f"{key.canonical} {key.type.simpleString()}" for key in query.sorted_partitions]
    order = [f"{query.time_canonical} {query.time_type.simpleString()}", *(text for text, _ in query.further_order)]
    return {
        "the keys": ", ".join([*keys, "and below them", *others] if others else keys) or "none",
        "ORDER BY": ", ".join(order),
    }


def orders_of(query: BoundQuery) -> list[str]:
    """Canonical texts of the expressions of ORDER BY beside the time."""
    return [canonical for canonical, _ in query.further_order]


def stream_queries(queries: Sequence[BoundQuery], plan: KernelPlan, alone: Sequence[KernelPlan]) -> list[StreamQuery]:
    """What a checkpoint keeps of each query.

    Args:
        queries: In the order of ``plan.results``.
        plan: Of all of them.
        alone: Per query, a plan of it alone.
    """
    known = set(needs_of(plan, orders_of(queries[0])))
    found = []
    for query, result, own in zip(queries, plan.results, alone, strict=True):
        needs = needs_of(own, orders_of(query))
        read = event_form(own, orders_of(query)).columns
        banks = [result.bank] if result.counted_in is None else [result.bank, result.counted_in]
        slide = None if query.query.window is None else query.query.window.slide
        # What is computed for all of them may be brought to other units than for one.
        needs = needs if known.issuperset(needs) else tuple(known)
        found.append(StreamQuery(_text(query, read), needs, (*banks, *map(too_many, banks)), slide))
    return found


def _text(bound: BoundQuery, read: Sequence[str]) -> str:
    """What is computed for a query; of its aggregates, the columns that they read."""
    query, kind = bound.query, bound.time_kind
    lengths = {
        "WITHIN": None if query.window is None else query.window.within,
        "SLIDE": None if query.window is None else query.window.slide,
        "SPAN": query.span,
        "FOR": query.wait,
    }
    words = [query.selection.of(str(query.pattern))]
    words += [f"{word} {duration(length, kind)}" for word, length in lengths.items() if length is not None]
    if query.completion is not None:
        words.append("rows of completions" if query.has_rows else "counts of completions")
    classes = ", ".join(f"{name} is {class_name(event)}" for name, event in query.classes)
    steps = ", ".join(f"{name} {step.text}" for name, step in query.steps)
    parts = [classes, steps, "reads " + ", ".join(read) if read else ""]
    return f"{' '.join(words)} ({'; '.join(filter(None, parts))})"
