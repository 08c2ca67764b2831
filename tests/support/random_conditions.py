"""Random conditions on an event and the one before, of all kinds that a structure may answer, and of others."""

from __future__ import annotations

import math
from random import Random
from typing import TypeAlias

from sparkext.planner.patterns.attribute import Attribute
from sparkext.planner.patterns.prev_condition import (
    Apply,
    Constant,
    Operand,
    Operation,
    OwnAttribute,
    PrevAttribute,
    ValueKind,
)
from tests.support.instruction_twin import GREATEST, LEAST

Held: TypeAlias = tuple[Attribute, ValueKind]

_WHOLE_TYPES = (("int", "bigint"), ("bigint",), ("timestamp",), ("decimal(10,2)",))
"""Types that Spark lets a condition compare as they are; else it has one cast to the other."""

_TYPES = (
    ("bigint", ValueKind.WHOLE),
    ("bigint", ValueKind.WHOLE),
    ("bigint", ValueKind.WHOLE),
    ("double", ValueKind.NUMBER),
    ("double", ValueKind.NUMBER),
    ("float", ValueKind.SINGLE),
    ("decimal(38,0)", ValueKind.KEY),
    ("string", ValueKind.IDENTITY),
)
_WHOLES = (0, 1, -1, 2, 3, -5, LEAST, GREATEST, None)
_NUMBERS = (0.0, -0.0, 0.5, 1.5, -2.0, 3.0, 1e300, math.inf, -math.inf, math.nan, None)
_COMPARED = (Operation.LESS, Operation.AT_MOST, Operation.EQUAL, Operation.SAME)
_SUMS = (Operation.ADD, Operation.SUBTRACT, Operation.SUBTRACT, Operation.MULTIPLY, Operation.DIVIDE)


def random_adjacent(random: Random, most: int = 3) -> Operand:
    """A condition on up to so many attributes of each of the two events."""
    wholes = random.choice(_WHOLE_TYPES)
    held: list[Held] = []
    for number, (type_, kind) in enumerate(random.choices(_TYPES, k=random.choice((1, 1, 2, most)))):
        of = random.choice(wholes) if kind is ValueKind.WHOLE else type_
        held.append((Attribute(f"{kind.value}_{of}_{number}", of), kind))
    return _condition(random, held, random.choice((0, 1, 1, 2, 3)))


def _condition(random: Random, held: list[Held], depth: int) -> Operand:
    if depth and random.random() < 0.85:
        operation = random.choice((Operation.AND, Operation.OR, Operation.OR, Operation.NOT, Operation.CHOOSE))
        count = {Operation.NOT: 1, Operation.CHOOSE: 3}.get(operation, 2)
        return _flag(operation, *(_condition(random, held, depth - 1) for _ in range(count)))
    attribute, kind = random.choice(held)
    here, prev = OwnAttribute(attribute, kind), PrevAttribute(attribute, kind)
    if random.random() < 0.15:
        return _flag(Operation.IS_NULL, random.choice((prev, prev, here)))
    if kind is ValueKind.IDENTITY:
        return _flag(random.choice((Operation.EQUAL, Operation.SAME)), here, prev)
    if kind is ValueKind.KEY:
        return _flag(random.choice(_COMPARED), *random.choice(((here, prev), (prev, here))))
    left, right = _value(random, held, kind, 2), _value(random, held, kind, 1)
    return _flag(random.choice(_COMPARED), *random.choice(((left, right), (right, left), (here, prev), (prev, here))))


def _value(random: Random, held: list[Held], kind: ValueKind, depth: int) -> Operand:
    chosen = random.random()
    if not depth or chosen < 0.4:
        attribute = random.choice([attribute for attribute, held_kind in held if held_kind is kind])
        constant = random.choice(_WHOLES if kind is ValueKind.WHOLE else _NUMBERS)
        return random.choice((OwnAttribute(attribute, kind), PrevAttribute(attribute, kind), Constant(constant, kind)))
    if chosen < 0.55:
        return Apply(random.choice((Operation.ABS, Operation.NEGATE)), (_value(random, held, kind, depth - 1),), kind)
    if chosen < 0.6:
        condition = _condition(random, held, 0)
        values = (_value(random, held, kind, depth - 1) for _ in range(2))
        return Apply(Operation.CHOOSE, (condition, *values), kind)
    if chosen < 0.65 and kind is ValueKind.NUMBER and any(held_kind is ValueKind.WHOLE for _, held_kind in held):
        return Apply(Operation.TO_NUMBER, (_value(random, held, ValueKind.WHOLE, depth - 1),), kind)
    operation = Operation.REMAINDER if random.random() < 0.05 else random.choice(_SUMS)
    values = (_value(random, held, kind, depth - 1) for _ in range(2))
    return Apply(operation, tuple(values), kind)


def _flag(operation: Operation, *operands: Operand) -> Operand:
    return Apply(operation, operands, ValueKind.FLAG)
