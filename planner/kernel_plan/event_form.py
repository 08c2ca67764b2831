"""What a plan needs of events, by names that mean the same in each process, and in which form events are stored."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sparkext.planner.kernel_plan.kernel_plan import Column, Comparison, Encoding, KernelPlan
from sparkext.planner.patterns.query import EventClass


@dataclass(frozen=True, slots=True)
class EventForm:
    """What is stored of an event behind its keys and time.

    Attributes:
        classes: Names of the classes, in the order of their bits.
        columns: Names of the columns behind the words of class bits.
    """

    classes: tuple[str, ...]
    columns: tuple[str, ...]


def event_form(plan: KernelPlan, orders: Sequence[str]) -> EventForm:
    """In which form the events of a plan are stored.

    Args:
        plan: The plan.
        orders: Canonical texts of the expressions of ORDER BY beside the time.
    """
    return EventForm(_classes(plan), tuple(name for name, _ in _columns(plan, orders)))


def needs_of(plan: KernelPlan, orders: Sequence[str]) -> tuple[str, ...]:
    """Names of what a plan needs of events: their classes, and columns, for events of some classes or for all.

    Args:
        plan: The plan.
        orders: See `event_form`.
    """
    classes = _classes(plan)
    needs = dict.fromkeys(classes)
    for name, only in _columns(plan, orders):
        needs |= dict.fromkeys([name] if only is None else [f"{name} of {classes[number]}" for number in sorted(only)])
    return tuple(needs)


def class_name(event: EventClass) -> str:
    """A class as a checkpoint knows it: with the expression that says its type."""
    return str(event) if event.type_by is None else f"{event.type_by} {event}"


def _classes(plan: KernelPlan) -> tuple[str, ...]:
    return tuple(map(class_name, plan.classes))


def _columns(plan: KernelPlan, orders: Sequence[str]) -> Iterator[tuple[str, set[int] | None]]:
    """Names of the columns of events behind class bits, and the numbers of the classes that they are evaluated for.

    None for all.
    """
    for column, classes in zip(plan.columns, readers(plan), strict=True):
        only = classes if is_evaluated_for_some(column.attribute.text, classes) else None
        yield _name(column, only is None), only
    if plan.completions is not None:
        yield from ((f"ORDER BY {order}", None) for order in orders)
        for attribute, numbers in plan.completions.shown:
            only = set(numbers) if is_evaluated_for_some(attribute.text, set(numbers)) else None
            yield f"{attribute.text} {attribute.type}, shown", only


_COLUMN = re.compile(r"(?:[\w.]|`[^`]*`)+")
"""A column as it is, of which nothing can fail; texts of Spark's and of users need not have blanks in them."""
_AS_IT_IS = (Encoding.LEAST, Encoding.GREATEST, Encoding.IDENTITY)


def _name(column: Column, is_for_all: bool) -> str:
    """A name for what is stored of a column, the same for columns of which the same is stored."""
    attribute = f"{column.attribute.text} {column.attribute.type}"
    if is_for_all and column.encoding in _AS_IT_IS:
        return attribute
    parts = [attribute, column.encoding.value, column.origin, column.unit]
    parts += ["taken away" if column.is_taken else None, "beside" if column.is_beside else None]
    return " ".join(part for part in parts if part is not None)


def is_evaluated_for_some(text: str, classes: set[int]) -> bool:
    """Whether an attribute is only evaluated for events of the classes that are asked for it: it may fail on others."""
    return bool(classes) and _COLUMN.fullmatch(text) is None


def readers(plan: KernelPlan) -> list[set[int]]:
    """Per column, numbers of the classes of whose events it is read: they contribute it or are compared by it."""
    compared = [_compared(comparison) for comparison in plan.comparisons]
    classes: list[set[int]] = [set() for _ in plan.columns]
    for cell in plan.cells:
        for column in (cell.column, cell.addend):
            if column is not None:
                classes[column].add(cell.event)
        for link in cell.links:
            source = plan.cells[link.cell]
            for column in () if link.comparison is None else compared[link.comparison]:
                classes[column] |= {cell.event, source.event if source.anchor is None else source.anchor}
    states = () if plan.completions is None else plan.completions.states
    for column in _compared_in_completions(plan):
        classes[column] |= {state.event for state in states}
    for total in (total for state in states for total in state.totals):
        for column in (total.column, total.addend):
            if column is not None:
                classes[column].add(total.event)
    if plan.matches is not None:
        for root in plan.matches.roots:
            events = plan.matches.steps[root.step].classes
            for added in root.added:
                if added.column is not None:
                    classes[added.column].update(events[index] for index in added.positions or ())
    return classes


def _compared_in_completions(plan: KernelPlan) -> set[int]:
    """Numbers of the columns that the comparisons of completions read."""
    comparisons = () if plan.completions is None else plan.completions.comparisons
    return {column for comparison in comparisons for column in _compared(comparison)}


def _compared(comparison: Comparison) -> set[int]:
    """Numbers of the columns that a comparison reads, of either event."""
    columns: set[int] = set()
    programs = [comparison.program]
    for term in comparison.terms:
        columns.update(column for pair in term.equal for column in pair)
        if term.order is not None:
            columns |= {term.order.here, term.order.prev}
        programs += [term.asks, term.stands, *(interval.program for interval in term.intervals)]
    return columns | {instruction.column for program in programs for instruction in program if instruction.column >= 0}
