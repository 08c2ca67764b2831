"""Adding up partial results of one group that come from different partition keys and tasks."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from planner.kernel_plan import Arithmetic, Encoding, Field, field_columns

STUCK = (10**38 >> 64) + 1
"""High word from which a count is above 10^38; counts that reach it stay there."""

_LOW_HALF = 0xFFFFFFFF


def combine_groups(partial: DataFrame, groups: Sequence[str], fields: Sequence[Field]) -> DataFrame:
    """One row per group, bank and window, with the same columns as ``partial``.

    Counts are added in 32-bit halves, which cannot overflow for fewer than 2^31 partial rows.
    """
    keys = [*groups, "bank", "window"]
    sums: list[Column] = []
    results: list[Column] = [F.col(key) for key in keys]
    for number, (field, names) in enumerate(zip(fields, field_columns(fields), strict=True)):
        match field.arithmetic:
            case Arithmetic.EXACT:
                parts, values = _exact(names, number)
            case Arithmetic.NUMBER:
                parts, values = _number(names, number)
            case Arithmetic.EXTREME:
                extreme = F.min if field.encoding is Encoding.LEAST else F.max
                parts, values = [extreme(names[0]).alias(names[0])], [F.col(names[0])]
        sums += parts
        results += values
    return partial.groupBy(*keys).agg(*sums).select(*results)


def _exact(names: tuple[str, ...], number: int) -> tuple[list[Column], list[Column]]:
    high, low = names
    top, upper, lower = (f"{part}_{number}" for part in ("top", "upper", "lower"))
    parts = [
        F.try_sum(high).alias(top),
        F.sum(F.shiftrightunsigned(low, 32)).alias(upper),
        F.sum(F.col(low).bitwiseAND(F.lit(_LOW_HALF))).alias(lower),
    ]
    carried = F.col(upper) + F.shiftrightunsigned(lower, 32)
    stuck = F.lit(STUCK).cast("long")
    total = F.least(F.coalesce(F.try_add(F.col(top), F.shiftrightunsigned(carried, 32)), stuck), stuck)
    words = F.shiftleft(carried, 32).bitwiseOR(F.col(lower).bitwiseAND(F.lit(_LOW_HALF)))
    return parts, [total.alias(high), words.alias(low)]


def _number(names: tuple[str, ...], number: int) -> tuple[list[Column], list[Column]]:
    """Scaled doubles: those with scale 0, nearly all, are summed as they are, others relative to the greatest."""
    value, scale = names
    plain, others = f"plain_{number}", f"others_{number}"
    parts = [
        F.sum(F.when(F.col(scale) == 0, F.col(value)).otherwise(F.lit(0.0))).alias(plain),
        F.collect_list(F.when(F.col(scale) != 0, F.struct(F.col(scale).alias("s"), F.col(value).alias("v")))).alias(others),
    ]
    greatest = f"greatest(array_max(transform({others}, x -> x.s)), IF({plain} = 0, -4611686018427387904L, 0L))"
    total = (
        f"aggregate({others}, {plain} * power(2D, 512D * (0L - top)), (sum, x) -> sum + x.v * power(2D, 512D * (x.s - top)))"
    )
    empty = F.expr(f"size({others}) = 0")
    combined = F.expr(f"aggregate(array({greatest}), 0D, (unused, top) -> {total})")
    return parts, [
        F.when(empty, F.col(plain)).otherwise(combined).alias(value),
        F.when(empty, F.lit(0).cast("long")).otherwise(F.expr(greatest)).alias(scale),
    ]
