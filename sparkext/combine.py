"""Adding up partial results of one group that come from different partition keys and tasks."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from planner.kernel_plan import SCALE_BITS, STUCK_HIGH, Arithmetic, Encoding, Field, field_columns

_LOW_HALF = 0xFFFFFFFF
_NO_SCALE = -(1 << 62)


def combine_groups(partial: DataFrame, groups: Sequence[str], fields: Sequence[Field], tasks: int) -> DataFrame:
    """One row per group, bank and window, with the same columns as ``partial``.

    Args:
        partial: At most one row per group, bank, window and flush of a task.
        groups: Names of the group columns.
        fields: Output fields of the pool.
        tasks: Number of partitions of the result. It is kept and read as often as there are views, so
            Spark's default of 200 would make every read start 200 tasks.

    Counts are added in 32-bit halves, which cannot overflow for fewer than 2^31 partial rows.
    """
    keys = [*groups, "bank", "`window`"]
    sums: list[str] = []
    results: list[str] = list(keys)
    for number, (field, names) in enumerate(zip(fields, field_columns(fields), strict=True)):
        match field.arithmetic:
            case Arithmetic.EXACT:
                parts, values = _exact(names, number)
            case Arithmetic.NUMBER:
                parts, values = _number(names, number)
            case Arithmetic.EXTREME:
                extreme = "min" if field.encoding is Encoding.LEAST else "max"
                parts, values = [f"{extreme}({names[0]}) AS {names[0]}"], [names[0]]
        sums += parts
        results += values
    return partial.repartition(tasks, *keys).groupBy(*keys).agg(*map(F.expr, sums)).selectExpr(*results)


def _exact(names: tuple[str, ...], number: int) -> tuple[list[str], list[str]]:
    high, low = names
    top, upper, lower = (f"{part}_{number}" for part in ("top", "upper", "lower"))
    parts = [
        f"try_sum({high}) AS {top}",
        f"sum(shiftrightunsigned({low}, 32)) AS {upper}",
        f"sum({low} & {_LOW_HALF}L) AS {lower}",
    ]
    carried = f"({upper} + shiftrightunsigned({lower}, 32))"
    total = f"least(coalesce(try_add({top}, shiftrightunsigned({carried}, 32)), {STUCK_HIGH}L), {STUCK_HIGH}L)"
    return parts, [f"{total} AS {high}", f"shiftleft({carried}, 32) | ({lower} & {_LOW_HALF}L) AS {low}"]


def _number(names: tuple[str, ...], number: int) -> tuple[list[str], list[str]]:
    """Scaled doubles: those with scale 0, nearly all, are summed as they are, others relative to the greatest."""
    value, scale = names
    plain, others = f"plain_{number}", f"others_{number}"
    parts = [
        f"sum(CASE WHEN {scale} = 0 THEN {value} ELSE 0D END) AS {plain}",
        f"collect_list(CASE WHEN {scale} <> 0 THEN struct({scale} AS s, {value} AS v) END) AS {others}",
    ]
    greatest = f"greatest(array_max(transform({others}, x -> x.s)), IF({plain} = 0, {_NO_SCALE}L, 0L))"
    total = (
        f"aggregate({others}, {plain} * power(2D, {SCALE_BITS}D * (0L - top)), "
        f"(total, x) -> total + x.v * power(2D, {SCALE_BITS}D * (x.s - top)))"
    )
    combined = f"aggregate(array({greatest}), 0D, (unused, top) -> {total})"
    return parts, [
        f"CASE WHEN size({others}) = 0 THEN {plain} ELSE {combined} END AS {value}",
        f"CASE WHEN size({others}) = 0 THEN 0L ELSE {greatest} END AS {scale}",
    ]
