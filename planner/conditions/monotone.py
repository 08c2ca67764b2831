"""Conditions that are true of intervals of the events before, in the order of one of their attributes.

Let the event at hand be fixed. A comparison of something of it with an attribute p of the event before changes its
truth once along the order of p, or twice for an equality. So it does when p has been added to something, multiplied
by something, and so on: rounding keeps the order of what it rounds. Between two changes everything is constant, so
whatever is computed of such comparisons is constant, too. Where the changes are is found by evaluating the condition
itself, so that no transformation can change what is true.

What goes through 64-bit overflow, division by zero, infinities or NaN is in order only between them. The search
stops there as well (`sparkext.udfs.comparisons.intervals`).
"""

from __future__ import annotations

from sparkext.planner.patterns.prev_condition import Apply, Operand, Operation, PrevAttribute, ValueKind

_COMPARED = (Operation.EQUAL, Operation.SAME, Operation.LESS, Operation.AT_MOST)
_LOGICAL = (Operation.AND, Operation.OR, Operation.NOT, Operation.IS_NULL, Operation.CHOOSE)


def axes(node: Operand) -> frozenset[PrevAttribute]:
    """The attributes of the event before that ``node`` reads."""
    match node:
        case PrevAttribute():
            return frozenset((PrevAttribute(node.attribute, node.kind),))
        case Apply(_, operands):
            return frozenset().union(*map(axes, operands))
    return frozenset()


def is_monotone(node: Operand) -> bool:
    """Whether ``node``, which reads at most one attribute of the event before, is true of intervals of its order.

    Not so if the event before is on both sides of an operator, since the sum of what rises and what falls may do
    either, and for remainders.
    """
    if not isinstance(node, Apply) or not axes(node):
        return True
    if node.operation is Operation.REMAINDER or not all(map(is_monotone, node.operands)):
        return False
    if node.operation in _LOGICAL:
        return True
    # What compares flags is constant wherever they are.
    flags = node.operation in _COMPARED and all(operand.kind is ValueKind.FLAG for operand in node.operands)
    return flags or sum(bool(axes(operand)) for operand in node.operands) == 1
