"""How the events before are found that a condition on adjacent events lets through.

A condition is taken apart into conjunctions that are never true together (`disjoint`), each of which a
structure answers: equalities a hash table, one order a tree, two orders a range tree. What concerns one of the two
events alone says who asks, and who stands in the structure. A condition that cannot be taken apart is evaluated for
all events before. So is one of a step under a guard: there it also matters when the event before was, and totals of
several events cannot be used.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce

from sparkext.planner.conditions.disjoint import Conjunction, disjoint
from sparkext.planner.conditions.instructions import ColumnNumber, loaded, program
from sparkext.planner.conditions.monotone import axes, is_monotone
from sparkext.planner.kernel_plan.kernel_plan import Access, Column, Comparison, Encoding, Interval, Order, Term
from sparkext.planner.patterns.prev_condition import (
    Apply,
    Constant,
    Operand,
    Operation,
    OwnAttribute,
    PrevAttribute,
    ValueKind,
    conjuncts,
)

MOST_ORDERS = 2
"""Most attributes of the event before, beside those that must be equal to something, that a structure is ordered by."""


def accesses(condition: Operand, guarded: bool) -> tuple[Access, ...]:
    """How the events before are found for ``condition``, by each of its conjunctions.

    Args:
        condition: On an event and the one before it.
        guarded: Whether it also matters when the event before was.
    """
    terms = None if guarded else _terms(condition)
    return (Access.SCAN,) if terms is None else tuple(term.access for term in terms)


def is_ranked(condition: Operand) -> bool:
    """Whether it is enough to compare ranks of events to know which go with an event."""
    return all(access in (Access.HASH, Access.FENWICK, Access.SEGMENT) for access in accesses(condition, False))


def compile_comparison(condition: Operand, guarded: bool, number: ColumnNumber) -> Comparison:
    """The comparison that the kernel makes for ``condition``.

    Args:
        condition: On an event and the one before it.
        guarded: Whether it also matters when the event before was.
        number: Gives a column of the events its number.
    """
    terms = None if guarded else _terms(condition)
    if terms is None:
        return Comparison((), program(condition, number))
    return Comparison(tuple(_compiled(term, number) for term in terms))


@dataclass(slots=True)
class _Parts:
    """A conjunction, by what each part concerns.

    Attributes:
        equal: Attributes of the event and of the one before that must be equal.
        asks: Conditions on the event alone.
        stands: Conditions on the event before alone.
        orders: Conditions by the one attribute of the event before that they name.
    """

    equal: list[tuple[OwnAttribute, PrevAttribute]] = field(default_factory=list)
    asks: list[Operand] = field(default_factory=list)
    stands: list[Operand] = field(default_factory=list)
    orders: dict[PrevAttribute, list[Operand]] = field(default_factory=dict)

    @property
    def order(self) -> _Ordered | None:
        """The only order, if the first so many events of it go with an event."""
        if len(self.orders) != 1:
            return None
        (conditions,) = self.orders.values()
        return _ordered(conditions[0]) if len(conditions) == 1 else None

    @property
    def access(self) -> Access:
        """What answers it."""
        if not self.orders:
            return Access.HASH
        if len(self.orders) == MOST_ORDERS:
            return Access.RANGE
        return Access.SEGMENT if self.order is None else Access.FENWICK


def _terms(condition: Operand) -> list[_Parts] | None:
    """The conjunctions of a condition; None when no structure answers one of them."""
    conjunctions = disjoint(condition)
    if conjunctions is None:
        return None
    terms = [_parts(conjunction) for conjunction in conjunctions if not any(map(_is_never, conjunction))]
    orders = [condition for term in terms for conditions in term.orders.values() for condition in conditions]
    most = max((len(term.orders) for term in terms), default=0)
    # Where nothing is ever true, a scan of nothing is as good as anything.
    return terms if terms and most <= MOST_ORDERS and all(map(is_monotone, orders)) else None


def _is_never(condition: Operand) -> bool:
    return isinstance(condition, Constant) and not condition.value


def _parts(conjunction: Conjunction) -> _Parts:
    parts = _Parts()
    for part in (small for condition in conjunction for small in conjuncts(condition)):
        match part:
            case Apply(
                Operation.EQUAL,
                (OwnAttribute() as here, PrevAttribute() as prev) | (PrevAttribute() as prev, OwnAttribute() as here),
            ):
                parts.equal.append((here, prev))
                continue
        named, names_here = axes(part), _names_here(part)
        if not named:
            parts.asks.append(part)
        elif not names_here:
            parts.stands.append(part)
        else:
            (prev,) = named
            parts.orders.setdefault(prev, []).append(part)
    return parts


def _names_here(node: Operand) -> bool:
    match node:
        case OwnAttribute():
            return True
        case Apply(_, operands):
            return any(map(_names_here, operands))
    return False


def _compiled(parts: _Parts, number: ColumnNumber) -> Term:
    equal = {(number(_key_column(here)), number(_key_column(prev))) for here, prev in parts.equal}
    order = parts.order
    intervals = (
        Interval(number(loaded(prev)), program(_all(conditions), number))
        for prev, conditions in (parts.orders.items() if order is None else ())
    )
    return Term(
        access=parts.access,
        equal=tuple(sorted(equal)),
        order=None if order is None else order.compiled(number),
        intervals=tuple(intervals),
        asks=program(_all(parts.asks), number) if parts.asks else (),
        stands=program(_all(parts.stands), number) if parts.stands else (),
    )


def _all(conditions: list[Operand]) -> Operand:
    return reduce(lambda left, right: Apply(Operation.AND, (left, right), ValueKind.FLAG), conditions)


@dataclass(frozen=True, slots=True)
class _Ordered:
    """An ordered comparison of an attribute with one of the event before; see `Order`."""

    here: OwnAttribute
    prev: PrevAttribute
    before_is_less: bool
    or_equal: bool
    or_null: bool

    def compiled(self, number: ColumnNumber) -> Order:
        here, prev = (number(_key_column(side)) for side in (self.here, self.prev))
        return Order(here, prev, self.before_is_less, self.or_equal, self.or_null)


def _ordered(part: Operand) -> _Ordered | None:
    """What a Fenwick tree needs to know of a condition; None when it takes another tree."""
    match part:
        case Apply(Operation.OR, (Apply(Operation.IS_NULL, (PrevAttribute() as prev,)), other)):
            return _or_null(prev, other)
        case Apply(Operation.OR, (other, Apply(Operation.IS_NULL, (PrevAttribute() as prev,)))):
            return _or_null(prev, other)
        case Apply(Operation.LESS | Operation.AT_MOST, (PrevAttribute() as prev, OwnAttribute() as here)):
            return _Ordered(here, prev, True, part.operation is Operation.AT_MOST, False)
        case Apply(Operation.LESS | Operation.AT_MOST, (OwnAttribute() as here, PrevAttribute() as prev)):
            return _Ordered(here, prev, False, part.operation is Operation.AT_MOST, False)
    return None


def _or_null(prev: PrevAttribute, comparison: Operand) -> _Ordered | None:
    ordered = _ordered(comparison)
    if ordered is None or axes(ordered.prev) != axes(prev):
        return None
    return _Ordered(ordered.here, ordered.prev, ordered.before_is_less, ordered.or_equal, True)


def _key_column(side: OwnAttribute | PrevAttribute) -> Column:
    """The column of an attribute that is compared by its order key, or by its identity."""
    return Column(side.attribute, Encoding.IDENTITY if side.kind is ValueKind.IDENTITY else Encoding.LEAST)
