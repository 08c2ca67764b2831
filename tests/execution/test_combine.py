"""Partial results of a group added up, on Spark and from batch to batch, against integers and fractions of any size."""

from __future__ import annotations

from collections import defaultdict
from datetime import date
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, pairwise
from random import Random
from typing import TypeAlias

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from sparkext.execution.combine_groups import combine_groups
from sparkext.planner.kernel_plan.kernel_plan import COUNT_LIMIT, Arithmetic, Encoding, Field
from sparkext.planner.kernel_plan.result_columns import BEYOND, DOUBLE, EXACT, NUMBER, SCALE
from sparkext.udfs.arrow.combined import combined
from sparkext.udfs.arrow.result_batch import BEYOND_TYPE
from tests.support.enumerator import Value
from tests.support.kernel_harness import add, exact, field_value, nearest
from tests.support.sql_cases import settings
from tests.support.tiers import first

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
number_4 DOUBLE, extreme_5 BIGINT,
{BEYOND} MAP<INT, STRUCT<{EXACT}: DECIMAL(38,0), {DOUBLE}: DOUBLE, {NUMBER}: DOUBLE, {SCALE}: BIGINT>>"""
ARROW = pa.schema(
    [
        ("group_0", pa.string()),
        ("bank", pa.int32()),
        ("window", pa.int64()),
        ("exact_0", pa.int64()),
        ("number_1", pa.float64()),
        ("extreme_2", pa.int64()),
        ("exact_3", pa.int64()),
        ("number_4", pa.float64()),
        ("extreme_5", pa.int64()),
        (BEYOND, BEYOND_TYPE),
    ]
)


def partial_row(random: Random, odd: float) -> dict[str, Value]:
    """A row of some group, bank and window; ``odd`` is how often a value does not fit its column."""
    row: dict[str, Value] = {
        "group_0": random.choice(["a", "b", None]),
        "bank": random.randint(0, 1),
        "window": random.randint(-1, 1),
        "extreme_2": random.choice([None, random.randint(-9, 9)]),
        "extreme_5": random.choice([None, random.randint(-9, 9)]),
    }
    beyond: dict[int, dict[str, Value]] = {}
    for number in (0, 3):
        row[f"exact_{number}"] = random.randrange(1 << random.choice([1, 40, 63]))
        if random.random() < odd:
            count = random.choice([None, random.randrange(1 << 63, COUNT_LIMIT), random.randrange(1 << 63, 1 << 65)])
            beyond[number] = {EXACT: None if count is None else Decimal(count), DOUBLE: None, NUMBER: None, SCALE: None}
            row[f"exact_{number}"] = None
    for number in (1, 4):
        value: float | None = random.choice([0.0, 1.0, random.uniform(-1, 1), random.uniform(0, 2.0**200)])
        if value and random.random() < odd:
            scale = random.choice([-2, -1, 1, 1, 2, 2, 9])
            double = nearest(exact(value, scale))
            beyond[number] = {EXACT: None, DOUBLE: double, NUMBER: value, SCALE: scale}
            value = None
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


Rows: TypeAlias = list[dict[str, Value]]


def check(rows: Rows, collected: Rows) -> None:
    """One row for each key of ``rows``, with their totals."""
    expected: dict[tuple[Value, ...], list[Value]] = {}
    sizes: dict[tuple[Value, ...], list[Value]] = defaultdict(lambda: [Fraction(0)] * len(FIELDS))
    for row in rows:
        key, values = (row["group_0"], row["bank"], row["window"]), values_of(row)
        sizes[key] = [max(size, abs(value or 0)) for size, value in zip(sizes[key], values, strict=True)]
        if key in expected:
            values = [
                add(field, total, value) for field, total, value in zip(FIELDS, expected[key], values, strict=True)
            ]
        expected[key] = values
    assert len(collected) == len(expected)
    for row in collected:
        key = (row["group_0"], row["bank"], row["window"])
        for field, total, actual, size in zip(FIELDS, expected[key], values_of(row), sizes[key], strict=True):
            if field.arithmetic is Arithmetic.NUMBER:
                assert abs(total - actual) <= size * Fraction(1, 10**12)
            elif field.arithmetic is Arithmetic.EXACT and total >= COUNT_LIMIT:
                assert actual >= COUNT_LIMIT
            else:
                assert total == actual


@pytest.mark.parametrize("rows_per_batch", first(1, [7, 10_000]))
@pytest.mark.parametrize("odd", first(1, [0.1, 0.0, 0.7]))
@pytest.mark.spark
def test_on_spark(spark: SparkSession, odd: float, rows_per_batch: int) -> None:
    random = Random(f"combine {odd}")
    rows = [partial_row(random, odd) for _ in range(300)]
    partial = spark.createDataFrame(rows, SCHEMA).repartition(4)
    combined_rows = combine_groups(partial, ["group_0"], FIELDS, 3)
    assert combined_rows.schema == partial.schema
    with settings(spark, **{"spark.sql.execution.arrow.maxRecordsPerBatch": str(rows_per_batch)}):
        collected = [row.asDict(recursive=True) for row in combined_rows.collect()]
    assert any(row[BEYOND] for row in collected)
    check(rows, collected)


@pytest.mark.parametrize("seed", range(60))
def test_from_batch_to_batch(seed: int) -> None:
    """Rows of one key are in as many batches as it pleases Spark, which may be slices of others."""
    random = Random(f"batches {seed}")
    odd = random.choice([0.0, 0.02, 0.3, 0.9])
    rows = [partial_row(random, odd) for _ in range(random.choice([1, 10, 100]))]
    rows.sort(key=lambda row: (str(row["group_0"]), row["bank"], row["window"]))
    whole = pa.RecordBatch.from_pylist(
        [{**row, BEYOND: list((row[BEYOND] or {}).items()) or None} for row in rows], ARROW
    )
    cuts = sorted(random.choices(range(len(rows) + 1), k=random.choice([0, 2, 9])))
    batches = [whole.slice(begin, end - begin) for begin, end in pairwise([0, *cuts, len(rows)])]
    table = pa.Table.from_batches(combined(FIELDS, 3)(iter(batches)))
    assert table.column_names == whole.schema.names
    check(rows, [{**row, BEYOND: dict(row[BEYOND] or ())} for row in table.to_pylist()])


NAN = float("nan")

EXTREMES: dict[str, tuple[pa.DataType, list[Value]]] = {
    "double": (pa.float64(), [NAN, -1.5, None, 0.0, float("inf"), float("-inf")]),
    "boolean": (pa.bool_(), [True, None, False]),
    "date": (pa.date32(), [date(1960, 1, 1), None, date(2024, 2, 29)]),
    "decimal(38,2)": (
        pa.decimal128(38, 2),
        [
            Decimal("99999999999999999999.00"),
            Decimal("-99999999999999999999.00"),
            Decimal("0.01"),
            None,
            Decimal("0.02"),
        ],
    ),
    "tinyint": (pa.int8(), [-128, 127, None]),
}


@pytest.mark.parametrize("kind", EXTREMES)
def test_extremes_of_all_types(kind: str) -> None:
    """As of Spark: NaN is greater than all, NULL is nothing."""
    arrow, values = EXTREMES[kind]
    fields = [Field(Arithmetic.EXTREME, encoding, kind) for encoding in (Encoding.LEAST, Encoding.GREATEST)]
    order = {value: (value != value, value) for value in values if value is not None}
    for size in range(1, len(values) + 1):
        for some in combinations(values, size):
            column = pa.array(some, arrow)
            keys = pa.nulls(size, pa.float64()), pa.array([0] * size, pa.int32())
            columns = {"key": keys[0], "window": keys[1], "extreme_0": column, "extreme_1": column}
            batch = pa.RecordBatch.from_pydict({**columns, BEYOND: pa.nulls(size, BEYOND_TYPE)})
            (row,) = pa.Table.from_batches(combined(fields, 2)(iter([batch]))).to_pylist()
            in_order = sorted((value for value in some if value is not None), key=order.__getitem__)
            wanted = (in_order[0], in_order[-1]) if in_order else (None, None)
            assert repr((row["extreme_0"], row["extreme_1"])) == repr(wanted)


def test_keys_that_are_the_same() -> None:
    """NULL, NaN and values are three keys, each of which has one row."""
    keys = pa.array([None, None, 1.5, 1.5, NAN, NAN])
    columns = {"key": keys, "exact_0": pa.array([1, 2, 3, 4, 5, 6]), BEYOND: pa.nulls(6, BEYOND_TYPE)}
    batch = pa.RecordBatch.from_pydict(columns)
    for cut in range(7):
        parts = iter([batch.slice(0, cut), batch.slice(cut)])
        table = pa.Table.from_batches(combined([Field(Arithmetic.EXACT)], 1)(parts))
        assert table["exact_0"].to_pylist() == [3, 7, 11]
