"""Partial results of a group added up by Spark, against integers and fractions of any size."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from random import Random

import pytest
from pyspark.sql import SparkSession

from planner.kernel_plan import COUNT_LIMIT, Arithmetic, Encoding, Field
from planner.result_columns import BEYOND, VALUE, WORD
from sparkext.combine import combine_groups
from tests.enumerator import Value
from tests.harness import add, field_value

FIELDS = (
    Field(Arithmetic.EXACT),
    Field(Arithmetic.NUMBER),
    Field(Arithmetic.EXTREME, Encoding.LEAST, "bigint"),
    Field(Arithmetic.EXACT),
    Field(Arithmetic.NUMBER),
    Field(Arithmetic.EXTREME, Encoding.GREATEST, "bigint"),
)
COLUMNS = ("exact_0", "number_1", "extreme_2", "exact_3", "number_4", "extreme_5")
SCHEMA = f"""group_0 STRING, bank INT, window BIGINT, exact_0 BIGINT, number_1 DOUBLE, extreme_2 BIGINT, exact_3 BIGINT,
number_4 DOUBLE, extreme_5 BIGINT, {BEYOND} MAP<INT, STRUCT<{WORD}: BIGINT, {VALUE}: DOUBLE>>"""


def partial_row(random: Random, odd: float) -> dict[str, Value]:
    """A row of some group, bank and window; ``odd`` is how often a value does not fit its column."""
    row: dict[str, Value] = {
        "group_0": random.choice(["a", "b", None]),
        "bank": random.randint(0, 1),
        "window": random.randint(-1, 1),
        "extreme_2": random.choice([None, random.randint(-9, 9)]),
        "extreme_5": random.choice([None, random.randint(-9, 9)]),
    }
    beyond = {}
    for number in (0, 3):
        count = random.randrange(1 << random.choice([1, 40, 63, 64, 64]))
        row[f"exact_{number}"] = count - (1 << 64) if count >> 63 else count
        if random.random() < odd:
            beyond[number] = {WORD: random.randint(1, random.choice([3, COUNT_LIMIT >> 64])), VALUE: 0.0}
    for number in (1, 4):
        value = random.choice([0.0, 1.0, random.uniform(-1, 1), random.uniform(0, 2.0**200)])
        if value and random.random() < odd:
            beyond[number] = {WORD: random.choice([-2, -1, 1, 1, 2, 2, 9]), VALUE: value}
            value = 0.0
        row[f"number_{number}"] = value
    row[BEYOND] = beyond or None
    return row


def values_of(row: dict[str, Value]) -> list[Value]:
    """What the fields of a row hold."""
    beyond = row[BEYOND] or {}
    return [
        field_value(field, row[name], beyond.get(number))
        for number, (field, name) in enumerate(zip(FIELDS, COLUMNS, strict=True))
    ]


@pytest.mark.parametrize("odd", [0.0, 0.1, 0.7])
def test_against_numbers_of_any_size(spark: SparkSession, odd: float) -> None:
    random = Random(f"combine {odd}")
    rows = [partial_row(random, odd) for _ in range(300)]
    expected: dict[tuple[Value, ...], list[Value]] = {}
    sizes: dict[tuple[Value, ...], list[Value]] = defaultdict(lambda: [Fraction(0)] * len(FIELDS))
    for row in rows:
        key, values = (row["group_0"], row["bank"], row["window"]), values_of(row)
        sizes[key] = [max(size, abs(value or 0)) for size, value in zip(sizes[key], values, strict=True)]
        if key in expected:
            values = [add(field, one, other) for field, one, other in zip(FIELDS, expected[key], values, strict=True)]
        expected[key] = values
    partial = spark.createDataFrame(rows, SCHEMA).repartition(4)
    found = combine_groups(partial, ["group_0"], FIELDS, 3)
    assert found.columns == partial.columns
    collected = [row.asDict(recursive=True) for row in found.collect()]
    assert len(collected) == len(expected)
    assert any(row[BEYOND] for row in collected)
    for row in collected:
        key = (row["group_0"], row["bank"], row["window"])
        for field, one, other, size in zip(FIELDS, expected[key], values_of(row), sizes[key], strict=True):
            if field.arithmetic is Arithmetic.NUMBER:
                assert abs(one - other) <= size * Fraction(1, 10**12)
            elif field.arithmetic is Arithmetic.EXACT and one >= COUNT_LIMIT:
                assert other >= COUNT_LIMIT
            else:
                assert one == other
